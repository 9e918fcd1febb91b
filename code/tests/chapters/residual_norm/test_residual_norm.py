"""LayerNorm and the sub-layer around it: definition, invariances, and the order of norm and sum."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from encoderlab.model.config import EncoderConfig
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm, standardize
from encoderlab.model.sublayer import sublayer

rows = hnp.arrays(np.float64, (3, 5), elements=st.floats(-100, 100))
PLAIN = LayerNormWeights(np.ones(5), np.zeros(5))


@given(rows)
def test_layer_norm_is_its_definition(x):
    w = LayerNormWeights(np.arange(5.0), np.arange(5.0)[::-1])
    expected = [
        [(v - sum(row) / 5) / (np.mean((row - row.mean()) ** 2) + 1e-5) ** 0.5 for v in row] for row in x
    ]
    np.testing.assert_allclose(layer_norm(x, w), expected * w.gamma + w.beta, atol=1e-9)


@given(rows, st.floats(0.1, 10), st.floats(-10, 10))
def test_layer_norm_forgets_scale_and_shift(x, scale, shift):
    x = x + np.linspace(0, 50, 5)  # far from constant rows, on which eps has its say
    if standardize(x, 1e-5)[1].min() > 1:
        np.testing.assert_allclose(layer_norm(scale * x + shift, PLAIN), layer_norm(x, PLAIN), atol=2e-3)


def test_layer_norm_divides_by_d_not_d_minus_one():
    """With ddof = 1 the mean square would be (d − 1)/d, 0.875 at d = 8."""
    x = np.random.default_rng(0).normal(size=(4, 8))
    normed = layer_norm(x, LayerNormWeights(np.ones(8)), eps=1e-12)
    np.testing.assert_allclose((normed**2).mean(axis=1), 1, atol=1e-10)


def test_a_constant_row_gives_beta():
    w = LayerNormWeights(np.full(4, 3.0), np.array([1.0, 2.0, 3.0, 4.0]))
    assert np.array_equal(layer_norm(np.full((2, 4), 0.25), w), np.broadcast_to(w.beta, (2, 4)))
    with pytest.raises(ValueError, match="eps must be positive when x has a constant row, got 0"):
        layer_norm(np.full((2, 4), 0.25), w, eps=0)


def test_rows_do_not_see_each_other(rng):
    x = rng.normal(size=(3, 5))
    before = layer_norm(x, PLAIN)
    x[1] = 9 * rng.normal(size=5)
    assert np.array_equal(layer_norm(x, PLAIN)[[0, 2]], before[[0, 2]])


@pytest.mark.parametrize(
    ("residual", "norm"), list(itertools.product([True, False], ["none", "post", "pre"]))
)
def test_sublayer_equals_the_formula_written_out(rng, residual, norm):
    config = EncoderConfig(5, 1, residual=residual, norm=norm)
    x, W = rng.normal(size=(3, 5)), rng.normal(size=(5, 5))
    w = LayerNormWeights(rng.normal(size=5), rng.normal(size=5))

    def ln(v):
        return layer_norm(v, w)

    def f(v):
        return np.tanh(v @ W)

    skip = x if residual else 0
    formula = {"none": skip + f(x), "post": ln(skip + f(x)), "pre": skip + f(ln(x))}[norm]
    output, trace, record = sublayer(x, lambda z: (f(z), "record"), w, config)
    np.testing.assert_allclose(output, formula, atol=1e-14)
    assert record == "record"
    assert np.array_equal(trace.y, f(trace.z))


def test_a_pre_norm_sublayer_of_zeros_is_the_identity(rng):
    x = rng.normal(size=(3, 5))
    output, *_ = sublayer(x, lambda z: (0 * z, None), PLAIN, EncoderConfig(5, 1, norm="pre"))
    assert np.array_equal(output, x)
