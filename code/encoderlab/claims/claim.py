"""What a claim is, what counts as evidence for it, and when the two agree."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import ModuleType

VERDICTS: Mapping[str, frozenset[str]] = {
    "exact": frozenset({"identity"}),
    "conditional": frozenset({"inside", "outside"}),
    "confirmed": frozenset({"for", "footnote"}),
    "depends": frozenset({"for", "against"}),
    "untested": frozenset({"stand-in"}),
    "false": frozenset({"counterexample"}),
    "loose": frozenset({"precise", "as stated"}),
}
"""Each verdict, and the roles that its evidence must play. No two verdicts ask for the same roles."""

VERDICT_NAMES: Mapping[str, str] = {verdict: verdict for verdict in VERDICTS} | {
    "confirmed": "confirmed, with a footnote",
    "untested": "not tested",
    "loose": "loosely put",
}
"""What a reader is shown for each verdict."""

SUPPORT = "support"
"""The one role that may stand beside any verdict."""

RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "≤": operator.le,
    "=": operator.eq,
    "≠": operator.ne,
    "≥": operator.ge,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Finding:
    """One measured number beside the bound that it has to meet.

    Parameters
    ----------
    role : str
        What the number is for: a role of `VERDICTS`, or ``"support"``.
    what : str
        What was measured, as a phrase. MyST text, so ``$…$`` is mathematics.
    value : float
        The number measured. NaN meets no bound.
    relation : str
        One of ``< ≤ = ≠ ≥ >``.
    bound : float
        The number it is compared with.

    Raises
    ------
    ValueError
        If the role or the relation is unknown, or `what` is empty.

    Examples
    --------
    >>> Finding("identity", "largest entry off the diagonal", 0.0, "=", 0.0).holds
    True
    """

    role: str
    what: str
    value: float
    relation: str
    bound: float

    def __post_init__(self) -> None:
        """Refuse a role, a relation or a text that no reader could follow."""
        roles = {SUPPORT}.union(*VERDICTS.values())
        _require(self.role in roles, "role", self.role, f"one of {sorted(roles)}")
        _require(self.relation in RELATIONS, "relation", self.relation, f"one of {list(RELATIONS)}")
        _require(bool(self.what.strip()), "what", self.what, "a phrase that names the quantity")

    @property
    def holds(self) -> bool:
        """Whether the value stands in the stated relation to the bound."""
        if math.isnan(self.value) or math.isnan(self.bound):
            return False
        return bool(RELATIONS[self.relation](self.value, self.bound))


@dataclass(frozen=True)
class Evidence:
    """All findings of one check.

    Parameters
    ----------
    findings : tuple of Finding
        At least one; no two measure the same thing.

    Raises
    ------
    ValueError
        If there is no finding, or two share their `what`.

    Examples
    --------
    >>> gap = Finding("identity", "largest difference", 2e-16, "≤", 1e-12)
    >>> evidence = Evidence((gap,))
    >>> evidence.holds, evidence.measured, evidence.bound
    (True, {'largest difference': 2e-16}, {'largest difference': '≤ 1e-12'})
    """

    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        """Accept any iterable of findings; refuse none at all, and two of one name."""
        object.__setattr__(self, "findings", tuple(self.findings))
        names = [finding.what for finding in self.findings]
        _require(bool(names), "findings", names, "at least one Finding")
        _require(len(set(names)) == len(names), "findings", names, "each `what` once")

    @property
    def holds(self) -> bool:
        """Whether every finding meets its bound."""
        return all(finding.holds for finding in self.findings)

    @property
    def measured(self) -> dict[str, float]:
        """What was measured, by name."""
        return {finding.what: finding.value for finding in self.findings}

    @property
    def bound(self) -> dict[str, str]:
        """What each measurement had to meet, by name."""
        return {finding.what: f"{finding.relation} {finding.bound:g}" for finding in self.findings}


@dataclass(frozen=True)
class Claim:
    """A claim of the source notes, the verdict on it, and the check that decides.

    Parameters
    ----------
    number : int
        Its number in the ledger, from 1.
    note : int
        The source note that makes it, 1 or 2.
    section : str
        Where in the note, such as ``"8.1.2"``.
    says : str
        What the note claims, fairly put in our words. MyST text.
    verdict : str
        A key of `VERDICTS`.
    holds : str
        The statement that does hold. MyST text.
    chapter : str
        Stem of the chapter that shows it, such as ``"elementwise"``.
    check : callable
        Takes nothing, returns `Evidence`: seeded, independent of other checks, under two seconds.
    references : tuple of str
        Keys of ``chapters/references.bib``.
    rests_on_reference : bool
        True for history and definitions, which a computation can only illustrate.

    Raises
    ------
    ValueError
        If a field is out of its range, or a claim rests on a reference and names none.
    """

    number: int
    note: int
    section: str
    says: str
    verdict: str
    holds: str
    chapter: str
    check: Callable[[], Evidence]
    references: tuple[str, ...] = ()
    rests_on_reference: bool = False

    def __post_init__(self) -> None:
        """Refuse what the ledger could not show."""
        _require(self.number >= 1, "number", self.number, "1 or more")
        _require(self.note in (1, 2), "note", self.note, "1 or 2")
        _require(self.verdict in VERDICTS, "verdict", self.verdict, f"one of {list(VERDICTS)}")
        for field in ("section", "says", "holds", "chapter"):
            _require(bool(getattr(self, field).strip()), field, getattr(self, field), "a text")
        _require(not isinstance(self.references, str), "references", self.references, "a tuple of keys")
        if self.rests_on_reference:
            _require(bool(self.references), "references", self.references, "the reference it rests on")

    def objections(self, evidence: Evidence) -> list[str]:
        """Say what keeps `evidence` from bearing out the verdict: nothing, if all is well."""
        roles = {finding.role for finding in evidence.findings} - {SUPPORT}
        found = [
            f"{finding.what}: {finding.value:g}, expected {finding.relation} {finding.bound:g}"
            for finding in evidence.findings
            if not finding.holds
        ]
        if roles != VERDICTS[self.verdict]:
            found.append(
                f"the verdict {self.verdict!r} needs the roles {sorted(VERDICTS[self.verdict])}, "
                f"the evidence has {sorted(roles)}"
            )
        return [f"claim {self.number}: {text}" for text in found]


Findings = Iterable[Finding]
"""What a check returns."""


def claim(
    number: int,
    *,
    note: int,
    section: str,
    says: str,
    verdict: str,
    holds: str,
    references: tuple[str, ...] = (),
    rests_on_reference: bool = False,
) -> Callable[[Callable[[], Findings]], Claim]:
    """Declare a claim above the function that checks it; the arguments are those of `Claim`.

    The claim belongs to the chapter in whose folder the function stands.

    Returns
    -------
    callable
        Turns the check, which takes nothing and returns findings, into a `Claim`.

    Raises
    ------
    ValueError
        If a field is out of its range, or the check stands outside ``encoderlab/chapters``.
    """

    def declare(check: Callable[[], Findings]) -> Claim:
        *_, parent, chapter = ("", *check.__module__.split(".claims")[0].split("."))
        _require(parent == "chapters", "check", check.__module__, "in encoderlab.chapters.<chapter>.claims")
        return Claim(
            number,
            note,
            section,
            says,
            verdict,
            holds,
            chapter,
            lambda: Evidence(tuple(check())),
            references,
            rests_on_reference,
        )

    return declare


def declared_in(*modules: ModuleType) -> tuple[Claim, ...]:
    """Gather the claims that some modules declare, in their order."""
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Claim))


def numbered(*chapters: Iterable[Claim]) -> Mapping[int, Claim]:
    """Gather the claims of all chapters by number, in order.

    Parameters
    ----------
    *chapters : iterable of Claim
        The claims of one chapter each.

    Returns
    -------
    mapping of int to Claim

    Raises
    ------
    ValueError
        If two claims share a number.
    """
    claims = sorted((claim for chapter in chapters for claim in chapter), key=lambda claim: claim.number)
    by_number = {claim.number: claim for claim in claims}
    numbers = [claim.number for claim in claims]
    _require(len(by_number) == len(claims), "number", numbers, "given to one claim only")
    return by_number


def _require(condition: bool, name: str, received: object, expected: str) -> None:
    if not condition:
        raise ValueError(f"{name} must be {expected}, got {received!r}")
