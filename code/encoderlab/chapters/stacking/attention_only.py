"""Attention alone, layer upon layer: the stack that the note says is one layer."""

from __future__ import annotations

import numpy as np

from encoderlab.model.encoder import Encoder, EncoderConfig


def attention_only(
    rng: np.random.Generator, depth: int = 2, n_heads: int = 1, *, residual: bool = False
) -> Encoder:
    """Draw a stack of attention layers of width 16: no FFN, no norm, no biases but zero.

    Parameters
    ----------
    rng : np.random.Generator
    depth, n_heads : int
    residual : bool

    Returns
    -------
    Encoder
    """
    return Encoder.random(
        EncoderConfig(16, n_heads, 4, depth, ffn=False, residual=residual, norm="none"), rng
    )
