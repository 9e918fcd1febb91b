"""Two-hop retrieval built by hand: two layers of one head, or one layer of a head for every symbol.

The tokens are those of `tasks.two_hop`: entries (key, value) of a table, and last a query q; the answer is
the value of the value of q. Every token has five slots of one feature for each symbol: key, value, query, and
two that start empty, into which heads write.
"""

from __future__ import annotations

import numpy as np

from encoderlab.attention import AttentionWeights
from encoderlab.loss import IntArray
from encoderlab.validation import FloatArray

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


def two_hops_in_one_layer(n_symbols: int, heads: int | None = None) -> AttentionWeights:
    """Return one layer that makes two hops, with one head for each symbol b that the first hop may end on.

    If the value of q is b, head b finds the entry of key b and writes its value. If not, the entry (q, other
    than b) attracts it more, and it writes the value of q, like all other heads. A last head subtracts all of
    these. Hence the answer alone is left.

    Parameters
    ----------
    n_symbols : int
    heads : int, optional
        How many of the n_symbols heads there are; by default all.

    Returns
    -------
    AttentionWeights
        Of heads + 1 heads of width n_symbols + 1, with d_model = 5 · n_symbols.
    """
    symbols = range(n_symbols if heads is None else heads)
    key, value, query, answer = (_slot(slot, n_symbols) for slot in (KEY, VALUE, QUERY, ANSWER))
    constant = query.sum(axis=1, keepdims=True)  # (d_model, 1): 1 at the query, 0 at the entries
    none = np.zeros_like(constant)
    scale = SHARPNESS * (n_symbols + 1) ** 0.5
    match = np.concatenate([2 * scale * query, scale * constant], axis=1)  # (d_model, d_head)
    W_K = [np.concatenate([key, (key - 2 * value)[:, [b]]], axis=1) for b in symbols]
    W_K.append(np.concatenate([key, none], axis=1))
    W_V = np.concatenate([value, none], axis=1)
    W_O = np.concatenate([answer, none], axis=1).T  # (d_head, d_model)
    count = len(symbols)
    return AttentionWeights(
        np.tile(match, count + 1),
        np.concatenate(W_K, axis=1),
        np.tile(W_V, count + 1),
        np.concatenate([W_O] * count + [-count * W_O]),
    )


def _slot(slot: int, n_symbols: int) -> FloatArray:
    """Return the columns of the identity that belong to a slot, (5 · n_symbols, n_symbols)."""
    identity: FloatArray = np.eye(5 * n_symbols)
    return identity[:, slot * n_symbols : (slot + 1) * n_symbols]
