"""Our encoder against stored outputs of torch.nn.TransformerEncoder, made by the script in reference/."""

import pathlib

import numpy as np
import pytest

from encoderlab.model.attention import padding_mask
from encoderlab.pretrained import from_torch

REFERENCE = pathlib.Path(__file__).parent / "reference" / "torch_encoder.npz"
CASES = range(10)


def load(number):
    """Return one case: state dict, the options of from_torch, x, y and lengths (0: no mask)."""
    with np.load(REFERENCE) as arrays:
        case = {n.split("/", 1)[1]: arrays[n] for n in arrays.files if n.startswith(f"{number}/")}
    state = {name.removeprefix("state/"): a for name, a in case.items() if name.startswith("state/")}
    n_heads, norm, activation, kind, eps = case["config"]
    options = {"n_heads": int(n_heads), "norm": str(norm), "activation": str(activation)}
    options |= {"norm_kind": str(kind), "eps": float(eps)}
    return state, options, case["x"], case["y"], case["lengths"]


def test_the_reference_covers_what_it_should():
    options = [load(number)[1] for number in CASES]
    lengths = [load(number)[4].any() for number in CASES]
    assert {(o["norm"], o["activation"]) for o in options} == {
        (norm, f) for norm in ("post", "pre") for f in ("relu", "gelu")
    }
    assert {(o["norm"], o["norm_kind"]) for o in options} == {
        (norm, kind) for norm in ("post", "pre") for kind in ("layer", "rms")
    }
    assert set(lengths) == {True, False}
    assert {load(number)[2].shape[-1] for number in CASES} >= {2, 6, 8}
    assert {"norm.weight" in load(number)[0] for number in CASES} == {True, False}


@pytest.mark.parametrize("number", CASES)
def test_outputs_equal_pytorch(number):
    state, options, x, y, lengths = load(number)
    mask = padding_mask(list(lengths), 5) if lengths.any() else None
    ours = from_torch(state, **options)(x, mask)
    real = np.arange(5) < (lengths[:, None] if lengths.any() else 5)  # (2, 5); padded rows mean nothing
    np.testing.assert_allclose(
        ours[np.broadcast_to(real, (2, 5))], y[np.broadcast_to(real, (2, 5))], atol=1e-12
    )


@pytest.mark.parametrize("number", [*CASES[:6], *CASES[8:]])
def test_every_array_of_the_state_dict_matters(number):
    """Otherwise two norms, or a weight and its neighbour, could be swapped unseen.

    Not at d_model = 2, where LayerNorm gives ±γ whatever comes before, as far as eps allows.
    """
    state, options, x, _, _ = load(number)
    base = from_torch(state, **options)(x)
    for name in state:
        changed = dict(state)
        rng = np.random.default_rng(0)
        changed[name] = state[name] + rng.normal(scale=0.1, size=state[name].shape)
        assert np.abs(from_torch(changed, **options)(x) - base).max() > 1e-6, name


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda s: s.pop("layers.1.norm1.weight"), "must hold layers.1.norm1.weight, and does not"),
        (lambda s: s.update({"layers.0.extra": np.ones(2)}), "got also layers.0.extra"),
        (lambda s: s.update({"layers.x.foo": np.ones(2)}), "must number its layers.*got layers.x"),
        (
            lambda s: s.update({"layers.0.self_attn.in_proj_weight": np.ones((25, 8))}),
            r"in_proj_weight must have shape \(3d, d\), got \(25, 8\)",
        ),
        (
            lambda s: s.update({"layers.0.self_attn.in_proj_bias": np.ones(25)}),
            r"in_proj_bias must have shape \(24,\), got \(25,\)",
        ),
        (lambda s: s.clear(), "such as layers.0.linear1.weight, got"),
        (
            lambda s: s.update({"layers.0.linear2.weight": np.ones((8, 11))}),
            r"layers.0.ffn.W_2 must have shape",
        ),
        (lambda s: s.update({"norm.weight": np.full(8, np.nan)}), "final_norm.gamma must be finite, got 8"),
    ],
)
def test_a_damaged_state_dict_is_refused_by_name(damage, message):
    state, options, *_ = load(0)
    damage(state)
    with pytest.raises(ValueError, match=message):
        from_torch(state, **options)


def test_the_encoder_and_the_state_dict_share_no_memory():
    state, options, x, *_ = load(2)
    before = {name: array.copy() for name, array in state.items()}
    encoder = from_torch(state, **options)
    y = encoder(x)
    for array in state.values():
        array += 1
    np.testing.assert_array_equal(encoder(x), y)
    for weight in encoder.parameters().values():
        weight[...] = 0
    assert all(np.array_equal(state[name], array + 1) for name, array in before.items())


def test_a_norm_without_bias_is_not_taken_for_one_kind():
    state, options, *_ = load(9)
    with pytest.raises(ValueError, match=r"norm_kind must be layer or rms where .*norm1 has no bias"):
        from_torch(state, **(options | {"norm_kind": None}))
    state, options, *_ = load(2)
    with pytest.raises(ValueError, match=r"norm_kind must be layer where .*norm1 has a bias"):
        from_torch(state, **(options | {"norm_kind": "rms"}))


def test_a_final_norm_without_weights_standardises():
    state, options, x, *_ = load(3)
    assert "norm.weight" not in state
    plain = from_torch(state, **options)
    y = plain(x)
    centred = y - y.mean(axis=-1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + options["eps"])
    np.testing.assert_allclose(from_torch(state, **options, final_norm=True)(x), expected, atol=1e-12)
    np.testing.assert_allclose(plain.switch(final_norm=True)(x), expected, atol=1e-12)
    state, options, *_ = load(2)
    with pytest.raises(ValueError, match="final_norm must be True"):
        from_torch(state, **options, final_norm=False)


def test_what_is_no_state_dict_is_refused():
    with pytest.raises(ValueError, match=r"state_dict must be what module\.state_dict"):
        from_torch(object(), n_heads=2)


def test_the_final_norm_may_have_an_eps_of_its_own():
    state, options, x, *_ = load(0)
    before = from_torch(state, **options)(x)
    after = from_torch(state, **options, final_norm=True, final_eps=0.5)(x)
    centred = before - before.mean(axis=-1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 0.5)
    np.testing.assert_allclose(after, expected, atol=1e-12)
