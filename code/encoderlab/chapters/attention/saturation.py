"""How peaked a softmax is, and how much of a gradient it lets through: why logits are divided by √d_head."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import softmax


def keys_attended(weights: FloatArray) -> FloatArray:
    """Return the effective number of keys in rows of attention weights: exp of the entropy, −Σ a log a.

    Parameters
    ----------
    weights : ndarray, shape (..., n)
        Each row sums to 1.

    Returns
    -------
    ndarray, shape (...)
        From 1, all weight on one key, to n, all keys alike.

    Examples
    --------
    >>> keys_attended(np.array([[0.25, 0.25, 0.25, 0.25], [0.0, 1.0, 0.0, 0.0]]))
    array([4., 1.])
    """
    logs = np.log(np.where(weights > 0, weights, 1))
    number: FloatArray = np.exp(-(weights * logs).sum(axis=-1))
    return number


def softmax_jacobian(weights: FloatArray) -> FloatArray:
    """Return ∂a_i/∂s_j = a_i δ_ij − a_i a_j, or diag(a) − a aᵀ, for rows of attention weights (claim 16).

    Parameters
    ----------
    weights : ndarray, shape (..., n)

    Returns
    -------
    ndarray, shape (..., n, n)
        Symmetric; its rows sum to zero, because the weights sum to one.

    Examples
    --------
    >>> softmax_jacobian(np.array([0.5, 0.5]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    outer: FloatArray = weights[..., :, None] * weights[..., None, :]  # (..., n, n)
    return weights[..., :, None] * np.eye(weights.shape[-1], dtype=weights.dtype) - outer


class Rows(NamedTuple):
    """Rows of attention from random queries and keys, and two measures of each."""

    weights: FloatArray  # (draws, n)
    keys: FloatArray  # (draws,), see `keys_attended`
    passed: FloatArray  # (draws,), Frobenius norm of the Jacobian of softmax


def random_rows(
    rng: np.random.Generator, d_head: int, scale: float, *, n: int = 16, draws: int = 400
) -> Rows:
    """Draw queries and keys with N(0, 1) entries and return attention with the logits scale · q·k (claim 12).

    The d_head products of a logit have mean 0 and variance 1, so that q·k has variance d_head: the scale
    1/√d_head keeps it at 1, whatever d_head is.

    Parameters
    ----------
    rng : numpy.random.Generator
    d_head : int
    scale : float
    n, draws : int
        Keys in a row, and rows.

    Returns
    -------
    Rows
    """
    logits = np.empty((draws, n))
    for row in logits:  # the keys of all rows at once could take a quarter of a gigabyte
        row[:] = rng.normal(size=(n, d_head)) @ rng.normal(size=d_head)
    weights = softmax(scale * logits)  # (draws, n)
    return Rows(weights, keys_attended(weights), np.linalg.norm(softmax_jacobian(weights), axis=(-2, -1)))
