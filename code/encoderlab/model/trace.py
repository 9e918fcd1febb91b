"""What an encoder computed on the way, forward and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.layer import LayerTrace
from encoderlab.model.layer_norm import LayerNormWeights, Standardized
from encoderlab.model.weights import LayerGradients, fields


class Trace(NamedTuple):
    """An encoder's output and everything on the way to it."""

    output: FloatArray  # (..., n, d_model)
    hidden: tuple[FloatArray, ...]  # depth + 1 times (..., n, d_model): the input, then after each layer
    layers: tuple[LayerTrace, ...]
    edited: bool = False  # whether something stood in the place of a part

    @property
    def attention(self) -> tuple[FloatArray, ...]:
        """Each layer's attention weights, (..., h, n, n)."""
        return tuple(layer.attention_inner.pattern for layer in self.layers)


class BackwardTrace(NamedTuple):
    """What a gradient of an encoder's output becomes on its way back."""

    hidden: tuple[FloatArray, ...]  # depth + 1 times (..., n, d_model): ∂loss/∂hidden, as in `Trace`
    layers: tuple[LayerGradients, ...]
    final_norm: LayerNormWeights | None

    def is_finite(self) -> bool:
        """Tell whether all gradients are finite, of the input and of every weight."""
        groups = (*self.layers, *((self.final_norm,) if self.final_norm else ()))
        arrays = [self.hidden[0], *(array for group in groups for _, array in fields(group))]
        return all(bool(np.isfinite(array).all()) for array in arrays)


def without_overflow(group: Any) -> Any:
    """Return a trace in which zeros stand for what is not finite, for a gradient that never reaches it.

    The chain rule would multiply the zero gradient of a hidden token by its inf, which gives NaN.
    A σ becomes one, since it divides.
    """
    if isinstance(group, np.ndarray):
        return np.where(np.isfinite(group), group, 0)
    if isinstance(group, Standardized):
        sigma = np.where(np.isfinite(group.sigma), group.sigma, 1)
        return Standardized(without_overflow(group.x_hat), sigma)
    if hasattr(group, "_fields"):
        return group._make(without_overflow(part) for part in group)
    return tuple(map(without_overflow, group)) if isinstance(group, tuple) else group
