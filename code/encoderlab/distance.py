"""How far apart two arrays are, relative to the second: most evidence is such a number."""

from __future__ import annotations

import numpy as np

from encoderlab.validation import FloatArray


def size(x: FloatArray) -> float:
    """Return ‖x‖, over all entries."""
    return float(np.linalg.norm(x))


def gap(x: FloatArray, reference: FloatArray) -> float:
    """Return ‖x − reference‖ relative to ‖reference‖, or ‖x‖ where the reference is zero.

    Examples
    --------
    >>> gap(np.array([3.0, 4.5]), np.array([3.0, 4.0]))
    0.1
    """
    return size(x - reference) / (size(reference) or 1)
