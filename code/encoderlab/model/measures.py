"""How far apart two arrays are, relative to the second: most evidence is such a number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from encoderlab.model.arrays import FloatArray


def size(x: FloatArray) -> float:
    """Return ‖x‖, over all entries."""
    return float(np.linalg.norm(x))


def gap(x: FloatArray, reference: FloatArray) -> float:
    """Return ‖x − reference‖ relative to ‖reference‖, or ‖x‖ where the reference is zero.

    Examples
    --------
    >>> gap(np.array([3.0, 4.5]), np.array([3.0, 4.0]))
    0.1
    """
    return size(x - reference) / (size(reference) or 1)


def largest(x: FloatArray) -> float:
    """Return the largest absolute entry."""
    return float(np.abs(x).max())


def degree(f: Callable[[FloatArray], FloatArray], x: FloatArray) -> float:
    """Return the power of 2 by which f grows when its input doubles: 1 for a linear map.

    Examples
    --------
    >>> degree(lambda v: v**3, np.ones(2))
    3.0
    """
    return float(np.log2(size(f(2 * x)) / size(f(x))))


def affine_misfit(x: FloatArray, y: FloatArray) -> float:
    """Return the share of y, by size, that no affine function of the rows of x explains.

    Examples
    --------
    >>> affine_misfit(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])) < 1e-12
    True
    """
    with_one = np.column_stack([x, np.ones(len(x))])
    return gap(with_one @ np.linalg.lstsq(with_one, y)[0], y)
