"""The claims of chapter 3, each with the check that decides it."""

from encoderlab.chapters.stacking.claims import one_formula, what_depth_does
from encoderlab.claims.claim import declared_in

CLAIMS = declared_in(one_formula, what_depth_does)
