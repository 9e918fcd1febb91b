"""Stacks of affine maps with nothing between them, and the one map that each such stack equals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.linear import linear


class Affine(NamedTuple):
    """The map x ↦ x W + b of row vectors."""

    W: FloatArray  # (d_in, d_out)
    b: FloatArray  # (d_out,)


def stack(x: FloatArray, layers: Sequence[Affine]) -> FloatArray:
    """Apply one affine map after the other.

    Parameters
    ----------
    x : ndarray, shape (..., d_0)
    layers : sequence of Affine
        The l-th maps d_{l-1} features to d_l.

    Returns
    -------
    ndarray, shape (..., d_L)
    """
    for W, b in layers:
        x = linear(x, W, b)  # (..., d_l)
    return x


def collapse(layers: Sequence[Affine]) -> Affine:
    """Multiply a stack of affine maps out into the single one that it equals (claim 4).

    (x W₁ + b₁) W₂ + b₂ = x (W₁W₂) + (b₁W₂ + b₂), and so on through the stack.

    Parameters
    ----------
    layers : sequence of Affine
        At least one.

    Returns
    -------
    Affine
        From d_0 features to d_L.

    Raises
    ------
    ValueError
        If there is no layer, or two neighbours do not fit.

    Examples
    --------
    >>> double, shift = Affine(2 * np.eye(1), np.zeros(1)), Affine(np.eye(1), np.ones(1))
    >>> collapse([shift, double, double])
    Affine(W=array([[4.]]), b=array([4.]))
    """
    if not layers:
        raise ValueError("layers must hold at least one affine map, got none")
    W, b = layers[0]
    for depth, (W_next, b_next) in enumerate(layers[1:], start=1):
        if W.shape[1] != W_next.shape[0]:
            raise ValueError(
                f"layers[{depth}].W must have {W.shape[1]} rows, as many as come in, got {W_next.shape}"
            )
        W, b = W @ W_next, b @ W_next + b_next  # (d_0, d_l), (d_l,)
    return Affine(W, b)


def random_stack(
    rng: np.random.Generator,
    widths: Sequence[int],
    *,
    gain: float = 1.0,
    bias: float = 0.0,
    orthogonal: bool = False,
) -> list[Affine]:
    """Draw affine maps from widths[0] to widths[1] to … features.

    Parameters
    ----------
    rng : numpy.random.Generator
    widths : sequence of int
        The numbers of features, input first: one more than there are layers.
    gain : float
        Weights are drawn from N(0, gain²/fan_in). At 1 a linear map keeps the mean square of a random signal;
        before a ReLU √2 does (He et al. 2015).
    bias : float
        Biases are drawn from N(0, bias²).
    orthogonal : bool
        Draw W as gain times a random orthogonal matrix instead; then all widths must be equal.

    Returns
    -------
    list of Affine
    """
    if orthogonal and len(set(widths)) > 1:
        raise ValueError(f"widths must all be equal for orthogonal maps, got {tuple(widths)}")
    layers = []
    for fan_in, fan_out in pairwise(widths):
        W = rng.normal(size=(fan_in, fan_out))
        W = np.linalg.qr(W).Q if orthogonal else W / np.sqrt(fan_in)
        layers.append(Affine(gain * W, bias * rng.normal(size=fan_out)))
    return layers
