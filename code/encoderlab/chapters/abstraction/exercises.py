"""Checks for the exercises of chapter 5."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.cost import even_length
from encoderlab.chapters.abstraction.data import ATLAS, reading
from encoderlab.chapters.abstraction.grammar import Labelled
from encoderlab.chapters.abstraction.probe_tasks import TASKS
from encoderlab.chapters.abstraction.reading import between_words, distance
from encoderlab.exercise import RIGHT

FUNCTION_WORDS = ("was", "by", "that", "it")


def check_reach(reach: Callable[[Any], Any]) -> str:
    """Say whether a function of a pattern is its mean distance over that of even attention.

    Examples
    --------
    >>> check_reach(lambda pattern: 1.0)
    'Not yet: reach of attention to oneself alone gave 1.0, expected 0.'
    """
    rng = np.random.default_rng(0)
    weights = rng.exponential(size=(7, 7))
    patterns = {
        "attention to oneself alone": np.eye(5),
        "even attention": np.full((6, 6), 1 / 6),
        "attention to the other end": np.eye(4)[::-1],
        "a random pattern": weights / weights.sum(axis=1, keepdims=True),
    }
    for name, pattern in patterns.items():
        answer, right = reach(pattern.copy()), float(distance(pattern))
        if not (_is_number(answer) and np.isclose(float(answer), right)):
            return f"Not yet: reach of {name} gave {answer}, expected {right:.4g}."
    return RIGHT


def check_looking_back(layer: int, head: int) -> str:
    """Say whether it is this head, both counted from 1, that gives the word before the most weight.

    Examples
    --------
    >>> check_looking_back(0, 1)
    'Not yet: layer 0, head 1 is not one of 6 layers of 12 heads, counted from 1.'
    """
    whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in (layer, head))
    if not (whole and 1 <= layer <= 6 and 1 <= head <= 12):
        return f"Not yet: layer {layer}, head {head} is not one of 6 layers of 12 heads, counted from 1."
    back = looking_back()
    if back[layer - 1, head - 1] < back.max():
        return (
            f"Not yet: layer {layer}, head {head} gives {back[layer - 1, head - 1]:.0%}; another gives more."
        )
    return RIGHT


def looking_back() -> np.typing.NDArray[np.floating[Any]]:
    """Return the mean weight between words that each head gives the word before, (6, 12)."""
    patterns = [between_words(reading(text).attention) for text in ATLAS]
    rows = [np.diagonal(pattern, offset=-1, axis1=-2, axis2=-1) for pattern in patterns]  # (6, 12, words − 1)
    mean: np.typing.NDArray[np.floating[Any]] = np.concatenate(rows, axis=-1).mean(axis=-1)
    return mean


def check_even_length(n: float) -> str:
    """Say whether that many tokens are where the two parts of a BERT-base layer's work are equal.

    Examples
    --------
    >>> check_even_length(512)
    'Not yet: at 512 tokens the part that grows with n² is 0.11 of the other.'
    """
    if not _is_number(n):
        return f"Not yet: n is {n!r}, expected a number."
    ratio = float(n) / even_length(768, 3072)
    if not abs(ratio - 1) <= 1e-3:  # so that NaN is wrong too
        return f"Not yet: at {float(n):g} tokens the part that grows with n² is {ratio:.2g} of the other."
    return RIGHT


def role_from_small_words() -> tuple[float, float]:
    """Guess the role of a noun from its place, the length of the sentence and its function words alone.

    Returns
    -------
    table, total : float
        Share of right answers on sentences with other nouns and verbs: by a table with one row for each
        combination, and by adding up what each of them says (least squares).
    """
    rng = np.random.default_rng(0)
    train, test = TASKS["role"](rng)
    rows: dict[tuple[int, ...], Counter[str]] = defaultdict(Counter)
    for item in train:
        rows[_small_words(item)][item.label] += 1
    everywhere = Counter(item.label for item in train)
    table = [rows.get(_small_words(item), everywhere).most_common(1)[0][0] == item.label for item in test]
    weights = np.linalg.lstsq(_indicators(train), [1 - 2 * (i.label == "agent") for i in train], rcond=None)[
        0
    ]
    total = [
        (said > 0) == (item.label == "patient")
        for said, item in zip(_indicators(test) @ weights, test, strict=True)
    ]
    return float(np.mean(table)), float(np.mean(total))


def _small_words(item: Labelled) -> tuple[int, ...]:
    return (item.place, len(item.words), *(int(word in item.words) for word in FUNCTION_WORDS))


def _indicators(items: Sequence[Labelled]) -> np.typing.NDArray[np.float64]:
    """One column for every place, every length and every function word, (items, columns)."""
    longest = 20
    found = np.zeros((len(items), 2 * longest + len(FUNCTION_WORDS)))
    for row, item in zip(found, items, strict=True):
        place, length, *words = _small_words(item)
        row[[place, longest + length]] = 1
        row[2 * longest :] = words
    return found


def _is_number(answer: Any) -> bool:
    """Tell whether an answer is one real number, in an array without axes or on its own; True is none."""
    if not isinstance(answer, int | float | np.number | np.ndarray):
        return False
    array = np.asarray(answer)
    return array.shape == () and array.dtype.kind in "iuf"
