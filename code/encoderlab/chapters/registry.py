"""The chapters in reading order, and every claim of the source notes with its verdict and check."""

from encoderlab.chapters.abstraction import claims as abstraction
from encoderlab.chapters.attention import claims as attention
from encoderlab.chapters.elementwise import claims as elementwise
from encoderlab.chapters.residual_norm import claims as residual_norm
from encoderlab.chapters.stacking import claims as stacking
from encoderlab.claims.claim import numbered

CHAPTERS = (elementwise, attention, stacking, residual_norm, abstraction)
"""The claims of each chapter. A new chapter is added here, and its page in ``_toc.yml``."""

CLAIMS = numbered(*(chapter.CLAIMS for chapter in CHAPTERS))
"""All claims by number."""
