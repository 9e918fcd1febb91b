"""What an experiment is: cells, each trained from several seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from encoderlab.model.arrays import FloatArray
from encoderlab.training import Training


class Outcome(NamedTuple):
    """What one run came to."""

    training: Training
    measures: Mapping[str, float]
    parameters: Mapping[str, FloatArray]  # as trained


class Cell(Protocol):
    """One choice of settings: all that a run needs beside its seed."""

    @property
    def settings(self) -> dict[str, Any]:
        """What was chosen, in values that JSON can hold."""

    def baselines(self) -> Mapping[str, float]:
        """Compute what the measure would be without understanding the task."""

    def train(
        self, seed: int, checkpoint: Path | None = None, identity: str = "", progress: str | None = None
    ) -> Outcome:
        """Train from a seed; the other arguments are those of `encoderlab.training.train`."""


@runtime_checkable
class TogetherCell(Cell, Protocol):
    """A cell that can train many seeds at once."""

    def train_together(self, seeds: tuple[int, ...]) -> list[Outcome]:
        """Train from every seed what `train` would from each."""


@dataclass(frozen=True)
class Experiment:
    """A question, and the cells that answer it.

    Parameters
    ----------
    name : str
        Also the name of its file in `data/`.
    question : str
    cells : tuple of Cell
        The first is small enough to be trained again in a test.
    seeds : tuple of int
    keep : mapping of str to (Cell, int)
        Runs, each a cell and a seed, of which the weights are stored, as ``<name>_<key>.npz``.
    together : bool
        Whether the cells are `TogetherCell`s, whose seeds are trained at once.
    parts : int
        Into how many parts a run's steps are divided, for its curve of losses.
    """

    name: str
    question: str
    cells: tuple[Cell, ...]
    seeds: tuple[int, ...] = (0, 1, 2)
    keep: Mapping[str, tuple[Cell, int]] = field(default_factory=dict)
    together: bool = False
    parts: int = 20
