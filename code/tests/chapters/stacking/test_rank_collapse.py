"""Collapse below rounding error: against the encoder where it can see, against 400 digits where it cannot."""

from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from conftest import SMALL, SWITCHES, lively, written_out

from encoderlab.chapters.stacking.orthogonal_tokens import after_layers, critical_spread, next_spread
from encoderlab.chapters.stacking.rank_collapse import Apart, follow
from encoderlab.chapters.stacking.third_token import covariance, cubic_map
from encoderlab.model.attention import causal_mask
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.tokens import rank_one_residual

CAUSAL = np.where(causal_mask(5), 0.0, -np.inf)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("ffn", "residual", "norm"), SWITCHES)
def test_apart_is_the_encoder_where_it_can_see(rng, ffn, residual, norm, causal):
    encoder = lively(EncoderConfig(**SMALL, ffn=ffn, residual=residual, norm=norm))
    x = rng.normal(size=(5, 6))
    hidden = encoder.trace(x, causal_mask(5) if causal else None).hidden
    states = follow(encoder, x, CAUSAL if causal else None)
    assert len(states) == len(hidden)
    for state, expected in zip(states, hidden, strict=True):
        np.testing.assert_allclose(state.mean + state.residual, expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(state.residual.sum(axis=0), 0, atol=1e-13)
        assert state.distance == pytest.approx(rank_one_residual(expected).item(), abs=1e-12)


def in_many_digits(encoder, x, bias) -> list[float]:
    """Return ‖R‖ after each layer, by the textbook's formulas in 400 digits."""
    functions = ("exp", "sqrt", "tanh")
    one_by_one = {name: np.vectorize(getattr(mpmath, name), otypes=[object]) for name in functions}
    plain = {name: getattr(np, name) for name in ("mean", "sum", "dot", "concatenate", "maximum")}
    many = np.vectorize(mpmath.mpf, otypes=[object])
    parameters = {name: many(weight) for name, weight in encoder.parameters().items()}
    allowed = None if bias is None else many(np.exp(bias))
    sizes = []
    with mpmath.workdps(400):
        for depth in range(1, encoder.config.depth + 1):
            output = written_out(
                encoder.switch(depth=depth).config,
                parameters,
                many(x),
                allowed,
                SimpleNamespace(**plain, **one_by_one),
            )
            residual = output - output.mean(axis=0)
            sizes.append(float(mpmath.sqrt((residual * residual).sum())))
    return sizes


@pytest.mark.parametrize("bias", [None, CAUSAL], ids=["full", "causal"])
@pytest.mark.parametrize(
    ("ffn", "residual", "norm"),
    [(False, False, "none"), (True, False, "post"), (True, False, "pre"), (True, True, "post")],
)
def test_apart_is_right_far_below_rounding_error(ffn, residual, norm, bias):
    config = EncoderConfig(d_model=4, n_heads=2, d_ff=6, depth=3, ffn=ffn, residual=residual, norm=norm)
    encoder = lively(config)
    x = np.random.default_rng(1).normal(size=4) + 1e-7 * np.random.default_rng(2).normal(size=(5, 4))
    measured = [state.spread for state in follow(encoder, x, bias)[1:]]
    # The input is taken apart once, and its mean has rounding errors of 1e-16 beside residuals of 1e-7.
    np.testing.assert_allclose(measured, in_many_digits(encoder, x, bias), rtol=1e-7)
    if bias is None and not residual:
        assert 1e-300 < measured[-1] < 1e-150


def test_the_residual_of_a_layer_is_the_residual_times_its_cubic_map(rng):
    config = EncoderConfig(8, 2, 4, depth=3, ffn=False, residual=False, norm="none")
    encoder = Encoder.random(config, rng)
    states = follow(encoder, rng.normal(size=8) + 0.01 * rng.normal(size=(6, 8)))
    for before, after, layer in zip(states, states[1:], encoder.weights.layers, strict=False):
        predicted = before.residual @ cubic_map(covariance(before.residual), layer.attention, 2)
        size = np.linalg.norm(predicted)
        error = np.linalg.norm(after.residual - predicted) / size
        assert error < max(10 * np.linalg.norm(before.residual), 1e-13)


@pytest.mark.parametrize(("ffn", "norm"), [(f, n) for f in (False, True) for n in ("none", "post", "pre")])
def test_the_exponent_is_three_without_skip_and_one_under_a_mask_or_with_it(rng, ffn, norm):
    def exponent(residual, bias):
        config = EncoderConfig(8, 2, 16, depth=1, ffn=ffn, residual=residual, norm=norm)
        encoder = lively(config, seed=3)
        centre, spread = rng.normal(size=8), rng.normal(size=(5, 8))
        sizes = [
            np.linalg.norm(follow(encoder, centre, bias=bias)[1].residual)
            for centre in (centre + 1e-4 * spread, centre + 1e-6 * spread)
        ]
        return np.log(sizes[0] / sizes[1]) / np.log(1e2)

    assert exponent(False, None) == pytest.approx(3, abs=0.01)
    assert exponent(False, CAUSAL) == pytest.approx(1, abs=0.01)
    assert exponent(True, None) == pytest.approx(1, abs=0.01)


def test_under_a_causal_mask_each_layer_halves_the_residual():
    """The second eigenvalue of the uniform causal pattern is 1/2; orthogonal value maps keep all lengths."""
    rng = np.random.default_rng(0)
    encoder = Encoder.random(EncoderConfig(8, 2, 4, depth=80, ffn=False, residual=False, norm="none"), rng)
    turns = {
        name: np.linalg.qr(weight).Q
        for name, weight in encoder.parameters().items()
        if name.endswith(("W_V", "W_O"))
    }
    distances = [
        state.distance for state in follow(encoder.with_parameters(turns), rng.normal(size=(5, 8)), CAUSAL)
    ]
    assert (distances[80] / distances[60]) ** (1 / 20) == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize("s", [0.1, 1.0, 3.0, 5.0])
def test_orthogonal_tokens_follow_their_recursion(s):
    n, d, gain, depth = 6, 9, 1.5, 5
    encoder = Encoder.random(
        EncoderConfig(d, 1, 4, depth, ffn=False, residual=False, norm="none"), np.random.default_rng(0)
    )
    scale = {"W_Q": 1.0, "W_K": 1.0, "W_V": gain, "W_O": 1.0}
    encoder = encoder.with_parameters(
        {name: scale[name[-3:]] * np.eye(d) for name in encoder.parameters() if name[-3:] in scale}
    )
    for state in follow(encoder, s * np.eye(n, d) + 0.7):
        assert np.linalg.norm(state.residual) == pytest.approx(s * (n - 1) ** 0.5, rel=1e-9)
        s = next_spread(s, n, d, gain)


def test_the_critical_spread_parts_collapse_from_flight():
    n, d, gain = 8, 16, 1.5
    for factor, ends in ((0.999, 0.0), (1.001, np.inf)):
        s = factor * critical_spread(n, d, gain)
        for _ in range(60):
            s = next_spread(s, n, d, gain)
        assert s < 1e-100 if ends == 0 else s > 1e3
    assert next_spread(1e-3, n, d, gain) == pytest.approx(gain * 1e-9 / (n * d**0.5), rel=1e-5)
    with pytest.raises(ValueError, match=r"gain must be above 1 .* got 1\.0"):
        critical_spread(n, d, 1.0)


def test_wide_spaces_keep_tokens_apart_and_narrow_ones_do_not_always(rng):
    apart = rank_one_residual(after_layers(rng.normal(size=(50, 12, 32)), gain=1.5, layers=60))
    narrow = rank_one_residual(after_layers(rng.normal(size=(50, 8, 4)), gain=1.5, layers=60))
    assert apart.min() > 0.1
    assert 0 < np.count_nonzero(narrow < 1e-3) < 50


def test_misuse_is_refused(rng):
    encoder = Encoder.random(EncoderConfig(**SMALL), rng)
    x = rng.normal(size=(5, 6))
    with pytest.raises(ValueError, match="encoder must have the activation relu, got gelu"):
        follow(encoder.switch(activation="gelu"), x)
    for other in ({"norm_kind": "rms"}, {"parallel": True}):
        with pytest.raises(ValueError, match="encoder must have LayerNorm and serial layers"):
            follow(encoder.switch(**other), x)
    with pytest.raises(ValueError, match=r"x must have shape \(\.\.\., n, 6\)"):
        follow(encoder, x[:, :5])
    with pytest.raises(ValueError, match=r"bias must have shape \(5, 5\) and a finite entry in each row"):
        follow(encoder, x, np.full((5, 5), -np.inf))


def test_equal_tokens_are_at_distance_zero():
    assert Apart(np.ones(3), np.zeros((2, 3))).distance == 0
    assert Apart(np.zeros(3), np.zeros((2, 3))).distance == 0
