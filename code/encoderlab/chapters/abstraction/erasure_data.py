"""The part of abstraction.npz on a fact taken out of every layer, beside a layer taken out."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from encoderlab.chapters.abstraction.erasure import Eraser, one_layer, probe_directions, random_directions
from encoderlab.chapters.abstraction.grammar import Labelled, clauses, roles, split_lexicon
from encoderlab.chapters.abstraction.probe_data import SEEDS
from encoderlab.chapters.abstraction.probes import accuracy
from encoderlab.chapters.abstraction.sentences import sentences, separation
from encoderlab.model.arrays import FloatArray
from encoderlab.pretrained.sentence_encoder import SentenceEncoder, sentence_vector

FACTS = {"phrase": (clauses, 200, 4), "role": (roles, 400, 8)}
"""Grammar, training sentences and rounds of projection: eight directions after every layer for both."""
ERASED = ("the fact", "labels dealt anew", "random directions")
SKIPPED = 2  # layer 3, where phrase and role are read best


def erasure(model: SentenceEncoder) -> dict[str, Any]:
    """Take a fact out of the embedding and of every layer, and what is no fact; ask what is read and lost."""
    intact = [model.embed(text) for text in sentences()]
    for layer in range(model.encoder.config.depth):
        intact = [one_layer(model.encoder, x, layer) for x in intact]
    read, lost, skipped = [], [], []
    for (write, count, rounds), seed in itertools.product(FACTS.values(), SEEDS):
        rng = np.random.default_rng([seed, rounds])
        seen, unseen = split_lexicon(rng)
        train, test = write(rng, seen, count), write(rng, unseen, count // 2)
        runs = [_erased(model, train, test, kind, rounds, rng) for kind in ERASED]
        read.append([accuracies for accuracies, _ in runs])
        lost.append([_margin(states) - _margin(intact) for _, states in runs])
        skipped.append(_without_layer(model, train, test))
    shape = len(FACTS), len(SEEDS)
    return {
        "erased_read": np.array(read).reshape(*shape, len(ERASED), -1),  # (2, 5, 3, 7)
        "erased_margin": np.array(lost).reshape(*shape, len(ERASED), -1),  # (2, 5, 3, 64), change
        "skipped_read": np.array(skipped).reshape(*shape, -1),  # (2, 5, 6), layer 3 left out
    }


def _erased(
    model: SentenceEncoder,
    train: Sequence[Labelled],
    test: Sequence[Labelled],
    kind: str,
    rounds: int,
    rng: np.random.Generator,
) -> tuple[list[float], list[FloatArray]]:
    """Return what a new probe reads after the embedding and every layer, and the 64 sentences at the end."""
    labels, truth = [item.label for item in train], [item.label for item in test]
    dealt = rng.permutation(labels).tolist() if kind == "labels dealt anew" else labels
    a, b = _embedded(model, train), _embedded(model, test)
    x = [model.embed(text) for text in sentences()]
    read = []
    for layer in range(model.encoder.config.depth + 1):
        if layer:
            a, b = ([_Batch(w, one_layer(model.encoder, y, layer - 1)) for w, y in s] for s in (a, b))
            x = [one_layer(model.encoder, y, layer - 1) for y in x]
        states = _at(train, a)
        directions = probe_directions(states, dealt, rounds)
        if kind == "random directions":
            directions = random_directions(len(directions), directions.shape[1], rng)
        dtype = states.dtype
        erase = Eraser(directions.astype(dtype), states.mean(axis=0))
        a, b = ([_Batch(w, erase(y)) for w, y in s] for s in (a, b))
        x = [erase(y) for y in x]
        read.append(accuracy(_at(train, a), labels, _at(test, b), truth))
    return read, x


def _without_layer(
    model: SentenceEncoder, train: Sequence[Labelled], test: Sequence[Labelled]
) -> list[float]:
    labels, truth = [item.label for item in train], [item.label for item in test]
    a, b, read = _embedded(model, train), _embedded(model, test), []
    for layer in range(model.encoder.config.depth):
        if layer != SKIPPED:
            a, b = ([_Batch(w, one_layer(model.encoder, y, layer)) for w, y in s] for s in (a, b))
        read.append(accuracy(_at(train, a), labels, _at(test, b), truth))
    return read


class _Batch(NamedTuple):
    """Sentences of one length with their states."""

    sentences: tuple[tuple[str, ...], ...]
    states: FloatArray  # (sentences, n, d_model)


def _embedded(model: SentenceEncoder, items: Sequence[Labelled]) -> list[_Batch]:
    by_length: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for words in dict.fromkeys(item.words for item in items):
        by_length[len(words)].append(words)
    return [
        _Batch(tuple(alike), np.stack([model.embed(" ".join(words)) for words in alike]))
        for alike in by_length.values()
    ]


def _at(items: Sequence[Labelled], batches: Sequence[_Batch]) -> FloatArray:
    states = {words: x for batch in batches for words, x in zip(*batch, strict=True)}
    return np.array([states[item.words][item.place + 1] for item in items])  # [CLS] is token 0


def _margin(states: Sequence[FloatArray]) -> FloatArray:
    vectors = np.array([sentence_vector(x) for x in states])
    return separation(vectors @ vectors.T).margin
