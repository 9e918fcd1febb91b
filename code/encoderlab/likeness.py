"""How alike tokens are: to each other, and to themselves a layer earlier."""

from __future__ import annotations

import numpy as np

from encoderlab.encoder import Trace
from encoderlab.stacking import cosines, rank_one_residual
from encoderlab.validation import FloatArray


def step_similarity(hidden: FloatArray) -> FloatArray:
    """Return the mean cosine between a token before a layer and the same token after it (claim 60).

    Parameters
    ----------
    hidden : ndarray, shape (depth + 1, n, d_model)

    Returns
    -------
    ndarray, shape (depth,)
    """
    unit = hidden / np.linalg.norm(hidden, axis=-1, keepdims=True)
    mean: FloatArray = (unit[1:] * unit[:-1]).sum(axis=-1).mean(axis=-1)
    return mean


def mean_off_diagonal(matrix: FloatArray) -> FloatArray:
    """Return the mean of a matrix (..., n, n) without its diagonal: of cosines, how alike the rows are."""
    n = matrix.shape[-1]
    mean: FloatArray = matrix[..., ~np.eye(n, dtype=bool)].mean(axis=-1)
    return mean


def hidden_measures(trace: Trace) -> FloatArray:
    """Return likeness of the tokens, distance to rank one and step similarity after each of the layers.

    Returns
    -------
    ndarray, shape (3, depth + 1)
        The last is NaN before the first layer.
    """
    hidden = np.stack(trace.hidden)  # (depth + 1, n, d_model)
    steps = np.concatenate([[np.nan], step_similarity(hidden)])
    return np.stack([mean_off_diagonal(cosines(hidden)), rank_one_residual(hidden), steps])
