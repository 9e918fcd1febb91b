"""Breakpoints of ReLU networks from one number to one number, found exactly rather than on a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from encoderlab.chapters.elementwise.affine import Affine
from encoderlab.model.arrays import FloatArray


class PiecewiseLinear(NamedTuple):
    """A continuous function that is a straight line between neighbouring knots."""

    knots: FloatArray  # (m + 1,), increasing, the two ends of the interval included
    values: FloatArray  # (m + 1,)

    @property
    def pieces(self) -> int:
        """The number of straight pieces."""
        return len(self.knots) - 1


def trace_line(layers: Sequence[Affine], interval: tuple[float, float] = (0.0, 1.0)) -> PiecewiseLinear:
    """Return the function that a ReLU network of one input and one output computes on an interval.

    Between two knots every neuron is an affine function of the input, a line with a left end and a slope. A
    neuron of the next layer bends where its own line crosses zero: these crossings are the new knots. Nothing
    is sampled, so no piece is missed. Knots within 1e-12 of the interval are one knot, apart by rounding.

    Parameters
    ----------
    layers : sequence of Affine
        ReLU stands between them, not after the last.
    interval : pair of float

    Returns
    -------
    PiecewiseLinear
        With a knot wherever the slope changes, and nowhere else.

    Raises
    ------
    ValueError
        If the network does not have one input and one output, or the interval is empty.

    Examples
    --------
    >>> hat = trace_line(sawtooth(1))
    >>> hat.knots.tolist(), hat.values.tolist()
    ([0.0, 0.5, 1.0], [0.0, 1.0, 0.0])
    """
    if layers[0].W.shape[0] != 1 or layers[-1].W.shape[1] != 1:
        raise ValueError(
            f"layers must lead from 1 feature to 1, got {layers[0].W.shape[0]} and {layers[-1].W.shape[1]}"
        )
    if not interval[0] < interval[1]:
        raise ValueError(f"interval must increase, got {interval}")
    knots = np.array(interval, dtype=float)
    rounding = 1e-12 * (knots[1] - knots[0])
    left = knots[:1, None]  # (m, d_l), each neuron's value at the left end of each segment
    slope = np.ones((1, 1))  # (m, d_l), its slope on the segment
    for W, b in layers[:-1]:
        left, slope = left @ W + b, slope @ W
        crossing = knots[:-1, None] - np.divide(left, slope, out=np.full_like(left, np.inf), where=slope != 0)
        inside = (knots[:-1, None] + rounding < crossing) & (crossing < knots[1:, None] - rounding)
        new = np.unique(crossing[inside])
        new = new[np.diff(new, prepend=-np.inf) > rounding]
        finer = np.sort(np.concatenate([knots, new]))
        segment = np.searchsorted(knots, finer[:-1], side="right") - 1  # where each finer one lies
        left = left[segment] + slope[segment] * (finer[:-1] - knots[segment])[:, None]
        slope = slope[segment]
        active = left + slope * np.diff(finer)[:, None] / 2 > 0  # the sign does not change on a segment
        knots, left, slope = finer, np.where(active, left, 0), np.where(active, slope, 0)
    W, b = layers[-1]
    left, slope = (left @ W + b)[:, 0], (slope @ W)[:, 0]  # (m,)
    bends = np.abs(np.diff(slope)) > 1e-12 * np.abs(slope).max()
    keep = np.concatenate([[True], bends, [True]])
    end = left[-1] + slope[-1] * (knots[-1] - knots[-2])
    return PiecewiseLinear(knots[keep], np.append(left, end)[keep])


def sawtooth(depth: int) -> list[Affine]:
    """Return the ReLU network, two neurons wide, that folds [0, 1] in half `depth` times (Telgarsky 2015).

    A layer computes the hat 2 ReLU(x) - 4 ReLU(x - 1/2), which runs from 0 up to 1 and back to 0; each one
    doubles the number of teeth. All weights are small powers of two: floating point makes no error.

    Parameters
    ----------
    depth : int
        Number of hidden layers, at least 1.

    Returns
    -------
    list of Affine
        depth + 1 maps; the function has 2^depth pieces.
    """
    if depth < 1:
        raise ValueError(f"depth must be at least 1, got {depth}")
    bias = np.array([0.0, -0.5])
    read = np.array([[2.0], [-4.0]])  # (2, 1), the hat from its two neurons
    copy = np.ones((1, 2))  # the hat to both neurons of the next layer
    inner = [Affine(read @ copy, bias) for _ in range(depth - 1)]
    return [Affine(copy, bias), *inner, Affine(read, np.zeros(1))]


def zigzag(neurons: int) -> list[Affine]:
    """Return one hidden layer of ReLU neurons that runs up and down on [0, 1] as often as it can.

    Each neuron bends the line once. The first bends it at 0, the end of the interval, to give it a slope; so
    there are as many pieces as neurons, one short of the most that a single hidden layer can have.

    Parameters
    ----------
    neurons : int
        At least 1.

    Returns
    -------
    list of Affine
        Two maps.
    """
    if neurons < 1:
        raise ValueError(f"neurons must be at least 1, got {neurons}")
    bends = np.arange(neurons) / neurons  # (neurons,)
    signs = (-1.0) ** np.arange(neurons)
    heights = neurons * signs * np.where(np.arange(neurons) == 0, 1, 2)
    return [Affine(np.ones((1, neurons)), -bends), Affine(heights[:, None], np.zeros(1))]


def perturb(layers: Sequence[Affine], rng: np.random.Generator, scale: float) -> list[Affine]:
    """Add independent N(0, scale²) errors to all weights and biases."""
    return [
        Affine(W + scale * rng.normal(size=W.shape), b + scale * rng.normal(size=b.shape)) for W, b in layers
    ]
