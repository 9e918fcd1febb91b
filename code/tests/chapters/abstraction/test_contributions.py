"""What tokens bring adds up to what attention gives, and the share of [CLS] is what it says."""

import numpy as np
import pytest
from conftest import SMALL, lively

from encoderlab.chapters.abstraction.contributions import contributions, share_of_first, value_lengths
from encoderlab.model.encoder import EncoderConfig


@pytest.fixture
def layer(rng):
    encoder = lively(EncoderConfig(**SMALL))
    trace = encoder.trace(rng.normal(size=(5, 6))).layers[1]
    return trace, encoder.weights.layers[1].attention


def test_the_summands_add_up_to_attention(layer):
    """The lengths are those of vectors whose sum, with b_O, is the sub-layer's own output."""
    trace, weights = layer
    heads, _, d_head = trace.attention_inner.V.shape
    total, lengths = 0, np.zeros((heads, 5, 5))
    for h in range(heads):
        rows = slice(h * d_head, (h + 1) * d_head)
        value = trace.attention.z @ weights.W_V[:, rows]
        value = (value if weights.b_V is None else value + weights.b_V[rows]) @ weights.W_O[rows]
        summands = trace.attention_inner.pattern[h][:, :, None] * value  # (n, n, d_model)
        lengths[h] = np.linalg.norm(summands, axis=-1)
        total = total + summands.sum(axis=1)
        np.testing.assert_allclose(
            value_lengths(trace.attention_inner, weights.W_O)[h], np.linalg.norm(value, axis=1)
        )
    bias = 0 if weights.b_O is None else weights.b_O
    np.testing.assert_allclose(total + bias, trace.attention.y, atol=1e-12)
    np.testing.assert_allclose(contributions(trace.attention_inner, weights.W_O), lengths, atol=1e-12)


def test_the_mean_over_heads_is_the_share_of_all_that_words_get(layer):
    trace, weights = layer
    lengths = contributions(trace.attention_inner, weights.W_O)
    share = [lengths[:, i, 0].sum() / lengths[:, i].sum() for i in (1, 2, 3)]
    assert share_of_first(lengths).mean() == pytest.approx(np.mean(share))
    pattern = trace.attention_inner.pattern  # of weights, whose rows sum to one, each head's own share
    np.testing.assert_allclose(share_of_first(pattern), pattern[:, 1:-1, 0].mean(axis=1))
