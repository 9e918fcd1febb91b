"""The published model, loaded once for all test files; without it the tests that need it fail."""

import functools

import numpy as np

from encoderlab.pretrained import sentence_encoder
from encoderlab.pretrained.sentence_encoder import SentenceEncoder


@functools.cache
def model(dtype: str = "float64") -> SentenceEncoder:
    """Return the model in a dtype."""
    return sentence_encoder(np.dtype(dtype))
