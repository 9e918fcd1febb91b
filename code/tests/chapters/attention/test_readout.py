"""The best readout: against the normal equations, and what it finds in bodies with one part or another."""

import itertools

import numpy as np
import pytest

from encoderlab.chapters.attention.readout import best_readout, random_body, token_features
from encoderlab.chapters.attention.xor import corners, parity_of


def test_best_readout_solves_least_squares(rng):
    x, labels = rng.normal(size=(20, 4)), rng.normal(size=20)
    W, b = best_readout(x, labels)
    residual = (x @ W + b)[:, 0] - labels
    np.testing.assert_allclose(residual @ np.column_stack([x, np.ones(20)]), 0, atol=1e-12)


def test_best_readout_is_the_smallest_that_fits(rng):
    x, labels = rng.normal(size=(4, 9)), rng.normal(size=4)
    W, b = best_readout(x, labels)
    np.testing.assert_allclose((x @ W + b)[:, 0], labels, atol=1e-12)
    null = np.linalg.svd(x - x.mean(axis=0))[2][3:]  # directions in which the features do not move
    np.testing.assert_allclose(null @ W, 0, atol=1e-12)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize(
    ("constant", "biases", "layer_norm", "ffn"), list(itertools.product([False, True], repeat=4))
)
def test_what_makes_xor_possible(constant, biases, layer_norm, ffn, depth):
    """A constant token or an FFN; LayerNorm only behind a bias, for without one everything is odd."""
    possible = constant or ffn or (layer_norm and biases)
    embedding, front = np.split(np.random.default_rng(1).normal(size=(3, 12)), [2])
    bits = corners(2)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        body = random_body(rng, biases=biases, layer_norm=layer_norm, ffn=ffn, depth=depth)
        features = token_features(body, bits, embedding, front[0] if constant else None)
        W, b = best_readout(features, parity_of(bits))
        np.testing.assert_allclose((features @ W + b)[:, 0], possible * parity_of(bits), atol=1e-6)


def test_the_same_seed_gives_the_same_weights_whatever_is_switched_on():
    plain = random_body(np.random.default_rng(0), biases=False, layer_norm=False, ffn=False, depth=2)
    full = random_body(np.random.default_rng(0), biases=True, layer_norm=True, ffn=True, depth=2)
    for name, weight in plain.parameters().items():
        if ".W_" in name:
            assert np.array_equal(weight, full.parameters()[name])
