"""Grammars keep their promises, states are those of the model, and a probe equals one written in NumPy."""

import numpy as np
import pytest
from published import model

from encoderlab.chapters.abstraction.data import results
from encoderlab.chapters.abstraction.grammar import (
    NOUNS,
    VERBS,
    clauses,
    numbers,
    places,
    roles,
    split_lexicon,
    tenses,
)
from encoderlab.chapters.abstraction.probe_tasks import TASKS
from encoderlab.chapters.abstraction.probes import (
    EMBEDDING_CONTROLS,
    accuracy,
    majority_accuracy,
    narrowed,
    position_accuracy,
    states,
    window,
)
from encoderlab.chapters.abstraction.relations import (
    RELATIONS,
    class_accuracy,
    head_accuracy,
    lured,
    most_attended,
    offset_accuracy,
    offset_rule,
    parse,
)


def ridge(train, labels, test, truth, alpha=100.0):
    """Fit ridge regression to ±1 by the normal equations, and return the share it gets right."""
    centre, scale = train.mean(axis=0), train.std(axis=0)
    a, b = ((x - centre) / scale for x in (train, test))
    names = np.unique(labels)
    y = np.where(np.asarray(labels)[:, None] == names, 1.0, -1.0)
    w = np.linalg.solve(a.T @ a + alpha * np.eye(a.shape[1]), a.T @ (y - y.mean(axis=0)))
    return np.mean(names[(b @ w + y.mean(axis=0)).argmax(axis=1)] == truth)


def test_lexicons_have_no_word_in_common(rng):
    seen, unseen = split_lexicon(rng)
    assert set(seen.nouns) | set(unseen.nouns) == set(NOUNS)
    assert set(seen.verbs) | set(unseen.verbs) == set(VERBS)
    assert not set(seen.nouns + seen.verbs) & set(unseen.nouns + unseen.verbs)


@pytest.mark.parametrize("write", [roles, numbers, tenses])
def test_two_labels_are_equally_common(rng, write):
    items = write(rng, split_lexicon(rng)[0], 400)
    _, counts = np.unique([item.label for item in items], return_counts=True)
    assert counts[0] == counts[1]


def test_roles_are_right_and_order_does_not_tell(rng):
    items = roles(rng, split_lexicon(rng)[0], 400)
    first = [a.place < p.place for a, p in zip(items[::2], items[1::2], strict=True)]
    assert np.mean(first) == 0.5
    for agent, patient in zip(items[:32:2], items[1:32:2], strict=True):
        text = " ".join(agent.words)
        agent_word, patient_word = agent.words[agent.place], patient.words[patient.place]
        assert agent.words == patient.words
        assert agent_word in NOUNS
        if " by " in text:
            assert text.endswith(agent_word)
        elif "it was" in text and text.endswith(("ed", "d")):
            assert text.index(patient_word) < text.index("that") < text.index(agent_word)
        else:
            assert text.endswith(patient_word)


def test_numbers_differ_from_the_noun_between_on_demand(rng):
    for agree in (True, False):
        for item in numbers(rng, split_lexicon(rng)[0], 40, agree=agree):
            nouns = [word for word in item.words if word.rstrip("s") in NOUNS or word in NOUNS]
            plural = nouns[0] not in NOUNS
            assert item.label == ("plural" if plural else "singular")
            assert (nouns[1] not in NOUNS) == (plural == agree)
            assert item.words[item.place].endswith("d")  # past: the same for both numbers


def test_every_word_of_every_grammar_is_one_token(rng):
    for lexicon in split_lexicon(rng):
        for write in (clauses, roles, numbers, tenses):
            for item in write(rng, lexicon, 60):
                assert len(model().tokens(" ".join(item.words))) == len(item.words) + 2
    assert {len(model().tokens(" ".join(words))) for words in places(rng, 60)} == {8}


def test_states_are_the_models_at_the_place(rng):
    items = [*roles(rng, split_lexicon(rng)[0], 3), *tenses(rng, split_lexicon(rng)[0], 2)]
    found = states(model(), items)
    assert found.shape == (7, 8, 384)
    for k, item in enumerate(items):
        hidden = model().trace(" ".join(item.words)).hidden
        np.testing.assert_allclose(found[:, k], [h[item.place + 1] for h in hidden], atol=1e-10)


def test_a_probe_reads_what_is_there_and_no_more(rng):
    labels = rng.choice(["a", "b", "c"], 300)
    x = rng.normal(size=(300, 20))
    assert accuracy(x[:200], labels[:200], x[200:], labels[200:]) < 0.5
    x[:, 3] += 9 * (labels == "a")
    x[:, 4] += 9 * (labels == "b")
    assert accuracy(x[:200], labels[:200], x[200:], labels[200:]) > 0.97
    assert accuracy(x[:200], labels[:200], x[200:], labels[200:]) == ridge(
        x[:200], labels[:200], x[200:], labels[200:]
    )


def test_controls_see_what_they_are_named_for(rng):
    items, known = roles(rng, split_lexicon(rng)[0], 3), {}
    states(model(), items, known)
    for k, item in enumerate(items):
        x = model().embed(" ".join(item.words))  # no layer has touched it
        here = item.place + 1
        assert np.array_equal(window(items, known, 1)[k, 384:768], x[here])
        assert np.array_equal(window(items, known, 1)[k, :384], x[here - 1])
        beyond = x[here + 2] if here + 2 < len(x) else np.zeros(384)
        assert np.array_equal(window(items, known, 2)[k, -384:], beyond)
        bag = EMBEDDING_CONTROLS["all words, averaged"](items, known)[k]
        np.testing.assert_allclose(bag, x[1:-1].mean(axis=0), atol=1e-12)
    assert narrowed(items, known).shape == (6, 384)


def test_simple_controls():
    train, test = TASKS["next token"](np.random.default_rng(0))
    assert majority_accuracy(train, test) < 0.15
    assert train[-1].label == "[SEP]"
    train, test = TASKS["position"](np.random.default_rng(0))
    assert position_accuracy(train, test) == 1


def test_an_arbitrary_label_depends_on_the_word_alone():
    train, test = TASKS["arbitrary label"](np.random.default_rng(0))
    dealt = {item.words[item.place]: item.label for item in train}
    assert all(dealt[item.words[item.place]] == item.label for item in (*train, *test))
    assert set(dealt.values()) == {"a", "b", "c"}


def test_the_phrase_of_a_noun_is_asked_of_unseen_nouns():
    train, test = TASKS["phrase of a noun"](np.random.default_rng(0))
    asked = {item.words[item.place] for item in test}
    assert asked <= set(NOUNS)
    assert not asked & {word for item in train for word in item.words}


def test_a_stored_accuracy_is_what_numpy_finds():
    """One seed of one task, from the weights up, by another ridge regression."""
    train, test = TASKS["role"](np.random.default_rng([0, *b"role"]))
    a, b = (states(model("float32"), items).astype(float) for items in (train, test))
    stored = results()["probes"][list(TASKS).index("role"), 0]  # (7,)
    for layer in (0, 3):
        found = ridge(a[layer], [i.label for i in train], b[layer], [i.label for i in test])
        assert found == pytest.approx(stored[layer], abs=0.01)


def test_clauses_are_parsed(rng):
    for clause in parse(clauses(rng, split_lexicon(rng)[0], 50)):
        words = clause.words
        assert words[clause.verb].endswith("d")
        assert words[clause.subject] in NOUNS
        assert words[clause.object] in NOUNS
        assert words[clause.determiner] in ("the", "this", "every", "one")
        assert clause.determiner < clause.subject < clause.verb < clause.object
        nouns = [i for i, word in enumerate(words) if word in NOUNS and i < clause.verb]
        others = [i for i in nouns if i != clause.subject]
        assert [i for i in others if i < clause.subject] == [clause.front][: clause.front >= 0]
        assert [i for i in others if i > clause.subject] == [clause.between][: clause.between >= 0]
        assert words[clause.object_determiner] in ("the", "this", "every", "one")


def test_heads_that_follow_a_relation_are_found(rng):
    clauses_ = parse(clauses(rng, split_lexicon(rng)[0], 20))
    patterns = []
    for clause in clauses_:
        n = len(clause.words) + 2
        knowing = np.full((n, n), 0.1)
        knowing[clause.verb + 1, clause.subject + 1] = 1
        knowing[:, 0] = 5  # the marker does not count
        knowing[clause.verb + 1, clause.verb + 1] = 4  # nor does the word itself
        patterns.append(np.stack([knowing, np.tri(n) + 0.1]))
    assert most_attended(patterns[0], clauses_[0].verb)[0] == clauses_[0].subject
    assert head_accuracy(clauses_, patterns, "verb → subject")[0] == 1
    assert head_accuracy(clauses_, patterns, "verb → object")[0] == 0
    for relation in RELATIONS:
        step = offset_rule(clauses_, relation)
        assert offset_accuracy(clauses_, relation, step) >= max(
            offset_accuracy(clauses_, relation, other) for other in range(-5, 6)
        )
    assert class_accuracy(clauses_, "subject → verb") == 1  # there is one verb
    last_noun = [clause.between < 0 for clause in clauses_]
    assert class_accuracy(clauses_, "verb → subject") == np.mean(last_noun)
    share, count = lured(clauses_, patterns, "noun between → verb")
    assert count == sum(clause.between >= 0 for clause in clauses_)
    assert share[0] < 0.5
