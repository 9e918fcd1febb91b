"""Moons, the task in which the playground starts, trained with NumPy: the same points, weights and steps."""

from __future__ import annotations

import math

import numpy as np

from encoderlab.chapters.playground.generator import Mulberry
from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import EncoderConfig
from encoderlab.training.adam import Adam
from encoderlab.training.classifier import Classifier, Shape
from encoderlab.training.loss import IntArray

SHAPE = Shape(n=1, n_features=4, n_classes=2, read_at=-1)
RATE = 0.01


def moons(count: int = 200) -> tuple[FloatArray, IntArray]:
    """Return the points of `web/tasks.js` and their classes.

    Parameters
    ----------
    count : int

    Returns
    -------
    points : ndarray, shape (count, 2)
    labels : ndarray of int, shape (count,)
    """
    random = Mulberry(1000)
    points, labels = np.empty((count, 2)), np.empty(count, np.intp)
    for k in range(count):
        labels[k] = random.integer(2)
        angle, sign = math.pi * random.uniform(), 1 if labels[k] else -1
        x = sign * (0.55 * math.cos(angle) - 0.27) + 0.05 * random.normal()
        points[k] = x, sign * (0.75 * math.sin(angle) - 0.2) + 0.05 * random.normal()
    return points, labels


def tokens(points: FloatArray) -> FloatArray:
    """Write each point (x, y) as one token [2x, 2y, 1, 0]: (count, 2) becomes (count, 1, 4)."""
    ones, zeros = np.ones(len(points)), np.zeros(len(points))
    return np.column_stack([2 * points, ones, zeros])[:, None]


def untrained(config: EncoderConfig, seed: int) -> Classifier:
    """Draw the weights that the page draws for a seed: the same numbers in the order of the parameters."""
    random = Mulberry(seed)
    model = Classifier.random(SHAPE, config, np.random.default_rng(0), dtype=np.float64)
    for name, array in model.parameters.items():
        if array.ndim == 2:
            square = 2 / len(array) if name.endswith("W_2") else 1 / len(array)
            scale = 0.5 if name == "embedding.W" else math.sqrt(square)
            array[...] = [[scale * random.normal() for _ in row] for row in array]
    return model


def trained(config: EncoderConfig, seed: int, steps: int) -> tuple[Classifier, list[float]]:
    """Train on all points in every step, as the page does.

    Parameters
    ----------
    config : EncoderConfig
    seed : int
        Of the weights.
    steps : int

    Returns
    -------
    model : Classifier
    losses : list of float
        Before each step.
    """
    model, (points, labels) = untrained(config, seed), moons()
    adam, losses, features = Adam(model.vector), [], tokens(points)
    for _ in range(steps):
        loss, gradients = model.gradients(features, labels)
        losses.append(loss)
        adam.step(np.concatenate([gradient.ravel() for gradient in gradients.values()]), RATE)
    return model, losses
