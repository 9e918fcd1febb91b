"""Every claim of the source notes, with its verdict and check: a new chapter adds its own here."""

from encoderlab.chapters.abstraction import claims as abstraction
from encoderlab.chapters.attention import claims as attention
from encoderlab.chapters.elementwise import claims as elementwise
from encoderlab.chapters.residual_norm import claims as residual_norm
from encoderlab.chapters.stacking import claims as stacking
from encoderlab.claims.claim import numbered

CLAIMS = numbered(
    elementwise.CLAIMS,
    attention.CLAIMS,
    stacking.CLAIMS,
    residual_norm.CLAIMS,
    abstraction.CLAIMS,
)
"""All claims by number."""
