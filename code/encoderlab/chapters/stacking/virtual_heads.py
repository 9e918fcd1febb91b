"""Stacked attention multiplied out: a sum over paths, each through one head or skip of every layer.

Elhage et al. 2021 call a path through heads of several layers a virtual head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights
from encoderlab.model.encoder import Encoder, Trace


class Path(NamedTuple):
    """One summand X ↦ pattern · X · map of an attention-only encoder."""

    heads: tuple[int | None, ...]  # the head taken in each layer, first layer first; None is the skip
    pattern: FloatArray  # (n, n), A_L … A_1 of those heads
    map: FloatArray  # (d_model, d_model), W_1 … W_L of those heads


def head_maps(weights: AttentionWeights, n_heads: int) -> FloatArray:
    """Return W_V W_O of every head: what it writes for a token that it reads.

    Parameters
    ----------
    weights : AttentionWeights
    n_heads : int

    Returns
    -------
    ndarray, shape (n_heads, d_model, d_model)
    """
    d_model, width = weights.W_V.shape
    W_V = weights.W_V.reshape(d_model, n_heads, -1).swapaxes(0, 1)  # (h, d_model, d_head)
    W_O = weights.W_O.reshape(n_heads, width // n_heads, -1)  # (h, d_head, d_model)
    return W_V @ W_O


def paths(encoder: Encoder, trace: Trace) -> list[Path]:
    """Multiply an attention-only encoder out (claims 20, 62).

    A layer is H ↦ Σ_h A_h H W_h, plus H itself with the residual. Insert one layer into the next and expand:
    every choice of one head or skip per layer is a summand, in which the patterns multiply on the left, the
    last layer outermost, and the maps on the right. The second layer's patterns come from the first layer's
    output, so they are read from the trace.

    Parameters
    ----------
    encoder : Encoder
        Without FFN and norms, and with b_V = b_O = 0.
    trace : Trace
        Of this encoder, for one sequence.

    Returns
    -------
    list of Path
        h^depth of them, or (1 + h)^depth with the residual. The sum of pattern @ x @ map is the output.

    Raises
    ------
    ValueError
        If the encoder is more than attention, or the trace is of a batch.
    """
    config = encoder.config
    if config.ffn or config.norm != "none" or config.final_norm:
        raise ValueError(f"encoder must have ffn=False, norm='none' and no final norm, got {config}")
    if trace.output.ndim != 2:
        raise ValueError(f"trace must be of one sequence (n, d_model), got {trace.output.shape}")
    n, d_model = trace.output.shape
    found = [Path((), np.eye(n), np.eye(d_model))]
    for depth, (layer, patterns) in enumerate(zip(encoder.weights.layers, trace.attention, strict=False)):
        for name in ("b_V", "b_O"):
            bias = getattr(layer.attention, name)
            if bias is not None and bias.any():
                raise ValueError(f"layers.{depth}.attention.{name} must be zero or None, got {bias}")
        maps = head_maps(layer.attention, config.n_heads)  # (h, d_model, d_model)
        through = [
            Path((*path.heads, head), patterns[head] @ path.pattern, path.map @ maps[head])
            for path in found
            for head in range(config.n_heads)
        ]
        around = [Path((*path.heads, None), path.pattern, path.map) for path in found]
        found = through + around if config.residual else through
    return found


def operator_singular_values(summands: Sequence[Path]) -> FloatArray:
    """Return the singular values of X ↦ Σ pattern · X · map, seen as a tensor of patterns and maps.

    Their number above zero is the operator rank: the least number of matrices that, as patterns with a map
    each, add up to the same linear map of X. In Σ vec(pattern) vec(map)ᵀ each of them has rank one.

    Parameters
    ----------
    summands : sequence of Path

    Returns
    -------
    ndarray, shape (min(n², d_model²),)
        Largest first.
    """
    left = np.stack([path.pattern.ravel() for path in summands], axis=1)  # (n², paths)
    right = np.stack([path.map.ravel() for path in summands])  # (paths, d_model²)
    values: FloatArray = np.linalg.svd(left @ right, compute_uv=False)
    return values


def operator_rank(summands: Sequence[Path], tolerance: float = 1e-12) -> int:
    """Count the terms that X ↦ Σ pattern · X · map takes when the patterns are frozen (claim 23).

    No fewer heads can do it, whatever their patterns; that as many can, with patterns that come out of a
    softmax and so are positive, is not said. The rank is at most n² − n + 1, because that many dimensions
    hold all matrices whose rows sum to one number, and at most d_model².

    Parameters
    ----------
    summands : sequence of Path
    tolerance : float
        A singular value below `tolerance` times the largest counts as zero.

    Returns
    -------
    int

    Examples
    --------
    >>> one = Path((0,), np.full((2, 2), 0.5), np.eye(2))
    >>> other = Path((1,), np.array([[1.0, 0.0], [0.5, 0.5]]), np.diag([1.0, -1.0]))
    >>> operator_rank([one, one]), operator_rank([one, other])
    (1, 2)
    """
    values = operator_singular_values(summands)
    return int(np.count_nonzero(values > tolerance * values[0]))
