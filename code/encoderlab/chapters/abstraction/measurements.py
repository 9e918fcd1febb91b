"""The stored measurements of chapter 5 as the claims' checks ask for them.

They are of one published model; `make_data` made them, and a test recomputes a sample from the weights.
A difference between layers counts if its 95 % interval keeps clear of the bound,
a difference between probes if it is there with each of the five seeds.
"""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.abstraction.data import measured, reading, results
from encoderlab.chapters.abstraction.probes import CONTROLS
from encoderlab.chapters.abstraction.reading import (
    between_words,
    over_other_queries,
    over_uniform,
)
from encoderlab.chapters.abstraction.sentences import (
    THE_NOTES,
    Separation,
    centred,
    mean_and_interval,
    separation,
)
from encoderlab.model.arrays import FloatArray

WORDS = ("the", "cat", "sat", "on", "the", "mat")  # of the note, for a hundred sentences of its form


def head_mean(measure: str) -> FloatArray:
    """Return a measure on the 64 sentences by layer, as a mean over heads, (64, 6)."""
    mean: FloatArray = measured("heads", measure)[1:].mean(axis=-1)
    return mean


def beyond_neighbours() -> FloatArray:
    """Return the weight on words at a distance of two or more, over that of even attention, (64, 6)."""
    n = results()["words"][1:, None]  # (64, 1)
    even = 1 - 1 / n - 2 * (n - 1) / n**2
    share: FloatArray = (1 - head_mean("to itself") - head_mean("to neighbours")) / even
    return share


def hidden(measure: str) -> FloatArray:
    """Return one of the `HIDDEN_MEASURES` on the 64 sentences after each layer, (64, 7)."""
    return measured("hidden", measure)[1:]


def apart() -> Separation:
    """Return how the 64 sentences lie after each layer; every field is (7, 64)."""
    return separation(results()["cosines"])


def apart_centred() -> Separation:
    """Return the same with the sentences' common vector removed."""
    return separation(centred(results()["cosines"]))


def probe_runs(task: str) -> FloatArray:
    """Return a probe's accuracy by seed and layer, (5, 7)."""
    return measured("probes", task)


def probe_accuracy(task: str) -> FloatArray:
    """Return a probe's accuracy by layer, as a mean over seeds, (7,)."""
    mean: FloatArray = probe_runs(task).mean(axis=0)
    return mean


def control_runs(task: str, control: str) -> FloatArray:
    """Return the accuracy of one of the `CONTROLS` by seed, (5,)."""
    return measured("controls", task, control)


def untrained_accuracy(task: str) -> FloatArray:
    """Return the best accuracy over layers of each network that was never trained, (4,)."""
    best: FloatArray = measured("untrained_probes", task).max(axis=-1)
    return best


def read_halfway(layer: int) -> int:
    """Count the facts of which a probe gets right half of what the commonest label gets wrong."""
    accuracy = results()["probes"][..., layer].mean(axis=1)  # (tasks,)
    commonest = measured("controls", CONTROLS[0]).mean(axis=1)
    return int(np.sum(accuracy >= (1 + commonest) / 2))


def link(query: str, key: str, layer: int) -> FloatArray:
    """Return the weight of a pair in the note's sentence over even attention between words, by head."""
    tokens, attention, _ = reading(THE_NOTES)
    words = list(tokens[1:-1])
    pair = np.zeros((len(words), len(words)), dtype=bool)
    pair[words.index(query), words.index(key)] = True
    return over_uniform(between_words(attention[layer - 1]), pair)


def pair_by_head(query: str, key: str, layer: int) -> FloatArray:
    """Return a pair's weight over an even share in a hundred sentences like the note's, by head, (12,)."""
    weight: FloatArray = results()["note_heads"][layer - 1, :, _place(query), _place(key)]
    return weight


def pair_over_key(query: str, key: str) -> FloatArray:
    """Return a pair's weight over what other words give that key, mean over heads, by layer, (6,)."""
    return over_other_queries(results()["note_mean"].mean(axis=0), _place(query), _place(key))


def mean(values: FloatArray) -> float:
    """Return the mean of all values."""
    return float(values.mean())


def least(values: FloatArray) -> float:
    """Return the lower end of a 95 % interval for the mean over sentences."""
    return float(mean_and_interval(values, np.random.default_rng(0))[1])


def most(values: FloatArray) -> float:
    """Return the upper end of a 95 % interval for the mean over sentences."""
    return float(mean_and_interval(values, np.random.default_rng(0))[2])


def _place(word: str) -> int:
    return WORDS.index(word)
