"""The claims of chapter 2, each with the check that decides it."""

from encoderlab.chapters.attention.claims import how_linear, the_formula, without_ffn
from encoderlab.claims.claim import declared_in

CLAIMS = declared_in(the_formula, how_linear, without_ffn)
