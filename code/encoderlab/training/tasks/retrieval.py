"""Tasks whose answer stands in the sequence itself: who finds it has looked in the right place."""

from __future__ import annotations

import numpy as np

from encoderlab.training.classifier import Shape
from encoderlab.training.tasks.task import Batch, Task, one_hot


def copy_previous(n: int = 8) -> Task:
    """Ask, at the last of n distinct tokens, for the one just before it: one look at a position is enough.

    There are n symbols, each present once, so a reader who cannot tell positions apart knows only that it is
    not the last token itself: 1/(n − 1).

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

    def draw(rng: np.random.Generator, size: int) -> Batch:
        symbols = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)  # (size, n)
        return Batch(one_hot(symbols, n), symbols[:, -2])

    baselines = {"chance": 1 / n, "any token but the last": 1 / (n - 1)}
    return Task("copy the previous token", Shape(n, n, n, -1), draw, baselines)


def induction(n: int = 16, n_symbols: int = 16) -> Task:
    """Ask what followed the last token the first time it appeared (claim 10).

    n − 1 distinct symbols, then one of the first n − 2 of them again; the answer is its successor. A layer
    can find the earlier copy or look at fixed positions. To know who *follows* the copy takes two steps:
    each token must first learn who stands before it.

    Shortcuts, with m = n − 2 places where the copy can be:

    - Which tokens, not their order: the answer is equally likely to be any of the other n − 2, so 1/m.
    - One position: answer x_j, or x_{j+1} if x_j is the query itself. Right if the copy is at j − 1 or at j:
      2/m. This needs only scores that add up, one for each position, and a veto on the query. No fixed order
      of preference does better: the answer is at the first place on the list, unless that is the copy.

    More heads can watch more positions, so no bound holds at every width; Sanford, Hsu and Telgarsky 2024
    bound heads × width × precision from below.

    Parameters
    ----------
    n : int
        At least 4.
    n_symbols : int
        At least n − 1.

    Returns
    -------
    Task
    """
    if n < 4:
        raise ValueError(f"n must be at least 4, got {n}")
    if n_symbols < n - 1:
        raise ValueError(f"n_symbols must be at least n - 1 = {n - 1}, got {n_symbols}")

    def draw(rng: np.random.Generator, size: int) -> Batch:
        symbols = rng.permuted(np.tile(np.arange(n_symbols), (size, 1)), axis=1)[:, :n]  # (size, n or n - 1)
        symbols = symbols[:, : n - 1]
        rows, copy = np.arange(size), rng.integers(n - 2, size=size)
        sequence = np.column_stack([symbols, symbols[rows, copy]])  # (size, n)
        return Batch(one_hot(sequence, n_symbols), symbols[rows, copy + 1])

    baselines = {
        "chance": 1 / n_symbols,
        "which tokens, not their order": 1 / (n - 2),
        "one position": 2 / (n - 2),
    }
    return Task("induction", Shape(n, n_symbols, n_symbols, -1), draw, baselines)


def two_hop(size_of_cycle: int = 8, n_symbols: int = 32) -> Task:
    """Ask for σ(σ(q)), given the table of a permutation σ that is one single cycle (claim 10).

    Each of the first m tokens states one entry, a → σ(a), in two features; the order of the tokens is
    without meaning. The last token holds the query q.

    One look at the table finds σ(q), the entry whose key is q, and σ⁻¹(q), the entry whose value is q. On a
    single cycle of m ≥ 4 the answer is none of q, σ(q), σ⁻¹(q), and is equally likely to be any of the other
    m − 3, since the rest of the cycle may run through them in any order: 1/(m − 3). On a permutation of any
    kind fixed points and short cycles would give it away more often.

    This bounds who sees those three symbols, not every layer: a head that always watches one symbol sometimes
    watches the right one. Trained single layers end a little above 1/(m − 3), and far above it where heads
    are many and symbols few.

    Parameters
    ----------
    size_of_cycle : int
        m, at least 4.
    n_symbols : int
        From which the m on the cycle are drawn, at least m.

    Returns
    -------
    Task

    Examples
    --------
    >>> two_hop(8).baselines
    {'chance': 0.03125, 'any but the query and its neighbours': 0.2}
    """
    m = size_of_cycle
    if m < 4:
        raise ValueError(f"size_of_cycle must be at least 4, got {m}")
    if n_symbols < m:
        raise ValueError(f"n_symbols must be at least size_of_cycle = {m}, got {n_symbols}")

    def draw(rng: np.random.Generator, size: int) -> Batch:
        cycle = rng.permuted(np.tile(np.arange(n_symbols), (size, 1)), axis=1)[:, :m]  # in the order of σ
        entries = np.zeros((size, m + 1, 3, n_symbols), np.float32)
        entries[:, :m, 0] = one_hot(cycle, n_symbols)  # the key
        entries[:, :m, 1] = one_hot(np.roll(cycle, -1, axis=1), n_symbols)  # its value
        entries[:, m, 2] = one_hot(cycle[:, 0], n_symbols)  # q: any place on a random cycle is as good
        return Batch(entries.reshape(size, m + 1, 3 * n_symbols), cycle[:, 2])

    baselines = {"chance": 1 / n_symbols, "any but the query and its neighbours": 1 / (m - 3)}
    return Task("2-hop retrieval", Shape(m + 1, 3 * n_symbols, n_symbols, -1), draw, baselines)
