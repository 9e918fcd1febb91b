"""Two-hop retrieval built by hand: two layers of one head, or one layer of many.

The tokens are those of `tasks.two_hop`: entries (key, value) of a table, and last a query q; the answer is
the value of the value of q. Every token has five slots of one feature for each symbol: key, value, query, and
two that start empty, into which heads write.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from encoderlab.model.arrays import BoolArray, FloatArray
from encoderlab.model.attention import AttentionWeights, multi_head_attention
from encoderlab.training.loss import IntArray
from encoderlab.training.tasks.task import Batch

KEY, VALUE, QUERY, HOP, ANSWER = range(5)
SHARPNESS = 40.0
"""By how much the logit of the entry sought exceeds the others."""


def with_empty_slots(features: FloatArray) -> FloatArray:
    """Append the two empty slots to tokens of the task.

    Parameters
    ----------
    features : ndarray, shape (..., n, 3 · n_symbols)

    Returns
    -------
    ndarray of float64, shape (..., n, 5 · n_symbols)
    """
    *batch, n, width = features.shape
    return np.concatenate([features, np.zeros((*batch, n, width // 3 * 2))], axis=-1)


def look_up(n_symbols: int, reads: int, writes: int, copies: int = VALUE) -> AttentionWeights:
    """Return one head that finds the entry whose key it reads in one slot, and writes its value into another.

    Parameters
    ----------
    n_symbols : int
    reads, writes, copies : int
        The slot in which a token names the key, the slot that it writes to, and the entry's slot to copy.

    Returns
    -------
    AttentionWeights
        With d_model = 5 · n_symbols and d_head = n_symbols.
    """
    return AttentionWeights(
        SHARPNESS * n_symbols**0.5 * _slot(reads, n_symbols),
        _slot(KEY, n_symbols),
        _slot(copies, n_symbols),
        _slot(writes, n_symbols).T,
    )


def read(x: FloatArray) -> IntArray:
    """Return the symbol that the last token holds most of in its answer slot.

    Parameters
    ----------
    x : ndarray, shape (..., n, 5 · n_symbols)

    Returns
    -------
    ndarray of int, shape (...)
    """
    answers: IntArray = np.split(x[..., -1, :], 5, axis=-1)[ANSWER].argmax(axis=-1)
    return answers


def share_right(batch: Batch, layers: Sequence[AttentionWeights], n_heads: int = 1) -> float:
    """Send examples of the task through layers with a skip, and return the share of right answers.

    Parameters
    ----------
    batch : Batch
        Of `tasks.two_hop`.
    layers : sequence of AttentionWeights
    n_heads : int
        Of every layer.

    Returns
    -------
    float
    """
    x = with_empty_slots(batch.features)
    for layer in layers:
        x = x + multi_head_attention(x, layer, n_heads)[0]
    return float(np.mean(read(x) == batch.target))


def two_hops_in_one_layer(n_symbols: int, watched: BoolArray | None = None) -> AttentionWeights:
    """Return one layer that makes two hops, with heads that each bet on where the first hop ends (claim 10).

    A head watches some symbols, and its bet is that the value of q is among them. If so, its logits are
    highest at the entries whose key it watches and whose value it does not, that of the value of q among
    them unless the second hop ends on a watched symbol too. If not, the entry of q attracts it more, and it
    writes the value of q like all other heads that lost. A last head subtracts the value of q as often as
    there are heads. With a head for every single symbol the answer alone is left; with heads that watch
    random sets, it is what most of those whose bet was right agree on, and how many heads that takes does not
    grow with the number of symbols.

    Parameters
    ----------
    n_symbols : int
    watched : ndarray of bool, shape (heads, n_symbols), optional
        Which symbols each head watches; by default as many heads as symbols, each with one of its own.

    Returns
    -------
    AttentionWeights
        Of heads + 1 heads of width n_symbols + 1, with d_model = 5 · n_symbols.

    Raises
    ------
    ValueError
        If `watched` has another shape.
    """
    watched = np.eye(n_symbols, dtype=bool) if watched is None else watched
    if watched.ndim != 2 or watched.shape[1] != n_symbols:
        raise ValueError(f"watched must have shape (heads, {n_symbols}), got {watched.shape}")
    key, value, query, answer = (_slot(slot, n_symbols) for slot in (KEY, VALUE, QUERY, ANSWER))
    constant = query.sum(axis=1, keepdims=True)  # (d_model, 1): 1 at the query, 0 at the entries
    none = np.zeros_like(constant)
    scale = SHARPNESS * (n_symbols + 1) ** 0.5
    match = np.concatenate([4 * scale * query, scale * constant], axis=1)  # (d_model, d_head)
    bets = (key - 4 * value) @ watched.T  # (d_model, heads): the entry of q loses all that it is ahead
    W_K = [np.concatenate([key, bet[:, None]], axis=1) for bet in (*bets.T, none[:, 0])]
    W_V = np.concatenate([value, none], axis=1)
    W_O = np.concatenate([answer, none], axis=1).T  # (d_head, d_model)
    heads = len(watched)
    return AttentionWeights(
        np.tile(match, heads + 1),
        np.concatenate(W_K, axis=1),
        np.tile(W_V, heads + 1),
        np.concatenate([W_O] * heads + [-heads * W_O]),
    )


def _slot(slot: int, n_symbols: int) -> FloatArray:
    """Return the columns of the identity that belong to a slot, (5 · n_symbols, n_symbols)."""
    identity: FloatArray = np.eye(5 * n_symbols)
    return identity[:, slot * n_symbols : (slot + 1) * n_symbols]
