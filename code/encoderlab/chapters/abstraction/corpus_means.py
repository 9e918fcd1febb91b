"""What every sub-layer of an encoder computes over a corpus, on average and one by one, to put in its place.

A mean over all tokens can be a vector that no token comes near: in the published model one neuron in each of
the first layers writes a value into [CLS] that is tens of times what any word gets. So beside it stand the
means over the tokens of a kind: the first of each text, the last, and those between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder, Trace
from encoderlab.model.layer_norm import standardize
from encoderlab.model.sublayer import SublayerTrace

ALL, FIRST, BETWEEN, LAST = range(4)
"""Rows of every mean."""


class Pool(NamedTuple):
    """A quantity over a corpus: its means, and its values to draw from."""

    means: FloatArray  # (4, d)
    values: tuple[
        FloatArray, FloatArray, FloatArray
    ]  # (tokens, d) each: of first tokens, those between, last


class SublayerMeans(NamedTuple):
    """What a sub-layer LN(s + y) of the intact encoder computes."""

    skip: Pool  # d = d_model
    branch: Pool
    centre: Pool  # d = 1, the mean that LN subtracts from a token of s + y
    scale: Pool  # d = 1, the standard deviation that it divides by


class LayerMeans(NamedTuple):
    """What a layer computes: its two sub-layers, and what it adds to a token."""

    attention: SublayerMeans
    ffn: SublayerMeans
    change: Pool


def corpus_means(encoder: Encoder, corpus: Sequence[FloatArray]) -> tuple[LayerMeans, ...]:
    """Gather over a corpus what every layer of the intact encoder computes.

    Parameters
    ----------
    encoder : Encoder
        Post-LN, every part switched on.
    corpus : sequence of ndarray, shape (n, d_model) each, n ≥ 3
        The inputs of the first layer, a marker at either end.

    Returns
    -------
    tuple of LayerMeans
        One for each layer.
    """
    traces = [encoder.trace(x) for x in corpus]
    eps = encoder.config.eps

    def pool(of: Callable[[Trace], FloatArray]) -> Pool:
        values = [of(trace) for trace in traces]
        return Pool(mean_by_kind(values), values_by_kind(values))

    def sublayer_means(at: Callable[[Trace], SublayerTrace]) -> SublayerMeans:
        return SublayerMeans(
            pool(lambda trace: at(trace).x),
            pool(lambda trace: at(trace).y),
            pool(lambda trace: at(trace).u.mean(axis=-1, keepdims=True)),
            pool(lambda trace: standardize(at(trace).u, eps)[1]),
        )

    def layer_means(i: int) -> LayerMeans:
        return LayerMeans(
            sublayer_means(lambda trace: trace.layers[i].attention),
            sublayer_means(lambda trace: _present(trace.layers[i].ffn)),
            pool(lambda trace: trace.hidden[i + 1] - trace.hidden[i]),
        )

    return tuple(layer_means(i) for i in range(encoder.config.depth))


def values_by_kind(values: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gather the rows of (n, d) arrays: the first ones, those between, and the last ones."""
    return (
        np.concatenate([v[:1] for v in values]),
        np.concatenate([v[1:-1] for v in values]),
        np.concatenate([v[-1:] for v in values]),
    )


def mean_by_kind(values: Sequence[FloatArray]) -> FloatArray:
    """Average the rows of (n, d) arrays: all, the first ones, those between, the last ones; (4, d)."""
    kinds = (np.concatenate(values), *values_by_kind(values))
    return np.stack([kind.mean(axis=0) for kind in kinds])


def _present(trace: SublayerTrace | None) -> SublayerTrace:
    assert trace is not None
    return trace
