"""One layer for two: where it is exact, how it fails, and that the best fit is the best."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoderlab.chapters.stacking.impersonation import (
    averaging,
    errors,
    matching_layer,
    needed_logits,
    random_head,
    two_layers,
)
from encoderlab.chapters.stacking.interpolation import layer_through
from encoderlab.model.attention import AttentionWeights, multi_head_attention


def draw(rng, d=8, scale=1.0, biased=False) -> AttentionWeights:
    W_Q, W_K, W_V, W_O = rng.normal(size=(4, d, d)) / d**0.5
    biases = rng.normal(size=(4, d)) if biased else [None] * 4
    return AttentionWeights(scale * W_Q, W_K, W_V, W_O, *biases)


def pattern(x, weights):
    return multi_head_attention(x, weights, 1)[1].pattern[0]


@given(st.integers(0, 10**6), st.integers(1, 6), st.floats(0.1, 4), st.booleans())
def test_independent_tokens_are_matched(seed, n, scale, biased):
    rng = np.random.default_rng(seed)
    first, second, x = draw(rng, 8, scale, biased), draw(rng, 8, scale, biased), rng.normal(size=(n, 8))
    match = matching_layer(x, first, second)
    hidden = multi_head_attention(x, first, 1)[0]
    np.testing.assert_allclose(
        pattern(x, match.layer), pattern(hidden, second) @ pattern(x, first), rtol=1e-8, atol=1e-12
    )
    assert match.misfit < 1e-9
    assert match.error < 1e-9
    assert match.rank <= max(1, n - 1)


def test_rank_is_one_less_than_the_number_of_tokens(rng):
    first, second = draw(rng), draw(rng)
    for n in range(2, 9):
        x = rng.normal(size=(n, 8))
        centred = needed_logits(x, first, second)
        assert matching_layer(x, first, second).rank == n - 1 == np.linalg.matrix_rank(centred, rtol=1e-10)


def test_too_few_query_dimensions_are_refused_by_how_much(rng):
    first, second, x = draw(rng), draw(rng), rng.normal(size=(6, 8))
    with pytest.raises(ValueError, match=r"d_qk must be at least 5.*got 3: the best fit misses 0\.\d+"):
        matching_layer(x, first, second, d_qk=3)
    errors = [matching_layer(x, first, second, d_qk=d, best_fit=True).error for d in (1, 2, 3, 4, 5, 7)]
    assert errors[0] > 0.01
    assert errors[3] > 1e-6
    assert max(errors[4:]) < 1e-12


def test_a_query_bias_carries_one_token_more(rng):
    first, second, x = draw(rng), draw(rng), rng.normal(size=(10, 8))
    assert matching_layer(x[:8], first, second).error < 1e-12
    with pytest.raises(ValueError, match="x must have independent tokens, got 9 tokens of rank 8"):
        matching_layer(x[:9], first, second)
    with_bias = matching_layer(x[:9], first, second, query_bias=True)
    assert with_bias.layer.b_Q is not None
    assert with_bias.error < 1e-12
    with pytest.raises(ValueError, match="got 10 tokens of rank 9"):
        matching_layer(x, first, second, query_bias=True)


def test_no_layer_of_the_same_width_fits_the_logits_better(rng):
    """Eckart and Young, in coordinates: any change of W_Q and W_K makes the misfit larger."""
    first, second, x = draw(rng, scale=2), draw(rng, scale=2), rng.normal(size=(11, 8))
    needed = needed_logits(x, first, second)
    match = matching_layer(x, first, second, d_qk=3, best_fit=True)

    def misfit(W_Q, W_K):
        logits = x @ W_Q @ (x @ W_K).T / 3**0.5
        return np.linalg.norm(logits - logits.mean(axis=1, keepdims=True) - needed) / np.linalg.norm(needed)

    W_Q, W_K = match.layer.W_Q, match.layer.W_K
    assert misfit(W_Q, W_K) == pytest.approx(match.misfit)
    for size in (1e-4, 1e-2, 1.0) * 20:
        assert (
            misfit(W_Q + size * rng.normal(size=(8, 3)), W_K + size * rng.normal(size=(8, 3))) > match.misfit
        )


def test_equal_tokens_are_dependent_and_matched_all_the_same(rng):
    x = rng.normal(size=(6, 8))
    x[3] = x[2]
    assert matching_layer(x, draw(rng), draw(rng)).error < 1e-12


def test_the_error_grows_with_the_condition_of_the_tokens():
    errors = []
    for smallest in (1, 1e-3, 1e-6):
        rng = np.random.default_rng(0)
        first, second = draw(rng), draw(rng)
        U, _, Vt = np.linalg.svd(rng.normal(size=(5, 8)), full_matrices=False)
        errors.append(matching_layer(U * np.geomspace(4, 4 * smallest, 5) @ Vt, first, second).error)
    assert errors[0] < 1e-14
    assert 1e-13 < errors[2] < 1e-8
    assert errors[0] < errors[1] < errors[2]


def test_extremes(rng):
    first, second, x = draw(rng, scale=3000), draw(rng), rng.normal(size=(5, 8))
    assert pattern(x, first).min() == 0  # beyond a float, but not beyond its logarithm
    assert matching_layer(x, first, second).error < 1e-9
    assert matching_layer(x[:1], first, second).error < 1e-12
    assert matching_layer(x.astype(np.float32), first, second).layer.W_Q.dtype == np.float64
    for bad, message in (
        (x[None], r"x must be one sequence of shape \(n, 8\), got \(1, 5, 8\)"),
        (x[:, :7], r"x must have shape \(\.\.\., n, 8\)"),
    ):
        with pytest.raises(ValueError, match=message):
            matching_layer(bad, first, second)
    with pytest.raises(ValueError, match="d_qk must be at least 1, got 0"):
        matching_layer(x, first, second, d_qk=0)


def test_another_input_is_missed(rng):
    first, second, x = draw(rng), draw(rng), rng.normal(size=(6, 8))
    layer = matching_layer(x, first, second).layer
    new = rng.normal(size=(100, 6, 8))
    goal = two_layers(new, first, second)
    errors = np.linalg.norm(multi_head_attention(new, layer, 1)[0] - goal, axis=(1, 2)) / np.linalg.norm(
        goal, axis=(1, 2)
    )
    assert errors.min() > 0.01
    assert np.median(errors) > 0.2


def test_errors_are_measured_sequence_by_sequence(rng):
    first, second = random_head(rng, 8), random_head(rng, 8)
    match = matching_layer(x := rng.normal(size=(6, 8)), first, second)
    new = np.stack([x, *rng.normal(size=(3, 6, 8))])
    found = errors(match.layer, new, first, second)
    assert found[0] < 1e-10
    for error, z in zip(found[1:], new[1:], strict=True):
        goal = two_layers(z, first, second)
        off = multi_head_attention(z, match.layer, 1)[0] - goal
        assert error == pytest.approx(np.linalg.norm(off) / np.linalg.norm(goal))


def test_averaging_gives_every_token_the_mean_of_the_values(rng):
    layer, x = draw(rng, biased=True), rng.normal(size=(5, 8))
    output, trace = multi_head_attention(x, averaging(layer), 1)
    np.testing.assert_allclose(trace.pattern, 1 / 5)
    mean = (x.mean(axis=0) @ layer.W_V + layer.b_V) @ layer.W_O + layer.b_O
    np.testing.assert_allclose(output, np.tile(mean, (5, 1)), atol=1e-12)


def test_logits_of_a_random_head_have_size_three(rng):
    layer, x = random_head(rng, 64), rng.normal(size=(500, 64))
    Q, K = x @ layer.W_Q, x @ layer.W_K
    assert (Q @ K.T / 8).std() == pytest.approx(3, rel=0.1)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_a_layer_through_any_target(rng, n):
    x, target = rng.normal(size=(n, 8)), rng.normal(size=(n, 5))
    layer = layer_through(x, target)
    assert layer.W_Q.shape == layer.W_K.shape == (8, 1)
    np.testing.assert_allclose(multi_head_attention(x, layer, 1)[0], target, atol=1e-7)
    if n < 8:
        np.testing.assert_allclose(multi_head_attention(x, layer, 1)[0], target, atol=1e-11)
    with pytest.raises(
        ValueError, match="x must have few tokens, got 20, whose pattern has condition number"
    ):
        layer_through(rng.normal(size=(20, 24)), rng.normal(size=(20, 2)))
    with pytest.raises(ValueError, match="x must have independent tokens, got 9 tokens of rank 8"):
        layer_through(rng.normal(size=(9, 8)), rng.normal(size=(9, 5)))
