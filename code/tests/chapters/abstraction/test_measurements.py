"""What the claims of chapter 5 ask for is what is stored: of the right sentences, and the right end."""

import math

import numpy as np
import pytest

from encoderlab.chapters.abstraction import measurements
from encoderlab.chapters.abstraction.data import ATLAS, NOTE_PAIRS, reading, results
from encoderlab.chapters.abstraction.likeness import HIDDEN_MEASURES
from encoderlab.chapters.abstraction.probe_tasks import TASKS
from encoderlab.chapters.abstraction.probes import CONTROLS
from encoderlab.chapters.abstraction.reading import HEAD_MEASURES
from encoderlab.chapters.abstraction.sentences import THE_NOTES, mean_and_interval, sentences

OF_THE_CORPUS = ATLAS[1:]  # the first is the note's own, which no measure counts


def skewed(seed=0):
    """Return a value for each of 64 sentences, with a long tail upwards."""
    return np.random.default_rng(seed).exponential(size=64) ** 2


def resampled(values, draws=2000):
    """Return the means of resampled corpora in order, one block of four sentences at a time, as loops."""
    rows = np.random.default_rng(0).integers(16, size=(draws, 16))
    drawn = [[values[4 * block + k] for block in row for k in range(4)] for row in rows]
    return sorted(
        sum(v for v in each if not math.isnan(v)) / sum(not math.isnan(v) for v in each) for each in drawn
    )


def percentile(ordered, share):
    rank = share * (len(ordered) - 1)
    below = int(rank)
    return ordered[below] + (rank - below) * (ordered[below + 1] - ordered[below])


@pytest.mark.parametrize("missing", [0, 9])
def test_both_ends_are_percentiles_of_means_over_blocks(missing):
    values = skewed()
    values[:missing] = np.nan
    mean, low, high = mean_and_interval(values, np.random.default_rng(0))
    ordered = resampled(values)
    assert (low, high) == pytest.approx((percentile(ordered, 0.025), percentile(ordered, 0.975)), rel=1e-12)
    assert mean == pytest.approx(np.nanmean(values))


def test_least_is_the_lower_end_and_most_the_upper():
    values = skewed(1)
    ordered = resampled(values)
    assert measurements.least(values) == pytest.approx(percentile(ordered, 0.025))
    assert measurements.most(values) == pytest.approx(percentile(ordered, 0.975))
    assert measurements.mean(values) == pytest.approx(sum(values) / 64)


def test_rows_are_the_sentences_of_the_corpus_and_the_notes_own_is_not_among_them():
    """The patterns of three sentences are stored whole; what is measured on them stands in their rows."""
    for measure, of in HEAD_MEASURES.items():
        rows = measurements.head_mean(measure)
        assert rows.shape == (64, 6)
        for text in OF_THE_CORPUS:
            tokens, attention, _ = reading(text)
            told = of(attention, tokens).mean(axis=-1)
            np.testing.assert_allclose(rows[sentences().index(text)], told, rtol=1e-4, atol=1e-5)
    for text in OF_THE_CORPUS:
        words = reading(text).cosines[:, 1:-1, 1:-1]
        n = words.shape[-1]
        alike = (words.sum(axis=(1, 2)) - n) / (n * n - n)
        row = measurements.hidden("likeness of words")[sentences().index(text)]
        np.testing.assert_allclose(row, alike, rtol=1e-4, atol=1e-5)


def test_hidden_measures_are_told_apart():
    told = [measurements.hidden(name) for name in HIDDEN_MEASURES]
    assert all(each.shape == (64, 7) for each in told)
    for k, each in enumerate(told):
        np.testing.assert_array_equal(each, results()["hidden"][k, -64:])


def test_sentences_lie_apart_as_their_cosines_say():
    cosine = results()["cosines"].astype(float)
    middle = np.eye(64) - 1 / 64  # takes the mean from every vector
    for told, product in (
        (measurements.apart(), cosine),
        (measurements.apart_centred(), middle @ cosine @ middle),
    ):
        lengths = np.sqrt(np.diagonal(product, axis1=1, axis2=2))
        for i in (0, 5, 63):
            others = [product[:, i, j] / lengths[:, i] / lengths[:, j] for j in range(64) if j // 4 != i // 4]
            np.testing.assert_allclose(told.others[:, i], np.mean(others, axis=0), atol=1e-5)
            partner = product[:, i, i ^ 1] / lengths[:, i] / lengths[:, i ^ 1]
            margin = (partner - np.mean(others, axis=0)) / np.std(others, axis=0)
            np.testing.assert_allclose(told.margin[:, i], margin, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("task", ["phrase", "number, other between"])
def test_probes_are_those_of_the_task(task):
    k, found = list(TASKS).index(task), results()
    for layer in range(7):
        seeds = [float(found["probes"][k, seed, layer]) for seed in range(5)]
        assert measurements.probe_runs(task)[:, layer].tolist() == pytest.approx(seeds)
        assert measurements.probe_accuracy(task)[layer] == pytest.approx(sum(seeds) / 5)
    best = [max(network) for network in found["untrained_probes"][k].tolist()]
    assert measurements.untrained_accuracy(task) == pytest.approx(best)
    for c, control in enumerate(CONTROLS):
        assert measurements.control_runs(task, control) == pytest.approx(found["controls"][k, :, c])


def test_facts_that_are_read_halfway_are_counted():
    for layer in range(7):
        count = 0
        for k in range(len(TASKS)):
            accuracy = np.mean([results()["probes"][k, seed, layer] for seed in range(5)])
            chance = np.mean(
                [results()["controls"][k, seed, CONTROLS.index("commonest label")] for seed in range(5)]
            )
            count += (accuracy - chance) >= (1 - chance) / 2
        assert measurements.read_halfway(layer) == count


def test_pairs_run_from_the_query_to_the_key():
    tokens, attention, _ = reading(THE_NOTES)
    assert tokens == ("[CLS]", "the", "cat", "sat", "on", "the", "mat", "[SEP]")
    for layer in (1, 4):
        told = measurements.link("sat", "cat", layer)
        for head in range(12):
            rows = [[float(w) for w in row[1:-1]] for row in attention[layer - 1, head, 1:-1]]
            assert told[head] == pytest.approx(rows[2][1] / sum(rows[2]) * 6, rel=1e-5)
    for name, (query, key) in NOTE_PAIRS.items():
        words = name.split(" → ")
        assert [measurements.WORDS[query], measurements.WORDS[key]] == words
        if words[0] != "the":  # which stands there twice, and the first is meant
            found = measurements.pair_by_head(*words, layer=3)
            np.testing.assert_array_equal(found, results()["note_heads"][2, :, query, key])
        weights = results()["note_mean"].mean(axis=0)  # (6, 6, 6)
        others = [i for i in range(6) if i not in (query, key)]
        told = [layer[query, key] / np.mean([layer[i, key] for i in others]) for layer in weights]
        np.testing.assert_allclose(measurements.pair_over_key(*words), told, rtol=1e-5)
