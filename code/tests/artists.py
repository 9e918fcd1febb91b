"""What a reader sees in a figure, read off its artists: by titles, legends and tick labels, not by order."""

import re
from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator

MISCOUNTED = re.compile(r"(?<![\d.])1 (?:layer|head|token|neuron|draw)s\b|\b[2-9] (?:layer|head|token)\b")
"""One of several, or several of one."""


def steer(
    made: tuple[Figure, Callable[..., str]], zoomed: tuple[str, ...] = ()
) -> tuple[Figure, Callable[..., str]]:
    """Let `update` fail if it moves what is not marked as moving, cuts off a point, or miscounts.

    A page would not show the first. Axes whose titles are in `zoomed` show a part on purpose.
    """
    figure, update = made

    def checked(*arguments: object, **named: object) -> str:
        for artist in figure.findobj():
            artist.stale = False
        says = update(*arguments, **named)
        assert not figure.stale, "a still artist has moved"  # animated ones do not make a figure stale
        assert not MISCOUNTED.search(says), says
        lost = {title: xy for title, xy in cut_off(figure).items() if title not in zoomed}
        assert not lost, f"outside the axes: {lost}"
        for axes in figure.axes:
            for text in axes.texts:
                place = np.asarray(text.get_position(), dtype=float)
                if text.get_text() and not isinstance(text, Annotation) and axes.get_visible():
                    in_axes = axes.transAxes.inverted().transform(text.get_transform().transform(place))
                    assert (np.abs(in_axes - 0.5) <= 0.8).all(), f"{text} is out of sight at {in_axes}"
            for axis in (axes.xaxis, axes.yaxis):
                assert not (wrong := misplaced(axis)), f"{axes.get_title(loc='left')}: {wrong}"
        return says

    return figure, checked


def cut_off(figure: Figure) -> dict[str, np.ndarray]:
    """Return the moving points that lie outside their axes, by the title of the axes."""
    lost = {}
    for axes in figure.axes:
        low, high = np.transpose([sorted(axes.get_xlim()), sorted(axes.get_ylim())])
        shown = [points(line) for line in axes.lines if line.get_animated() and line.get_marker() != "None"]
        outside = [xy[((xy < low) | (xy > high)).any(axis=1)] for xy in shown]
        if any(map(len, outside)):
            lost[axes.get_title(loc="left")] = np.concatenate(outside)
    return lost


def titled(figure: Figure, title: str) -> Axes:
    """Return the only axes with a title."""
    (axes,) = (axes for axes in figure.axes if axes.get_title(loc="left") == title)
    return axes


def axis_names(axes: Axes) -> tuple[str, str]:
    """Return what the axes say that x and y are."""
    return axes.get_xlabel(), axes.get_ylabel()


def scales(axes: Axes) -> tuple[str, str]:
    """Return the kinds of scale of x and y."""
    return axes.get_xscale(), axes.get_yscale()


def ticks(axis: Axis) -> dict[str, float]:
    """Return where each tick label stands."""
    return dict(zip((text.get_text() for text in axis.get_ticklabels()), axis.get_ticklocs(), strict=True))


def labels_at_their_values(axis: Axis) -> bool:
    """Whether each tick label, as 10⁻⁵ or 100, stands at the number that it writes."""
    values = {text: written(text) for text in ticks(axis)}
    assert None not in values.values(), f"no numbers: {list(values)}"
    return len(values) > 1 and all(np.isclose(values[text], place) for text, place in ticks(axis).items())


def misplaced(axis: Axis) -> str:
    """Say what is wrong with ticks set by hand: they go up by one step, and so do numbers beside them."""
    places = np.asarray(axis.get_ticklocs())
    if not isinstance(axis.get_major_locator(), FixedLocator) or len(places) == 0:
        return ""
    if (np.diff(places) <= 0).any():
        return f"ticks that do not ascend: {places}"
    if (numbers := [written(text) for text in ticks(axis)]) and None not in numbers:
        steps = np.diff(numbers)
        if not ((steps > 0).all() or (steps < 0).all()):
            return f"labels out of order: {list(ticks(axis))}"
    if axis.get_scale() == "symlog" or len(places) < 2:
        return ""
    even = axis.get_transform().transform(places)
    steps = np.diff(even)
    drawn = [line.get_data()[axis.axis_name == "y"] for line in axis.axes.lines]
    at_points = any(np.isin(places, along).all() for along in drawn)  # a tick for each value that was tried
    if at_points:
        return ""
    if not np.allclose(steps, steps[0]):  # 1, 3, 10, 30 are even enough for a logarithmic axis
        return "" if np.allclose(steps, steps.mean(), rtol=0.1) else f"uneven ticks: {places}"
    if not np.allclose(even / steps[0], np.round(even / steps[0])):
        return f"ticks that are no multiples of their step: {places}"
    return ""


def written(text: str) -> float | None:
    """Return the number that a label writes, as 10⁻⁵ or 100, if it does."""
    plain = text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-"))
    try:
        return 10.0 ** int(plain[2:]) if text[2:3] in tuple("⁻⁰¹²³⁴⁵⁶⁷⁸⁹") else float(plain)
    except ValueError:
        return None


def entry(axes: Axes, label: str) -> object:
    """Return the mark that stands beside a label in the legend."""
    legend = axes.get_legend()
    marks = dict(zip((text.get_text() for text in legend.get_texts()), legend.legend_handles, strict=True))
    return marks[label]


def look(line: Line2D) -> tuple[object, ...]:
    """Return what tells one line from another: how it is drawn, and its marks."""
    hollow = same_color(line.get_markerfacecolor(), "none") if line.get_marker() != "None" else False
    return line.get_linestyle(), line.get_marker(), hollow


def series(axes: Axes, label: str) -> Line2D:
    """Return the only line that looks as the legend says a label looks."""
    mark = entry(axes, label)
    assert isinstance(mark, Line2D)
    (line,) = (
        line
        for line in axes.lines
        if look(line) == look(mark) and same_color(line.get_color(), mark.get_color())
    )
    return line


def lines(
    axes: Axes, colour: str, *, marker: str = "None", style: str = "-", moving: bool = True
) -> list[Line2D]:
    """Return the lines of a look, in the order drawn."""
    return [
        line
        for line in axes.lines
        if same_color(line.get_color(), colour)
        and (line.get_linestyle(), line.get_marker()) == (style, marker)
        and line.get_animated() == moving
    ]


def points(line: Line2D) -> np.ndarray:
    """Return the points of a line, (n, 2), gaps left out."""
    xy = np.column_stack([np.asarray(values, dtype=float) for values in line.get_data()])
    return xy[np.isfinite(xy).all(axis=1)]


def values(line: Line2D) -> np.ndarray:
    """Return the heights of a line's points."""
    return points(line)[:, 1]


def bars(axes: Axes) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle and the top of each moving bar."""
    drawn = [patch for patch in axes.patches if isinstance(patch, Rectangle) and patch.get_animated()]
    return (
        np.array([bar.get_x() + bar.get_width() / 2 for bar in drawn]),
        np.array([bar.get_y() + bar.get_height() for bar in drawn]),
    )


def image(axes: Axes, nth: int = 0, *, moving: bool = True) -> AxesImage:
    """Return a visible image of the axes."""
    return [each for each in axes.images if each.get_animated() == moving and each.get_visible()][nth]


def value_at(shown: AxesImage, x: float, y: float) -> float:
    """Return the value of the cell that covers a point of the axes."""
    cells = np.asarray(shown.get_array())
    left, right, bottom, top = shown.get_extent()
    column = (x - left) / (right - left)
    row = (y - top) / (bottom - top) if shown.origin == "upper" else (y - bottom) / (top - bottom)
    return float(cells[int(row * cells.shape[0]), int(column * cells.shape[1])])


def texts(axes: Axes) -> dict[str, tuple[float, float]]:
    """Return where each text that is not empty stands."""
    return {text.get_text(): text.get_position() for text in axes.texts if text.get_text()}


def moving_texts(axes: Axes) -> list[Text]:
    """Return the moving texts that are not empty."""
    return [text for text in axes.texts if text.get_animated() and text.get_text()]


def band(axes: Axes) -> tuple[float, float]:
    """Return the ends of the only still band across the axes, as that of rounding error."""
    (patch,) = (patch for patch in axes.patches if isinstance(patch, Rectangle) and not patch.get_animated())
    return patch.get_y(), patch.get_y() + patch.get_height()
