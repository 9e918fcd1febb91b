"""XOR and parity by hand: every input, closed forms, no part unnamed, and why three bits need two norms."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoderlab.chapters.attention.xor import (
    ANSWER,
    as_tokens,
    behind_constant_token,
    corners,
    fold,
    folded,
    parity_of,
    parity_with_layer_norm,
    xor_with_constant_token,
    xor_with_ffn,
    xor_with_layer_norm,
)
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm, standardize


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_parity_counts_the_ones(n):
    assert len(corners(n)) == 2**n
    for bits, label in zip(corners(n), parity_of(corners(n)), strict=True):
        assert label == (1 if sum(bits == 1) % 2 else -1)


def test_xor_of_a_lone_token_with_an_ffn():
    encoder = xor_with_ffn()
    assert encoder(as_tokens(corners(2), 3))[:, 0, ANSWER].tolist() == [-1, 1, 1, -1]
    assert encoder.config.norm == "none"
    assert not any(array.any() for name, array in encoder.parameters().items() if "attention" in name)


@pytest.mark.parametrize("sharpness", [0.5, 4.0])
def test_xor_beside_a_constant_token_has_its_closed_form_on_the_whole_plane(rng, sharpness):
    x, encoder = rng.normal(size=(50, 2)), xor_with_constant_token(sharpness)
    answers = encoder(behind_constant_token(as_tokens(x, 3)))[:, 1, ANSWER]
    np.testing.assert_allclose(answers, -np.tanh(sharpness * x[:, 0] * x[:, 1] / 2) / 2, atol=1e-14)
    assert (encoder.config.norm, encoder.config.ffn, encoder.config.depth) == ("none", False, 1)
    biases = [name for name in encoder.parameters() if ".b_" in name]
    assert biases == ["layers.0.attention.b_O"]  # the threshold


def test_without_the_constant_token_the_same_weights_say_nothing():
    answers = xor_with_constant_token()(as_tokens(corners(2), 3))[:, 0, ANSWER]
    assert np.ptp(answers) == 0


@given(st.floats(-5, 5), st.floats(-2, 2), st.floats(0.2, 5), st.integers(3, 6))
def test_layer_norm_folds(a, centre, constant, d):
    W, b = fold(np.eye(d)[0], centre, constant)
    x = np.zeros((2, d))
    x[:, 0] = centre + a, centre - a
    row = layer_norm(x @ W + b, LayerNormWeights(np.ones(d)), eps=0)
    np.testing.assert_allclose(row[:, ANSWER], folded(a, d, constant), rtol=1e-9)


def test_a_fold_needs_three_coordinates():
    with pytest.raises(ValueError, match="direction must have at least 3 entries, got 2"):
        fold(np.ones(2))


def test_xor_of_a_lone_token_with_one_layer_norm():
    encoder = xor_with_layer_norm()
    answers = encoder(as_tokens(corners(2), 3))[:, 0, ANSWER]
    np.testing.assert_allclose(answers, [-1, 1, 1, -1], atol=1e-11)
    assert (encoder.config.norm, encoder.config.ffn, encoder.config.depth) == ("post", False, 1)


@pytest.mark.parametrize("constant", [0.3, 1.0, 3.0])
def test_two_layer_norms_compute_the_parity_of_four_bits(constant):
    bits, encoder = corners(4), parity_with_layer_norm(constant)
    answers = encoder(as_tokens(bits, 4))[:, 0, ANSWER]
    np.testing.assert_allclose(answers, parity_of(bits), atol=1e-8)
    assert (encoder.config.norm, encoder.config.ffn, encoder.config.depth) == ("post", False, 2)


def test_without_a_constant_there_is_no_fold():
    with pytest.raises(ValueError, match="constant must be positive, got 0"):
        parity_with_layer_norm(0)


def test_one_layer_norm_draws_a_convex_region(rng):
    """The answer w · LN(x W + b) + c is positive where |c| σ(x) < an affine function, or the reverse."""
    W, b, w = rng.normal(size=(3, 5)), rng.normal(size=5), rng.normal(size=5)
    for c in (-1.0, 1.0):
        x = 3 * rng.normal(size=(400, 3))
        answers = layer_norm(x @ W + b, LayerNormWeights(np.ones(5))) @ w + c
        region = x[np.sign(answers) == np.sign(-c)]  # where the affine function must beat |c| σ
        middles = (region[:, None] + region) / 2
        between = layer_norm(middles @ W + b, LayerNormWeights(np.ones(5))) @ w + c
        assert len(region) > 10
        assert (np.sign(between) == np.sign(-c)).all()


def test_no_quadratic_agrees_with_the_parity_of_three_bits():
    """One half of the proof that one LayerNorm cannot do three bits: parity is orthogonal to degree two."""
    bits = corners(3)
    subsets = [s for k in range(3) for s in itertools.combinations(range(3), k)]
    assert len(subsets) == 7
    assert all(parity_of(bits) @ np.prod(bits[:, list(s)], axis=1) == 0 for s in subsets)


@given(st.integers(0, 10**6), st.integers(2, 6), st.floats(-2, 2), st.sampled_from([0.0, 1e-5, 1.0]))
def test_a_corner_below_minus_sigma_turns_the_one_across(seed, d, exponent, eps):
    """The other half: if L(v) < −N(v) and L > N at two neighbours of v, then L > N across, N = |c| σ."""
    rng = np.random.default_rng(seed)
    W, b = 10**exponent * rng.normal(size=(3, d)), rng.normal(size=d)
    v = rng.choice([-1.0, 1.0], size=3)
    first, second = 1 - 2 * np.eye(3)[:2]
    row = np.stack([v, v * first, v * second, v * first * second]) @ W + b
    at_v, at_u, at_other, across = standardize(row, eps).sigma[:, 0]
    least = at_u + at_other + at_v  # of L(w) = L(u) + L(u′) − L(v)
    assert least >= across * (1 - 1e-9)


def test_with_a_connection_around_the_norm_three_bits_need_only_one():
    bits = corners(3)
    s = bits.sum(axis=1)
    k = 1.0
    row = np.stack([s, -s, np.full(8, k), np.full(8, -k)], axis=1)  # the token; LayerNorm makes s/√(s² + k²)
    normed = layer_norm(row, LayerNormWeights(np.full(4, 2**-0.5)), eps=0)
    np.testing.assert_allclose(normed[:, 0], s / np.sqrt(s**2 + k**2), atol=1e-14)
    for m in (1.01 / 10**0.5, 0.99 / 2**0.5):
        assert np.array_equal(np.sign(m * row[:, 0] - normed[:, 0]), parity_of(bits))
    for m in (0.99 / 10**0.5, 1.01 / 2**0.5):
        assert not np.array_equal(np.sign(m * row[:, 0] - normed[:, 0]), parity_of(bits))
