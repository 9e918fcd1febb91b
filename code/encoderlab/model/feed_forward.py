"""The position-wise feed-forward layer: two affine maps with an elementwise activation between them.

FFN(x) = f(x W₁ + b₁) W₂ + b₂, the same for every token. Vaswani et al. 2017, equation 2.
"""

from __future__ import annotations

from typing import NamedTuple

from encoderlab.model.activations import ACTIVATIONS
from encoderlab.model.arrays import FloatArray
from encoderlab.model.linear import linear, linear_vjp


class FeedForwardWeights(NamedTuple):
    """The two maps of a feed-forward layer; a bias that is None is absent."""

    W_1: FloatArray  # (d_model, d_ff)
    W_2: FloatArray  # (d_ff, d_model)
    b_1: FloatArray | None = None  # (d_ff,)
    b_2: FloatArray | None = None  # (d_model,)


class FeedForwardTrace(NamedTuple):
    """What a feed-forward layer computed on the way."""

    preactivation: FloatArray  # (..., n, d_ff)
    activation: FloatArray  # (..., n, d_ff)


def feed_forward(
    x: FloatArray, weights: FeedForwardWeights, activation: str = "relu"
) -> tuple[FloatArray, FeedForwardTrace]:
    """Apply FFN(x) = f(x W₁ + b₁) W₂ + b₂ to each token alone (claims 28, 34, 63).

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    weights : FeedForwardWeights
    activation : str
        A name in `encoderlab.model.activations.ACTIVATIONS`.

    Returns
    -------
    output : ndarray, shape (..., n, d_model)
    trace : FeedForwardTrace
    """
    preactivation = linear(x, weights.W_1, weights.b_1)  # (..., n, d_ff)
    activated = ACTIVATIONS[activation].f(preactivation)  # (..., n, d_ff)
    output = linear(activated, weights.W_2, weights.b_2)  # (..., n, d_model)
    return output, FeedForwardTrace(preactivation, activated)


def feed_forward_vjp(
    grad: FloatArray,
    x: FloatArray,
    weights: FeedForwardWeights,
    trace: FeedForwardTrace,
    activation: str = "relu",
) -> tuple[FloatArray, FeedForwardWeights]:
    """Pull a gradient of the output of `feed_forward` back to its input and weights.

    The two affine maps go back as in `linear_vjp`; between them the elementwise f has the diagonal
    Jacobian diag(f′(preactivation)), so the gradient is multiplied by f′ entry by entry.

    Parameters
    ----------
    grad : ndarray, shape (..., n, d_model)
        ∂loss/∂output.
    x, weights, activation
        What `feed_forward` was given.
    trace : FeedForwardTrace
        What it returned.

    Returns
    -------
    grad_x : ndarray, shape (..., n, d_model)
    grad_weights : FeedForwardWeights
        One gradient for each weight; None where there is no bias.
    """
    grad_activated, grad_W_2, grad_b_2 = linear_vjp(grad, trace.activation, weights.W_2, weights.b_2)
    grad_pre = grad_activated * ACTIVATIONS[activation].derivative(trace.preactivation)  # (..., n, d_ff)
    grad_x, grad_W_1, grad_b_1 = linear_vjp(grad_pre, x, weights.W_1, weights.b_1)
    return grad_x, FeedForwardWeights(grad_W_1, grad_W_2, grad_b_1, grad_b_2)
