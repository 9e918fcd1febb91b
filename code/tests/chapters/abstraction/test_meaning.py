"""Minimal pairs, words of two senses and related words are what they claim to be."""

import numpy as np
import pytest
from published import model

from encoderlab.chapters.abstraction.homonyms import told_apart, uses, views
from encoderlab.chapters.abstraction.minimal_pairs import CHANGES, minimal_pairs, overlap
from encoderlab.chapters.abstraction.related import FRAMES, RELATED


def test_minimal_pairs_share_their_words_and_paraphrases_do_not():
    pairs = minimal_pairs(np.random.default_rng(0))
    assert len(set(pairs)) == 64
    assert [sum(pair.change == change for pair in pairs) for change in CHANGES] == [16] * 4
    assert min(overlap(pair.sentence, pair.contradiction) for pair in pairs) > 0.8
    assert max(overlap(pair.sentence, pair.paraphrase) for pair in pairs) < 0.5
    assert all(pair.sentence != pair.contradiction for pair in pairs)


def test_every_sense_has_eight_sentences_with_the_word_in_them_once():
    found = uses()
    senses = {(use.word, use.sense) for use in found}
    assert len(senses) == 16
    assert all(sum((use.word, use.sense) == sense for use in found) == 8 for sense in senses)
    assert len({use.text for use in found}) == 128
    for use in found:
        assert model().tokens(use.text).count(use.word) == 1


def test_senses_are_told_apart_where_they_differ_and_not_where_they_do_not(rng):
    found = uses()
    side = np.array([1.0 if use.sense == found[0].sense else -1.0 for use in found])
    noise = rng.normal(size=(len(found), 40))
    told = told_apart(noise + 5 * side[:, None], found)
    first = np.array([use.word == found[0].word for use in found])
    assert told[first].all()
    assert 0.35 < told_apart(noise, found).mean() < 0.65


def test_a_window_is_of_bare_embeddings():
    use = uses()[0]
    states, window, others = views(model(), use)
    x = model().embed(use.text)
    place = model().tokens(use.text).index(use.word)
    np.testing.assert_allclose(window, x[place - 2 : place + 3].ravel())
    np.testing.assert_allclose(states[0], x[place])
    np.testing.assert_allclose(others * (len(x) - 3), x[1:-1].sum(axis=0) - x[place], atol=1e-12)


@pytest.mark.parametrize("frame", FRAMES)
def test_related_words_stand_as_far_apart_as_unrelated_ones(frame):
    """So that the weight can differ by what they mean alone."""
    steps = {
        tokens.index(second) - tokens.index(first)
        for first, _ in RELATED
        for _, second in RELATED
        for tokens in [model().tokens(frame.format(first, second))]
    }
    assert len(steps) == 1
    assert len({word for pair in RELATED for word in pair}) == 2 * len(RELATED)
