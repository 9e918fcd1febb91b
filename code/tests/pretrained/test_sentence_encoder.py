"""A sentence encoder of four words, whose every step can be written out."""

import numpy as np
import pytest

from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.layer_norm import LayerNormWeights
from encoderlab.pretrained.sentence_encoder import Embeddings, SentenceEncoder, sentence_vector, untrained

WORDS = ["[CLS]", "[SEP]", "a", "b"]


def tokenize(text):
    tokens = ["[CLS]", *text.split(), "[SEP]"]
    return tokens, [WORDS.index(token) for token in tokens]


@pytest.fixture
def small(rng):
    norm = LayerNormWeights(rng.normal(size=8), rng.normal(size=8))
    tables = rng.normal(size=(4, 8)), rng.normal(size=(6, 8)), rng.normal(size=8)
    config = EncoderConfig(d_model=8, n_heads=2, d_ff=12, depth=3)
    return SentenceEncoder(tokenize, Embeddings(*tables, norm), Encoder.random(config, rng))


def test_embedding_adds_word_position_and_segment_and_normalises(small):
    word, position, segment, norm = small.embeddings
    x = word[[0, 3, 3, 2, 1]] + position[:5] + segment
    x_hat = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(small.embed("b b a"), x_hat * norm.gamma + norm.beta, atol=1e-12)
    assert small.tokens("b a") == ["[CLS]", "b", "a", "[SEP]"]


def test_trace_and_switches_are_the_encoders(small):
    x = small.embed("a b")
    np.testing.assert_array_equal(small.trace("a b").output, small.encoder(x))
    short = small.switch(ffn=False, depth=1)
    np.testing.assert_array_equal(short.trace("a b").output, small.encoder.switch(ffn=False, depth=1)(x))
    mean = small.encoder(x).mean(axis=0)
    np.testing.assert_allclose(small("a b"), mean / np.linalg.norm(mean))


def test_more_tokens_than_positions_are_refused(small):
    assert len(small.embed("a a a a")) == 6
    with pytest.raises(ValueError, match="text must have at most 6 tokens, both markers included, got 7"):
        small.trace("a a a a a")


def test_vectors_keep_batch_axes(rng):
    hidden = rng.normal(size=(3, 2, 5, 8))
    np.testing.assert_allclose(sentence_vector(hidden)[1, 0], sentence_vector(hidden[1, 0]))


def test_untrained_layers_keep_the_embeddings(small, rng):
    fresh = untrained(small, rng)
    np.testing.assert_array_equal(fresh.embed("a b"), small.embed("a b"))
    weights = fresh.encoder.parameters()
    assert weights.keys() == small.encoder.parameters().keys()
    assert all((w == 1).all() for name, w in weights.items() if name.endswith("gamma"))
    assert all((w == 0).all() for name, w in weights.items() if ".b_" in name or name.endswith("beta"))
    deviations = [w.std() for name, w in weights.items() if ".W_" in name]
    assert np.allclose(deviations, 0.02, rtol=0.3)
