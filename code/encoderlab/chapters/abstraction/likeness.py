"""How alike tokens are: to each other, to those of other texts, and to themselves a layer earlier.

All vectors of a layer may share a part, and then any two of them have a large cosine. So each likeness stands
beside one without that part, or beside what unrelated tokens have (Ethayarajh 2019).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.tokens import cosines, rank_one_residual

HIDDEN_MEASURES = (
    "likeness of words",
    "with words of other sentences",
    "likeness of words, mean removed",
    "distance to rank one",
    "step",
    "step, mean removed",
)


def step_similarity(hidden: FloatArray) -> FloatArray:
    """Return the mean cosine between a token before a layer and the same token after it (claim 60).

    Parameters
    ----------
    hidden : ndarray, shape (depth + 1, n, d_model)

    Returns
    -------
    ndarray, shape (depth,)
    """
    unit = _unit(hidden)
    mean: FloatArray = (unit[1:] * unit[:-1]).sum(axis=-1).mean(axis=-1)
    return mean


def mean_off_diagonal(matrix: FloatArray) -> FloatArray:
    """Return the mean of a matrix (..., n, n) without its diagonal: of cosines, how alike the rows are."""
    n = matrix.shape[-1]
    mean: FloatArray = matrix[..., ~np.eye(n, dtype=bool)].mean(axis=-1)
    return mean


def hidden_measures(words: Sequence[FloatArray], blocks: Sequence[int]) -> FloatArray:
    """Measure the words of every text of a corpus, after each layer.

    Parameters
    ----------
    words : sequence of ndarray, shape (depth + 1, n, d_model) each
        Hidden states without the markers; n may vary.
    blocks : sequence of int
        Texts of one block share words and are not compared as unrelated ones.

    Returns
    -------
    ndarray, shape (6, texts, depth + 1)
        The `HIDDEN_MEASURES`. "Mean removed" is without the mean of all words of the corpus in that layer.
        The two steps are NaN before the first layer.
    """
    mean = np.concatenate(words, axis=1).mean(axis=1, keepdims=True)  # (depth + 1, 1, d_model)
    direction = np.stack([_unit(w).mean(axis=1) for w in words], axis=1)  # (depth + 1, texts, d_model)
    between = direction @ direction.swapaxes(-1, -2)  # mean cosine of the words of two texts
    elsewhere = np.not_equal.outer(blocks, blocks)
    others = (between * elsewhere).sum(axis=-1) / elsewhere.sum(axis=-1)  # (depth + 1, texts)
    measured = [
        (
            mean_off_diagonal(cosines(w)),
            others[:, k],
            mean_off_diagonal(cosines(w - mean)),
            rank_one_residual(w),
            _after_first(step_similarity(w)),
            _after_first(step_similarity(w - mean)),
        )
        for k, w in enumerate(words)
    ]
    return np.stack(measured, axis=1)


def _after_first(steps: FloatArray) -> FloatArray:
    return np.concatenate([[np.nan], steps])


def _unit(x: FloatArray) -> FloatArray:
    unit: FloatArray = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return unit
