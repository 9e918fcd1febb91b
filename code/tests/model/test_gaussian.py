"""The tail of the normal distribution against mpmath, to fifty digits."""

import mpmath
import numpy as np
import pytest

from encoderlab.model import gaussian


def exact_tail(a):
    with mpmath.workdps(50):
        return float(mpmath.erfc(mpmath.mpf(float(a)) / mpmath.sqrt(2)) / 2)


def test_coefficients_are_those_of_the_chebyshev_series():
    def scaled_tail(t):
        a = 4 * (1 + t) / (1 - t)
        return (a + 4) * mpmath.exp(a * a / 2) * mpmath.erfc(a / mpmath.sqrt(2)) / 2

    n = 60  # Gauss-Chebyshev quadrature, exact to far beyond float64
    with mpmath.workdps(40):
        angles = [mpmath.pi * (j + mpmath.mpf(1) / 2) / n for j in range(n)]
        values = [scaled_tail(mpmath.cos(angle)) for angle in angles]
        pairs = list(zip(values, angles, strict=True))
        series = [
            (2 if k else 1) * mpmath.fsum(v * mpmath.cos(k * a) for v, a in pairs) / n
            for k in range(len(gaussian.COEFFICIENTS))
        ]
    np.testing.assert_allclose(gaussian.COEFFICIENTS, [float(c) for c in series], rtol=1e-13, atol=1e-25)


@pytest.mark.parametrize(("dtype", "largest"), [(np.float32, 12.0), (np.float64, 37.0)])
def test_relative_error_is_a_few_ulps_wherever_the_tail_is_a_normal_number(dtype, largest):
    a = np.linspace(0, largest, 2000, dtype=dtype)
    tail = gaussian.upper_tail(a)
    assert tail.dtype == dtype
    np.testing.assert_allclose(tail, [exact_tail(v) for v in a], rtol=5 * np.finfo(dtype).eps)


def test_tail_vanishes_at_last_and_carries_nan():
    assert gaussian.upper_tail(np.array([gaussian.UNDERFLOW, 1e300, np.inf])).tolist() == [0, 0, 0]
    assert np.isnan(gaussian.upper_tail(np.array(np.nan)))
