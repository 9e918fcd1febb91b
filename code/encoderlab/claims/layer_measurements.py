"""The stored measurements of chapter 5 as the claims' checks ask for them.

They are of one published model; `encoderlab.abstraction_data` made them, and a test recomputes a sample from
the weights. A difference between layers counts if its 95 % interval keeps clear of the bound.
"""

from __future__ import annotations

import numpy as np

from encoderlab.abstraction import HEAD_MEASURES, between_words, over_uniform
from encoderlab.abstraction_results import reading, results
from encoderlab.probes import CONTROLS, TASKS
from encoderlab.sentences import THE_NOTES, mean_and_interval
from encoderlab.validation import FloatArray


def head_mean(measure: str) -> FloatArray:
    """Return a measure on the 64 sentences by layer, as a mean over heads, (64, 6)."""
    mean: FloatArray = results()["heads"][list(HEAD_MEASURES).index(measure), 1:].mean(axis=-1)
    return mean


def probe_accuracy(task: str) -> FloatArray:
    """Return a probe's accuracy by layer, as a mean over seeds, (7,)."""
    mean: FloatArray = results()["probes"][list(TASKS).index(task)].mean(axis=0)
    return mean


def read_halfway(layer: int) -> int:
    """Count the facts of which a probe gets right half of what the commonest label gets wrong."""
    accuracy = results()["probes"][..., layer].mean(axis=1)  # (tasks,)
    commonest = results()["controls"][..., 0].mean(axis=1)
    return int(np.sum(accuracy >= (1 + commonest) / 2))


def untrained_accuracy(task: str) -> float:
    """Return the best accuracy over layers that were never trained."""
    return float(results()["untrained_probes"][list(TASKS).index(task)].mean(axis=0).max())


def control_accuracy(task: str, kind: int) -> float:
    """Return the accuracy of a control, by its place in `CONTROLS`."""
    assert 0 <= kind < len(CONTROLS)
    return float(results()["controls"][list(TASKS).index(task), :, 1 + kind].mean())


def link(query: str, key: str, layer: int) -> FloatArray:
    """Return the weight of a pair in the note's sentence over even attention between words, by head."""
    tokens, attention, _ = reading(THE_NOTES)
    words = list(tokens[1:-1])
    pair = np.zeros((len(words), len(words)), dtype=bool)
    pair[words.index(query), words.index(key)] = True
    return over_uniform(between_words(attention[layer - 1]), pair)


def mean(values: FloatArray) -> float:
    """Return the mean of all values."""
    return float(values.mean())


def least(values: FloatArray) -> float:
    """Return the lower end of a 95 % interval for the mean over sentences."""
    return float(mean_and_interval(values, np.random.default_rng(0))[1])
