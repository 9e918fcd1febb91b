"""A feed-forward layer made of attention heads: one head of width 1 for each neuron.

After Huben and Morris 2023, Attention-Only Transformers and Implementing MLPs with Attention Heads.
"""

from __future__ import annotations

import numpy as np

from encoderlab.model.activations import sigmoid
from encoderlab.model.arrays import BoolArray, FloatArray
from encoderlab.model.attention import AttentionWeights
from encoderlab.model.feed_forward import FeedForwardWeights


def silu(x: FloatArray, sharpness: float = 1.0) -> FloatArray:
    """Apply x σ(βx): the Swish or SiLU at β = 1, and within 0.28/β of ReLU everywhere."""
    return x * sigmoid(sharpness * x)


def heads_as_neurons(ffn: FeedForwardWeights, sharpness: float = 1.0) -> AttentionWeights:
    """Return attention that computes silu(x W₁ + b₁) W₂ + b₂ for every token that sees itself and a constant.

    Head j has width 1. With z = x w_j + b_j the token's query is βz, its own key 0 and the constant token's
    key −1, so its logits are 0 and −βz and its weight on itself is σ(βz). Its value is z, the constant
    token's 0: the head returns z σ(βz), and W_O is W₂. Four matrices stand where the FFN has two.

    Parameters
    ----------
    ffn : FeedForwardWeights
    sharpness : float
        The β above.

    Returns
    -------
    AttentionWeights
        d_ff heads; one row more than `ffn`, for the coordinate that marks the constant token. It adds a zero
        column to the output.
    """
    d, d_ff = ffn.W_1.shape
    b_1 = np.zeros(d_ff) if ffn.b_1 is None else ffn.b_1
    b_2 = np.zeros(d) if ffn.b_2 is None else ffn.b_2
    return AttentionWeights(
        W_Q=sharpness * np.vstack([ffn.W_1, np.zeros(d_ff)]),  # (d + 1, d_ff)
        W_K=np.vstack([np.zeros((d, d_ff)), -np.ones(d_ff)]),  # (d + 1, d_ff)
        W_V=np.vstack([ffn.W_1, -b_1]),  # (d + 1, d_ff): the constant token's value is −b₁ + b₁ = 0
        W_O=np.hstack([ffn.W_2, np.zeros((d_ff, 1))]),  # (d_ff, d + 1)
        b_Q=sharpness * b_1,
        b_V=b_1,
        b_O=np.append(b_2, 0),
    )


def self_and_first(n: int) -> BoolArray:
    """Return the (n, n) mask that lets each token see itself and the first.

    Examples
    --------
    >>> self_and_first(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 0, 1]])
    """
    mask = np.eye(n, dtype=np.bool_)
    mask[:, 0] = True
    return mask
