"""Sinusoidal positional encoding: how order enters a sum of tokens. Vaswani et al. 2017, section 3.5."""

from __future__ import annotations

import numpy as np

from encoderlab.model.arrays import FloatArray


def sinusoidal_positions(n: int, d_model: int, base: float = 10_000.0) -> FloatArray:
    """Return one row for each position: sines in the even columns, cosines in the odd ones.

    Column pair i turns at the frequency base^(−2i/d_model), so that moving by k positions turns every pair
    by a fixed angle, whatever the position. An odd width keeps the last sine without its cosine.

    Parameters
    ----------
    n : int
        Number of positions, counted from 0.
    d_model : int
    base : float

    Returns
    -------
    ndarray of float64, shape (n, d_model)

    Raises
    ------
    ValueError
        If n is negative or d_model is not positive.

    Examples
    --------
    >>> sinusoidal_positions(2, 4).round(2)
    array([[0.  , 1.  , 0.  , 1.  ],
           [0.84, 0.54, 0.01, 1.  ]])
    """
    if n < 0:
        raise ValueError(f"n must not be negative, got {n}")
    if d_model < 1:
        raise ValueError(f"d_model must be at least 1, got {d_model}")
    pair = np.arange(d_model) // 2  # (d_model,)
    angle = np.arange(n)[:, None] * base ** (-2 * pair / d_model)  # (n, d_model)
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angle), np.cos(angle))
