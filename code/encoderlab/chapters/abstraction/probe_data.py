"""The probes' part of abstraction.npz: accuracies by task, seed and layer, with their controls."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.probe_tasks import GROUPS, TASKS
from encoderlab.chapters.abstraction.probes import (
    EMBEDDING_CONTROLS,
    Known,
    accuracy,
    logistic_accuracy,
    majority_accuracy,
    position_accuracy,
    states,
)
from encoderlab.model.arrays import FloatArray
from encoderlab.pretrained.sentence_encoder import SentenceEncoder, untrained

SEEDS = range(5)  # of the sentences and of the words held back
NETWORKS = range(4)  # never trained, each drawn anew


def probes(model: SentenceEncoder) -> dict[str, Any]:
    """Fit every probe and its controls for every seed, and on a network never trained for most of them."""
    runs: dict[str, dict[str, list[Any]]] = {name: defaultdict(list) for name in TASKS}
    for group, seed in itertools.product(GROUPS, SEEDS):
        known: Known = {}
        fresh, fresh_known = untrained(model, np.random.default_rng(seed)), Known()
        for name in group:
            train, test = TASKS[name](np.random.default_rng([seed, *group[0].encode()]))
            labels, truth = [item.label for item in train], [item.label for item in test]
            a, b = states(model, train, known), states(model, test, known)  # (7, items, d_model)
            row = runs[name]
            row["probes"].append(_by_layer(accuracy, a, labels, b, truth))
            few = len(set(labels)) <= 3 and name != "arbitrary label"
            row["logistic"].append(_by_layer(logistic_accuracy, a, labels, b, truth) if few else [np.nan] * 7)
            bare = [
                accuracy(see(train, known), labels, see(test, known), truth)
                for see in EMBEDDING_CONTROLS.values()
            ]
            row["controls"].append([majority_accuracy(train, test), position_accuracy(train, test), *bare])
            if seed in NETWORKS:
                a, b = states(fresh, train, fresh_known), states(fresh, test, fresh_known)
                row["untrained_probes"].append(_by_layer(accuracy, a, labels, b, truth))
        print(f"probes: {', '.join(group)}, seed {seed}", flush=True)
    return {key: np.array([runs[name][key] for name in TASKS]) for key in runs[name]}


def _by_layer(
    fit: Callable[..., float], train: FloatArray, labels: list[str], test: FloatArray, truth: list[str]
) -> list[float]:
    return [fit(a, labels, b, truth) for a, b in zip(train, test, strict=True)]
