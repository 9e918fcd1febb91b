"""Terms of third order: formulas against values of the function, and the theorem that rests on them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoderlab.chapters.stacking.third_token import (
    composition,
    covariance,
    cubic_map,
    log_odds,
    moved_query_gap,
    third_order,
)
from encoderlab.model.encoder import Encoder, EncoderConfig


def attention_only(rng, *, n_heads, residual, depth=2) -> Encoder:
    config = EncoderConfig(8, n_heads, 4, depth, ffn=False, residual=residual, norm="none")
    return Encoder.random(config, rng)


def test_third_order_of_known_series(rng):
    x = rng.normal(size=(3, 2))
    np.testing.assert_allclose(third_order(np.tanh, x), -(x**3) / 3, rtol=1e-6)
    np.testing.assert_allclose(third_order(lambda v: 5 * v + v**3 - v**5, x), x**3, rtol=1e-6)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("n_heads", [1, 2, 4])
def test_one_layer_multiplies_the_query_and_two_the_mean_as_well(rng, n_heads, residual):
    encoder, x = attention_only(rng, n_heads=n_heads, residual=residual), rng.normal(size=(5, 8))
    first, second = (layer.attention for layer in encoder.weights.layers)
    C = covariance(x)
    np.testing.assert_allclose(
        third_order(encoder.switch(depth=1), x), x @ cubic_map(C, first, n_heads), atol=1e-7
    )
    query = cubic_map(C, first, n_heads) + cubic_map(C, second, n_heads) if residual else np.zeros((8, 8))
    mean = composition(C, first, second, n_heads, residual=residual)
    np.testing.assert_allclose(third_order(encoder, x), x @ query + x.mean(axis=0) @ mean, atol=1e-6)


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 4, 8]), st.booleans())
def test_to_third_order_one_layer_cannot_tell_a_moved_query_from_moved_tokens(seed, n_heads, residual):
    """The identity that every single layer obeys, and that two layers break by exactly `composition`."""
    rng = np.random.default_rng(seed)
    encoder, x = attention_only(rng, n_heads=n_heads, residual=residual), rng.normal(size=(4, 8))
    shift = x[0] - x[1]

    size = np.abs(third_order(encoder.switch(depth=1), x)).max()
    np.testing.assert_allclose(moved_query_gap(encoder.switch(depth=1), x), 0, atol=1e-4 * size)
    first, second = (layer.attention for layer in encoder.weights.layers)
    mean = composition(covariance(x), first, second, n_heads, residual=residual)
    np.testing.assert_allclose(moved_query_gap(encoder, x), shift @ mean, atol=1e-4 * size)


def test_log_odds_of_a_head_are_blind_to_a_third_token_and_those_of_a_product_are_not(rng):
    encoder, x = attention_only(rng, n_heads=1, residual=False), rng.normal(size=(3, 8))
    moved = x.copy()
    moved[2] = rng.normal(size=8)
    first, second = (
        np.array([trace.attention[layer][0] for trace in map(encoder.trace, (x, moved))]) for layer in (0, 1)
    )  # each (2, n, n): before and after the third token moved
    before, after = log_odds(first, 0, 0, 1)
    assert before == pytest.approx(after, abs=1e-13)
    before, after = log_odds(second @ first, 0, 0, 1)
    assert abs(before - after) > 0.01


def test_two_tokens_are_the_exception(rng):
    """With an antisymmetric W_Q W_Kᵀ and n = 2 both queries of layer 1 agree: A₂A₁ = A₁ is one head."""
    G = rng.normal(size=(8, 8))
    encoder = attention_only(rng, n_heads=1, residual=False).with_parameters(
        {"layers.0.attention.W_Q": G - G.T, "layers.0.attention.W_K": np.eye(8)}
    )
    A_1, A_2 = (A[0] for A in encoder.trace(rng.normal(size=(2, 8))).attention)
    np.testing.assert_allclose(A_2 @ A_1, A_1, atol=1e-15)
    A_1, A_2 = (A[0] for A in encoder.trace(rng.normal(size=(3, 8))).attention)
    assert np.abs(A_2 @ A_1 - A_1).max() > 0.01
