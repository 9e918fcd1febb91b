"""``python -m encoderlab.claims`` prints the table of claims, ``… 23`` one claim with its evidence."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence

from encoderlab.chapters.registry import CLAIMS
from encoderlab.claims.claim import VERDICT_NAMES, Claim
from encoderlab.claims.text import measured_and_bound
from encoderlab.console import print_any_sign

USAGE = "usage: python -m encoderlab.claims [NUMBER]"
WIDTH = max(map(len, VERDICT_NAMES.values()))


def table() -> str:
    """List every claim: number, source, verdict, what the note says."""
    rows = [
        f"{claim.number:>3}  {claim.note} § {claim.section:<7} {VERDICT_NAMES[claim.verdict]:<{WIDTH}} "
        + textwrap.shorten(claim.says, 72, placeholder=" …")
        for claim in CLAIMS.values()
    ]
    return "\n".join([f"  #  note      {'verdict':<{WIDTH}} the note says", *rows])


def in_full(claim: Claim) -> tuple[str, bool]:
    """Run one check. Return the claim with its evidence as text, and whether the verdict is borne out."""
    evidence = claim.check()
    lines = [
        f"claim {claim.number} · {VERDICT_NAMES[claim.verdict]} (note {claim.note}, section {claim.section})",
        textwrap.fill(f"The note says: {claim.says}", 100),
        textwrap.fill(f"What holds: {claim.holds}", 100),
    ]
    for finding in evidence.findings:
        measured, bound = measured_and_bound(finding)
        mark = "holds" if finding.holds else "FAILS"
        lines.append(f"  {mark}  {finding.role}: {finding.what}: {measured} ({bound})")
    if claim.references:
        lines.append(f"References: {', '.join(claim.references)}")
    objections = claim.objections(evidence)
    return "\n".join([*lines, *objections]), not objections


def main(arguments: Sequence[str]) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : sequence of str
        Nothing, or the number of a claim.

    Returns
    -------
    int
        0; 1 if the evidence does not bear out the verdict; 2 if there is no such claim.
    """
    if not arguments:
        print(table())
        return 0
    if len(arguments) > 1 or not arguments[0].isdecimal():
        print(f"{USAGE}\nexpected one number, got {' '.join(arguments)!r}", file=sys.stderr)
        return 2
    claim = CLAIMS.get(int(arguments[0]))
    if claim is None:
        print(f"there is no claim {arguments[0]}; there are 1 to {max(CLAIMS)}", file=sys.stderr)
        return 2
    text, borne_out = in_full(claim)
    print(text)
    return 0 if borne_out else 1


if __name__ == "__main__":
    print_any_sign()
    sys.exit(main(sys.argv[1:]))
