"""The affine map of one token, X W + b, and how a gradient passes back through it."""

from __future__ import annotations

from encoderlab.model.arrays import FloatArray


def linear(x: FloatArray, W: FloatArray, b: FloatArray | None = None) -> FloatArray:
    """Apply the same affine map to every row: x W + b.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_in)
    W : ndarray, shape (d_in, d_out)
    b : ndarray, shape (d_out,), optional

    Returns
    -------
    ndarray, shape (..., n, d_out)
    """
    rows = x.reshape(-1, x.shape[-1]) @ W  # (batch · n, d_out): one large product, not one for each sequence
    if b is not None:
        rows += b
    return rows.reshape(*x.shape[:-1], W.shape[1])  # (..., n, d_out)


def linear_vjp(
    grad: FloatArray, x: FloatArray, W: FloatArray, b: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Pull a gradient of the output of `linear` back to its input, matrix and bias.

    With y = x W + b and g = ∂loss/∂y, the chain rule gives ∂loss/∂x = g Wᵀ; each row of the batch adds
    its own outer product xᵀ g to the gradient of W, and its own g to that of b.

    Parameters
    ----------
    grad : ndarray, shape (..., n, d_out)
    x, W, b
        What `linear` was given.

    Returns
    -------
    grad_x : ndarray, shape (..., n, d_in)
    grad_W : ndarray, shape (d_in, d_out)
    grad_b : ndarray, shape (d_out,), or None where there is no bias
    """
    rows = grad.reshape(-1, grad.shape[-1])  # (batch · n, d_out)
    grad_x = (rows @ W.T).reshape(x.shape)  # (..., n, d_in)
    grad_W = x.reshape(-1, x.shape[-1]).T @ rows  # (d_in, d_out)
    return grad_x, grad_W, None if b is None else rows.sum(axis=0)
