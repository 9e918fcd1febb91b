"""The ledger: every claim beside the evidence computed a moment ago, as text for the book or for a kernel."""

from __future__ import annotations

import os
from collections.abc import Mapping

from encoderlab.claims.claim import VERDICT_NAMES, VERDICTS, Claim, Evidence
from encoderlab.claims.text import measured_and_bound

UNBROKEN = str.maketrans(" ", "\N{NO-BREAK SPACE}")  # a number stays on one line of a narrow table


class Ledger:
    """All claims with their evidence, shown by a notebook as one row after another.

    Parameters
    ----------
    claims : mapping of int to Claim
        Claims by number. Every check is run.

    Raises
    ------
    ValueError
        If the evidence for a claim does not bear out its verdict: the book prints no such claim.
    """

    def __init__(self, claims: Mapping[int, Claim]) -> None:
        self.rows = [(claim, claim.check()) for claim in claims.values()]
        objections = [text for claim, evidence in self.rows for text in claim.objections(evidence)]
        if objections:
            raise ValueError("claims must be borne out by their evidence, got " + "; ".join(objections))

    def __repr__(self) -> str:
        """Return what stays the same from run to run, unlike the default."""
        return f"Ledger of {len(self.rows)} claims"

    def _repr_markdown_(self) -> str:
        """Show MyST in the built page, plain Markdown in a kernel."""
        in_page = os.environ.get("ENCODERLAB_WORLD") == "page"
        row = _page_row if in_page else _kernel_row
        rows = [row(claim, evidence) for claim, evidence in self.rows]
        return "\n\n".join([self._summary("[{0}](#claim-{0})" if in_page else "{0}"), *rows])

    def _summary(self, mention: str) -> str:
        """List the claims of each verdict by number."""
        by_verdict = {name: [c.number for c, _ in self.rows if c.verdict == name] for name in VERDICTS}
        return "\n".join(
            f"- {len(numbers)} {VERDICT_NAMES[name]}: {', '.join(map(mention.format, numbers))}"
            for name, numbers in by_verdict.items()
            if numbers
        )


def _page_row(claim: Claim, evidence: Evidence) -> str:
    """Write a row with a label to link to, and citations that Sphinx resolves."""
    references = f"{{cite}}`{','.join(claim.references)}`" if claim.references else ""
    return "\n".join(
        [
            f"(claim-{claim.number})=",
            f"::::{{div}} claim-row claim-{claim.verdict}",
            f"{{claim}}`{claim.number}` Note {claim.note}, section {claim.section}. "
            f"Shown in {{doc}}`{claim.chapter}`.",
            "",
            _body(claim, evidence, references),
            "::::",
        ]
    )


def _kernel_row(claim: Claim, evidence: Evidence) -> str:
    """Write a row in the Markdown that every notebook program reads."""
    heading = (
        f"### {claim.number} · {VERDICT_NAMES[claim.verdict]} (note {claim.note}, section {claim.section})"
    )
    return f"{heading}\n\n{_body(claim, evidence, ', '.join(claim.references))}"


def _body(claim: Claim, evidence: Evidence, references: str) -> str:
    """Write what the note says, what holds and what was measured."""
    table = ["| Role | Evidence | **Measured**, bound |", "| :-- | :-- | :-- |"]
    for finding in evidence.findings:
        measured, bound = (text.translate(UNBROKEN) for text in measured_and_bound(finding))
        what = finding.what.replace("|", r"\|")
        table.append(f"| {finding.role} | {what} | **{measured}** {bound} |")
    parts = [f"**The note says:** {claim.says}", f"**What holds:** {claim.holds}", "\n".join(table)]
    if references:
        basis = "Rests on" if claim.rests_on_reference else "See"
        parts.append(f"{basis} {references}.")
    return "\n\n".join(parts)
