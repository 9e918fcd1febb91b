"""The surgery room's part of data/abstraction.npz: what every removal does, and what fewer neurons do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from encoderlab.abstraction_results import SURGERY_MEASURES, WIDTHS
from encoderlab.corpus_means import corpus_means, mean_by_kind
from encoderlab.encoder import Encoder
from encoderlab.sentence_encoder import SentenceEncoder, sentence_vector
from encoderlab.sentences import mean_and_interval, sentences, separation
from encoderlab.stacking import rank_one_residual
from encoderlab.surgery import FORMS, PARTS, operate
from encoderlab.validation import FloatArray
from encoderlab.width import mean_activations, narrow, neurons_by_weight

Arrays = dict[str, Any]


def surgery(model: SentenceEncoder) -> Arrays:
    """Take every part out in every form; mean and interval of four measures after each layer."""
    inputs = [model.embed(text) for text in sentences()]
    means = corpus_means(model.encoder, inputs)
    intact = [model.encoder.trace(x).hidden for x in inputs]
    operated = [
        [
            effects(
                _each(inputs, partial(operate, model.encoder, operation=part, form=form, means=means)), intact
            )
            for form in FORMS
        ]
        for part in PARTS.values()
    ]
    return {"surgery": np.array(operated), "intact": effects(intact, intact)}  # (14, 4, 4, 7, 3), (4, 7, 3)


def width(model: SentenceEncoder) -> Arrays:
    """Keep ever fewer neurons of each FFN, in two orders, with the rest silent or constant."""
    inputs = [model.embed(text) for text in sentences()]
    mean, deviation = mean_activations(model.encoder, inputs)
    rng = np.random.default_rng(0)
    orders = neurons_by_weight(model.encoder, deviation), [rng.permutation(len(d)) for d in deviation]
    whole = [[model.encoder(x)] for x in inputs]
    results = []
    for order in orders:
        for rest in (mean, np.zeros_like(mean)):
            encoders = [narrow(model.encoder, order, n, rest) for n in WIDTHS]
            outputs = [_each(inputs, partial(_output, encoder)) for encoder in encoders]
            results.append([effects(row, whole)[:, 0, 0] for row in outputs])
    return {"width": np.reshape(results, (2, 2, len(WIDTHS), len(SURGERY_MEASURES)))}


def loud_neurons(model: SentenceEncoder) -> Arrays:
    """Measure what each FFN adds to [CLS], words and [SEP], and silence the loudest neuron of layers 1 to 4.

    The loudest is that of the largest mean output on [CLS].
    """
    inputs = [model.embed(text) for text in sentences()]
    traces = [model.encoder.trace(x) for x in inputs]
    layers = model.encoder.weights.layers
    added = [[t.layers[i].ffn for t in traces] for i in range(len(layers))]
    lengths = [[np.linalg.norm(f.y, axis=1, keepdims=True) for f in row if f is not None] for row in added]
    inner = [[t.layers[i].ffn_inner for t in traces] for i in range(len(layers))]
    on_cls = [np.mean([f.activation[0] for f in row if f is not None], axis=0) for row in inner]  # (d_ff,)
    loud = [
        int((np.abs(a) * np.linalg.norm(layer.ffn.W_2, axis=1)).argmax())
        for a, layer in zip(on_cls, layers, strict=True)
    ]
    silent = {}
    for i in range(4):
        name = f"layers.{i}.ffn.W_2"
        silent[name] = model.encoder.parameters()[name].copy()
        silent[name][loud[i]] = 0
    quiet = model.encoder.with_parameters(silent)
    outputs = [[quiet(x)] for x in inputs]
    return {
        "ffn_lengths": np.stack([mean_by_kind(row)[1:, 0] for row in lengths]),  # (6, 3)
        "loud_neurons": np.array(loud),
        "without_loud": effects(outputs, [[t.output] for t in traces])[:, 0],  # (4, 3)
    }


def _output(encoder: Encoder, x: FloatArray) -> tuple[FloatArray]:
    return (encoder(x),)


def _each(
    inputs: list[FloatArray], run: Callable[[FloatArray], Iterable[FloatArray]]
) -> list[list[FloatArray]]:
    """Run inputs of equal length together, and return the hidden states of each."""
    hidden: dict[int, list[FloatArray]] = {}
    for n in {len(x) for x in inputs}:
        alike = [i for i, x in enumerate(inputs) if len(x) == n]
        layers = list(run(np.stack([inputs[i] for i in alike])))  # (batch, n, d_model) each
        hidden |= {i: [layer[k] for layer in layers] for k, i in enumerate(alike)}
    return [hidden[i] for i in range(len(inputs))]


def effects(hidden: Any, intact: Any) -> FloatArray:
    """Return mean, low and high of the four measures after each layer, (4, layers, 3).

    The distance to rank one is that of the words alone: some forms hold the markers apart by construction.
    """
    rank = np.array([[rank_one_residual(x[1:-1]) for x in states] for states in hidden])  # (m, layers)
    vectors, whole = (np.array([[sentence_vector(x) for x in s] for s in each]) for each in (hidden, intact))
    apart = separation(np.einsum("ild,jld->lij", vectors, vectors))
    same = (vectors * whole).sum(axis=-1)  # (m, layers)
    values = np.stack([rank, same, apart.others.T, apart.margin.T], axis=-1)  # (m, layers, 4)
    return np.stack(mean_and_interval(values, np.random.default_rng(0)), axis=-1).swapaxes(0, 1)
