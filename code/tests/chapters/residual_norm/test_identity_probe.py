"""What is left of a token: cosine and linear readout, on encoders whose answer is known."""

import numpy as np
import pytest

from encoderlab.chapters.attention.xor import silent_layer
from encoderlab.chapters.residual_norm.identity_probe import what_remains
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.feed_forward import FeedForwardWeights
from encoderlab.model.weights import EncoderWeights


def scaled_by(factor):
    """Return a residual layer that multiplies every token by a factor: its FFN computes (factor − 1) x."""
    config = EncoderConfig(d_model=8, n_heads=1, d_ff=16, depth=1, norm="none")
    silent, both = silent_layer(config), np.hstack([np.eye(8), -np.eye(8)])
    ffn = FeedForwardWeights(both, (factor - 1) * both.T)
    return Encoder(config, EncoderWeights((silent._replace(ffn=ffn),), silent.ffn_norm))


@pytest.mark.parametrize(("factor", "cosine"), [(2.0, 1.0), (-1.0, -1.0), (0.01, 1.0)])
def test_scaling_turns_or_keeps_and_never_hides(rng, factor, cosine):
    left = what_remains(scaled_by(factor), rng, vocabulary=6)
    assert left.cosine == pytest.approx(cosine)
    assert left.readable == 1


def test_tokens_that_are_made_equal_cannot_be_told_apart(rng):
    """Attention that averages over the sequence, without its skip, leaves the mean of eight tokens."""
    config = EncoderConfig(d_model=8, n_heads=1, depth=1, ffn=False, residual=False, norm="none")
    silent = silent_layer(config)
    mean = silent.attention._replace(W_V=np.eye(8), W_O=np.eye(8))
    encoder = Encoder(config, EncoderWeights((silent._replace(attention=mean),), silent.ffn_norm))
    left = what_remains(encoder, rng, vocabulary=100)
    assert left.readable < 0.2  # it is the same answer for all eight, so one in eight at best


def test_it_is_seeded():
    first, second = (what_remains(scaled_by(2.0), np.random.default_rng(5)) for _ in range(2))
    assert first == second
