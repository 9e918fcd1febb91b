"""A single attention layer through any target: why a match on one input proves nothing."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.stacking.impersonation import INDEPENDENCE, span_basis
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights, softmax

CONDITION = 1e8
"""The largest condition number of a pattern that is inverted: half of the digits of float64 are left then."""


def layer_through(x: FloatArray, target: FloatArray) -> AttentionWeights:
    """Build a one-head layer that maps `x` to any target at all, if the tokens of `x` are independent.

    Queries and keys of width 1 are enough. With X X⁺ = I, W_Q = W_K = X⁺q gives token i the number q_i. The
    matrix exp(q_i q_j) has an inverse whenever the q_i differ (it is totally positive if they are in order),
    so the pattern A has one too, and W_V = X⁺A⁻¹·target does the rest. So that a layer fits one input says
    nothing about the target.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)
        In float64 up to about twelve tokens: the error grows from 10⁻¹³ at six of them to 10⁻⁹.
    target : ndarray, shape (n, d_out)

    Returns
    -------
    AttentionWeights
        With d_qk = 1, and W_O the identity.

    Raises
    ------
    ValueError
        If the tokens are not independent, or too many for the inverse in float64.

    Examples
    --------
    >>> from encoderlab.model.attention import multi_head_attention
    >>> x, target = np.random.default_rng(0).normal(size=(2, 4, 6))
    >>> output, _ = multi_head_attention(x, layer_through(x, target), 1)
    >>> bool(np.abs(output - target).max() < 1e-12)
    True
    """
    n, rank = len(x), span_basis(x).shape[1]
    if rank < n:
        raise ValueError(
            f"x must have independent tokens, got {n} tokens of rank {rank} (tolerance {INDEPENDENCE:g})"
        )
    q = (np.arange(n) - (n - 1) / 2)[:, None]  # (n, 1): any numbers that differ
    pattern = softmax(q @ q.T)  # (n, n)
    condition = float(np.linalg.cond(pattern))
    if condition > CONDITION:
        raise ValueError(
            f"x must have few tokens, got {n}, whose pattern has condition number {condition:.0e}, above "
            f"{CONDITION:g}"
        )
    inverse = np.linalg.pinv(x)  # (d_model, n)
    W_V = inverse @ np.linalg.solve(pattern, target)  # (d_model, d_out)
    return AttentionWeights(inverse @ q, inverse @ q, W_V, np.eye(target.shape[1]))
