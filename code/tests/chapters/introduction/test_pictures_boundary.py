"""The introduction's first figure: its boundary is the trained model's, its line is a line."""

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, PathPatch

from encoderlab.chapters.introduction.figures.boundary import GRID, WORDS, boundary
from encoderlab.experiments.kept_weights import load_model
from encoderlab.experiments.plane import DEPTHS
from encoderlab.experiments.results import load
from encoderlab.explorer.style import BLUE, GREY, VERMILLION
from encoderlab.training.tasks import moons


def moving(figure, kind):
    """List the moving artists of a kind, in the order of drawing."""
    return [artist for artist in figure.findobj(kind) if artist.get_animated()]


@pytest.mark.parametrize("ffn", [False, True])
@pytest.mark.parametrize("depth", [1, 8])
def test_a_field_of_a_colour_is_where_the_model_answers_its_class(ffn, depth):
    figure, update = boundary()
    update(ffn, depth)
    fields = [p for p in moving(figure, PathPatch) if not isinstance(p, FancyBboxPatch)]
    model, _ = load_model("boundary", f"{'ffn' if ffn else 'attention'}_{depth}")
    answers = model(GRID[:, None]).argmax(axis=-1)
    colours = [mpl_hex(field) for field in fields]
    assert colours == [VERMILLION, BLUE]
    for label, field in enumerate(fields):
        inside = field.get_path().contains_points(GRID)
        assert np.mean(inside == (answers == label)) > 0.98  # cells on the very edge may fall either way


def mpl_hex(patch):
    """Return a patch's colour as it is written in the style."""
    return "#" + "".join(f"{round(255 * part):02x}" for part in patch.get_facecolor()[:3])


def test_points_of_a_class_have_its_marker_and_colour():
    figure, _ = boundary()
    plane = figure.axes[1]
    expected = moons().draw(np.random.default_rng(5), 160)
    for line, label, look in zip(plane.lines, (0, 1), (("o", VERMILLION), ("s", BLUE)), strict=True):
        assert (line.get_marker(), line.get_color()) == look
        shown = np.column_stack(line.get_data())
        np.testing.assert_array_equal(shown, expected.features[expected.target == label, 0])


def test_the_drawn_layer_follows_the_switches():
    figure, update = boundary()
    boxes = moving(figure, FancyBboxPatch)
    words = [text for text in figure.axes[0].texts if text.get_animated()]
    for ffn, depth in ((True, 2), (False, 8)):
        update(ffn, depth)
        told = [text.get_text() for text in words]
        assert told.count("FFN") == (len(WORDS) if ffn else 0)
        assert told[-1] == f"× {depth}"
        assert len(boxes) == len(WORDS)
        assert all(np.allclose(b.get_edgecolor()[:3], np.array(to_rgb(BLUE if ffn else GREY))) for b in boxes)


def test_arrows_of_the_layer_go_up_and_skips_go_round():
    """From word to output, attention and FFN on the way; tokens read one another in both directions."""
    figure, update = boundary()
    update(True, 2)
    sheet = figure.axes[0]
    middles = {t.get_text(): t.get_position() for t in sheet.texts}
    arrows = [np.array(a._posA_posB) for a in sheet.findobj(FancyArrowPatch)]
    rising = [(x, low, high) for (x, low), (to, high) in arrows if x == to and low != high]
    level = [(x, to, y) for (x, y), (to, same) in arrows if y == same]
    assert len(rising) + len(level) == len(arrows)
    assert all(low < high for _, low, high in rising)
    for word in WORDS:
        x, y = middles[word]
        own = sorted((low, high) for at, low, high in rising if at == pytest.approx(x))
        assert own[0][0] < middles["attention: across the tokens"][1] < own[-1][1]
        assert y < own[0][1]
        assert (np.diff(own, axis=0) > 0).all()
        starts = [h for a, b, h in level if (a, b) == (x, pytest.approx(x - 1))]
        skips = sorted((low, high) for at, low, high in rising if at == pytest.approx(x - 1))
        assert starts == [low for low, _ in skips]
        assert len(skips) == 2
    among = {frozenset((round(a, 6), round(b, 6))) for a, b, _ in level if abs(a - b) > 1}
    assert len(among) == len(WORDS) * (len(WORDS) - 1) / 2
    right = max(b.get_window_extent().x1 for b in sheet.findobj(FancyBboxPatch))
    (times,) = [t for t in sheet.texts if t.get_text() == "× 2"]
    assert times.get_transform().transform(times.get_position())[0] > right  # beside the layer


def to_rgb(colour):
    """Return the three parts of a colour such as #0072b2."""
    return [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]


def test_the_sentence_tells_the_accuracies_and_what_the_boundary_is():
    _, update = boundary()
    found = load("boundary")
    for ffn, depth in ((False, 1), (False, 8), (True, 1), (True, 8)):
        says = update(ffn, depth)
        right = found.measure("accuracy", ffn=ffn, depth=depth, dtype="float32")
        assert f"{len(right)} starts: right on {right.min():.1%} to {right.max():.1%}" in says
        assert says.endswith("is a curve." if ffn else "is a straight line.")


def test_ten_starts_of_every_depth_stay_on_their_side_of_the_best_line():
    found = load("boundary")
    line = found.runs[0].baselines["best straight line"]
    for depth in DEPTHS:
        without, with_ffn = (
            found.measure("accuracy", ffn=ffn, depth=depth, dtype="float32") for ffn in (False, True)
        )
        assert len(without) == len(with_ffn) == 10
        assert without.max() <= line < with_ffn.min()
