"""Convex hulls: against their definition, by properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from encoderlab.chapters.attention.hull import convex_hull, distance_outside, minkowski_sum

coordinates = st.integers(-8, 8).map(float)  # small whole numbers: every sum below is exact
points = st.integers(1, 12).flatmap(lambda n: hnp.arrays(np.float64, (n, 2), elements=coordinates))


def support(cloud, direction):
    return (cloud @ direction).max()


@given(points, st.floats(0, 2 * np.pi))
def test_the_corners_reach_as_far_as_the_points_in_every_direction(cloud, angle):
    direction = np.array([np.cos(angle), np.sin(angle)])
    assert support(convex_hull(cloud), direction) == pytest.approx(support(cloud, direction), abs=1e-12)


@given(points)
def test_corners_turn_left_and_are_points_of_the_cloud(cloud):
    corners = convex_hull(cloud)
    assert {tuple(c) for c in corners} <= {tuple(p) for p in cloud}
    if len(corners) > 2:
        edges = np.roll(corners, -1, axis=0) - corners
        after = np.roll(edges, -1, axis=0)
        assert (edges[:, 0] * after[:, 1] - edges[:, 1] * after[:, 0] > 0).all()


@given(points, st.integers(0, 2**32 - 1))
def test_every_weighted_mean_is_inside(cloud, seed):
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(cloud)), size=5)
    assert distance_outside(weights @ cloud, cloud).max() < 1e-12


@given(points, hnp.arrays(np.float64, (1, 2), elements=st.floats(-20, 20)))
def test_the_distance_outside_is_the_gap_that_the_best_separating_line_shows(cloud, point):
    """The distance to a convex set is the largest gap over all directions, a fact of convex duality."""
    angles = np.linspace(0, 2 * np.pi, 20_001)
    directions = np.stack([np.cos(angles), np.sin(angles)])  # (2, angles)
    gap = max(0, (point @ directions - (cloud @ directions).max(axis=0)).max())
    assert distance_outside(point, cloud)[0] == pytest.approx(gap, abs=0.01)


@given(points, points, st.floats(0, 2 * np.pi))
def test_a_sum_of_hulls_reaches_as_far_as_both_together(one, two, angle):
    direction = np.array([np.cos(angle), np.sin(angle)])
    together = support(one, direction) + support(two, direction)
    assert support(minkowski_sum(one, two), direction) == pytest.approx(together, abs=1e-12)


def test_a_point_on_the_rim_and_a_hull_without_inside():
    segment = np.array([[0.0, 0.0], [2.0, 0.0]])
    assert distance_outside(np.array([[1.0, 0.0], [1.0, 1.0], [4.0, 0.0]]), segment).tolist() == [0, 1, 2]
    assert distance_outside(np.array([[3.0, 4.0]]), np.zeros((1, 2))).tolist() == [5]


@pytest.mark.parametrize(
    "bad", [np.zeros((0, 2)), np.zeros((3, 3)), np.zeros((1, 2, 2)), np.array([[np.nan, 0.0]])]
)
def test_refuses_what_is_no_cloud_of_points(bad):
    with pytest.raises(ValueError, match="points must"):
        convex_hull(bad)
