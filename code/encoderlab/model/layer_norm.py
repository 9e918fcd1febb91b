"""Chapter 4, residual connections and LayerNorm: what surrounds a sub-layer.

Post-LN, as Vaswani et al. 2017 print it: LN(x + F(x)). Pre-LN: x + F(LN(x)). Xiong et al. 2020 compare them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from encoderlab.model.arrays import FloatArray

Norm = Literal["none", "post", "pre"]
Record = TypeVar("Record")
Weights = TypeVar("Weights")


class LayerNormWeights(NamedTuple):
    """The scale γ and shift β of a LayerNorm; a shift that is None is absent."""

    gamma: FloatArray  # (d_model,)
    beta: FloatArray | None = None  # (d_model,)


class Standardized(NamedTuple):
    """Rows of mean 0 and variance 1, and what they were divided by."""

    x_hat: FloatArray  # (..., d_model)
    sigma: FloatArray  # (..., 1)


class SublayerTrace(NamedTuple):
    """What a sub-layer computed on the way."""

    x: FloatArray  # (..., n, d_model), what came in
    z: FloatArray  # (..., n, d_model), what F saw: LN(x) before a pre-LN sub-layer, else x
    y: FloatArray  # (..., n, d_model), what F gave
    u: FloatArray  # (..., n, d_model), x + y with the residual, else y
    normed: Standardized | None  # u (post-LN) or x (pre-LN), standardized


def standardize(x: FloatArray, eps: float) -> Standardized:
    """Bring each row to mean 0 and variance 1: (x − mean)/√(variance + eps).

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    eps : float
        Added to the variance, inside the root.

    Returns
    -------
    Standardized

    Raises
    ------
    ValueError
        If eps is 0 and a row is constant: it has no direction to keep. With eps > 0 it becomes zeros.
    """
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.vecdot(centred, centred)[..., None] / x.shape[-1]  # (..., 1)
    sigma = np.sqrt(variance + eps)  # (..., 1)
    if eps == 0 and not sigma.all():
        raise ValueError("eps must be positive when x has a constant row, got 0")
    return Standardized(centred / sigma, sigma)


def layer_norm(x: FloatArray, weights: LayerNormWeights, eps: float = 1e-5) -> FloatArray:
    """Normalise each token over its own features: γ (x − mean)/√(variance + eps) + β (claims 49, 53).

    The variance is the mean square (ddof = 0), and eps stands inside the root. Ba, Kiros, Hinton 2016.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    weights : LayerNormWeights
    eps : float

    Returns
    -------
    ndarray, shape (..., d_model)
        A constant row gives β.
    """
    return _rescale(standardize(x, eps).x_hat, weights)


def _rescale(x_hat: FloatArray, weights: LayerNormWeights) -> FloatArray:
    scaled = x_hat * weights.gamma
    return scaled if weights.beta is None else scaled + weights.beta


def layer_norm_vjp(
    grad: FloatArray, x: FloatArray, weights: LayerNormWeights, eps: float = 1e-5
) -> tuple[FloatArray, LayerNormWeights]:
    """Pull a gradient of the output of `layer_norm` back to its input, γ and β.

    With x̂ = (x − m)/σ: ∂m/∂x_j = 1/d and ∂σ/∂x_j = x̂_j/d, hence ∂x̂_i/∂x_j = (δ_ij − 1/d − x̂_i x̂_j/d)/σ.
    That matrix is symmetric; applied to g = γ ⊙ grad it gives (g − mean(g) − x̂ mean(g ⊙ x̂))/σ (claim 46).

    Parameters
    ----------
    grad : ndarray, shape (..., d_model)
        ∂loss/∂output.
    x, weights, eps
        What `layer_norm` was given.

    Returns
    -------
    grad_x : ndarray, shape (..., d_model)
    grad_weights : LayerNormWeights
    """
    return _rescaled_vjp(grad, standardize(x, eps), weights)


def _rescaled_vjp(
    grad: FloatArray, normed: Standardized, weights: LayerNormWeights
) -> tuple[FloatArray, LayerNormWeights]:
    x_hat, sigma = normed
    g = grad * weights.gamma
    along = np.vecdot(g, x_hat)[..., None] / g.shape[-1]  # (..., 1)
    grad_x = (g - g.mean(axis=-1, keepdims=True) - x_hat * along) / sigma
    rows = tuple(range(grad.ndim - 1))
    grad_gamma = (grad * x_hat).sum(axis=rows)  # (d_model,)
    return grad_x, LayerNormWeights(grad_gamma, None if weights.beta is None else grad.sum(axis=rows))


def sublayer(
    x: FloatArray,
    f: Callable[[FloatArray], tuple[FloatArray, Record]],
    norm_weights: LayerNormWeights,
    *,
    residual: bool = True,
    norm: Norm = "post",
    eps: float = 1e-5,
) -> tuple[FloatArray, SublayerTrace, Record]:
    """Wrap F, attention or a feed-forward layer, in its residual connection and LayerNorm (claims 35, 46).

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    f : callable
        Maps (..., n, d_model) to the same shape and a record of what it computed.
    norm_weights : LayerNormWeights
        Unused when `norm` is "none".
    residual, norm, eps
        The switches.

    Returns
    -------
    output : ndarray, shape (..., n, d_model)
    trace : SublayerTrace
    record
        What `f` returned beside its output.
    """
    z, normed = x, None
    if norm == "pre":
        normed = standardize(x, eps)
        z = _rescale(normed.x_hat, norm_weights)
    y, record = f(z)
    u = x + y if residual else y
    output = u
    if norm == "post":
        normed = standardize(u, eps)
        output = _rescale(normed.x_hat, norm_weights)
    return output, SublayerTrace(x, z, y, u, normed), record


def sublayer_vjp(
    grad: FloatArray,
    trace: SublayerTrace,
    f_vjp: Callable[[FloatArray], tuple[FloatArray, Weights]],
    norm_weights: LayerNormWeights,
    *,
    residual: bool = True,
    norm: Norm = "post",
) -> tuple[FloatArray, Weights, LayerNormWeights]:
    """Pull a gradient back through a wrapped sub-layer.

    Read `sublayer` from its last line up. Post-LN: through the norm first, then I + J_F, so nothing passes
    unnormalised. Pre-LN: through F and the norm on the branch, and the identity beside it.

    Parameters
    ----------
    grad : ndarray, shape (..., n, d_model)
        ∂loss/∂output.
    trace : SublayerTrace
        What `sublayer` returned.
    f_vjp : callable
        Maps ∂loss/∂y to ∂loss/∂z and the gradients of the weights of F.
    norm_weights, residual, norm
        What `sublayer` was given.

    Returns
    -------
    grad_x : ndarray, shape (..., n, d_model)
    grad_f : the gradients of the weights of F
    grad_norm : LayerNormWeights
        Without a norm, the weights as they came.
    """
    grad_norm = norm_weights
    if norm == "post" and trace.normed is not None:
        grad, grad_norm = _rescaled_vjp(grad, trace.normed, norm_weights)
    grad_x, grad_f = f_vjp(grad)
    if norm == "pre" and trace.normed is not None:
        grad_x, grad_norm = _rescaled_vjp(grad_x, trace.normed, norm_weights)
    return (grad + grad_x if residual else grad_x), grad_f, grad_norm
