"""How linear attention is: the frozen matrix against the layer, derivatives against differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoderlab.chapters.attention.linearity import (
    additivity_defect,
    attend,
    attention_map,
    directional_derivative,
    frozen_matrix,
    homogeneity_defect,
    scale_logits,
    sweep,
)
from encoderlab.model.attention import AttentionWeights, causal_mask, multi_head_attention


def weights_without_biases(rng, d_model=6, width=6):
    W_Q, W_K, W_V = rng.normal(size=(3, d_model, width))
    return AttentionWeights(W_Q, W_K, W_V, rng.normal(size=(width, d_model)))


def with_biases(w, rng):
    b_Q, b_K, b_V = rng.normal(size=(3, w.W_Q.shape[1]))
    return w._replace(b_Q=b_Q, b_K=b_K, b_V=b_V, b_O=rng.normal(size=w.W_O.shape[1]))


def vec(x):
    return x.reshape(-1, order="F")


@pytest.mark.parametrize("n_heads", [1, 2, 3])
@pytest.mark.parametrize("causal", [False, True])
def test_the_frozen_layer_is_its_kronecker_matrix(rng, n_heads, causal):
    x, w = rng.normal(size=(5, 6)), weights_without_biases(rng)
    output, trace = multi_head_attention(x, w, n_heads, causal_mask(5) if causal else None)
    matrix = frozen_matrix(trace.pattern, w)
    np.testing.assert_allclose(matrix @ vec(x), vec(output), atol=1e-12)
    other = rng.normal(size=(5, 6))  # and on another input, where the live layer differs
    np.testing.assert_allclose(matrix @ vec(other), vec(attend(other, trace.pattern, w)), atol=1e-12)
    assert np.abs(attention_map(w, n_heads)(other) - attend(other, trace.pattern, w)).max() > 0.1


@pytest.mark.parametrize("shape", [(4, 4), (2, 1, 4, 4), (1, 4, 3)])
def test_frozen_matrix_refuses_a_pattern_that_is_not_of_one_sequence(rng, shape):
    with pytest.raises(ValueError, match=r"pattern must have shape \(h, n, n\), got"):
        frozen_matrix(np.ones(shape), weights_without_biases(rng))


def test_attend_with_its_own_pattern_is_attention(rng):
    x = rng.normal(size=(2, 5, 6))
    w = with_biases(weights_without_biases(rng, width=10), rng)
    output, trace = multi_head_attention(x, w, 2)
    assert np.array_equal(attend(x, trace.pattern, w), output)


def test_defects_are_zero_for_a_linear_map_and_known_for_others(rng):
    W = rng.normal(size=(4, 4))
    x, y = rng.normal(size=(2, 3, 4))
    assert additivity_defect(lambda z: z @ W, x, y) < 1e-14
    assert homogeneity_defect(lambda z: z @ W, x, 3.0) < 1e-14
    assert homogeneity_defect(lambda z: z**3, x, 2.0) == pytest.approx(3)  # (2³ − 2)/2
    assert additivity_defect(lambda z: z + 1.0, x, y) > 0.1  # affine is not linear


@pytest.mark.parametrize("n_heads", [1, 3])
@pytest.mark.parametrize("biases", [False, True])
def test_derivative_is_that_of_the_layer_and_its_parts_are_told_apart(rng, n_heads, biases):
    x, direction = rng.normal(size=(2, 5, 6))
    w = weights_without_biases(rng)
    w = with_biases(w, rng) if biases else w
    f, mask, step = attention_map(w, n_heads, causal_mask(5)), causal_mask(5), 1e-5
    _, trace = multi_head_attention(x, w, n_heads, mask)
    d = directional_derivative(x, direction, w, trace)
    numerical = (f(x + step * direction) - f(x - step * direction)) / (2 * step)
    np.testing.assert_allclose(d.through_values + d.through_pattern, numerical, atol=1e-8)
    frozen = (attend(x + direction, trace.pattern, w) - attend(x - direction, trace.pattern, w)) / 2
    np.testing.assert_allclose(d.through_values, frozen, atol=1e-12)
    assert 0 < d.pattern_share < 1


@given(st.floats(0.01, 100))
def test_logits_scale_by_the_factor(factor):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(4, 6)), with_biases(weights_without_biases(rng), rng)
    before, after = (multi_head_attention(x, v, 2)[1] for v in (w, scale_logits(w, factor)))
    np.testing.assert_allclose(
        after.Q @ after.K.swapaxes(-1, -2), factor * (before.Q @ before.K.swapaxes(-1, -2)), rtol=1e-9
    )


def test_sweep_is_linear_at_small_logits_and_homogeneous_but_not_additive_at_large_ones(rng):
    s = sweep([1e-3, 1.0, 1e5], rng, n=6, d_model=8, n_heads=1, draws=21)
    assert s.additivity.shape == (3, 21)
    additivity, homogeneity, share = (np.median(measure, axis=1) for measure in s)
    assert (np.array([additivity[0], homogeneity[0], share[0]]) < 0.01).all()
    assert additivity[1] > 0.3
    assert additivity[2] > 0.5
    assert homogeneity[2] < 1e-3  # the largest logit stays the largest when all are multiplied by 4
    assert share[1] > 0.3
    assert share[2] < 1e-3


def test_deviation_from_linear_is_of_third_order_in_a_small_input(rng):
    """f(εX) = ε · mean(X) W_V W_O + O(ε³) without biases: 10 times smaller, 100 times more linear."""
    x, w = rng.normal(size=(5, 6)), weights_without_biases(rng)
    f = attention_map(w, 1)
    limit = np.broadcast_to(x.mean(axis=0) @ w.W_V @ w.W_O, x.shape)
    first, second = (np.linalg.norm(f(e * x) / e - limit) for e in (1e-3, 1e-4))
    assert first / second == pytest.approx(100, rel=0.01)
