"""A narrower encoder keeps the neurons it is told to."""

import numpy as np
import pytest
from conftest import SMALL, lively

from encoderlab.chapters.abstraction.width import mean_activations, narrow, neurons_by_weight
from encoderlab.model.encoder import EncoderConfig


@pytest.fixture
def encoder():
    return lively(EncoderConfig(**SMALL, activation="gelu"))


def test_all_neurons_in_any_order_are_the_whole_encoder(encoder, rng):
    x = rng.normal(size=(5, 6))
    order = [rng.permutation(10) for _ in range(3)]
    np.testing.assert_allclose(narrow(encoder, order, 10, np.ones((3, 10)))(x), encoder(x), atol=1e-12)


def test_the_rest_is_silent_or_constant(encoder, rng):
    x = rng.normal(size=(5, 6))
    order, mean = [np.arange(10)] * 3, rng.normal(size=(3, 10))
    for rest in (np.zeros((3, 10)), mean):
        changed = {}
        for i in range(3):
            W_2, b_2 = (encoder.parameters()[f"layers.{i}.ffn.{name}"] for name in ("W_2", "b_2"))
            changed[f"layers.{i}.ffn.W_2"] = np.where(np.arange(10)[:, None] < 4, W_2, 0)
            changed[f"layers.{i}.ffn.b_2"] = b_2 + rest[i, 4:] @ W_2[4:]
        smaller = narrow(encoder, order, 4, rest)
        assert smaller.config.d_ff == 4
        np.testing.assert_allclose(smaller(x), encoder.with_parameters(changed)(x), atol=1e-12)


def test_means_and_order(encoder, rng):
    corpus = [rng.normal(size=(n, 6)) for n in (3, 8)]
    mean, deviation = mean_activations(encoder, corpus)
    activation = np.concatenate([encoder.trace(x).layers[2].ffn_inner.activation[1:-1] for x in corpus])
    np.testing.assert_allclose(mean[2], activation.mean(axis=0))
    size = deviation[0] * np.linalg.norm(encoder.weights.layers[0].ffn.W_2, axis=1)
    assert (np.diff(size[neurons_by_weight(encoder, deviation)[0]]) <= 0).all()
