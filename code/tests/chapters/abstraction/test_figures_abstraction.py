"""What chapter 5's explorers say is what was measured, and so is what the chapter says in words."""

import re

import numpy as np
import pytest

from encoderlab.chapters.abstraction.data import ATLAS, SURGERY_MEASURES, reading, results
from encoderlab.chapters.abstraction.erasure_data import ERASED, FACTS
from encoderlab.chapters.abstraction.figures import (
    atlas,
    bins,
    growing,
    lengths,
    probe_curves,
    surgery_room,
)
from encoderlab.chapters.abstraction.length_data import LENGTH_MEASURES
from encoderlab.chapters.abstraction.measurements import (
    by_length,
    gap_by_length,
    growing_gap,
    own_words_by_overlap,
    paraphrase_nearer,
    probe_accuracy,
)
from encoderlab.chapters.abstraction.probe_data import GROWING, MOST_ADJECTIVES, RIVALS
from encoderlab.chapters.abstraction.probe_tasks import TASKS
from encoderlab.chapters.abstraction.probes import CONTROLS
from encoderlab.chapters.abstraction.prose import LENGTHS
from encoderlab.chapters.abstraction.reading import HEAD_MEASURES, between_words
from encoderlab.chapters.abstraction.sentences import mean_and_interval
from encoderlab.chapters.abstraction.surgery import BY_LOT, FORMS, PARTS
from encoderlab.explorer.moving import MovingScale

AFTER = results()["surgery"][:, :, :, -1]  # (part, form, measure, mean and interval)
CHANGE = results()["surgery_change"]  # (part, form, measure, mean and interval), sentence by sentence
INTACT = results()["intact"][:, -1]
SINGLE = [f"layer {i}" for i in range(1, 6)]


def numbers(text):
    return [float(x.replace("−", "-")) for x in re.findall(r"−?\d+\.\d+", text)]


def change(part, measure):
    return CHANGE[list(PARTS).index(part), :, SURGERY_MEASURES.index(measure)]  # (form, 3)


def after(part, measure):
    return AFTER[list(PARTS).index(part), :, SURGERY_MEASURES.index(measure)]  # (form, 3)


@pytest.mark.parametrize("measure", bins.MEASURES)
def test_bins_tell_the_mean_over_sentences(measure):
    curve, (low, high) = bins.curve(measure), bins.MEASURES[measure].ends
    says = bins.bins()[1](measure)
    assert numbers(says)[: len(curve.mean)] == pytest.approx(curve.mean, abs=0.006)
    assert (curve.low <= curve.mean).all()
    assert (curve.mean <= curve.high).all()
    second = [] if curve.second is None else curve.second
    assert numbers(says)[len(curve.mean) : -1] == pytest.approx(second, abs=0.006)
    shown = np.concatenate([curve.mean, curve.low, curve.high, curve.control, curve.spread.ravel(), second])
    assert low <= np.nanmin(shown)  # nothing falls outside the axis
    assert np.nanmax(shown) <= high


def test_the_atlas_tells_the_strongest_link():
    update = atlas.atlas({text: reading(text) for text in ATLAS})[1]
    tokens, attention, _ = reading(ATLAS[1])
    mean = attention[2].mean(axis=0)[1:-1, 1:-1]
    mean = mean / mean.sum(axis=1, keepdims=True)
    np.fill_diagonal(mean, 0)
    i, j = np.unravel_index(mean.argmax(), mean.shape)
    link = f"“{tokens[i + 1]}” → “{tokens[j + 1]}”, {mean[i, j]:.0%}"
    assert link in update(ATLAS[1], 3, "attention")
    assert update(ATLAS[1], 3, "cosines") != update(ATLAS[1], 4, "cosines")


def test_heads_are_counted_from_one():
    update = atlas.heads({text: reading(text) for text in ATLAS})[1]
    reach = results()["heads"][list(HEAD_MEASURES).index("distance"), 1:].mean(axis=0)
    to_cls = reading(ATLAS[0]).attention[4, 11, 1:-1, 0].mean()
    says = update(ATLAS[0], 5, 12)
    assert says.startswith(f"Layer 5, head 12: its mean reach is {reach[4, 11]:.2f}")
    assert f"{to_cls:.0%} of a word's attention goes to [CLS]" in says


@pytest.mark.parametrize("words", LENGTHS)
@pytest.mark.parametrize("measure", lengths.SHOWN)
def test_lengths_tell_the_mean_over_texts(measure, words):
    says = lengths.lengths()[1](measure, words)
    shown, told = lengths.SHOWN[measure], numbers(says)
    mean = by_length(shown.stored, words).mean(axis=0)
    order = "as told" if shown.second else "dealt anew"
    other = by_length(shown.second or shown.stored, words, order).mean(axis=0)
    assert told[:6] == pytest.approx(mean, abs=0.006)
    assert told[6:12] == pytest.approx(other, abs=0.006)
    k = LENGTHS.index(words), LENGTH_MEASURES.index(shown.stored)
    assert told[12] == pytest.approx(results()["by_length_untrained"][k][-1], abs=0.006)
    largest = results()["by_length_heads"][k].max()
    assert largest <= lengths._top(measure, largest)  # nothing falls outside the axis


@pytest.mark.parametrize("task", GROWING)
def test_growing_tells_means_over_seeds(task):
    told, k = numbers(growing.growing()[1](task)), list(GROWING).index(task)
    expected = [results()["growing"][k, :, :, 3].mean(axis=1)]
    beside = results()["growing_rivals"][k].mean(axis=1)
    expected += [beside[:, list(RIVALS).index(name)] for name in growing.SHOWN]
    assert told == pytest.approx(np.concatenate(expected), abs=0.006)


@pytest.mark.parametrize("task", TASKS)
def test_probes_tell_means_over_seeds(task):
    k = list(TASKS).index(task)
    says = probe_curves.probes()[1](task)
    means = results()["probes"][k].mean(axis=0)
    assert numbers(says)[:7] == pytest.approx(means, abs=0.006)
    assert numbers(says)[-1] == pytest.approx(results()["untrained_probes"][k].mean(axis=0).max(), abs=0.006)
    told = dict(zip(CONTROLS, results()["controls"][k].mean(axis=0), strict=True))
    one, two, narrow, every, position = numbers(says)[7:-1]
    assert [one, two] == pytest.approx([told[f"word and {n} on each side"] for n in (1, 2)], abs=0.006)
    assert [narrow, every, position] == pytest.approx(
        [told[CONTROLS[-1]], told["all words, averaged"], told["position alone"]], abs=0.006
    )


def test_surgery_tells_every_form():
    says = surgery_room.surgery()[1]("FFN", "margin")
    for form, value in zip(FORMS, after("FFN", "margin")[:, 0], strict=True):
        assert f"{value:.2g} ({form})" in says


def test_a_moving_scale_moves_its_labels():
    from matplotlib.figure import Figure

    for axis in "xy":
        scale = MovingScale(Figure().subplots(), axis)
        scale.set(-1, 1)
        assert [label.get_text() for label in scale.labels] == ["−1", "−0.5", "0", "0.5", "1"]
        assert all(label.get_animated() for label in scale.labels)


ALIKE = [k for k, form in enumerate(FORMS) if form not in BY_LOT]
STRANGERS, DEALT = (list(FORMS).index(form) for form in BY_LOT)


def test_what_survives_every_form():
    """One assertion for each statement of the section of that name; intervals are of paired differences."""
    for part in ("attention", "FFN"):
        assert (change(part, "margin")[:, 2] < 0).all()
    for part in SINGLE:
        assert (after(part, "likeness to the intact")[:, 0] > 0.7995).all()


def test_words_become_equal_only_where_they_get_the_same():
    """Which is no finding about a part: a form that differs from token to token keeps them apart."""
    skip = after("skip round attention", "distance to rank one")
    assert (skip[ALIKE, 2] < 1e-3).all()
    intact = INTACT[SURGERY_MEASURES.index("distance to rank one")]
    assert (skip[[STRANGERS, DEALT], 1] > intact[1]).all()
    margin = after("skip round attention", "margin")[:, 0]
    assert (margin[[*ALIKE, STRANGERS]] < 1.2).all()
    assert margin[DEALT] > 0.7 * INTACT[SURGERY_MEASURES.index("margin"), 0]
    ffn = change("FFN", "distance to rank one")
    assert (ffn[ALIKE, 1] < 0).all()  # never surely apart
    assert (ffn[ALIKE, 2] < 0).sum() == 4
    assert (ffn[[STRANGERS, DEALT], 1] > 0).all()


def test_what_holds_in_most_forms():
    touching = [k for k, form in enumerate(FORMS) if form not in ("mean of the sentence", "dealt anew")]
    untouched = [k for k in range(len(FORMS)) if k not in touching]
    assert (after("layer 6", "likeness to the intact")[touching, 2] < 0.7).all()
    np.testing.assert_allclose(after("layer 6", "likeness to the intact")[untouched, 0], 1, atol=1e-6)
    assert (change("layer 6", "margin")[touching, 2] < -3).all()
    for part in SINGLE:
        assert (after(part, "likeness to the intact")[:, 0] > 0.7995).all()
    likeness = after("LN after attention", "likeness to the intact")
    means = [form.startswith("mean") for form in FORMS]
    assert (likeness[means, 0] > 0.99).all()
    assert likeness[[list(FORMS).index("zero"), list(FORMS).index("skipped")], 0].max() < 0.85


def test_a_layer_left_out_leaves_the_fact_and_the_fact_taken_out_does_not():
    """What the section on layers and facts says, with the controls that take away as much."""
    for k, fact in enumerate(FACTS):
        commonest = results()["controls"][list(TASKS).index(fact), :, 0].mean()
        taken = results()["erased_read"][k, :, 0].mean(axis=0)
        assert np.abs(taken - commonest).max() < 0.06
        change_ = {kind: results()["erased_margin"][k, :, e].mean(axis=0) for e, kind in enumerate(ERASED)}
        rival = min(ERASED[1:], key=lambda kind: change_[kind].mean())
        low, high = mean_and_interval(change_["the fact"] - change_[rival], np.random.default_rng(0))[1:]
        assert low < 0 < high  # hardly more than without as many directions that are no fact
    phrase = probe_accuracy("phrase")
    assert results()["skipped_read"][0, :, 3].mean() > phrase[4] - 0.06


def test_as_phrases_grow():
    assert (results()["growing"][0].argmax(axis=-1) == 3).mean() > 0.9
    two, squeezed = "word and 2 on each side", "2 on each side, at random to one width"
    for most in (0, 1, 2):
        assert growing_gap("phrase", two, most).mean() < 0
    for most in (4, 6):
        assert (growing_gap("phrase", two, most) > 0).all()
    for most in (2, 3, 4, 6):
        assert growing_gap("phrase", squeezed, most).mean() > 0
    for most in MOST_ADJECTIVES:
        assert (growing_gap("role", two, most) < 0).all()
    for most in MOST_ADJECTIVES[1:]:
        three = growing_gap("phrase", "word and 3 on each side", most).mean()
        assert three < growing_gap("phrase", two, most).mean()


def test_wording_wins_where_enough_words_are_shared():
    few, middle, many = own_words_by_overlap()[:, 6]
    assert few > 0.55 > middle > many
    assert many < 0.25
    nearer = paraphrase_nearer()
    assert nearer["roles exchanged"].max() == 0
    assert sum(counts[6] for counts in nearer.values()) < 16
    assert max(nearer, key=lambda change: nearer[change][6]) == "denied"


def test_what_does_not_survive():
    zero, sentence = list(FORMS).index("zero"), list(FORMS).index("mean of the sentence")
    attention, ffn = (change(part, "margin") for part in ("attention", "FFN"))
    assert attention[zero, 2] < ffn[zero, 1]  # attention is missed more
    assert ffn[sentence, 2] < attention[sentence, 1]  # the FFN is


def test_the_spike():
    lengths, loudness = results()["ffn_lengths"], results()["loudness"]
    ratio = lengths[:4, 0] / lengths[:4, 1]
    assert 8 <= ratio.min() < ratio.max() <= 40
    assert (lengths[4:, 0] < lengths[4:, 1]).all()
    assert (loudness > 10).sum(axis=1).tolist() == [1, 1, 2, 1, 0, 0]
    assert (results()["loudness_on_words"][loudness > 10] < 1).all()
    assert ((results()["ffn_mean_length"] > results()["word_lengths"])[:4]).tolist() == [
        True,
        False,
        True,
        False,
    ]


def test_a_handful_of_neurons_made_most_of_the_difference():
    assert results()["quiet"][1, 0] > 0.96  # likeness to the intact without five neurons
    m = SURGERY_MEASURES.index("likeness of sentences")
    means = [k for k, form in enumerate(FORMS) if form.startswith("mean")]
    for row, part in enumerate(("FFN", "LN after FFN")):
        before = after(part, "likeness of sentences")[means, 0]
        quiet = results()["quiet_surgery"][row, means, m, 0]
        assert np.ptp(quiet) < 0.53 * np.ptp(before)


def test_head_3_of_layer_1_looks_at_the_word_before():
    pattern = between_words(reading(ATLAS[0]).attention[0])  # (12, 6, 6)
    assert pattern[2].argmax(axis=-1)[1:].tolist() == [0, 1, 2, 3, 4]


def test_heads_spread_more_than_layers():
    reach = results()["heads"][list(HEAD_MEASURES).index("distance"), 1:].mean(axis=0)  # (6, 12)
    assert np.ptp(reach, axis=1)[:5].min() > 2 * np.ptp(reach.mean(axis=1))
    assert np.ptp(reach[5]) < np.ptp(reach.mean(axis=1))


def test_what_length_does():
    """One assertion for each statement under the explorer of lengths."""
    reach = [by_length("reach to others", words).mean(axis=0) for words in LENGTHS]
    assert [int(mean.argmin()) for mean in reach] == [1] * 5
    two = [mean[1] for mean in reach]
    assert max(two[2:]) < min(two[:2]) - 0.1  # far more local in texts of forty words and more
    assert (gap_by_length("reach to others", 1, 3)[0] > 0).all()
    assert (gap_by_length("reach to others", 1, 4)[0][2:] > 0).all()
    for layer in range(2, 6):
        assert (gap_by_length("reach to others", layer + 1, layer)[0][2:] > 0).all()
    assert (gap_by_length("reach to others", 4, 5)[0][:2] > 0).all()
    for words in LENGTHS[2:]:
        dealt = by_length("reach to others", words, "dealt anew") - by_length("reach to others", words)
        assert np.abs(dealt.mean(axis=0)).max() < 0.04
    steps = [np.diff(by_length("reach with markers", words).mean(axis=0))[:4] for words in LENGTHS]
    assert all(step.min() > 0 for step in steps[:3])
    assert all(step[0] < 0 for step in steps[3:])
    spread = results()["by_length_heads"][:, LENGTH_MEASURES.index("reach to others")]  # (5, 6, 12)
    for heads in spread:
        assert np.ptp(heads, axis=1)[:5].min() > np.ptp(heads.mean(axis=1))


def test_cls_draws_attention_and_brings_next_to_nothing():
    weight = np.array([by_length("to [CLS]", words).mean(axis=0)[1:5] for words in LENGTHS])  # (5, 4)
    assert weight[0].min() > 0.4
    assert weight[3:].min() > 0.2
    assert weight[3:].max() < 0.4
    brought = np.array([by_length("[CLS] by length of vectors", words).mean(axis=0) for words in LENGTHS])
    assert brought.max() < 0.07
    assert results()["cls_value_length"].mean(axis=0)[1:5].max() < 0.07
