"""Random stacks: what is switched off is off, and distances are those of the encoder where it can see."""

import numpy as np
import pytest

from encoderlab.chapters.stacking.attention_only import attention_only
from encoderlab.chapters.stacking.random_stacks import biases, distances, random_stack
from encoderlab.model.measures import gap
from encoderlab.model.tokens import rank_one_residual


def test_distances_are_those_of_the_encoder():
    found = distances(3, draws=2, residual=True, norm="pre")
    assert found.shape == (2, 4)
    for seed in range(2):
        encoder, x = random_stack(seed, 3, 1)
        hidden = encoder.switch(ffn=False, norm="pre").trace(x).hidden
        np.testing.assert_allclose(found[seed], [rank_one_residual(h) for h in hidden], rtol=1e-9)


def test_logits_are_multiplied():
    plain, sharp = (random_stack(0, 1, scale)[0].weights.layers[0].attention for scale in (1, 4))
    np.testing.assert_allclose(sharp.W_Q, 4 * plain.W_Q)
    np.testing.assert_array_equal(sharp.W_K, plain.W_K)


def test_biases_are_the_same_for_equal_distances():
    by_name = biases(slope=2)
    relative = by_name["relative positions"]
    assert relative[3, 5] == relative[5, 3] == relative[0, 2] == -4
    assert np.isneginf(by_name["causal mask"][0, 1])


def test_ways_out_of_the_plunge():
    """Medians after 12 and 48 layers: a plunge, exponential falls, and one slower than that."""
    ways = {"skip": {"residual": True}, "pre": {"residual": True, "norm": "pre"}}
    ways |= {name: {"bias": bias} for name, bias in biases().items()}
    end = {name: np.median(distances(48, draws=4, **way), axis=0) for name, way in ways.items()}
    assert np.median(distances(6, draws=4), axis=0)[6] < 1e-100
    for name in ("skip", "causal mask", "relative positions"):
        assert 1e-20 < end[name][48] < 1e-3
        first, second = (np.log(end[name][b] / end[name][a]) / (b - a) for a, b in ((12, 24), (24, 48)))
        assert second == pytest.approx(first, rel=0.3)
    assert end["pre"][48] > 0.1


def test_attention_only_is_that(rng):
    encoder = attention_only(rng, depth=3, n_heads=4, residual=True)
    assert set(encoder.parameters()) == set(encoder.switch(ffn=False, norm="none").parameters())
    config = encoder.config
    assert (config.ffn, config.norm, config.depth, config.n_heads) == (False, "none", 3, 4)
    assert gap(np.zeros(3), np.ones(3)) == 1
