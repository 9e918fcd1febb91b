"""Every figure is read by a test, and the ways to read one are right themselves."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest
from artists import image, labels_at_their_values, misplaced, series, steer, value_at
from matplotlib.figure import Figure

from encoderlab import chapters
from encoderlab.explorer.style import BLUE, DIVERGING, SEQUENTIAL, VERMILLION, log_ticks, panels

TESTS = Path(__file__).parent / "chapters"
LEFT_TO_RIGHT = {  # as a reader goes: what is given before what comes of it, the whole before its part
    "abstraction.bins": ["Mean, with 95 % interval", "Each head, or each sentence"],
    "abstraction.probes": ["Right answers", "All at a glance"],
    "abstraction.surgery": ["After six layers, without …", "Layer by layer"],
    "attention.root_d": ["Weights of one query, largest first", "What softmax lets through"],
    "attention.linear": ["Is it what a linear map would give?", "How far from linear"],
    "attention.hulls": ["Values and outputs, before W_O", "Largest distance between two tokens"],
    "attention.norm_folds": ["LayerNorm takes a line to a circle", "The third coordinate"],
    "elementwise.activation_bench": ["One neuron", "Twenty layers of 64"],
    "elementwise.folding": ["The line, folded", "Straight pieces"],
    "introduction.boundary": ["One layer", "What a trained stack answers"],
    "residual_norm.thermometer": [
        "Norm of the gradient, all four stacks",
        "This stack, three draws, close to 1",
    ],
    "residual_norm.cancellation": ["Tokens before and after x + F(x)", "Two answers"],
    "residual_norm.layer_norm_bench": ["One token", "After LayerNorm"],
    "stacking.accuracy_by_switch": ["1 layer", "2 layers"],
    "stacking.collapse_laboratory": ["Distance to rank one", "The top of it"],
    "stacking.impersonator": ["Weights: the brighter, the more", "How far off its output is"],
    "stacking.third_token": ["Three tokens", "How much the query prefers the first key"],
    "stacking.depths": ["Layer 1", "Layer 2", "Right answers"],
}


def drawn():
    """Return every function that makes a figure of the book, with its chapter."""
    modules = (each.name for each in pkgutil.walk_packages(chapters.__path__, "encoderlab.chapters."))
    for name in modules:
        for function in vars(importlib.import_module(name)).values():
            made = inspect.isfunction(function) and function.__module__ == name
            if made and str(function.__annotations__.get("return", "")).startswith("tuple[Figure,"):
                yield name.split(".")[2], function


def test_every_figure_is_read():
    found = [(chapter, function.__name__) for chapter, function in drawn()]
    assert found
    for chapter, function in found:
        tests = (TESTS / chapter).glob("test_pictures_*.py")
        text = "".join(path.read_text(encoding="utf-8") for path in tests)
        assert re.search(rf"\b{function}\(", text), f"{chapter}: {function} is not read"


def test_every_explorer_of_the_book_shows_one_of_them():
    """What is shown is what is read: a page makes no figure of its own."""
    pages = [*TESTS.parents[2].glob("chapters/*.md"), TESTS.parents[2] / "intro.md"]
    text = "".join(page.read_text("utf-8") for page in pages)
    shown = re.findall(r"\b(?:Explorer|Diagram)\(\s*\"[a-z-]+\",\s*\*(?:\w+\.)?(\w+)\(", text)
    made = len(re.findall(r"\n(?:Explorer|Diagram)\(", text))
    assert len(shown) == made
    assert set(shown) <= {function.__name__ for _, function in drawn()}


def test_panels_stand_in_the_order_in_which_they_are_read():
    told = {}
    for chapter, function in drawn():
        if all(each.default is not each.empty for each in inspect.signature(function).parameters.values()):
            parts = sorted(function()[0].subfigs, key=lambda part: part.bbox.x0)
            titles = [axes.get_title(loc="left").split(": median")[0] for part in parts for axes in part.axes]
            if len(titles := [title for title in titles if title]) > 1:
                told[f"{chapter}.{function.__name__}"] = titles
    assert {name: told.get(name) for name in LEFT_TO_RIGHT} == LEFT_TO_RIGHT


def test_values_that_a_slider_walks_along_ascend():
    """Rows of numbers, written as text or not, that figures offer to a reader."""
    rows = [
        row
        for name in {each.name for each in pkgutil.walk_packages(chapters.__path__, "encoderlab.chapters.")}
        if ".figures" in name
        for row in vars(importlib.import_module(name)).values()
        if isinstance(row, tuple) and len(row) > 2 and all(re.fullmatch(r"-?[\d.]+", str(v)) for v in row)
    ]
    assert rows
    for row in rows:
        assert [float(value) for value in row] == sorted({float(value) for value in row})


def test_a_still_artist_that_moves_is_found():
    figure, (axes,) = panels()
    moving, still = axes.plot([], [], animated=True)[0], axes.plot([], [])[0]
    _, update = steer((figure, lambda line: line.set_data([0], [1]) or "It moved."))
    assert update(moving) == "It moved."
    with pytest.raises(AssertionError, match="a still artist has moved"):
        update(still)


def test_an_image_is_read_as_it_is_drawn():
    (axes,) = panels()[1]
    cells = np.array([[1.0, 2], [3, 4]])
    for extent in (None, (0, 1, 0, 1), (0, 1, 1, 0)):
        shown = axes.imshow(cells, extent=extent, animated=True)
        left, right, bottom, top = shown.get_extent()
        assert value_at(shown, left + 0.1, top + 0.1 * (bottom - top)) == 1  # the first row is at the top
        assert value_at(shown, right - 0.1, top + 0.1 * (bottom - top)) == 2
        assert value_at(shown, left + 0.1, bottom - 0.1 * (bottom - top)) == 3
    assert value_at(axes.imshow(cells, origin="lower"), 0, 0) == 1
    assert image(axes).get_animated()


def test_a_series_is_known_by_its_look():
    (axes,) = panels()[1]
    one, two = axes.plot([0, 1], [0, 1], color=BLUE)[0], axes.plot([0, 1], [1, 0], "--", color=VERMILLION)[0]
    axes.legend([two, one], ["falls", "rises"])
    assert (series(axes, "rises"), series(axes, "falls")) == (one, two)
    axes.legend([one, two], ["falls", "rises"])
    assert series(axes, "rises") is two  # a legend that names the wrong one is believed


def test_ticks_that_lie_are_found():
    (axes,) = panels()[1]
    axes.set(yscale="log", ylim=(1e-8, 1))
    log_ticks(axes.yaxis, (-5, 0))
    assert labels_at_their_values(axes.yaxis)
    axes.yaxis.set_ticks([1e-4, 1], labels=["10⁻⁵", "10⁰"])
    assert not labels_at_their_values(axes.yaxis)


@pytest.mark.parametrize(
    ("places", "labels", "wrong"),
    [
        ([-1, 0, 1], None, ""),
        ([0, 1, 2], ["none", "one", "two"], ""),
        ([0, 1, 2], ["1", "2", "4"], ""),
        ([0, 1, 4], None, ""),
        ([0, 1, 3], None, "uneven"),
        ([-1, 1, 3], None, "no multiples"),
        ([1, 0, 1], None, "do not ascend"),
        ([-1, -1, 0], None, "do not ascend"),
        ([-2, 0, 1], None, "uneven"),
        ([0, 1, 2], ["1", "3", "2"], "out of order"),
    ],
)
def test_ticks_out_of_place_are_found(places, labels, wrong):
    (axes,) = panels()[1]
    axes.set_xticks(places, labels)
    axes.plot([0, 1, 4], [0, 0, 0])
    told = misplaced(axes.xaxis)
    assert wrong in told
    assert bool(wrong) == bool(told)


@pytest.mark.parametrize("channel", [0, 2])
def test_red_is_more_blue_is_less_and_bright_is_much(channel):
    """What the chapters say of the colours of a matrix."""
    axes = Figure().subplots()
    both = axes.imshow([[0.0]], cmap=DIVERGING, vmin=-1, vmax=1)
    low, middle, high = (both.to_rgba(value)[channel] for value in (-0.8, 0.0, 0.8))
    assert (high > low) == (channel == 0)
    assert middle > 0.9
    up = axes.imshow([[0.0]], cmap=SEQUENTIAL, vmin=0, vmax=1)
    assert all(np.diff([np.sum(up.to_rgba(value)[:3]) for value in np.linspace(0, 1, 5)]) > 0)
