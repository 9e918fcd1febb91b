"""Which heads follow a grammatical relation: from a verb to its subject, from a noun to its determiner.

After Clark et al. 2019: ask each head which other word a word attends to most, and compare with the best rule
of the form "always the word k places further on".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from encoderlab.abstraction import between_words
from encoderlab.grammar import Labelled
from encoderlab.validation import FloatArray

IntArray = np.typing.NDArray[np.intp]


class Clause(NamedTuple):
    """The places of the words of one clause that are related to each other."""

    words: tuple[str, ...]
    subject: int
    determiner: int  # of the subject
    verb: int
    object: int


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


def parse(items: Sequence[Labelled]) -> list[Clause]:
    """Find subject, verb and object in what `grammar.clauses` wrote: a phrase ends with its noun."""
    clauses = []
    for words, group in groupby(items, key=lambda item: item.words):
        places: dict[str, list[int]] = {"subject": [], "object": [], "prepositional": []}
        for item in group:
            places[item.label].append(item.place)
        subject, object_ = places["subject"], places["object"]
        clauses.append(Clause(words, subject[-1], subject[0], object_[0] - 1, object_[-1]))
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
