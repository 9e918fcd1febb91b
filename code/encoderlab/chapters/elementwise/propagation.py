"""How the size of a signal, and of a gradient, changes through a deep perceptron with random weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from encoderlab.chapters.elementwise.affine import random_stack
from encoderlab.chapters.elementwise.perceptron import perceptron
from encoderlab.model.activations import ACTIVATIONS
from encoderlab.model.arrays import FloatArray


class Propagation(NamedTuple):
    """Root mean squares at the input and after each activation, and what the last activation saw."""

    signal: FloatArray  # (depth + 1,)
    gradient: FloatArray  # (depth + 1,), relative to the gradient that enters at the last activation
    preactivation: FloatArray  # (batch, width), of the last layer


def propagate(
    rng: np.random.Generator,
    activation: str,
    gain: float,
    *,
    depth: int = 20,
    width: int = 64,
    batch: int = 32,
) -> Propagation:
    """Send random inputs forward and a random gradient back.

    Parameters
    ----------
    rng : numpy.random.Generator
    activation : str
        A name in `encoderlab.model.activations.ACTIVATIONS`.
    gain : float
        Weights are drawn from N(0, gain²/width); there are no biases.
    depth, width, batch : int

    Returns
    -------
    Propagation
    """
    f, derivative = ACTIVATIONS[activation]
    layers = random_stack(rng, [width] * (depth + 2), gain=gain)  # the last one is not looked at
    x = rng.normal(size=(batch, width))
    _, preactivations = perceptron(x, layers, activation)
    signal = [_rms(x), *(_rms(f(z)) for z in preactivations)]
    grad = rng.normal(size=(batch, width))
    gradient = [_rms(grad)]
    for (W, _), z in zip(layers[-2::-1], preactivations[::-1], strict=True):
        grad = (grad * derivative(z)) @ W.T  # (batch, width), back through one activation and one map
        gradient.append(_rms(grad))
    return Propagation(np.array(signal), np.array(gradient[::-1]) / gradient[0], preactivations[-1])


def _rms(x: FloatArray) -> float:
    return float(np.sqrt(np.mean(x**2)))
