"""What chapter 5's explorers say is what was measured, and so is what the chapter says in words."""

import re

import numpy as np
import pytest

from encoderlab.chapters.abstraction.data import ATLAS, SURGERY_MEASURES, reading, results
from encoderlab.chapters.abstraction.figures import atlas, bins, probe_curves, surgery_room
from encoderlab.chapters.abstraction.probe_tasks import TASKS
from encoderlab.chapters.abstraction.probes import CONTROLS
from encoderlab.chapters.abstraction.reading import HEAD_MEASURES, between_words
from encoderlab.chapters.abstraction.surgery import FORMS, PARTS
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


def test_what_survives_every_form():
    """One assertion for each statement of the section of that name; intervals are of paired differences."""
    for part in ("attention", "FFN", "skip round attention", "skip round FFN"):
        assert (change(part, "margin")[:, 2] < 0).all()
    assert (change("FFN", "distance to rank one")[:, 1] < 0).all()  # never surely apart
    assert (change("FFN", "distance to rank one")[:, 2] < 0).sum() == 4
    assert (change("attention", "distance to rank one")[:, 1] > 0).sum() == 4
    for part in ("skip round attention", "skip round FFN"):
        assert (after(part, "margin")[:, 0] < 1.2).all()
    assert (after("skip round attention", "distance to rank one")[:, 2] < 1e-3).all()
    assert after("skip round FFN", "distance to rank one")[:, 1].max() > 0.1
    for part in SINGLE:
        assert (after(part, "likeness to the intact")[:, 0] > 0.7995).all()


def test_what_survives_most_forms():
    sentence = list(FORMS).index("mean of the sentence")
    others = np.arange(len(FORMS)) != sentence
    assert (after("layer 6", "likeness to the intact")[others, 2] < 0.7).all()
    assert after("layer 6", "likeness to the intact")[sentence, 0] == pytest.approx(1)
    assert (change("layer 6", "margin")[others, 2] < -3).all()
    layer_3 = change("layer 3", "margin")
    assert (np.abs(layer_3[:, 0]) < 0.5).all()  # out of eight
    likeness = after("LN after attention", "likeness to the intact")
    means = [form.startswith("mean") for form in FORMS]
    assert (likeness[means, 0] > 0.99).all()
    assert likeness[np.logical_not(means), 0].max() < 0.85


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
