"""Checks for the exercises of chapter 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from encoderlab.chapters.stacking.impersonation import two_layers
from encoderlab.chapters.stacking.lookup import read, with_empty_slots
from encoderlab.chapters.stacking.orthogonal_tokens import next_spread
from encoderlab.chapters.stacking.virtual_heads import operator_rank, paths
from encoderlab.exercise import RIGHT
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights, multi_head_attention
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.training.tasks.retrieval import two_hop


def check_rank(rank: object) -> str:
    """Say whether it is the rank of two layers of three heads with the skip, on four tokens of width 12.

    Examples
    --------
    >>> check_rank(16)
    'Not yet: there are 16 paths, but not all 16 patterns are independent.'
    """
    rng = np.random.default_rng(0)
    encoder = Encoder.random(EncoderConfig(12, 3, 4, 2, ffn=False, norm="none"), rng)
    summands = paths(encoder, encoder.trace(rng.normal(size=(4, 12))))
    if rank == len(summands):
        return f"Not yet: there are {rank} paths, but not all {rank} patterns are independent."
    return RIGHT if rank == operator_rank(summands) else f"Not yet: {rank!r} is not the rank measured."


def check_bias(folded: Callable[[AttentionWeights, AttentionWeights], FloatArray | None]) -> str:
    """Say whether a bias is what two layers add to A₂A₁XW₁W₂, whatever the input."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        first, second = (
            AttentionWeights(*rng.normal(size=(4, 6, 6)), *rng.normal(size=(4, 6))) for _ in range(2)
        )
        bias = folded(first, second)
        if not isinstance(bias, np.ndarray) or bias.shape != (6,):
            return f"Not yet: expected an array of shape (6,), got {type(bias).__name__}."
        expected = two_layers(np.zeros((3, 6)), first, second)[0]
        if not np.allclose(bias, expected):
            return f"Not yet: off by up to {np.abs(bias - expected).max():.2g}."
    return RIGHT


def check_three_hops(layers: Sequence[Sequence[AttentionWeights]], n_symbols: int = 32) -> str:
    """Send tables through two layers, and say how often the answer is the end of three hops.

    Parameters
    ----------
    layers : two sequences of AttentionWeights
        The heads of the first and of the second. A layer adds the outputs of its heads to its input.
    n_symbols : int
    """
    form = "[[heads of layer 1], [heads of layer 2]], each head as look_up returns it"
    if not isinstance(layers, (list, tuple)) or len(layers) != 2:
        return f"Not yet: expected {form}."
    for heads in layers:
        if not isinstance(heads, (list, tuple)) or not all(isinstance(h, AttentionWeights) for h in heads):
            return f"Not yet: expected {form}."
    batch = two_hop(8, n_symbols).draw(np.random.default_rng(0), 500)
    slots = batch.features.reshape(500, 9, 3, n_symbols)[:, :8, :2].argmax(axis=-1)
    keys, values = slots[..., 0], slots[..., 1]  # each (500, 8)
    third = values[keys == batch.target[:, None]]  # (500,)
    x = with_empty_slots(batch.features)
    for heads in layers:
        x = sum((multi_head_attention(x, head, 1)[0] for head in heads), start=x)
    right = float(np.mean(read(x) == third))
    return RIGHT if right == 1 else f"Not yet: {right:.0%} of the answers are right."


def check_gain(gain: float) -> str:
    """Say whether eight orthogonal tokens of width 16 and spread 3 stay as they are.

    Examples
    --------
    >>> check_gain(1.5)
    'Not yet: after one layer the spread is 2.32.'
    """
    after = next_spread(3.0, n=8, d_model=16, gain=float(gain))
    return RIGHT if abs(after - 3) < 0.005 else f"Not yet: after one layer the spread is {after:.2f}."
