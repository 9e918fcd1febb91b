"""Parts of a figure that move with its state: ticks, names of tokens, regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.path import Path

from encoderlab.model.arrays import FloatArray

WIDEST = "−0.00"  # what the layout leaves room for


class MovingScale:
    """An axis from 0 to 1 whose five tick labels say what the ends stand for in the state on show.

    Parameters
    ----------
    axes : Axes
    axis : {"x", "y"}
        Which of the two.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> scale = MovingScale(Figure().subplots(), "y")
    >>> scale.set(2.0, 4.0)
    >>> scale(np.array([2.0, 3.0])).tolist()
    [0.0, 0.5]
    """

    def __init__(self, axes: Axes, axis: str) -> None:
        places = np.linspace(0, 1, 5)
        if axis == "y":
            axes.set_ylim(-0.03, 1.03)
            axes.set_yticks(places, labels=[])
            to_axes, spots = axes.get_yaxis_transform(), [(-0.025, place) for place in places]
            self.labels = [
                axes.text(*spot, WIDEST, ha="right", va="center", transform=to_axes) for spot in spots
            ]
        else:
            axes.set_xlim(-0.03, 1.03)
            axes.set_xticks(places, labels=[])
            to_axes, spots = axes.get_xaxis_transform(), [(place, -0.025) for place in places]
            self.labels = [
                axes.text(*spot, WIDEST, ha="center", va="top", transform=to_axes) for spot in spots
            ]
        axes.grid(axis="y" if axis == "y" else "x")
        for label in self.labels:
            label.set_animated(True)
        self.low, self.high = 0.0, 1.0

    def set(self, low: float, high: float) -> None:
        """Let 0 stand for `low` and 1 for `high`."""
        self.low, self.high = low, high
        for label, value in zip(self.labels, np.linspace(low, high, len(self.labels)), strict=True):
            label.set_text(f"{value:.2g}".replace("-", "−"))

    def __call__(self, values: FloatArray | float) -> FloatArray:
        """Return where values stand between 0 and 1."""
        place: FloatArray = (np.asarray(values) - self.low) / (self.high - self.low)
        return place


def token_matrix(axes: Axes, longest: int, **image: object) -> Callable[[FloatArray, Sequence[str]], None]:
    """Make room for a matrix between tokens, whose number and names change with the state.

    Parameters
    ----------
    axes : Axes
    longest : int
        The most tokens there will be.
    **image
        For `Axes.imshow`.

    Returns
    -------
    callable
        Of an (n, n) matrix and n names; it moves image and names.
    """
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    cells = axes.imshow(np.zeros((2, 2)), extent=(0, 1, 1, 0), animated=True, **image)  # type: ignore[arg-type]
    rows = [axes.text(-0.02, 0, "drawing", ha="right", va="center") for _ in range(longest)]
    columns = [axes.text(0, 1.02, "drawing", ha="center", va="top", rotation=90) for _ in range(longest)]
    for text in rows + columns:
        text.set(animated=True, fontsize=10)
    axes.spines[:].set_visible(False)

    def move(matrix: FloatArray, tokens: Sequence[str]) -> None:
        cells.set_data(matrix)
        n = len(tokens)
        for k, (row, column) in enumerate(zip(rows, columns, strict=True)):
            name, place = (tokens[k], (k + 0.5) / n) if k < n else ("", 0.0)
            row.set(text=name, y=place)
            column.set(text=name, x=place)

    return move


NOWHERE = Path(np.zeros((1, 2)), [Path.MOVETO])
"""A region without a point."""


def region(x: FloatArray, y: FloatArray, height: FloatArray, above: float = 0.0) -> Path:
    """Return where a function on a grid exceeds a bound, as one path with a smooth edge.

    Parameters
    ----------
    x, y : ndarray, shape (m,) and (k,)
    height : ndarray, shape (k, m)
    above : float
    """
    from contourpy import contour_generator  # it comes with matplotlib

    generator = contour_generator(x, y, height, fill_type="OuterCode")
    polygons, codes = cast("tuple[list[Any], list[Any]]", generator.filled(above, np.inf))
    if not polygons:
        return NOWHERE
    return Path(np.concatenate(polygons), np.concatenate(codes))
