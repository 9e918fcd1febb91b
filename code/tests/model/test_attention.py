"""Attention: against loops over its definition, its masks, and its extremes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from encoderlab.model.attention import (
    AttentionWeights,
    causal_mask,
    merge_heads,
    multi_head_attention,
    padding_mask,
    softmax,
    split_heads,
)

logits = hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=3), elements=st.floats(-1000, 1000))


@given(logits)
def test_softmax_rows_are_distributions(s):
    a = softmax(s)
    assert (a >= 0).all()
    np.testing.assert_allclose(a.sum(axis=-1), 1, atol=1e-12)


@given(logits, st.floats(-1000, 1000))
def test_softmax_ignores_a_constant(s, c):
    np.testing.assert_allclose(softmax(s + c), softmax(s), atol=1e-10)


@given(hnp.arrays(np.float64, 4, elements=st.floats(-30, 30)))
def test_softmax_is_its_definition(s):
    e = [math.exp(v) for v in s]
    np.testing.assert_allclose(softmax(s), [v / sum(e) for v in e], rtol=1e-12)


def test_softmax_at_the_extremes():
    assert softmax(np.array([1000.0, 1000.0, -1000.0])).tolist() == [0.5, 0.5, 0.0]
    assert softmax(np.array([[1.0, 2.0]]), np.array([[False, False]])).tolist() == [[0.0, 0.0]]
    assert softmax(np.zeros((2, 0))).shape == (2, 0)
    assert softmax(np.zeros(3, dtype=np.float32), np.array([True, False, True])).dtype == np.float32


def random_weights(rng, d_model=6, width=6):
    maps = [rng.normal(size=(d_model, width)) for _ in range(3)] + [rng.normal(size=(width, d_model))]
    biases = [rng.normal(size=width) for _ in range(3)] + [rng.normal(size=d_model)]
    return AttentionWeights(*maps, *biases)


@pytest.mark.parametrize("n_heads", [1, 2, 3])
@pytest.mark.parametrize("causal", [False, True])
def test_multi_head_is_its_definition(rng, n_heads, causal):
    """Loops over heads, queries and keys, with the formulas of the paper and nothing of ours."""
    x, w, n, d_head = rng.normal(size=(5, 6)), random_weights(rng), 5, 6 // n_heads
    heads = np.zeros((n, 6))
    for h in range(n_heads):
        block = slice(h * d_head, (h + 1) * d_head)
        for query in range(n):
            q = x[query] @ w.W_Q[:, block] + w.b_Q[block]
            keys = range(query + 1) if causal else range(n)
            scores = [q @ (x[key] @ w.W_K[:, block] + w.b_K[block]) / math.sqrt(d_head) for key in keys]
            total = sum(math.exp(s) for s in scores)
            for key, score in zip(keys, scores, strict=True):
                value = x[key] @ w.W_V[:, block] + w.b_V[block]
                heads[query, block] += math.exp(score) / total * value
    output, trace = multi_head_attention(x, w, n_heads, causal_mask(n) if causal else None)
    np.testing.assert_allclose(output, heads @ w.W_O + w.b_O, atol=1e-12)
    np.testing.assert_allclose(trace.heads, heads, atol=1e-12)


def test_heads_may_be_wider_or_narrower_than_the_model(rng):
    output, trace = multi_head_attention(rng.normal(size=(4, 6)), random_weights(rng, width=10), 2)
    assert output.shape == (4, 6)
    assert trace.Q.shape == (2, 4, 5)


def test_split_and_merge_are_inverse_and_keep_blocks_together(rng):
    x = rng.normal(size=(2, 5, 6))
    assert np.array_equal(merge_heads(split_heads(x, 3)), x)
    assert np.array_equal(split_heads(x, 3)[:, 1], x[..., 2:4])


def test_causal_mask_is_not_off_by_one(rng):
    x, w = rng.normal(size=(6, 6)), random_weights(rng)
    before, _ = multi_head_attention(x, w, 2, causal_mask(6))
    x[3] += 1
    after, _ = multi_head_attention(x, w, 2, causal_mask(6))
    assert np.array_equal(before[:3], after[:3])
    assert (np.abs(before[3:] - after[3:]).max(axis=1) > 1e-3).all()


def test_padding_mask_hides_padding(rng):
    x, w = rng.normal(size=(2, 5, 6)), random_weights(rng)
    mask = padding_mask([3, 5], 5)
    before, _ = multi_head_attention(x, w, 2, mask)
    x[0, 3:] = 77
    after, _ = multi_head_attention(x, w, 2, mask)
    assert np.array_equal(before[0, :3], after[0, :3])
    alone, _ = multi_head_attention(x[:1, :3], w, 2)
    np.testing.assert_allclose(before[0, :3], alone[0], atol=1e-12)


def test_a_fully_masked_token_gets_zero_from_every_head(rng):
    x, w = rng.normal(size=(2, 4, 6)), random_weights(rng)
    output, trace = multi_head_attention(x, w, 2, padding_mask([0, 4], 4))
    assert not trace.heads[0].any()
    assert np.array_equal(output[0], np.broadcast_to(w.b_O, (4, 6)))
    assert np.isfinite(output).all()


@pytest.mark.parametrize("lengths", [[-1], [5]])
def test_padding_mask_refuses_impossible_lengths(lengths):
    with pytest.raises(ValueError, match=r"lengths must lie between 0 and n = 4, got \["):
        padding_mask(lengths, 4)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_softmax_of_what_is_no_number_is_none(bad):
    assert np.isnan(softmax(np.array([bad, 0.0]))).all()
    assert softmax(np.array([bad, 0.0]), np.array([False, True])).tolist() == [0, 1]
    assert softmax(np.array([[bad, 0.0], [0.0, 0.0]]))[1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("lengths", "n", "message"),
    [([1.5], 5, "lengths must be in integers, got 1.5"), ([True], 5, "got True"), ([1], 5.0, "n must be in")],
)
def test_lengths_are_integers(lengths, n, message):
    with pytest.raises(ValueError, match=message):
        padding_mask(lengths, n)
