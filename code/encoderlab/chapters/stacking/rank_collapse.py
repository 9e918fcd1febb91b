"""Rank collapse followed far below rounding error: the tokens' mean and what is left of each travel apart.

X = 1m + R with rows of R that sum to zero. In one array, R drowns in the rounding of m once ‖R‖ < 10⁻¹⁶ ‖m‖.
Kept apart both keep all their digits, if each step is written for differences: exp(u) − 1 becomes expm1(u).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray, require_float_array
from encoderlab.model.attention import AttentionWeights, merge_heads, softmax, split_heads
from encoderlab.model.encoder import Encoder
from encoderlab.model.feed_forward import FeedForwardWeights
from encoderlab.model.layer_norm import LayerNormWeights
from encoderlab.model.linear import linear


class Apart(NamedTuple):
    """Tokens as their mean and what remains of each: token i is mean + residual[i]."""

    mean: FloatArray  # (d_model,)
    residual: FloatArray  # (n, d_model), rows that sum to zero

    @property
    def spread(self) -> float:
        """‖R‖, with the largest entry taken out of the squares, which would underflow from 10⁻¹⁶² down."""
        largest = float(np.abs(self.residual).max())
        return largest * float(np.linalg.norm(self.residual / largest)) if largest > 0 else 0.0

    @property
    def distance(self) -> float:
        """Distance to rank one, ‖R‖/‖X‖, as `stacking.rank_one_residual` has it for tokens in one array."""
        size = float(np.hypot(self.spread, len(self.residual) ** 0.5 * np.linalg.norm(self.mean)))
        return self.spread / size if size > 0 else 0.0


def take_apart(base: FloatArray, offsets: FloatArray) -> Apart:
    """Split tokens base + offsets[i] into their mean and the rest.

    Parameters
    ----------
    base : ndarray, shape (d_model,)
    offsets : ndarray, shape (n, d_model)

    Returns
    -------
    Apart
    """
    shift = offsets.mean(axis=0)
    return Apart(base + shift, offsets - shift)


def attention_apart(
    x: Apart, weights: AttentionWeights, n_heads: int, bias: FloatArray | None = None
) -> Apart:
    """Apply multi-head attention.

    A query q + r_i W_Q meets a key k + r_j W_K. What all keys share, softmax forgets; what is left of the
    logit is t_j + u_ij with t_j = q·r_j W_K, the same for all queries, and u_ij = r_i W_Q·r_j W_K, of second
    order in R. With a = softmax(t) the pattern is 1a + B, and

        B_ij = a_j (expm1(u_ij) − s_i) / (1 + s_i),   s_i = Σ_k a_k expm1(u_ik).

    1a hands the same to every token. What remains of the residual is B R W: of third order.

    Parameters
    ----------
    x : Apart
    weights : AttentionWeights
    n_heads : int
    bias : ndarray, shape (n, n), optional
        Added to the logits: relative positions, or a mask as 0 and −inf. Then a depends on the query, and a
        part of first order remains.

    Returns
    -------
    Apart
    """
    q = split_heads(linear(x.mean[None], weights.W_Q, weights.b_Q), n_heads)  # (h, 1, d_head)
    r_Q, r_K, r_V = (split_heads(linear(x.residual, W), n_heads) for W in weights[:3])  # (h, n, d_head) each
    scale = q.shape[-1] ** -0.5
    t = q @ r_K.swapaxes(-1, -2) * scale  # (h, 1, n)
    u = r_Q @ r_K.swapaxes(-1, -2) * scale  # (h, n, n)
    t = np.broadcast_to(t, u.shape) if bias is None else t + bias  # (h, n, n)
    a = softmax(t)
    if np.abs(u).max(initial=0) < 1:
        e = np.expm1(u)
        s = (a * e).sum(axis=-1, keepdims=True)  # (h, n, 1)
        B = a * (e - s) / (1 + s)
    else:
        B = softmax(t + u) - a  # not small, so nothing is lost
    common = a[:, :1]  # (h, 1, n)
    varying = (a - common) + B  # (h, n, n); a − common is exactly zero where all queries see the same
    value = linear(x.mean[None], weights.W_V, weights.b_V) + merge_heads(common @ r_V)  # (1, h · d_head)
    return take_apart(
        linear(value, weights.W_O, weights.b_O)[0], linear(merge_heads(varying @ r_V), weights.W_O)
    )


def feed_forward_apart(x: Apart, weights: FeedForwardWeights) -> Apart:
    """Apply a feed-forward layer with ReLU; relu(z + δ) − relu(z) is computed without a difference.

    Parameters
    ----------
    x : Apart
    weights : FeedForwardWeights

    Returns
    -------
    Apart
    """
    z = linear(x.mean[None], weights.W_1, weights.b_1)  # (1, d_ff)
    delta = linear(x.residual, weights.W_1)  # (n, d_ff)
    offsets = np.where(z > 0, np.maximum(delta, -z), np.maximum(z + delta, 0))
    return take_apart(linear(np.maximum(z, 0), weights.W_2, weights.b_2)[0], linear(offsets, weights.W_2))


def layer_norm_apart(x: Apart, weights: LayerNormWeights, eps: float) -> Apart:
    """Apply LayerNorm; 1/σ_i − 1/σ is computed from σ_i² − σ² = (2c·δ_i + δ_i·δ_i)/d.

    Parameters
    ----------
    x : Apart
    weights : LayerNormWeights
    eps : float

    Returns
    -------
    Apart
    """
    c = x.mean - x.mean.mean()  # (d_model,)
    delta = x.residual - x.residual.mean(axis=-1, keepdims=True)  # (n, d_model)
    variance = (c * c).mean() + eps
    more = (2 * c * delta + delta * delta).mean(axis=-1, keepdims=True)  # (n, 1)
    sigma, sigma_i = variance**0.5, np.sqrt(variance + more)
    offsets = delta / sigma_i - c * more / (sigma * sigma_i * (sigma + sigma_i))
    base = c / sigma * weights.gamma
    return take_apart(base if weights.beta is None else base + weights.beta, offsets * weights.gamma)


def follow(encoder: Encoder, x: FloatArray, bias: FloatArray | None = None) -> list[Apart]:
    """Send tokens through an encoder, mean and residual apart.

    Parameters
    ----------
    encoder : Encoder
        With ReLU, if it has an FFN.
    x : ndarray, shape (n, d_model)
    bias : ndarray, shape (n, n), optional
        Added to the logits of every head and layer; −inf where a query must not see a key.

    Returns
    -------
    list of Apart
        The input, then the tokens after each layer.

    Raises
    ------
    ValueError
        If `x` does not fit, the activation or the norm is another, the block is parallel, or a row of `bias`
        lets its query see nothing.
    """
    config = encoder.config
    require_float_array("x", x, min_ndim=2, width=config.d_model)
    if config.norm_kind != "layer" or config.parallel:
        raise ValueError(
            f"encoder must have LayerNorm and serial layers, got norm_kind = {config.norm_kind!r}, "
            f"parallel = {config.parallel}"
        )
    if config.ffn and config.activation != "relu":
        raise ValueError(f"encoder must have the activation relu, got {config.activation}")
    if bias is not None and not (bias.shape == (len(x), len(x)) and np.isfinite(bias).any(axis=1).all()):
        raise ValueError(
            f"bias must have shape {(len(x), len(x))} and a finite entry in each row, got {bias}"
        )
    states = [take_apart(np.zeros(config.d_model), x)]
    for layer in encoder.weights.layers[: config.depth]:
        state = states[-1]
        for part in ("attention", "ffn") if config.ffn else ("attention",):
            norm: LayerNormWeights = getattr(layer, f"{part}_norm")
            z = layer_norm_apart(state, norm, config.eps) if config.norm == "pre" else state
            y = (
                attention_apart(z, layer.attention, config.n_heads, bias)
                if part == "attention"
                else feed_forward_apart(z, layer.ffn)
            )
            u = Apart(state.mean + y.mean, state.residual + y.residual) if config.residual else y
            state = layer_norm_apart(u, norm, config.eps) if config.norm == "post" else u
        states.append(state)
    return states
