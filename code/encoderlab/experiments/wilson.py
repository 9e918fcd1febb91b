"""How far a count of successes pins down the chance of success: the Wilson interval."""

from __future__ import annotations


def wilson(successes: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion.

    Wilson, JASA 22 (1927), 209-212: the chances p for which the count is within z standard
    errors √(p(1 − p)/n).

    Parameters
    ----------
    successes, trials : int
    z : float
        1.96 for 95 %.

    Returns
    -------
    low, high : float

    Raises
    ------
    ValueError
        If there are no trials, or the successes are not among them.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(10, 10)]
    [0.722, 1.0]
    """
    if not 0 <= successes <= trials or trials == 0:
        raise ValueError(f"successes must lie in 0 to trials > 0, got {successes} of {trials}")
    share, spread = successes / trials, z * z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = (spread * share * (1 - share) + spread * spread / 4) ** 0.5 / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)
