"""The probes' part of abstraction.npz: accuracies by task, seed and layer, with their controls."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.grammar import Labelled, clauses, roles, split_lexicon, up_to
from encoderlab.chapters.abstraction.probe_tasks import GROUPS, TASKS
from encoderlab.chapters.abstraction.probes import (
    EMBEDDING_CONTROLS,
    Known,
    accuracy,
    logistic_accuracy,
    majority_accuracy,
    narrowed,
    position_accuracy,
    states,
    window,
)
from encoderlab.model.arrays import FloatArray
from encoderlab.pretrained.sentence_encoder import SentenceEncoder, untrained

SEEDS = range(5)  # of the sentences and of the words held back
NETWORKS = range(4)  # never trained, each drawn anew
MOST_ADJECTIVES = (0, 1, 2, 3, 4, 6)
"""How many a phrase may have, where phrases grow."""
GROWING = {"phrase": (clauses, 200), "role": (roles, 400)}
"""What is read there, with its grammar and number of training sentences."""
RIVALS: Mapping[str, Callable[[Sequence[Labelled], Known], FloatArray]] = MappingProxyType(
    {
        **EMBEDDING_CONTROLS,
        "word and 3 on each side": lambda items, known: window(items, known, 3),
        "3 on each side, at random to one width": lambda items, known: narrowed(items, known, 3),
    }
)
"""What the same probe sees of bare embeddings there."""


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


def growing_phrases(model: SentenceEncoder) -> dict[str, Any]:
    """Fit the probes of `GROWING`, and their rivals on bare embeddings, where phrases grow."""
    layers, rivals = [], []
    for (write, count), most, seed in itertools.product(GROWING.values(), MOST_ADJECTIVES, SEEDS):
        rng = np.random.default_rng([seed, most])
        seen, unseen = split_lexicon(rng)
        train, test = (write(rng, half, n, up_to(most)) for half, n in ((seen, count), (unseen, count // 2)))
        labels, truth = [item.label for item in train], [item.label for item in test]
        known: Known = {}
        a, b = states(model, train, known), states(model, test, known)
        layers.append(_by_layer(accuracy, a, labels, b, truth))
        rivals.append(
            [accuracy(see(train, known), labels, see(test, known), truth) for see in RIVALS.values()]
        )
    shape = len(GROWING), len(MOST_ADJECTIVES), len(SEEDS), -1
    return {
        "growing": np.array(layers).reshape(shape),  # (2, 6, 5, 7)
        "growing_rivals": np.array(rivals).reshape(shape),  # (2, 6, 5, 6)
    }


def _by_layer(
    fit: Callable[..., float], train: FloatArray, labels: list[str], test: FloatArray, truth: list[str]
) -> list[float]:
    return [fit(a, labels, b, truth) for a, b in zip(train, test, strict=True)]
