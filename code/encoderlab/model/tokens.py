"""How alike the tokens of one sequence are."""

from __future__ import annotations

import numpy as np

from encoderlab.model.arrays import FloatArray, require_float_array


def rank_one_residual(x: FloatArray) -> FloatArray:
    """Measure how far the tokens are from being all the same: ‖x − 1·mean‖_F / ‖x‖_F.

    Dong, Cordonnier and Loukas 2021 take the best rank-one matrix 1vᵀ in another norm; in the Frobenius norm
    the best v is the mean of the tokens.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)

    Returns
    -------
    ndarray, shape (...)
        Between 0, all tokens equal, and 1, tokens that sum to zero. An x of zeros gives 0.

    Raises
    ------
    ValueError
        If `x` is not a finite float array of at least two axes.

    Examples
    --------
    >>> rank_one_residual(np.array([[1.0, 0.0], [1.0, 0.0]])).item()
    0.0
    >>> rank_one_residual(np.array([[1.0, 0.0], [-1.0, 0.0]])).item()
    1.0
    """
    require_float_array("x", x, min_ndim=2)
    centred = x - x.mean(axis=-2, keepdims=True)
    size = np.linalg.norm(x, axis=(-2, -1))  # (...)
    distance: FloatArray = np.linalg.norm(centred, axis=(-2, -1)) / np.where(size > 0, size, 1)
    return distance


def cosines(x: FloatArray) -> FloatArray:
    """Return the cosine between every two tokens.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)

    Returns
    -------
    ndarray, shape (..., n, n)
        A token of zeros has cosine 0 with all.

    Examples
    --------
    >>> cosines(np.array([[1.0, 0.0], [2.0, 0.0], [-1.0, 1.0]])).round(2).tolist()
    [[1.0, 1.0, -0.71], [1.0, 1.0, -0.71], [-0.71, -0.71, 1.0]]
    """
    require_float_array("x", x, min_ndim=2)
    length = np.linalg.norm(x, axis=-1, keepdims=True)  # (..., n, 1)
    unit = x / np.where(length > 0, length, 1)
    return unit @ unit.swapaxes(-1, -2)
