"""The weights of an encoder: how they are grouped, named, drawn and replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray, require_generator
from encoderlab.model.attention import AttentionWeights
from encoderlab.model.config import EncoderConfig
from encoderlab.model.feed_forward import FeedForwardWeights
from encoderlab.model.layer_norm import LayerNormWeights


class LayerWeights(NamedTuple):
    """All weights of one layer; those that the switches leave unused wait until they are switched on."""

    attention: AttentionWeights
    attention_norm: LayerNormWeights
    ffn: FeedForwardWeights
    ffn_norm: LayerNormWeights


class LayerGradients(NamedTuple):
    """Gradients of the weights of one layer; None for those that the switches leave unused."""

    attention: AttentionWeights
    attention_norm: LayerNormWeights | None
    ffn: FeedForwardWeights | None
    ffn_norm: LayerNormWeights | None


class EncoderWeights(NamedTuple):
    """All weights of an encoder."""

    layers: tuple[LayerWeights, ...]
    final_norm: LayerNormWeights


def random_weights(config: EncoderConfig, rng: np.random.Generator, gain: float = 1.0) -> EncoderWeights:
    """Draw weights that keep the scale of a signal: N(0, gain²/fan_in), with all biases zero.

    W_2 gets 2·gain²/fan_in, because the ReLU before it halves the mean square (He et al. 2015).
    All weights are drawn whatever the switches say, so that two configs differ only in what they use.

    Parameters
    ----------
    config : EncoderConfig
    rng : numpy.random.Generator
    gain : float
        Multiplies every matrix.

    Returns
    -------
    EncoderWeights
        In float64.

    Raises
    ------
    ValueError
        If `rng` is no Generator, or `gain` is negative or not a finite number.
    """
    require_generator("rng", rng)
    if isinstance(gain, bool) or not isinstance(gain, int | float | np.number) or not 0 <= gain < np.inf:
        raise ValueError(f"gain must be a finite number of at least 0, got {gain!r}")
    d, d_ff = config.d_model, config.d_ff

    def matrix(fan_in: int, fan_out: int, square: float = 1.0) -> FloatArray:
        return rng.normal(scale=gain * (square / fan_in) ** 0.5, size=(fan_in, fan_out))

    def norm() -> LayerNormWeights:
        return LayerNormWeights(np.ones(d), np.zeros(d))

    def layer() -> LayerWeights:
        attention = AttentionWeights(*(matrix(d, d) for _ in range(4)), *(np.zeros(d) for _ in range(4)))
        ffn = FeedForwardWeights(matrix(d, d_ff), matrix(d_ff, d, square=2.0), np.zeros(d_ff), np.zeros(d))
        return LayerWeights(attention, norm(), ffn, norm())

    return EncoderWeights(tuple(layer() for _ in range(config.depth)), norm())


def named(weights: EncoderWeights, config: EncoderConfig) -> Iterator[tuple[str, FloatArray]]:
    """Yield name and array of every weight that the switches put to use, as in "layers.0.attention.W_Q".

    Biases that are absent have no name.
    """

    def in_use(norm: LayerNormWeights) -> LayerNormWeights:
        return norm._replace(beta=None) if config.norm_kind == "rms" else norm

    for i, layer in enumerate(weights.layers[: config.depth]):
        yield from fields(layer.attention, f"layers.{i}.attention.")
        if config.norm != "none":
            yield from fields(in_use(layer.attention_norm), f"layers.{i}.attention_norm.")
        if config.ffn:
            yield from fields(layer.ffn, f"layers.{i}.ffn.")
        if config.ffn and config.norm != "none" and not config.parallel:
            yield from fields(in_use(layer.ffn_norm), f"layers.{i}.ffn_norm.")
    if config.final_norm:
        yield from fields(in_use(weights.final_norm), "final_norm.")


def fields(group: Any, prefix: str = "") -> Iterator[tuple[str, FloatArray]]:
    """Yield name and array of everything in a group of weights or gradients that is there."""
    for field, value in zip(group._fields, group, strict=True):
        if isinstance(value, tuple):
            yield from fields(value, f"{prefix}{field}.")
        elif value is not None:
            yield f"{prefix}{field}", value


def rebuild(weights: EncoderWeights, replacement: Callable[[str, FloatArray], FloatArray]) -> EncoderWeights:
    """Return weights of the same structure in which `replacement(name, array)` stands for every array."""

    def group(prefix: str, old: Any) -> Any:
        return old._replace(
            **{field: replacement(f"{prefix}.{field}", array) for field, array in fields(old)}
        )

    layers = tuple(
        LayerWeights(*(group(f"layers.{i}.{field}", getattr(layer, field)) for field in layer._fields))
        for i, layer in enumerate(weights.layers)
    )
    return EncoderWeights(layers, group("final_norm", weights.final_norm))


def expected_shape(name: str, config: EncoderConfig) -> tuple[int, ...]:
    """Return the shape that the weight of this name must have under this config."""
    d, d_ff = config.d_model, config.d_ff
    shapes = {"W_1": (d, d_ff), "W_2": (d_ff, d), "b_1": (d_ff,)}
    field = name.rsplit(".", 1)[1]
    return shapes.get(field, (d, d) if field.startswith("W_") else (d,))
