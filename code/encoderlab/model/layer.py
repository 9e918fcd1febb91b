"""One layer of the encoder: attention across the tokens, then a feed-forward layer within each."""

from __future__ import annotations

from typing import NamedTuple

from encoderlab.model.arrays import BoolArray, FloatArray
from encoderlab.model.attention import (
    AttentionTrace,
    AttentionWeights,
    multi_head_attention,
    multi_head_attention_vjp,
)
from encoderlab.model.config import EncoderConfig
from encoderlab.model.edit import INTACT_LAYER, LayerEdit
from encoderlab.model.feed_forward import (
    FeedForwardTrace,
    FeedForwardWeights,
    feed_forward,
    feed_forward_vjp,
)
from encoderlab.model.sublayer import SublayerTrace, sublayer, sublayer_vjp
from encoderlab.model.weights import LayerGradients, LayerWeights


class LayerTrace(NamedTuple):
    """What one layer computed; the last two are None where the FFN is switched off.

    Of a parallel block both traces hold the same x, z, u and norm, and each its own y.
    """

    attention: SublayerTrace
    attention_inner: AttentionTrace
    ffn: SublayerTrace | None
    ffn_inner: FeedForwardTrace | None


def encoder_layer(
    x: FloatArray,
    weights: LayerWeights,
    config: EncoderConfig,
    mask: BoolArray | None = None,
    bias: FloatArray | None = None,
    edit: LayerEdit = INTACT_LAYER,
) -> tuple[FloatArray, LayerTrace]:
    """Map tokens to tokens by one layer, every part of which can be switched off.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    weights : LayerWeights
    config : EncoderConfig
    mask : ndarray of bool, broadcastable to (..., n, n), optional
        True where the row's token may attend to the column's.
    bias : ndarray, broadcastable to (..., h, n, n), optional
        Added to the logits of attention.
    edit : LayerEdit, optional
        What stands in the place of a part.

    Returns
    -------
    output : ndarray, shape (..., n, d_model)
    trace : LayerTrace
    """
    w, c = weights, config

    def attend(z: FloatArray) -> tuple[FloatArray, AttentionTrace]:
        return multi_head_attention(z, w.attention, c.n_heads, mask, bias)

    def feed(z: FloatArray) -> tuple[FloatArray, FeedForwardTrace]:
        return feed_forward(z, w.ffn, c.activation)

    def both(
        z: FloatArray,
    ) -> tuple[FloatArray, tuple[FloatArray, AttentionTrace, FloatArray, FeedForwardTrace]]:
        attended, attention_inner = attend(z)
        fed, ffn_inner = feed(z)
        attended = edit.attention.branch(attended) if edit.attention.branch else attended
        fed = edit.ffn.branch(fed) if edit.ffn.branch else fed
        return attended + fed, (attended, attention_inner, fed, ffn_inner)

    if c.ffn and c.parallel:
        around = edit.attention._replace(branch=None)
        output, trace, (attended, attention_inner, fed, ffn_inner) = sublayer(
            x, both, w.attention_norm, c, around
        )
        layer = LayerTrace(trace._replace(y=attended), attention_inner, trace._replace(y=fed), ffn_inner)
    elif c.ffn:
        between, attention, attention_inner = sublayer(x, attend, w.attention_norm, c, edit.attention)
        output, ffn, ffn_inner = sublayer(between, feed, w.ffn_norm, c, edit.ffn)
        layer = LayerTrace(attention, attention_inner, ffn, ffn_inner)
    else:
        output, attention, attention_inner = sublayer(x, attend, w.attention_norm, c, edit.attention)
        layer = LayerTrace(attention, attention_inner, None, None)
    if edit.change:
        output = x + edit.change(output - x)
    return output, layer


def encoder_layer_vjp(
    grad: FloatArray, weights: LayerWeights, config: EncoderConfig, trace: LayerTrace
) -> tuple[FloatArray, LayerGradients]:
    """Pull a gradient of the output of `encoder_layer` back to its input and weights.

    Parameters
    ----------
    grad : ndarray, shape (..., n, d_model)
        ∂loss/∂output.
    weights, config
        What `encoder_layer` was given.
    trace : LayerTrace
        What it returned, without an edit.

    Returns
    -------
    grad_x : ndarray, shape (..., n, d_model)
    grad_weights : LayerGradients
        None for what the switches leave unused.
    """
    w, c = weights, config

    def attend_vjp(g: FloatArray) -> tuple[FloatArray, AttentionWeights]:
        return multi_head_attention_vjp(g, trace.attention.z, w.attention, trace.attention_inner)

    if trace.ffn is None or trace.ffn_inner is None:
        grad, attention, attention_norm = sublayer_vjp(grad, trace.attention, attend_vjp, w.attention_norm, c)
        return grad, LayerGradients(attention, attention_norm, None, None)

    z, inner = trace.ffn.z, trace.ffn_inner

    def feed_vjp(g: FloatArray) -> tuple[FloatArray, FeedForwardWeights]:
        return feed_forward_vjp(g, z, w.ffn, inner, c.activation)

    def both_vjp(g: FloatArray) -> tuple[FloatArray, tuple[AttentionWeights, FeedForwardWeights]]:
        through_attention, attention = attend_vjp(g)
        through_ffn, ffn = feed_vjp(g)
        return through_attention + through_ffn, (attention, ffn)

    if c.parallel:
        grad, (attention, ffn), norm = sublayer_vjp(grad, trace.attention, both_vjp, w.attention_norm, c)
        return grad, LayerGradients(attention, norm, ffn, None)
    grad, ffn, ffn_norm = sublayer_vjp(grad, trace.ffn, feed_vjp, w.ffn_norm, c)
    grad, attention, attention_norm = sublayer_vjp(grad, trace.attention, attend_vjp, w.attention_norm, c)
    return grad, LayerGradients(attention, attention_norm, ffn, ffn_norm)
