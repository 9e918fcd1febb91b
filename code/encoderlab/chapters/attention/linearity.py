"""How linear attention is: exactly, while its pattern stands still; and how far from it once that moves.

Vectorisation is column by column, vec(X) = X.T.reshape(-1), so that vec(A X W) = (Wᵀ ⊗ A) vec(X).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import BoolArray, FloatArray
from encoderlab.model.attention import (
    AttentionTrace,
    AttentionWeights,
    merge_heads,
    multi_head_attention,
    softmax_vjp,
    split_heads,
)
from encoderlab.model.linear import linear


def attend(x: FloatArray, pattern: FloatArray, weights: AttentionWeights) -> FloatArray:
    """Apply attention with a pattern that is given, whatever `x` itself would have set.

    Without b_V and b_O this is linear in `x`, with them affine (claim 17).

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    pattern : ndarray, shape (..., h, n, n)
    weights : AttentionWeights
        W_Q, W_K and their biases are not used.

    Returns
    -------
    ndarray, shape (..., n, d_model)
    """
    V = split_heads(linear(x, weights.W_V, weights.b_V), pattern.shape[-3])  # (..., h, n, d_head)
    return linear(merge_heads(pattern @ V), weights.W_O, weights.b_O)


def frozen_matrix(pattern: FloatArray, weights: AttentionWeights) -> FloatArray:
    """Write attention with a frozen pattern as one matrix, Σ_h (W_V^h W_O^h)ᵀ ⊗ A_h (claim 18).

    Parameters
    ----------
    pattern : ndarray, shape (h, n, n)
    weights : AttentionWeights
        Biases are left out: they add a constant.

    Returns
    -------
    ndarray, shape (n · d_model, n · d_model)
        Maps vec(X) to vec(output).

    Raises
    ------
    ValueError
        If `pattern` is not that of one sequence.

    Examples
    --------
    >>> one = np.eye(1)
    >>> frozen_matrix(np.full((1, 2, 2), 0.5), AttentionWeights(one, one, 3 * one, one))
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    if pattern.ndim != 3 or pattern.shape[1] != pattern.shape[2]:
        raise ValueError(f"pattern must have shape (h, n, n), got {pattern.shape}")
    h, n, _ = pattern.shape
    d_in, d_out = weights.W_V.shape[0], weights.W_O.shape[1]
    W_V = weights.W_V.reshape(d_in, h, -1)  # (d_model, h, d_head)
    W_O = weights.W_O.reshape(h, -1, d_out)  # (h, d_head, d_model)
    total = np.zeros((n * d_out, n * d_in), pattern.dtype)
    for head in range(h):
        total += np.kron((W_V[:, head] @ W_O[head]).T, pattern[head])
    return total


def additivity_defect(f: Callable[[FloatArray], FloatArray], x: FloatArray, y: FloatArray) -> float:
    """Measure ‖f(x + y) − (f(x) + f(y))‖ / ‖f(x) + f(y)‖, which is 0 for a linear f."""
    return _relative(f(x + y), f(x) + f(y))


def homogeneity_defect(f: Callable[[FloatArray], FloatArray], x: FloatArray, factor: float) -> float:
    """Measure ‖f(c x) − c f(x)‖ / ‖c f(x)‖, which is 0 for a linear f."""
    return _relative(f(factor * x), factor * f(x))


def _relative(actual: FloatArray, linear_would_give: FloatArray) -> float:
    return float(np.linalg.norm(actual - linear_would_give) / np.linalg.norm(linear_would_give))


class Derivative(NamedTuple):
    """The change of attention's output along a direction, told apart by what carries it; the two add up."""

    through_values: FloatArray  # (..., n, d_model): A · dV, the pattern standing still
    through_pattern: FloatArray  # (..., n, d_model): dA · V, the values standing still

    @property
    def pattern_share(self) -> float:
        """‖dA·V‖ / (‖A·dV‖ + ‖dA·V‖), both after W_O: 0 for a linear map, 1 if the pattern does it all."""
        values, pattern = (float(np.linalg.norm(part)) for part in self)
        return pattern / (values + pattern)


def directional_derivative(
    x: FloatArray, direction: FloatArray, weights: AttentionWeights, trace: AttentionTrace
) -> Derivative:
    """Differentiate attention along a direction and keep the two paths of the product rule apart (claim 19).

    H = A V gives dH = A dV + dA V. With S = Q Kᵀ/√d_head, dS = (dQ Kᵀ + Q dKᵀ)/√d_head, and dA is the
    Jacobian diag(a) − a aᵀ of softmax applied to every row of dS.

    Parameters
    ----------
    x, direction : ndarray, shape (..., n, d_model)
    weights : AttentionWeights
    trace : AttentionTrace
        What `multi_head_attention` returned for `x`.

    Returns
    -------
    Derivative
    """
    Q, K, V, A, _ = trace
    dQ, dK, dV = (
        split_heads(linear(direction, W), Q.shape[-3]) for W in (weights.W_Q, weights.W_K, weights.W_V)
    )  # 3 times (..., h, n, d_head)
    dS = (dQ @ K.swapaxes(-1, -2) + Q @ dK.swapaxes(-1, -2)) * Q.shape[-1] ** -0.5  # (..., h, n, n)
    dA = softmax_vjp(dS, A)  # the Jacobian is symmetric: forwards and backwards are the same product
    return Derivative(linear(merge_heads(A @ dV), weights.W_O), linear(merge_heads(dA @ V), weights.W_O))


def scale_logits(weights: AttentionWeights, factor: float) -> AttentionWeights:
    """Multiply every logit by a factor, through W_Q and b_Q."""
    b_Q = None if weights.b_Q is None else weights.b_Q * factor
    return weights._replace(W_Q=weights.W_Q * factor, b_Q=b_Q)


class Sweep(NamedTuple):
    """Three measures of how far attention is from linear, for every logit scale and draw."""

    additivity: FloatArray  # (scales, draws)
    homogeneity: FloatArray  # (scales, draws), for the factor 2
    pattern_share: FloatArray  # (scales, draws)


def sweep(
    scales: Sequence[float],
    rng: np.random.Generator,
    *,
    n: int = 12,
    d_model: int = 32,
    n_heads: int = 4,
    draws: int = 40,
) -> Sweep:
    """Measure how far random attention without biases is from linear, over the scale of its logits.

    Tokens and directions are N(0, 1), weights N(0, 1/d_model), so that at scale 1 a logit has variance 1.

    Parameters
    ----------
    scales : sequence of float
        What the logits are multiplied by.
    rng : numpy.random.Generator
    n, d_model, n_heads, draws : int

    Returns
    -------
    Sweep
        The same draws at every scale.
    """
    measured = np.empty((3, len(scales), draws))
    for draw in range(draws):
        unscaled = AttentionWeights(*rng.normal(scale=d_model**-0.5, size=(4, d_model, d_model)))
        x, y, direction = rng.normal(size=(3, n, d_model))
        for k, scale in enumerate(scales):
            weights = scale_logits(unscaled, scale)
            f = attention_map(weights, n_heads)
            trace = multi_head_attention(x, weights, n_heads)[1]
            measured[:, k, draw] = (
                additivity_defect(f, x, y),
                homogeneity_defect(f, x, 2.0),
                directional_derivative(x, direction, weights, trace).pattern_share,
            )
    return Sweep(*measured)


def attention_map(
    weights: AttentionWeights, n_heads: int, mask: BoolArray | None = None
) -> Callable[[FloatArray], FloatArray]:
    """Return the function x ↦ output of multi-head attention with these weights."""
    return lambda x: multi_head_attention(x, weights, n_heads, mask)[0]


def unit_weights(rng: np.random.Generator, d_model: int = 8) -> AttentionWeights:
    """Draw the four matrices of attention from N(0, 1/d_model), without biases."""
    return AttentionWeights(*rng.normal(scale=d_model**-0.5, size=(4, d_model, d_model)))
