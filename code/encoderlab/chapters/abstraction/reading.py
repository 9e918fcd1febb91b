"""Chapter 5, abstraction: what the layers of a trained encoder do, measured on their attention.

Every measure is taken over what it would be if attention were spread evenly. In `encoderlab.published`,
`likeness` measures hidden states, `probes` what can be read off them, `surgery` what they need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from encoderlab.chapters.abstraction.copies import same_against_other, same_key
from encoderlab.model.arrays import BoolArray, FloatArray
from encoderlab.model.tokens import cosines
from encoderlab.pretrained.sentence_encoder import SentenceEncoder


class Reading(NamedTuple):
    """What a model made of one text, as far as the book draws it."""

    tokens: tuple[str, ...]  # n of them, [CLS] first and [SEP] last
    attention: FloatArray  # (depth, h, n, n)
    cosines: FloatArray  # (depth + 1, n, n), between the tokens, before the layers and after each


def read(model: SentenceEncoder, text: str) -> Reading:
    """Run a model over a text; see `SentenceEncoder.embed` for what it refuses."""
    trace = model.trace(text)
    return Reading(tuple(model.tokens(text)), np.stack(trace.attention), cosines(np.stack(trace.hidden)))


def uniform_distance(n: int) -> float:
    """Return the mean distance |i − j| between two of n positions, drawn evenly: (n² − 1)/(3n).

    Examples
    --------
    >>> uniform_distance(2)  # 0, 1, 1, 0
    0.5
    """
    return (n * n - 1) / (3 * n)


def distance(pattern: FloatArray) -> FloatArray:
    """Return how far attention reaches, over what even attention would reach (claims 38, 40, 41).

    Parameters
    ----------
    pattern : ndarray, shape (..., n, n)
        Attention weights, n ≥ 2.

    Returns
    -------
    ndarray, shape (...)
        The mean of |i − j| over keys j, by weight, and over queries i, divided by `uniform_distance`.

    Examples
    --------
    >>> float(distance(np.full((5, 5), 0.2))), float(distance(np.eye(5)))
    (1.0, 0.0)
    """
    n = pattern.shape[-1]
    reach = (pattern * _distances(n)).sum(axis=-1).mean(axis=-1)  # (...)
    over_even: FloatArray = reach / uniform_distance(n)
    return over_even


def distance_to_others(pattern: FloatArray) -> FloatArray:
    """Return the same without what a word gives to itself, over even attention to all the others.

    A layer in which words look at themselves is narrow by `distance`, and need not be by this.

    Parameters
    ----------
    pattern : ndarray, shape (..., n, n)

    Returns
    -------
    ndarray, shape (...)
    """
    n = pattern.shape[-1]
    others = pattern * ~np.eye(n, dtype=bool)
    reach = (others * _distances(n)).sum(axis=-1) / others.sum(axis=-1)  # (..., n)
    over_even: FloatArray = reach.mean(axis=-1) * 3 / (n + 1)  # the mean of |i − j| over i ≠ j is (n + 1)/3
    return over_even


def entropy(pattern: FloatArray) -> FloatArray:
    """Return the mean entropy of the rows over that of even attention, log n: 0 is one key, 1 all alike.

    Parameters
    ----------
    pattern : ndarray, shape (..., n, n)

    Returns
    -------
    ndarray, shape (...)
    """
    logarithm = np.log(np.where(pattern > 0, pattern, 1))  # 0 log 0 = 0
    mean = -(pattern * logarithm).sum(axis=-1).mean(axis=-1)  # (...)
    over_even: FloatArray = mean / np.log(pattern.shape[-1])
    return over_even


def over_uniform(pattern: FloatArray, pairs: BoolArray) -> FloatArray:
    """Return the mean weight of the marked pairs over the mean weight of all pairs.

    Parameters
    ----------
    pattern : ndarray, shape (..., n, n)
    pairs : ndarray of bool, shape (n, n)
        True for the pairs of query (row) and key (column) that are meant.

    Returns
    -------
    ndarray, shape (...)
        1 for even attention; NaN if no pair is marked.
    """
    if not pairs.any():
        return np.full(pattern.shape[:-2], np.nan)
    ratio: FloatArray = pattern[..., pairs].mean(axis=-1) / pattern.mean(axis=(-2, -1))
    return ratio


def over_other_queries(pattern: FloatArray, query: int, key: int) -> FloatArray:
    """Return the weight of a pair over what the other words give the same key on average.

    A key may draw attention from everywhere; that a pair's weight is large says little unless it is larger
    than theirs.

    Parameters
    ----------
    pattern : ndarray, shape (..., n, n)
        Between words, n ≥ 3.
    query, key : int

    Returns
    -------
    ndarray, shape (...)
        1 if the query gives the key what others do; the key's own query is left out.
    """
    others = [i for i in range(pattern.shape[-1]) if i not in (query, key)]
    ratio: FloatArray = pattern[..., query, key] / pattern[..., others, key].mean(axis=-1)
    return ratio


def between_words(pattern: FloatArray) -> FloatArray:
    """Leave out the markers at both ends, as queries and as keys, and let each row sum to one again.

    Attention to the markers is often most of it, and does not say which words belong together.

    Parameters
    ----------
    pattern : ndarray, shape (..., n, n)

    Returns
    -------
    ndarray, shape (..., n − 2, n − 2)
    """
    inner = pattern[..., 1:-1, 1:-1]
    rows: FloatArray = inner / inner.sum(axis=-1, keepdims=True)
    return rows


def neighbours(n: int) -> BoolArray:
    """Mark the pairs of positions at distance one, (n, n)."""
    adjacent: BoolArray = _distances(n) == 1
    return adjacent


def to_neighbours(pattern: FloatArray) -> FloatArray:
    """Return the mean weight that a query gives to the two positions beside it (claim 65)."""
    share: FloatArray = (pattern * neighbours(pattern.shape[-1])).sum(axis=-1).mean(axis=-1)
    return share


def to_itself(pattern: FloatArray) -> FloatArray:
    """Return the mean weight that a query gives to its own position."""
    share: FloatArray = np.diagonal(pattern, axis1=-2, axis2=-1).mean(axis=-1)
    return share


HEAD_MEASURES: Mapping[str, Callable[[FloatArray, Sequence[str]], FloatArray]] = MappingProxyType(
    {
        "distance": lambda a, _: distance(between_words(a)),
        "distance to others": lambda a, _: distance_to_others(between_words(a)),
        "distance with markers": lambda a, _: distance(a),
        "entropy": lambda a, _: entropy(a),
        "to [CLS]": lambda a, _: a[..., 1:-1, 0].mean(axis=-1),
        "to [SEP]": lambda a, _: a[..., 1:-1, -1].mean(axis=-1),
        "to itself": lambda a, _: to_itself(between_words(a)),
        "to neighbours": lambda a, _: to_neighbours(between_words(a)),
        "neighbours": lambda a, _: over_uniform(between_words(a), neighbours(a.shape[-1] - 2)),
        "identical": lambda a, tokens: same_against_other(between_words(a), tokens[1:-1]),
        "identical, same key": lambda a, tokens: same_key(between_words(a), tokens[1:-1]),
    }
)
"""Measures of a pattern (..., n, n) and its n tokens, both markers included: one number for each head."""


def _distances(n: int) -> FloatArray:
    places = np.arange(n, dtype=np.float64)
    apart: FloatArray = np.abs(places[:, None] - places)
    return apart
