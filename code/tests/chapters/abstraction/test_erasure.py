"""What is taken out cannot be read, and the rest stays."""

import numpy as np
import pytest
from conftest import SMALL, lively

from encoderlab.chapters.abstraction.erasure import Eraser, one_layer, probe_directions, random_directions
from encoderlab.chapters.abstraction.probes import accuracy
from encoderlab.model.encoder import EncoderConfig


@pytest.fixture
def facts(rng):
    """Three hundred states that tell one of three labels along two directions."""
    labels = rng.choice(list("abc"), 300)
    means = rng.normal(size=(3, 12))
    return rng.normal(size=(300, 12)) + 3 * means[np.searchsorted(list("abc"), labels)], labels.tolist()


def test_a_fact_is_read_before_and_not_after(facts):
    x, labels = facts
    assert accuracy(x[:200], labels[:200], x[200:], labels[200:]) > 0.9
    basis = probe_directions(x[:200], labels[:200], rounds=3)
    assert basis.shape == (12, 6)
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=1e-10)
    left = x - (x @ basis) @ basis.T
    chance = max(labels[200:].count(label) for label in "abc") / 100
    assert accuracy(left[:200], labels[:200], left[200:], labels[200:]) < chance + 0.1


def test_directions_drawn_at_random_leave_the_fact(facts):
    x, labels = facts
    basis = random_directions(12, 2, np.random.default_rng(0))
    left = x - (x @ basis) @ basis.T
    assert accuracy(left[:200], labels[:200], left[200:], labels[200:]) > 0.9


def test_an_eraser_takes_from_words_once_and_leaves_the_markers(rng):
    basis, centre = random_directions(6, 2, rng), rng.normal(size=6)
    x = rng.normal(size=(5, 6))
    erase = Eraser(basis, centre)
    once = erase(x)
    np.testing.assert_allclose((once[1:-1] - centre) @ basis, 0, atol=1e-12)
    np.testing.assert_allclose(erase(once), once, atol=1e-12)
    np.testing.assert_array_equal(once[[0, -1]], x[[0, -1]])
    out = np.eye(6) - basis @ basis.T
    np.testing.assert_allclose(once @ out, x @ out, atol=1e-12)


def test_layer_after_layer_is_the_encoder(rng):
    encoder = lively(EncoderConfig(**SMALL, activation="gelu"))
    x = rng.normal(size=(5, 6))
    y = x
    for layer in range(encoder.config.depth):
        y = one_layer(encoder, y, layer)
    np.testing.assert_allclose(y, encoder(x), atol=1e-12)
