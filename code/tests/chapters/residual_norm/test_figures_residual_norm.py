"""What the sentences of chapter 4's explorers say is what the mathematics and the chapter say."""

import re

import numpy as np
import pytest
from matplotlib.lines import Line2D

from encoderlab.chapters.residual_norm.figures import gradient_size as flows
from encoderlab.chapters.residual_norm.figures import one_token as figures
from encoderlab.chapters.residual_norm.figures.rates import sweep
from encoderlab.chapters.residual_norm.gradient_flow import ARCHITECTURES, draw_stack, gradient_flow
from encoderlab.experiments.results import Results, Run
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm
from encoderlab.numerals import scientific


@pytest.fixture(scope="module")
def cancel():
    return figures.cancellation()[1]


@pytest.fixture(scope="module")
def bench():
    return figures.layer_norm_bench()[1]


@pytest.fixture(scope="module")
def thermometer():
    return flows.thermometer()[1]


@pytest.fixture(scope="module")
def laws():
    return flows.depth_laws()[1]


def first_and_last(says):
    """Read the two numbers of the thermometer's sentence, powers of ten included."""
    plain = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    found = re.search(r"it is (.+?)(?: or less)? at the first layer and (.+?)(?: or less)? at the last", says)
    return [float(re.sub("^10-", "1e-", n.translate(plain)).replace(" × 10", "e")) for n in found.groups()]


def test_a_turn_loses_nothing_and_a_shrink_keeps_its_cosine(cancel):
    assert "is −1.00, the smallest singular value of I + J is 1.00; x can be" in cancel("turns", "2")
    assert "is 1.00, the smallest singular value of I + J is 0.25; x can be" in cancel("shrinks", "0.75")
    assert "is undefined, the smallest singular value of I + J is 0.00; x can no longer" in cancel(
        "shrinks", "1"
    )
    for strength in figures.STRENGTHS:
        assert ("x can no longer" in cancel("flattens", strength)) == (strength == "1")


def test_every_branch_is_the_identity_at_strength_zero(cancel):
    for branch in figures.BRANCHES:
        assert "is 1.00, the smallest singular value of I + J is 1.00" in cancel(branch, "0")


def test_the_bench_normalises_what_it_says(bench):
    x = 10 * figures.TOKEN + 100
    y = np.sort(np.abs(layer_norm(x, LayerNormWeights(np.ones(8)), 1e-5)))
    says = bench("10", "100", False, "1e-5")
    assert says.endswith(f"comes out at {y[-1]:.2f}, the next at {y[-2]:.2f}.")
    assert says.startswith(f"Mean {scientific(x.mean())} and spread {scientific(x.std())} become 0 and 1;")


def test_scale_and_shift_are_forgotten_until_eps_has_its_say(bench):
    def largest(*state):
        return bench(*state).split("largest feature comes out at ")[1]

    assert largest("1", "0", False, "1e-12") == largest("100", "-10", False, "1e-12")
    assert largest("0.001", "0", False, "1e-5") != largest("1", "0", False, "1e-5")
    assert float(re.search(r"next at ([\d.]+)\.$", bench("1", "0", True, "1e-5"))[1]) < 0.6


def test_the_thermometer_tells_what_was_measured(thermometer):
    runs = [gradient_flow(*draw_stack("pre-LN", 12, np.random.default_rng(k), 0.5)) for k in range(3)]
    first, last = (np.exp(np.mean([np.log(r.parameters["ffn.W_2"][i]) for r in runs])) for i in (0, -1))
    says = thermometer("pre-LN", 12, "0.5", "W_2")
    assert says.endswith(
        f"by W_2 it is {scientific(first)} at the first layer and {scientific(last)} at the last."
    )


def test_what_the_chapter_says_of_the_thermometer(thermometer):
    assert first_and_last(thermometer("no residual", 24, "0.5", "activations"))[0] <= 1e-20
    assert first_and_last(thermometer("no residual", 24, "1", "activations"))[0] > 0.01
    assert first_and_last(thermometer("no residual", 24, "1", "W_V"))[1] > 0.1
    assert first_and_last(thermometer("no residual", 24, "1", "W_Q"))[1] < 1e-15
    assert first_and_last(thermometer("residual", 48, "1", "activations"))[0] > 1e12
    assert first_and_last(thermometer("residual", 48, "0.5", "activations"))[0] < 100
    for name in ("post-LN", "pre-LN"):
        for depth in flows.DEPTHS:
            assert all(0.01 < n < 3 for n in first_and_last(thermometer(name, depth, "1", "activations")))


@pytest.mark.parametrize("part", flows.PARTS)
def test_every_stack_has_every_part(thermometer, part):
    for architecture in ARCHITECTURES:
        assert thermometer(architecture, 6, "1", part).startswith(f"{architecture}, 6 layers")


def test_the_exponents_that_separate_post_norm_from_pre_norm(laws):
    post, pre = (
        float(p.replace("−", "-")) for p in re.findall(r"power (\S+) ±", laws("W_2 of the last layer", "1"))
    )
    assert abs(post) < 0.15
    assert -0.7 < pre < -0.35
    post, pre = (
        float(p.replace("−", "-"))
        for p in re.findall(r"power (\S+) ±", laws("activations, first over last", "1"))
    )
    assert post < 0 < 0.25 < pre


def sweep_of(accuracies, diverged_at=None):
    """Return results such as the experiments give, with the same accuracies over seeds in every cell."""
    runs = [
        Run(
            {"depth": 6, "task": task, "norm": norm, "lr": lr, "warmup": warmup},
            {"chance": 0.125, "shortcut": 0.25},
            seed,
            {"accuracy": accuracy},
            (),
            diverged_at,
        )
        for task in ("copy_previous", "two_hop")
        for norm in ("none", "post", "pre")
        for lr in (1e-3, 1e-2)
        for warmup in (0, 100)
        for seed, accuracy in enumerate(accuracies)
    ]
    return Results("learning_rate", "command", {}, tuple(runs))


def test_the_sweep_names_the_rates_at_which_every_seed_is_right():
    small = sweep_of([0.96, 0.9])
    says = sweep(sweep_of([1.0, 0.96]), small)[1]("easy", 0, "unit")
    assert says.startswith("Easy task, no steps of warm-up, unit branches at the start.")
    assert says.count(": 0.001, 0.01") == 3
    assert says.endswith("The best shortcut gets 25%.")
    assert sweep(sweep_of([1.0]), small)[1]("hard", 100, "small").count(": none") == 3


def test_diverged_runs_are_crossed():
    figure, update = sweep(sweep_of([0.1], diverged_at=7), sweep_of([1.0]))
    update("easy", 0, "unit")
    crosses = [line for line in figure.findobj(Line2D) if line.get_marker() == "x" and line.get_animated()]
    assert len(crosses[0].get_xdata()) == 6
