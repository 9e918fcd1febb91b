"""Whether attention favours a copy of the query's own word (claim 66).

A copy is compared with other words as far away. That can be done with the query held, another key in the
copy's place, or with the key held, another query in the copy's place; the two answers may differ, because
some words draw attention from everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from encoderlab.model.arrays import BoolArray, FloatArray


def identical(tokens: Sequence[str]) -> BoolArray:
    """Mark the pairs of different positions that hold the same token, (n, n)."""
    names = np.array(tokens)
    same: BoolArray = (names[:, None] == names) & ~np.eye(len(tokens), dtype=bool)
    return same


def same_against_other(pattern: FloatArray, tokens: Sequence[str]) -> FloatArray:
    """Return how attention favours identical tokens over different ones as far apart.

    Parameters
    ----------
    pattern : ndarray, shape (..., n, n)
    tokens : sequence of str
        n of them.

    Returns
    -------
    ndarray, shape (...)
        (same − other)/(same + other) of the mean weights: 1 if only identical tokens get any, 0 if it makes
        no difference, −1 if they get none; NaN if there is nothing to compare.
    """
    n = len(tokens)
    places = np.arange(n)
    same, apart = identical(tokens), np.abs(places[:, None] - places)
    other = ~same & (apart > 0)
    at = [d for d in range(1, n) if (same & (apart == d)).any() and (other & (apart == d)).any()]
    if not at:
        return np.full(pattern.shape[:-2], np.nan)
    one, two = (
        np.sum([pattern[..., kind & (apart == d)].mean(axis=-1) for d in at], axis=0)
        for kind in (same, other)
    )
    return _contrast(one, two)


def same_key(pattern: FloatArray, tokens: Sequence[str]) -> FloatArray:
    """Return the same contrast with the key held: from its copy, and from another word as far away.

    The other word stands on the other side of the key, so a pair counts only if there is one.

    Parameters
    ----------
    pattern : ndarray, shape (..., n, n)
    tokens : sequence of str

    Returns
    -------
    ndarray, shape (...)
        NaN if there is nothing to compare.

    Examples
    --------
    Every word looks at "a", its copy no more than others:

    >>> pattern = np.tile([0.5, 0.0, 0.5, 0.0, 0.0], (5, 1))
    >>> float(same_key(pattern, list("abacd"))), float(same_against_other(pattern, list("abacd")))
    (0.0, 0.6)
    """
    n = len(tokens)
    pairs = [(q, k, 2 * k - q) for q, k in np.argwhere(identical(tokens))]
    pairs = [(q, k, j) for q, k, j in pairs if 0 <= j < n and tokens[j] != tokens[k]]
    if not pairs:
        return np.full(pattern.shape[:-2], np.nan)
    q, k, j = np.transpose(pairs)
    return _contrast(pattern[..., q, k].sum(axis=-1), pattern[..., j, k].sum(axis=-1))


def _contrast(one: FloatArray, two: FloatArray) -> FloatArray:
    contrast: FloatArray = (one - two) / (one + two)
    return contrast
