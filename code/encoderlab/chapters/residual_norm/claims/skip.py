"""Claims 46 to 48: what a residual connection keeps and lets through."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.attention import xor
from encoderlab.chapters.residual_norm.gradient_flow import draw_stack, gradient_flow, skip_path
from encoderlab.chapters.residual_norm.identity_probe import Remains, what_remains
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.feed_forward import FeedForwardWeights
from encoderlab.model.jacobian import encoder_jacobian, layer_norm_jacobian
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm
from encoderlab.model.measures import gap, size
from encoderlab.model.weights import EncoderWeights


@claim(
    46,
    note=2,
    section="residual connections",
    says="With the residual connection the gradient is roughly a direct gradient plus a residual gradient.",
    verdict="loose",
    holds=(
        "Without a norm it is exactly that, $I + J_F$. In pre-LN it is $I + J_F J_{LN}$. In post-LN, "
        "which the note's own formula is, the sum is multiplied by $J_{LN}$, of rank $d − 2$ at ε = "
        "0: there is no pure identity path."
    ),
    references=("he2016identity", "veit2016residual"),
)
def claim_46() -> Findings:
    """Assemble each Jacobian from backward passes and compare it with its formula."""
    rng = np.random.default_rng(46)
    branch = Encoder.random(
        EncoderConfig(d_model=8, n_heads=2, depth=1, ffn=False, residual=False, norm="none"), rng
    )
    (x, g), w, eps = rng.normal(size=(2, 4, 8)), LayerNormWeights(np.ones(8), np.zeros(8)), branch.config.eps
    plain, post, pre = (branch.switch(residual=True, norm=norm) for norm in ("none", "post", "pre"))
    total = np.eye(32) + encoder_jacobian(branch, x)  # I + J_F
    by_post = layer_norm_jacobian(x + branch(x), w, eps) @ total
    inside = encoder_jacobian(branch, layer_norm(x, w, eps)) @ layer_norm_jacobian(x, w, eps)
    J_post = encoder_jacobian(post, x)
    back = post.gradients(x, g)[0].ravel()
    J_pre = encoder_jacobian(pre, x)
    rank, rank_eps = (np.linalg.matrix_rank(layer_norm_jacobian(x[:1], w, e), tol=1e-9) for e in (0.0, 1e-5))
    stack = draw_stack("post-LN", 12, rng)
    share = skip_path(*stack)[0] / gradient_flow(*stack).hidden[0]
    findings = (
        Finding("precise", "no norm: $I + J_F$", gap(total, encoder_jacobian(plain, x)), "≤", 1e-12),
        Finding("precise", "post-LN: $J_{LN}(u)(I + J_F)$", gap(by_post, J_post), "≤", 1e-12),
        Finding(
            "precise", "pre-LN: $I + J_F(LN x)\\,J_{LN}(x)$", gap(np.eye(32) + inside, J_pre), "≤", 1e-12
        ),
        Finding("precise", "backward pass: $J^\\top g$", gap(J_post.T @ g.ravel(), back), "≤", 1e-12),
        Finding("precise", "rank of $J_{LN}$, d = 8, ε = 0", float(rank), "=", 6),
        Finding("as stated", "post-LN against the sum $I + J_F$", gap(total, J_post), "≥", 0.2),
        Finding("as stated", "post-LN, 12 layers: share along the skips alone", share, "≤", 0.01),
        Finding("support", "rank of $J_{LN}$, d = 8, ε = 10⁻⁵", float(rank_eps), "=", 7),
    )
    return findings


@claim(
    47,
    note=2,
    section="residual connections",
    says=(
        "Residual connections guarantee the flow of the gradient and relieve its vanishing in deep networks."
    ),
    verdict="conditional",
    holds=(
        "They do where the branches are small beside the skip, by their weights or by a norm. Without"
        " a norm, weights of unit gain make the gradient explode with depth, and a branch that "
        "computes −x lets nothing through."
    ),
    references=("he2016identity", "veit2016residual"),
)
def claim_47() -> Findings:
    """Measure what reaches the first of 48 layers, and build a residual that lets nothing through."""

    def reaches(architecture: str, gain: float) -> float:
        stack = draw_stack(architecture, 48, np.random.default_rng(47), gain)
        return float(gradient_flow(*stack).hidden[0])  # of a gradient of norm 1

    weak, pre = reaches("residual", 0.5), reaches("pre-LN", 1.0)
    x, grad = np.random.default_rng(47).normal(size=(2, 4, 8))
    cancelled, _ = _with_ffn_of(-1.0).gradients(x, grad)
    findings = (
        Finding("inside", "gain ½, residual: gradient at the first layer", weak, "≥", 0.5),
        Finding("inside", "gain ½, residual: no explosion", weak, "≤", 100),
        Finding("inside", "gain 1, pre-LN: gradient at the first layer", pre, "≥", 0.1),
        Finding("inside", "gain 1, pre-LN: no explosion", pre, "≤", 10),
        Finding("outside", "gain 1, residual, no norm: the same", reaches("residual", 1.0), "≥", 1e9),
        Finding("outside", "F(x) = −x: gradient that gets through", size(cancelled), "=", 0),
        Finding("support", "gain ½, no residual: the same", reaches("no residual", 0.5), "≤", 1e-50),
    )
    return findings


@claim(
    48,
    note=2,
    section="residual connections",
    says=(
        "Output = transformation(input) + input preserves the input, so that low-level features are not lost."
    ),
    verdict="loose",
    holds=(
        "What the input was can still be read from the output where the branches are not too large, "
        "even when it no longer looks alike. A sum can cancel; large branches drown the input; and "
        "post-LN drops mean and scale of the sum."
    ),
)
def claim_48() -> Findings:
    """Ask for the input's direction, and for which token it was; drop its scale and mean."""
    x = np.random.default_rng(48).normal(size=(20, 8))
    turned, cancelled = _with_ffn_of(-2.0)(x), _with_ffn_of(-1.0)(x)
    undone = np.linalg.solve(encoder_jacobian(_with_ffn_of(-2.0), x[:1]), turned.T).T
    w = LayerNormWeights(np.ones(8), np.zeros(8))
    forgotten = gap(layer_norm(3 * x + 2, w, 1e-12), layer_norm(x, w, 1e-12))  # post-LN with F = 0
    weak, strong, pre = (_remains(*case) for case in (("residual", 0.5), ("residual", 1.0), ("pre-LN", 1.0)))
    findings = (
        Finding("precise", "F(x) = −2x: cosine of x + F(x) with x", _cosine(x, turned), "≤", -1 + 1e-12),
        Finding("precise", "the same: error of x computed back", gap(undone, x), "≤", 1e-12),
        Finding("precise", "12 layers, gain ½: cosine with the input", weak.cosine, "≤", 0.8),
        Finding("precise", "12 layers, gain ½: share of tokens named", weak.readable, "≥", 0.99),
        Finding("as stated", "12 layers, gain 1: share of tokens named", strong.readable, "≤", 0.2),
        Finding("as stated", "F(x) = −x: size of what is left of x", size(cancelled), "=", 0),
        Finding("as stated", "post-LN of x and of 3x + 2: difference", forgotten, "≤", 1e-9),
        Finding("support", "12 layers, gain 1, pre-LN: cosine", pre.cosine, "≤", 0.4),
        Finding("support", "12 layers, gain 1, pre-LN: tokens named", pre.readable, "≥", 0.7),
    )
    return findings


def _with_ffn_of(factor: float) -> Encoder:
    """Return a residual layer without norm whose FFN computes factor · (ReLU(x) − ReLU(−x))."""
    config = EncoderConfig(d_model=8, n_heads=1, d_ff=16, depth=1, norm="none")
    silent, identity = xor.silent_layer(config), np.eye(8)
    ffn = FeedForwardWeights(np.hstack([identity, -identity]), factor * np.vstack([identity, -identity]))
    return Encoder(config, EncoderWeights((silent._replace(ffn=ffn),), silent.ffn_norm))


def _remains(architecture: str, gain: float) -> Remains:
    rng = np.random.default_rng(48)
    encoder, _, _ = draw_stack(architecture, 12, rng, gain)
    return what_remains(encoder, rng, sequences=150)


def _cosine(x: FloatArray, y: FloatArray) -> float:
    """Largest cosine between rows."""
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return float(((x * y).sum(axis=1) / lengths).max())
