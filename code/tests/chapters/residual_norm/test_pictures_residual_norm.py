"""The pictures of chapter 4 show what the mathematics gives: each is read as a reader reads it."""

import numpy as np
import pytest
from artists import (
    axis_names,
    bars,
    entry,
    labels_at_their_values,
    lines,
    points,
    scales,
    series,
    steer,
    ticks,
    titled,
    values,
)

from encoderlab.chapters.residual_norm.figures import gradient_size, one_token
from encoderlab.chapters.residual_norm.figures.rates import sweep
from encoderlab.chapters.residual_norm.gradient_flow import draw_stack, gradient_flow
from encoderlab.experiments.results import Results, Run
from encoderlab.explorer.style import BLUE, GREY

ANSWERS = {  # of x + F(x) at a strength s: its matrix, and the smallest singular value of it
    "shrinks": (lambda s: np.diag([1 - s, 1 - s]), lambda s: abs(1 - s)),
    "flattens": (lambda s: np.diag([1, 1 - s]), lambda s: min(1, abs(1 - s))),
    "turns": (
        lambda s: np.array(
            [[np.cos(np.pi * s / 2), np.sin(np.pi * s / 2)], [-np.sin(np.pi * s / 2), np.cos(np.pi * s / 2)]]
        ),
        lambda _: 1,
    ),
}


@pytest.mark.parametrize(("branch", "strength"), [("shrinks", "1.5"), ("flattens", "0.75"), ("turns", "0.5")])
def test_tokens_before_and_after_and_two_answers(branch, strength):
    figure, update = steer(one_token.cancellation())
    update("turns", "2")
    update(branch, strength)
    plane, curves = titled(figure, "Tokens before and after x + F(x)"), titled(figure, "Two answers")
    matrix, kept = ANSWERS[branch]
    before, after = points(series(plane, "x")), points(series(plane, "x + F(x)"))
    assert before[:-1].tolist() == one_token.FLAG.tolist()
    np.testing.assert_allclose(after, before @ matrix(float(strength)), atol=1e-12)
    assert (axis_names(plane), plane.get_aspect()) == (("first feature", "second feature"), 1)

    def cosine(s):
        pairs = zip(before[:-1], before[:-1] @ matrix(s), strict=True)
        return np.mean([a @ b / np.hypot(*a) / np.hypot(*b) for a, b in pairs])

    for label, told in (("mean cosine with x", cosine), ("smallest singular value of I + J", kept)):
        at = points(series(curves, label))
        assert (at[0, 0], at[-1, 0]) == (0, 2)
        np.testing.assert_allclose(at[:, 1], [told(s) for s in at[:, 0]], atol=1e-9)
    (here,) = lines(curves, "black", marker="o", style="None")
    s = float(strength)
    np.testing.assert_allclose(points(here), [[s, cosine(s)], [s, kept(s)]])
    assert axis_names(curves)[0] == "strength of F"


@pytest.mark.parametrize(
    ("scale", "shift", "outlier", "eps"), [("10", "-1", False, "1e-5"), ("0.1", "0", True, "0.1")]
)
def test_bars_before_and_after_layer_norm(scale, shift, outlier, eps):
    figure, update = steer(one_token.layer_norm_bench())
    update("1", "100", True, "1e-12")
    update(scale, shift, outlier, eps)
    x = np.where((np.arange(8) == 2) & outlier, 20, one_token.TOKEN) * float(scale) + float(shift)
    y = (x - np.sum(x) / 8) / np.sqrt(np.sum((x - np.sum(x) / 8) ** 2) / 8 + float(eps))
    for title, told in (("One token", x), ("After LayerNorm", y)):
        axes = titled(figure, title)
        middle, top = bars(axes)
        assert middle.tolist() == list(range(1, 9))
        np.testing.assert_allclose(top, told)
        assert axis_names(axes)[0] == "feature"
        (zero,) = lines(axes, GREY, moving=False)
        assert zero.get_ydata() == [0, 0]
    dotted = lines(titled(figure, "After LayerNorm"), GREY, style=":", moving=False)
    assert [line.get_ydata() for line in dotted] == [[-1, -1], [1, 1]]
    assert scales(titled(figure, "One token")) == ("linear", "symlog")
    assert labels_at_their_values(titled(figure, "One token").yaxis)


STACKS = ("no residual", "residual", "post-LN", "pre-LN")


@pytest.mark.parametrize(
    ("architecture", "depth", "gain", "part"),
    [("post-LN", 6, "0.5", "W_V"), ("residual", 12, "1", "activations")],
)
def test_the_thermometer_runs_from_the_first_layer_to_the_last(architecture, depth, gain, part):
    figure, update = steer(gradient_size.thermometer())
    update("pre-LN", 6, "1", "W_2")
    update(architecture, depth, gain, part)

    def norms(name):
        draws = [draw_stack(name, depth, np.random.default_rng(k), float(gain)) for k in range(3)]
        traced = [gradient_flow(*draw) for draw in draws]
        return np.array(
            [
                flow.hidden if part == "activations" else flow.parameters[f"attention.{part}"]
                for flow in traced
            ]
        )

    wide = titled(figure, "Norm of the gradient, all four stacks")
    near = titled(figure, "This stack, three draws, close to 1")
    own = norms(architecture)
    assert own.shape[1] <= 13  # every layer is shown
    place = np.linspace(ticks(wide.xaxis)["first"], ticks(wide.xaxis)["last"], own.shape[1])
    np.testing.assert_allclose(
        points(series(wide, "this stack")), np.column_stack([place, np.prod(own, axis=0) ** (1 / 3)])
    )
    assert sorted(values(line)[0] for line in lines(near, BLUE)) == pytest.approx(sorted(own[:, 0]))
    assert sorted(values(line)[-1] for line in lines(near, BLUE)) == pytest.approx(sorted(own[:, -1]))
    others = [norms(name) for name in STACKS if name != architecture]
    grey = [values(line) for line in lines(wide, entry(wide, "the other three").get_color())]
    told = [np.maximum(np.prod(each, axis=0) ** (1 / 3), 1e-20) for each in others]
    np.testing.assert_allclose(sorted(map(tuple, grey)), sorted(map(tuple, told)), rtol=1e-6)
    for axes in (wide, near):
        assert (scales(axes), axis_names(axes)[0]) == (("linear", "log"), "layer")
        assert labels_at_their_values(axes.yaxis)
        assert ticks(axes.xaxis) == {"first": 0, "middle": 0.5, "last": 1}


@pytest.mark.parametrize(
    ("quantity", "gain", "read"),
    [
        ("W_2 of the last layer", "1", lambda flow: flow.parameters["ffn.W_2"][-1]),
        ("W_2 of the first layer", "0.5", lambda flow: flow.parameters["ffn.W_2"][0]),
        ("activations, first over last", "1", lambda flow: flow.hidden[0] / flow.hidden[-1]),
    ],
)
def test_the_laws_show_every_draw_and_their_middle(quantity, gain, read):
    figure, update = steer(gradient_size.depth_laws())
    update("W_2 of the last layer", "0.5")
    update(quantity, gain)
    (plane,) = figure.axes
    for name in ("post-LN", "pre-LN"):
        curve = series(plane, name)
        (cloud,) = lines(plane, curve.get_color(), marker=".", style="None")
        told = [
            read(gradient_flow(*draw_stack(name, 6, np.random.default_rng(k), float(gain)))) for k in range(8)
        ]
        depths, each = points(cloud).T
        np.testing.assert_allclose(each[depths == ticks(plane.xaxis)["6"]], told)
        assert points(curve)[:, 0].tolist() == [6, 12, 24, 48]
        assert np.log(values(curve)) == pytest.approx(
            [np.log(each[depths == depth]).mean() for depth in (6, 12, 24, 48)]
        )
    assert (scales(plane), axis_names(plane)) == (
        ("log", "log"),
        ("number of layers", "norm of the gradient"),
    )
    assert labels_at_their_values(plane.yaxis)
    assert labels_at_their_values(plane.xaxis)


NORMS = {"no norm": "none", "post-LN": "post", "pre-LN": "pre"}
RATES = (0.001, 0.01, 0.1)


def runs_of(tag):
    """Return results in which every run has an accuracy of its own, and one in twelve diverged."""
    rng = np.random.default_rng(tag)
    runs = [
        Run(
            {"depth": depth, "task": task, "norm": norm, "lr": lr, "warmup": warmup},
            {"chance": 0.1, "shortcut": {"copy_previous": 0.25, "two_hop": 0.5}[task]},
            seed,
            {"accuracy": rng.uniform()},
            (),
            7 if rng.uniform() < 1 / 12 else None,
        )
        for depth in (2, 6)
        for task in ("copy_previous", "two_hop")
        for norm in NORMS.values()
        for lr in RATES
        for warmup in (0, 100)
        for seed in range(3)
    ]
    return Results("learning_rate", "command", {}, tuple(rng.permutation(np.array(runs, dtype=object))))


@pytest.mark.parametrize(
    ("task", "key", "warmup", "branches", "shortcut"),
    [
        ("easy", "copy_previous", 0, "unit", 0.25),
        ("hard", "two_hop", 100, "small", 0.5),
        ("hard", "two_hop", 0, "unit", 0.5),
    ],
)
def test_every_start_is_a_mark_at_its_rate(task, key, warmup, branches, shortcut):
    unit, small = runs_of(0), runs_of(1)
    figure, update = steer(sweep(unit, small))
    update("easy", 100, "small")
    update(task, warmup, branches)
    (plane,) = figure.axes
    wanted = {"depth": 6, "task": key, "warmup": warmup}
    chosen = [
        run for run in (unit if branches == "unit" else small).runs if wanted.items() <= run.settings.items()
    ]
    for label, norm in NORMS.items():
        line = series(plane, label)
        (dots,) = lines(plane, line.get_color(), marker=".", style="None")
        for k, rate in enumerate(RATES):
            told = [
                r.measures["accuracy"]
                for r in chosen
                if (r.settings["norm"], r.settings["lr"]) == (norm, rate)
            ]
            x, y = points(dots).T
            near = np.abs(np.log(x / rate)) < 0.1
            np.testing.assert_allclose(sorted(y[near]), sorted(told))
            np.testing.assert_allclose(points(line)[k], [x[near][0], np.mean(told)])
    crosses = points(series(plane, "diverged"))
    assert sorted(crosses[:, 1]) == sorted(
        r.measures["accuracy"] for r in chosen if r.diverged_at is not None
    )
    marks = np.concatenate([points(line) for line in plane.lines if line.get_marker() == "."])
    assert all((marks == cross).all(axis=1).any() for cross in crosses)  # a cross stands on its mark
    assert values(series(plane, "best shortcut")).tolist() == [shortcut] * 2
    assert (scales(plane), axis_names(plane)) == (("log", "linear"), ("learning rate", "accuracy"))
    assert labels_at_their_values(plane.xaxis)


def test_grey_is_the_stack_without_norm():
    """The colour of chapter 4 for what has no norm."""
    (plane,) = sweep(runs_of(0), runs_of(1))[0].axes
    assert entry(plane, "no norm").get_color() == GREY
