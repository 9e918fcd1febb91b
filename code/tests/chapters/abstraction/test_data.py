"""The stored measurements of chapter 5 agree with each other, and a sample of them with the weights."""

from importlib.resources import files

import numpy as np
import pytest
from published import model

from encoderlab.chapters.abstraction.attention_data import like_the_note
from encoderlab.chapters.abstraction.data import (
    ATLAS,
    AXES,
    LABELS,
    LENGTHS,
    SURGERY_MEASURES,
    WIDTHS,
    measured,
    reading,
    results,
)
from encoderlab.chapters.abstraction.erasure_data import ERASED, FACTS
from encoderlab.chapters.abstraction.grammar import clauses, split_lexicon
from encoderlab.chapters.abstraction.homonyms import told_apart, uses, views
from encoderlab.chapters.abstraction.length_data import LENGTH_MEASURES
from encoderlab.chapters.abstraction.length_data import measure as measure_attention
from encoderlab.chapters.abstraction.likeness import HIDDEN_MEASURES, hidden_measures
from encoderlab.chapters.abstraction.minimal_pairs import minimal_pairs
from encoderlab.chapters.abstraction.probe_data import GROWING, MOST_ADJECTIVES, NETWORKS, RIVALS, SEEDS
from encoderlab.chapters.abstraction.probe_tasks import TASKS
from encoderlab.chapters.abstraction.probes import CONTROLS
from encoderlab.chapters.abstraction.prose import LENGTHS as PROSE
from encoderlab.chapters.abstraction.prose import dealt_anew, passages
from encoderlab.chapters.abstraction.reading import HEAD_MEASURES, read
from encoderlab.chapters.abstraction.related import RELATED
from encoderlab.chapters.abstraction.relations import LURES, RELATIONS, head_accuracy, parse
from encoderlab.chapters.abstraction.sentences import THE_NOTES, sentences, separation
from encoderlab.chapters.abstraction.surgery import FORMS, PARTS
from encoderlab.chapters.abstraction.surgery_data import (
    LOTS,
    LOUD,
    judged,
    loudness,
    means_of_the_other_half,
    measures,
    silenced,
    with_interval,
)
from encoderlab.chapters.abstraction.width import mean_activations, narrow, neurons_by_weight
from encoderlab.pretrained import minilm
from encoderlab.pretrained.sentence_encoder import untrained

TEXTS = [THE_NOTES, *sentences()]
SAMPLE = (0, 1, 18, 40, 64)  # of TEXTS
CLOSE = {"rtol": 1e-4, "atol": 1e-5}  # stored in float32


@pytest.fixture(scope="module")
def embedded():
    return [model().embed(text) for text in sentences()]


@pytest.fixture(scope="module")
def intact(embedded):
    return [(model().encoder(x),) for x in embedded]


@pytest.fixture(scope="module")
def traces():
    return [model().trace(text) for text in TEXTS]


def test_provenance_and_size():
    provenance = results()["provenance"]
    assert provenance["model"] == dict(minilm.SHA256)
    assert provenance["command"] == "python -m encoderlab.chapters.abstraction.make_data"
    assert {"numpy", "scikit-learn", "tokenizers"} <= provenance["versions"].keys()
    folder = files("encoderlab.chapters.abstraction")
    assert sum(len((folder / name).read_bytes()) for name in ("abstraction.npz", "sentences.txt")) < 1_000_000


def test_shapes():
    tasks, parts, kept = len(TASKS), len(PARTS), len(SURGERY_MEASURES)
    expected = {
        "heads": (len(HEAD_MEASURES), 65, 6, 12),
        "hidden": (len(HIDDEN_MEASURES), 65, 7),
        "cosines": (7, 64, 64),
        "by_length": (len(PROSE), 2, 50, len(LENGTH_MEASURES), 6),
        "by_length_heads": (len(PROSE), len(LENGTH_MEASURES), 6, 12),
        "by_length_untrained": (len(PROSE), len(LENGTH_MEASURES), 6),
        "by_length_words": (len(PROSE), 50),
        "cls_by_length_of_vectors": (64, 6),
        "cls_value_length": (64, 6),
        "growing": (len(GROWING), len(MOST_ADJECTIVES), len(SEEDS), 7),
        "growing_rivals": (len(GROWING), len(MOST_ADJECTIVES), len(SEEDS), len(RIVALS)),
        "erased_read": (len(FACTS), len(SEEDS), len(ERASED), 7),
        "erased_margin": (len(FACTS), len(SEEDS), len(ERASED), 64),
        "skipped_read": (len(FACTS), len(SEEDS), 6),
        "minimal_pairs": (64, 2, 7),
        "senses": (128, 7),
        "senses_bare": (128, 2),
        "senses_untrained": (128, 7),
        "related": (len(RELATED), 2, 6, 12),
        "surgery": (parts, len(FORMS), kept, 7, 3),
        "surgery_change": (parts, len(FORMS), kept, 3),
        "intact": (kept, 7, 3),
        "quiet_surgery": (2, len(FORMS), kept, 3),
        "probes": (tasks, len(SEEDS), 7),
        "untrained_probes": (tasks, len(NETWORKS), 7),
        "controls": (tasks, len(SEEDS), len(CONTROLS)),
        "relations": (len(RELATIONS), 2, 6, 12),
        "lures": (len(LURES), 6, 12),
        "note_heads": (6, 12, 6, 6),
        "note_mean": (100, 6, 6, 6),
        "long_texts": (len(LENGTHS), 4),
        "width": (1 + LOTS, len(WIDTHS), kept, 3),
    }
    assert {name: results()[name].shape for name in expected} == expected


@pytest.mark.parametrize("array", AXES)
def test_every_axis_has_a_name_for_each_place(array):
    stored = results()[array]
    assert len(AXES[array]) == stored.ndim
    for axis, length in zip(AXES[array], stored.shape, strict=True):
        assert len(LABELS.get(axis, range(length))) == length
        for place, name in enumerate(LABELS.get(axis, ())):
            k = AXES[array].index(axis)
            np.testing.assert_array_equal(measured(array, name), stored.take(place, axis=k))


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"array must be one of heads, .*, got 'head'"):
        measured("head", "distance")
    for names in (("distances",), ("distance", "entropy")):
        with pytest.raises(ValueError, match="names must each name a place on another axis of"):
            measured("heads", *names)


def test_stored_arrays_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        results()["heads"][0, 0, 0, 0] = 1
    with pytest.raises(ValueError, match=r"text must be one of .*, got 'Hello'"):
        reading("Hello")


def test_readings_agree_with_the_measures_stored_beside_them():
    """Needs no model: two parts of the file tell the same story."""
    for text in ATLAS:
        tokens, attention, _ = reading(text)
        for k, measure in enumerate(HEAD_MEASURES.values()):
            np.testing.assert_allclose(
                measure(attention, tokens), results()["heads"][k, TEXTS.index(text)], **CLOSE
            )


@pytest.mark.parametrize("text", ATLAS)
def test_readings_are_the_models(text):
    stored, fresh = reading(text), read(model(), text)
    assert stored.tokens == fresh.tokens
    np.testing.assert_allclose(stored.attention, fresh.attention, **CLOSE)
    np.testing.assert_allclose(stored.cosines, fresh.cosines, **CLOSE)


def test_measures_of_a_sample_are_the_models(traces):
    blocks = [-1, *(i // 4 for i in range(64))]
    found = hidden_measures([np.stack(trace.hidden)[:, 1:-1] for trace in traces], blocks)
    np.testing.assert_allclose(found, results()["hidden"], **CLOSE)
    for number in SAMPLE:
        trace, tokens = traces[number], model().tokens(TEXTS[number])
        assert results()["words"][number] == len(tokens) - 2
        for k, measure in enumerate(HEAD_MEASURES.values()):
            found = measure(np.stack(trace.attention), tokens)
            np.testing.assert_allclose(found, results()["heads"][k, number], **CLOSE)


def test_cosines_between_sentences_are_the_models():
    vectors = [model()(text) for text in sentences()[:8]]
    np.testing.assert_allclose(np.inner(vectors, vectors), results()["cosines"][6, :8, :8], **CLOSE)


def test_untrained_layers_are_those_of_the_seed():
    fresh = untrained(model(), np.random.default_rng(1))
    measured = HEAD_MEASURES["to [CLS]"](np.stack(fresh.trace(TEXTS[7]).attention), ()).mean(axis=-1)
    stored = results()["untrained_heads"][1, list(HEAD_MEASURES).index("to [CLS]"), 7]
    np.testing.assert_allclose(measured, stored, **CLOSE)


def test_operations_do_what_is_stored(embedded, intact):
    means = means_of_the_other_half(model().encoder, embedded)
    for part, form in (
        ("FFN", "zero"),
        ("skip round attention", "mean of its kind"),
        ("skip round attention", "a stranger's"),
        ("FFN", "dealt anew"),
        ("layer 6", "skipped"),
    ):
        at = list(PARTS).index(part), list(FORMS).index(form)
        values = judged(model().encoder, embedded, PARTS[part], form, means, intact)  # (64, 1, 4)
        np.testing.assert_allclose(
            with_interval(values)[:, 0], results()["surgery"][at][:, -1], rtol=1e-3, atol=1e-5
        )
        change = with_interval(values[:, 0] - measures(intact, intact)[:, 0])
        np.testing.assert_allclose(change, results()["surgery_change"][at], rtol=1e-3, atol=1e-4)


def test_loud_neurons_are_those_that_are_stored(embedded, intact):
    size, _ = loudness(model().encoder, embedded)
    np.testing.assert_allclose(np.sort(size, axis=1)[:, :-4:-1], results()["loudness"], rtol=1e-4)
    quiet = silenced(model().encoder, size > LOUD)
    values = measures([(quiet(x),) for x in embedded], intact)
    np.testing.assert_allclose(with_interval(values)[:, 0], results()["quiet"], rtol=1e-3, atol=1e-5)


def test_patterns_of_sentences_like_the_notes():
    found = like_the_note(model("float32"))
    np.testing.assert_allclose(found["note_heads"], results()["note_heads"], rtol=1e-3, atol=1e-4)


def test_intact_agrees_with_the_rest():
    """The intact model of the surgery room, from the cosines stored elsewhere in the file."""
    apart = separation(results()["cosines"])
    found = [np.ones(7), apart.others.mean(axis=-1), apart.margin.mean(axis=-1)]
    np.testing.assert_allclose(results()["intact"][1:, :, 0], found, rtol=1e-4)


def test_a_narrower_model_does_what_is_stored(embedded, intact):
    """One half of the sentences, with what the other half says: the likeness of each to the intact."""
    mean, deviation = mean_activations(model().encoder, embedded[32:])
    small = narrow(model().encoder, neurons_by_weight(model().encoder, deviation), 384, mean)
    mean, deviation = mean_activations(model().encoder, embedded[:32])
    other = narrow(model().encoder, neurons_by_weight(model().encoder, deviation), 384, mean)
    outputs = [(small(x),) for x in embedded[:32]] + [(other(x),) for x in embedded[32:]]
    found = with_interval(measures(outputs, intact))[:, 0]
    np.testing.assert_allclose(found, results()["width"][0, WIDTHS.index(384)], rtol=1e-3, atol=1e-4)


def test_heads_follow_relations_as_stored():
    """For one relation, on the first sixty of the three hundred clauses that judge a head."""
    seen, unseen = split_lexicon(rng := np.random.default_rng(0))
    clauses(rng, seen, 300)
    judged = parse(clauses(rng, unseen, 300))[:60]
    patterns = [np.stack(model().trace(" ".join(clause.words)).attention) for clause in judged]
    found = head_accuracy(judged, patterns, "noun → determiner")
    stored = results()["relations"][list(RELATIONS).index("noun → determiner"), 1]
    assert np.abs(found - stored).max() < 0.3
    assert found.argmax() == stored.argmax()


def test_texts_of_every_length_measure_what_is_stored():
    """One text of each length, as told and with its words dealt anew."""
    fast = model("float32")
    for k, length in enumerate(PROSE):
        rng = np.random.default_rng([0, length])
        told = [passage.text for passage in passages(length, rng)]
        dealt = [dealt_anew(text, rng) for text in told]
        assert [len(text.split()) for text in told] == results()["by_length_words"][k].tolist()
        for order, texts in enumerate((told, dealt)):
            found = measure_attention(fast, texts[7]).mean(axis=-1)
            np.testing.assert_allclose(found, results()["by_length"][k, order, 7], rtol=1e-3, atol=1e-4)


def test_minimal_pairs_and_senses_are_the_models():
    fast = model("float32")
    for k, pair in enumerate(minimal_pairs(np.random.default_rng(0))[:8]):
        vectors = [fast(text) for text in pair[:3]]
        found = [vectors[0] @ vectors[1], vectors[0] @ vectors[2]]
        np.testing.assert_allclose(found, results()["minimal_pairs"][k, :, 6], rtol=1e-3)
    found = uses()
    states = np.array([views(fast, use)[0] for use in found])
    assert (told_apart(states[:, 3], found) == results()["senses"][:, 3]).all()
