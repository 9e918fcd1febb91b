"""Distance to rank one: against the best rank-one approximation, found by another route."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from encoderlab.model.tokens import cosines, rank_one_residual


@given(hnp.arrays(np.float64, (4, 3), elements=st.floats(-100, 100)))
def test_it_is_the_least_distance_to_equal_tokens(x):
    """The best v in ‖x − 1vᵀ‖ by least squares, not by the mean."""
    best = np.linalg.lstsq(np.ones((4, 1)), x, rcond=None)[0]
    size = np.linalg.norm(x)
    expected = np.linalg.norm(x - best) / size if size > 0 else 0
    np.testing.assert_allclose(rank_one_residual(x), expected, atol=1e-12)


def test_extremes_and_batches(rng):
    assert rank_one_residual(np.zeros((3, 2))) == 0
    assert rank_one_residual(np.full((3, 2), 0.5)) == 0
    assert rank_one_residual(np.ones((1, 2))) == 0
    x = rng.normal(size=(2, 5, 4, 3))
    assert rank_one_residual(x).shape == (2, 5)
    np.testing.assert_allclose(rank_one_residual(x)[1, 2], rank_one_residual(x[1, 2]))
    with pytest.raises(ValueError, match=r"x must have shape \(..., n, d\), got \(3,\)"):
        rank_one_residual(np.ones(3))


def test_cosines_are_their_definition(rng):
    x = rng.normal(size=(2, 4, 3))
    for b, i, j in np.ndindex(2, 4, 4):
        expected = x[b, i] @ x[b, j] / (x[b, i] @ x[b, i] * (x[b, j] @ x[b, j])) ** 0.5
        assert cosines(x)[b, i, j] == pytest.approx(expected, abs=1e-12)
    assert not cosines(np.zeros((2, 3))).any()
