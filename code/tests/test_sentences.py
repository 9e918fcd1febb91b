"""The corpus is what its header says, and the measures of separation are what they claim to be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoderlab.sentences import BLOCK, THE_NOTES, mean_and_interval, sentences, separation


def cosine(seed, m=12):
    x = np.random.default_rng(seed).normal(size=(m, 5))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return unit @ unit.T


def test_sixty_four_different_sentences_in_blocks_that_share_words():
    texts = sentences()
    assert len(texts) == len(set(texts)) == 64
    assert THE_NOTES not in texts
    for start in range(0, 64, BLOCK):
        bags = [set(text.lower().rstrip(".").split()) for text in texts[start : start + BLOCK]]
        for i, bag in enumerate(bags):
            assert any(bag & other for j, other in enumerate(bags) if j not in (i, i ^ 1)), texts[start + i]


@given(st.integers(0, 100))
def test_separation_equals_its_definition_in_loops(seed):
    c = cosine(seed)
    apart = separation(c)
    for i in range(12):
        elsewhere = [c[i, j] for j in range(12) if j // 4 != i // 4]
        partner = c[i, i + 1 if i % 2 == 0 else i - 1]
        alike = [c[i, j] for j in range(12) if j // 4 == i // 4 and j // 2 != i // 2]
        assert apart.others[i] == pytest.approx(np.mean(elsewhere))
        assert apart.margin[i] == pytest.approx((partner - np.mean(elsewhere)) / np.std(elsewhere))
        assert apart.found[i] == (partner > max(elsewhere))
        assert apart.beats_look_alikes[i] == np.mean([partner > a for a in alike])


@given(st.integers(0, 100), st.floats(0.1, 10), st.floats(-5, 5))
def test_separation_does_not_see_shift_and_scale(seed, scale, shift):
    one, other = separation(cosine(seed)), separation(scale * cosine(seed) + shift)
    np.testing.assert_allclose(one.margin, other.margin, rtol=1e-8)
    np.testing.assert_array_equal(one.beats_look_alikes, other.beats_look_alikes)


def test_intervals_cover_as_often_as_they_say(rng):
    """Sentences of a block share a draw, which an interval over single sentences would not allow for."""
    covered = 0
    for _ in range(300):
        values = np.repeat(rng.normal(size=16), 4) + 0.1 * rng.normal(size=64)
        _, low, high = mean_and_interval(values, rng, draws=300)
        covered += low <= 0 <= high
    assert 0.86 < covered / 300 < 0.98  # a little short of 95 %, as bootstrap intervals from 16 draws are


def test_nan_is_left_out(rng):
    values = rng.normal(size=(64, 2))
    values[::3, 0] = np.nan
    mean, low, high = mean_and_interval(values, rng)
    np.testing.assert_allclose(mean, np.nanmean(values, axis=0))
    assert (low < mean).all()
    assert (mean < high).all()
