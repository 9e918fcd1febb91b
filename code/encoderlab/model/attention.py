"""Chapter 2, attention: a weighted mean of values, whose weights the input itself sets.

Rows are tokens: X is (..., n, d_model) and a linear map is X W. Vaswani et al. 2017, equation 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import BoolArray, FloatArray
from encoderlab.model.linear import linear, linear_vjp


class AttentionWeights(NamedTuple):
    """The four maps of multi-head attention; a bias that is None is absent.

    Each head owns one block of d_head columns of W_Q, W_K and W_V, and the same rows of W_O.
    Usually n_heads · d_head = d_model; nothing here depends on it.
    """

    W_Q: FloatArray  # (d_model, n_heads · d_head)
    W_K: FloatArray  # (d_model, n_heads · d_head)
    W_V: FloatArray  # (d_model, n_heads · d_head)
    W_O: FloatArray  # (n_heads · d_head, d_model)
    b_Q: FloatArray | None = None  # (n_heads · d_head,)
    b_K: FloatArray | None = None  # (n_heads · d_head,)
    b_V: FloatArray | None = None  # (n_heads · d_head,)
    b_O: FloatArray | None = None  # (d_model,)


class AttentionTrace(NamedTuple):
    """What multi-head attention computed on the way."""

    Q: FloatArray  # (..., h, n, d_head)
    K: FloatArray  # (..., h, n, d_head)
    V: FloatArray  # (..., h, n, d_head)
    pattern: FloatArray  # (..., h, n, n), every row a distribution over keys
    heads: FloatArray  # (..., n, h · d_head), the heads' outputs side by side, before W_O


def softmax(logits: FloatArray, mask: BoolArray | None = None) -> FloatArray:
    """Turn every row of logits into weights that are positive and sum to one.

    The largest logit of a row is subtracted first, which changes nothing in exact arithmetic and keeps exp
    from overflowing.

    Parameters
    ----------
    logits : ndarray, shape (..., n)
    mask : ndarray of bool, broadcastable to `logits`, optional
        False entries get weight zero, whatever stands there. A row that is False or −∞ throughout gets zero
        weights, not NaN.

    Returns
    -------
    ndarray, shape (..., n)
        NaN throughout a row that holds NaN or ∞: there is no distribution to give.

    Examples
    --------
    >>> softmax(np.array([1000.0, 0.0, -1000.0]))
    array([1., 0., 0.])
    >>> softmax(np.zeros(3), mask=np.array([False, False, False]))
    array([0., 0., 0.])
    """
    if mask is not None:
        logits = np.where(mask, logits, -np.inf)
    largest = logits.max(axis=-1, keepdims=True, initial=-np.inf)  # (..., 1)
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        weights: FloatArray = logits - np.where(largest == -np.inf, 0, largest)
    np.exp(weights, out=weights)
    total = weights.sum(axis=-1, keepdims=True)  # (..., 1)
    weights /= np.where(total == 0, 1, total)
    return weights


def softmax_vjp(grad: FloatArray, weights: FloatArray) -> FloatArray:
    """Pull a gradient of the weights back to the logits.

    From a_i = exp(s_i) / Σ exp(s): ∂a_i/∂s_j = a_i (δ_ij − a_j), the Jacobian diag(a) − a aᵀ (claim 16).
    It is symmetric, so the gradient of the logits is a ⊙ (g − aᵀg). A masked entry has a_i = 0 and gets zero.

    Parameters
    ----------
    grad : ndarray, shape (..., n)
        ∂loss/∂weights.
    weights : ndarray, shape (..., n)
        What `softmax` returned.

    Returns
    -------
    ndarray, shape (..., n)
    """
    along: FloatArray = np.vecdot(grad, weights)[..., None]  # (..., 1)
    if not np.isfinite(along).all():  # 0 · ∞ is NaN; what has weight zero is not read
        grad = np.where(weights == 0, 0, grad)
        along = np.vecdot(grad, weights)[..., None]  # (..., 1)
    return weights * (grad - along)


def split_heads(x: FloatArray, n_heads: int) -> FloatArray:
    """Cut the columns into heads: (..., n, h · d_head) becomes (..., h, n, d_head)."""
    *batch, n, width = x.shape
    return x.reshape(*batch, n, n_heads, width // n_heads).swapaxes(-2, -3)


def merge_heads(x: FloatArray) -> FloatArray:
    """Put the heads side by side again: (..., h, n, d_head) becomes (..., n, h · d_head)."""
    *batch, h, n, d_head = x.shape
    return x.swapaxes(-2, -3).reshape(*batch, n, h * d_head)


def multi_head_attention(
    x: FloatArray,
    weights: AttentionWeights,
    n_heads: int,
    mask: BoolArray | None = None,
    bias: FloatArray | None = None,
) -> tuple[FloatArray, AttentionTrace]:
    """Scaled dot-product self-attention with several heads (claims 11 to 13).

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    weights : AttentionWeights
    n_heads : int
    mask : ndarray of bool, broadcastable to (..., n, n), optional
        True where the row's token may attend to the column's. A token that may attend to none gets zero from
        every head, so its output is b_O.
    bias : ndarray, broadcastable to (..., h, n, n), optional
        Added to the logits: how far a token stands, say, whatever the tokens are.

    Returns
    -------
    output : ndarray, shape (..., n, d_model)
    trace : AttentionTrace
    """
    Q = split_heads(linear(x, weights.W_Q, weights.b_Q), n_heads)  # (..., h, n, d_head)
    K = split_heads(linear(x, weights.W_K, weights.b_K), n_heads)  # (..., h, n, d_head)
    V = split_heads(linear(x, weights.W_V, weights.b_V), n_heads)  # (..., h, n, d_head)
    logits = Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5  # (..., h, n, n)
    logits = logits if bias is None else logits + bias  # (..., h, n, n)
    pattern = softmax(logits, None if mask is None else mask[..., None, :, :])  # (..., h, n, n)
    heads: FloatArray = pattern @ V  # (..., h, n, d_head)
    if mask is not None and not np.isfinite(heads).all():
        heads = _seen_only(pattern, V, mask[..., None, :, :])  # (..., h, n, d_head)
    heads = merge_heads(heads)  # (..., n, h · d_head)
    return linear(heads, weights.W_O, weights.b_O), AttentionTrace(Q, K, V, pattern, heads)


def _seen_only(pattern: FloatArray, V: FloatArray, mask: BoolArray) -> FloatArray:
    """Return pattern · V where hidden values are not read: the product makes NaN of a weight 0 times inf."""
    overflowed = ~np.isfinite(V)  # (..., h, n, d_head)
    seen = np.broadcast_to(mask, pattern.shape).astype(V.dtype) @ overflowed.astype(V.dtype) > 0
    heads: FloatArray = pattern @ np.where(overflowed, 0, V)  # (..., h, n, d_head)
    heads[seen] = np.nan
    return heads


def multi_head_attention_vjp(
    grad: FloatArray, x: FloatArray, weights: AttentionWeights, trace: AttentionTrace
) -> tuple[FloatArray, AttentionWeights]:
    """Pull a gradient of the output of `multi_head_attention` back to its input and weights.

    Per head, with A = softmax(S), S = Q Kᵀ/√d_head and H = A V, and G the gradient of H:
    H is linear in A and in V, so ∂V = Aᵀ G and ∂A = G Vᵀ; ∂S follows from `softmax_vjp`;
    S is linear in Q and in K, so ∂Q = ∂S K/√d_head and ∂K = ∂Sᵀ Q/√d_head.
    The input is read three times, so its gradient is the sum of what comes back through Q, K and V.
    Mask and bias are constants and already in A.

    Parameters
    ----------
    grad : ndarray, shape (..., n, d_model)
        ∂loss/∂output.
    x, weights
        What `multi_head_attention` was given.
    trace : AttentionTrace
        What it returned.

    Returns
    -------
    grad_x : ndarray, shape (..., n, d_model)
    grad_weights : AttentionWeights
        One gradient for each weight; None where there is no bias.
    """
    Q, K, V, A, heads = trace
    n_heads, scale = Q.shape[-3], Q.shape[-1] ** -0.5
    grad_merged, grad_W_O, grad_b_O = linear_vjp(grad, heads, weights.W_O, weights.b_O)
    grad_heads = split_heads(grad_merged, n_heads)  # (..., h, n, d_head)

    grad_V = A.swapaxes(-1, -2) @ grad_heads  # (..., h, n, d_head)
    grad_S = softmax_vjp(grad_heads @ V.swapaxes(-1, -2), A) * scale  # (..., h, n, n)
    grad_Q = grad_S @ K  # (..., h, n, d_head)
    grad_K = grad_S.swapaxes(-1, -2) @ Q  # (..., h, n, d_head)

    from_Q, grad_W_Q, grad_b_Q = linear_vjp(merge_heads(grad_Q), x, weights.W_Q, weights.b_Q)
    from_K, grad_W_K, grad_b_K = linear_vjp(merge_heads(grad_K), x, weights.W_K, weights.b_K)
    from_V, grad_W_V, grad_b_V = linear_vjp(merge_heads(grad_V), x, weights.W_V, weights.b_V)
    grad_weights = AttentionWeights(
        grad_W_Q, grad_W_K, grad_W_V, grad_W_O, grad_b_Q, grad_b_K, grad_b_V, grad_b_O
    )
    return from_Q + from_K + from_V, grad_weights


def causal_mask(n: int) -> BoolArray:
    """Return the (n, n) mask that lets token t attend to tokens 0 to t: itself and what came before."""
    return np.tri(n, dtype=np.bool_)


def padding_mask(lengths: list[int], n: int) -> BoolArray:
    """Return the (batch, 1, n) mask that hides the keys past each sequence's length.

    Parameters
    ----------
    lengths : list of int
        How many tokens of each sequence are real, 0 to n.
    n : int
        The padded length.

    Raises
    ------
    ValueError
        If n or a length is no integer, or a length is negative or exceeds n.

    Examples
    --------
    >>> padding_mask([1, 3], 3)[:, 0].astype(int)
    array([[1, 0, 0],
           [1, 1, 1]])
    """
    for name, value in (("n", n), *(("lengths", length) for length in lengths)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise ValueError(f"{name} must be in integers, got {value!r}")
    if any(not 0 <= length <= n for length in lengths):
        raise ValueError(f"lengths must lie between 0 and n = {n}, got {lengths}")
    return (np.arange(n) < np.asarray(lengths, dtype=np.intp)[:, None])[:, None, :]  # (batch, 1, n)
