"""How large the gradient is in every layer of an encoder, and what arrives there along the skips alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.sublayer import sublayer_vjp
from encoderlab.model.weights import fields

ARCHITECTURES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "no residual": {"residual": False, "norm": "none"},
        "residual": {"residual": True, "norm": "none"},
        "post-LN": {"residual": True, "norm": "post"},
        "pre-LN": {"residual": True, "norm": "pre", "final_norm": True},
    }
)
"""The stacks that chapter 4 compares, as switches of `EncoderConfig`; pre-LN has its usual final norm."""


class GradientFlow(NamedTuple):
    """Norms of the gradient of a loss, layer by layer."""

    hidden: FloatArray  # (depth + 1,), by the input of every layer, and by the last one's output
    parameters: dict[str, FloatArray]  # "ffn.W_2" and so on: (depth,)


def gradient_flow(encoder: Encoder, x: FloatArray, grad: FloatArray) -> GradientFlow:
    """Walk a gradient back layer by layer and measure it on the way.

    Parameters
    ----------
    encoder : Encoder
    x : ndarray, shape (..., n, d_model)
    grad : ndarray, shape and dtype of `x`
        ∂loss/∂output.

    Returns
    -------
    GradientFlow
        Frobenius norms.
    """
    back = encoder.backward_trace(encoder.trace(x), grad)
    layers = [dict(fields(layer)) for layer in back.layers]
    names = layers[0] if layers else {}
    return GradientFlow(
        _norms(back.hidden), {name: _norms([layer[name] for layer in layers]) for name in names}
    )


def skip_path(encoder: Encoder, x: FloatArray, grad: FloatArray) -> FloatArray:
    """Measure what reaches each layer's input along the skips alone, past every attention and FFN.

    Without LayerNorm, and with pre-LN, that path is the identity. With post-LN it is the product of the
    Jacobians of all LayerNorms passed on the way.

    Parameters
    ----------
    encoder : Encoder
        With its residual switched on.
    x : ndarray, shape (..., n, d_model)
    grad : ndarray, shape and dtype of `x`
        The gradient of the last layer's output.

    Returns
    -------
    ndarray, shape (depth + 1,)
        Frobenius norms.

    Raises
    ------
    ValueError
        If the encoder has no residual: then there is no such path.
    """
    c = encoder.config
    if not c.residual:
        raise ValueError("encoder must have its residual switched on, got residual=False")
    hidden = [grad]
    layers = zip(encoder.weights.layers[: c.depth], encoder.trace(x).layers, strict=True)
    for weights, layer in reversed(list(layers)):
        if layer.ffn is not None and not c.parallel:
            grad, _, _ = sublayer_vjp(grad, layer.ffn, _nothing, weights.ffn_norm, c)
        grad, _, _ = sublayer_vjp(grad, layer.attention, _nothing, weights.attention_norm, c)
        hidden.append(grad)
    return _norms(hidden[::-1])


def _nothing(grad: FloatArray) -> tuple[FloatArray, None]:
    """Let no gradient through a branch."""
    return np.zeros_like(grad), None


def draw_stack(
    architecture: str, depth: int, rng: np.random.Generator, gain: float = 1.0, n: int = 8, d_model: int = 32
) -> tuple[Encoder, FloatArray, FloatArray]:
    """Draw what the comparisons of chapter 4 start from.

    Parameters
    ----------
    architecture : str
        A key of `ARCHITECTURES`.
    depth : int
    rng : numpy.random.Generator
    gain : float
        Multiplies every weight matrix, see `encoderlab.model.weights.random_weights`.
    n, d_model : int

    Returns
    -------
    encoder : Encoder
        With four heads and d_ff = 4 d_model.
    x : ndarray, shape (n, d_model)
        Standard normal tokens.
    grad : ndarray, shape (n, d_model)
        A gradient of the output in a random direction, of norm 1.

    Raises
    ------
    ValueError
        If there is no such architecture.
    """
    if architecture not in ARCHITECTURES:
        raise ValueError(f"architecture must be one of {', '.join(ARCHITECTURES)}, got {architecture!r}")
    config = EncoderConfig(
        d_model=d_model, n_heads=4, d_ff=4 * d_model, depth=depth, **ARCHITECTURES[architecture]
    )
    encoder = Encoder.random(config, rng, gain)
    x, grad = rng.normal(size=(n, d_model)), rng.normal(size=(n, d_model))
    return encoder, x, grad / np.linalg.norm(grad)


def depth_exponent(depths: Sequence[int], values: Sequence[float]) -> float:
    """Fit values ≈ c · depth^p by least squares on logarithms, and return p.

    Examples
    --------
    >>> round(depth_exponent([6, 12, 24], [1 / 6, 1 / 12, 1 / 24]), 6)
    -1.0
    """
    return float(np.polyfit(np.log(depths), np.log(values), 1)[0])


def _norms(arrays: Sequence[FloatArray]) -> FloatArray:
    return np.array([np.linalg.norm(array) for array in arrays])
