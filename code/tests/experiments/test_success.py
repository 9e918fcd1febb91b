"""Shares of starts and their intervals, against SciPy and by hand."""

import pytest
from scipy.stats import binomtest

from encoderlab.experiments import results
from encoderlab.experiments.success import success, wilson


@pytest.mark.parametrize(
    ("right", "starts"), [(0, 24), (1, 24), (12, 24), (24, 24), (1, 3), (0, 1), (15, 30)]
)
def test_the_interval_is_wilsons(right, starts):
    expected = binomtest(right, starts).proportion_ci(method="wilson")
    found = wilson(right, starts)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-7)
    assert found.low <= found.share <= found.high
    assert (found.right, found.starts) == (right, starts)


@pytest.mark.parametrize(("right", "starts"), [(0, 0), (4, 3), (-1, 3)])
def test_it_refuses_impossible_counts(right, starts):
    with pytest.raises(ValueError, match=f"right must lie in 0 to starts, .* got {right} of {starts}"):
        wilson(right, starts)


def test_success_is_every_input_right():
    cell = {"bits": 4, "norm": "post", "depth": 2, "lr": 1e-2, "steps": 4000, "dtype": "float32"}
    found = results.load("parity_starts")
    accuracy = [run.measures["accuracy"] for run in found.runs if cell.items() <= run.settings.items()]
    counted = success(found, **cell)
    assert counted.starts == len(accuracy) == 24
    assert counted.right == sum(round(16 * share) == 16 for share in accuracy)
    assert 0 < counted.right < 24
