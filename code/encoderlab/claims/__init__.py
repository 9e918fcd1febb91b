"""The seventy claims of the two source notes, each with a verdict and a check that runs.

One file per chapter holds its claims and their checks; the mathematics they call is the chapter's module.
"""

from encoderlab.claims import abstraction, attention, elementwise, residual_norm, stacking
from encoderlab.claims.model import Claim, Evidence, Finding, numbered

__all__ = ["CLAIMS", "Claim", "Evidence", "Finding"]

CLAIMS = numbered(
    elementwise.CLAIMS, attention.CLAIMS, stacking.CLAIMS, residual_norm.CLAIMS, abstraction.CLAIMS
)
"""All claims by number."""
