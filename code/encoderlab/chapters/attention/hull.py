"""Convex hulls in the plane: where a weighted mean can lie, and where it cannot."""

from __future__ import annotations

import numpy as np

from encoderlab.model.arrays import FloatArray, require_float_array


def convex_hull(points: FloatArray) -> FloatArray:
    """Return the corners of the smallest convex polygon around points of the plane, anticlockwise.

    Andrew's monotone chain: sort from left to right, then keep the lower and the upper chain of left turns.

    Parameters
    ----------
    points : ndarray, shape (n, 2)
        At least one.

    Returns
    -------
    ndarray, shape (k, 2)
        One corner if all points coincide, two if they lie on a line.

    Raises
    ------
    ValueError
        If `points` is not a finite (n, 2) array with n ≥ 1.

    Examples
    --------
    >>> convex_hull(np.array([[0.0, 0.0], [2.0, 0.0], [0.5, 0.5], [0.0, 2.0]]))
    array([[0., 0.],
           [2., 0.],
           [0., 2.]])
    """
    require_float_array("points", points, min_ndim=2, width=2)
    if points.ndim != 2 or not len(points):
        raise ValueError(f"points must have shape (n, 2) with n ≥ 1, got {points.shape}")
    ordered = np.unique(points, axis=0)  # sorted by x, then by y
    if len(ordered) < 3:
        return ordered
    lower, upper = _left_turns(ordered), _left_turns(ordered[::-1])
    return np.array(lower[:-1] + upper[:-1])


def _left_turns(ordered: FloatArray) -> list[FloatArray]:
    chain: list[FloatArray] = []
    for point in ordered:
        while len(chain) > 1 and _cross(chain[-1] - chain[-2], point - chain[-2]) <= 0:
            chain.pop()
        chain.append(point)
    return chain


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    product: FloatArray = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    return product


def distance_outside(points: FloatArray, vertices: FloatArray) -> FloatArray:
    """Return how far points of the plane lie outside the convex hull of others; 0 within.

    A point is outside when it lies to the right of an edge; the nearest point of the hull is then on its rim.

    Parameters
    ----------
    points : ndarray, shape (m, 2)
    vertices : ndarray, shape (n, 2)

    Returns
    -------
    ndarray, shape (m,)

    Examples
    --------
    >>> triangle = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    >>> distance_outside(np.array([[0.5, 0.5], [1.0, -3.0]]), triangle)
    array([0., 3.])
    """
    start = convex_hull(vertices)  # (k, 2)
    edge = np.roll(start, -1, axis=0) - start  # (k, 2)
    to_point = points[:, None] - start  # (m, k, 2)
    length = (edge * edge).sum(axis=-1)  # (k,)
    along = (to_point * edge).sum(axis=-1) / np.where(length > 0, length, 1)  # (m, k)
    nearest = np.clip(along, 0, 1)[..., None] * edge  # (m, k, 2)
    to_rim = np.linalg.norm(to_point - nearest, axis=-1).min(axis=-1)  # (m,)
    inside = (_cross(edge, to_point) >= 0).all(axis=-1) & (len(start) > 2)
    return np.where(inside, 0, to_rim)


def minkowski_sum(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return every sum of a row of one array and a row of the other; their hull is the sum of the hulls.

    Parameters
    ----------
    first : ndarray, shape (m, d)
    second : ndarray, shape (n, d)

    Returns
    -------
    ndarray, shape (m · n, d)
    """
    return (first[:, None] + second).reshape(-1, first.shape[-1])
