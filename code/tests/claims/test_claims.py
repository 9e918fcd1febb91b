"""Every claim's check runs, its evidence holds, and it bears out the verdict."""

from __future__ import annotations

import dataclasses
import math
import re
import subprocess
import sys

import pytest

from encoderlab.chapters.registry import CLAIMS
from encoderlab.claims.__main__ import in_full, main
from encoderlab.claims.claim import (
    RELATIONS,
    SUPPORT,
    VERDICT_NAMES,
    VERDICTS,
    Claim,
    Evidence,
    Finding,
    claim,
    numbered,
)
from encoderlab.claims.ledger import Ledger
from encoderlab.claims.text import measured_and_bound, number

ROLES = sorted({SUPPORT}.union(*VERDICTS.values()))
CHAPTERS = {  # the claims that each chapter has to settle, by its stem
    "elementwise": {*range(1, 10), 63},
    "attention": {*range(11, 20), 26, 28, 30, 31, 32, 61, 64},
    "stacking": {10, *range(20, 26), 27, 62},
    "residual_norm": {29, 35, *range(46, 54)},
    "abstraction": {33, 34, *range(36, 46), *range(54, 61), *range(65, 72)},
}


@pytest.fixture(scope="module")
def evidence() -> dict[int, Evidence]:
    """Run every check once."""
    return {claim.number: claim.check() for claim in CLAIMS.values()}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: f"claim {claim.number}")
def test_evidence_bears_out_the_verdict(claim: Claim, evidence: dict[int, Evidence]) -> None:
    """Each finding meets its bound, and the roles are those that the verdict asks for."""
    assert claim.objections(evidence[claim.number]) == []
    assert evidence[claim.number].holds


def test_no_evidence_fits_two_verdicts() -> None:
    """So a verdict that is changed by hand is objected to, whichever it is changed to."""
    assert len(set(VERDICTS.values())) == len(VERDICTS)
    assert not any(SUPPORT in roles or not roles for roles in VERDICTS.values())


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: f"claim {claim.number}")
def test_checks_are_seeded(claim: Claim, evidence: dict[int, Evidence]) -> None:
    """A second run measures the same to the last bit."""
    assert claim.check().measured == evidence[claim.number].measured


def test_the_chapters_settle_every_claim() -> None:
    """Each claim is settled in the chapter that takes it up."""
    by_chapter = {stem: {c.number for c in CLAIMS.values() if c.chapter == stem} for stem in CHAPTERS}
    assert by_chapter == CHAPTERS
    assert set(CLAIMS) == set(range(1, len(CLAIMS) + 1))


def some_evidence(*roles: str, value: float = 0.0) -> Evidence:
    """Return evidence that plays some roles."""
    return Evidence(tuple(Finding(role, f"{role} {k}", value, "≤", 1.0) for k, role in enumerate(roles)))


def some_claim(**changes: object) -> Claim:
    """Return a claim that is in order but for some changes."""
    fields = {"number": 1, "note": 1, "section": "8", "says": "a", "verdict": "exact", "holds": "b"}
    rest = {"chapter": "c", "check": lambda: some_evidence("identity")}
    return Claim(**(fields | rest | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"verdict": "true"}, f"verdict must be one of {list(VERDICTS)}, got 'true'"),
        ({"number": 0}, "number must be 1 or more, got 0"),
        ({"note": 3}, "note must be 1 or 2, got 3"),
        ({"note": 0}, "note must be 1 or 2, got 0"),
        ({"section": ""}, "section must be a text, got ''"),
        ({"says": " "}, "says must be a text, got ' '"),
        ({"holds": ""}, "holds must be a text, got ''"),
        ({"chapter": ""}, "chapter must be a text, got ''"),
        ({"references": "dong2021"}, "references must be a tuple of keys, got 'dong2021'"),
        ({"rests_on_reference": True}, "references must be the reference it rests on, got ()"),
    ],
)
def test_claim_out_of_range_is_refused(changes: dict[str, object], message: str) -> None:
    """The error names the field, what came and what was expected."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        some_claim(**changes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("proof", "a", 0.0, "<", 1.0), f"role must be one of {ROLES}, got 'proof'"),
        (("identity", "a", 0.0, "<<", 1.0), f"relation must be one of {list(RELATIONS)}, got '<<'"),
        (("identity", " ", 0.0, "<", 1.0), "what must be a phrase that names the quantity, got ' '"),
    ],
)
def test_finding_out_of_range_is_refused(arguments: tuple[str, str, float, str, float], message: str) -> None:
    """So does the error of a finding."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Finding(*arguments)


def test_evidence_needs_findings_of_different_names() -> None:
    """No finding is no evidence, and two of one name would hide one another."""
    with pytest.raises(ValueError, match=r"^findings must be at least one Finding, got \[\]$"):
        Evidence(())
    finding = Finding("identity", "gap", 0.0, "=", 0.0)
    with pytest.raises(ValueError, match=r"^findings must be each `what` once, got \['gap', 'gap'\]$"):
        Evidence((finding, finding))


def test_what_was_measured_and_claimed_stays() -> None:
    """A check that has been read cannot be given another number, nor a claim another verdict."""
    for record, field in (
        (some_claim(), "verdict"),
        (some_evidence("identity"), "findings"),
        (some_evidence("identity").findings[0], "value"),
    ):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field, getattr(record, field))


def test_a_claim_is_declared_above_its_check() -> None:
    """Each argument goes where its name says, and the folder of the function is the chapter."""
    finding = Finding("identity", "gap", 0.0, "=", 0.0)
    fields = {"note": 2, "section": "8.1", "says": "a", "verdict": "exact", "holds": "b"}
    rest = {"references": ("dong2021",), "rests_on_reference": True}

    def check() -> list[Finding]:
        return [finding]

    check.__module__ = "encoderlab.chapters.stacking.claims.one_formula"
    made = claim(3, **fields, **rest)(check)  # type: ignore[arg-type]
    assert made.check() == Evidence((finding,))
    assert made == some_claim(number=3, chapter="stacking", check=made.check, **fields, **rest)
    plain = claim(3, **fields)(check)  # type: ignore[arg-type]
    assert (plain.references, plain.rests_on_reference) == ((), False)
    bare = some_claim()
    assert (bare.references, bare.rests_on_reference) == ((), False)
    check.__module__ = "elsewhere.stacking.claims"
    message = "check must be in encoderlab.chapters.<chapter>.claims, got 'elsewhere.stacking.claims'"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        claim(3, **fields)(check)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("relation", "met"),
    [("<", "below"), ("≤", "below at"), ("=", "at"), ("≠", "below above"), ("≥", "at above"), (">", "above")],
)
def test_relations_mean_what_they_say(relation: str, met: str) -> None:
    """Of a value below the bound, at it and above it, each meets the right ones."""
    values = {"below": 1.0, "at": 2.0, "above": 3.0}
    holds = [name for name, value in values.items() if Finding("inside", "a", value, relation, 2.0).holds]
    assert holds == met.split()


@pytest.mark.parametrize("relation", RELATIONS)
def test_nan_meets_no_bound(relation: str) -> None:
    """Not even ``≠``, which Python would call true."""
    assert not Finding("identity", "a", math.nan, relation, 0.0).holds
    assert not Finding("identity", "a", 0.0, relation, math.nan).holds


def test_objections_name_the_number_that_fails() -> None:
    """A bound that is missed is told with both sides; missing and surplus roles are told too."""
    (objection,) = some_claim().objections(some_evidence("identity", value=2.0))
    assert objection == "claim 1: identity 0: 2, expected ≤ 1"
    assert some_claim().objections(some_evidence("support"))
    assert some_claim().objections(some_evidence("identity", "inside"))
    assert some_claim().objections(some_evidence("identity", "support")) == []


def test_a_number_is_given_once() -> None:
    """Two claims of one number are refused, wherever they come from."""
    with pytest.raises(ValueError, match=r"^number must be given to one claim only, got \[1, 1\]$"):
        numbered([some_claim()], [some_claim()])
    assert list(numbered([some_claim(number=2)], [some_claim()])) == [1, 2]


def test_ledger_refuses_evidence_that_fails() -> None:
    """So the book is not built over it."""
    claim = some_claim(check=lambda: some_evidence("identity", value=2.0))
    with pytest.raises(ValueError, match="claim 1: identity 0: 2, expected ≤ 1"):
        Ledger({1: claim})


def test_ledger_in_both_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """MyST with labels and citations in the page, plain Markdown without them in a kernel."""
    finding = Finding("identity", "P(a|b)", 1.5e-16, "≤", 1e-12)
    claims = {
        7: some_claim(number=7, references=("dong2021", "xu2020"), check=lambda: Evidence((finding,))),
        8: some_claim(number=8, references=("dong2021",), rests_on_reference=True),
        9: some_claim(number=9, verdict="false", check=lambda: some_evidence("counterexample")),
    }
    ledger = Ledger(claims)
    body = [
        "**The note says:** a",
        "**What holds:** b",
        "| Role | Evidence | **Measured**, bound |\n| :-- | :-- | :-- |\n"
        "| identity | P(a\\|b) | **1.5\u00a0×\u00a010⁻¹⁶** ≤\u00a010⁻¹² |",
    ]
    monkeypatch.setenv("ENCODERLAB_WORLD", "page")
    page = ledger._repr_markdown_()
    assert page.startswith(
        "- 2 exact: [7](#claim-7), [8](#claim-8)\n- 1 false: [9](#claim-9)\n\n(claim-7)=\n"
    )
    head = "(claim-7)=\n::::{div} claim-row claim-exact\n{claim}`7` Note 1, section 8. Shown in {doc}`c`.\n"
    row = "\n\n".join([head.removesuffix("\n"), *body, "See {cite}`dong2021,xu2020`.\n::::"])
    assert f"{row}\n\n(claim-8)=\n" in page
    assert "Rests on {cite}`dong2021`." in page
    monkeypatch.delenv("ENCODERLAB_WORLD")
    kernel = ledger._repr_markdown_()
    assert kernel.startswith("- 2 exact: 7, 8\n- 1 false: 9\n\n### 7 · exact (note 1, section 8)\n\n")
    assert "\n\n".join([*body, "See dong2021, xu2020."]) in kernel
    assert "{" not in kernel
    assert repr(ledger) == "Ledger of 3 claims"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-3, "−3"),
        (10.0, "10"),
        (999999.0, "999999"),
        (1e6, "10⁶"),
        (1234567.0, "1.23 × 10⁶"),
        (0.001, "0.001"),
        (-0.25, "−0.25"),
        (0.1234, "0.123"),
        (0.0056, "0.0056"),
        (0.00056, "5.6 × 10⁻⁴"),
        (999.9999, "1000"),
        (123456.7, "123457"),
        (9.9999e-5, "10⁻⁴"),
        (-2.5e-300, "−2.5 × 10⁻³⁰⁰"),
        (4.2e17, "4.2 × 10¹⁷"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "nan"),
    ],
)
def test_numbers_are_written_for_readers(value: float, text: str) -> None:
    """Three digits, no trailing zeros, a power of ten only where it is shorter."""
    assert number(value) == text


def test_sides_that_differ_are_written_differently() -> None:
    """A value just below its bound is not rounded onto it."""
    finding = Finding("identity", "a", math.nextafter(1.0, 0.0), "<", 1.0)
    assert measured_and_bound(finding) == ("0.9999999999999999", "< 1")
    finding = Finding("identity", "a", 0.1 + 0.2, ">", 0.3)  # nothing short of seventeen digits will do
    assert measured_and_bound(finding) == ("0.30000000000000004", "> 0.29999999999999999")


@pytest.mark.parametrize(("value", "mark"), [(0.0, "holds"), (2.0, "FAILS")])
def test_one_claim_in_full(value: float, mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both statements, each finding with whether it holds, and what is said against the verdict."""
    claim = some_claim(number=7, references=("a", "b"), check=lambda: some_evidence("identity", value=value))
    told, borne_out = in_full(claim)
    assert told.splitlines()[:5] == [
        "claim 7 · exact (note 1, section 8)",
        "The note says: a",
        "What holds: b",
        f"  {mark}  identity: identity 0: {value:g} (≤ 1)",
        "References: a, b",
    ]
    objections = told.splitlines()[5:]
    assert objections == ([] if borne_out else ["claim 7: identity 0: 2, expected ≤ 1"])
    assert borne_out == (mark == "holds")
    monkeypatch.setattr("encoderlab.claims.__main__.CLAIMS", {7: claim})
    assert main(["7"]) == (0 if borne_out else 1)


def test_lines_of_the_terminal_are_a_hundred_letters() -> None:
    """Words that would fill one to the last letter do, and no line is longer."""
    told, _ = in_full(some_claim(says=" ".join(120 * "x"), holds=f"yy {' '.join(120 * 'x')}"))
    lines = told.splitlines()
    for start in ("The note says: ", "What holds: "):
        (first,) = (k for k, line in enumerate(lines) if line.startswith(start))
        assert [len(line) for line in lines[first : first + 2]] == [100, 99]


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Table, one claim, and what is said to a number without a claim."""
    assert main([]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["#", "note", "verdict", "the", "note", "says"]
    assert [row.split()[:4] for row in rows] == [
        [str(c.number), str(c.note), "§", c.section.split()[0]] for c in CLAIMS.values()
    ]
    for row, each in zip(rows, CLAIMS.values(), strict=True):
        assert f" {VERDICT_NAMES[each.verdict]} " in row
        said = row.split(VERDICT_NAMES[each.verdict], 1)[1].strip().removesuffix(" …")
        assert " ".join(each.says.split()).startswith(said)
        assert len(said) > 40 or said == each.says
        assert len(said) <= 72
    assert main(["4"]) == 0
    shown = capsys.readouterr().out
    assert all(finding.what in shown for finding in CLAIMS[4].check().findings)
    assert main(["4000"]) == 2
    assert f"there is no claim 4000; there are 1 to {len(CLAIMS)}\n" == capsys.readouterr().err
    for wrong in (["four"], ["4", "5"]):
        assert main(wrong) == 2
        usage, told = capsys.readouterr().err.splitlines()
        assert usage == "usage: python -m encoderlab.claims [NUMBER]"
        assert told == f"expected one number, got {' '.join(wrong)!r}"


def test_command_line_as_a_command() -> None:
    """``python -m encoderlab.claims`` is the command that the book names."""
    run = subprocess.run([sys.executable, "-m", "encoderlab.claims", "2"], capture_output=True, check=True)
    assert "claim 2" in run.stdout.decode()
