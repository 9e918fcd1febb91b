"""Checks for the exercises of chapter 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from encoderlab.chapters.elementwise.affine import Affine
from encoderlab.chapters.elementwise.piecewise import trace_line
from encoderlab.exercise import RIGHT
from encoderlab.model.activations import sigmoid


def check_maximum(maximum: Callable[[Any, Any], Any]) -> str:
    """Say whether a function of two numbers is their maximum.

    Examples
    --------
    >>> check_maximum(lambda a, b: a)
    'Not yet: maximum(-3, -2) gave -3, expected -2.'
    """
    for a in range(-3, 4):
        for b in range(-3, 4):
            answer = maximum(a, b)
            if not isinstance(answer, int | float | np.number | np.ndarray) or answer != max(a, b):
                return f"Not yet: maximum({a}, {b}) gave {answer!r}, expected {max(a, b)}."
    return RIGHT


def check_trisect(trisect: Callable[[int], Sequence[Affine] | None]) -> str:
    """Say whether a network of three ReLU neurons a layer folds the interval in three, again and again."""
    for depth in range(1, 6):
        layers = trisect(depth)
        if layers is None:
            return "Not yet: trisect(1) gave nothing, expected a list of Affine maps."
        widths = [W.shape[1] for W, _ in layers]
        if widths != [3] * depth + [1]:
            return f"Not yet: trisect({depth}) has the widths {widths}, expected {[3] * depth + [1]}."
        line = trace_line(layers)
        if line.pieces != 3**depth:
            return f"Not yet: trisect({depth}) has {line.pieces} pieces, expected {3**depth}."
        if not np.allclose(line.values, np.arange(3**depth + 1) % 2):
            return f"Not yet: trisect({depth}) has {line.pieces} pieces, but not between 0 and 1."
    return RIGHT


def check_forget_bias(bias: float) -> str:
    """Say whether a memory that is multiplied by sigmoid(bias) a hundred times is halved."""
    if not isinstance(bias, int | float | np.number):
        return f"Not yet: the bias is {bias!r}, expected a number."
    left = float(sigmoid(bias)) ** 100
    if abs(left - 0.5) > 0.005:
        return f"Not yet: with a bias of {float(bias):.4g}, {left:.2g} of the memory is left after 100 steps."
    return RIGHT
