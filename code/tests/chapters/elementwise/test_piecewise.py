"""Breakpoints against a second algorithm in exact rational arithmetic, and against theorems."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from encoderlab.chapters.elementwise.affine import Affine, collapse, random_stack
from encoderlab.chapters.elementwise.perceptron import perceptron
from encoderlab.chapters.elementwise.piecewise import perturb, sawtooth, trace_line, zigzag


def rational_line(layers, low, high):
    """Follow the values at the knots, with fractions: no rounding, no slopes."""
    knots = [Fraction(low), Fraction(high)]
    rows = [[knot] for knot in knots]
    for depth, (W, b) in enumerate(layers):
        W, b = [[Fraction(w) for w in row] for row in W.tolist()], [Fraction(v) for v in b.tolist()]
        rows = [[sum(r * W[i][j] for i, r in enumerate(row)) + b[j] for j in range(len(b))] for row in rows]
        if depth == len(layers) - 1:
            break
        points = dict(zip(knots, rows, strict=True))
        for p, q in pairwise(knots):
            for u, v in list(zip(points[p], points[q], strict=True)):
                if u * v < 0:
                    share = u / (u - v)
                    points[p + share * (q - p)] = [
                        a + share * (c - a) for a, c in zip(points[p], points[q], strict=True)
                    ]
        knots = sorted(points)
        rows = [[max(value, Fraction(0)) for value in points[knot]] for knot in knots]
    values = [row[0] for row in rows]
    ends = pairwise(zip(knots, values, strict=True))
    slopes = [(w - v) / (q - p) for (p, v), (q, w) in ends]
    keep = [0, *(k for k in range(1, len(slopes)) if slopes[k] != slopes[k - 1]), len(slopes)]
    return [knots[k] for k in keep], [values[k] for k in keep]


@given(st.integers(0, 10**6), st.sampled_from([(4,), (7,), (3, 3), (4, 4, 4), (2, 3, 2, 3)]))
@settings(max_examples=40)
def test_knots_and_values_are_those_of_rational_arithmetic(seed, widths):
    rng = np.random.default_rng(seed)
    layers = [  # weights of a few bits, so that coincidences happen
        Affine(rng.integers(-8, 9, W.shape) / 4, rng.integers(-8, 9, b.shape) / 8)
        for W, b in random_stack(rng, [1, *widths, 1])
    ]
    knots, values = rational_line(layers, -2, 2)
    line = trace_line(layers, (-2, 2))
    np.testing.assert_allclose(line.knots, [float(k) for k in knots], atol=1e-11)
    np.testing.assert_allclose(line.values, [float(v) for v in values], atol=1e-10)


def test_the_line_is_the_network():
    layers = random_stack(np.random.default_rng(0), [1, 16, 16, 1], gain=2**0.5, bias=0.3)
    line = trace_line(layers, (-3, 3))
    x = np.linspace(-3, 3, 2001)
    np.testing.assert_allclose(np.interp(x, *line), perceptron(x[:, None], layers)[0][:, 0], atol=1e-12)


@pytest.mark.parametrize("depth", range(1, 15))
def test_the_sawtooth_has_two_to_the_depth_pieces(depth):
    line = trace_line(sawtooth(depth))
    assert line.knots.tolist() == [k / 2**depth for k in range(2**depth + 1)]
    assert line.values.tolist() == [k % 2 for k in range(2**depth + 1)]


@pytest.mark.parametrize("neurons", range(1, 20))
def test_the_zigzag_goes_up_and_down_once_for_each_neuron(neurons):
    line = trace_line(zigzag(neurons))
    np.testing.assert_allclose(line.knots, np.arange(neurons + 1) / neurons, atol=1e-13)
    np.testing.assert_allclose(line.values, np.arange(neurons + 1) % 2, atol=1e-12)
    assert trace_line(zigzag(neurons), (-1, 1)).pieces == neurons + 1  # with the first bend inside, the most


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(max_examples=50)
def test_one_hidden_layer_has_at_most_one_piece_more_than_neurons(seed, neurons):
    layers = random_stack(np.random.default_rng(seed), [1, neurons, 1], bias=0.5)
    assert trace_line(layers, (-100, 100)).pieces <= neurons + 1


def test_on_a_long_interval_one_layer_reaches_that_limit():
    rng = np.random.default_rng(1)
    assert trace_line(random_stack(rng, [1, 30, 1], bias=0.1), (-1e4, 1e4)).pieces == 31


def test_without_relu_there_is_one_piece():
    assert trace_line([collapse(sawtooth(8))]).pieces == 1


def test_a_neuron_that_nobody_listens_to_makes_no_piece():
    W, b = np.ones((1, 2)), np.array([-0.3, -0.6])
    assert trace_line([Affine(W, b), Affine(np.array([[1.0], [0.0]]), np.zeros(1))]).pieces == 2


def test_dead_networks_and_errors_of_zero():
    dead = [Affine(np.ones((1, 2)), np.full(2, -5.0)), Affine(np.ones((2, 1)), np.zeros(1))]
    assert trace_line(dead).pieces == 1
    line = trace_line(perturb(sawtooth(4), np.random.default_rng(0), 0.0))
    assert line.pieces == 16


def test_misuse_is_named():
    with pytest.raises(ValueError, match="layers must lead from 1 feature to 1, got 2 and 1"):
        trace_line(random_stack(np.random.default_rng(0), [2, 3, 1]))
    with pytest.raises(ValueError, match=r"interval must increase, got \(1, 1\)"):
        trace_line(sawtooth(1), (1, 1))
    with pytest.raises(ValueError, match="depth must be at least 1, got 0"):
        sawtooth(0)
    with pytest.raises(ValueError, match="neurons must be at least 1, got 0"):
        zigzag(0)
