"""Exact Jacobians of small maps, assembled from their vector-Jacobian products (claim 46).

J_ij = ∂y_i/∂x_j over the entries of all tokens in order, so J is (n·d, n·d) for a sequence of n tokens. Its
block i, j says how token i answers to token j. A gradient goes back by Jᵀ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from encoderlab.model.arrays import BoolArray, FloatArray, require_float_array
from encoderlab.model.encoder import Encoder
from encoderlab.model.layer_norm import LayerNormWeights, standardize


def jacobian(vjp: Callable[[FloatArray], FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Ask a vector-Jacobian product for every row of its Jacobian.

    Parameters
    ----------
    vjp : callable
        Maps ∂loss/∂y to ∂loss/∂x, so the i-th basis vector to the i-th row of J.
    shape : tuple of int
        The shape of y.

    Returns
    -------
    ndarray of float64, shape (size of y, size of x)

    Examples
    --------
    >>> W = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]])
    >>> jacobian(lambda g: g @ W.T, (1, 3)).tolist()  # of y = x W, whose Jacobian is Wᵀ
    [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    """
    basis = np.eye(int(np.prod(shape))).reshape(-1, *shape)  # (size, *shape)
    return np.stack([vjp(vector).ravel() for vector in basis])


def encoder_jacobian(encoder: Encoder, x: FloatArray, mask: BoolArray | None = None) -> FloatArray:
    """Return the Jacobian of an encoder, or of what is left of it when parts are switched off.

    One forward pass, and one backward pass for each of the n·d outputs.

    Parameters
    ----------
    encoder : Encoder
    x : ndarray of float64, shape (n, d_model)
    mask : ndarray of bool, shape (n, n), optional

    Returns
    -------
    ndarray of float64, shape (n · d_model, n · d_model)

    Raises
    ------
    ValueError
        If `x` is a batch, or as `Encoder.trace` does.
    """
    if x.ndim != 2:
        raise ValueError(f"x must be one sequence of shape (n, {encoder.config.d_model}), got {x.shape}")
    trace = encoder.trace(x, mask)
    return jacobian(lambda grad: encoder.backward(trace, grad)[0], x.shape)


def layer_norm_jacobian(x: FloatArray, weights: LayerNormWeights, eps: float = 1e-5) -> FloatArray:
    """Return J_LN = diag(γ) (I − 11ᵀ/d − x̂x̂ᵀ/d)/σ, one such block for each token and zero between tokens.

    Where γ = 1 a block is symmetric, with eigenvalue 0 along 1, eps/σ³ along x̂ and 1/σ in the d − 2 other
    directions, σ² being the variance plus eps: at eps = 0 its rank is d − 2. `layer_norm_vjp` derives it.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)
    weights, eps
        What `layer_norm` is given.

    Returns
    -------
    ndarray, shape (n · d_model, n · d_model)

    Raises
    ------
    ValueError
        If `x` is not a finite matrix of floats, or as `standardize` does.
    """
    require_float_array("x", x, min_ndim=2)
    if x.ndim != 2:
        raise ValueError(f"x must be one sequence of shape (n, d_model), got {x.shape}")
    n, d = x.shape
    x_hat, sigma = standardize(x, eps)  # (n, d), (n, 1)
    kept = np.eye(d) - 1 / d - x_hat[:, :, None] * x_hat[:, None, :] / d  # (n, d, d)
    blocks = weights.gamma[:, None] * kept / sigma[:, :, None]  # (n, d, d)
    apart = np.eye(n)[:, None, :, None] * blocks[:, :, None, :]  # (n, d, n, d)
    joined: FloatArray = apart.reshape(n * d, n * d)
    return joined
