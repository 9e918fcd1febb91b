"""How many of a trained FFN's neurons are needed: a narrower encoder made of some of them.

This says nothing about an encoder that is *trained* at that width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder
from encoderlab.model.feed_forward import FeedForwardWeights


def mean_activations(encoder: Encoder, corpus: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Average the activations of every FFN over the words of a corpus, without the markers at both ends.

    Parameters
    ----------
    encoder : Encoder
    corpus : sequence of ndarray, shape (n, d_model) each

    Returns
    -------
    mean, deviation : ndarray, shape (depth, d_ff)
    """
    traces = [encoder.trace(x) for x in corpus]
    layers = range(encoder.config.depth)
    inner = [[t.layers[i].ffn_inner for t in traces] for i in layers]
    activation = [np.concatenate([f.activation[1:-1] for f in row if f is not None]) for row in inner]
    return np.stack([a.mean(axis=0) for a in activation]), np.stack([a.std(axis=0) for a in activation])


def neurons_by_weight(encoder: Encoder, deviation: FloatArray) -> list[np.typing.NDArray[np.intp]]:
    """Order each layer's neurons by how much they move the output, deviation · ‖row of W_2‖, most first."""
    rows = [np.linalg.norm(layer.ffn.W_2, axis=1) for layer in encoder.weights.layers]
    return [np.argsort(-(norm * d)) for norm, d in zip(rows, deviation, strict=True)]


def narrow(
    encoder: Encoder, order: Sequence[np.typing.NDArray[np.intp]], width: int, mean: FloatArray
) -> Encoder:
    """Keep the first neurons of each layer, and put the others' mean output into b_2.

    Parameters
    ----------
    encoder : Encoder
    order : sequence of ndarray of int, shape (d_ff,) each
        One for each layer.
    width : int
        How many to keep, 1 to d_ff.
    mean : ndarray, shape (depth, d_ff)
        From `mean_activations`; zeros to let the others be silent.

    Returns
    -------
    Encoder
        With d_ff = `width`.
    """
    layers = []
    for layer, neurons, means in zip(encoder.weights.layers, order, mean, strict=True):
        W_1, W_2, b_1, b_2 = layer.ffn
        kept, left = neurons[:width], neurons[width:]
        constant = means[left] @ W_2[left]  # (d_model,)
        ffn = FeedForwardWeights(
            W_1[:, kept],
            W_2[kept],
            None if b_1 is None else b_1[kept],
            constant if b_2 is None else b_2 + constant,
        )
        layers.append(layer._replace(ffn=ffn))
    weights = encoder.weights._replace(layers=tuple(layers))
    return Encoder(replace(encoder.config, d_ff=width), weights)
