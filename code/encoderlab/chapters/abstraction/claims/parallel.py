"""Claims 57 and 58: all positions at once, at any distance, and what that costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from encoderlab.chapters.abstraction.cost import even_length, layer_cost
from encoderlab.chapters.abstraction.data import results
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.model.arrays import BoolArray
from encoderlab.model.attention import (
    causal_mask,
)
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.measures import gap, size
from encoderlab.model.weights import EncoderWeights
from encoderlab.pretrained.minilm import CONFIG


@claim(
    57,
    note=2,
    section="advantages",
    says="Self-attention computes the relations between all positions at the same time.",
    verdict="conditional",
    holds=(
        "Within a layer, when the whole sequence is known. The layers wait for each other, and a decoder "
        "that writes has to wait for each token. The price is $2 n^2 d$ multiplications beside $4 n d^2$ "
        "and $2 n d\\,d_{ff}$: the square outweighs the rest from $n = 2 d + d_{ff}$ on."
    ),
    references=("vaswani2017attention",),
)
def claim_57() -> Findings:
    """Compute each row of a layer with the others idle, skip a layer, and count multiplications."""
    rng = np.random.default_rng(57)
    encoder = Encoder.random(EncoderConfig(depth=2), rng)
    hidden = encoder.trace(rng.normal(size=(6, 32))).hidden
    first, second = (
        Encoder(replace(encoder.config, depth=1), EncoderWeights((w,), encoder.weights.final_norm))
        for w in encoder.weights.layers
    )
    only = np.eye(6, dtype=bool)[:, :, None]  # in only[i] no query but the i-th may look at anything
    rows = np.stack([first(hidden[0], np.broadcast_to(only[i], (6, 6)))[i] for i in range(6)])
    d, d_ff = CONFIG.d_model, CONFIG.d_ff
    short, long = (layer_cost(n, d, d_ff) for n in (128, 2 * even_length(d, d_ff)))
    findings = (
        Finding(
            "inside",
            "a layer, all other positions idle or all at once: difference",
            gap(rows, hidden[1]),
            "≤",
            1e-12,
        ),
        Finding(
            "inside",
            "MiniLM, 128 tokens: share of the work that grows with n²",
            short.pattern / sum(short),
            "≤",
            0.1,
        ),
        Finding(
            "outside",
            "the second layer without waiting for the first: difference",
            gap(second(hidden[0]), hidden[2]),
            "≥",
            0.1,
        ),
        Finding(
            "outside",
            "MiniLM's width, 12 d tokens: share that grows with n²",
            long.pattern / sum(long),
            "≥",
            0.6,
        ),
    )
    return findings


@claim(
    58,
    note=2,
    section="advantages",
    says="Any two positions interact directly, whatever their distance.",
    verdict="conditional",
    holds=(
        "In one step, if no mask stands between them and the model has that many positions. If the "
        "logits are bounded, the influence of one token on another falls as $1/n$ in the end. The bound "
        "of a trained head is large: one gives a single neighbour nearly all its weight at 64 tokens."
    ),
    references=("hahn2020limitations",),
)
def claim_58() -> Findings:
    """Change the token farthest away, with and without masks, in short and long sequences."""
    rng = np.random.default_rng(58)
    encoder = Encoder.random(EncoderConfig(depth=1, ffn=False, norm="none"), rng)
    near = np.abs(np.subtract.outer(np.arange(64), np.arange(64))) <= 8
    lengths = np.array([16, 64, 256])
    influence = np.array([_influence(encoder, rng, n) for n in lengths])
    long = results()["long_texts"]
    slope = np.polyfit(np.log(lengths), np.log(influence), 1)[0]
    findings = (
        Finding(
            "inside",
            "one layer, no mask: least influence over any distance of 64",
            _least_influence(encoder, rng, None),
            ">",
            1e-4,
        ),
        Finding(
            "outside",
            "causal mask: what the last token does to the first",
            _least_influence(encoder, rng, causal_mask(64)),
            "=",
            0,
        ),
        Finding(
            "outside",
            "a window of 8: what a token 63 away does",
            _least_influence(encoder, rng, near),
            "=",
            0,
        ),
        Finding(
            "outside",
            "random weights: exponent of $n$ in one token's influence, distance from −1",
            abs(float(slope) + 1),
            "≤",
            0.2,
        ),
        Finding(
            "outside",
            "MiniLM, a row of 510 tokens against 16: what a changed word moves in the median other token",
            float(long[-1, 3] / long[0, 3]),
            "≤",
            0.1,
        ),
        Finding(
            "inside",
            "the same, 64 tokens: weight that a head of layer 1 still gives the word before",
            float(long[1, 0]),
            "≥",
            0.9,
        ),
    )
    return findings


def _influence(encoder: Encoder, rng: np.random.Generator, n: int, mask: BoolArray | None = None) -> float:
    """Change the last token and return how much the first one's output moves, as a mean over ten draws."""
    moved = []
    for _ in range(10):
        x = rng.normal(size=(n, 32))
        y = np.concatenate([x[:-1], rng.normal(size=(1, 32))])
        moved.append(size((encoder(y, mask) - encoder(x, mask))[0]))
    return float(np.mean(moved))


def _least_influence(encoder: Encoder, rng: np.random.Generator, mask: BoolArray | None) -> float:
    """Change each token of 64 in turn, and return the least move of the first one's output."""
    x = rng.normal(size=(64, 32))
    before = encoder(x, mask)[0]
    moved = []
    for i in range(1, 64):
        y = x.copy()
        y[i] = rng.normal(size=32)
        moved.append(size(encoder(y, mask)[0] - before))
    return min(moved)
