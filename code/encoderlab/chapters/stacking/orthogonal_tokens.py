"""Rank collapse in one number: tokens at equal distances, and a recursion on that distance.

Take tokens s·e_i + c with orthonormal e_i, W_Q = W_K = I and W_V = gain·I, one head, no skip. All logits are
equal but those of a token for itself, which are s²/√d higher; so the next tokens have the same form, with s
multiplied by gain times the difference of the two weights.
"""

from __future__ import annotations

from math import exp, expm1, log, sqrt

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights, multi_head_attention


def next_spread(s: float, n: int, d_model: int, gain: float) -> float:
    """Return the spread after one more layer: s · gain · (e^q − 1)/(e^q + n − 1), with q = s²/√d_model.

    For small s it is gain · s³/(n √d_model), the cubic law; for large s it is gain · s.

    Parameters
    ----------
    s : float
        Spread of the tokens: any two are √2 · s apart.
    n : int
        Number of tokens, at most d_model.
    d_model : int
    gain : float

    Returns
    -------
    float

    Examples
    --------
    >>> round(next_spread(1e-3, n=4, d_model=16, gain=1.0) / 1e-9, 6)  # 1/(4 · √16)
    0.0625
    """
    q = s * s / sqrt(d_model)
    return s * gain * -expm1(-q) / (1 + (n - 1) * exp(-q))


def critical_spread(n: int, d_model: int, gain: float) -> float:
    """Return the spread that stays as it is: below it tokens collapse, above it they move apart for ever.

    Parameters
    ----------
    n, d_model : int
    gain : float
        Above 1; at or below 1 every spread shrinks.

    Returns
    -------
    float
        √(√d_model · log((n − 1 + gain)/(gain − 1))).

    Raises
    ------
    ValueError
        If the gain is not above 1.

    Examples
    --------
    >>> s = critical_spread(n=8, d_model=16, gain=1.5)
    >>> round(s, 3), round(next_spread(s, n=8, d_model=16, gain=1.5), 3)
    (3.366, 3.366)
    """
    if gain <= 1:
        raise ValueError(f"gain must be above 1 for a spread that does not shrink, got {gain}")
    return sqrt(sqrt(d_model) * log((n - 1 + gain) / (gain - 1)))


def after_layers(x: FloatArray, gain: float, layers: int) -> FloatArray:
    """Send any tokens, orthogonal or not, through layers of these weights.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    gain : float
    layers : int

    Returns
    -------
    ndarray, shape (..., n, d_model)

    Examples
    --------
    >>> x = after_layers(3 * np.eye(4, 9), gain=1.5, layers=1)
    >>> round((np.linalg.norm(x[0] - x[1]) / 2**0.5).item(), 3), round(next_spread(3.0, 4, 9, 1.5), 3)
    (3.72, 3.72)
    """
    identity = np.eye(x.shape[-1], dtype=x.dtype)
    weights = AttentionWeights(identity, identity, gain * identity, identity)
    for _ in range(layers):
        x = multi_head_attention(x, weights, 1)[0]
    return x
