"""Checks for the exercises of chapter 2."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from encoderlab.chapters.attention.xor import (
    ANSWER,
    as_tokens,
    behind_constant_token,
    corners,
    fold,
    folded,
    parity_of,
)
from encoderlab.exercise import RIGHT
from encoderlab.model.activations import sigmoid
from encoderlab.model.attention import AttentionWeights, causal_mask, multi_head_attention
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm


def check_gate(head: Callable[[], AttentionWeights | None]) -> str:
    """Say whether a head gives the token (a, b, 0), beside the constant token, the output (σ(a) b, 0, 0)."""
    weights = head()
    if not isinstance(weights, AttentionWeights):
        return f"Not yet: head() gave {weights!r}, expected AttentionWeights."
    shapes = [W.shape for W in weights[:4]]
    if shapes != [(3, 1)] * 3 + [(1, 3)]:
        return f"Not yet: the matrices have the shapes {shapes}, expected (3, 1) three times and (1, 3)."
    x = np.random.default_rng(0).normal(size=(50, 2))
    output, _ = multi_head_attention(behind_constant_token(as_tokens(x, 3)), weights, 1)
    expected = np.stack([sigmoid(x[:, 0]) * x[:, 1], *np.zeros((2, 50))], axis=1)
    worst = int(np.abs(output[:, 1] - expected).max(axis=1).argmax())
    if np.abs(output[:, 1] - expected).max() > 1e-12:
        (a, b), found = x[worst], np.round(output[worst, 1], 3).tolist()
        return (
            f"Not yet: the token ({a:.2f}, {b:.2f}, 0) gives {found}, "
            f"expected {np.round(expected[worst], 3).tolist()}."
        )
    return RIGHT


def check_three_bits(centre: float) -> str:
    """Say whether two folds compute the parity of three bits, if the first is made at this sum of them."""
    if not isinstance(centre, int | float | np.number):
        return f"Not yet: the centre is {centre!r}, expected a number."
    bits, plain = corners(3), LayerNormWeights(np.ones(3))
    W, b = fold(np.ones(3), float(centre))
    once = layer_norm(bits @ W + b, plain)  # (8, 3)
    ends = folded(0, 3), folded(4, 3)
    W, b = fold(np.eye(3)[ANSWER], sum(ends) / 2, constant=(ends[0] - ends[1]) / 2)
    twice = layer_norm(once @ W + b, plain)[:, ANSWER]  # (8,)
    right = int(np.sum((twice > 1.3) == (parity_of(bits) > 0)))  # distance 2 goes to 1.41, 0 and 4 to 1.22
    if right < 8:
        return f"Not yet: with a first fold at {centre:g}, {right} of 8 inputs are right."
    return RIGHT


SUSPECTS = (
    "key bias",
    "query bias",
    "value bias",
    "causal mask",
    "residual",
    "LayerNorm without β",
    "FFN with ReLU, no biases",
    "FFN with tanh, no biases",
)
"""Things that one may add to bias-free attention."""


def check_odd(breakers: Iterable[str]) -> str:
    """Say whether these, and no others of `SUSPECTS`, keep f(−X) from being −f(X)."""
    named = set(breakers)
    unknown = sorted(named - set(SUSPECTS))
    if unknown:
        return f"Not yet: {unknown[0]!r} is none of the suspects."
    wrong = [name for name in SUSPECTS if (name in named) == _stays_odd(name)]
    if not wrong:
        return RIGHT
    verb = "keeps the layer odd" if wrong[0] in named else "breaks it"
    return f"Not yet: {wrong[0]} {verb}; to mend: {len(wrong)}."


def _stays_odd(suspect: str) -> bool:
    """Build attention with one suspect added, and try it."""
    rng = np.random.default_rng(0)
    config = EncoderConfig(
        d_model=8,
        n_heads=2,
        d_ff=16,
        depth=1,
        ffn=suspect.startswith("FFN"),
        residual=suspect == "residual",
        norm="post" if suspect.startswith("LayerNorm") else "none",
        activation="tanh" if "tanh" in suspect else "relu",
    )
    encoder = Encoder.random(config, rng)  # its biases are zero
    if suspect.endswith("bias"):
        name = f"layers.0.attention.b_{suspect[0].upper()}"
        encoder = encoder.with_parameters({name: rng.normal(size=8)})
    x, mask = rng.normal(size=(5, 8)), causal_mask(5) if suspect == "causal mask" else None
    return bool(np.abs(encoder(-x, mask) + encoder(x, mask)).max() < 1e-9)
