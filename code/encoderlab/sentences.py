"""The sentences that chapter 5 measures a model on, and how well a model tells them apart.

They stand in blocks of four. In a block the first two say the same thing, and so do the last two, while all
four share words: a sentence has one *partner* and two *look-alikes*.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from encoderlab.validation import FloatArray

THE_NOTES = "The cat sat on the mat"  # the second note's own example; it belongs to no block
BLOCK = 4


def sentences() -> list[str]:
    """Return the sentences of `data/sentences.txt`, block after block.

    Returns
    -------
    list of str
        `BLOCK` for each block.
    """
    text = files("encoderlab").joinpath("data", "sentences.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


class Separation(NamedTuple):
    """How a model's sentence vectors lie, sentence by sentence; each field is (..., m)."""

    others: FloatArray  # mean cosine with the sentences of other blocks
    margin: FloatArray  # partner's cosine above that mean, in standard deviations of those cosines
    found: FloatArray  # 1 if no sentence of another block is nearer than the partner, else 0
    beats_look_alikes: FloatArray  # share of the two look-alikes that are farther than the partner


def separation(cosine: FloatArray) -> Separation:
    """Ask of every sentence where its partner stands among the others (claims 45, 69, 70).

    Margin and the two shares do not change if all cosines are shifted or stretched, so they compare layers in
    which all sentences look alike with layers in which they do not.

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
    look_alikes = np.stack([cosine[..., index, index ^ 2], cosine[..., index, index ^ 3]], axis=-1)
    elsewhere = np.stack([cosine[..., i, block != block[i]] for i in index], axis=-2)  # (..., m, m − 4)
    others = elsewhere.mean(axis=-1)
    return Separation(
        others,
        (partner - others) / elsewhere.std(axis=-1),
        (partner > elsewhere.max(axis=-1)).astype(float),
        (partner[..., None] > look_alikes).mean(axis=-1),
    )


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
