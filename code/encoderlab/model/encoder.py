"""The Transformer encoder, assembled: every part can be switched off.

A layer is attention, then a feed-forward layer, each inside its residual connection and LayerNorm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from encoderlab.model.arrays import BoolArray, FloatArray, require_float_array, require_mask
from encoderlab.model.attention import AttentionTrace, multi_head_attention, multi_head_attention_vjp
from encoderlab.model.config import EncoderConfig
from encoderlab.model.feed_forward import FeedForwardTrace, feed_forward, feed_forward_vjp
from encoderlab.model.layer_norm import SublayerTrace, layer_norm, layer_norm_vjp, sublayer, sublayer_vjp
from encoderlab.model.weights import (
    EncoderWeights,
    LayerWeights,
    expected_shape,
    named,
    random_weights,
    rebuild,
)

__all__ = ["Encoder", "EncoderConfig", "LayerTrace", "Trace"]


class LayerTrace(NamedTuple):
    """What one layer computed; the last two are None where the FFN is switched off."""

    attention: SublayerTrace
    attention_inner: AttentionTrace
    ffn: SublayerTrace | None
    ffn_inner: FeedForwardTrace | None


class Trace(NamedTuple):
    """An encoder's output and everything on the way to it."""

    output: FloatArray  # (..., n, d_model)
    hidden: tuple[FloatArray, ...]  # depth + 1 times (..., n, d_model): the input, then after each layer
    layers: tuple[LayerTrace, ...]

    @property
    def attention(self) -> tuple[FloatArray, ...]:
        """Each layer's attention weights, (..., h, n, n)."""
        return tuple(layer.attention_inner.pattern for layer in self.layers)


class Encoder:
    """A stack of Transformer encoder layers.

    Parameters
    ----------
    config : EncoderConfig
    weights : EncoderWeights
        Of at least `config.depth` layers; more are kept for a later `switch`.

    Raises
    ------
    ValueError
        If layers are missing, or a weight in use has the wrong shape or dtype, or is not finite.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> encoder = Encoder.random(EncoderConfig(d_model=8, n_heads=2, d_ff=16, depth=3), rng)
    >>> x = rng.normal(size=(5, 8))
    >>> encoder(x).shape, encoder.switch(ffn=False, depth=1)(x).shape
    ((5, 8), (5, 8))
    """

    def __init__(self, config: EncoderConfig, weights: EncoderWeights) -> None:
        self.config, self.weights = config, weights
        if len(weights.layers) < config.depth:
            raise ValueError(
                f"weights must hold at least depth = {config.depth} layers, got {len(weights.layers)}"
            )
        for name, weight in self.parameters().items():
            require_float_array(name, weight, shape=expected_shape(name, config))

    @classmethod
    def random(cls, config: EncoderConfig, rng: np.random.Generator, gain: float = 1.0) -> Encoder:
        """Draw an encoder with `encoderlab.model.weights.random_weights`."""
        return cls(config, random_weights(config, rng, gain))

    def switch(self, **changes: Any) -> Encoder:
        """Return an encoder of the same weights with other switches, such as ``ffn=False`` or ``depth=2``."""
        return Encoder(replace(self.config, **changes), self.weights)

    def parameters(self) -> dict[str, FloatArray]:
        """Name every weight in use, as in "layers.0.attention.W_Q". The arrays are the encoder's own."""
        return dict(named(self.weights, self.config))

    def with_parameters(self, parameters: Mapping[str, FloatArray]) -> Encoder:
        """Return an encoder in which the named weights are replaced and all others are shared.

        Raises
        ------
        ValueError
            If a name is not one of `parameters()`, or an array does not fit.
        """
        unknown = sorted(parameters.keys() - self.parameters().keys())
        if unknown:
            raise ValueError(f"parameters must name weights in use, got {', '.join(unknown)}")
        return Encoder(self.config, rebuild(self.weights, lambda name, old: parameters.get(name, old)))

    def astype(self, dtype: np.dtype[Any]) -> Encoder:
        """Return an encoder whose weights are of this dtype; itself if they are already."""
        if all(weight.dtype == dtype for weight in self.parameters().values()):
            return self
        return Encoder(self.config, rebuild(self.weights, lambda _, old: old.astype(dtype)))

    def __call__(self, x: FloatArray, mask: BoolArray | None = None) -> FloatArray:
        """Map tokens to tokens; see `trace` for the arguments and errors.

        Returns
        -------
        ndarray, shape and dtype of `x`
        """
        return self.trace(x, mask).output

    def trace(self, x: FloatArray, mask: BoolArray | None = None) -> Trace:
        """Map tokens to tokens and keep everything on the way.

        Parameters
        ----------
        x : ndarray of float32 or float64, shape (..., n, d_model)
        mask : ndarray of bool, broadcastable to (..., n, n), optional
            True where the row's token may attend to the column's.

        Returns
        -------
        Trace
            All arrays in the dtype of `x`.

        Raises
        ------
        ValueError
            If `x` or `mask` has another shape or dtype, or `x` is not finite.
        """
        require_float_array("x", x, min_ndim=2, width=self.config.d_model)
        if mask is not None:
            require_mask("mask", mask, (*x.shape[:-1], x.shape[-2]))
        weights, config = self.astype(x.dtype).weights, self.config
        hidden, layers = [x], []
        for layer_weights in weights.layers[: config.depth]:
            x, layer = self._layer(x, layer_weights, mask)  # (..., n, d_model)
            hidden.append(x)
            layers.append(layer)
        output = layer_norm(x, weights.final_norm, config.eps) if config.final_norm else x
        return Trace(output, tuple(hidden), tuple(layers))

    def gradients(
        self, x: FloatArray, grad_output: FloatArray, mask: BoolArray | None = None
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Pull a gradient of the output back to the input and to every weight in use.

        Runs `trace`, then reads it from the end: each piece has its own vector-Jacobian product.

        Parameters
        ----------
        x, mask
            As for `trace`.
        grad_output : ndarray, shape and dtype of `x`
            ∂loss/∂output.

        Returns
        -------
        grad_x : ndarray, shape (..., n, d_model)
        grad_parameters : dict of ndarray
            One gradient for each name of `parameters()`, summed over the batch.

        Raises
        ------
        ValueError
            As for `trace`, and if `grad_output` does not have the shape and dtype of `x`.
        """
        trace = self.trace(x, mask)
        require_float_array("grad_output", grad_output, shape=x.shape)
        if grad_output.dtype != x.dtype:
            raise ValueError(f"grad_output must have the dtype of x, {x.dtype}, got {grad_output.dtype}")
        return self.backward(trace, grad_output)

    def backward(self, trace: Trace, grad: FloatArray) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Do the second half of `gradients`, for a caller that has the trace already."""
        weights, config = self.astype(grad.dtype).weights, self.config
        grad_final = weights.final_norm
        if config.final_norm:
            grad, grad_final = layer_norm_vjp(grad, trace.hidden[-1], weights.final_norm, config.eps)
        grad_layers = []
        for layer_weights, layer in zip(
            weights.layers[: config.depth][::-1], trace.layers[::-1], strict=True
        ):
            grad, grad_layer = self._layer_vjp(grad, layer_weights, layer)  # (..., n, d_model)
            grad_layers.append(grad_layer)
        grads = EncoderWeights(tuple(grad_layers[::-1]), grad_final)
        return grad, dict(named(grads, config))

    def _layer(self, x: FloatArray, w: LayerWeights, mask: BoolArray | None) -> tuple[FloatArray, LayerTrace]:
        c = self.config
        x, attention, attention_inner = sublayer(
            x,
            lambda z: multi_head_attention(z, w.attention, c.n_heads, mask),
            w.attention_norm,
            residual=c.residual,
            norm=c.norm,
            eps=c.eps,
        )
        if not c.ffn:
            return x, LayerTrace(attention, attention_inner, None, None)
        x, ffn, ffn_inner = sublayer(
            x,
            lambda z: feed_forward(z, w.ffn, c.activation),
            w.ffn_norm,
            residual=c.residual,
            norm=c.norm,
            eps=c.eps,
        )
        return x, LayerTrace(attention, attention_inner, ffn, ffn_inner)

    def _layer_vjp(
        self, grad: FloatArray, w: LayerWeights, trace: LayerTrace
    ) -> tuple[FloatArray, LayerWeights]:
        c, grads = self.config, w  # what is not in use keeps a place that nobody reads
        if trace.ffn is not None and trace.ffn_inner is not None:
            z, inner = trace.ffn.z, trace.ffn_inner
            grad, grad_ffn, grad_norm = sublayer_vjp(
                grad,
                trace.ffn,
                lambda g: feed_forward_vjp(g, z, w.ffn, inner, c.activation),
                w.ffn_norm,
                residual=c.residual,
                norm=c.norm,
            )
            grads = grads._replace(ffn=grad_ffn, ffn_norm=grad_norm)
        grad, grad_attention, grad_norm = sublayer_vjp(
            grad,
            trace.attention,
            lambda g: multi_head_attention_vjp(g, trace.attention.z, w.attention, trace.attention_inner),
            w.attention_norm,
            residual=c.residual,
            norm=c.norm,
        )
        return grad, grads._replace(attention=grad_attention, attention_norm=grad_norm)
