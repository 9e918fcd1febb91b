"""Linear regions against the theory of line arrangements and against the network itself."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from encoderlab.chapters.elementwise.affine import Affine, random_stack
from encoderlab.chapters.elementwise.perceptron import perceptron
from encoderlab.chapters.elementwise.regions import area, linear_regions, zero_segments


def arrangement(W, b):
    """Count the cells of lines w·x + b = 0 in the square: 1 + lines that enter it + crossings inside."""
    corners = np.array(list(itertools.product([-1, 1], repeat=2)))
    heights = corners @ W + b
    lines = np.sum((heights.min(axis=0) < 0) & (heights.max(axis=0) > 0))
    crossings = 0
    for i, j in itertools.combinations(range(W.shape[1]), 2):
        point = np.linalg.solve(W[:, [i, j]].T, -b[[i, j]])
        crossings += np.all(np.abs(point) < 1)
    return 1 + lines + crossings


@given(st.integers(0, 10**6), st.integers(1, 9))
@settings(max_examples=40)
def test_one_layer_has_as_many_regions_as_its_lines_have_cells(seed, width):
    layers = random_stack(np.random.default_rng(seed), [2, width, 1], bias=0.5)
    regions, folds = linear_regions(layers)
    assert len(regions) == arrangement(*layers[0])
    assert len(folds) == len(regions) - 1


@given(st.integers(0, 10**6), st.sampled_from([(5,), (4, 4), (3, 4, 3)]))
@settings(max_examples=25)
def test_regions_tile_the_square_and_carry_the_networks_own_map(seed, widths):
    rng = np.random.default_rng(seed)
    layers = random_stack(rng, [2, *widths, 3], gain=1.4, bias=0.4)
    regions, _ = linear_regions(layers, half_width=2.0)
    assert sum(area(region.polygon) for region in regions) == pytest.approx(16, rel=1e-11)
    for polygon, W, b in regions:
        points = rng.dirichlet(np.ones(len(polygon)), size=4) @ polygon
        np.testing.assert_allclose(points @ W + b, perceptron(points, layers)[0], atol=1e-10)


def test_the_boundary_is_where_the_network_is_zero_and_separates_its_signs():
    rng = np.random.default_rng(0)
    *layers, (W, b) = random_stack(rng, [2, 8, 8, 1], gain=1.4, bias=0.4)
    layers.append(Affine(W, b - perceptron(np.zeros(2), [*layers, Affine(W, b)])[0]))  # zero at the centre
    segments = zero_segments(linear_regions(layers)[0])
    assert len(segments) > 3
    along = rng.uniform(size=(len(segments), 1))
    points = segments[:, 0] + along * (segments[:, 1] - segments[:, 0])
    np.testing.assert_allclose(perceptron(points, layers)[0], 0, atol=1e-12)
    # Along random rays the sign changes exactly where a segment is crossed.
    for _ in range(50):
        p, q = rng.uniform(-1, 1, size=(2, 2))
        signs = np.sign(perceptron(p + np.linspace(0, 1, 4001)[:, None] * (q - p), layers)[0][:, 0])
        crossed = sum(crosses(p, q, *segment) for segment in segments)
        assert np.count_nonzero(np.diff(signs)) == crossed


def crosses(p, q, r, s):
    def side(a, b, c):
        return np.sign((b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0])

    return side(p, q, r) != side(p, q, s) and side(r, s, p) != side(r, s, q)


def test_cuts_through_corners_make_no_slivers():
    diagonal = Affine(np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, 0.0]]), np.zeros(3))  # all through one point
    regions, folds = linear_regions([diagonal, Affine(np.ones((3, 1)), np.zeros(1))])
    assert len(regions) == 6
    assert len(folds) == 5
    assert sorted(round(area(r.polygon), 12) for r in regions) == [0.5, 0.5, 0.5, 0.5, 1, 1]


def test_a_network_that_never_bends_has_one_region_and_one_straight_boundary():
    regions, folds = linear_regions([Affine(np.array([[1.0], [2.0]]), np.array([0.1]))])
    assert len(regions) == 1
    assert folds.shape == (0, 2, 2)
    assert zero_segments(regions).shape == (1, 2, 2)


def test_a_network_of_one_sign_has_no_boundary():
    regions, _ = linear_regions([Affine(np.zeros((2, 1)), np.ones(1))])
    assert zero_segments(regions).shape == (0, 2, 2)


def test_misuse_is_named():
    with pytest.raises(ValueError, match="layers must start from 2 features, got 3"):
        linear_regions(random_stack(np.random.default_rng(0), [3, 2, 1]))
