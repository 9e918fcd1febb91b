"""A few claims to think about before one reads the verdicts: native inputs, nothing stored."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Sequence

from encoderlab.claims.claim import SUPPORT, VERDICT_NAMES, Claim, Evidence
from encoderlab.claims.text import measured_and_bound

ANSWERS = {"true": "True", "false": "False", "depends": "It depends"}
MATHEMATICS = re.compile(r"\$|\\")


class Quiz:
    """Claims with three answers each; choosing one shows the verdict and the number that decided it.

    Parameters
    ----------
    claims : sequence of Claim
        Without mathematics in what they say. Every check is run.
    ledger : str
        Where the ledger stands, as the page with the quiz links to it.

    Raises
    ------
    ValueError
        If a claim's words hold mathematics, or its evidence does not bear out its verdict.
    """

    def __init__(self, claims: Sequence[Claim], ledger: str = "chapters/claims.html") -> None:
        self.rows = [(claim, claim.check()) for claim in claims]
        self._ledger = ledger
        for claim, evidence in self.rows:
            if MATHEMATICS.search(claim.says + claim.holds):
                raise ValueError(f"claims must be put without mathematics, got {claim.number}")
            if objections := claim.objections(evidence):
                raise ValueError(f"claims must be borne out by their evidence, got {'; '.join(objections)}")

    def __repr__(self) -> str:
        """Return what stays the same from run to run, unlike the default."""
        return f"Quiz of {len(self.rows)} claims"

    def _repr_html_(self) -> str:
        rows = "".join(self._question(claim, evidence) for claim, evidence in self.rows)
        return f'<form class="quiz" autocomplete="off">{rows}</form>'

    def _question(self, claim: Claim, evidence: Evidence) -> str:
        """Write a statement, its three answers, and the verdict, which book.css hides until one is chosen."""
        options = "".join(
            f'<label><input type="radio" name="claim-{claim.number}" value="{key}"> {answer}</label>'
            for key, answer in ANSWERS.items()
        )
        right = right_answer(claim)
        verdict = VERDICT_NAMES[claim.verdict]
        link = "More in the ledger"
        if os.environ.get("ENCODERLAB_WORLD") == "page":
            link = f'<a href="{self._ledger}#claim-{claim.number}">{link}</a>'
        return (
            f'<fieldset data-right="{right}"><legend>{html.escape(claim.says)}</legend>'
            f'<div class="quiz-options">{options}</div>'
            f'<div class="quiz-verdict" aria-live="polite"><p>'
            f'<span class="quiz-agrees">So the evidence says too.</span> '
            f'<span class="quiz-differs">The evidence says otherwise.</span> '
            f'<strong class="claim-badge claim-{claim.verdict}">claim {claim.number} · {verdict}</strong> '
            f"{html.escape(claim.holds)}</p><p>{_deciding(evidence)} {link}.</p></div></fieldset>"
        )


def right_answer(claim: Claim) -> str:
    """Return the key of `ANSWERS` that a claim's verdict comes to."""
    return {"exact": "true", "false": "false"}.get(claim.verdict, "depends")


def _deciding(evidence: Evidence) -> str:
    """Write the first number of those that the verdict rests on."""
    finding = next(finding for finding in evidence.findings if finding.role != SUPPORT)
    measured, bound = measured_and_bound(finding)
    what = re.sub(r"\$([^$]*)\$", r"\1", finding.what).replace("\\", "")
    return f"Measured: {html.escape(what)}: {measured} ({html.escape(bound)})."
