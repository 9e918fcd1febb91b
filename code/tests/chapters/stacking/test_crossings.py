"""Crossings in a table of answers: against a count by hand, and none in a sum of look-ups."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from encoderlab.chapters.stacking.crossings import (
    crossings,
    models_that_cross,
    random_answers,
    xor_by_one_head,
)
from encoderlab.model.encoder import EncoderConfig
from encoderlab.training.classifier import Classifier
from encoderlab.training.loss import cross_entropy
from encoderlab.training.tasks import facts, modular_addition, xor_among


@given(hnp.arrays(np.int64, (4, 5), elements=st.integers(0, 2)))
def test_crossings_are_counted_as_by_hand(answers):
    expected = 0
    for (a, b), (i, j) in (
        (rows, columns) for rows in combinations(range(4), 2) for columns in combinations(range(5), 2)
    ):
        p, q = answers[a, i], answers[a, j]
        expected += p != q and answers[b, i] == q and answers[b, j] == p
    assert crossings(answers) == expected


@given(st.integers(0, 10**6))
def test_a_sum_of_look_ups_does_not_cross(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(7, 1, 3)) + rng.normal(size=(1, 6, 3))
    assert crossings(scores.argmax(axis=-1)) == 0


@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("switches", [{}, {"residual": False}, {"norm": "post"}])
def test_one_head_does_not_cross(switches, scale):
    rng = np.random.default_rng(0)
    assert models_that_cross(rng, draws=30, scale=scale, **switches) == 0


@pytest.mark.parametrize("switches", [{"n_heads": 2}, {"n_heads": 4}, {"ffn": True}, {"depth": 2}])
def test_more_than_one_head_does(switches):
    assert models_that_cross(np.random.default_rng(0), draws=60, scale=2, **switches) > 3


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_one_head_with_a_norm_can_fold_and_finds_xor(norm):
    every = xor_among(8).every
    model = xor_by_one_head(norm)
    assert model.accuracy(*every) == 1
    assert len(model.encoder.weights.layers) == model.config.n_heads == 1
    assert model.accuracy(every.features, 1 - every.target) == 0  # a check that can fail
    model.parameters["layers.0.attention.W_V"][:] = 0  # without what the head brings, nothing is known
    assert model.accuracy(*every) == 0.5


def test_one_head_adds_up_once_its_denominator_is_taken_out(rng):
    """The differences of scores between classes, times Σ wₜ, are f(row) + g(column)."""
    task = facts()
    config = EncoderConfig(depth=1, n_heads=1, ffn=False, norm="none")
    model = Classifier.random(task.shape, config, rng, dtype=np.float64)
    features = task.every.features.astype(float)
    x = features @ model.parameters["embedding.W"]  # (rows, 3, d_model)
    query = model.encoder.weights.layers[0].attention
    logits = (x[:, -1:] @ query.W_Q) @ (x @ query.W_K).swapaxes(1, 2) / config.d_model**0.5
    scores = model(features)
    differences = (scores - scores[:, :1]) * np.exp(logits).sum(axis=-1)
    table = differences.reshape(16, 8, -1)
    centred = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean(axis=(0, 1))
    np.testing.assert_allclose(centred, 0, atol=1e-12)
    assert np.abs(table - table.mean(axis=(0, 1))).max() > 0.1


def test_the_tables_of_the_tasks():
    assert crossings(facts().every.target.reshape(16, 8)) > 0
    assert crossings(modular_addition(11).every.target.reshape(11, 11)) == 0
    a, b = np.indices((2, 2))
    assert crossings(a ^ b) == 1
    assert xor_among(4).line_to_beat == 0.75


def test_no_sum_of_look_ups_adds_modulo_p(rng):
    """Over all pairs the right answers' scores are the average over all answers, so some are not above it."""
    a, b = np.indices((11, 11))
    scores = rng.normal(size=(11, 1, 11)) + rng.normal(size=(1, 11, 11))
    right = np.take_along_axis(scores, ((a + b) % 11)[..., None], axis=-1)
    assert right.mean() == pytest.approx(scores.mean(), abs=1e-13)


def test_no_sum_with_equal_weights_has_less_cross_entropy_than_chance(rng):
    """The loss is convex in the two look-ups, with gradient zero where all answers are equally likely."""
    a, b = (grid.ravel() for grid in np.indices((11, 11)))
    target = (a + b) % 11
    rows = np.concatenate([np.eye(11)[a], np.eye(11)[b]], axis=1)  # (121, 22): both look-ups
    loss, grad = cross_entropy(np.zeros((121, 11)), target)
    np.testing.assert_allclose(rows.T @ grad, 0, atol=1e-15)
    for scale in (0.01, 1, 10):
        assert cross_entropy(rows @ rng.normal(scale=scale, size=(22, 11)), target)[0] > loss
    near = np.array([c if c >= 5 else c + 11 for c in range(11)])  # the sum that stands for each class
    scores = 2 * near * (a + b)[:, None] - near**2
    assert np.mean(scores.argmax(axis=1) == target) == pytest.approx(91 / 121)
    assert cross_entropy(scores.astype(float), target)[0] > loss  # three quarters right, and a higher loss


def test_answers_have_the_shape_asked_for(rng):
    answers = random_answers(rng, n_rows=3, n_columns=5, n_classes=4)
    assert answers.shape == (3, 5)
    assert set(answers.ravel()) <= set(range(4))
