"""Which heads follow a grammatical relation: from a verb to its subject, from a noun to its determiner.

After Clark et al. 2019: ask each head which other word a word attends to most. Two rules that need no grammar
stand beside it: "always the word k places on", and "always the next verb" (or the last noun), a class of
words and a direction. A head that goes there from other words too knows the second rule at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from encoderlab.chapters.abstraction.grammar import DETERMINERS, NOUNS, Labelled
from encoderlab.chapters.abstraction.reading import between_words
from encoderlab.model.arrays import FloatArray

IntArray = np.typing.NDArray[np.intp]


class Clause(NamedTuple):
    """The places of the words of one clause that are related to each other; −1 for one that is not there."""

    words: tuple[str, ...]
    subject: int
    determiner: int  # of the subject
    verb: int
    object: int
    object_determiner: int
    front: int = -1  # noun of a phrase before the subject
    between: int = -1  # noun of a phrase between subject and verb
    between_determiner: int = -1


RELATIONS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "verb → subject": ("verb", "subject"),
        "subject → verb": ("subject", "verb"),
        "verb → object": ("verb", "object"),
        "object → verb": ("object", "verb"),
        "determiner → noun": ("determiner", "subject"),
        "noun → determiner": ("subject", "determiner"),
    }
)
"""Query and key of each relation, as fields of `Clause`."""

LURES: Mapping[str, tuple[str, str, bool | None]] = MappingProxyType(
    {
        "subject → verb, no noun between": ("subject", "verb", False),
        "subject → verb, a noun between": ("subject", "verb", True),
        "noun between → verb": ("between", "verb", True),
        "noun in front → verb": ("front", "verb", None),
        "object → its determiner": ("object", "object_determiner", None),
        "noun between → its determiner": ("between", "between_determiner", True),
    }
)
"""Query and key as before, and whether a noun stands between subject and verb (None: either)."""


def parse(items: Sequence[Labelled]) -> list[Clause]:
    """Find subject, verb and object in what `grammar.clauses` wrote: a phrase ends with its noun."""
    clauses = []
    for words, group in groupby(items, key=lambda item: item.words):
        places: dict[str, list[int]] = {"subject": [], "object": [], "prepositional": []}
        for item in group:
            places[item.label].append(item.place)
        subject, object_, others = places["subject"], places["object"], places["prepositional"]
        verb = object_[0] - 1
        front = [place for place in others if place < subject[0]]
        between = [place for place in others if subject[-1] < place < verb]
        clauses.append(
            Clause(
                words,
                *(subject[-1], subject[0], verb, object_[-1], object_[0]),
                front[-1] if front else -1,
                between[-1] if between else -1,
                between[0] if between else -1,
            )
        )
    return clauses


def most_attended(attention: FloatArray, place: int) -> IntArray:
    """Return which other word gets most attention from the word at a place.

    Parameters
    ----------
    attention : ndarray, shape (..., n, n)
        Both markers included.
    place : int
        Counted from the first word.

    Returns
    -------
    ndarray of int, shape (...)
    """
    row = between_words(attention)[..., place, :].copy()  # (..., n − 2)
    row[..., place] = -1
    best: IntArray = row.argmax(axis=-1)
    return best


def offset_rule(clauses: Sequence[Clause], relation: str) -> int:
    """Return the number of places from query to key that is right most often."""
    source, target = RELATIONS[relation]
    steps = [getattr(clause, target) - getattr(clause, source) for clause in clauses]
    values, counts = np.unique(steps, return_counts=True)
    return int(values[counts.argmax()])


def offset_accuracy(clauses: Sequence[Clause], relation: str, step: int) -> float:
    """Return how often the key lies that many places from the query."""
    source, target = RELATIONS[relation]
    return float(np.mean([getattr(clause, target) - getattr(clause, source) == step for clause in clauses]))


def class_accuracy(clauses: Sequence[Clause], relation: str) -> float:
    """Return how often the key is the nearest word of its class on its side of the query.

    The classes are nouns, determiners, and the one verb of a clause.
    """
    source, target = RELATIONS[relation]
    right = []
    for clause in clauses:
        query, key = getattr(clause, source), getattr(clause, target)
        step = 1 if key > query else -1
        alike = _class(clause, clause.words[key])
        nearest = next(
            i for i in range(query + step, key + step, step) if _class(clause, clause.words[i]) == alike
        )
        right.append(nearest == key)
    return float(np.mean(right))


def lured(clauses: Sequence[Clause], attention: Sequence[FloatArray], lure: str) -> tuple[FloatArray, int]:
    """Return how often each head attends from the query of one of `LURES` most to its key.

    Returns
    -------
    share : ndarray, shape (...)
    count : int
        Clauses that have such a query.
    """
    source, target, between = LURES[lure]
    right = [
        most_attended(pattern, getattr(clause, source)) == getattr(clause, target)
        for clause, pattern in zip(clauses, attention, strict=True)
        if getattr(clause, source) >= 0 and between in (None, clause.between >= 0)
    ]
    share: FloatArray = np.mean(right, axis=0)
    return share, len(right)


def head_accuracy(clauses: Sequence[Clause], attention: Sequence[FloatArray], relation: str) -> FloatArray:
    """Return how often each head attends most to the right word.

    Parameters
    ----------
    clauses : sequence of Clause
    attention : sequence of ndarray, shape (..., n, n) each
        One for each clause; n may vary, the leading axes may not.
    relation : a key of `RELATIONS`

    Returns
    -------
    ndarray, shape (...)
    """
    source, target = RELATIONS[relation]
    right = [
        most_attended(pattern, getattr(clause, source)) == getattr(clause, target)
        for clause, pattern in zip(clauses, attention, strict=True)
    ]
    share: FloatArray = np.mean(right, axis=0)
    return share


def _class(clause: Clause, word: str) -> str:
    if word == clause.words[clause.verb]:
        return "verb"
    return "noun" if word in NOUNS else "determiner" if word in DETERMINERS else "other"
