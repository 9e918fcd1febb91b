"""Coherent prose of a chosen length, to see what the length of a text does to how far attention reaches.

Ten short stories (`stories.txt`) have choices in them, drawn anew for every telling, and a text is a run of
whole sentences of one telling. Beside each text stands one of the same words in an order drawn by lot: what
the two have in common is not due to what they say.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray

LENGTHS = (10, 20, 40, 80, 160)
"""Words of a text, aimed at; whole sentences do not always meet it."""

TELLINGS = 5  # texts of every story and length


class Passage(NamedTuple):
    """A run of sentences of one story."""

    story: int
    text: str


def stories() -> list[list[str]]:
    """Return the sentences of every story of `stories.txt`, with their choices still open."""
    text = files(__package__).joinpath("stories.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [story.splitlines() for story in "\n".join(lines).strip().split("\n\n")]


def tell(sentence: str, rng: np.random.Generator) -> str:
    """Settle every choice of a sentence.

    Examples
    --------
    >>> tell("A (cat|dog) slept.", np.random.default_rng(0))
    'A dog slept.'
    """

    def settle(match: re.Match[str]) -> str:
        options = match[1].split("|")
        return options[int(rng.integers(len(options)))]

    return re.sub(r"\(([^)]*)\)", settle, sentence)


def passages(words: int, rng: np.random.Generator) -> list[Passage]:
    """Draw `TELLINGS` texts of every story, as near to a number of words as whole sentences come.

    Parameters
    ----------
    words : int
        At most as many as the shortest story has, some two hundred.
    rng : numpy.random.Generator

    Returns
    -------
    list of Passage
        Story after story; the texts of a story are different runs of its sentences.
    """
    drawn = []
    for number, story in enumerate(stories()):
        told = [tell(sentence, rng) for sentence in story]
        ends = np.cumsum([0, *(len(sentence.split()) for sentence in told)])
        runs = [(i, j) for i in range(len(told)) for j in range(i + 1, len(told) + 1)]
        runs.sort(key=lambda run: abs(int(ends[run[1]] - ends[run[0]]) - words))
        for i, j in runs[:TELLINGS]:
            again = [tell(sentence, rng) for sentence in story[i:j]]
            drawn.append(Passage(number, " ".join(again)))
    return drawn


def dealt_anew(text: str, rng: np.random.Generator) -> str:
    """Return the words of a text in an order drawn by lot."""
    return " ".join(rng.permutation(text.split()).tolist())


def story_interval(
    values: FloatArray, rng: np.random.Generator, draws: int = 2000
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean over texts with a 95 % interval, by drawing whole stories with replacement.

    The texts of a story share sentences and count as one draw.

    Parameters
    ----------
    values : ndarray, shape (texts, ...)
        In the order of `passages`.
    rng : numpy.random.Generator
    draws : int

    Returns
    -------
    mean, low, high : ndarray, shape (...)
    """
    by_story = values.reshape(-1, TELLINGS, *values.shape[1:]).mean(axis=1)  # (stories, ...)
    chosen = rng.integers(len(by_story), size=(draws, len(by_story)))
    low, high = np.percentile(by_story[chosen].mean(axis=1), [2.5, 97.5], axis=0)
    return by_story.mean(axis=0), low, high
