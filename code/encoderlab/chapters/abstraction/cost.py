"""What a layer costs in multiplications, and when attention outweighs the rest (claim 57)."""

from __future__ import annotations

from typing import NamedTuple


class LayerCost(NamedTuple):
    """Multiplications in one encoder layer, in matrix products alone."""

    projections: int  # to queries, keys and values, and from the heads: 4 n d²
    pattern: int  # queries with keys, weights with values: 2 n² d
    ffn: int  # 2 n d d_ff


def layer_cost(n: int, d_model: int, d_ff: int) -> LayerCost:
    """Count the multiplications of one layer.

    Parameters
    ----------
    n : int
        Tokens.
    d_model, d_ff : int

    Returns
    -------
    LayerCost

    Examples
    --------
    >>> cost = layer_cost(n=128, d_model=384, d_ff=1536)
    >>> round(cost.pattern / sum(cost), 3)
    0.053
    """
    return LayerCost(4 * n * d_model**2, 2 * n**2 * d_model, 2 * n * d_model * d_ff)


def even_length(d_model: int, d_ff: int) -> int:
    """Return the number of tokens at which the part that grows with n² equals the part that grows with n.

    2 n² d = 4 n d² + 2 n d d_ff gives n = 2 d + d_ff: six times the width where d_ff is four times the width.

    Examples
    --------
    >>> even_length(384, 1536)
    2304
    """
    return 2 * d_model + d_ff
