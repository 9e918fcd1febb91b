"""The measures of chapter 5 on patterns whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoderlab.abstraction import (
    HEAD_MEASURES,
    between_words,
    distance,
    entropy,
    identical,
    neighbours,
    over_uniform,
    same_against_other,
    to_neighbours,
    uniform_distance,
)
from encoderlab.encoder import Encoder, EncoderConfig
from encoderlab.likeness import hidden_measures, mean_off_diagonal, step_similarity
from encoderlab.stacking import cosines, rank_one_residual


def even(n):
    return np.full((n, n), 1 / n)


def random_pattern(seed, n, h=3):
    weights = np.random.default_rng(seed).exponential(size=(h, n, n))
    return weights / weights.sum(axis=-1, keepdims=True)


@given(st.integers(2, 20))
def test_even_attention_is_one_by_every_ratio(n):
    pairs = np.random.default_rng(n).random((n, n)) < 0.5
    pairs[0, 0] = True
    assert uniform_distance(n) == pytest.approx(np.mean([abs(i - j) for i in range(n) for j in range(n)]))
    for value in (distance(even(n)), entropy(even(n)), over_uniform(even(n), pairs)):
        assert value == pytest.approx(1)


@given(st.integers(0, 100), st.integers(3, 9))
def test_measures_equal_their_definitions_in_loops(seed, n):
    pattern = random_pattern(seed, n)
    a = pattern[1]
    reach = np.mean([sum(a[i, j] * abs(i - j) for j in range(n)) for i in range(n)])
    assert distance(pattern)[1] == pytest.approx(reach / uniform_distance(n))
    bits = np.mean([-sum(p * np.log(p) for p in row) for row in a])
    assert entropy(pattern)[1] == pytest.approx(bits / np.log(n))
    beside = np.mean([sum(a[i, j] for j in (i - 1, i + 1) if 0 <= j < n) for i in range(n)])
    assert to_neighbours(pattern)[1] == pytest.approx(beside)


def test_ends_of_the_scales():
    assert distance(np.eye(6)) == 0
    assert entropy(np.eye(6)) == 0
    assert distance(np.eye(6)[::-1]) == pytest.approx(np.mean([5, 3, 1, 1, 3, 5]) / uniform_distance(6))


def test_between_words_drops_the_markers():
    words = between_words(random_pattern(0, 7))
    assert words.shape == (3, 5, 5)
    np.testing.assert_allclose(words.sum(axis=-1), 1)
    loud = random_pattern(1, 7)
    loud[..., 0] += 100
    np.testing.assert_allclose(
        between_words(loud / loud.sum(-1, keepdims=True)), between_words(random_pattern(1, 7))
    )


def test_identical_tokens_and_neighbours():
    tokens = ["the", "cat", "sat", "on", "the", "mat"]
    assert sorted(zip(*np.nonzero(identical(tokens)), strict=True)) == [(0, 4), (4, 0)]
    assert neighbours(4).sum() == 6
    assert np.isnan(over_uniform(even(3), identical(["a", "b", "c"]))).all()


def test_head_measures_give_one_number_a_head():
    pattern = random_pattern(3, 8, h=24).reshape(2, 12, 8, 8)
    tokens = ["[CLS]", "the", "cat", "sat", "on", "the", "mat", "[SEP]"]
    measured = {name: measure(pattern, tokens) for name, measure in HEAD_MEASURES.items()}
    assert {value.shape for value in measured.values()} == {(2, 12)}
    assert measured["to [CLS]"][1, 5] == pytest.approx(pattern[1, 5, 1:7, 0].mean())
    assert measured["to [SEP]"][0, 3] == pytest.approx(pattern[0, 3, 1:7, 7].mean())
    inner = pattern[0, 0, 1:7, 1:7] / pattern[0, 0, 1:7, 1:7].sum(axis=1, keepdims=True)
    as_far = (inner[1, 5] + inner[5, 1]) / 2  # the only other pair four places apart
    copies = (inner[0, 4] + inner[4, 0]) / 2
    assert measured["identical"][0, 0] == pytest.approx((copies - as_far) / (copies + as_far))


def test_identical_tokens_are_compared_at_their_own_distance():
    n = 9
    falling = np.exp(-np.abs(np.subtract.outer(np.arange(n), np.arange(n))))
    tokens = list("abcabdefg")
    assert same_against_other(falling, tokens) == pytest.approx(0)
    assert over_uniform(falling, identical(tokens)) < 0.5  # which would blame the words for their distance
    assert same_against_other(falling + 3 * identical(tokens), tokens) > 0.5
    assert same_against_other(falling * ~identical(tokens), tokens) == -1
    assert np.isnan(same_against_other(falling, list("abcdefghi")))
    assert np.isnan(same_against_other(falling, list("abcdefgha")))  # no other pair is as far apart


def test_likeness_of_rows_and_of_steps(rng):
    x = rng.normal(size=(4, 5))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    pairs = [unit[i] @ unit[j] for i in range(4) for j in range(4) if i != j]
    assert mean_off_diagonal(cosines(x)) == pytest.approx(np.mean(pairs))
    assert step_similarity(np.stack([x, 2 * x, -x])) == pytest.approx([1, -1])


def test_hidden_measures_of_a_trace(rng):
    trace = Encoder.random(EncoderConfig(depth=2), rng).trace(rng.normal(size=(5, 32)))
    likeness, rank, step = hidden_measures(trace)
    assert likeness[2] == pytest.approx(mean_off_diagonal(cosines(trace.output)))
    assert rank == pytest.approx([rank_one_residual(h) for h in trace.hidden])
    assert np.isnan(step[0])
    assert step[1:] == pytest.approx(step_similarity(np.stack(trace.hidden)))
