"""The pictures of the introduction show what is computed and stored: each is read as a reader reads it."""

import numpy as np
from artists import axis_names, lines, points, steer, texts, ticks, values

from encoderlab.chapters.abstraction.data import SURGERY_MEASURES, results
from encoderlab.chapters.abstraction.surgery import FORMS, PARTS
from encoderlab.chapters.introduction.figures import worlds
from encoderlab.chapters.introduction.figures.boundary import boundary
from encoderlab.experiments.results import load
from encoderlab.explorer.style import BLUE, GREY, VERMILLION
from encoderlab.model.encoder import Encoder, EncoderConfig


def test_the_plane_names_its_features_and_nothing_still_moves():
    figure, update = steer(boundary())
    (plane,) = (axes for axes in figure.axes if axes.get_title(loc="left") == "What a trained stack answers")
    assert axis_names(plane) == ("first feature of the token", "second feature")
    assert plane.get_aspect() == 1
    for ffn, depth in ((False, 1), (True, 8)):
        update(ffn, depth)
        for line in plane.lines:  # every point shown lies within the axes
            assert (np.abs(points(line)) <= [plane.get_xlim()[1], plane.get_ylim()[1]]).all()


def test_what_is_not_affine_stands_at_its_depth_by_its_name():
    figure, says = worlds.proved()
    (axes,) = figure.axes
    rng = np.random.default_rng(0)  # of the draw on show
    full, x = Encoder.random(EncoderConfig(16, 2, 64, 8, norm="none"), rng), rng.normal(size=(500, 1, 16))
    design = np.column_stack([x[:, 0], np.ones(500)])
    for name, ffn, colour, marker in (
        ("with FFN", True, BLUE, "s"),
        ("attention alone", False, VERMILLION, "o"),
    ):
        (line,) = lines(axes, colour, marker=marker, moving=False)
        for depth in (1, 4, 8):
            y = full.switch(ffn=ffn, depth=depth)(x)[:, 0]
            left = np.linalg.norm(y - design @ np.linalg.lstsq(design, y)[0]) / np.linalg.norm(y)
            (height,) = values(line)[points(line)[:, 0] == ticks(axes.xaxis)[str(depth)]]
            np.testing.assert_allclose(height, left, atol=1e-12)
        assert abs(texts(axes)[name][1] - values(line)[-1]) < 0.1  # the name stands by the end of its line
    assert axis_names(axes) == ("layers", "not affine")
    assert axes.yaxis.get_major_formatter()(0.5) == "50%"
    assert "with FFNs" in says


def test_every_start_is_a_dot_in_the_row_of_its_stack():
    (axes,) = worlds.trained()[0].axes
    plain = {
        "n_heads": 1,
        "residual": True,
        "norm": "none",
        "n_symbols": 16,
        "size_of_cycle": 8,
        "dtype": "float32",
    }
    found = load("two_hop")
    x, y = np.concatenate(
        [points(line) for line in lines(axes, BLUE, marker="o", style="None", moving=False)]
    ).T
    for name, settings in (
        ("1 layer", {"depth": 1, "ffn": False}),
        ("1 layer and FFN", {"depth": 1, "ffn": True}),
        ("2 layers", {"depth": 2, "ffn": False}),
    ):
        wanted = plain | settings
        told = [r.measures["accuracy"] for r in found.runs if wanted.items() <= r.settings.items()]
        np.testing.assert_allclose(sorted(x[y == ticks(axes.yaxis)[name]]), sorted(told))
        assert len(told) >= 3
    (look,) = lines(axes, VERMILLION, style="--", moving=False)
    best = max(found.select(n_symbols=16, size_of_cycle=8)[0].baselines.values())
    assert look.get_xdata() == [best, best]
    assert abs(texts(axes)["one look"][0] - best) < 0.05
    assert axis_names(axes)[0] == "right answers"
    assert axes.xaxis.get_major_formatter()(0.5) == "50%"


def test_margins_stand_in_the_row_of_what_is_taken_out():
    (axes,) = worlds.published()[0].axes
    margin, stored = SURGERY_MEASURES.index("margin"), results()
    x, y = np.concatenate(
        [points(line) for line in lines(axes, BLUE, marker="o", style="None", moving=False)]
    ).T
    for part in ("FFN", "attention"):
        forms = [list(FORMS).index(form) for form in ("zero", "mean of its kind")]
        told = stored["surgery"][list(PARTS).index(part), forms, margin, -1, 0]
        np.testing.assert_allclose(sorted(x[y == ticks(axes.yaxis)[f"no {part}"]]), sorted(told), rtol=1e-6)
    (intact,) = lines(axes, GREY, moving=False)
    np.testing.assert_allclose(intact.get_xdata(), stored["intact"][margin, -1, 0], rtol=1e-6)
    assert abs(texts(axes)["intact"][0] - intact.get_xdata()[0]) < 0.5
    low, high = axes.get_xlim()
    assert low < x.min() <= x.max() <= intact.get_xdata()[0] < high
    assert axis_names(axes)[0] == "margin of a paraphrase (in σ)"
