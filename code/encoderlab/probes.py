"""Linear probes: what a linear map can read off a token's hidden state, and what it could guess without it.

A probe shows that something can be read, not that the model uses it (Hewitt and Liang 2019). So beside each
stand the commonest label, a probe of the position alone, probes of the words alone, the same probe trained on
shuffled labels, and the same probe on layers that were never trained.

scikit-learn is imported inside the functions that fit; the book reads stored accuracies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from encoderlab.grammar import (
    NOUNS,
    VERBS,
    Labelled,
    Lexicon,
    clauses,
    numbers,
    roles,
    split_lexicon,
    tenses,
)
from encoderlab.sentence_encoder import SentenceEncoder
from encoderlab.validation import FloatArray

Items = list[Labelled]
Task = Callable[[np.random.Generator], tuple[Items, Items]]
"""Draws sentences to train a probe on and others to test it on."""

FEW_WORDS = Lexicon(NOUNS[:16], VERBS[:8])
BATCH = 64


def _every_token(name: Callable[[tuple[str, ...], int], str]) -> Task:
    """Label every word of 200 and 100 clauses over few words, split by sentence."""

    def draw(rng: np.random.Generator, count: int) -> Items:
        texts = dict.fromkeys(item.words for item in clauses(rng, FEW_WORDS, count))
        return [Labelled(words, i, name(words, i)) for words in texts for i in range(len(words))]

    return lambda rng: (draw(rng, 200), draw(rng, 100))


def _unseen_words(write: Callable[[np.random.Generator, Lexicon, int], Items], count: int) -> Task:
    """Train on one half of the nouns and verbs, test on the other."""

    def draw(rng: np.random.Generator) -> tuple[Items, Items]:
        seen, unseen = split_lexicon(rng)
        return write(rng, seen, count), write(rng, unseen, count // 2)

    return draw


def _number(agree: bool) -> Task:
    def draw(rng: np.random.Generator) -> tuple[Items, Items]:
        seen, unseen = split_lexicon(rng)
        train = [*numbers(rng, seen, 400, agree=True), *numbers(rng, seen, 400, agree=False)]
        return train, numbers(rng, unseen, 200, agree=agree)

    return draw


TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "own token": _every_token(lambda words, i: words[i]),
        "previous token": _every_token(lambda words, i: words[i - 1] if i else "[CLS]"),
        "next token": _every_token(lambda words, i: (*words, "[SEP]")[i + 1]),
        "position": _every_token(lambda words, i: str(i)),
        "phrase": _unseen_words(clauses, 200),
        "role": _unseen_words(roles, 400),
        "tense": _unseen_words(tenses, 500),
        "number": _number(agree=True),
        "number, other between": _number(agree=False),
    }
)
"""What is read off. The last five are tested on nouns and verbs that training did not hold."""

GROUPS: tuple[tuple[str, ...], ...] = (
    ("own token", "previous token", "next token", "position"),
    ("phrase",),
    ("role",),
    ("tense",),
    ("number", "number, other between"),
)
"""Tasks that draw the same sentences to train on, given the same generator."""

CONTROLS: Mapping[str, Callable[[Labelled], tuple[str, ...]]] = MappingProxyType(
    {
        "position": lambda item: (str(item.place),),
        "word": lambda item: (_word(item, 0),),
        "word and neighbours": lambda item: tuple(_word(item, step) for step in (-1, 0, 1)),
    }
)
"""What a control sees instead of a hidden state."""


def states(
    model: SentenceEncoder, items: Sequence[Labelled], known: dict[tuple[str, ...], FloatArray] | None = None
) -> FloatArray:
    """Return the hidden state at each item's place, before the layers and after each.

    Parameters
    ----------
    model : SentenceEncoder
        Whose tokeniser must leave the words whole.
    items : sequence of Labelled
    known : dict, optional
        Hidden states of sentences that the model has read already; those of the others are added.

    Returns
    -------
    ndarray, shape (depth + 1, items, d_model)
    """
    hidden = {} if known is None else known
    by_length: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for words in dict.fromkeys(item.words for item in items if item.words not in hidden):
        by_length[len(words)].append(words)
    for sentences in by_length.values():
        for start in range(0, len(sentences), BATCH):
            batch = sentences[start : start + BATCH]
            x = np.stack([_embed_whole(model, words) for words in batch])  # (batch, n, d_model)
            layers = np.stack(model.encoder.trace(x).hidden)  # (depth + 1, batch, n, d_model)
            hidden |= {words: layers[:, k] for k, words in enumerate(batch)}
    return np.stack([hidden[item.words][:, item.place + 1] for item in items], axis=1)  # [CLS] is token 0


def accuracy(train: FloatArray, labels: Sequence[str], test: FloatArray, truth: Sequence[str]) -> float:
    """Fit ridge regression to ±1 for each label on standardised features, and return the share it gets right.

    Parameters
    ----------
    train, test : ndarray, shape (items, d_model)
    labels, truth : sequence of str
    """
    from sklearn.linear_model import RidgeClassifier  # type: ignore[import-untyped]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    probe = make_pipeline(StandardScaler(), RidgeClassifier(alpha=100.0))
    return float(probe.fit(train, labels).score(test, truth))


def logistic_accuracy(
    train: FloatArray, labels: Sequence[str], test: FloatArray, truth: Sequence[str]
) -> float:
    """Do the same by logistic regression, to see whether the kind of probe matters."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    probe = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=2000))
    return float(probe.fit(train, labels).score(test, truth))


def control_accuracy(control: str, train: Items, test: Items) -> float:
    """Fit logistic regression to what a control sees, one indicator for each value."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    see = CONTROLS[control]
    encoder: Any = OneHotEncoder(handle_unknown="ignore")
    seen = encoder.fit_transform([see(item) for item in train])
    probe = LogisticRegression(max_iter=2000).fit(seen, [item.label for item in train])
    return float(probe.score(encoder.transform([see(item) for item in test]), [item.label for item in test]))


def majority_accuracy(train: Items, test: Items) -> float:
    """Guess the commonest label of the training items every time."""
    names, counts = np.unique([item.label for item in train], return_counts=True)
    return float(np.mean([item.label == names[counts.argmax()] for item in test]))


def _embed_whole(model: SentenceEncoder, words: tuple[str, ...]) -> FloatArray:
    x = model.embed(" ".join(words))
    if len(x) != len(words) + 2:
        raise ValueError(f"words must be whole tokens, got {model.tokens(' '.join(words))}")
    return x


def _word(item: Labelled, step: int) -> str:
    padded = ("", "[CLS]", *item.words, "[SEP]")
    return padded[item.place + 2 + step]
