"""The loop that trains: Adam with warm-up on fresh batches, until a step count or a loss that blows up."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.training.adam import Adam, warmed_up
from encoderlab.training.checkpoint import restore, save
from encoderlab.training.classifier import Classifier
from encoderlab.training.tasks.task import Batch, Task


class Objective(Protocol):
    """What `train` needs to know: where the parameters are, and the loss and gradient of one batch."""

    @property
    def vector(self) -> FloatArray:
        """All parameters, to be changed in place."""

    def loss_and_gradient(self, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Draw a batch and return the loss on it and its gradient, in the order of `vector`."""


@dataclass(frozen=True)
class Classification:
    """The cross-entropy of a classifier on batches of a task.

    Parameters
    ----------
    model : Classifier
    task : Task
    batch : int
        Examples in a step. A task with no more examples than that gives all of them in each step.
    """

    model: Classifier
    task: Task
    batch: int

    @property
    def vector(self) -> FloatArray:
        """The model's parameters."""
        return self.model.vector

    def draw(self, rng: np.random.Generator) -> Batch:
        """Draw a batch, in the dtype of the parameters."""
        every = self.task.every
        whole = every is not None and len(every.target) <= self.batch
        features, target = every if every is not None and whole else self.task.draw(rng, self.batch)
        return Batch(features.astype(self.vector.dtype, copy=False), target)

    def loss_and_gradient(self, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Draw a batch and return the cross-entropy on it and its gradient."""
        loss, grads = self.model.gradients(*self.draw(rng))
        return loss, np.concatenate([grad.ravel() for grad in grads.values()])


@dataclass(frozen=True)
class Training:
    """What a run of `train` left behind, beside the parameters that it changed.

    Parameters
    ----------
    losses : ndarray of float64, shape (steps done,)
        The loss on each batch, before the step that it led to.
    diverged_at : int or None
        The step, counted from 0, whose loss or gradient was not finite.
    """

    losses: FloatArray
    diverged_at: int | None


def train(
    objective: Objective,
    rng: np.random.Generator,
    *,
    steps: int,
    lr: float,
    warmup: int = 0,
    checkpoint: Path | None = None,
    every: int = 500,
    identity: str = "",
    progress: str | None = None,
) -> Training:
    """Change an objective's parameters in place, step by step.

    A step whose loss or gradient is not finite ends the run: the parameters go back to the last ones whose
    loss and gradient were finite, and the step is recorded.

    Parameters
    ----------
    objective : Objective
    rng : numpy.random.Generator
        Draws the batches.
    steps : int
    lr : float
        The learning rate after warm-up.
    warmup : int
        Over how many steps the learning rate rises from zero.
    checkpoint : Path, optional
        A file written after each `every` steps. If it is there at the start, the run goes on from it and ends
        bit for bit as if it had not been interrupted.
    every : int
    identity : str
        Says what is trained; a checkpoint that says otherwise is refused.
    progress : str, optional
        Shows a progress bar with this text; needs tqdm.

    Returns
    -------
    Training

    Raises
    ------
    ValueError
        If an argument is out of range, or the checkpoint cannot be used.
    """
    if steps < 0 or warmup < 0 or every < 1:
        raise ValueError(
            "steps and warmup must not be negative, and every must be at least 1, "
            f"got {steps}, {warmup}, {every}"
        )
    if not 0 < lr < math.inf:
        raise ValueError(f"lr must be positive and finite, got {lr}")
    adam, losses = Adam(objective.vector), np.zeros(steps)
    if checkpoint is not None and checkpoint.exists():
        losses[: adam.steps] = restore(checkpoint, identity, adam, rng)
    last_good = objective.vector.copy()
    for step in _shown(range(adam.steps, steps), progress):
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found in the next line
            loss, grad = objective.loss_and_gradient(rng)
            if not math.isfinite(loss + float(grad @ grad)):
                objective.vector[:] = last_good
                return Training(losses[:step], diverged_at=step)
        last_good[:] = objective.vector
        losses[step] = loss
        adam.step(grad, warmed_up(step, lr, warmup))
        if checkpoint is not None and adam.steps % every == 0:
            save(checkpoint, identity, adam, rng, losses[: adam.steps])
    return Training(losses, diverged_at=None)


def _shown(steps: range, text: str | None) -> Iterable[int]:
    if text is None:
        return steps
    from tqdm import tqdm  # type: ignore[import-untyped]

    bar: Iterable[int] = tqdm(steps, desc=text, leave=False, mininterval=1.0)
    return bar
