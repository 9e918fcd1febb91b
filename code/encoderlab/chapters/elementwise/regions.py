"""Linear regions and decision boundary of a ReLU network on the plane, cut out exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from encoderlab.chapters.elementwise.affine import Affine
from encoderlab.model.arrays import FloatArray


class Region(NamedTuple):
    """A convex polygon on which no neuron changes sign, and the affine map that the network is there."""

    polygon: FloatArray  # (corners, 2), in order round the boundary
    W: FloatArray  # (2, d_l)
    b: FloatArray  # (d_l,)


def linear_regions(layers: Sequence[Affine], half_width: float = 1.0) -> tuple[list[Region], FloatArray]:
    """Cut the square |x| ≤ half_width, |y| ≤ half_width into the linear regions of a ReLU network.

    Inside a region every neuron of the next layer is an affine function of the point, so it is zero along a
    straight line, and that line cuts the region in two. A neuron of a later layer has another line in every
    region: it bends where it crosses the lines of earlier layers.

    Parameters
    ----------
    layers : sequence of Affine
        From 2 features; ReLU stands between them, not after the last.
    half_width : float

    Returns
    -------
    regions : list of Region
        They tile the square. The map of each is that of the whole network.
    folds : ndarray, shape (len(regions) - 1, 2, 2)
        The two ends of every cut, in the order in which they were made.

    Raises
    ------
    ValueError
        If the network does not take 2 features.
    """
    if layers[0].W.shape[0] != 2:
        raise ValueError(f"layers must start from 2 features, got {layers[0].W.shape[0]}")
    square = half_width * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    regions, folds = [Region(square, np.eye(2), np.zeros(2))], []
    for layer in layers[:-1]:
        cut = [_through_relu(region, layer) for region in regions]
        regions = [piece for pieces, _ in cut for piece in pieces]
        folds += [line for _, lines in cut for line in lines]
    W, b = layers[-1]
    return [Region(r.polygon, r.W @ W, r.b @ W + b) for r in regions], np.reshape(folds, (-1, 2, 2))


def zero_segments(regions: Sequence[Region]) -> FloatArray:
    """Find where a network with one output is zero: a straight segment in each region that it crosses.

    Parameters
    ----------
    regions : sequence of Region
        Of a network with one output.

    Returns
    -------
    ndarray, shape (k, 2, 2)
        The two ends of each segment.
    """
    cuts = [_cut(r.polygon, (r.polygon @ r.W + r.b)[:, 0]) for r in regions]
    return np.array([cut.line for cut in cuts if cut is not None]).reshape(-1, 2, 2)


def area(polygon: FloatArray) -> float:
    """Return the area of a polygon, by the shoelace formula."""
    x, y = (polygon - polygon[0]).T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def _through_relu(region: Region, layer: Affine) -> tuple[list[Region], list[list[FloatArray]]]:
    """Cut a region by every neuron of a layer; in each piece, switch off the neurons that are negative."""
    W, b = region.W @ layer.W, region.b @ layer.W + layer.b  # (2, d_l), (d_l,)
    polygons, lines = [region.polygon], []
    for w_j, b_j in zip(W.T, b, strict=True):
        uncut, polygons = polygons, []
        for polygon in uncut:
            cut = _cut(polygon, polygon @ w_j + b_j)
            polygons += [polygon] if cut is None else cut.sides
            lines += [] if cut is None else [cut.line]
    active = [polygon.mean(axis=0) @ W + b > 0 for polygon in polygons]
    pieces = [
        Region(p, np.where(on, W, 0), np.where(on, b, 0)) for p, on in zip(polygons, active, strict=True)
    ]
    return pieces, lines


class _Cut(NamedTuple):
    sides: tuple[FloatArray, FloatArray]  # the two polygons
    line: list[FloatArray]  # the two ends of the edge that they share


def _cut(polygon: FloatArray, value: FloatArray) -> _Cut | None:
    """Cut a convex polygon along the line, if any, on which the function with these corner values is zero."""
    rounding = 1e-12 * np.abs(value).max()
    value = np.where(np.abs(value) <= rounding, 0, value)  # cut through a corner, not just beside it
    if value.min() >= 0 or value.max() <= 0:
        return None
    below, above, line = [], [], []
    for p, q, v_p, v_q in zip(polygon, np.roll(polygon, -1, 0), value, np.roll(value, -1), strict=True):
        if v_p <= 0:
            below.append(p)
        if v_p >= 0:
            above.append(p)
        if v_p == 0:
            line.append(p)
        elif v_p * v_q < 0:
            zero = p + v_p / (v_p - v_q) * (q - p)
            below.append(zero)
            above.append(zero)
            line.append(zero)
    return _Cut((np.array(below), np.array(above)), line)
