"""A single attention layer through any target: why a match on one input proves nothing."""

from __future__ import annotations

import numpy as np

from encoderlab.attention import AttentionWeights, softmax
from encoderlab.impersonation import INDEPENDENCE, span_basis
from encoderlab.validation import FloatArray


def layer_through(x: FloatArray, target: FloatArray, sharpness: float = 2.0) -> AttentionWeights:
    """Build a one-head layer that maps `x` to any target at all, if the tokens of `x` are independent.

    With X X⁺ = I, W_Q ∝ X⁺ and W_K = X⁺ give the logits c I. Their pattern A has an inverse, and
    W_V = X⁺A⁻¹·target does the rest. So that a layer fits one input says nothing about the target.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)
    target : ndarray, shape (n, d_out)
    sharpness : float
        The logit c of a token for itself; not zero.

    Returns
    -------
    AttentionWeights
        With d_qk = n, and W_O the identity.

    Raises
    ------
    ValueError
        If the tokens are not independent.

    Examples
    --------
    >>> from encoderlab.attention import multi_head_attention
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
    inverse = np.linalg.pinv(x)  # (d_model, n)
    pattern = softmax(sharpness * np.eye(n))
    W_V = inverse @ np.linalg.solve(pattern, target)  # (d_model, d_out)
    return AttentionWeights(sharpness * n**0.5 * inverse, inverse, W_V, np.eye(target.shape[1]))
