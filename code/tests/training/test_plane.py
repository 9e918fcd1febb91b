"""Points in the plane: the task is what it says, and the best line is the best."""

import itertools

import numpy as np
import pytest

from encoderlab.training.tasks import moons
from encoderlab.training.tasks.plane import NOISE, best_line


def test_points_lie_on_two_half_circles_but_for_noise(rng):
    points, labels = moons().draw(rng, 4000)
    for label, (x, y, up) in enumerate(((-0.5, -0.25, 1), (0.5, 0.25, -1))):
        offset = points[labels == label, 0] - (x, y)
        radius = np.linalg.norm(offset, axis=1)
        assert abs(radius.mean() - 1) < 0.02
        assert abs(radius.std() - NOISE) < 0.02
        assert np.mean(up * offset[:, 1] > -3 * NOISE) > 0.99  # its own half of the circle


def test_the_best_line_beats_every_line_tried_by_hand(rng):
    points = rng.normal(size=(7, 2))
    labels = np.array([0, 1, 1, 0, 1, 0, 0])
    best = 0.0
    for i, j in itertools.combinations(range(7), 2):  # a best line can be moved until it touches two points
        normal = np.array([points[j, 1] - points[i, 1], points[i, 0] - points[j, 0]])
        side = points @ normal - points[i] @ normal
        for signs in itertools.product((-1, 1), repeat=2):
            side[[i, j]] = signs
            right = np.mean((side > 0) == labels)
            best = max(best, right, 1 - right)
    assert best_line(points, labels, directions=5000) == pytest.approx(best)


def test_no_line_tells_the_moons_apart_and_some_curve_does():
    task = moons()
    assert 0.85 < task.baselines["best straight line"] < 0.9
    points, labels = task.examination()
    to_each = [np.abs(np.linalg.norm(points[:, 0] - c, axis=1) - 1) for c in ((-0.5, -0.25), (0.5, 0.25))]
    assert np.mean((to_each[1] < to_each[0]) == labels) > 0.9
