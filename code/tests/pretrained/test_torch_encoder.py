"""Our encoder against stored outputs of torch.nn.TransformerEncoder, made by the script in reference/."""

import pathlib

import numpy as np
import pytest

from encoderlab.model.attention import padding_mask
from encoderlab.pretrained import from_torch

REFERENCE = pathlib.Path(__file__).parent / "reference" / "torch_encoder.npz"
CASES = range(8)


def load(number):
    """Return one case: state dict, (n_heads, norm, activation), x, y and lengths (0: no mask)."""
    with np.load(REFERENCE) as arrays:
        case = {n.split("/", 1)[1]: arrays[n] for n in arrays.files if n.startswith(f"{number}/")}
    state = {name.removeprefix("state/"): a for name, a in case.items() if name.startswith("state/")}
    n_heads, norm, activation = case["config"]
    options = {"n_heads": int(n_heads), "norm": str(norm), "activation": str(activation)}
    return state, options, case["x"], case["y"], case["lengths"]


def test_the_reference_covers_what_it_should():
    options = [load(number)[1] for number in CASES]
    lengths = [load(number)[4].any() for number in CASES]
    assert {(o["norm"], o["activation"]) for o in options} == {
        (norm, f) for norm in ("post", "pre") for f in ("relu", "gelu")
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


@pytest.mark.parametrize("number", CASES[:6])
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
