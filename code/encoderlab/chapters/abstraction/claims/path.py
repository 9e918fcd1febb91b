"""Claims 33, 34, 36 and 37: the path that a text takes through the layers."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.abstraction.data import results
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import (
    multi_head_attention,
)
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.feed_forward import feed_forward
from encoderlab.model.measures import gap, size
from encoderlab.model.positions import sinusoidal_positions
from encoderlab.model.weights import EncoderWeights
from encoderlab.pretrained.minilm import CONFIG

DEPTHS = {"the Transformer of 2017": 6, "BERT-base": 12, "BERT-large": 24, "GPT-2 XL": 48}


@claim(
    33,
    note=2,
    section="stacking",
    says="All layers have exactly the same structure, and each has parameters of its own.",
    verdict="conditional",
    holds=(
        "So it is in the Transformer of 2017, in BERT and in the published six-layer model. It need not "
        "be: ALBERT passes through one set of weights again and again."
    ),
    references=("lan2020albert",),
)
def claim_33() -> Findings:
    """Compare the published model's layers with each other, and build a stack that shares one."""
    apart = results()["layers_apart"][~np.eye(CONFIG.depth, dtype=bool)]  # (30, matrices)
    shapes = results()["layer_shapes"]  # (6, matrices, 2)
    rng = np.random.default_rng(33)
    own = Encoder.random(EncoderConfig(depth=6), rng)
    shared = Encoder(own.config, EncoderWeights(own.weights.layers[:1] * 6, own.weights.final_norm))
    x = rng.normal(size=(5, 32))
    findings = (
        Finding(
            "inside",
            "MiniLM: matrices of all layers whose shape differs from that in layer 1",
            int((shapes != shapes[0]).any(axis=-1).sum()),
            "=",
            0,
        ),
        Finding(
            "inside",
            "MiniLM: least distance between the matrices of two layers",
            float(apart.min()),
            "≥",
            0.9,
        ),
        Finding(
            "outside",
            "six passes through one layer: what the other five change",
            gap(shared(x), shared.switch(depth=1)(x)),
            "≥",
            0.1,
        ),
    )
    return findings


@claim(
    34,
    note=2,
    section="basic structure",
    says="The feed-forward sub-layer transforms each position independently.",
    verdict="exact",
    holds="What it does to a token depends on no other token: the Jacobian across tokens is zero.",
)
def claim_34() -> Findings:
    """Change every token but one, and see whether that one's output moves."""
    rng = np.random.default_rng(34)
    layer = Encoder.random(EncoderConfig(depth=1), rng).weights.layers[0]
    x = rng.normal(size=(7, 32))
    y = rng.normal(size=(7, 32))
    y[3] = x[3]
    alone = feed_forward(x, layer.ffn)[0][3] - feed_forward(y, layer.ffn)[0][3]
    order = rng.permutation(7)
    moved = feed_forward(x[order], layer.ffn)[0] - feed_forward(x, layer.ffn)[0][order]
    mixed = (
        multi_head_attention(x, layer.attention, 4)[0][3] - multi_head_attention(y, layer.attention, 4)[0][3]
    )
    findings = (
        Finding(
            "identity", "FFN: what six changed tokens do to the seventh", float(np.abs(alone).max()), "=", 0
        ),
        Finding(
            "identity",
            "FFN: reorder then apply, or apply then reorder",
            float(np.abs(moved).max()),
            "≤",
            1e-12,
        ),
        Finding(
            "support",
            "attention: what six changed tokens do to the seventh",
            float(np.abs(mixed).max()),
            "≥",
            0.1,
        ),
    )
    return findings


@claim(
    36,
    note=2,
    section="stacking",
    says="A typical Transformer uses 6 to 12 encoder layers.",
    verdict="depends",
    holds=(
        "The model of 2017 had 6 and BERT-base 12; BERT-large had 24 in 2018 already, and a decoder such "
        "as GPT-2 XL 48 in 2019."
    ),
    references=("vaswani2017attention", "devlin2019bert", "radford2019language"),
    rests_on_reference=True,
)
def claim_36() -> Findings:
    """Count the layers of models on record; the published model's are counted here."""
    findings = [Finding("for", "layers of MiniLM", CONFIG.depth, "=", 6)]
    for name, depth in DEPTHS.items():
        typical = 6 <= depth <= 12
        findings.append(
            Finding("for" if typical else "against", f"layers of {name}", depth, "≤" if typical else ">", 12)
        )
    return tuple(findings)


@claim(
    37,
    note=2,
    section="information flow",
    says="Information flows from the input sequence through the positional encoding into the layers.",
    verdict="conditional",
    holds=(
        "Where positions are added to the embedding, as in 2017 and in BERT. Rotary encodings and linear "
        "biases act inside attention, in every layer, and nothing is added before the first."
    ),
    references=("vaswani2017attention", "devlin2019bert", "su2021roformer", "press2022train"),
)
def claim_37() -> Findings:
    """Give positions to a stack in three ways, or not at all, and swap two words."""
    rng = np.random.default_rng(37)
    encoder = Encoder.random(EncoderConfig(depth=2), rng)
    weights = encoder.weights.layers[0].attention
    x = rng.normal(size=(6, 32))
    swap = np.array([1, 0, 2, 3, 4, 5])
    places = sinusoidal_positions(6, 32)
    slope = -np.abs(np.arange(6.0)[:, None] - np.arange(6))
    added = encoder(x[swap] + places)[swap] - encoder(x + places)
    biased = (
        multi_head_attention(x[swap], weights, 4, bias=slope)[0][swap]
        - multi_head_attention(x, weights, 4, bias=slope)[0]
    )
    q, k = rng.normal(size=(2, 8))
    turned = [float(_rotate(q, m) @ _rotate(k, m + 3)) for m in (0, 5)]
    findings = (
        Finding(
            "inside",
            "no positions: what swapping two words changes",
            size(encoder(x[swap])[swap] - encoder(x)),
            "≤",
            1e-12,
        ),
        Finding("inside", "positions added before layer 1: the same", size(added), "≥", 0.1),
        Finding("outside", "nothing added, a bias on the logits: the same", size(biased), "≥", 0.1),
        Finding(
            "outside",
            "rotary: change of a logit when both tokens move on by 5",
            abs(turned[0] - turned[1]),
            "≤",
            1e-12,
        ),
    )
    return findings


def _rotate(v: FloatArray, position: int) -> FloatArray:
    """Turn each pair of coordinates by an angle proportional to the position (Su et al. 2021)."""
    pairs = v[::2] + 1j * v[1::2]
    turned = pairs * np.exp(1j * position / 10.0 ** np.arange(len(pairs)))
    return np.stack([turned.real, turned.imag], axis=-1).ravel()
