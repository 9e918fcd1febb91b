"""Two classes of points in the plane, one point a token: what can be drawn of a boundary can be seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.training.classifier import Shape
from encoderlab.training.loss import IntArray
from encoderlab.training.tasks.task import Batch, Task

NOISE = 0.12


def moons() -> Task:
    """Tell two half circles apart that reach into each other; a lone token carries a point's coordinates.

    The line to beat is the best straight line. Nearly all points lie on the right side of some curve: their
    noise seldom crosses it.

    Returns
    -------
    Task

    Examples
    --------
    >>> task = moons()
    >>> task.draw(np.random.default_rng(0), 3).features.shape
    (3, 1, 2)
    """

    def draw(rng: np.random.Generator, size: int) -> Batch:
        target = rng.integers(2, size=size)
        angle = np.pi * rng.random(size)
        side = 1 - 2 * target  # one half circle bends up, the other down
        centre = np.where(target == 1, 0.5, -0.5)
        point = np.stack([centre + side * np.cos(angle), side * (np.sin(angle) - 0.25)], axis=-1)  # (size, 2)
        point += rng.normal(scale=NOISE, size=point.shape)
        return Batch(point[:, None].astype(np.float32), target)

    task = Task("moons", Shape(1, 2, 2, -1), draw, {"chance": 0.5})
    points, labels = task.examination()
    return replace(task, baselines={"chance": 0.5, "best straight line": best_line(points[:, 0], labels)})


def best_line(points: FloatArray, labels: IntArray, directions: int = 360) -> float:
    """Return the best accuracy of a straight line: every threshold in each of many directions.

    Parameters
    ----------
    points : ndarray, shape (m, 2)
    labels : ndarray of int, shape (m,)
        0 or 1.
    directions : int
        Half a degree apart at 360.

    Examples
    --------
    >>> best_line(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1]))
    0.75
    """
    angles = np.pi * np.arange(directions) / directions
    along = points @ np.stack([np.cos(angles), np.sin(angles)])  # (m, directions)
    ones = np.take_along_axis(labels[:, None], along.argsort(axis=0), axis=0).cumsum(axis=0)
    below = np.arange(1, len(labels) + 1)[:, None]  # points on the near side of each threshold
    right = ones[-1] - ones + below - ones  # ones beyond it and zeros before it
    return float(np.maximum(right, len(labels) - right).max() / len(labels))
