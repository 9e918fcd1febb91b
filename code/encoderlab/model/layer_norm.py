"""LayerNorm and RMSNorm: each token is brought to one size, over its own features."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray

NormKind = Literal["layer", "rms"]


class LayerNormWeights(NamedTuple):
    """The scale γ and shift β of a norm; a shift that is None is absent, and RMSNorm uses none."""

    gamma: FloatArray  # (d_model,)
    beta: FloatArray | None = None  # (d_model,)


class Standardized(NamedTuple):
    """Rows of mean square 1, under LayerNorm also of mean 0, and what they were divided by."""

    x_hat: FloatArray  # (..., d_model)
    sigma: FloatArray  # (..., 1)


def standardize(x: FloatArray, eps: float, kind: NormKind = "layer") -> Standardized:
    """Bring each row to mean 0 and variance 1: (x − mean)/√(variance + eps). RMSNorm leaves the mean in.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    eps : float
        Added to the variance, inside the root.
    kind : {"layer", "rms"}
        RMSNorm divides x by √(mean square + eps).

    Returns
    -------
    Standardized

    Raises
    ------
    ValueError
        If eps is 0 and a row has no size to divide by: it has no direction to keep. With eps > 0 it becomes
        zeros.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        centred = x - x.mean(axis=-1, keepdims=True) if kind == "layer" else x
        square = np.vecdot(centred, centred)[..., None] / x.shape[-1]  # (..., 1)
        if not np.isfinite(square).all():
            return _standardize_large(x, eps, kind)
    x = centred
    sigma = np.sqrt(square + eps)  # (..., 1)
    if eps == 0 and not sigma.all():
        raise ValueError("eps must be positive when x has a constant row, got 0")
    return Standardized(x / sigma, sigma)


def _standardize_large(x: FloatArray, eps: float, kind: NormKind) -> Standardized:
    """Do the same where squares overflow, each row divided first by a power of 2, which rounds nothing."""
    largest = np.abs(x).max(axis=-1, keepdims=True)  # (..., 1)
    whole = np.isfinite(largest) & (largest > 1)
    unit = np.ldexp(np.ones_like(largest), np.where(whole, np.frexp(largest)[1] - 1, 0))  # (..., 1)
    x = x / unit
    if kind == "layer":
        x = x - x.mean(axis=-1, keepdims=True)
    square = np.vecdot(x, x)[..., None] / x.shape[-1]  # (..., 1)
    sigma = np.sqrt(square + (eps / unit) / unit)  # (..., 1)
    if eps == 0 and not sigma.all():
        raise ValueError("eps must be positive when x has a constant row, got 0")
    tiny = sigma == 0  # a constant row so large that eps is lost beside it: zeros, as of any constant row
    return Standardized(x / np.where(tiny, 1, sigma).astype(x.dtype), np.where(tiny, eps**0.5, sigma * unit))


def rescale(x_hat: FloatArray, weights: LayerNormWeights, kind: NormKind = "layer") -> FloatArray:
    """Give each feature its scale γ and, under LayerNorm, its shift β."""
    scaled = x_hat * weights.gamma
    return scaled if weights.beta is None or kind == "rms" else scaled + weights.beta


def layer_norm(
    x: FloatArray, weights: LayerNormWeights, eps: float = 1e-5, kind: NormKind = "layer"
) -> FloatArray:
    """Normalise each token over its own features: γ (x − mean)/√(variance + eps) + β (claims 49, 53).

    The variance is the mean square (ddof = 0), and eps stands inside the root. Ba, Kiros, Hinton 2016.
    RMSNorm, γ x/√(mean square + eps), is that without mean and β. Zhang, Sennrich 2019.

    Parameters
    ----------
    x : ndarray, shape (..., d_model)
    weights : LayerNormWeights
    eps : float
    kind : {"layer", "rms"}

    Returns
    -------
    ndarray, shape (..., d_model)
        A constant row gives β under LayerNorm.

    Examples
    --------
    >>> x, weights = np.array([[3.0, 1.0]]), LayerNormWeights(np.ones(2))
    >>> layer_norm(x, weights).round(2).tolist(), layer_norm(x, weights, kind="rms").round(2).tolist()
    ([[1.0, -1.0]], [[1.34, 0.45]])
    """
    return rescale(standardize(x, eps, kind).x_hat, weights, kind)


def layer_norm_vjp(
    grad: FloatArray, x: FloatArray, weights: LayerNormWeights, eps: float = 1e-5, kind: NormKind = "layer"
) -> tuple[FloatArray, LayerNormWeights]:
    """Pull a gradient of the output of `layer_norm` back to its input, γ and β.

    Parameters
    ----------
    grad : ndarray, shape (..., d_model)
        ∂loss/∂output.
    x, weights, eps, kind
        What `layer_norm` was given.

    Returns
    -------
    grad_x : ndarray, shape (..., d_model)
    grad_weights : LayerNormWeights
        None for a β that is not used.
    """
    return rescaled_vjp(grad, standardize(x, eps, kind), weights, kind)


def rescaled_vjp(
    grad: FloatArray, normed: Standardized, weights: LayerNormWeights, kind: NormKind = "layer"
) -> tuple[FloatArray, LayerNormWeights]:
    """Do the work of `layer_norm_vjp`, for a caller that has the standardised rows already.

    With x̂ = (x − m)/σ: ∂m/∂x_j = 1/d and ∂σ/∂x_j = x̂_j/d, hence ∂x̂_i/∂x_j = (δ_ij − 1/d − x̂_i x̂_j/d)/σ.
    That matrix is symmetric; applied to g = γ ⊙ grad it gives (g − mean(g) − x̂ mean(g ⊙ x̂))/σ (claim 46).
    RMSNorm has no m, so the term −1/d, and with it mean(g), is absent.
    """
    x_hat, sigma = normed
    g = grad * weights.gamma
    along = np.vecdot(g, x_hat)[..., None] / g.shape[-1]  # (..., 1)
    if kind == "layer":
        g = g - g.mean(axis=-1, keepdims=True)
    rows = tuple(range(grad.ndim - 1))
    grad_gamma = (grad * x_hat).sum(axis=rows)  # (d_model,)
    no_shift = weights.beta is None or kind == "rms"
    return (g - x_hat * along) / sigma, LayerNormWeights(
        grad_gamma, None if no_shift else grad.sum(axis=rows)
    )
