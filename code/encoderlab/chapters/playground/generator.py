"""The random numbers of the page, in Python: what a seed gives there, it gives here."""

from __future__ import annotations

import math

WORD = 0xFFFFFFFF


class Mulberry:
    """Mulberry32, as in `web/random.js`: 32 bits of state, so that a browser computes it exactly.

    Parameters
    ----------
    seed : int
        From 0 to 2³² − 1.

    Examples
    --------
    >>> random = Mulberry(0)
    >>> [round(random.uniform(), 6) for _ in range(3)]
    [0.467328, 0.545049, 0.615251]
    """

    def __init__(self, seed: int) -> None:
        if not 0 <= seed <= WORD:
            raise ValueError(f"seed must be an integer from 0 to 2³² − 1, got {seed}")
        self.state = seed * 0x9E3779B1 & WORD
        for _ in range(4):
            self.uniform()

    def uniform(self) -> float:
        """Return a number in [0, 1)."""
        self.state = self.state + 0x6D2B79F5 & WORD
        t = self.state
        t = (t ^ t >> 15) * (t | 1) & WORD
        t ^= t + ((t ^ t >> 7) * (t | 61) & WORD) & WORD
        return (t ^ t >> 14) / 2**32

    def integer(self, n: int) -> int:
        """Return one of 0 to n − 1."""
        return int(self.uniform() * n)

    def normal(self) -> float:
        """Return a standard normal number, by Box and Muller."""
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())
