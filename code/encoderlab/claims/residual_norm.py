"""Claims 29, 35, 46 to 49 and 53, on residual connections and LayerNorm, each with its check."""

from __future__ import annotations

import numpy as np

from encoderlab.attention import multi_head_attention, padding_mask
from encoderlab.claims import layer_norm_training
from encoderlab.claims.model import Claim, Evidence, Finding
from encoderlab.distance import gap, size
from encoderlab.encoder import Encoder, EncoderConfig
from encoderlab.feed_forward import FeedForwardWeights, feed_forward
from encoderlab.gradients import post_norm
from encoderlab.gradients.gradient_flow import draw_stack, gradient_flow, skip_path
from encoderlab.gradients.identity_probe import Remains, what_remains
from encoderlab.gradients.jacobian import encoder_jacobian, layer_norm_jacobian
from encoderlab.mixing import xor
from encoderlab.residual_norm import LayerNormWeights, layer_norm
from encoderlab.validation import FloatArray
from encoderlab.weights import EncoderWeights


def check_29() -> Evidence:
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
    return Evidence(findings)


def check_35() -> Evidence:
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
    return Evidence(findings)


def check_46() -> Evidence:
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
    return Evidence(findings)


def check_47() -> Evidence:
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
    return Evidence(findings)


def check_48() -> Evidence:
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
    return Evidence(findings)


def check_49() -> Evidence:
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
    return Evidence(findings)


def check_53() -> Evidence:
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
    return Evidence(findings)


def _formulas(encoder: Encoder, x: FloatArray) -> FloatArray:
    """Note 2, "mathematical expression", as it stands."""
    config = encoder.config
    for w in encoder.weights.layers:
        middle = layer_norm(
            multi_head_attention(x, w.attention, config.n_heads)[0] + x, w.attention_norm, config.eps
        )
        x = layer_norm(feed_forward(middle, w.ffn, config.activation)[0] + middle, w.ffn_norm, config.eps)
    return x


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


def _right(answers: FloatArray, labels: FloatArray) -> int:
    return int(np.sum(np.sign(answers) == labels))


CLAIMS = (
    Claim(
        number=29,
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
        chapter="residual_norm",
        check=check_29,
        references=("ni2024nonlinearity",),
    ),
    Claim(
        number=35,
        note=2,
        section="basic structure",
        says="The middle is LayerNorm(attention(x) + x), the output LayerNorm(FFN(middle) + middle).",
        verdict="exact",
        holds=(
            "This is the layer of the paper of 2017, of PyTorch's default and of the published six-layer "
            "model, to rounding. Most larger models since have the norm inside the branch instead."
        ),
        chapter="residual_norm",
        check=check_35,
        references=("vaswani2017attention", "xiong2020layer"),
    ),
    Claim(
        number=46,
        note=2,
        section="residual connections",
        says=(
            "With the residual connection the gradient is roughly a direct gradient plus a residual gradient."
        ),
        verdict="loose",
        holds=(
            "Without a norm it is exactly that, $I + J_F$. In pre-LN it is $I + J_F J_{LN}$. In post-LN, "
            "which the note's own formula is, the sum is multiplied by $J_{LN}$, of rank $d − 2$ at ε = "
            "0: there is no pure identity path."
        ),
        chapter="residual_norm",
        check=check_46,
        references=("he2016identity", "veit2016residual"),
    ),
    Claim(
        number=47,
        note=2,
        section="residual connections",
        says=(
            "Residual connections guarantee the flow of the gradient and relieve its vanishing in deep "
            "networks."
        ),
        verdict="conditional",
        holds=(
            "They do where the branches are small beside the skip, by their weights or by a norm. Without"
            " a norm, weights of unit gain make the gradient explode with depth, and a branch that "
            "computes −x lets nothing through."
        ),
        chapter="residual_norm",
        check=check_47,
        references=("he2016identity", "veit2016residual"),
    ),
    Claim(
        number=48,
        note=2,
        section="residual connections",
        says=(
            "Output = transformation(input) + input preserves the input, so that low-level features are "
            "not lost."
        ),
        verdict="loose",
        holds=(
            "What the input was can still be read from the output where the branches are not too large, "
            "even when it no longer looks alike. A sum can cancel; large branches drown the input; and "
            "post-LN drops mean and scale in any case."
        ),
        chapter="residual_norm",
        check=check_48,
    ),
    Claim(
        number=49,
        note=2,
        section="layer normalisation",
        says="Layer normalisation normalises every sample on its own.",
        verdict="loose",
        holds=(
            "Every token on its own, as the note says itself two lines later: no token affects another's "
            "norm."
        ),
        chapter="residual_norm",
        check=check_49,
        references=("ba2016layer",),
    ),
    Claim(
        number=53,
        note=2,
        section="layer normalisation",
        says="Each position is normalised independently, which suits inputs of variable length.",
        verdict="exact",
        holds=(
            "There are no statistics over the batch or the length, so a token's norm is the same alone, "
            "in a longer sequence, or padded."
        ),
        chapter="residual_norm",
        check=check_53,
        references=("ba2016layer", "shen2020powernorm"),
    ),
    *layer_norm_training.CLAIMS,
)
