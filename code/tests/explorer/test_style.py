"""The look of the figures: colours that every reader can tell apart, on light and dark pages; plain ticks."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from encoderlab.explorer import style

SHEET = Path(__file__).parents[3] / "_static" / "explorer.css"
VARIABLE = re.compile(r"--c-([0-9a-f]{6}): (#[0-9a-f]{6});")
PAPER = {"light": "#ffffff", "dark": "#14181e"}  # the theme's; the real dark page is a little darker still

# Machado, Oliveira and Fernandes (2009), linear sRGB, severity 1.
COLOUR_VISION = {
    "all cones": np.eye(3),
    "no red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue cones": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def dark_variants():
    """Read from the style sheet what each colour becomes on a dark page."""
    return {f"#{colour}": dark for colour, dark in VARIABLE.findall(SHEET.read_text())}


def colours_on(theme):
    return [colour if theme == "light" else dark_variants()[colour] for colour in style.PALETTE]


def linear(colour):
    """Return linear sRGB from "#rrggbb" (IEC 61966-2-1)."""
    c = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """Return the contrast ratio of WCAG 2."""
    dim, bright = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return (bright + 0.05) / (dim + 0.05)


def lab(rgb):
    """Return CIE L*a*b* (D65) from linear sRGB."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(to_xyz @ np.clip(rgb, 0.001, 1) / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_contrast_is_that_of_wcag():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_every_colour_has_a_dark_variant_and_every_variant_a_colour():
    assert set(dark_variants()) == {*style.PALETTE, style.RULE}


@pytest.mark.parametrize("theme", PAPER)
def test_lines_and_marks_stand_out_from_the_page(theme):
    assert min(contrast(colour, PAPER[theme]) for colour in colours_on(theme)) >= 3


@pytest.mark.parametrize("theme", PAPER)
@pytest.mark.parametrize("vision", COLOUR_VISION)
def test_every_reader_can_tell_the_colours_apart(theme, vision):
    """A difference of 2.3 is just noticeable side by side; thin lines need several times that."""
    seen = [lab(COLOUR_VISION[vision] @ linear(colour)) for colour in colours_on(theme)]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) >= 12


def test_panels_are_subfigures_of_one_width():
    figure, axes = style.panels(3, height=2)
    assert [ax.figure for ax in axes] == list(figure.subfigs)
    assert figure.get_size_inches() == pytest.approx([3 * style.PANEL_WIDTH, 2])
    with pytest.raises(ValueError, match="n: expected one panel or more, got 0"):
        style.panels(0)


def test_log_ticks_are_plain_text_and_nothing_lies_between():
    _, (axes,) = style.panels()
    axes.set(yscale="log", ylim=(1e-17, 10))
    style.log_ticks(axes.yaxis, (-15, 0, 1))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["10⁻¹⁵", "10⁰", "10¹"]
    assert list(axes.get_yticks()) == [1e-15, 1, 10]
    assert not list(axes.yaxis.get_minorticklocs())


def test_colour_key_pairs_colours_with_values():
    figure, (axes,) = style.panels()
    image = axes.imshow([[0.0]], vmin=-1, vmax=3, cmap=style.DIVERGING)
    key = style.colour_key(image, axes, "cosine")
    figure.draw_without_rendering()
    (ramp,) = key.images
    for value in (-1, 0, 1, 3):
        row = np.searchsorted(np.linspace(-1, 3, 257)[1:-1], value)  # counted from below
        beside = ramp.cmap(ramp.norm(ramp.get_array()[255 - row, 0]))
        assert beside == pytest.approx(image.cmap(image.norm(value)), abs=0.02)  # a step or two of 256
    assert (key.get_ylim(), key.get_ylabel()) == ((-1, 3), "cosine")
