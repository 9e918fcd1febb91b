"""How every figure of the book looks: colours that all readers can tell apart, and type that stays legible.

A panel of a figure is drawn about as wide as a telephone shows it, so that one unit of the drawing is about
one pixel on every screen: panels stand side by side where there is room, and one below the other where there
is not. Text of 12 units is then text of about 12 pixels.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colorbar import make_axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import NullLocator

from encoderlab.numerals import power_of_ten

# Hues after Okabe and Ito (2008), darkened where a line would be too faint on white; `_static/explorer.css`
# has their counterparts for a dark page. For lines and marks: text is black, which takes the page's colour.
BLUE = "#0072b2"
VERMILLION = "#d55e00"
GREEN = "#009e73"
PURPLE = "#a8438a"
GREY = "#666666"
PALETTE = (BLUE, VERMILLION, GREEN, PURPLE, GREY)

RULE = "#d9d9d9"  # grid lines: seen without being looked at

DIVERGING = "RdBu_r"  # for values on both sides of zero
SEQUENTIAL = "cividis"  # for values from zero up

PANEL_WIDTH = 4.8  # inches of 72 units each

RC: dict[Any, Any] = {
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.facecolor": "none",
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "grid.color": RULE,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "image.interpolation": "none",  # a matrix keeps its cells
}


def panels(n: int = 1, height: float = 3.6) -> tuple[Figure, list[Axes]]:
    """Return a figure of `n` panels, each a subfigure with one pair of axes.

    Parameters
    ----------
    n : int, default 1
        How many.
    height : float, default 3.6
        Inches.

    Returns
    -------
    figure : Figure
        It lays itself out, once, when an explorer draws it; pyplot does not know it.
    axes : list of Axes
        From left to right.

    Examples
    --------
    Artists take their look when they are made, so draw under the style:

    >>> with mpl.rc_context(RC):
    ...     figure, (left, right) = panels(2)
    ...     line = left.plot([0, 1], [0, 1], animated=True)
    """
    if n < 1:
        raise ValueError(f"n: expected one panel or more, got {n!r}")
    with mpl.rc_context(RC):
        roomy = ConstrainedLayoutEngine(w_pad=0.14)  # a page's own font may be wider than the one measured
        figure = Figure(figsize=(n * PANEL_WIDTH, height), layout=roomy)
        return figure, [part.subplots() for part in figure.subfigures(1, n, squeeze=False)[0]]


def log_ticks(axis: Axis, exponents: Iterable[int]) -> None:
    """Put ticks at powers of ten on a logarithmic axis, and nowhere else."""
    exponents = list(exponents)
    axis.set_ticks([10.0**k for k in exponents], labels=[power_of_ten(k) for k in exponents])
    axis.set_minor_locator(NullLocator())


def colour_key(image: AxesImage, axes: Axes, label: str) -> Axes:
    """Put the colours of an image and the values that they stand for beside it.

    Parameters
    ----------
    image : AxesImage
        With its limits set.
    axes : Axes
        The axes beside which the key stands.
    label : str
        What the values are.

    Returns
    -------
    Axes
        The key's: one small image, where matplotlib's own colour bar draws 256 rectangles.
    """
    key, _ = make_axes(axes, aspect=20)
    low, high = image.get_clim()
    ramp = np.linspace(high, low, 256)[:, None]
    key.imshow(ramp, cmap=image.cmap, extent=(0, 1, low, high), aspect="auto", interpolation="none")
    key.yaxis.tick_right()
    key.yaxis.set_label_position("right")
    key.set_ylabel(label)
    key.spines[:].set_visible(False)
    key.set_xticks([])
    return key
