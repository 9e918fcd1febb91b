"""The pictures of chapter 2 show what the mathematics gives: each is read as a reader reads it."""

import itertools

import numpy as np
import pytest
from artists import (
    axis_names,
    band,
    bars,
    labels_at_their_values,
    lines,
    moving_texts,
    points,
    scales,
    series,
    steer,
    ticks,
    titled,
    values,
)
from conftest import written_out
from matplotlib.colors import same_color
from scipy.stats import binomtest

from encoderlab.chapters.attention import xor
from encoderlab.chapters.attention.figures import parity_runs, root_d, sums_and_hulls, swapped_tokens, xor_map
from encoderlab.chapters.attention.linearity import sweep
from encoderlab.chapters.attention.readout import best_readout, random_body, token_features
from encoderlab.chapters.attention.saturation import random_rows
from encoderlab.experiments import results
from encoderlab.explorer.style import BLUE, GREY, VERMILLION
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.positions import sinusoidal_positions


@pytest.fixture(scope="module")
def linear():
    return steer(sums_and_hulls.linear())


def softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("test", "pattern", "scale", "n"),
    [
        ("f(X+Y)", "live", "0.3", 6),
        ("f(2X)", "live", "10", 2),
        ("f(X+Y)", "frozen", "3", 24),
        ("f(2X)", "frozen", "100", 6),
        ("f(2X)", "live", "1", 24),
    ],
)
def test_the_cloud_sets_attention_against_a_linear_map(linear, test, pattern, scale, n):
    figure, update = linear
    update("f(2X)", "live", "0.01", 2)
    update(test, pattern, scale, n)
    rng = np.random.default_rng(0)  # of the draw on show
    W_Q, W_K, W_V, W_O = rng.normal(scale=8**-0.5, size=(4, 8, 8))
    x, y = rng.normal(size=(2, max(sums_and_hulls.TOKENS), 8))[:, :n]

    def weights(z):
        return softmax(float(scale) * (z @ W_Q) @ (z @ W_K).T / 8**0.5)

    def f(z):
        return (weights(z) if pattern == "live" else weights(x)) @ z @ W_V @ W_O

    attention, straight = (f(x + y), f(x) + f(y)) if test == "f(X+Y)" else (f(2 * x), 2 * f(x))
    cloud = titled(figure, "Is it what a linear map would give?")
    (shown,) = [line for line in cloud.lines if line.get_animated()]
    told = (
        np.column_stack([straight[:6].ravel(), attention[:6].ravel()]) / straight.std()
    )  # six tokens at most
    np.testing.assert_allclose(points(shown), told, atol=1e-9)
    assert axis_names(cloud) == ("what a linear map would give", "what attention gives")
    (diagonal,) = [line for line in cloud.lines if not line.get_animated()]
    assert (points(diagonal)[:, 0] == points(diagonal)[:, 1]).all()


@pytest.mark.parametrize("n", [2, 24])
def test_the_curves_are_medians_and_the_dots_lie_on_them(linear, n):
    figure, update = linear
    curves = titled(figure, "How far from linear: median of 51 draws")
    update("f(X+Y)", "live", "1", n)
    labels = ("f(X+Y): miss", "f(2X): miss", "derivative: share of the pattern")
    sizes = [float(scale) for scale in sums_and_hulls.SCALES]
    draws = sweep(sizes, np.random.default_rng(1), n=n, d_model=8, n_heads=1, draws=51)
    for label, measure in zip(labels, draws, strict=True):
        np.testing.assert_allclose(
            points(series(curves, label)), np.column_stack([sizes, np.sort(measure)[:, 25]])
        )
    (here,) = lines(curves, "black", marker="o", style="None")
    for scale in ("0.1", "10"):
        update("f(2X)", "live", scale, n)
        on = [np.interp(float(scale), *series(curves, label).get_data()) for label in labels]
        assert points(here).tolist() == [[float(scale), height] for height in on]
    update("f(2X)", "frozen", "10", n)
    assert points(here).tolist() == [[10, 0]] * 3
    assert scales(curves) == ("log", "linear")
    assert labels_at_their_values(curves.xaxis)
    assert axis_names(curves)[0] == "size of the logits"


def inside(point, rim):
    """Whether a point lies in a convex polygon, by the side of every edge that it is on."""
    edges = np.roll(rim, -1, axis=0) - rim
    turns = edges[:, 0] * (point - rim)[:, 1] - edges[:, 1] * (point - rim)[:, 0]
    return bool((turns > -1e-12).all() or (turns < 1e-12).all())


@pytest.mark.parametrize(
    ("heads", "depth", "sharpness"), [("1", 2, "2"), ("2", 1, "4"), ("2", 3, "8"), ("1", 4, "1")]
)
def test_outputs_stand_where_they_lie_and_so_does_the_hull(heads, depth, sharpness):
    figure, update = steer(sums_and_hulls.hulls())
    update("2", 1, "32")
    says = update(heads, depth, sharpness)
    plane = titled(figure, "Values and outputs, before W_O")
    value, within, beyond = (
        points(series(plane, label)) for label in ("value", "output", "output outside the hull")
    )
    (rim,), (box,) = lines(plane, GREY), lines(plane, VERMILLION, style=":")
    corners = points(rim)[:-1]
    assert all(inside(point, corners) for point in [*value, *within])
    assert all(np.abs(value - corner).max(axis=1).min() < 1e-12 for corner in corners)
    assert not any(inside(point, corners) for point in beyond)
    assert len(within) + len(beyond) == len(value) == 6
    assert (f"{len(beyond)} of 6 outputs lie outside" in says) == (len(beyond) > 0)
    if heads == "2":
        assert points(box).min(axis=0).tolist() == value.min(axis=0).tolist()
        assert points(box).max(axis=0).tolist() == value.max(axis=0).tolist()
    else:
        assert len(points(box)) == 0

    def widest(xy):
        return max(np.hypot(*(a - b)) for a, b in itertools.combinations(xy, 2))

    sizes = titled(
        figure, "Largest distance between two tokens"
    )  # which a rotation keeps, as W_V and W_O are
    (spread,), (here,) = lines(sizes, BLUE, marker="o"), lines(sizes, "black", marker="o", style="None")
    assert points(spread)[:, 0].tolist() == list(range(7))
    assert values(spread)[depth - 1] == pytest.approx(widest(value))
    assert values(spread)[depth] == pytest.approx(widest([*within, *beyond]))
    assert points(here).tolist() == [points(spread)[depth].tolist()]
    assert (scales(sizes), labels_at_their_values(sizes.yaxis)) == (("linear", "log"), True)
    assert band(sizes) == (1e-17, 1e-14)


def test_one_head_turns_the_values_it_was_given_and_no_more():
    """The first layer's values are the tokens turned about the origin: lengths say which token is which."""
    figure, update = steer(sums_and_hulls.hulls())
    update("1", 1, "4")
    value = points(series(titled(figure, "Values and outputs, before W_O"), "value"))
    np.testing.assert_allclose(np.hypot(*value.T), [1, 0.75, 1, 0.6, 0.95, 0.8])


@pytest.mark.parametrize(
    ("mask", "positions", "depth", "swap"),
    [("none", False, 3, "1 and 2"), ("causal", False, 1, "3 and 5"), ("causal", True, 2, "1 and 2")],
)
def test_bars_are_the_changes_of_the_tokens(mask, positions, depth, swap):
    figure, update = steer(swapped_tokens.order())
    update("none", True, 4, "3 and 5")
    update(mask, positions, depth, swap)
    rng = np.random.default_rng(2)  # of the draw on show
    full = Encoder.random(EncoderConfig(d_model=16, n_heads=4, d_ff=32, depth=4), rng)
    x, net = rng.normal(size=(6, 16)), full.switch(depth=depth)
    order = {"1 and 2": [1, 0, 2, 3, 4, 5], "3 and 5": [0, 1, 4, 3, 2, 5]}[swap]
    added = sinusoidal_positions(6, 16) if positions else 0 * x
    allowed = np.tri(6) if mask == "causal" else None
    before, after = (written_out(net.config, net.parameters(), z + added, allowed) for z in (x, x[order]))
    change = [np.linalg.norm(after[order.index(k)] - before[k]) / np.linalg.norm(before[k]) for k in range(6)]
    (axes,) = figure.axes
    middle, top = bars(axes)
    assert middle.tolist() == [ticks(axes.xaxis)[str(k)] for k in range(1, 7)]
    np.testing.assert_allclose(top, change, atol=1e-14, rtol=1e-6)
    assert (scales(axes), labels_at_their_values(axes.yaxis)) == (("linear", "log"), True)
    assert axis_names(axes)[0] == "token"


@pytest.mark.parametrize(
    ("d_head", "divisor", "power"), [(64, "1", 0), (256, "√d_head", 0.5), (16, "d_head", 1)]
)
def test_a_row_of_weights_and_what_softmax_lets_through(d_head, divisor, power):
    figure, update = steer(root_d.root_d())
    update(1, "1")
    says = update(d_head, divisor)
    rows = random_rows(np.random.default_rng(0), d_head, d_head**-power, n=16)
    middle, top = bars(titled(figure, "Weights of one query, largest first"))
    assert middle.tolist() == list(range(16))
    assert f"with {top[0]:.0%} of its weight on one;" in says
    typical = min(rows.weights, key=lambda weights: np.abs(np.sort(weights)[::-1] - top).max())
    np.testing.assert_allclose(top, sorted(typical, reverse=True))
    one = np.exp(-np.sum(typical * np.log(np.maximum(typical, 1e-300))))
    assert one == pytest.approx(np.median(rows.keys), rel=0.05)  # a typical row, by the keys it attends to
    through = titled(figure, "What softmax lets through")
    assert points(series(through, f"divided by {divisor}"))[root_d.WIDTHS.index(d_head)].tolist() == [
        d_head,
        np.median(rows.passed),
    ]
    (here,) = [line for line in through.lines if line.get_animated()]
    assert points(here).tolist() == [[d_head, np.median(rows.passed)]]
    assert (scales(through), axis_names(through)) == (("log", "log"), ("d_head", "size of its Jacobian"))
    assert labels_at_their_values(through.xaxis)
    assert labels_at_their_values(through.yaxis)


@pytest.mark.parametrize(
    ("constant", "biases", "norm", "ffn"), [(True, False, False, False), (False, True, True, True)]
)
def test_xor_points_stand_on_the_colour_of_their_answer(constant, biases, norm, ffn):
    figure, update = steer(xor_map.xor_map())
    (plane,) = figure.axes
    update(constant, biases, norm, ffn, 2)
    differ, alike = (points(series(plane, label)) for label in ("bits differ", "bits alike"))
    assert sorted(differ.tolist()) == [[-1, 1], [1, -1]]
    assert sorted(alike.tolist()) == [[-1, -1], [1, 1]]
    blue, red = regions(plane)
    assert all(blue.contains_point(point) and not red.contains_point(point) for point in differ)
    assert all(red.contains_point(point) and not blue.contains_point(point) for point in alike)
    assert axis_names(plane) == ("first bit", "second bit")
    update(False, False, False, False, 1)
    assert [text.get_text() for text in moving_texts(plane)] == ["0 everywhere"]
    assert all(len(region.vertices) == 1 for region in regions(plane))
    update(constant, biases, norm, ffn, 2)
    assert moving_texts(plane) == []


def regions(plane):
    """Return the regions in the colours of the two markers."""
    return [
        next(patch.get_path() for patch in plane.patches if same_color(patch.get_facecolor()[:3], colour))
        for colour in (series(plane, "bits differ").get_color(), series(plane, "bits alike").get_color())
    ]


def test_the_map_has_the_regions_of_the_readout():
    figure, update = steer(xor_map.xor_map())
    (plane,) = figure.axes
    update(True, True, False, True, 1)
    draw = np.random.default_rng(7).normal(size=(3, 12))  # of the embedding on show
    body = random_body(np.random.default_rng(3), biases=True, layer_norm=False, ffn=True, depth=1)
    corners, labels = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]]), np.array([-1.0, 1, 1, -1])
    W, b = best_readout(token_features(body, corners, draw[:2], draw[2]), labels)
    somewhere = np.random.default_rng(0).uniform(-1.5, 1.5, size=(200, 2))
    height = (token_features(body, somewhere, draw[:2], draw[2]) @ W + b)[:, 0]
    blue, red = regions(plane)
    for point, says in zip(somewhere, height, strict=True):
        if abs(says) > 0.1:  # not at the edge, which a grid draws as a polygon
            assert blue.contains_point(point) == (says > 0)
            assert red.contains_point(point) == (says < 0)


@pytest.mark.parametrize(
    ("norm", "layer", "constant"), [("first", 1, "1"), ("second", 2, "4"), ("first", 1, "8")]
)
def test_the_fold_shows_the_third_coordinate_of_real_bits(norm, layer, constant):
    figure, update = steer(xor_map.norm_folds())
    update("second", "1")
    says = update(norm, constant)
    bits = np.array([[-1.0] * (4 - k) + [1] * k for k in range(5)])  # by their sums, −4 to 4
    trace = xor.parity_with_layer_norm(float(constant)).trace(bits[:, None])
    before, third = trace.layers[layer - 1].attention.u[:, 0], trace.hidden[layer][:, 0, 2]

    answer = titled(figure, "The third coordinate")
    even, odd = (points(series(answer, label)) for label in ("even", "odd number of ones"))
    np.testing.assert_allclose(even, np.column_stack([[-4, 0, 4], third[::2]]))
    np.testing.assert_allclose(odd, np.column_stack([[-2, 2], third[1::2]]))
    (curve,) = [line for line in answer.lines if line.get_marker() == "None" and line.get_animated()]
    np.testing.assert_allclose(np.interp([-4, -2, 0, 2, 4], *curve.get_data()), third, atol=1e-9)
    assert all(f"{value:.2f}".replace("-", "−") in says for value in third[2:])
    assert axis_names(answer)[0] == "sum of the four bits"

    circle = titled(figure, "LayerNorm takes a line to a circle")
    (even_on,), (odd_on,) = (
        lines(circle, colour, marker=mark, style="None") for colour, mark in ((VERMILLION, "o"), (BLUE, "s"))
    )
    centred = before - before.mean(axis=1, keepdims=True)
    on = 2 * centred / np.linalg.norm(centred, axis=1, keepdims=True)  # four numbers of variance one
    for shown, told in ((even_on, on[::2]), (odd_on, on[1::2])):
        np.testing.assert_allclose(values(shown), told[:, 2] * 1.5**0.5, atol=1e-6)  # the height is the third
        np.testing.assert_allclose(np.hypot(*points(shown).T), 2, atol=1e-6)
    ends = points(lines(circle, GREY)[-1])[1::2]
    for mark in [*points(even_on), *points(odd_on)]:  # each lies on the ray to the point it came from
        assert (ends @ mark / np.hypot(*ends.T) / np.hypot(*mark)).max() == pytest.approx(1)


@pytest.mark.parametrize(
    ("bits", "beside", "norm", "depth"),
    [("4", "nothing", "post", 2), ("2", "constant token", "none", 1), ("4", "FFN", "pre", 4)],
)
def test_shares_are_those_of_the_runs_and_the_bars_their_intervals(bits, beside, norm, depth):
    figure, update = steer(parity_runs.parity_runs())
    update("2", "nothing", "none", 1)
    says = update(bits, beside, norm, depth)
    (axes,) = figure.axes
    wanted = {"bits": int(bits), "bos": beside == "constant token", "ffn": beside == "FFN", "norm": norm}
    wanted |= {"depth": depth, "dtype": "float32"}
    name = "parity_starts" if beside == "nothing" else "parity_helped"
    runs = [run for run in results.load(name).runs if wanted.items() <= run.settings.items()]
    for steps, colour, marker in ((1000, BLUE, "o"), (4000, VERMILLION, "s")):
        own = [run for run in runs if run.settings["steps"] == steps]
        rates = sorted({run.settings["lr"] for run in own})
        right = [
            sum(run.measures["accuracy"] == 1 for run in own if run.settings["lr"] == lr) for lr in rates
        ]
        shown = series(axes, f"{steps} steps")
        assert (same_color(shown.get_color(), colour), shown.get_marker()) == (True, marker)
        x, y = points(shown).T if len(rates) else ([], [])
        np.testing.assert_allclose(x, rates, rtol=0.1)  # beside the other number of steps
        np.testing.assert_allclose(y, np.array(right) / 24)
        (bars_shown,) = lines(axes, colour, style="-")
        ends = points(bars_shown).reshape(-1, 2, 2)[..., 1]
        for k, (low, high) in zip(right, ends, strict=True):
            expected = binomtest(k, 24).proportion_ci(method="wilson")
            assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-6)
        assert all(f"{k} at {lr:g}" in says for k, lr in zip(right, rates, strict=True))
    assert [text.get_text() for text in moving_texts(axes) if text.get_text()] == []
    assert ticks(axes.xaxis) == {"0.001": 0.001, "0.003": 0.003, "0.01": 0.01, "0.03": 0.03}
    assert axis_names(axes)[0] == "learning rate"
    assert axes.yaxis.get_major_formatter()(0.5) == "50%"
    update("4", "nothing", "post", 1)
    assert [text.get_text() for text in moving_texts(axes)] == ["none can: proved"]
