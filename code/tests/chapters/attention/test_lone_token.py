"""A token that attends to itself alone: the affine map against the encoder, and what makes it one."""

import numpy as np
import pytest
from conftest import lively

from encoderlab.chapters.attention.lone_token import lone_token_map
from encoderlab.model.attention import causal_mask
from encoderlab.model.encoder import EncoderConfig


def attention_only(depth=6, residual=True, **switches):
    return lively(
        EncoderConfig(d_model=6, n_heads=2, d_ff=8, depth=depth, ffn=False, norm="none", residual=residual)
    )


@pytest.mark.parametrize("depth", [0, 1, 6])
@pytest.mark.parametrize("residual", [False, True])
def test_lone_equal_and_first_tokens_all_get_the_affine_map(rng, depth, residual):
    encoder = attention_only(depth, residual)
    W, b = lone_token_map(encoder)
    x = rng.normal(size=(7, 6))
    expected = x @ W + b
    scale = np.abs(expected).max()
    np.testing.assert_allclose(
        encoder(x[:, None])[:, 0], expected, atol=1e-13 * scale
    )  # seven sequences of one token
    equal = np.repeat(x[:1], 5, axis=0)
    np.testing.assert_allclose(encoder(equal), np.repeat(expected[:1], 5, axis=0), atol=1e-13 * scale)
    np.testing.assert_allclose(encoder(x, causal_mask(7))[0], expected[0], atol=1e-13 * scale)


def test_it_needs_the_token_to_be_alone(rng):
    encoder = attention_only()
    W, b = lone_token_map(encoder)
    x = rng.normal(size=(3, 6))
    assert np.abs(encoder(x, causal_mask(3))[1] - (x[1] @ W + b)).max() > 0.1


def test_a_table_of_embeddings_holds_what_no_affine_map_of_the_bits_does(rng):
    """The bound is one on the vector, not on the word: a table may hold any function of the word."""
    encoder = attention_only()
    odd = np.array([bin(word).count("1") % 2 for word in range(16)])
    bits = np.array([[word >> k & 1 for k in range(4)] for word in range(16)])
    chosen = np.column_stack([2 * odd - 1, rng.normal(size=(16, 5))])  # the answer is in the table
    linear = np.column_stack([2 * bits - 1, rng.normal(size=(16, 2))])  # only the bits are
    right = []
    for table in (chosen, linear):
        output = np.pad(encoder(table[:, None])[:, 0], ((0, 0), (0, 1)), constant_values=1)
        readout, *_ = np.linalg.lstsq(output, odd)
        right.append(np.sum((output @ readout > 0.5) == odd))
    assert right[0] == 16
    assert right[1] < 16


def test_absent_biases_are_zero(rng):
    encoder = attention_only(2)
    layers = [
        layer._replace(attention=layer.attention._replace(b_V=None, b_O=None))
        for layer in encoder.weights.layers
    ]
    bare = type(encoder)(encoder.config, encoder.weights._replace(layers=tuple(layers)))
    W, b = lone_token_map(bare)
    assert not b.any()
    x = rng.normal(size=(1, 6))
    np.testing.assert_allclose(bare(x), x @ W, rtol=1e-12)


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({"ffn": True}, "encoder must have ffn = False, got True"),
        ({"norm": "post"}, "encoder must have no LayerNorm, got norm = 'post'"),
        ({"final_norm": True}, "encoder must have no LayerNorm, got norm = 'none', final_norm = True"),
    ],
)
def test_refuses_an_encoder_that_is_not_affine(switches, message):
    with pytest.raises(ValueError, match=message):
        lone_token_map(attention_only().switch(**switches))
