"""Words of two senses: whether a word's hidden state tells which is meant, and whether its neighbours would.

The sense is guessed for one sentence from the other fifteen of its word (`homonyms.txt`), by the nearer of
the two senses' mean vectors, so nothing is fitted that could learn the sentence by heart.
"""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import BoolArray, FloatArray
from encoderlab.pretrained.sentence_encoder import SentenceEncoder

CONTROLS = ("word and 2 on each side", "all other words, averaged")


class Use(NamedTuple):
    """A sentence with a word in one of its senses."""

    word: str
    sense: str
    text: str


def uses() -> list[Use]:
    """Return the sentences of `homonyms.txt`, word after word, eight of each sense."""
    text = files(__package__).joinpath("homonyms.txt").read_text(encoding="utf-8")
    found, word, sense = [], "", ""
    for line in text.splitlines():
        if line.startswith("["):
            word, sense = line[1:-1].split(", ")
        elif line and not line.startswith("#"):
            found.append(Use(word, sense, line))
    return found


def views(model: SentenceEncoder, use: Use) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what is known of a word in a sentence: its states, and what bare embeddings around it tell.

    Returns
    -------
    states : ndarray, shape (depth + 1, d_model)
    window : ndarray, shape (5 d_model,)
        Embeddings of the word and two tokens on each side, zeros beyond the markers.
    others : ndarray, shape (d_model,)
        Mean embedding of all other words.
    """
    place = model.tokens(use.text).index(use.word)
    hidden = np.stack(model.trace(use.text).hidden)  # (depth + 1, n, d_model)
    bare = hidden[0]
    window = np.pad(bare, ((2, 2), (0, 0)))[place : place + 5].ravel()
    return hidden[:, place], window, np.delete(bare, place, axis=0)[1:-1].mean(axis=0)


def told_apart(x: FloatArray, found: list[Use]) -> BoolArray:
    """Guess the sense of every use from the others of its word.

    Parameters
    ----------
    x : ndarray, shape (uses, d)
    found : list of Use

    Returns
    -------
    ndarray of bool, shape (uses,)
        Whether the mean of its own sense, itself left out, is nearer than that of the other.
    """
    right = []
    for k, use in enumerate(found):
        alike = [i for i, other in enumerate(found) if other.word == use.word and i != k]
        own = x[[i for i in alike if found[i].sense == use.sense]].mean(axis=0)
        other = x[[i for i in alike if found[i].sense != use.sense]].mean(axis=0)
        right.append(np.linalg.norm(x[k] - own) < np.linalg.norm(x[k] - other))
    return np.array(right)
