"""Claims 29, 35, 49 and 53: what LayerNorm computes, and where it stands."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.attention import xor
from encoderlab.chapters.residual_norm import post_norm
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import multi_head_attention, padding_mask
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.feed_forward import feed_forward
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm
from encoderlab.model.measures import gap, size


@claim(
    29,
    note=1,
    section="8.2.2",
    says=(
        "Besides the FFN, layer normalisation helps to make up for what attention lacks: it further "
        "stabilises training."
    ),
    verdict="loose",
    holds=(
        "It does more than that. LayerNorm is itself nonlinear: with a constant before it (a bias, β,"
        " a constant token, positions) it computes XOR, and two of them the parity of four bits, "
        "without an FFN. Without a constant it is odd and cannot."
    ),
    references=("ni2024nonlinearity",),
)
def claim_29() -> Findings:
    """Let LayerNorm do the work of an activation, then take away the constant that it needs."""
    two, four = xor.corners(2), xor.corners(4)
    answers = xor.xor_with_layer_norm()(xor.as_tokens(two, 3))[:, 0, xor.ANSWER]  # (4,)
    of_four = xor.parity_with_layer_norm()(xor.as_tokens(four, 4))[:, 0, xor.ANSWER]  # (16,)
    design = np.column_stack([two, np.ones(4)])  # (4, 3)
    affine = design @ np.linalg.lstsq(design, answers)[0]
    rng = np.random.default_rng(29)
    x = rng.normal(size=(20, 8))
    w = LayerNormWeights(rng.normal(size=8))
    odd, even = layer_norm(-x, w) + layer_norm(x, w), layer_norm(1 - x, w) + layer_norm(1 + x, w)
    findings = (
        Finding(
            "precise",
            "XOR by LayerNorm, no FFN: right answers of 4",
            _right(answers, xor.parity_of(two)),
            "=",
            4,
        ),
        Finding(
            "precise",
            "parity of four bits, two LayerNorms: right of 16",
            _right(of_four, xor.parity_of(four)),
            "=",
            16,
        ),
        Finding("precise", "no constant before it: size of LN(−x) + LN(x)", size(odd), "=", 0),
        Finding(
            "as stated", "what the best affine map misses of that layer", gap(affine, answers), "≥", 0.99
        ),
        Finding("support", "a shift by 1 is forgotten: the same with 1 ± x", size(even), "≤", 1e-12),
    )
    return findings


@claim(
    35,
    note=2,
    section="basic structure",
    says="The middle is LayerNorm(attention(x) + x), the output LayerNorm(FFN(middle) + middle).",
    verdict="exact",
    holds=(
        "This is the layer of the paper of 2017, of PyTorch's default and of the published six-layer "
        "model, to rounding. Most larger models since have the norm inside the branch instead."
    ),
    references=("vaswani2017attention", "xiong2020layer"),
)
def claim_35() -> Findings:
    """Evaluate the note's formulas literally, beside our block, PyTorch and the published model."""
    rng = np.random.default_rng(35)
    encoder = Encoder.random(EncoderConfig(d_model=8, n_heads=2, d_ff=16, depth=6, norm="post"), rng)
    x = rng.normal(size=(5, 8))
    ours = gap(_formulas(encoder, x), encoder(x))
    torch = post_norm.torch_case()
    theirs = gap(_formulas(torch.encoder, torch.x), torch.y)
    cat, literal, elsewhere = post_norm.published_token(), [], []
    for x, y, w, after in zip(cat.skip[:-1], cat.branch, cat.norms, cat.skip[1:], strict=True):
        literal.append(float(np.abs(layer_norm(x + y, w, cat.eps) - after).max()))
        elsewhere.append(float(np.abs(x + layer_norm(y, w, cat.eps) - after).max()))
    findings = (
        Finding("identity", "six layers of formulas against our encoder", ours, "≤", 1e-12),
        Finding("identity", "six layers of formulas against PyTorch's", theirs, "≤", 1e-12),
        Finding("identity", "LN(x + F(x)) in MiniLM's twelve sub-layers", max(literal), "≤", 1e-12),
        Finding("support", "x + LN(F(x)) in the same twelve", min(elsewhere), "≥", 0.1),
        Finding("support", "all of MiniLM against BertModel, as stored", cat.gap, "≤", 1e-12),
    )
    return findings


@claim(
    49,
    note=2,
    section="layer normalisation",
    says="Layer normalisation normalises every sample on its own.",
    verdict="loose",
    holds=(
        "Every token on its own, as the note says itself two lines later: no token affects another's norm."
    ),
    references=("ba2016layer",),
)
def claim_49() -> Findings:
    """Change every token but one, and normalise a whole sample at once instead."""
    rng = np.random.default_rng(49)
    x, w = rng.normal(size=(6, 8)) * np.arange(1, 7)[:, None], LayerNormWeights(np.ones(8), np.zeros(8))
    others = np.vstack([x[:1], 100 * rng.normal(size=(5, 8))])
    alone, among = layer_norm(x, w)[0], layer_norm(others, w)[0]
    sample = (x - x.mean()) / x.std()  # one mean and one spread for all tokens of the sample
    nudged = (
        x + 1e-3 * rng.normal(size=(6, 1, 8)) * np.eye(6)[:, :, None]
    )  # (6, 6, 8), token i alone in the i-th
    moved = np.abs(layer_norm(nudged, w) - layer_norm(x, w)).max(axis=-1)  # (nudged token, token)
    between = float(moved[~np.eye(6, dtype=bool)].max())
    spread = float(np.abs(layer_norm(x, w).std(axis=1) - 1).max())
    findings = (
        Finding("precise", "change of a token when the others change", size(among - alone), "=", 0),
        Finding("precise", "change of a token when one other is nudged", between, "=", 0),
        Finding("precise", "spread of every token after it, less 1", spread, "≤", 1e-4),
        Finding(
            "as stated", "one mean and spread per sample: distance", gap(sample, layer_norm(x, w)), "≥", 0.2
        ),
    )
    return findings


@claim(
    53,
    note=2,
    section="layer normalisation",
    says="Each position is normalised independently, which suits inputs of variable length.",
    verdict="exact",
    holds=(
        "There are no statistics over the batch or the length, so a token's norm is the same alone, "
        "in a longer sequence, or padded."
    ),
    references=("ba2016layer", "shen2020powernorm"),
)
def claim_53() -> Findings:
    """Lengthen, pad and batch a sequence; what BatchNorm would make of the same."""
    rng = np.random.default_rng(53)
    x, w = rng.normal(size=(5, 8)), LayerNormWeights(rng.normal(size=8), rng.normal(size=8))
    longer = np.vstack([x, 10 + rng.normal(size=(7, 8))])
    encoder = Encoder.random(EncoderConfig(d_model=8, n_heads=2, d_ff=16, depth=4, norm="post"), rng)
    padded = encoder(longer[None], padding_mask([5], 12))[0, :5]
    batch_norm = (longer - longer.mean(axis=0)) / longer.std(axis=0)
    by_batch = gap(batch_norm[:5], (x - x.mean(axis=0)) / x.std(axis=0))
    alone, before_more = layer_norm(x, w), layer_norm(longer, w)[:5]
    findings = (
        Finding("identity", "LayerNorm of 5 tokens, alone or before 7 more", gap(before_more, alone), "=", 0),
        Finding("identity", "four layers, alone or padded under a mask", gap(padded, encoder(x)), "≤", 1e-12),
        Finding("support", "statistics over tokens instead: the 5 change by", by_batch, "≥", 0.5),
    )
    return findings


def _formulas(encoder: Encoder, x: FloatArray) -> FloatArray:
    """Note 2, "mathematical expression", as it stands."""
    config = encoder.config
    for w in encoder.weights.layers:
        middle = layer_norm(
            multi_head_attention(x, w.attention, config.n_heads)[0] + x, w.attention_norm, config.eps
        )
        x = layer_norm(feed_forward(middle, w.ffn, config.activation)[0] + middle, w.ffn_norm, config.eps)
    return x


def _right(answers: FloatArray, labels: FloatArray) -> int:
    return int(np.sum(np.sign(answers) == labels))
