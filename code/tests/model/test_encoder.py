"""The assembled encoder: switches, dtypes, edge cases, and what it refuses."""

import itertools

import numpy as np
import pytest
from conftest import SMALL, SWITCHES, VARIANTS, lively, written_out

from encoderlab.model.activations import ACTIVATIONS
from encoderlab.model.attention import causal_mask, padding_mask
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.layer_norm import layer_norm, standardize


@pytest.mark.parametrize(("ffn", "residual", "norm"), SWITCHES)
@pytest.mark.parametrize("final_norm", [True, False])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_combination_equals_the_formulas(rng, ffn, residual, norm, final_norm, variant):
    config = EncoderConfig(**SMALL, ffn=ffn, residual=residual, norm=norm, final_norm=final_norm, **variant)
    encoder, x = lively(config), rng.normal(size=(5, 6))
    np.testing.assert_allclose(
        encoder(x), written_out(encoder.config, encoder.parameters(), x), rtol=1e-11, atol=1e-12
    )
    mask = causal_mask(5)
    np.testing.assert_allclose(
        encoder(x, mask), written_out(encoder.config, encoder.parameters(), x, mask), rtol=1e-11, atol=1e-12
    )


@pytest.mark.parametrize(("ffn", "residual", "norm"), SWITCHES)
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_named_weight_is_used_and_no_other(rng, ffn, residual, norm, variant):
    """Two norms swapped, or a switch that leaves something on, would show here."""
    full = lively(EncoderConfig(**SMALL, final_norm=True))
    encoder = full.switch(ffn=ffn, residual=residual, norm=norm, final_norm=norm == "pre", **variant)
    x = rng.normal(size=(5, 6))
    for name, weight in full.parameters().items():
        bump = {name: weight + rng.normal(scale=0.1, size=weight.shape)}
        changed = full.with_parameters(bump).switch(**vars(encoder.config))(x)
        moved = np.abs(changed - encoder(x)).max()
        if name.endswith("b_K"):  # it adds the same to a whole row of logits (claim 11)
            assert moved < 1e-10
        else:
            assert (moved > 1e-9) == (name in encoder.parameters()), name


def test_each_norm_scales_its_own_sublayer(rng):
    """Changing one γ leaves every sub-layer before it as it was and changes its own."""
    encoder, x = lively(EncoderConfig(**SMALL, norm="pre")), rng.normal(size=(5, 6))
    base = encoder.trace(x)
    for i, part in itertools.product(range(3), ["attention", "ffn"]):
        name = f"layers.{i}.{part}_norm.gamma"
        trace = encoder.with_parameters({name: 1.5 * encoder.parameters()[name]}).trace(x)
        same = [
            np.array_equal(a.attention.y, b.attention.y)
            for a, b in zip(base.layers, trace.layers, strict=True)
        ]
        same_ffn = [np.array_equal(a.ffn.y, b.ffn.y) for a, b in zip(base.layers, trace.layers, strict=True)]
        order = list(itertools.chain(*zip(same, same_ffn, strict=True)))
        first = 2 * i + (part == "ffn")
        assert order == [True] * first + [False] * (6 - first)


def test_trace_agrees_with_the_call_and_with_itself(rng):
    encoder, x = lively(EncoderConfig(**SMALL, norm="pre", final_norm=True)), rng.normal(size=(2, 5, 6))
    trace = encoder.trace(x)
    assert np.array_equal(trace.output, encoder(x))
    assert len(trace.hidden) == 4
    assert [a.shape for a in trace.attention] == [(2, 2, 5, 5)] * 3
    assert np.array_equal(trace.hidden[0], x)
    assert np.array_equal(layer_norm(trace.hidden[-1], encoder.weights.final_norm), trace.output)
    for i, layer in enumerate(trace.layers):
        assert np.array_equal(layer.attention.x, trace.hidden[i])
        assert np.array_equal(layer.ffn.u, trace.hidden[i + 1])
        np.testing.assert_allclose(layer.attention_inner.pattern.sum(axis=-1), 1, atol=1e-12)


def test_depth_cuts_the_stack(rng):
    encoder, x = lively(EncoderConfig(**SMALL)), rng.normal(size=(5, 6))
    for depth in range(4):
        assert np.array_equal(encoder.switch(depth=depth)(x), encoder.trace(x).hidden[depth])


def test_switches_change_nothing_but_what_they_name():
    """One seed draws the same weights whatever is switched on, and a switch shares the arrays."""
    full = Encoder.random(EncoderConfig(**SMALL), np.random.default_rng(3))
    bare = {"ffn": False, "norm": "none", "residual": False}
    drawn = Encoder.random(EncoderConfig(**SMALL, **bare), np.random.default_rng(3)).parameters()
    switched = full.switch(**bare).parameters()
    assert drawn.keys() == switched.keys() < full.parameters().keys()
    for name, array in switched.items():
        assert array is full.parameters()[name]
        assert np.array_equal(array, drawn[name])


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept_everywhere(rng, activation, dtype):
    config = EncoderConfig(**SMALL, norm="pre", final_norm=True, activation=activation)
    encoder, x = lively(config), rng.normal(size=(5, 6))
    trace = encoder.trace(x.astype(dtype), causal_mask(5))
    arrays = [*trace.hidden, *trace.attention, trace.output]
    for layer in trace.layers:
        for part in (layer.attention, layer.ffn):
            arrays += [part.x, part.z, part.y, part.u, *part.normed]
        arrays += [*layer.attention_inner, *layer.ffn_inner]
    assert {a.dtype for a in arrays} == {np.dtype(dtype)}
    np.testing.assert_allclose(trace.output, encoder(x, causal_mask(5)), atol=2e-5)


def test_batches_are_independent(rng):
    encoder, x = lively(EncoderConfig(**SMALL)), rng.normal(size=(2, 3, 5, 6))
    for i, j in np.ndindex(2, 3):
        np.testing.assert_allclose(encoder(x)[i, j], encoder(x[i, j]), atol=1e-12)


def test_padding_changes_nothing_for_real_tokens(rng):
    encoder, x = lively(EncoderConfig(**SMALL)), rng.normal(size=(2, 5, 6))
    padded = encoder(x, padding_mask([3, 5], 5))
    np.testing.assert_allclose(padded[0, :3], encoder(x[0, :3]), atol=1e-12)


@pytest.mark.parametrize("shape", [(1, 6), (0, 5, 6), (2, 0, 6), (0, 6)])
def test_lone_tokens_and_empty_batches(shape):
    encoder = lively(EncoderConfig(**SMALL))
    assert encoder(np.ones(shape)).shape == shape


def test_a_token_that_may_attend_to_none_is_finite(rng):
    encoder = lively(EncoderConfig(**SMALL))
    assert np.isfinite(encoder(rng.normal(size=(2, 5, 6)), padding_mask([0, 5], 5))).all()


def test_huge_logits_stay_finite(rng):
    encoder, x = lively(EncoderConfig(**SMALL)), rng.normal(size=(5, 6))
    name = "layers.0.attention.W_Q"
    hot = encoder.with_parameters({name: 1000 * encoder.parameters()[name]})
    trace = hot.trace(x)
    q, k = trace.layers[0].attention_inner.Q, trace.layers[0].attention_inner.K
    assert np.abs(q @ k.swapaxes(-1, -2)).max() > 1000
    assert np.isfinite(trace.output).all()


@pytest.mark.parametrize(("d_model", "n_heads"), [(1, 1), (7, 7), (7, 1), (9, 3)])
def test_odd_widths_work(rng, d_model, n_heads):
    encoder = Encoder.random(EncoderConfig(d_model=d_model, n_heads=n_heads, d_ff=5, depth=2), rng)
    x = rng.normal(size=(4, d_model))
    np.testing.assert_allclose(encoder(x), written_out(encoder.config, encoder.parameters(), x), atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 0}, "d_model must be an integer of at least 1, got 0"),
        ({"depth": -1}, "depth must be an integer of at least 0, got -1"),
        ({"depth": 2.0}, "depth must be an integer of at least 0, got 2.0"),
        ({"n_heads": 4}, "n_heads must divide d_model = 6, got 4"),
        ({"ffn": "off"}, "ffn must be True or False, got 'off'"),
        ({"norm": "layer"}, "norm must be one of none, post, pre, got 'layer'"),
        ({"norm_kind": "batch"}, "norm_kind must be one of layer, rms, got 'batch'"),
        ({"parallel": 1}, "parallel must be True or False, got 1"),
        ({"activation": "swish"}, "activation must be one of .*, got 'swish'"),
        ({"eps": 0.0}, "eps must be positive and finite, got 0.0"),
        ({"eps": "1"}, "eps must be a number, got '1'"),
        ({"eps": True}, "eps must be a number, got True"),
        ({"final_eps": -1}, "final_eps must be positive and finite, got -1"),
        ({"activation": ["relu"]}, r"activation must be one of .*, got \['relu'\]"),
        ({"norm": ["pre"]}, r"norm must be one of none, post, pre, got \['pre'\]"),
        ({"depth": True}, "depth must be an integer of at least 0, got True"),
        ({"eps": float("nan")}, "eps must be positive and finite, got nan"),
    ],
)
def test_impossible_configs_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        EncoderConfig(**(SMALL | changes))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ones((5, 7)), r"x must have shape \(..., n, 6\), got \(5, 7\)"),
        (np.ones(6), r"x must have shape \(..., n, 6\), got \(6,\)"),
        (np.ones((5, 6), dtype=int), "x must be a float32 or float64 array, got int64"),
        ([[1.0] * 6], "x must be a float32 or float64 array, got list"),
        (np.full((5, 6), np.nan), "x must be finite, got 30 inf or NaN"),
        (np.array([[np.inf] + [0.0] * 5]), "x must be finite, got 1 inf or NaN"),
    ],
)
def test_bad_inputs_are_refused(x, message):
    with pytest.raises(ValueError, match=message):
        lively(EncoderConfig(**SMALL))(x)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.ones((5, 5)), "mask must be a boolean array, True where attention is allowed, got float64"),
        (np.ones((4, 4), dtype=bool), r"mask must broadcast to \(5, 5\), got \(4, 4\)"),
        (np.ones(5, dtype=bool), r"mask must broadcast to \(5, 5\), got \(5,\)"),
        (np.ones((2, 5, 5), dtype=bool), r"mask must broadcast to \(5, 5\), got \(2, 5, 5\)"),
    ],
)
def test_bad_masks_are_refused(mask, message):
    with pytest.raises(ValueError, match=message):
        lively(EncoderConfig(**SMALL))(np.ones((5, 6)), mask)


def test_bad_weights_are_refused():
    encoder = lively(EncoderConfig(**SMALL))
    with pytest.raises(ValueError, match=r"layers.0.ffn.W_1 must have shape \(6, 10\), got \(6, 9\)"):
        encoder.with_parameters({"layers.0.ffn.W_1": np.ones((6, 9))})
    with pytest.raises(ValueError, match=r"parameters must name weights in use, got layers.3.ffn.W_1"):
        encoder.with_parameters({"layers.3.ffn.W_1": np.ones((6, 10))})
    with pytest.raises(ValueError, match="weights must hold at least depth = 4 layers, got 3"):
        encoder.switch(depth=4)


def test_a_bias_is_added_to_the_logits_of_every_layer(rng):
    encoder, x = lively(EncoderConfig(**SMALL)), rng.normal(size=(5, 6))
    bias = rng.normal(size=(5, 5))
    expected = written_out(encoder.config, encoder.parameters(), x, bias=bias)
    np.testing.assert_allclose(encoder(x, bias=bias), expected, atol=1e-12)
    per_head = np.stack([bias, 0 * bias])  # (h, n, n)
    assert np.abs(encoder(x, bias=per_head) - expected).max() > 1e-3
    np.testing.assert_array_equal(encoder(x, bias=np.stack([bias, bias])), encoder(x, bias=bias))


@pytest.mark.parametrize(
    ("bias", "message"),
    [
        (np.ones((4, 4)), r"bias must broadcast to \(2, 5, 5\), got \(4, 4\)"),
        (np.ones((5, 5), dtype=np.float32), "bias must have the dtype of x, float64, got float32"),
        (np.full((5, 5), -np.inf), "bias must be finite, got 25 inf or NaN"),
    ],
)
def test_bad_biases_are_refused(bias, message):
    with pytest.raises(ValueError, match=message):
        lively(EncoderConfig(**SMALL))(np.ones((5, 6)), bias=bias)


def test_numbers_of_numpy_are_numbers(rng):
    counts = {"d_model": np.int64(6), "n_heads": np.int32(2), "d_ff": np.uint8(10), "depth": np.int64(3)}
    config = EncoderConfig(**counts, ffn=np.True_, eps=np.float32(0.5))
    assert config == EncoderConfig(**SMALL, ffn=True, eps=0.5)
    assert {type(value) for value in vars(config).values()} == {int, float, bool, str, type(None)}


@pytest.mark.parametrize("bad", [0, None, np.random, np.random.RandomState(0)], ids=str)
def test_what_is_no_generator_is_refused(bad):
    with pytest.raises(ValueError, match=r"rng must be a Generator such as .*, got"):
        Encoder.random(EncoderConfig(**SMALL), bad)


@pytest.mark.parametrize("gain", [-1, float("nan"), float("inf"), "1", True, None])
def test_a_gain_that_scales_nothing_is_refused(rng, gain):
    with pytest.raises(ValueError, match="gain must be a finite number of at least 0, got"):
        Encoder.random(EncoderConfig(**SMALL), rng, gain)


def test_a_parameter_that_is_no_array_is_refused():
    with pytest.raises(ValueError, match="b_1 must be a float32 or float64 array, got NoneType"):
        lively(EncoderConfig(**SMALL)).with_parameters({"layers.0.ffn.b_1": None})


def test_without_layers_the_output_is_a_copy(rng):
    encoder, x = lively(EncoderConfig(**SMALL)).switch(depth=0), rng.normal(size=(5, 6))
    for output in (encoder(x), encoder.trace(x).output):
        assert np.array_equal(output, x)
        assert not np.shares_memory(output, x)


@pytest.mark.parametrize("kind", ["layer", "rms"])
@pytest.mark.parametrize(("dtype", "large"), [(np.float32, 2.0**100), (np.float64, 2.0**900)])
def test_a_norm_of_large_rows_is_that_of_small_ones(rng, kind, dtype, large):
    """Against the same rows at a size where eps is as little to see; a power of 2 rounds nothing."""
    x = rng.normal(size=(4, 6)).astype(dtype)
    small, big = standardize(x, 1e-30, kind), standardize(x * dtype(large), 1e-30, kind)
    np.testing.assert_allclose(big.x_hat, small.x_hat, rtol=8 * np.finfo(dtype).eps)
    np.testing.assert_allclose(big.sigma / dtype(large), small.sigma, rtol=8 * np.finfo(dtype).eps)
    assert big.x_hat.dtype == big.sigma.dtype == dtype
    flat = standardize(np.full((1, 4), large, dtype=dtype) * dtype(2**20), 1e-5)
    assert not flat.x_hat.any()
