"""Texts are as long as asked, all different, and runs of one story; their words are dealt fairly."""

from collections import Counter

import numpy as np
import pytest

from encoderlab.chapters.abstraction.prose import (
    LENGTHS,
    TELLINGS,
    dealt_anew,
    passages,
    stories,
    story_interval,
    tell,
)


@pytest.mark.parametrize("words", LENGTHS)
def test_passages_are_about_as_long_as_asked_and_different(words):
    drawn = passages(words, np.random.default_rng(0))
    assert len({passage.text for passage in drawn}) == len(drawn) == TELLINGS * len(stories()) == 50
    assert [passage.story for passage in drawn] == np.repeat(range(10), TELLINGS).tolist()
    counts = [len(passage.text.split()) for passage in drawn]
    assert np.mean(counts) == pytest.approx(words, abs=max(4, 0.05 * words))
    assert drawn == passages(words, np.random.default_rng(0))
    assert not set("(|)#") & set("".join(passage.text for passage in drawn))


def test_a_passage_is_a_run_of_whole_sentences():
    for passage in passages(40, np.random.default_rng(1)):
        openings = [sentence.split("(")[0] for sentence in stories()[passage.story]]
        assert passage.text[0].isupper()
        assert passage.text.endswith(".")
        told = [k for k, opening in enumerate(openings) if len(opening) > 12 and opening in passage.text]
        assert told
        assert told == list(range(told[0], told[-1] + 1)) or np.diff(told).max() <= 3


def test_choices_are_told_equally_often():
    rng = np.random.default_rng(0)
    counts = Counter(tell("A (cat|dog|hen).", rng) for _ in range(3000))
    assert set(counts) == {"A cat.", "A dog.", "A hen."}
    assert min(counts.values()) > 900


def test_words_dealt_anew_are_the_same_words():
    text = passages(80, np.random.default_rng(0))[0].text
    dealt = dealt_anew(text, np.random.default_rng(0))
    assert dealt != text
    assert Counter(dealt.split()) == Counter(text.split())


def test_intervals_count_stories_not_texts():
    """Ten stories that differ, five equal texts of each: as wide as for ten texts, not for fifty."""
    values = np.repeat(np.random.default_rng(0).normal(size=10), TELLINGS)
    mean, low, high = story_interval(values, np.random.default_rng(0))
    assert mean == pytest.approx(values.mean())
    expected = 2 * 1.96 * values[::TELLINGS].std() / 10**0.5
    assert high - low == pytest.approx(expected, rel=0.15)
