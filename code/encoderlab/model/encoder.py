"""The Transformer encoder: a loop over layers, forward and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from encoderlab.model.arrays import (
    BoolArray,
    FloatArray,
    require_bias,
    require_float_array,
    require_mask,
    require_no_overflow,
)
from encoderlab.model.config import EncoderConfig
from encoderlab.model.edit import INTACT_LAYER, NO_EDITS, Edits, LayerEdit, require_edits
from encoderlab.model.layer import LayerTrace, encoder_layer, encoder_layer_vjp
from encoderlab.model.layer_norm import layer_norm, layer_norm_vjp
from encoderlab.model.trace import BackwardTrace, Trace, without_overflow
from encoderlab.model.weights import (
    EncoderWeights,
    LayerWeights,
    expected_shape,
    fields,
    named,
    random_weights,
    rebuild,
)

__all__ = ["BackwardTrace", "Encoder", "EncoderConfig", "LayerTrace", "Trace"]


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
        for name, array in parameters.items():
            require_float_array(name, array, shape=expected_shape(name, self.config))
        return Encoder(self.config, rebuild(self.weights, lambda name, old: parameters.get(name, old)))

    def astype(self, dtype: np.dtype[Any]) -> Encoder:
        """Return an encoder whose weights are of this dtype; itself if they are already."""
        if all(weight.dtype == dtype for weight in self.parameters().values()):
            return self
        return Encoder(self.config, rebuild(self.weights, lambda _, old: old.astype(dtype)))

    def __call__(
        self,
        x: FloatArray,
        mask: BoolArray | None = None,
        bias: FloatArray | None = None,
        edits: Edits = NO_EDITS,
    ) -> FloatArray:
        """Map tokens to tokens, and keep nothing on the way; see `trace` for the arguments and errors.

        Returns
        -------
        ndarray, shape and dtype of `x`

        Raises
        ------
        ValueError
            As for `trace`, and if numbers overflow in a token that another may see. A token that `mask` hides
            from all others is not looked at: it reaches no other, and its own output may be NaN.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found in the end
            for weights, edit in self._layers(x, mask, bias, edits):
                x, _ = encoder_layer(x, weights, self.config, mask, bias, edit)  # (..., n, d_model)
            output = self._finish(x)
        require_no_overflow(output, mask)
        return output

    def trace(
        self,
        x: FloatArray,
        mask: BoolArray | None = None,
        bias: FloatArray | None = None,
        edits: Edits = NO_EDITS,
    ) -> Trace:
        """Map tokens to tokens and keep everything on the way.

        Parameters
        ----------
        x : ndarray of float32 or float64, shape (..., n, d_model)
        mask : ndarray of bool, broadcastable to (..., n, n), optional
            True where the row's token may attend to the column's.
        bias : ndarray, broadcastable to (..., h, n, n), optional
            Added to the logits of attention in every layer, such as a penalty on distance.
        edits : mapping of int to LayerEdit, optional
            What stands in the place of parts of some layers; see `encoderlab.model.edit`.

        Returns
        -------
        Trace
            All arrays in the dtype of `x`. What overflows is kept as inf or NaN, to show where it began.

        Raises
        ------
        ValueError
            If `x`, `mask` or `bias` has another shape or dtype, `x` or `bias` is not finite, or an edit names
            a part that is not there.
        """
        hidden, layers = [x], []
        with np.errstate(over="ignore", invalid="ignore"):
            for weights, edit in self._layers(x, mask, bias, edits):
                x, layer = encoder_layer(x, weights, self.config, mask, bias, edit)  # (..., n, d_model)
                hidden.append(x)
                layers.append(layer)
            output = self._finish(x)
        return Trace(output, tuple(hidden), tuple(layers), bool(edits))

    def _layers(
        self, x: FloatArray, mask: BoolArray | None, bias: FloatArray | None, edits: Edits
    ) -> list[tuple[LayerWeights, LayerEdit]]:
        """Check what came, and return the weights of every layer, in the dtype of x, beside its edit."""
        c = self.config
        require_float_array("x", x, min_ndim=2, width=c.d_model)
        if mask is not None:
            require_mask("mask", mask, (*x.shape[:-1], x.shape[-2]))
        if bias is not None:
            require_bias("bias", bias, (*x.shape[:-2], c.n_heads, x.shape[-2], x.shape[-2]), x.dtype)
        require_edits(edits, c)
        layers = self.astype(x.dtype).weights.layers[: c.depth]
        return [(weights, edits.get(i, INTACT_LAYER)) for i, weights in enumerate(layers)]

    def _finish(self, x: FloatArray) -> FloatArray:
        c, weights = self.config, self.astype(x.dtype).weights
        x = x if c.depth else x.copy()  # what is returned is the caller's to change
        return layer_norm(x, weights.final_norm, c.last_eps, c.norm_kind) if c.final_norm else x

    def gradients(
        self,
        x: FloatArray,
        grad_output: FloatArray,
        mask: BoolArray | None = None,
        bias: FloatArray | None = None,
    ) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Pull a gradient of the output back to the input and to every weight in use.

        Runs `trace`, then reads it from the end: each piece has its own vector-Jacobian product.

        Parameters
        ----------
        x, mask, bias
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
            As for `trace`, if `grad_output` does not have the shape and dtype of `x`, or if the output
            overflows as in a call.
        """
        trace = self.trace(x, mask, bias)
        require_no_overflow(trace.output, mask)
        require_float_array("grad_output", grad_output, shape=x.shape)
        if grad_output.dtype != x.dtype:
            raise ValueError(f"grad_output must have the dtype of x, {x.dtype}, got {grad_output.dtype}")
        return self.backward(trace, grad_output)

    def backward(self, trace: Trace, grad: FloatArray) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Do the second half of `gradients`, for a caller that has the trace already."""
        gradients = self.backward_trace(trace, grad)
        named = [pair for i, g in enumerate(gradients.layers) for pair in fields(g, f"layers.{i}.")]
        if gradients.final_norm:
            named += fields(gradients.final_norm, "final_norm.")
        return gradients.hidden[0], dict(named)

    def backward_trace(self, trace: Trace, grad: FloatArray) -> BackwardTrace:
        """Pull a gradient back, and keep what arrives at every layer.

        Parameters
        ----------
        trace : Trace
            Of an encoder in which nothing was edited.
        grad : ndarray, shape (..., n, d_model)
            ∂loss/∂output.

        Returns
        -------
        BackwardTrace
            A token whose output overflowed, and by which the loss does not change, changes no gradient.

        Raises
        ------
        ValueError
            If something was edited: a replacement has no gradient that we know.
        """
        if trace.edited:
            raise ValueError("trace must come from an encoder without edits, got one with edits")
        with np.errstate(over="ignore", invalid="ignore"):
            gradients = self._backward(trace, grad)
            unread = ~np.isfinite(trace.output).all(axis=-1)  # (..., n)
            if not gradients.is_finite() and not grad[unread].any():
                gradients = self._backward(without_overflow(trace), grad)
        return gradients

    def _backward(self, trace: Trace, grad: FloatArray) -> BackwardTrace:
        weights, c = self.astype(grad.dtype).weights, self.config
        final_norm = None
        if c.final_norm:
            grad, final_norm = layer_norm_vjp(
                grad, trace.hidden[-1], weights.final_norm, c.last_eps, c.norm_kind
            )
        hidden, layers = [grad], []
        for layer_weights, layer in zip(weights.layers[: c.depth][::-1], trace.layers[::-1], strict=True):
            grad, layer_gradients = encoder_layer_vjp(grad, layer_weights, c, layer)  # (..., n, d_model)
            hidden.append(grad)
            layers.append(layer_gradients)
        return BackwardTrace(tuple(hidden[::-1]), tuple(layers[::-1]), final_norm)
