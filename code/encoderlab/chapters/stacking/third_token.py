"""Why two attention layers are not one: what a token that is neither query nor key can change.

Near zero an attention layer without biases is an odd power series in its input, f(εX) = εL(X) + ε³T(X) + ….
With x̄ the mean of the tokens and C = Σ (x_j − x̄)ᵀ(x_j − x̄)/n their covariance, expanding softmax gives

    T(X)_i = x_i K(C),   K(C) = Σ_h W_Q W_Kᵀ C W_V W_O / √d_head   (of head h).

Only the query stands in front of K. In two layers x̄ does as well; `composition` is what stands behind it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from encoderlab.chapters.stacking.virtual_heads import head_maps
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights


def log_odds(pattern: FloatArray, query: int, key: int, other: int) -> FloatArray:
    """Return by how much a query prefers one key to another, log A[query, key] − log A[query, other].

    In one head it is x_query W_Q W_Kᵀ (x_key − x_other)ᵀ/√d_head: no other token comes into it (claim 23).

    Parameters
    ----------
    pattern : ndarray, shape (..., n, n)
    query, key, other : int

    Returns
    -------
    ndarray, shape (...)
    """
    difference: FloatArray = np.log(pattern[..., query, key]) - np.log(pattern[..., query, other])
    return difference


def third_order(f: Callable[[FloatArray], FloatArray], x: FloatArray, step: float = 0.01) -> FloatArray:
    """Measure the term of third order of an odd function, from its values at four small multiples of `x`.

    Parameters
    ----------
    f : callable
        With f(−x) = −f(x), and a power series at zero.
    x : ndarray
    step : float
        The smallest multiple. The error of the result shrinks like step⁶ until rounding takes over.

    Returns
    -------
    ndarray, shape of f(x)

    Examples
    --------
    >>> round(third_order(np.sin, np.array(1.0)).item(), 9)  # −1/3!
    -0.166666667
    """
    scales = step * np.arange(1, 5)
    values = np.stack([f(scale * x) for scale in scales])  # (4, ...)
    powers = scales[:, None] ** [1, 3, 5, 7]
    coefficients = np.linalg.solve(powers, values.reshape(4, -1))  # one row for each power
    term: FloatArray = coefficients[1].reshape(values.shape[1:])
    return term


def moved_query_gap(f: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
    """Compare, to third order, one query before and after all tokens move by v with two queries v apart.

    With v = x₀ − x₁ a single layer has T_k(X + 1v) − T_k(X) = T_0(X) − T_1(X) for every query k, since
    T_i = x_i K(C) and C does not notice v.

    Parameters
    ----------
    f : callable
        Maps tokens to tokens of the same shape; odd, as for `third_order`.
    x : ndarray, shape (n, d_model)

    Returns
    -------
    ndarray, shape (d_model,)
        Zero for one layer, v times `composition` for two.
    """
    T = third_order(f, x)
    gap: FloatArray = third_order(f, x + (x[0] - x[1]))[0] - T[0] - (T[0] - T[1])
    return gap


def covariance(x: FloatArray) -> FloatArray:
    """Return C = Σ (x_j − x̄)ᵀ(x_j − x̄)/n of the tokens; it stays the same when all of them move together.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)

    Returns
    -------
    ndarray, shape (d_model, d_model)
    """
    centred = x - x.mean(axis=0)
    C: FloatArray = centred.T @ centred / len(x)
    return C


def cubic_map(C: FloatArray, weights: AttentionWeights, n_heads: int) -> FloatArray:
    """Return K(C), the matrix that a layer's term of third order multiplies the query by.

    Parameters
    ----------
    C : ndarray, shape (d_model, d_model)
        The covariance of the tokens.
    weights : AttentionWeights
        Without biases.
    n_heads : int

    Returns
    -------
    ndarray, shape (d_model, d_model)
    """
    d_model, width = weights.W_Q.shape
    W_Q, W_K = (W.reshape(d_model, n_heads, -1).swapaxes(0, 1) for W in (weights.W_Q, weights.W_K))
    logits = W_Q @ W_K.swapaxes(-1, -2) / (width // n_heads) ** 0.5  # (h, d_model, d_model)
    K: FloatArray = (logits @ C @ head_maps(weights, n_heads)).sum(axis=0)
    return K


def composition(
    C: FloatArray, first: AttentionWeights, second: AttentionWeights, n_heads: int, *, residual: bool
) -> FloatArray:
    """Return the matrix that the term of third order of two layers multiplies the tokens' mean by.

    The first layer's term reaches the second as part of every token, and its mean passes through W₂; with the
    residual, moreover, the second layer's queries hold x̄W₁. No single layer has such a term, whatever its
    number of heads: so where this is not zero, two layers are not one (claim 23).

    Parameters
    ----------
    C : ndarray, shape (d_model, d_model)
        The covariance of the tokens.
    first, second : AttentionWeights
        Without biases.
    n_heads : int
    residual : bool

    Returns
    -------
    ndarray, shape (d_model, d_model)
        K₁(C) W₂, and with the residual W₁ K₂(C) besides.
    """
    W_1, W_2 = (head_maps(layer, n_heads).sum(axis=0) for layer in (first, second))
    term: FloatArray = cubic_map(C, first, n_heads) @ W_2
    return term + W_1 @ cubic_map(C, second, n_heads) if residual else term


def query_defect(f: Callable[[FloatArray], FloatArray], x: FloatArray) -> float:
    """Compare, to third order, two queries v apart with one before and after all tokens move by v."""
    return float(np.linalg.norm(moved_query_gap(f, x)) / np.linalg.norm(third_order(f, x)))
