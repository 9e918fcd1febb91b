"""Checks for the exercises of chapter 4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from encoderlab.exercise import RIGHT
from encoderlab.model.arrays import FloatArray
from encoderlab.model.feed_forward import FeedForwardWeights, feed_forward


def rms_norm(x: FloatArray) -> FloatArray:
    """Divide each row by its root mean square, and subtract nothing.

    Examples
    --------
    >>> rms_norm(np.array([[3.0, 3.0]])).tolist()
    [[1.0, 1.0]]
    """
    scaled: FloatArray = x / np.sqrt((x * x).mean(axis=-1, keepdims=True))
    return scaled


def check_forgets(forgets: Callable[[int, int], FeedForwardWeights | None]) -> str:
    """Say whether x + FFN(x) sets one feature to zero and leaves the others alone."""
    x = np.random.default_rng(0).normal(size=(5, 6))
    for feature in range(6):
        weights = forgets(6, feature)
        if not isinstance(weights, FeedForwardWeights):
            return f"Not yet: forgets(6, {feature}) gave {weights!r}, expected FeedForwardWeights."
        after = x + feed_forward(x, weights)[0]
        expected = np.where(np.arange(6) == feature, 0, x)
        if np.abs(after - expected).max() > 1e-9:
            wrong = int(np.abs(after - expected).max(axis=0).argmax())
            return f"Not yet: with forgets(6, {feature}), feature {wrong} is not what it should be."
    return RIGHT


def check_rms_norm_vjp(vjp: Callable[[FloatArray, FloatArray], Any]) -> str:
    """Say whether a function pulls a gradient of `rms_norm` back, by central differences."""
    rng = np.random.default_rng(0)
    x, grad = rng.normal(size=(2, 3, 5))
    found = vjp(grad, x)
    if not isinstance(found, np.ndarray) or found.shape != x.shape:
        return f"Not yet: the gradient is {found!r}, expected an array of the shape of x, {x.shape}."
    step = 1e-6
    expected = np.empty_like(x)
    for index in np.ndindex(x.shape):
        shift = np.zeros_like(x)
        shift[index] = step
        expected[index] = ((rms_norm(x + shift) - rms_norm(x - shift)) * grad).sum() / (2 * step)
    gap = float(np.abs(found - expected).max())
    return RIGHT if gap < 1e-7 else f"Not yet: the largest error is {gap:.2g}."


def check_rank(rank: object) -> str:
    """Say whether a number is the rank of the Jacobian of `rms_norm` for a token of 8 features."""
    return RIGHT if rank == 7 else f"Not yet: {rank!r} is not the rank."


def check_gain(gain: float) -> str:
    """Say whether (1 + gain⁴) to the power 48 is 2."""
    if not isinstance(gain, int | float | np.number):
        return f"Not yet: the gain is {gain!r}, expected a number."
    growth = (1 + float(gain) ** 4) ** 48
    return (
        RIGHT
        if abs(growth - 2) < 0.05
        else f"Not yet: with a gain of {float(gain):.3g} it grows {growth:.3g}-fold."
    )
