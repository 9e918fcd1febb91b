"""A fact taken out of hidden states, so that no linear probe finds it, while all the rest stays.

Leaving a layer out removes whatever it does; the fact may be read as well after the next. Here the directions
that a probe reads are projected away, again and again until nothing is left to read (iterative nullspace
projection, Ravfogel et al. 2020; to ask what a model does without a fact, Elazar et al. 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder
from encoderlab.model.layer import encoder_layer

RIDGE = 100.0  # as in `probes.accuracy`, in units of a feature's variance


class Eraser(NamedTuple):
    """What to take from a word's state, about a centre: its part within a few directions."""

    directions: FloatArray  # (d_model, k), orthonormal columns
    centre: FloatArray  # (d_model,)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return states (..., n, d_model) whose words lack those directions; the markers stay as they are."""
        words = x[..., 1:-1, :] - self.centre
        kept: FloatArray = x.copy()
        kept[..., 1:-1, :] -= (words @ self.directions) @ self.directions.T
        return kept


def probe_directions(x: FloatArray, labels: Sequence[str], rounds: int) -> FloatArray:
    """Find the directions that a ridge probe reads, take them away, and find the next.

    Parameters
    ----------
    x : ndarray, shape (items, d_model)
    labels : sequence of str
        Two classes give one direction a round, c classes c − 1.
    rounds : int

    Returns
    -------
    ndarray, shape (d_model, k)
        Orthonormal columns.

    Examples
    --------
    >>> x = np.array([[1.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-1.0, -0.1]])
    >>> probe_directions(x, ["a", "a", "b", "b"], 1).round(6).ravel().tolist() in ([1.0, 0.0], [-1.0, 0.0])
    True
    """
    names = sorted(set(labels))
    target = np.array([[float(label == name) for name in names] for label in labels])  # (items, c)
    target -= target.mean(axis=0)
    centred = x.astype(np.float64) - x.mean(axis=0)
    basis = np.zeros((x.shape[1], 0))
    for _ in range(rounds):
        left = centred - (centred @ basis) @ basis.T
        penalty = RIDGE * left.var(axis=0).mean() * np.eye(x.shape[1])
        weights = np.linalg.solve(left.T @ left + penalty, left.T @ target)  # (d_model, c)
        weights -= basis @ (basis.T @ weights)
        read = np.linalg.svd(weights, full_matrices=False)[0][:, : len(names) - 1]
        basis = np.linalg.qr(np.hstack([basis, read]))[0]
    return basis


def random_directions(d_model: int, count: int, rng: np.random.Generator) -> FloatArray:
    """Return as many directions drawn at random, (d_model, count), orthonormal."""
    basis: FloatArray = np.linalg.qr(rng.normal(size=(d_model, count)))[0]
    return basis


def one_layer(encoder: Encoder, x: FloatArray, layer: int) -> FloatArray:
    """Run one layer of an encoder over (..., n, d_model)."""
    return encoder_layer(x, encoder.weights.layers[layer], encoder.config)[0]
