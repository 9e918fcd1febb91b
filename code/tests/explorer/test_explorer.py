"""The Explorer's Python side: what it refuses, what it puts into a page, and how it lives in a kernel."""

import base64
import gzip
import io
import itertools
import json
import os
import re
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from bs4 import BeautifulSoup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from encoderlab.explorer import Explorer, Steps, Toggle
from encoderlab.explorer.packing import share_palette


@pytest.fixture
def in_page(monkeypatch):
    monkeypatch.setenv("ENCODERLAB_WORLD", "page")


@pytest.fixture(autouse=True)
def _in_kernel_unless_told(monkeypatch):
    monkeypatch.delenv("ENCODERLAB_WORLD", raising=False)


def bar_figure():
    """Return a figure with one moving bar, its axes, and the update that moves it."""
    figure = Figure(figsize=(4, 3))
    axes = figure.subplots()
    axes.set(xlim=(-1, 1), ylim=(0, 10), title="A bar")
    bar = axes.bar([0], [1], animated=True)[0]

    def update(height, side):
        bar.set_height(height)
        bar.set_x({"left": -1, "right": 0}[side])
        return f"The bar on the {side} is {height} high & <thin>."

    return figure, axes, update


def bar_explorer(name="bar", change=lambda axes, height: None):
    """Return an explorer of the bar; `change` is what its update does besides moving the bar."""
    figure, axes, move = bar_figure()

    def update(height, side):
        change(axes, height)
        return move(height, side)

    return Explorer(name, figure, update, height=Steps("Height", range(2, 9, 2), start=6), side=SIDE)


SIDE = Toggle("Side", ("left", "right"))


def html_of(explorer):
    return explorer._repr_mimebundle_()["text/html"]


def states_of(html):
    """Unpack what the page's script unpacks."""
    packed = BeautifulSoup(html, "html.parser").find("script", type="application/gzip").string
    return json.loads(gzip.decompress(base64.b64decode(packed)))


# What it refuses.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Toggle("FFN", ("on",)), r"Toggle\('FFN'\): values: expected two or more, got \('on',\)"),
        (lambda: Steps("Depth", range(0)), "expected two or more"),
        (lambda: Steps("x", None), r"Steps\('x'\): values: expected a sequence of values, got None"),
        (lambda: Steps("x", (np.ones(2), np.zeros(2))), "values: expected numbers or words, got an array"),
        (lambda: Steps("x", (1, 2), start=np.ones(2)), "start: expected numbers or words, got an array"),
        (lambda: Steps("Depth", (1, 2, 1)), "got 1 twice"),
        (lambda: Steps("Depth", (1, "1")), "reads '1'"),
        (lambda: Steps("Depth", (1, 1.0)), "got 1.0 twice"),
        (lambda: Toggle("Norm", "post"), "got the string 'post'"),
        (lambda: Toggle("Norm", ("", "post")), "can be read, got ''"),
        (lambda: Toggle(" "), "label: expected the words that a reader sees, got ' '"),
        (lambda: Steps("Depth", range(1, 5), start=7), r"start: expected one of \(1, 2, 3, 4\), got 7"),
    ],
)
def test_control_refuses(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("name", ["", "Bar", "2nd", "a b", "a_b", "é", "a\n", None])
def test_name_that_cannot_address_a_figure_is_refused(name):
    with pytest.raises(ValueError, match="name: expected a-z"):
        bar_explorer(name)


@pytest.mark.parametrize(
    ("controls", "message"),
    [
        ({}, "controls: expected at least one"),
        ({"height": (1, 2), "side": SIDE}, r"height: expected a Toggle or Steps, got \(1, 2\)"),
        ({"height": Steps("H", (1, 2)), "name": SIDE}, "name of an argument of update, got 'name'"),
        ({"height": Steps("H", (1, 2)), "the side": SIDE}, "name of an argument of update, got 'the side'"),
        ({"height": Steps("H", (1, 2))}, "update: expected a function of height, got .*'side'"),
        ({"height": Steps("H", (1, 2)), "side": SIDE, "depth": SIDE}, "update: .*'depth'"),
    ],
)
def test_controls_that_do_not_fit_update_are_refused(controls, message):
    figure, _, update = bar_figure()
    with pytest.raises(ValueError, match=message):
        Explorer("bar", figure, update, **controls)


def test_figure_that_cannot_move_is_refused():
    with pytest.raises(ValueError, match="figure: expected a matplotlib Figure, got None"):
        Explorer("bar", None, lambda side: "", side=SIDE)
    with pytest.raises(ValueError, match="figure: expected an artist marked animated=True, got none"):
        Explorer("bar", Figure(), lambda side: "", side=SIDE)


def test_artist_outside_the_panels_is_refused():
    figure = Figure()
    figure.subfigures(1, 2)[0].subplots().plot([0, 1], animated=True)
    figure.suptitle("Lost")
    with pytest.raises(ValueError, match=r"in one of the subfigures, got Text.*Lost.* outside"):
        Explorer("bar", figure, lambda side: "", side=SIDE)


def test_moving_image_that_would_blur_is_refused():
    figure = Figure()
    figure.subplots().imshow([[0]], interpolation="nearest", animated=True)
    with pytest.raises(
        ValueError, match=r"expected interpolation='none' in a moving image, .* got 'nearest'"
    ):
        Explorer("bar", figure, lambda side: "", side=SIDE)


def test_world_is_never_guessed(monkeypatch):
    monkeypatch.setenv("ENCODERLAB_WORLD", "browser")
    with pytest.raises(
        ValueError, match="ENCODERLAB_WORLD: expected 'page', or unset in a kernel, got 'browser'"
    ):
        bar_explorer()


@pytest.mark.usefixtures("in_page")
def test_update_that_raises_names_the_state():
    def fail(axes, height):
        if height == 4:
            raise ZeroDivisionError("no")

    with pytest.raises(
        ValueError, match=r"'bar': update\(height=4, side='left'\) raised ZeroDivisionError: no"
    ) as info:
        bar_explorer(change=fail)
    assert isinstance(info.value.__cause__, ZeroDivisionError)


@pytest.mark.usefixtures("in_page")
@pytest.mark.parametrize("said", [None, "", "  ", 3])
def test_update_without_a_sentence_is_refused(said):
    figure, _, _ = bar_figure()
    with pytest.raises(ValueError, match=rf"update\(side='left'\) returned {said!r}, expected a sentence"):
        Explorer("bar", figure, lambda side: said, side=SIDE)


@pytest.mark.usefixtures("in_page")
def test_a_sentence_in_the_words_of_the_code_is_refused():
    figure, _, _ = bar_figure()
    with pytest.raises(ValueError, match=r"returned 'FFN True\.', expected words for a reader, not True"):
        Explorer("bar", figure, lambda side: "FFN True.", side=SIDE)


def overwrite(axes, height):
    axes.lines[0].get_ydata(orig=False)[:] = height


def replace_the_bar(axes, height):
    axes.patches[0].remove()
    axes.bar([0], [height], animated=True)


@pytest.mark.usefixtures("in_page")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda axes, height: axes.set_title(f"{height} high"), r"update\(height=2.*Text.*2 high"),
        (
            lambda axes, height: axes.set_title("Odd one" if height == 4 else "A bar"),
            "height=4.*Text.*Odd one",
        ),
        (lambda axes, height: axes.set_ylim(0, height), "update.*YAxis"),
        (lambda axes, height: axes.set_yticks([0, height]), "update.*YAxis"),
        (lambda axes, height: axes.axhline(height), "update.*Line2D"),
        (
            lambda axes, height: axes.texts[0].set_color("red" if height > 2 else "black"),
            "height=4.*Text.*still",
        ),
        (overwrite, "'bar': update changed a still artist, expected"),
        (replace_the_bar, "added, removed or replaced an animated artist"),
    ],
)
def test_still_artist_that_changes_is_an_error(change, named):
    figure, axes, move = bar_figure()
    axes.text(0, 0, "still")
    axes.plot([0.0, 1.0], [0.0, 0.0])

    def update(height, side):
        change(axes, height)
        return move(height, side)

    with pytest.raises(ValueError, match=named):
        Explorer("bar", figure, update, height=Steps("Height", (2, 4)), side=SIDE)


@pytest.mark.usefixtures("in_page")
def test_still_artist_that_is_set_to_what_it_was_is_none():
    bar_explorer(change=lambda axes, height: axes.set_title("A bar"))


@pytest.mark.parametrize("world", ["page", ""])
@pytest.mark.parametrize("animated", [True, False])
def test_character_that_the_font_lacks_is_an_error(monkeypatch, world, animated):
    monkeypatch.setenv("ENCODERLAB_WORLD", world)
    figure, axes, update = bar_figure()
    axes.text(0, 5, "注意力", animated=animated)
    with pytest.raises(ValueError, match="expected characters that its font has, got Glyph"):
        Explorer("bar", figure, update, height=Steps("Height", (2, 4)), side=SIDE)


# What it puts into a page.


@pytest.mark.usefixtures("in_page")
def test_page_holds_native_controls_and_the_first_state():
    page = BeautifulSoup(html_of(bar_explorer()), "html.parser")
    figure = page.find("figure", class_="explorer", id="bar")
    form = figure.find("form")
    assert form.has_attr("hidden")  # until the script makes it work

    radios = form.find("fieldset").find_all("input", type="radio")
    assert form.find("legend").text == "Side"
    assert [(radio["name"], radio["value"]) for radio in radios] == [("side", "left"), ("side", "right")]
    assert [radio.has_attr("checked") for radio in radios] == [True, False]

    slider = form.find("input", type="range")
    expected = {"name": "height", "min": "2", "max": "8", "step": "2", "value": "6", "aria-valuetext": "6"}
    assert expected.items() <= slider.attrs.items()
    assert slider.parent.name == "label"
    assert slider.parent.text.strip() == "Height"
    assert form.find("output").text == "6"

    says = figure.find(class_="explorer-says")
    assert says["aria-live"] == "polite"
    assert says.text == "The bar on the left is 6 high & <thin>."
    picture = figure.find(class_="explorer-frame").find("svg")
    assert (picture["role"], picture["aria-labelledby"]) == ("img", says["id"])


@pytest.mark.usefixtures("in_page")
def test_every_state_is_packed_in_order_and_the_first_is_one_of_them():
    html = html_of(bar_explorer())
    states = states_of(html)
    assert states["controls"] == [["height", ["2", "4", "6", "8"], 2], ["side", ["left", "right"], 0]]
    expected = [
        f"The bar on the {side} is {height} high & <thin>."
        for height, side in itertools.product((2, 4, 6, 8), ("left", "right"))
    ]
    assert states["sentences"] == expected
    assert len({tuple(frame) for frame in states["frames"]}) == 8
    assert f'<g class="explorer-moving">{states["frames"][4][0]}</g>' in html  # height 6, left


@pytest.mark.usefixtures("in_page")
def test_slider_over_uneven_values_counts_their_places():
    figure, _, _ = bar_figure()

    def update(rate):
        return f"The rate is {rate}."

    page = BeautifulSoup(
        html_of(Explorer("bar", figure, update, rate=Steps("Rate", (0.1, 0.3, 1.0)))), "html.parser"
    )
    slider = page.find("input", type="range")
    assert (slider["min"], slider["max"], slider["step"], slider["value"]) == ("0", "2", "1", "0")
    assert slider["aria-valuetext"] == page.find("output").text == "0.1"


@pytest.mark.usefixtures("in_page")
def test_picture_speaks_the_language_of_the_page():
    html = html_of(bar_explorer())
    page = BeautifulSoup(html, "html.parser")
    assert "A bar" in [text.text for text in page.find_all("text")]
    drawn = html + "".join(itertools.chain(*states_of(html)["frames"]))
    assert "font-family" not in drawn
    assert "#000000" not in drawn
    assert "currentColor" in drawn
    colours = re.findall(r"(.{0,20})(#[0-9a-f]{6})\b", drawn)
    assert colours
    assert all(before.endswith(f"var(--c-{colour[1:]}, ") for before, colour in colours)


@pytest.mark.usefixtures("in_page")
def test_identifiers_are_unique_on_a_page_and_every_reference_finds_its_own():
    defined: list[str] = []
    for name in ("one", "two"):
        html = html_of(two_panels(name, [(0, 0.5), (1, 0.5)]))
        mine = re.findall(r' id="([^"]*)"', html)
        referred = set(re.findall(r'(?:href="#|url\(#|aria-labelledby=")([^")]*)', html))
        assert referred
        assert referred <= set(mine)
        for frame in states_of(html)["frames"]:
            drawn = "".join(frame)
            assert set(re.findall(r'(?:href="#|url\(#)([^")]*)', drawn)) <= set(
                re.findall(r' id="([^"]*)"', drawn)
            )
        defined += mine
    assert len(defined) == len(set(defined))


def two_panels(name, states):
    """Return a two-panel explorer: a heat map of 12 tokens beside a curve of 13 points, both moving."""
    rng = np.random.default_rng(0)
    figure = Figure(figsize=(9.6, 3.6))
    left, right = (part.subplots() for part in figure.subfigures(1, 2))
    image = left.imshow(
        np.zeros((12, 12)), vmin=-1, vmax=1, cmap="RdBu_r", interpolation="none", animated=True
    )
    (line,) = right.semilogy([], [], "o-", animated=True)
    right.set(xlim=(0, 12), ylim=(1e-17, 2))
    noise = {seed: rng.normal(size=(12, 32)) for seed, _ in states}

    def update(state):
        seed, mix = states[state]
        x, distance = noise[seed], []
        for _ in range(13):
            distance.append(np.linalg.norm(x - x.mean(0)) / np.linalg.norm(x) + 1e-16)
            x = mix * x + (1 - mix) * x.mean(0)
        x = noise[seed] + mix * 3
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        image.set_data(x @ x.T)
        line.set_data(range(13), distance)
        return f"State {state}: the distance falls to {distance[-1]:.1e}."

    return Explorer(name, figure, update, state=Steps("State", range(len(states))))


@pytest.mark.usefixtures("in_page")
def test_144_two_panel_frames_are_small():
    html = html_of(two_panels("many", [(k // 12, k % 12 / 12) for k in range(144)]))
    assert len(states_of(html)["frames"]) == 144
    assert len(gzip.compress(html.encode())) <= 60_000


@pytest.mark.usefixtures("in_page")
def test_what_stands_still_is_not_drawn_for_every_state(monkeypatch):
    """Whole axes take a tenth of a second, the moving artists alone a few milliseconds."""
    drawn = []
    monkeypatch.setattr(
        Axes, "draw", lambda axes, renderer, draw=Axes.draw: (drawn.append(axes), draw(axes, renderer))
    )
    counts = []
    for n in (4, 40):
        drawn.clear()
        two_panels("many", [(k, 0.5) for k in range(n)])
        counts.append(len(drawn))
    assert counts[0] == counts[1] > 0


@pytest.mark.usefixtures("in_page")
def test_a_rebuild_is_identical_byte_for_byte():
    """Here, and in another process with another seed for its hashes."""
    program = "import test_explorer as t; print(t.html_of(t.bar_explorer()), end='')"
    env = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.path.dirname(__file__)}
    other = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=True).stdout
    assert html_of(bar_explorer()) == html_of(bar_explorer()) == other.decode()


@pytest.mark.usefixtures("in_page")
def test_moving_image_keeps_every_pixel():
    figure = Figure(figsize=(4, 3))
    image = figure.subplots().imshow(np.zeros((3, 5)), vmin=0, vmax=1, interpolation="none", animated=True)
    data = np.random.default_rng(0).random((2, 3, 5))

    def update(k):
        image.set_data(data[k])
        return f"Matrix {k}."

    states = states_of(html_of(Explorer("pixels", figure, update, k=Steps("Matrix", (0, 1)))))
    for k, (svg,) in enumerate(states["frames"]):
        png = re.search('data:image/png;base64, ([^"]*)', svg)[1]
        shown = plt.imread(io.BytesIO(base64.b64decode(png)))  # (3, 5, 4)
        np.testing.assert_allclose(shown, image.cmap(data[k]), atol=1 / 255)


@pytest.mark.parametrize("pixels", [np.arange(4 * 400).reshape(20, 20, 4) % 251, np.full((2, 2, 4), 120)])
def test_image_of_many_or_transparent_colours_is_left_alone(pixels):
    out = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(out, "png")
    frames = [[f'<image href="data:image/png;base64, {base64.b64encode(out.getvalue()).decode()}"/>']]
    assert share_palette(frames) == frames


# How it lives in a kernel.


def test_kernel_shows_one_widget_and_no_second_figure():
    figure = plt.figure()
    bar = figure.subplots().bar([0], [1], animated=True)[0]

    def update(height):
        bar.set_height(height)
        return f"It is {height} high."

    explorer = Explorer("bar", figure, update, height=Steps("Height", (0.2, 0.7)))
    assert not plt.get_fignums()
    bundle = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "text/html" not in bundle


def test_moving_a_widget_redraws_the_picture_and_the_sentence():
    controls, image, sentence = bar_explorer()._widget.children
    slider, _play, toggle = controls.children
    assert (slider.value, toggle.value) == (6, "left")
    assert sentence.value == "The bar on the left is 6 high &amp; &lt;thin&gt;."
    seen = {bytes(image.value)}
    toggle.value = "right"
    seen.add(bytes(image.value))
    slider.value = 2
    seen.add(bytes(image.value))
    assert len(seen) == 3
    assert sentence.value.startswith("The bar on the right is 2 high")
    toggle.value, slider.value = "left", 6
    assert bytes(image.value) in seen  # and nothing is left over from the states between
    assert bytes(image.value).startswith(b"\x89PNG")


def test_picture_in_a_kernel_is_white_paper_at_twice_its_size():
    pixels = plt.imread(_png(bar_explorer()))
    assert pixels.shape[:2] == (3 * 144, 4 * 144)
    assert (pixels[0, 0] == 1).all()


def test_picture_in_a_kernel_is_the_one_that_matplotlib_draws():
    figure, axes, update = bar_figure()
    update(6, "left")
    axes.patches[0].set(animated=False, zorder=10)  # above the frame of the axes, as everything that moves
    expected = _io(lambda out: figure.savefig(out, dpi=144))
    assert np.abs(plt.imread(expected) - plt.imread(_png(bar_explorer()))).max() < 0.01


def test_error_in_a_kernel_stands_in_the_sentence():
    def fail(axes, height):
        if height == 8:
            raise ZeroDivisionError("<no>")

    controls, _, sentence = bar_explorer(change=fail)._widget.children
    with pytest.raises(ValueError, match="raised ZeroDivisionError"):
        controls.children[0].value = 8
    assert "update(height=8, side=&#x27;left&#x27;) raised ZeroDivisionError: &lt;no&gt;" in sentence.value


def _png(explorer):
    return _io(lambda out: out.write(explorer._widget.children[1].value))


def _io(write):
    out = io.BytesIO()
    write(out)
    out.seek(0)
    return out
