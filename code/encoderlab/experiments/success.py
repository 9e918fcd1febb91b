"""How often training succeeds: a share of starts, with the interval that so few leave."""

from __future__ import annotations

from typing import Any, NamedTuple

from encoderlab.experiments.results import Results


class Success(NamedTuple):
    """How many of some starts succeeded, and the interval for the share of all starts that would."""

    right: int
    starts: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of these starts."""
        return self.right / self.starts


def wilson(right: int, starts: int, z: float = 1.959964) -> Success:
    """Return Wilson's score interval for a share (Wilson 1927), 95 percent unless said otherwise.

    Where none or all succeed it still has a width, unlike the one from the standard error.

    Parameters
    ----------
    right, starts : int
    z : float
        The quantile of the standard normal.

    Returns
    -------
    Success

    Raises
    ------
    ValueError
        If there is no start, or `right` is not one of 0 to `starts`.

    Examples
    --------
    >>> tuple(round(end, 2) for end in wilson(0, 24)[2:])
    (0.0, 0.14)
    >>> tuple(round(end, 2) for end in wilson(0, 3)[2:])
    (0.0, 0.56)
    """
    if starts < 1 or not 0 <= right <= starts:
        raise ValueError(f"right must lie in 0 to starts, and starts be at least 1, got {right} of {starts}")
    share, square = right / starts, z * z / starts
    middle = (share + square / 2) / (1 + square)
    half = z / (1 + square) * (share * (1 - share) / starts + square / (4 * starts)) ** 0.5
    low, high = middle - half, middle + half
    return Success(right, starts, low if right else 0.0, high if right < starts else 1.0)


def success(results: Results, **settings: Any) -> Success:
    """Return how many starts of one cell got every input right; errors are those of `Results.measure`."""
    accuracy = results.measure("accuracy", **settings)  # (n_seeds,)
    return wilson(int((accuracy == 1).sum()), len(accuracy))
