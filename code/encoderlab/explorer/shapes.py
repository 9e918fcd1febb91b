"""What the diagrams of the book are drawn with: boxes with a word in them, and arrows."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Text

from encoderlab.explorer.style import GREY


def canvas(axes: Axes, width: float, height: float) -> None:
    """Turn axes into a sheet of width × height units, equal in both directions, with nothing on it."""
    axes.set(xlim=(0, width), ylim=(0, height), aspect="equal")
    axes.set_axis_off()


def box(
    axes: Axes, x: float, y: float, width: float, height: float, word: str = "", **look: Any
) -> tuple[FancyBboxPatch, Text]:
    """Draw a rounded box around a centre, and a word in it.

    Parameters
    ----------
    axes : Axes
    x, y, width, height : float
        Centre and size, in the units of the sheet.
    word : str
    **look
        Of matplotlib's patches: `ec`, `fc`, `lw`, `animated` and so on; `animated` holds for the word too.
    """
    drawn: dict[str, Any] = {"fc": "none", "ec": GREY, "lw": 1.4} | look
    corner = min(0.18, width / 3, height / 3)
    outline = FancyBboxPatch(
        (x - width / 2 + corner, y - height / 2 + corner),
        width - 2 * corner,
        height - 2 * corner,
        boxstyle=f"round,pad={corner}",
        **drawn,
    )
    axes.add_patch(outline)
    animated = bool(drawn.get("animated", False))
    return outline, axes.text(x, y, word, ha="center", va="center_baseline", animated=animated)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], **look: Any) -> FancyArrowPatch:
    """Draw an arrow; `connectionstyle="arc3,rad=0.3"` bends it, `arrowstyle="-"` takes its head away."""
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 9,
        "shrinkA": 0,
        "shrinkB": 0,
        "color": GREY,
        "lw": 1.2,
    } | look
    drawn = FancyArrowPatch(start, end, **style)
    axes.add_patch(drawn)
    return drawn
