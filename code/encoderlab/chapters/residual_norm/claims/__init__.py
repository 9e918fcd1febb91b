"""The claims of chapter 4, each with the check that decides it."""

from encoderlab.chapters.residual_norm.claims import norm, norm_in_training, skip
from encoderlab.claims.claim import declared_in

CLAIMS = declared_in(norm, skip, norm_in_training)
