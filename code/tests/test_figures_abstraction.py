"""What chapter 5's explorers say is what was measured, and so is what the chapter says in words."""

import re

import numpy as np
import pytest

from encoderlab.abstraction import HEAD_MEASURES, between_words
from encoderlab.abstraction_results import ATLAS, SURGERY_MEASURES, reading, results
from encoderlab.figures import abstraction, atlas, probes, surgery
from encoderlab.figures.moving import MovingScale
from encoderlab.probes import TASKS
from encoderlab.surgery import FORMS, PARTS

AFTER = results()["surgery"][:, :, :, -1]  # (part, form, measure, mean and interval)
INTACT = results()["intact"][:, -1]
SINGLE = [f"layer {i}" for i in range(1, 6)]


def numbers(text):
    return [float(x.replace("−", "-")) for x in re.findall(r"−?\d+\.\d+", text)]


def after(part, measure):
    return AFTER[list(PARTS).index(part), :, SURGERY_MEASURES.index(measure)]  # (form, 3)


@pytest.mark.parametrize("measure", abstraction.MEASURES)
def test_bins_tell_the_mean_over_sentences(measure):
    curve, (low, high) = abstraction.curve(measure), abstraction.MEASURES[measure][1]
    says = abstraction.bins()[1](measure)
    assert numbers(says)[: len(curve.mean)] == pytest.approx(curve.mean, abs=0.006)
    assert (curve.low <= curve.mean).all()
    assert (curve.mean <= curve.high).all()
    shown = np.concatenate([curve.mean, curve.low, curve.high, curve.control, curve.spread.ravel()])
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
    says = probes.probes()[1](task)
    means = results()["probes"][k].mean(axis=0)
    assert numbers(says)[:7] == pytest.approx(means, abs=0.006)
    assert numbers(says)[-1] == pytest.approx(results()["untrained_probes"][k].mean(axis=0).max(), abs=0.006)


def test_surgery_tells_every_form():
    says = surgery.surgery()[1]("FFN", "margin")
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
    """One assertion for each statement of the section of that name."""
    for part in ("attention", "FFN"):
        assert (after(part, "likeness of sentences")[:, 1] > INTACT[2, 2]).all()  # intervals apart
        assert (after(part, "likeness to the intact")[:, 2] < 0.95).all()
        assert (after(part, "margin")[:, 0] < INTACT[3, 0]).all()
    for part in ("skip round attention", "skip round FFN"):
        assert (after(part, "margin")[:, 0] < 1).all()
    assert (after("skip round attention", "distance to rank one")[:, 2] < 1e-3).all()
    assert after("skip round FFN", "distance to rank one")[:, 1].max() > 0.1
    for part in SINGLE:
        assert (after(part, "likeness to the intact")[:, 1] > 0.75).all()
    assert sorted(after("layer 6", "likeness to the intact")[:, 0])[-2] < 0.75


def test_what_does_not_survive():
    zero, sentence = list(FORMS).index("zero"), list(FORMS).index("mean of the sentence")
    attention, ffn = (after(part, "likeness to the intact") for part in ("attention", "FFN"))
    assert attention[zero, 0] < ffn[zero, 0]
    assert attention[sentence, 0] > ffn[sentence, 0] + 0.5
    words = after("FFN", "distance to rank one")
    assert words[:, 0].min() < 0.1
    assert words[:, 0].max() > INTACT[0, 0] - 0.05


def test_normalising_after_attention_is_nearly_affine():
    likeness = after("LN after attention", "likeness to the intact")
    assert (likeness[[f.startswith("mean") for f in FORMS], 0] > 0.99).all()


def test_the_spike():
    lengths, mean, kind = results()["ffn_lengths"], "mean", "mean of its kind"
    assert (lengths[:4, 0] > 8 * lengths[:4, 1]).all()
    assert (lengths[4:, 0] < lengths[4:, 1]).all()
    assert results()["without_loud"][1, 0] > 0.97  # likeness without four neurons
    for part in ("FFN", "LN after FFN"):
        values = dict(zip(FORMS, after(part, "likeness of sentences")[:, 0], strict=True))
        assert values[mean] - values[kind] > 0.4


def test_the_mean_over_heads_gives_sat_no_more_of_cat_than_any_neighbour():
    pattern = between_words(reading(ATLAS[0]).attention[0])  # (12, 6, 6)
    assert pattern[2].argmax(axis=-1)[1:].tolist() == [0, 1, 2, 3, 4]  # head 3 looks at the word before
