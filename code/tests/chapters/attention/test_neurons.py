"""A feed-forward layer made of heads: against the feed-forward layer."""

import numpy as np
import pytest

from encoderlab.chapters.attention.neurons import heads_as_neurons, self_and_first, silu
from encoderlab.model.attention import multi_head_attention
from encoderlab.model.feed_forward import FeedForwardWeights, feed_forward


def ffn_weights(rng, d=5, d_ff=12, biases=True):
    W_1, W_2 = rng.normal(size=(d, d_ff)), rng.normal(size=(d_ff, d))
    return (
        FeedForwardWeights(W_1, W_2, rng.normal(size=d_ff), rng.normal(size=d))
        if biases
        else FeedForwardWeights(W_1, W_2)
    )


def sequence(x):
    """Mark the tokens off from the constant one, which comes first."""
    tokens = np.pad(x, ((1, 0), (0, 1)))
    tokens[0, -1] = 1
    return tokens


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("sharpness", [1.0, 3.0])
def test_heads_are_silu_neurons(rng, biases, sharpness):
    x, ffn = rng.normal(size=(7, 5)), ffn_weights(rng, biases=biases)
    z = x @ ffn.W_1 + (ffn.b_1 if biases else 0)
    expected = (z / (1 + np.exp(-sharpness * z))) @ ffn.W_2 + (ffn.b_2 if biases else 0)
    output, _ = multi_head_attention(sequence(x), heads_as_neurons(ffn, sharpness), 12, self_and_first(8))
    np.testing.assert_allclose(output[1:, :-1], expected, atol=1e-12)
    assert not output[:, -1].any()


def test_sharp_heads_are_relu_neurons(rng):
    x, ffn = rng.normal(size=(7, 5)), ffn_weights(rng)
    relu, _ = feed_forward(x, ffn)
    output, _ = multi_head_attention(sequence(x), heads_as_neurons(ffn, 1e6), 12, self_and_first(8))
    np.testing.assert_allclose(output[1:, :-1], relu, atol=1e-4)


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 20.0])
def test_silu_is_near_relu(sharpness):
    z = np.linspace(-50, 50, 100_001)
    gap = np.abs(silu(z, sharpness) - np.maximum(z, 0)).max()
    assert 0.27 / sharpness < gap < 0.28 / sharpness


def test_without_the_mask_it_is_no_feed_forward_layer(rng):
    x, ffn = rng.normal(size=(7, 5)), ffn_weights(rng)
    masked, _ = multi_head_attention(sequence(x), heads_as_neurons(ffn), 12, self_and_first(8))
    open_, _ = multi_head_attention(sequence(x), heads_as_neurons(ffn), 12)
    assert np.abs(masked - open_)[1:].max() > 0.1
