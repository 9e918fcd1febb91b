"""The corpus is what its header says, and the measures of separation are what they claim to be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoderlab.chapters.abstraction.sentences import (
    BLOCK,
    THE_NOTES,
    centred,
    mean_and_interval,
    sentences,
    separation,
)


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
        start = i - i % 4
        own, partners = (start + place for place in {0: (2, 3), 1: (3, 2), 2: (0, 1), 3: (1, 0)}[i % 4])
        assert apart.others[i] == pytest.approx(np.mean(elsewhere))
        assert apart.margin[i] == pytest.approx((partner - np.mean(elsewhere)) / np.std(elsewhere))
        assert apart.found[i] == (partner > max(elsewhere))
        assert apart.beats_own_words[i] == (partner > c[i, own])
        assert apart.beats_partners_words[i] == (partner > c[i, partners])


@given(st.integers(0, 100), st.floats(0.1, 10), st.floats(-5, 5))
def test_separation_does_not_see_shift_and_scale(seed, scale, shift):
    one, other = separation(cosine(seed)), separation(scale * cosine(seed) + shift)
    np.testing.assert_allclose(one.margin, other.margin, rtol=1e-8)
    np.testing.assert_array_equal(one.beats_own_words, other.beats_own_words)


@given(st.integers(0, 100))
def test_centred_cosines_are_those_of_centred_vectors(seed):
    x = np.random.default_rng(seed).normal(size=(2, 12, 5))
    unit = x / np.linalg.norm(x, axis=-1, keepdims=True)
    y = unit - unit.mean(axis=1, keepdims=True)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    np.testing.assert_allclose(centred(unit @ unit.swapaxes(1, 2)), y @ y.swapaxes(1, 2), atol=1e-12)


def test_look_alikes_share_words_with_the_sentence_they_are_named_for():
    texts = [set(text.lower().rstrip(".").split()) for text in sentences()]
    own = [len(texts[i] & texts[i ^ 2]) / len(texts[i]) for i in range(64)]
    partners = [len(texts[i] & texts[i ^ 3]) / len(texts[i]) for i in range(64)]
    partner = [len(texts[i] & texts[i ^ 1]) / len(texts[i]) for i in range(64)]
    assert np.mean(own) > 1.5 * max(np.mean(partners), np.mean(partner))


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
