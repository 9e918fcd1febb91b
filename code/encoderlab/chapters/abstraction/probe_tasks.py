"""What the probes of chapter 5 read: nine facts about a token and two controls, each with its sentences.

All train on some sentences and are tested on others. The last six are tested on nouns and verbs that training
never held; the grammar and the other words are the same in both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from encoderlab.chapters.abstraction.grammar import (
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

Items = list[Labelled]
Task = Callable[[np.random.Generator], tuple[Items, Items]]
"""Draws sentences to train a probe on and others to test it on."""

FEW_WORDS = Lexicon(NOUNS[:16], VERBS[:8])


def _every_token(name: Callable[[tuple[str, ...], int], str]) -> Task:
    """Label every word of 200 and 100 clauses over few words, split by sentence."""

    def draw(rng: np.random.Generator, count: int) -> Items:
        texts = dict.fromkeys(item.words for item in clauses(rng, FEW_WORDS, count))
        return [Labelled(words, i, name(words, i)) for words in texts for i in range(len(words))]

    return lambda rng: (draw(rng, 200), draw(rng, 100))


def _arbitrary(rng: np.random.Generator) -> tuple[Items, Items]:
    """Deal every word one of three labels that mean nothing, the same in training and test.

    The control task of Hewitt and Liang 2019: what a probe gets right here it has learnt by heart.
    """
    train, test = TASKS["own token"](rng)
    names = sorted({item.label for item in (*train, *test)})
    dealt = dict(zip(names, rng.choice(list("abc"), len(names)).tolist(), strict=True))
    return [item._replace(label=dealt[item.label]) for item in train], [
        item._replace(label=dealt[item.label]) for item in test
    ]


def _of_nouns(rng: np.random.Generator) -> tuple[Items, Items]:
    """Ask for the phrase of nouns alone, which training did not hold, after training on every word."""
    train, test = TASKS["phrase"](rng)
    return train, [item for item in test if item.words[item.place] in NOUNS]


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
        "arbitrary label": _arbitrary,
        "previous token": _every_token(lambda words, i: words[i - 1] if i else "[CLS]"),
        "next token": _every_token(lambda words, i: (*words, "[SEP]")[i + 1]),
        "position": _every_token(lambda words, i: str(i)),
        "phrase": _unseen_words(clauses, 200),
        "phrase of a noun": _of_nouns,
        "role": _unseen_words(roles, 400),
        "tense": _unseen_words(tenses, 500),
        "number": _number(agree=True),
        "number, other between": _number(agree=False),
    }
)
"""What is read off."""

GROUPS: tuple[tuple[str, ...], ...] = (
    ("own token", "arbitrary label", "previous token", "next token", "position"),
    ("phrase", "phrase of a noun"),
    ("role",),
    ("tense",),
    ("number", "number, other between"),
)
"""Tasks that draw the same sentences to train on, given the same generator."""
