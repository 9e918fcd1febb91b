"""The pictures of chapter 3 show what the mathematics gives: each is read as a reader reads it."""

import re

import numpy as np
import pytest
from artists import (
    axis_names,
    entry,
    image,
    labels_at_their_values,
    lines,
    look,
    moving_texts,
    points,
    scales,
    series,
    steer,
    texts,
    ticks,
    titled,
    value_at,
    values,
)
from matplotlib.colors import same_color

from encoderlab.chapters.stacking.figures import accuracy_by_switch, collapse, one_for_two, where_it_looks
from encoderlab.chapters.stacking.impersonation import averaging, matching_layer, random_head
from encoderlab.chapters.stacking.random_stacks import biases, distances, random_stack
from encoderlab.chapters.stacking.rank_collapse import follow
from encoderlab.chapters.stacking.two_steps import CONTESTANTS, OPTIONS
from encoderlab.experiments.kept_weights import load_model
from encoderlab.experiments.results import load
from encoderlab.explorer.style import BLUE, GREEN, GREY, PURPLE, SEQUENTIAL, VERMILLION
from encoderlab.numerals import scientific


def attend(x, layer):
    """Compute one head by the formula: its output and its pattern."""
    logits = (x @ layer.W_Q) @ (x @ layer.W_K).T / layer.W_Q.shape[1] ** 0.5
    logits = (
        logits if layer.b_Q is None else logits + layer.b_Q @ (x @ layer.W_K).T / layer.W_Q.shape[1] ** 0.5
    )
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    pattern = e / e.sum(axis=1, keepdims=True)
    values = x @ layer.W_V + (0 if layer.b_V is None else layer.b_V)
    return pattern @ values @ layer.W_O + (0 if layer.b_O is None else layer.b_O), pattern


@pytest.mark.parametrize(("n", "d", "d_qk", "seen"), [(5, 8, 4, "its own"), (8, 8, 2, "a new")])
def test_the_impersonator_stands_beside_its_model(n, d, d_qk, seen):
    figure, update = steer(one_for_two.impersonator())
    update(n=3, d=4, d_qk=1, seen="a new")
    update(n=n, d=d, d_qk=d_qk, seen=seen)
    rng = np.random.default_rng(1)  # of the draw on show
    first, second = random_head(rng, d), random_head(rng, d)
    x, others = rng.normal(size=(n, d)), rng.normal(size=(100, n, d))
    layer = matching_layer(x, first, second, d_qk=d_qk, best_fit=True).layer
    on = x if seen == "its own" else others[0]
    hidden, A_1 = attend(on, first)
    product, imitation = attend(hidden, second)[1] @ A_1, attend(on, layer)[1]

    left = titled(figure, "Weights: the brighter, the more")
    brightest = max(product.max(), imitation.max())
    for nth, (name, weights) in enumerate((("A₂A₁", product), ("the layer's", imitation))):
        shown = image(left, nth)
        start, end, *_ = shown.get_extent()
        assert texts(left)[name][0] == pytest.approx((start + end) / 2)  # named below
        for i in range(n):
            for j in range(n):
                cell = value_at(shown, start + (j + 0.5) / n, 1 - (i + 0.5) / n)
                assert cell == pytest.approx(weights[i, j] / brightest, abs=1e-9)
        assert (shown.get_cmap().name, shown.get_clim()) == (SEQUENTIAL, (0, 1))

    def off(layer, tokens):
        told = attend(attend(tokens, first)[0], second)[0]
        return np.linalg.norm(attend(tokens, layer)[0] - told) / np.linalg.norm(told)

    error = titled(figure, "How far off its output is")
    rows = ticks(error.yaxis)
    (own,) = lines(error, GREEN, marker="o", style="None")
    assert points(own) == pytest.approx(
        np.array([[max(off(layer, x), 2e-16), rows["the layer,\nits own input"]]]), rel=1e-3, abs=1e-12
    )
    for name, colour, made in (
        ("the layer,\nnew inputs", VERMILLION, layer),
        ("averaging,\nnew inputs", GREY, averaging(layer)),
    ):
        told = [off(made, tokens) for tokens in others]
        (spread,), (median,) = lines(error, colour), lines(error, colour, marker="o", style="None")
        np.testing.assert_allclose(points(spread), [[min(told), rows[name]], [max(told), rows[name]]])
        np.testing.assert_allclose(points(median), [[np.median(told), rows[name]]])
    assert (scales(error), labels_at_their_values(error.xaxis)) == (("log", "linear"), True)
    assert axis_names(error)[0] == "error ÷ size of the output"


@pytest.mark.parametrize(("angle", "scale"), [(90, 2), (210, 0.5)])
def test_log_odds_of_one_layer_and_of_two(angle, scale):
    figure, update = steer(one_for_two.third_token())
    update(angle=0, scale=4)
    says = update(angle=angle, scale=scale)
    plane, odds = titled(figure, "Three tokens"), titled(figure, "How much the query prefers the first key")
    named = {text.get_text(): text.xy for text in plane.texts}
    pair = [named["query, and one key"], named["the other key"]]
    assert [
        points(lines(plane, c, marker="o", style="None", moving=False)[0]).tolist() for c in (BLUE, PURPLE)
    ] == [[list(token)] for token in pair]
    (third,) = [line for line in plane.lines if line.get_animated()]
    circle = 1.5 * np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    np.testing.assert_allclose(points(third), [circle])

    rng = np.random.default_rng(3)  # of the weights on show
    heads = [rng.normal(size=(4, 2, 2)) / 2**0.5 for _ in range(2)]
    tokens, product = np.array([*pair, circle]), np.eye(3)
    told = []
    for W_Q, W_K, W_V, W_O in heads:
        e = np.exp(scale * (tokens @ W_Q) @ (tokens @ W_K).T / 2**0.5)
        A = e / e.sum(axis=1, keepdims=True)
        tokens, product = A @ tokens @ W_V @ W_O, A @ product
        told.append(np.log(product[0, 0] / product[0, 1]))
    for label, value in zip(("one layer, A₁", "two layers, A₂A₁"), told, strict=True):
        (line,) = [
            each
            for each in odds.lines
            if each.get_marker() == "None" and same_color(each.get_color(), entry(odds, label).get_color())
        ]
        assert points(line)[:, 0].tolist() == list(range(0, 361, 5))
        assert values(line)[angle // 5] == pytest.approx(value)
    (here,) = lines(odds, VERMILLION, marker="o", style="None")
    np.testing.assert_allclose(points(here), [[angle, told[1]]])
    around = values(line)
    written = [float(n.replace("−", "-")) for n in re.findall(r"−?\d+\.\d\d", says)]
    assert written == pytest.approx([*told, around.min(), around.max()], abs=0.0051)
    assert axis_names(odds) == ("where the third token is", "log-odds")
    assert ticks(odds.xaxis) == {"0°": 0, "90°": 90, "180°": 180, "270°": 270, "360°": 360}


@pytest.mark.parametrize(
    ("task", "experiment", "example"), [("2-hop", "two_hop", 3), ("induction", "induction", 5)]
)
def test_patterns_stand_between_their_tokens(task, experiment, example):
    figure, update = steer(where_it_looks.depths())
    update(task, 1, 1)
    assert [text.get_text() for text in moving_texts(titled(figure, "Layer 2"))] == [
        "there is no second layer"
    ]
    update(task, 2, example)
    model, cell = load_model(experiment, "depth_2")
    features, _ = cell.make_task().draw(np.random.default_rng(2**32 - 2), 6)
    names = where_it_looks.token_names(experiment, features[example - 1])
    n = len(names)
    for layer, told in enumerate(model.trace(features).attention):
        axes = titled(figure, f"Layer {layer + 1}")
        rows = [text.get_position()[1] for text in moving_texts(axes) if text.get_rotation() == 0]
        columns = [text.get_position()[0] for text in moving_texts(axes) if text.get_rotation() == 90]
        assert [text.get_text() for text in moving_texts(axes)] == names * 2
        assert len(rows) == len(columns) == n
        shown = [[value_at(image(axes), x, y) for x in columns] for y in rows]
        np.testing.assert_allclose(shown, told[example - 1, 0], rtol=1e-6)
        assert (image(axes).get_cmap().name, image(axes).get_clim()) == (SEQUENTIAL, (0, 1))

    score, runs = titled(figure, "Right answers"), load(experiment).runs
    (dots,) = lines(score, BLUE, marker="o", style="None")
    reach = values(series(score, "what one look gives"))
    assert min(reach) < 0 < len(CONTESTANTS) - 1 < max(reach)  # it passes every row
    for name, settings in CONTESTANTS.items():
        asked = settings | OPTIONS[experiment]
        told = [r.measures["accuracy"] for r in runs if asked.items() <= r.settings.items()]
        x, y = points(dots).T
        np.testing.assert_allclose(sorted(x[y == ticks(score.yaxis)[name]]), sorted(told))
    size = [run for run in runs if OPTIONS[experiment].items() <= run.settings.items()]
    assert (
        points(series(score, "what one look gives"))[:, 0].tolist() == [max(size[0].baselines.values())] * 2
    )
    assert ticks(score.xaxis) == {"0": 0, "half": 0.5, "all": 1}


@pytest.mark.parametrize(
    ("task", "experiment", "by", "key", "names"),
    [
        ("2-hop", "two_hop", "FFN", "ffn", {"off": False, "on": True}),
        (
            "induction",
            "induction",
            "positions",
            "positions",
            {n: n for n in ("none", "sinusoidal", "learned")},
        ),
        ("facts", "facts", "norm", "norm", {n: n for n in ("none", "post", "pre")}),
    ],
)
def test_every_trained_model_is_a_dot_in_its_place(task, experiment, by, key, names):
    figure, update = steer(accuracy_by_switch.accuracy_by_switch())
    update("XOR among 8", "skip")
    update(task, by)
    runs = [run for run in load(experiment).runs if run.settings["dtype"] != "float64"]
    legends = [titled(figure, "1 layer"), titled(figure, "2 layers")]
    colours = {h: entry(legends[0], f"{h} head{'s' * (h > 1)}").get_color() for h in (1, 2, 4)}
    hollow = entry(legends[1], "8 symbols, not 16")
    for depth, axes in ((1, legends[0]), (2, legends[1])):
        places = {text.get_text(): text.get_position()[0] for text in moving_texts(axes)}
        if not any(run.settings["depth"] == depth for run in runs):
            assert "none trained" in places
            continue
        assert sorted(places, key=places.__getitem__) == list(names)  # from left to right
        for heads, colour in colours.items():
            for few in (False, True):
                (dots,) = [
                    line
                    for line in lines(axes, colour, marker="o", style="None")
                    if (look(line) == look(hollow)) == few
                ]
                x, y = points(dots).reshape(-1, 2).T
                for name, value in names.items():
                    told = [
                        run.measures["accuracy"]
                        for run in runs
                        if (run.settings["depth"], run.settings["n_heads"], run.settings[key])
                        == (depth, heads, value)
                        and (run.settings.get("n_symbols") == 8) == few
                    ]
                    here = np.abs(x - places[name]) < 0.5
                    np.testing.assert_allclose(sorted(y[here]), sorted(told))
        for label, told in (
            (
                "line to beat",
                max(max(run.baselines.values()) for run in runs if run.settings.get("n_symbols") != 8),
            ),
            ("chance", runs[0].baselines["chance"]),
        ):
            mark = entry(legends[1], label)
            (line,) = lines(axes, mark.get_color(), style=mark.get_linestyle())
            assert line.get_ydata() == [told, told]
        assert ticks(axes.yaxis) == {"0": 0, "25 %": 0.25, "50 %": 0.5, "75 %": 0.75, "all right": 1}


def test_links_join_the_means_of_models_that_differ_in_the_switch_alone():
    figure, update = steer(accuracy_by_switch.accuracy_by_switch())
    update("2-hop", "FFN")
    models = {}
    for run in load("two_hop").runs:
        if run.settings["depth"] == 2 and run.settings["n_heads"] == 1 and run.settings["dtype"] != "float64":
            rest = repr(sorted((k, v) for k, v in run.settings.items() if k != "ffn"))
            models.setdefault(rest, {}).setdefault(run.settings["ffn"], []).append(run.measures["accuracy"])
    told = [[np.mean(pair[ffn]) for ffn in (False, True)] for pair in models.values() if len(pair) == 2]
    (links,) = lines(titled(figure, "2 layers"), VERMILLION)
    heights = values(links).reshape(-1, 2)
    left, right = points(links)[::2, 0], points(links)[1::2, 0]
    assert left.max() < right.min()
    np.testing.assert_allclose(sorted(heights.tolist()), sorted(told))


@pytest.mark.parametrize(
    ("ffn", "residual", "norm", "mask", "scale"),
    [(False, False, "none", "none", 1), (True, False, "none", "causal", 4), (False, True, "pre", "none", 1)],
)
def test_the_laboratory_draws_median_and_range(ffn, residual, norm, mask, scale):
    figure, update = steer(collapse.collapse_laboratory(), ("Distance to rank one", "The top of it"))
    update(True, True, "post", "none", 16)
    update(ffn, residual, norm, mask, scale)
    bias = biases()["causal mask"] if mask == "causal" else None
    told = np.sort(distances(12, scale=scale, bias=bias, ffn=ffn, residual=residual, norm=norm), axis=0)
    told = np.maximum(told, 1e-300)
    whole, top = titled(figure, "Distance to rank one"), titled(figure, "The top of it")
    for axes in (whole, top):
        (line,) = lines(axes, BLUE, marker="o")
        np.testing.assert_allclose(points(line), np.column_stack([range(13), (told[3] + told[4]) / 2]))
        (outline,) = [patch for patch in axes.patches if patch.get_animated()]
        corners = outline.get_xy()
        for layer in range(13):
            heights = corners[corners[:, 0] == layer, 1]
            assert (heights.min(), heights.max()) == pytest.approx((told[0, layer], told[-1, layer]))
        assert (scales(axes), axis_names(axes)[0]) == (("linear", "log"), "layers passed")
        assert labels_at_their_values(axes.yaxis)
    (shade,) = [patch for patch in whole.patches if not patch.get_animated()]
    assert shade.get_y() + shade.get_height() == pytest.approx(1e-16)


@pytest.mark.parametrize(
    ("between", "norm", "ffn", "scale"),
    [("none", "pre", False, 4), ("skip", "none", True, 1), ("causal mask", "post", False, 16)],
)
def test_the_ruler_walks_from_before_to_after(between, norm, ffn, scale):
    figure, update = steer(collapse.cubic_ruler(), ("",))
    update("relative positions", "none", True, 1)
    says = update(between, norm, ffn, scale)
    (axes,) = figure.axes
    full, x = random_stack(0, 24, scale)
    states = follow(full.switch(ffn=ffn, residual=between == "skip", norm=norm), x, biases().get(between))
    sizes = [np.sqrt(np.sum((state.residual * 1e30) ** 2)) / 1e30 for state in states]
    (walk,) = lines(axes, VERMILLION, marker="o")
    before, after = points(walk).T
    large = np.array(sizes[: len(before)]) > 1e-100
    np.testing.assert_allclose(before[large], np.array(sizes[: len(before)])[large])
    np.testing.assert_allclose(before[1:], after[:-1])
    assert len(before) >= 3
    ends = f"from {scientific(before[0])} the residual comes to {scientific(after[-1])}"
    assert f"{ends} in {len(before)} layers" in says
    assert points(walk).max() < axes.get_xlim()[1]  # what has fallen far may leave at the bottom, and is told
    assert axis_names(axes) == ("‖R‖ before the layer", "‖R‖ after it")
    assert scales(axes) == ("log", "log")
    assert labels_at_their_values(axes.xaxis)
    assert labels_at_their_values(axes.yaxis)


def test_the_slopes_of_the_ruler_stand_by_their_names():
    (axes,) = collapse.cubic_ruler()[0].axes
    slopes = [np.log10(points(line)) for line in lines(axes, GREY, style=":", moving=False)]
    for name, slope in (("slope 1", 1), ("slope 3", 3)):
        x, y = np.log10(texts(axes)[name])
        nearest = min(slopes, key=lambda line: abs(np.interp(x, *line.T) - y))
        assert np.ptp(nearest[:, 1]) / np.ptp(nearest[:, 0]) == pytest.approx(slope)
