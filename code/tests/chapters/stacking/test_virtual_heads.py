"""Attention multiplied out: the sum over paths is the encoder, and its rank is that of the dense operator."""

import numpy as np
import pytest

from encoderlab.chapters.stacking.virtual_heads import (
    head_maps,
    operator_rank,
    operator_singular_values,
    paths,
)
from encoderlab.model.encoder import Encoder, EncoderConfig


def attention_only(rng, *, n_heads=2, d_model=8, depth=2, residual=False) -> Encoder:
    config = EncoderConfig(d_model, n_heads, 4, depth, ffn=False, residual=residual, norm="none")
    return Encoder.random(config, rng)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("n_heads", [1, 2, 4])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_the_paths_add_up_to_the_encoder(rng, depth, n_heads, residual):
    encoder = attention_only(rng, n_heads=n_heads, depth=depth, residual=residual)
    x = rng.normal(size=(5, 8))
    trace = encoder.trace(x)
    summands = paths(encoder, trace)
    assert len({path.heads for path in summands}) == len(summands) == (n_heads + residual) ** depth
    total = sum(path.pattern @ x @ path.map for path in summands)
    np.testing.assert_allclose(total, trace.output, atol=1e-12)
    for path in summands:
        np.testing.assert_allclose(path.pattern.sum(axis=1), 1)


def test_one_head_without_skip_is_the_formula_of_the_note(rng):
    encoder = attention_only(rng, n_heads=1, depth=3)
    x = rng.normal(size=(5, 8))
    trace = encoder.trace(x)
    A_1, A_2, A_3 = (pattern[0] for pattern in trace.attention)
    W_1, W_2, W_3 = (layer.attention.W_V @ layer.attention.W_O for layer in encoder.weights.layers)
    np.testing.assert_allclose(trace.output, A_3 @ A_2 @ A_1 @ x @ W_1 @ W_2 @ W_3, atol=1e-13)


@pytest.mark.parametrize(
    ("n_heads", "n", "d_model", "depth", "residual", "expected"),
    [
        (4, 8, 16, 1, False, 4),
        (4, 8, 16, 1, True, 5),
        (4, 8, 16, 2, False, 16),
        (4, 8, 16, 2, True, 25),
        (4, 4, 16, 2, False, 4**2 - 4 + 1),  # of 16 paths: row sums bind
        (4, 6, 4, 2, True, 4**2),  # of 25 paths: the width binds
        (2, 2, 4, 3, True, 2**2 - 2 + 1),  # of 27 paths
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_operator_rank_is_that_of_the_dense_operator(n_heads, n, d_model, depth, residual, expected, seed):
    rng = np.random.default_rng(seed)
    encoder = attention_only(rng, n_heads=n_heads, d_model=d_model, depth=depth, residual=residual)
    summands = paths(encoder, encoder.trace(rng.normal(size=(n, d_model))))
    assert operator_rank(summands) == expected
    dense = sum(np.kron(path.pattern, path.map.T) for path in summands)  # vec(X) by rows to vec(Y) by rows
    tensor = dense.reshape(n, d_model, n, d_model).transpose(0, 2, 1, 3).reshape(n * n, d_model * d_model)
    assert np.linalg.matrix_rank(tensor, rtol=1e-12) == expected
    values = np.linalg.svd(tensor, compute_uv=False)
    np.testing.assert_allclose(operator_singular_values(summands), values, atol=1e-12 * values[0])


def test_head_maps_are_blocks_of_columns_times_blocks_of_rows(rng):
    weights = attention_only(rng, n_heads=4).weights.layers[0].attention
    for head, product in enumerate(head_maps(weights, 4)):
        block = slice(2 * head, 2 * head + 2)
        np.testing.assert_allclose(product, weights.W_V[:, block] @ weights.W_O[block])


def test_more_than_attention_is_refused(rng):
    encoder, x = attention_only(rng), rng.normal(size=(3, 8))
    for changes in ({"ffn": True}, {"norm": "pre"}, {"final_norm": True}):
        other = encoder.switch(**changes)
        with pytest.raises(ValueError, match="encoder must have ffn=False, norm='none' and no final norm"):
            paths(other, other.trace(x))
    with pytest.raises(ValueError, match=r"trace must be of one sequence .* got \(2, 3, 8\)"):
        paths(encoder, encoder.trace(rng.normal(size=(2, 3, 8))))
    biased = encoder.with_parameters({"layers.1.attention.b_O": np.ones(8)})
    with pytest.raises(ValueError, match=r"layers\.1\.attention\.b_O must be zero or None"):
        paths(biased, biased.trace(x))
