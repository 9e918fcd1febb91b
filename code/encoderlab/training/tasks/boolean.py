"""XOR and parity: the functions of bits that no affine map and threshold can compute."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from encoderlab.training.classifier import Shape
from encoderlab.training.loss import IntArray
from encoderlab.training.tasks.task import Batch, Task, from_table, one_hot


def all_bits(bits: int) -> IntArray:
    """Return every string of bits, one a row: (2**bits, bits)."""
    return np.array(list(product((0, 1), repeat=bits)), dtype=np.intp)


def best_halfspace(labels: IntArray, bits: int, largest: int = 3) -> float:
    """Return the best accuracy of a threshold on a weighted sum of bits, by trying them all.

    Integer weights of size 3 are enough for every threshold function of up to four bits; there are 14 of two
    bits and 1882 of four (OEIS A000609), which a test counts.

    Parameters
    ----------
    labels : ndarray of int, shape (2**bits,)
        0 or 1 for each row of `all_bits(bits)`.
    bits : int
        At most 4.
    largest : int
        The largest weight that is tried.

    Examples
    --------
    >>> best_halfspace(all_bits(2).sum(axis=1) % 2, bits=2)
    0.75
    """
    weights = np.array(list(product(range(-largest, largest + 1), repeat=bits)))
    sums = weights @ all_bits(bits).T  # (n_weights, 2**bits)
    agreements = [
        np.mean((sums > threshold) == labels, axis=1).max()
        for threshold in np.arange(sums.min() - 0.5, sums.max() + 1)
    ]
    return float(max(agreements))


def parity(bits: int, bos: bool = False) -> Task:
    """Ask whether a lone token carries an odd number of ones (claims 24 and 30).

    The token is an affine image of its bits: each bit chooses one of two rows of the embedding. With `bos` a
    constant token stands before it; the answer is read at the token itself either way.

    Without LayerNorm and FFN all that attention can make of a lone token is an affine map, so the line to
    beat is the best threshold on a weighted sum of the bits: 3/4 for two bits, which is XOR, and 11/16 for
    four.

    Parameters
    ----------
    bits : int
        1 to 4.
    bos : bool

    Returns
    -------
    Task

    Raises
    ------
    ValueError
        If `bits` is out of range.

    Examples
    --------
    >>> parity(4).baselines
    {'chance': 0.5, 'threshold on a weighted sum of the bits': 0.6875}
    """
    if not 1 <= bits <= 4:
        raise ValueError(f"bits must be 1 to 4, got {bits}")
    strings = all_bits(bits)
    labels = strings.sum(axis=1) % 2
    n_features = 2 * bits + 1  # two for each bit, one for BOS
    token = np.zeros((len(strings), n_features), np.float32)
    token[:, :-1] = one_hot(strings, 2).reshape(len(strings), 2 * bits)
    start = np.broadcast_to(np.eye(n_features, dtype=np.float32)[-1], token.shape)
    features = np.stack([start, token] if bos else [token], axis=1)  # (2**bits, 1 or 2, n_features)
    baselines = {"chance": 0.5, "threshold on a weighted sum of the bits": best_halfspace(labels, bits)}
    name = f"parity of {bits} bits" + (" after BOS" if bos else "")
    return from_table(name, Shape(1 + bos, n_features, 2, -1), Batch(features, labels), baselines)


def xor_among(n: int = 8) -> Task:
    """Ask for the XOR of the two marked bits among n, read at a last token that carries nothing else.

    The number k of ones among the marked is 0, 1, 2 with chances 1/4, 1/2, 1/4, and the answer is k mod 2.
    Either marked bit alone says nothing; a threshold on k, which a sum of look-ups affords, is right on two
    of the three values with most weight: 3/4.

    A single head without LayerNorm and FFN can do no better at depth 1. It gives Σ wₛ nₛ vₛ / Σ wₛ nₛ, where
    symbol s occurs nₛ times and has a weight and a value of its own, so the sign of any readout of it is
    that of a sum linear in the counts. Two heads have two denominators, and no such bound.

    All n(n − 1)/2 · 2ⁿ examples are listed.

    Parameters
    ----------
    n : int
        At least 2.

    Returns
    -------
    Task
    """
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    strings, pairs = all_bits(n), np.array(list(combinations(range(n), 2)))
    marks = np.zeros((len(pairs), n), np.intp)
    np.put_along_axis(marks, pairs, 1, axis=1)
    symbol = (strings[None] + 2 * marks[:, None]).reshape(-1, n)  # bit + 2 · mark; one row for each example
    symbols = np.column_stack([symbol, np.full(len(symbol), 4)])  # the last token is a symbol of its own
    labels = (strings[None] * marks[:, None]).sum(axis=-1).reshape(-1) % 2
    baselines = {"chance": 0.5, "threshold on the number of marked ones": 0.75}
    every = Batch(one_hot(symbols, 5), labels)
    return from_table(f"XOR of two among {n}", Shape(n + 1, 5, 2, -1), every, baselines)
