"""What a task is: examples without end, and the accuracies to beat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.training.classifier import Shape
from encoderlab.training.loss import IntArray


class Batch(NamedTuple):
    """Sequences of tokens, each token a vector of features, and the class of each sequence."""

    features: FloatArray  # (batch, n, n_features), float32
    target: IntArray  # (batch,)


@dataclass(frozen=True)
class Task:
    """A task to train on.

    Parameters
    ----------
    name : str
    shape : Shape
    draw : callable
        Maps a generator and a size to a `Batch` of as many independent examples.
    baselines : mapping of str to float
        Accuracies that are reached without solving the task: uniform chance, and the best shortcuts.
    every : Batch, optional
        All examples that there are, where they are few enough: accuracy on them is exact.
    """

    name: str
    shape: Shape
    draw: Callable[[np.random.Generator, int], Batch]
    baselines: Mapping[str, float]
    every: Batch | None = None

    @property
    def line_to_beat(self) -> float:
        """The best of the baselines."""
        return max(self.baselines.values())

    def examination(self, size: int = 4096, seed: int = 2**32 - 1) -> Batch:
        """Return all examples, or else a fixed sample that no training run draws, as its seeds are small.

        The standard error of an accuracy a on it is √(a(1 − a)/size), at most 0.008 for 4096.
        """
        return self.draw(np.random.default_rng(seed), size) if self.every is None else self.every


def from_table(name: str, shape: Shape, every: Batch, baselines: Mapping[str, float]) -> Task:
    """Make a task of a finite list of examples, drawn with equal chance."""

    def draw(rng: np.random.Generator, size: int) -> Batch:
        rows = rng.integers(len(every.target), size=size)
        return Batch(every.features[rows], every.target[rows])

    return Task(name, shape, draw, baselines, every)


def one_hot(symbols: IntArray, n_symbols: int) -> FloatArray:
    """Give every symbol a feature of its own: (...) becomes (..., n_symbols)."""
    return np.eye(n_symbols, dtype=np.float32)[symbols]
