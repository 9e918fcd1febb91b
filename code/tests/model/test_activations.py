"""Elementwise functions against mpmath, finite differences and the identities that define them."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoderlab.model.activations import ACTIVATIONS, erf, gelu, gelu_tanh, relu, sigmoid, tanh

EXACT = {
    "identity": lambda x: x,
    "relu": lambda x: max(mpmath.mpf(0), x),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "tanh": mpmath.tanh,
    "gelu": lambda x: x * mpmath.ncdf(x),
    "gelu_tanh": lambda x: x / (1 + mpmath.exp(-2 * mpmath.sqrt(2 / mpmath.pi) * (x + 0.044715 * x**3))),
}  # every activation there is must have its formula here
GRID = np.concatenate([np.linspace(-35, 35, 401), np.linspace(-1, 1, 101)])


def exactly(name, x, derivative=0):
    with mpmath.workdps(40):
        points = map(mpmath.mpf, np.asarray(x, dtype=float).ravel().tolist())
        f = EXACT[name]
        return np.array([float(mpmath.diff(f, p) if derivative else f(p)) for p in points])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_values_are_right_to_the_last_digits_even_in_the_tails(name):
    # The tanh form of GELU cubes its input before the exponential, which magnifies rounding far out.
    rtol = {"gelu_tanh": 1e-12}.get(name, 2e-15)
    x = GRID[GRID > -20] if name == "gelu_tanh" else GRID
    np.testing.assert_allclose(ACTIVATIONS[name].f(x), exactly(name, x), rtol=rtol, atol=1e-300)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivatives_are_those_of_the_exact_functions(name):
    x = GRID[np.abs(GRID) > 1e-3] if name == "relu" else GRID
    np.testing.assert_allclose(
        ACTIVATIONS[name].derivative(x), exactly(name, x, derivative=1), rtol=1e-13, atol=2e-15
    )


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivatives_are_those_of_the_functions_beside_them(name):
    """Central differences of the very function that stands beside a derivative, off the kink of ReLU."""
    f, derivative = ACTIVATIONS[name]
    x = np.linspace(-4, 4, 80)
    np.testing.assert_allclose(derivative(x), (f(x + 1e-5) - f(x - 1e-5)) / 2e-5, atol=1e-9)


def test_slopes_keep_their_digits_where_the_function_is_saturated():
    x = np.array([20.0, 40.0, -40.0, 300.0])
    sigmoid_slope = [float(1 / (2 + 2 * mpmath.cosh(v))) for v in x.tolist()]
    tanh_slope = [float(mpmath.sech(v) ** 2) for v in x.tolist()]
    np.testing.assert_allclose(ACTIVATIONS["sigmoid"].derivative(x), sigmoid_slope, rtol=1e-14)
    np.testing.assert_allclose(ACTIVATIONS["tanh"].derivative(x), tanh_slope, rtol=1e-14)


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_and_shape_are_kept(name, dtype):
    for shape in [(), (3,), (2, 0), (2, 3, 4)]:
        x = np.full(shape, 0.5, dtype)
        for function in ACTIVATIONS[name]:
            assert function(x).dtype == dtype
            assert function(x).shape == shape


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_overflows_and_nan_passes(name, dtype):
    huge = np.finfo(dtype).max
    x = np.array([-np.inf, -huge, -1e4, -1000, 1000, 1e4, huge, np.inf], dtype)
    for function in ACTIVATIONS[name]:
        assert not np.isnan(function(x)).any()
    assert np.isnan(ACTIVATIONS[name].f(dtype(np.nan)))


@pytest.mark.parametrize("name", ["relu", "gelu", "gelu_tanh"])
def test_rectifiers_end_as_zero_on_the_left_and_identity_on_the_right(name):
    f, derivative = ACTIVATIONS[name]
    assert f([-np.inf, -1e4, 1e4, np.inf]).tolist() == [0, 0, 1e4, np.inf]
    assert derivative([-1e4, 1e4]).tolist() == [0, 1]


def test_gelu_is_the_same_whatever_the_layout_of_its_input():
    x = np.random.default_rng(0).normal(size=(300, 200))  # more than one block
    assert np.array_equal(gelu(x.T), gelu(x).T)
    assert np.array_equal(gelu(x[::2, ::3]), gelu(x)[::2, ::3])


def test_erf_is_right_to_1e_15():
    x = np.linspace(-7, 7, 1401)
    assert np.abs(erf(x) - [float(mpmath.erf(v)) for v in x.tolist()]).max() < 1e-15


def test_the_two_gelus_differ_by_less_than_a_thousandth():
    x = np.linspace(-10, 10, 10001)
    assert 1e-4 < np.abs(gelu(x) - gelu_tanh(x)).max() < 1e-3


@given(st.floats(-700, 700))
def test_identities(x):
    assert sigmoid(x) + sigmoid(-x) == pytest.approx(1, abs=1e-15)
    assert tanh(x) == pytest.approx(2 * sigmoid(2 * x) - 1, abs=1e-15)
    assert relu(x) - relu(-x) == x
    assert gelu(x) - gelu(-x) == pytest.approx(x, abs=1e-15, rel=1e-15)
    assert erf(-x) == -erf(x)


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_elementwise_functions_commute_with_permutations(values, random):
    x = np.array(values)
    order = np.array(random.sample(range(len(values)), len(values)))
    for f, derivative in ACTIVATIONS.values():
        assert np.array_equal(f(x[order]), f(x)[order])
        assert np.array_equal(derivative(x[order]), derivative(x)[order])


def test_integers_are_computed_in_float64_and_other_things_are_refused():
    assert sigmoid(np.array([0, 1], np.int32)).dtype == np.float64
    for bad in (1j, "one", [None]):
        with pytest.raises(ValueError, match=r"x must hold real numbers, got dtype"):
            relu(bad)
