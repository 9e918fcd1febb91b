"""How peaked softmax is: its Jacobian against differences, its entropy against bounds, and the role of √d."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from encoderlab.chapters.attention.saturation import keys_attended, random_rows, softmax_jacobian
from encoderlab.model.attention import softmax, softmax_vjp

rows = hnp.arrays(np.float64, st.integers(1, 8), elements=st.floats(-30, 30))


@given(rows)
def test_jacobian_of_softmax_is_symmetric_and_its_rows_sum_to_zero(s):
    J = softmax_jacobian(softmax(s))
    assert np.array_equal(J, J.T)
    np.testing.assert_allclose(J.sum(axis=1), 0, atol=1e-15)
    assert np.linalg.eigvalsh(J).min() > -1e-15  # a covariance matrix


def test_jacobian_of_softmax_by_differences_and_as_the_vjp(rng):
    s, step = rng.normal(size=(3, 6)), 1e-6
    J = softmax_jacobian(softmax(s))
    for j in range(6):
        shift = step * np.eye(6)[j]
        np.testing.assert_allclose(
            J[..., j], (softmax(s + shift) - softmax(s - shift)) / (2 * step), atol=1e-9
        )
    grad = rng.normal(size=(3, 6))
    np.testing.assert_allclose(softmax_vjp(grad, softmax(s)), (J @ grad[..., None])[..., 0], atol=1e-14)


@given(rows)
def test_keys_attended_lies_between_one_and_all(s):
    assert 1 - 1e-12 <= keys_attended(softmax(s)) <= len(s) + 1e-12


@pytest.mark.parametrize("n", [1, 2, 16])
def test_keys_attended_counts_equal_keys(n):
    assert keys_attended(np.full(n, 1 / n)) == pytest.approx(n)


def test_the_square_root_keeps_rows_alike_whatever_the_width():
    def typical(d_head, scale):
        r = random_rows(np.random.default_rng(0), d_head, scale)
        return np.median(r.keys), np.median(r.passed)

    narrow, wide = typical(64, 64**-0.5), typical(1024, 1024**-0.5)
    np.testing.assert_allclose(wide, narrow, rtol=0.05)
    unscaled_keys, unscaled_passed = typical(1024, 1.0)
    assert unscaled_keys < 1.01
    assert unscaled_passed < wide[1] / 1000
    assert typical(1024, 1 / 1024)[0] > 15.9
