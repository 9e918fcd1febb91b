"""The surgery room's part of abstraction.npz: what every removal does, and what fewer neurons do.

What stands in the place of a part is a mean over the half of the sentences that it is not judged on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.corpus_means import LayerMeans, corpus_means, mean_by_kind
from encoderlab.chapters.abstraction.data import WIDTHS
from encoderlab.chapters.abstraction.sentences import mean_and_interval, sentences, separation
from encoderlab.chapters.abstraction.surgery import BY_LOT, FORMS, PARTS, Form, Operation, operate
from encoderlab.chapters.abstraction.width import mean_activations, narrow, neurons_by_weight
from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder
from encoderlab.model.tokens import rank_one_residual
from encoderlab.pretrained.sentence_encoder import SentenceEncoder, sentence_vector

Arrays = dict[str, Any]
BothHalves = tuple[tuple[LayerMeans, ...], tuple[LayerMeans, ...]]
HALVES = slice(0, 32), slice(32, 64)  # of the sentences, by whole blocks
LOUD = 10.0  # a neuron is loud if what it adds to [CLS] is longer on average; a word is about as long
LOTS = 3
DRAWS = 4  # of each form that draws by lot; what is measured is averaged over them


def surgery(model: SentenceEncoder) -> Arrays:
    """Take every part out in every form: four measures after each layer, and how they change at the end."""
    inputs = [model.embed(text) for text in sentences()]
    intact = [model.encoder.trace(x).hidden for x in inputs]
    before = measures(intact, intact)
    after, change = [], []
    means = means_of_the_other_half(model.encoder, inputs)
    for part in PARTS.values():
        values = [judged(model.encoder, inputs, part, form, means, intact) for form in FORMS]
        after.append([with_interval(v) for v in values])
        change.append([with_interval(v[:, -1] - before[:, -1]) for v in values])
    return {
        "surgery": np.array(after),  # (14, 7, 4, 7, 3)
        "surgery_change": np.array(change),  # (14, 7, 4, 3), paired
        "intact": with_interval(before),  # (4, 7, 3)
    }


def loud_neurons(model: SentenceEncoder) -> Arrays:
    """Measure what each FFN adds to a token of each kind; silence the loud neurons, then remove parts."""
    inputs = [model.embed(text) for text in sentences()]
    traces = [model.encoder.trace(x) for x in inputs]
    intact = [t.hidden for t in traces]
    added = [[_ffn(t, i).y for t in traces] for i in range(6)]
    lengths = [[np.linalg.norm(y, axis=1, keepdims=True) for y in row] for row in added]
    means = [mean_by_kind(row) for row in added]  # (4, d_model) each
    size, on_words = loudness(model.encoder, inputs)  # (6, d_ff) each
    quiet = silenced(model.encoder, size > LOUD)
    others = means_of_the_other_half(quiet, inputs)
    outputs = [quiet.trace(x).hidden[-1:] for x in inputs]
    last = [h[-1:] for h in intact]
    removed = [
        [with_interval(judged(quiet, inputs, PARTS[part], form, others, last)) for form in FORMS]
        for part in ("FFN", "LN after FFN")
    ]
    order = np.argsort(-size, axis=1)[:, :3]
    return {
        "ffn_lengths": np.stack([mean_by_kind(row)[1:, 0] for row in lengths]),  # (6, 3)
        "ffn_mean_length": np.linalg.norm([mean[0] for mean in means], axis=1),  # (6,), of the mean over all
        "word_lengths": np.array(
            [np.mean([np.linalg.norm(h[i][1:-1], axis=1).mean() for h in intact]) for i in range(6)]
        ),
        "loud_neurons": order,  # (6, 3)
        "loudness": np.take_along_axis(size, order, axis=1),
        "loudness_on_words": np.take_along_axis(on_words, order, axis=1),
        "quiet": with_interval(measures(outputs, last))[:, 0],  # (4, 3)
        "quiet_surgery": np.array(removed)[..., 0, :],  # (2, 7, 4, 3)
    }


def loudness(encoder: Encoder, inputs: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return how long the vector is that each neuron adds, to [CLS] and to a word, both (depth, d_ff).

    To [CLS] of the mean, to a word as a mean over words of its length.
    """
    traces = [encoder.trace(x) for x in inputs]
    depth = range(encoder.config.depth)
    inner = [[_inner(t, i).activation for t in traces] for i in depth]
    on_cls = [np.abs(np.mean([a[0] for a in row], axis=0)) for row in inner]
    on_words = [np.abs(np.concatenate([a[1:-1] for a in row])).mean(axis=0) for row in inner]
    rows = np.array([np.linalg.norm(layer.ffn.W_2, axis=1) for layer in encoder.weights.layers])
    return np.array(on_cls) * rows, np.array(on_words) * rows


def silenced(encoder: Encoder, neurons: np.typing.NDArray[np.bool_]) -> Encoder:
    """Let the marked neurons (depth, d_ff) write nothing."""
    names = [f"layers.{i}.ffn.W_2" for i in range(len(neurons))]
    weights = encoder.parameters()
    return encoder.with_parameters(
        {name: weights[name] * ~off[:, None] for name, off in zip(names, neurons, strict=True)}
    )


def width(model: SentenceEncoder) -> Arrays:
    """Keep ever fewer neurons of each FFN, those that move most or some drawn by lot, the rest constant.

    Order and constants come from the half of the sentences that they are not judged on.
    """
    inputs = [model.embed(text) for text in sentences()]
    last = [[model.encoder(x)] for x in inputs]
    halves = [mean_activations(model.encoder, inputs[half]) for half in reversed(HALVES)]
    orders = [[neurons_by_weight(model.encoder, deviation) for _, deviation in halves]]
    rng = np.random.default_rng(0)
    for _ in range(LOTS):
        lot = [rng.permutation(model.encoder.config.d_ff) for _ in range(model.encoder.config.depth)]
        orders.append([lot, lot])
    results = []
    for order in orders:
        row = []
        for n in WIDTHS:
            small = [narrow(model.encoder, o, n, mean) for o, (mean, _) in zip(order, halves, strict=True)]
            outputs = [
                states
                for encoder, half in zip(small, HALVES, strict=True)
                for states in _each(inputs[half], partial(_output, encoder))
            ]
            row.append(with_interval(measures(outputs, last))[:, 0])
        results.append(row)
    return {"width": np.array(results)}  # (1 + LOTS, widths, 4, 3)


def means_of_the_other_half(encoder: Encoder, inputs: list[FloatArray]) -> BothHalves:
    """Return for each of `HALVES` what stands in the place of a part: the means over the other."""
    first, second = HALVES
    return corpus_means(encoder, inputs[second]), corpus_means(encoder, inputs[first])


def judged(
    encoder: Encoder,
    inputs: list[FloatArray],
    part: Operation,
    form: Form,
    means: BothHalves,
    intact: Sequence[Sequence[FloatArray]],
) -> FloatArray:
    """Take a part out and return the four measures, (64, layers, 4), after as many layers as `intact` has."""
    layers = len(intact[0])
    draws = range(DRAWS if form in BY_LOT else 1)
    runs = [operated(encoder, inputs, part, form, means, np.random.default_rng(draw)) for draw in draws]
    mean: FloatArray = np.mean([measures([h[-layers:] for h in run], intact) for run in runs], axis=0)
    return mean


def operated(
    encoder: Encoder,
    inputs: list[FloatArray],
    part: Operation,
    form: Form,
    means: BothHalves,
    rng: np.random.Generator,
) -> list[list[FloatArray]]:
    """Take a part out and return the hidden states of each input."""
    return [
        states
        for half, mean in zip(HALVES, means, strict=True)
        for states in _each(
            inputs[half], partial(operate, encoder, operation=part, form=form, means=mean, rng=rng)
        )
    ]


def measures(hidden: Any, intact: Any) -> FloatArray:
    """Return the four `SURGERY_MEASURES` of each sentence after each layer, (m, layers, 4).

    The distance to rank one is that of the words alone: some forms hold the markers apart by construction.
    """
    rank = np.array([[rank_one_residual(x[1:-1]) for x in states] for states in hidden])  # (m, layers)
    vectors, whole = (np.array([[sentence_vector(x) for x in s] for s in each]) for each in (hidden, intact))
    apart = separation(np.einsum("ild,jld->lij", vectors, vectors))
    same = (vectors * whole).sum(axis=-1)  # (m, layers)
    return np.stack([rank, same, apart.others.T, apart.margin.T], axis=-1)


def with_interval(values: FloatArray) -> FloatArray:
    """Return mean, low and high over sentences of (m, ..., measures) as (measures, ..., 3)."""
    summary = np.stack(mean_and_interval(values, np.random.default_rng(0)), axis=-1)  # (..., measures, 3)
    return np.moveaxis(summary, -2, 0)


def _output(encoder: Encoder, x: FloatArray) -> tuple[FloatArray]:
    return (encoder(x),)


def _ffn(trace: Any, layer: int) -> Any:
    return trace.layers[layer].ffn


def _inner(trace: Any, layer: int) -> Any:
    return trace.layers[layer].ffn_inner


def _each(
    inputs: list[FloatArray], run: Callable[[FloatArray], Iterable[FloatArray]]
) -> list[list[FloatArray]]:
    """Run inputs of equal length together, and return the hidden states of each."""
    hidden: dict[int, list[FloatArray]] = {}
    for n in sorted({len(x) for x in inputs}):
        alike = [i for i, x in enumerate(inputs) if len(x) == n]
        layers = list(run(np.stack([inputs[i] for i in alike])))  # (batch, n, d_model) each
        hidden |= {i: [layer[k] for layer in layers] for k, i in enumerate(alike)}
    return [hidden[i] for i in range(len(inputs))]
