"""The pictures of chapter 1 show what the mathematics gives: each is read as a reader reads it."""

import itertools

import numpy as np
import pytest
from artists import (
    axis_names,
    labels_at_their_values,
    lines,
    points,
    scales,
    series,
    steer,
    texts,
    titled,
    values,
)

from encoderlab.chapters.elementwise import figures, rings
from encoderlab.chapters.elementwise.perceptron import perceptron
from encoderlab.chapters.elementwise.piecewise import perturb, sawtooth, zigzag
from encoderlab.chapters.elementwise.propagation import propagate
from encoderlab.explorer.style import GREY

FORMULAS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "sigmoid": lambda x: 1 / (1 + np.exp(-x))}


@pytest.mark.parametrize(("activation", "gain", "size"), [("tanh", "4", 4), ("relu", "√2", 2**0.5)])
def test_the_bench_draws_function_slope_and_what_layers_do(activation, gain, size):
    figure, update = steer(figures.activation_bench())
    update("sigmoid", "1")
    update(activation, gain)
    one, many = titled(figure, "One neuron"), titled(figure, "Twenty layers of 64")
    assert (axis_names(one), axis_names(many)) == (("its input", ""), ("layer", ""))
    x, y = points(series(one, "value")).T
    np.testing.assert_allclose(y, FORMULAS[activation](x), atol=1e-15)
    at, slope = points(series(one, "slope")).T
    steps = (FORMULAS[activation](at + 1e-6) - FORMULAS[activation](at - 1e-6)) / 2e-6
    smooth = np.abs(at) > 1e-3  # ReLU has no slope at its kink
    np.testing.assert_allclose(slope[smooth], steps[smooth], atol=1e-8)

    runs = [propagate(np.random.default_rng(k), activation, size) for k in range(5)]
    for label, told in (
        ("signal, going right", [run.signal for run in runs]),
        ("gradient, coming back left", [run.gradient for run in runs]),
    ):
        layer, shown = points(series(many, label)).T
        assert layer.tolist() == list(range(21))
        np.testing.assert_allclose(shown, np.prod(told, axis=0) ** 0.2)
    assert values(series(many, "gradient, coming back left"))[-1] == pytest.approx(1)  # where it enters
    assert scales(many) == ("linear", "log")
    assert many.get_xlim() == (0, 20)  # from the first layer to the last, and no further
    assert labels_at_their_values(many.yaxis)


def test_the_bench_draws_where_the_inputs_lie():
    figure, update = steer(figures.activation_bench())
    update("tanh", "1")
    (density,) = [patch for patch in titled(figure, "One neuron").patches if patch.get_animated()]
    seen = np.concatenate([propagate(np.random.default_rng(k), "tanh", 1.0).preactivation for k in range(5)])
    heights, edges, _ = density.get_data()
    count = [np.sum((low <= seen) & (seen < high)) for low, high in itertools.pairwise(edges)]
    np.testing.assert_allclose(heights, np.array(count) / max(count))


@pytest.mark.parametrize(
    ("network", "net", "depth"), [("deep", sawtooth, 3), ("shallow", lambda depth: zigzag(2 * depth), 4)]
)
def test_the_folded_line_is_the_networks(network, net, depth):
    figure, update = steer(figures.folding())
    line, x = titled(figure, "The line, folded"), np.linspace(0, 1, 997)
    for error in ("0", "0.1"):
        update(depth, network, error)
        (curve,) = line.lines
        weights = perturb(net(depth), np.random.default_rng(6), float(error))
        np.testing.assert_allclose(
            np.interp(x, *curve.get_data()), perceptron(x[:, None], weights)[0][:, 0], atol=1e-9
        )
    assert axis_names(line) == ("input", "output")


def pieces(layers):
    """Count straight pieces on a fine grid: kinks that fall between the same two points count as one."""
    y = perceptron(np.linspace(0, 1, 200001)[:, None], layers)[0][:, 0]
    kinks = np.abs(np.diff(y, 2)) > 1e-9
    return 1 + np.sum(kinks[1:] & ~kinks[:-1]) + int(kinks[0])


def test_the_pieces_are_counted_over_draws():
    figure, update = steer(figures.folding())
    update(3, "shallow", "0.3")
    count = titled(figure, "Straight pieces")
    nets = [
        [perturb(zigzag(2 * depth), np.random.default_rng(k), 0.3) for k in range(20)] for depth in (1, 3)
    ]
    told = np.array([[pieces(net) for net in draws] for draws in nets])
    (spread,) = count.collections
    outline = spread.get_paths()[0].vertices
    (mean,) = [line for line in count.lines if line.get_animated() and line.get_marker() == "None"]
    (here,) = [line for line in count.lines if line.get_marker() == "o"]
    assert points(mean)[:, 0].tolist() == list(range(1, 9))
    for depth, numbers in zip((1, 3), told, strict=True):
        assert values(mean)[depth - 1] == pytest.approx(numbers.mean())
        ends = outline[outline[:, 0] == depth, 1]
        assert (ends.min(), ends.max()) == (numbers.min(), numbers.max())
    assert points(here).tolist() == [[3, told[1, 6]]]
    update(3, "deep", "0")
    assert points(here).tolist() == [[3, 8]]
    assert (scales(count), axis_names(count)) == (("linear", "log"), ("depth, two neurons a layer", ""))
    assert labels_at_their_values(count.yaxis)


def test_the_two_laws_stand_by_their_names():
    count = titled(figures.folding()[0], "Straight pieces")
    laws = [points(line) for line in lines(count, GREY, style=":", moving=False)]
    for name, law in (("2 to the depth", lambda k: 2**k), ("neurons + 1", lambda k: 2 * k + 1)):
        x, y = texts(count)[name]
        nearest = min(laws, key=lambda curve: abs(np.log(np.interp(x, *curve.T) / y)))
        assert nearest.tolist() == [[k, law(k)] for k in range(1, 9)]


@pytest.mark.parametrize(
    ("activation", "depth", "width"), [("relu", 2, 3), ("tanh", 1, 3), ("identity", 1, 2)]
)
def test_the_boundary_is_where_the_output_is_zero(activation, depth, width):
    figure, update = steer(figures.boundary())
    update("relu", 1, 2, 0)
    update(activation, depth, width, 1)
    (plane,) = figure.axes
    x, labels = rings.rings(np.random.default_rng(0))
    disc, ring = (points(series(plane, name)) for name in ("disc", "ring"))
    np.testing.assert_array_equal(disc, x[np.hypot(*x.T) < 0.5])
    np.testing.assert_array_equal(ring, x[np.hypot(*x.T) > 0.5])
    layers = rings.load(activation, depth, width, 1)
    on_it = points(series(plane, "boundary"))
    assert len(on_it) > 3 if activation != "identity" else len(on_it) == 2
    size = np.abs(perceptron(x, layers, activation)[0]).mean()
    np.testing.assert_allclose(perceptron(on_it, layers, activation)[0] / size, 0, atol=0.02)
    wrong = x[(perceptron(x, layers, activation)[0][:, 0] > 0) != (labels > 0)]
    np.testing.assert_array_equal(points(series(plane, "wrong side")), wrong)
    (bends,) = lines(plane, GREY)
    ends = points(bends)
    if activation == "relu":  # a fold is where the input of some neuron changes its sign
        inputs = np.concatenate(perceptron(ends, layers)[1], axis=1)
        np.testing.assert_allclose(np.abs(inputs).min(axis=1), 0, atol=1e-9)
        assert len(ends) >= 2 * width
    else:
        assert len(ends) == 0
    assert plane.get_aspect() == 1
