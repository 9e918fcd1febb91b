"""A disc inside a ring: two classes that no straight line tells apart, and small networks trained on them.

`python -m encoderlab.chapters.elementwise.rings` trains every network again (two minutes), into `rings.npz`.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any

import numpy as np

from encoderlab.chapters.elementwise.affine import Affine, random_stack
from encoderlab.chapters.elementwise.perceptron import fit, perceptron
from encoderlab.model.arrays import FloatArray

ACTIVATIONS = ("identity", "relu", "tanh")
DEPTHS = (1, 2, 3)
WIDTHS = (2, 3, 4, 8)
SEEDS = range(5)
STEPS = 2000
RATE = 0.03
FILE = "rings.npz"


def rings(rng: np.random.Generator, n: int = 200) -> tuple[FloatArray, FloatArray]:
    """Draw n points, half of them from a disc of radius 0.45 and half from the ring between 0.6 and 0.9.

    Parameters
    ----------
    rng : numpy.random.Generator
    n : int
        An even number.

    Returns
    -------
    x : ndarray, shape (n, 2)
    labels : ndarray, shape (n,)
        +1 in the disc, -1 in the ring.
    """
    labels = np.repeat([1.0, -1.0], n // 2)
    square = rng.uniform(size=n)  # uniform in area when it interpolates squared radii
    radius = np.sqrt(np.where(labels > 0, 0.45**2 * square, 0.6**2 + (0.9**2 - 0.6**2) * square))
    angle = rng.uniform(0, 2 * np.pi, size=n)
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), labels


def train(activation: str, depth: int, width: int, seed: int) -> list[Affine]:
    """Train one network from a random start; the points are the same for all.

    Parameters
    ----------
    activation : str
    depth, width : int
        Number of hidden layers, and of neurons in each.
    seed : int
        Of the random start.

    Returns
    -------
    list of Affine
    """
    x, labels = rings(np.random.default_rng(0))
    start = random_stack(np.random.default_rng(seed), _widths(depth, width), gain=np.sqrt(2), bias=0.3)
    layers, _ = fit(x, labels, start, activation, steps=STEPS, rate=RATE)
    return layers


def accuracy(layers: Sequence[Affine], activation: str) -> float:
    """Return the share of the 200 training points that a network puts on the right side."""
    x, labels = rings(np.random.default_rng(0))
    output, _ = perceptron(x, layers, activation)  # (n, 1)
    return float(np.mean(np.sign(output[:, 0]) == labels))


def load(activation: str, depth: int, width: int, seed: int) -> list[Affine]:
    """Read a trained network from the package's data.

    Parameters
    ----------
    activation : str
        One of `ACTIVATIONS`.
    depth, width, seed : int
        Among `DEPTHS`, `WIDTHS` and `SEEDS`.

    Returns
    -------
    list of Affine

    Raises
    ------
    ValueError
        If no such network is stored.
    """
    name = f"{activation}-{depth}-{width}"
    if name not in _stored() or seed not in SEEDS:
        raise ValueError(
            "activation, depth, width and seed must be among "
            f"{ACTIVATIONS}, {DEPTHS}, {WIDTHS} and {tuple(SEEDS)}, got {name} and {seed}"
        )
    numbers, layers = _stored()[name][seed], []
    for fan_in, fan_out in pairwise(_widths(depth, width)):
        W, b, numbers = np.split(numbers, [fan_in * fan_out, (fan_in + 1) * fan_out])
        layers.append(Affine(W.reshape(fan_in, fan_out), b))
    return layers


def provenance() -> str:
    """Say how the stored networks were made."""
    return str(_stored()["provenance"])


def _widths(depth: int, width: int) -> list[int]:
    return [2, *[width] * depth, 1]


@lru_cache
def _stored() -> dict[str, FloatArray]:
    with resources.as_file(resources.files(__package__) / FILE) as path, np.load(path) as file:
        return dict(file)


def main() -> None:
    """Train all networks and store each as a row of numbers: W₁, b₁, W₂ and so on."""
    seeds = f"seeds {SEEDS[0]} to {SEEDS[-1]}"
    training = f"{STEPS} steps of Adam, rate {RATE}, NumPy {np.__version__}"
    made = f"python -m encoderlab.chapters.elementwise.rings: {seeds}, {training}"
    arrays: dict[str, Any] = {"provenance": np.array(made)}
    for activation, depth, width in itertools.product(ACTIVATIONS, DEPTHS, WIDTHS):
        nets = [train(activation, depth, width, seed) for seed in SEEDS]
        rows = [np.concatenate([array.ravel() for layer in net for array in layer]) for net in nets]
        arrays[f"{activation}-{depth}-{width}"] = np.stack(rows)  # (seeds, parameters)
        print(activation, depth, width, [accuracy(net, activation) for net in nets])
    with resources.as_file(resources.files(__package__) / FILE) as path:
        np.savez_compressed(path, **arrays)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped: nothing was stored, the networks of this chapter are trained together")
