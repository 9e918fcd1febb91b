"""The sentences that chapter 5 measures a model on, and how well a model tells them apart.

They stand in blocks of four. In a block the first two say the same thing, and so do the last two, while all
four share words: a sentence has one *partner* and two *look-alikes*, of which one is made of the sentence's
own words and the other of its partner's.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray

THE_NOTES = "The cat sat on the mat"  # the second note's own example; it belongs to no block
BLOCK = 4


def sentences() -> list[str]:
    """Return the sentences of `sentences.txt`, block after block.

    Returns
    -------
    list of str
        `BLOCK` for each block.
    """
    text = files(__package__).joinpath("sentences.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


class Separation(NamedTuple):
    """How a model's sentence vectors lie, sentence by sentence; each field is (..., m)."""

    others: FloatArray  # mean cosine with the sentences of other blocks
    margin: FloatArray  # partner's cosine above that mean, in standard deviations of those cosines
    found: FloatArray  # 1 if no sentence of another block is nearer than the partner, else 0
    beats_own_words: FloatArray  # 1 if the look-alike in the sentence's own words is farther than the partner
    beats_partners_words: FloatArray  # 1 if the look-alike in the partner's words is farther than the partner


def separation(cosine: FloatArray) -> Separation:
    """Ask of every sentence where its partner stands among the others (claims 45, 69, 70).

    All but the first field do not change if all cosines are shifted or stretched. They do change if one
    vector is added to every sentence's: see `centred`.

    Parameters
    ----------
    cosine : ndarray, shape (..., m, m)
        Between the vectors of sentences in blocks of four.

    Returns
    -------
    Separation
    """
    m = cosine.shape[-1]
    index = np.arange(m)
    block = index // BLOCK
    partner = cosine[..., index, index ^ 1]  # (..., m)
    elsewhere = np.stack([cosine[..., i, block != block[i]] for i in index], axis=-2)  # (..., m, m − 4)
    others = elsewhere.mean(axis=-1)
    return Separation(
        others,
        (partner - others) / elsewhere.std(axis=-1),
        (partner > elsewhere.max(axis=-1)).astype(float),
        (partner > cosine[..., index, index ^ 2]).astype(float),
        (partner > cosine[..., index, index ^ 3]).astype(float),
    )


def centred(cosine: FloatArray) -> FloatArray:
    """Return the cosines that vectors have once their mean is taken from each of them.

    Parameters
    ----------
    cosine : ndarray, shape (..., m, m)
        Products of m vectors of length one.

    Returns
    -------
    ndarray, shape (..., m, m)

    Examples
    --------
    >>> x = np.array([[1.0, 0, 0], [0.6, 0.8, 0], [0, 0.6, 0.8]])
    >>> y = x - x.mean(axis=0)
    >>> y /= np.linalg.norm(y, axis=1, keepdims=True)
    >>> bool(np.allclose(centred(x @ x.T), y @ y.T))
    True
    """
    rows = cosine - cosine.mean(axis=-1, keepdims=True)
    product = rows - rows.mean(axis=-2, keepdims=True)
    length = np.sqrt(np.diagonal(product, axis1=-2, axis2=-1))  # (..., m)
    between: FloatArray = product / (length[..., :, None] * length[..., None, :])
    return between


def mean_and_interval(
    values: FloatArray, rng: np.random.Generator, draws: int = 2000
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean over sentences with a 95 % interval, by drawing whole blocks with replacement.

    Sentences of a block share words and count as one draw; NaN, where a measure has no answer, is left out.

    Parameters
    ----------
    values : ndarray, shape (m, ...)
        One for each sentence, in blocks of four.
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    mean, low, high : ndarray, shape (...)
    """
    blocks = values.reshape(-1, BLOCK, *values.shape[1:])
    total, count = np.nansum(blocks, axis=1), np.isfinite(blocks).sum(axis=1)  # (m / 4, ...)
    chosen = rng.integers(len(blocks), size=(draws, len(blocks)))
    drawn = total[chosen].sum(axis=1) / count[chosen].sum(axis=1)  # (draws, ...)
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    return total.sum(axis=0) / count.sum(axis=0), low, high
