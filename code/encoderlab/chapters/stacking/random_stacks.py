"""Stacks with random weights, whose parts can be switched off, and how alike they make their tokens."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from encoderlab.chapters.stacking.rank_collapse import follow
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import causal_mask
from encoderlab.model.encoder import Encoder, EncoderConfig

N, D = 12, 32


@lru_cache
def random_stack(seed: int, depth: int, scale: float) -> tuple[Encoder, FloatArray]:
    """Draw an encoder of four heads with everything switched on, and tokens.

    Parameters
    ----------
    seed, depth : int
    scale : float
        What every logit is multiplied by.

    Returns
    -------
    encoder : Encoder
    x : ndarray, shape (12, 32)
    """
    rng = np.random.default_rng(seed)
    encoder = Encoder.random(EncoderConfig(d_model=D, n_heads=4, d_ff=4 * D, depth=depth), rng)
    queries = {name: scale * W for name, W in encoder.parameters().items() if name.endswith("W_Q")}
    return encoder.with_parameters(queries), rng.normal(size=(N, D))


def biases(slope: float = 0.5) -> dict[str, FloatArray]:
    """Return what is added to the logits of every head, by name: a causal mask, or a penalty on distance."""
    distance = np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
    return {
        "causal mask": np.where(causal_mask(N), 0, -np.inf),
        "relative positions": -slope * distance,  # as ALiBi has it, in both directions
    }


def distances(
    depth: int, *, draws: int = 8, scale: float = 1, bias: FloatArray | None = None, **switches: Any
) -> FloatArray:
    """Measure the distance to rank one after each layer of random stacks.

    Parameters
    ----------
    depth, draws : int
    scale : float
        What every logit is multiplied by.
    bias : ndarray, shape (12, 12), optional
        Added to the logits.
    **switches
        Of `EncoderConfig`; without FFN, residual and norm unless they are given.

    Returns
    -------
    ndarray, shape (draws, depth + 1)
        Computed with mean and residual apart, so right far below rounding error.

    Examples
    --------
    >>> bare, with_skip = distances(4), distances(4, residual=True)
    >>> bool(bare[:, 4].max() < 1e-9), bool(with_skip[:, 4].min() > 0.4)
    (True, True)
    """
    switches = {"ffn": False, "residual": False, "norm": "none"} | switches
    found = []
    for seed in range(draws):
        full, x = random_stack(seed, depth, scale)
        found.append([state.distance for state in follow(full.switch(**switches), x, bias)])
    return np.array(found)
