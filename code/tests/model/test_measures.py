"""The numbers that most evidence is made of, against the formulas written out."""

import numpy as np
import pytest

from encoderlab.model.measures import affine_misfit, degree, gap, largest, size

X = np.array([[1.0, -2.0], [2.0, 0.0]])


def test_size_and_largest_are_over_all_entries():
    assert size(X) == 3.0
    assert largest(X) == 2.0
    assert largest(X - 3) == 5.0


def test_gap_is_relative_to_the_reference_unless_that_is_zero():
    assert gap(X, np.array([[1.0, 1.0], [6.0, 0.0]])) == pytest.approx(5 / np.sqrt(38))
    assert gap(X, np.zeros((2, 2))) == 3.0
    assert gap(np.zeros((2, 2)), X) == 1.0


@pytest.mark.parametrize("power", [0, 1, 2])
def test_degree_is_the_power_of_two(power):
    assert degree(lambda v: 3 * v**power, X) == pytest.approx(power)


def test_misfit_is_what_is_left_of_a_fit_with_a_constant():
    """Fit x² at −1, 0, 1: the best line is the mean, 2/3, which leaves (1/3, −2/3, 1/3) of (1, 0, 1)."""
    x = np.array([[-1.0], [0.0], [1.0]])
    assert affine_misfit(x, x[:, 0] ** 2) == pytest.approx(np.sqrt(6 / 9) / np.sqrt(2))
