"""The tail of the normal distribution, vectorised and accurate to the last digits: GELU is made of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from encoderlab.model.arrays import FloatArray

# Chebyshev coefficients of (4 + a) · exp(a²/2) · Q(a) in the variable t = (a - 4)/(a + 4), which takes
# 0 ≤ a < ∞ to -1 ≤ t < 1 (such mappings: J. L. Schonfelder, Math. Comp. 32, 1978, 1232-1240).
# `tests/test_gaussian.py` computes them again with mpmath.
COEFFICIENTS = (
    0.9704512045660766, -0.7517088168395706, 0.22219355567525104, -0.048517753260446085, 0.006925920496242481,
    -0.00032059847439814995, -0.00010054739163210679, 1.8903369019706965e-05, 1.010356885474631e-06,
    -6.145334749397824e-07, -3.3810201200691756e-09, 2.0686508061742833e-08, -1.1282603632469507e-10,
    -7.774015228388695e-10, -9.941424191404708e-12, 3.174482949858303e-11, 1.842480684470494e-12,
    -1.3128616466710965e-12, -1.7415362652654813e-13, 4.9072740317044244e-14, 1.2931384326165576e-14,
    -1.2180663521726341e-15, -8.052147372620933e-16, -2.8604941442616213e-17, 4.057064424335354e-17,
)  # fmt: skip

# How many of them each precision can feel: the rest sums to less than half a unit in the last place.
TERMS = {np.dtype(np.float32): 11, np.dtype(np.float64): len(COEFFICIENTS)}

UNDERFLOW = 40.0
"""Q(40) is smaller than the smallest float64."""


@lru_cache
def _powers_of_t(dtype: np.dtype[Any]) -> FloatArray:
    """Return the series in powers of t, lowest first: Horner's rule is the shortest way through it."""
    powers: FloatArray = chebyshev.cheb2poly(COEFFICIENTS[: TERMS[dtype]]).astype(dtype)
    return powers


def upper_tail(a: FloatArray) -> FloatArray:
    """Return Q(a), the probability that a standard normal variable exceeds `a`, for a ≥ 0.

    The error is a few units in the last place *of Q*, down to where Q underflows. Computed as 1 - Φ(a), it
    would have no correct digit left beyond a = 8.3.

    Parameters
    ----------
    a : ndarray
        float32 or float64, none below zero (not checked: this is the inner loop of GELU).

    Returns
    -------
    ndarray
        Same shape and dtype.

    Examples
    --------
    >>> float(upper_tail(np.array(0.0))), f"{upper_tail(np.array(10.0)):.15g}"
    (0.5, '7.61985302416053e-24')
    """
    a = np.minimum(a, UNDERFLOW)
    inverse = 1 / (a + 4)
    t = (a - 4) * inverse
    powers = _powers_of_t(a.dtype)
    series = np.full_like(t, powers[-1])
    for coefficient in powers[-2::-1]:
        series *= t
        series += coefficient
    # exp(-a²/2) magnifies the rounding of a². Near a lies h, whose square is exact: a² = h² + (a - h)(a + h).
    h = np.rint(a * 16) / 16
    q: FloatArray = np.exp(h * h / -2) * np.exp((a - h) * (a + h) / -2) * series * inverse
    return q
