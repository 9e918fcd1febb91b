"""The measures of chapter 5 on patterns whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoderlab.chapters.abstraction.copies import identical, same_against_other, same_key
from encoderlab.chapters.abstraction.likeness import hidden_measures, mean_off_diagonal, step_similarity
from encoderlab.chapters.abstraction.reading import (
    HEAD_MEASURES,
    between_words,
    distance,
    distance_to_others,
    entropy,
    neighbours,
    over_other_queries,
    over_uniform,
    to_itself,
    to_neighbours,
    uniform_distance,
)
from encoderlab.model.tokens import cosines, rank_one_residual


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
    for value in (
        distance(even(n)),
        distance_to_others(even(n)),
        entropy(even(n)),
        over_uniform(even(n), pairs),
    ):
        assert value == pytest.approx(1)


@given(st.integers(0, 100), st.integers(3, 9))
def test_measures_equal_their_definitions_in_loops(seed, n):
    pattern = random_pattern(seed, n)
    a = pattern[1]
    reach = np.mean([sum(a[i, j] * abs(i - j) for j in range(n)) for i in range(n)])
    assert distance(pattern)[1] == pytest.approx(reach / uniform_distance(n))
    others = [sum(a[i, j] * abs(i - j) for j in range(n)) / (1 - a[i, i]) for i in range(n)]
    apart = np.mean([abs(i - j) for i in range(n) for j in range(n) if i != j])
    assert distance_to_others(pattern)[1] == pytest.approx(np.mean(others) / apart)
    assert to_itself(pattern)[1] == pytest.approx(np.mean([a[i, i] for i in range(n)]))
    rest = [a[i, 0] for i in range(n) if i not in (0, 2)]
    assert over_other_queries(pattern, 2, 0)[1] == pytest.approx(a[2, 0] / np.mean(rest))
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


def test_copies_are_compared_for_the_same_key():
    """A word that all look at is no favourite of its copy's, though it is of every query's."""
    tokens = list("abacd")
    popular = np.tile([0.5, 0.0, 0.5, 0.0, 0.0], (5, 1))
    assert same_key(popular, tokens) == 0
    assert same_against_other(popular, tokens) == pytest.approx(0.6)
    pattern = random_pattern(4, 5)
    one, two = pattern[:, 0, 2] + pattern[:, 2, 0], pattern[:, 4, 2]  # nothing is as far to the left of key 0
    expected = (pattern[:, 0, 2] - two) / (pattern[:, 0, 2] + two)
    np.testing.assert_allclose(same_key(pattern, tokens), expected)
    assert (one > pattern[:, 0, 2]).all()
    assert np.isnan(same_key(pattern, list("abcde"))).all()
    assert np.isnan(same_key(pattern, list("abcda"))).all()  # no other query is as far from either


def test_likeness_of_rows_and_of_steps(rng):
    x = rng.normal(size=(4, 5))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    pairs = [unit[i] @ unit[j] for i in range(4) for j in range(4) if i != j]
    assert mean_off_diagonal(cosines(x)) == pytest.approx(np.mean(pairs))
    assert step_similarity(np.stack([x, 2 * x, -x])) == pytest.approx([1, -1])


def test_hidden_measures_of_a_corpus(rng):
    words = [rng.normal(size=(3, n, 8)) + 1 for n in (4, 5, 3)]
    measured = hidden_measures(words, [0, 0, 1])
    assert measured.shape == (6, 3, 3)
    mean = np.concatenate([w[2] for w in words]).mean(axis=0)
    one = words[1][2]
    assert measured[0, 1, 2] == pytest.approx(mean_off_diagonal(cosines(one)))
    across = np.block([[one], [words[2][2]]])
    assert measured[1, 1, 2] == pytest.approx(cosines(across)[:5, 5:].mean())  # its block left out
    assert measured[2, 1, 2] == pytest.approx(mean_off_diagonal(cosines(one - mean)))
    assert measured[3, 1, 2] == pytest.approx(rank_one_residual(one))
    assert np.isnan(measured[4:, :, 0]).all()
    assert measured[4, 1, 1:] == pytest.approx(step_similarity(words[1]))
    before = np.concatenate([w[1] for w in words]).mean(axis=0)
    centred = np.stack([words[1][1] - before, one - mean])
    assert measured[5, 1, 2] == pytest.approx(step_similarity(centred)[0])


def test_a_common_vector_makes_likeness_and_takes_none_away_when_removed(rng):
    words = [rng.normal(size=(1, 30, 8)) for _ in range(20)]
    shifted = [w + 5 for w in words]
    plain, common = (hidden_measures(each, range(20)).mean(axis=1)[:3, 0] for each in (words, shifted))
    assert common[:2].min() > 0.9 > 0.1 > abs(plain[0])
    assert common[2] == pytest.approx(plain[2])
