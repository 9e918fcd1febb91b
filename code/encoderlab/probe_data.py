"""The probes' part of data/abstraction.npz: accuracies by task, seed and layer, with their controls."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from encoderlab.probes import (
    CONTROLS,
    GROUPS,
    TASKS,
    accuracy,
    control_accuracy,
    logistic_accuracy,
    majority_accuracy,
    states,
)
from encoderlab.sentence_encoder import SentenceEncoder, untrained
from encoderlab.validation import FloatArray

SEEDS, UNTRAINED_SEEDS = range(5), range(2)


def probes(model: SentenceEncoder) -> dict[str, Any]:
    """Fit every probe and its controls for every seed; on layers never trained, for the first seeds alone."""
    fresh = untrained(model, np.random.default_rng(0))
    runs: dict[str, dict[str, list[Any]]] = {name: defaultdict(list) for name in TASKS}
    for group, seed in itertools.product(GROUPS, SEEDS):
        known: tuple[dict[Any, Any], dict[Any, Any]] = {}, {}
        for name in group:
            rng = np.random.default_rng([seed, *group[0].encode()])
            train, test = TASKS[name](rng)
            labels, truth = [item.label for item in train], [item.label for item in test]
            a, b = states(model, train, known[0]), states(model, test, known[0])  # (7, items, d_model)
            row = runs[name]
            row["probes"].append(_by_layer(accuracy, a, labels, b, truth))
            row["shuffled"].append(_by_layer(accuracy, a, rng.permutation(labels).tolist(), b, truth))
            few = len(set(labels)) <= 3
            row["logistic"].append(_by_layer(logistic_accuracy, a, labels, b, truth) if few else [np.nan] * 7)
            controls = [control_accuracy(kind, train, test) for kind in CONTROLS]
            row["controls"].append([majority_accuracy(train, test), *controls])
            if seed in UNTRAINED_SEEDS:
                a, b = states(fresh, train, known[1]), states(fresh, test, known[1])
                row["untrained_probes"].append(_by_layer(accuracy, a, labels, b, truth))
        print(f"probes: {', '.join(group)}, seed {seed}", flush=True)
    return {key: np.array([runs[name][key] for name in TASKS]) for key in runs[name]}


def _by_layer(
    fit: Callable[..., float], train: FloatArray, labels: list[str], test: FloatArray, truth: list[str]
) -> list[float]:
    return [fit(a, labels, b, truth) for a, b in zip(train, test, strict=True)]
