"""Claims 20 to 24 and 62: two layers of attention written as one formula (note 1, section 8.2.2)."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.attention.linearity import additivity_defect, attend
from encoderlab.chapters.attention.lone_token import lone_token_map
from encoderlab.chapters.stacking.attention_only import attention_only
from encoderlab.chapters.stacking.impersonation import averaging, errors, matching_layer, random_head
from encoderlab.chapters.stacking.interpolation import layer_through
from encoderlab.chapters.stacking.third_token import log_odds, query_defect
from encoderlab.chapters.stacking.virtual_heads import operator_rank, operator_singular_values, paths
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.experiments.results import load
from encoderlab.model.arrays import BoolArray, FloatArray
from encoderlab.model.attention import causal_mask, multi_head_attention
from encoderlab.model.encoder import Encoder
from encoderlab.model.measures import gap


@claim(
    20,
    note=1,
    section="8.2.2",
    says="Two layers, written out, give $H_2 = A_2 A_1 (X W_{V_1} W_{V_2})$.",
    verdict="exact",
    holds=(
        "Exactly so for one head without bias or skip, at any depth, with $A_2$ computed from $H_1$. "
        "With $h$ heads it is a sum of $h^2$ such terms, with a skip of $(1 + h)^2$."
    ),
    references=("elhage2021mathematical",),
)
def claim_20() -> Findings:
    """Multiply stacks out, by the note's formula and over all paths; then take A₂ from the wrong tokens."""
    rng = np.random.default_rng(20)
    x = rng.normal(size=(6, 16))
    findings = []
    for depth in (2, 5):
        encoder = attention_only(rng, depth=depth)
        trace, product = encoder.trace(x), x
        for layer, pattern in zip(encoder.weights.layers, trace.attention, strict=True):
            product = pattern[0] @ product @ layer.attention.W_V @ layer.attention.W_O
        what = f"one head, {depth} layers, against $A_{depth} \\cdots A_1 X W_1 \\cdots W_{depth}$"
        findings.append(Finding("identity", what, gap(trace.output, product), "≤", 1e-12))
    for residual, base in ((False, "$4^2$"), (True, "$5^2$")):
        encoder = attention_only(rng, depth=2, n_heads=4, residual=residual)
        trace = encoder.trace(x)
        total = np.sum([path.pattern @ x @ path.map for path in paths(encoder, trace)], axis=0)
        what = f"four heads{', with skip' * residual}, against the sum of {base} paths"
        findings.append(Finding("identity", what, gap(trace.output, total), "≤", 1e-12))
    encoder = attention_only(rng, depth=2)
    first, second = (layer.attention for layer in encoder.weights.layers)
    wrong = attend(
        multi_head_attention(x, first, 1)[0], multi_head_attention(x, second, 1)[1].pattern, second
    )
    findings.append(Finding("support", "with $A_2$ taken from $X$: off by", gap(wrong, encoder(x)), "≥", 0.1))
    return tuple(findings)


@claim(
    21,
    note=1,
    section="8.2.2",
    says="$H_2$ is a linear transformation of $X$, combined with two matrices of attention weights.",
    verdict="false",
    holds=(
        "Linear only with both patterns frozen. They depend on $X$, $A_2$ through $A_1$ as well; nearly "
        "linear near $X = 0$, where all weights are nearly equal."
    ),
)
def claim_21() -> Findings:
    """Add two inputs before the stack and after it, with patterns live and frozen."""
    rng = np.random.default_rng(21)
    encoder = attention_only(rng, depth=2)
    x, y = rng.normal(size=(2, 6, 16))
    (path,) = paths(encoder, encoder.trace(x))

    def frozen(z: FloatArray) -> FloatArray:
        return path.pattern @ z @ path.map

    findings = (
        Finding("counterexample", "live: additivity defect", additivity_defect(encoder, x, y), "≥", 0.3),
        Finding("support", "both patterns frozen: the same", additivity_defect(frozen, x, y), "≤", 1e-14),
        Finding(
            "support", "live, input of a hundredth", additivity_defect(encoder, x / 100, y / 100), "≤", 1e-3
        ),
    )
    return findings


@claim(
    22,
    note=1,
    section="8.2.2",
    says=(
        "The form is very similar to that of a single layer: only the weights, now $A_2 A_1$, are "
        "computed in a more complex way."
    ),
    verdict="conditional",
    holds=(
        "On one input whose tokens are independent, a single head reproduces the pattern $A_2 A_1$ "
        "exactly if and only if $d_{qk}$ is at least the rank of its row-centred logarithm, as a rule "
        "$n - 1$. With a query bias one token more is allowed. On other inputs the same head is off by "
        "about the size of the output. And on one input a single layer with $d_{qk} = 1$ can be put "
        "through any target at all."
    ),
)
def claim_22() -> Findings:
    """Build the single layer; break its conditions one by one; show it other inputs and another target."""
    rng = np.random.default_rng(22)
    first, second = (random_head(rng) for _ in range(2))
    tokens = rng.normal(size=(24, 16))
    match = matching_layer(tokens[:8], first, second)
    biased = matching_layer(tokens[:17], first, second, query_bias=True)
    narrow = matching_layer(tokens[:8], first, second, d_qk=2, best_fit=True)
    dependent = matching_layer(tokens, first, second, best_fit=True)
    new = rng.normal(size=(200, 8, 16))
    of_layer, of_mean = (errors(w, new, first, second) for w in (match.layer, averaging(match.layer)))
    target = rng.normal(size=(8, 16))
    hit = multi_head_attention(tokens[:8], layer_through(tokens[:8], target), 1)[0]
    findings = (
        Finding("inside", "8 tokens of width 16, $d_{qk} = 7$: logits off by", match.misfit, "≤", 1e-10),
        Finding("inside", "17 tokens, and a query bias: logits off by", biased.misfit, "≤", 1e-10),
        Finding("outside", "8 tokens, $d_{qk} = 2$ where 7 are needed", narrow.misfit, "≥", 0.05),
        Finding("outside", "24 tokens of width 16: logits off by", dependent.misfit, "≥", 0.1),
        Finding("outside", "200 new inputs: output off by, median", float(np.median(of_layer)), "≥", 0.5),
        Finding(
            "support", "new inputs that averaging does better on", np.sum(of_layer > of_mean).item(), "≥", 100
        ),
        Finding(
            "support", "new inputs that the layer does better on", np.sum(of_layer < of_mean).item(), ">", 0
        ),
        Finding("support", "$d_{qk} = 1$, through a random target: off by", gap(hit, target), "≤", 1e-10),
    )
    return findings


@claim(
    23,
    note=1,
    section="8.2.2",
    says="So a stack of self-attention layers is in essence equivalent to a single attention layer.",
    verdict="false",
    holds=(
        "In one head, a query's log-odds between two keys depend on no third token; in $A_2 A_1$, for "
        "random weights, they do. For any number of heads, without mask and LayerNorm: to third order "
        "in the input, one layer multiplies only the query by a function of the tokens' covariance, two "
        "layers their mean as well. With patterns frozen, a layer of $h$ heads has rank at most $h$ and "
        "two layers at most $h^2$, within $n^2 - n + 1$ and $d^2$."
    ),
    references=("elhage2021mathematical",),
)
def claim_23() -> Findings:
    """Move a token that is neither query nor key; move all tokens, for any number of heads; count ranks."""
    rng = np.random.default_rng(23)
    encoder = attention_only(rng, depth=2)
    x = rng.normal(size=(100, 3, 16))
    x[:, :2] = x[0, :2]  # a hundred third tokens beside the same two
    A_1, A_2 = (pattern[:, 0] for pattern in encoder.trace(x).attention)
    one, two = (float(np.ptp(log_odds(pattern, 0, 0, 1))) for pattern in (A_1, A_2 @ A_1))
    wide = attention_only(rng, depth=2, n_heads=4)
    tokens = rng.normal(size=(8, 16))
    shallow = wide.switch(depth=1)
    taught = load("student")
    errors = {
        depth: taught.measure("relative error", n=4, logit_scale=2.0, depth=depth, n_heads=1)
        for depth in (1, 2)
    }
    ranks = [operator_rank(paths(model, model.trace(tokens))) for model in (shallow, wide)]
    findings = (
        Finding("counterexample", "log-odds in $A_2A_1$ over 100 third tokens: range", two, "≥", 0.1),
        Finding("support", "in one head: range", one, "≤", 1e-12),
        Finding(
            "counterexample",
            "third-order term of two layers of four heads: the part that no single layer has",
            query_defect(wide, tokens),
            "≥",
            0.1,
        ),
        Finding("support", "the same part, in one layer of four", query_defect(shallow, tokens), "≤", 1e-6),
        Finding(
            "support", "trained student of 1 layer, teacher of 2: error", errors[1].min().item(), "≥", 0.1
        ),
        Finding("support", "trained student of 2 layers: the same", errors[2].max().item(), "≤", 0.01),
        Finding("support", "rank of two layers of four heads, frozen", ranks[1], "=", 16),
        Finding("support", "rank of one layer, frozen", ranks[0], "=", 4),
    )
    return findings


@claim(
    24,
    note=1,
    section="8.2.2",
    says="Without elementwise nonlinearities between the layers the stack stays linear.",
    verdict="false",
    holds=(
        "It is exactly affine for a lone token, for equal tokens, and for the first token of a causal "
        "model, at any depth, without LayerNorm. Two different tokens are enough to end it."
    ),
)
def claim_24() -> Findings:
    """Ask the same six layers about one token, equal tokens, the first and the second of a causal model."""
    rng = np.random.default_rng(24)
    encoder = attention_only(rng, depth=6, n_heads=4, residual=True)
    W, b = lone_token_map(encoder)
    x, y = rng.normal(size=(2, 6, 16))
    equal = np.broadcast_to(x[:1], x.shape).copy()
    causal = causal_mask(6)
    findings = (
        Finding(
            "counterexample",
            "six different tokens: additivity defect",
            additivity_defect(encoder, x, y),
            "≥",
            0.1,
        ),
        Finding(
            "counterexample",
            "second token of a causal model",
            _causal_defect(encoder, x, y, 1, causal),
            "≥",
            0.05,
        ),
        Finding("support", "one token against one matrix", gap(encoder(x[:1]), x[:1] @ W + b), "≤", 1e-12),
        Finding("support", "six equal tokens", gap(encoder(equal), equal @ W + b), "≤", 1e-12),
        Finding(
            "support", "first token of a causal model", gap(encoder(x, causal)[0], x[0] @ W + b), "≤", 1e-12
        ),
    )
    return findings


@claim(
    62,
    note=1,
    section="8.2",
    says="What is derived for one head is stated for multi-head attention, in encoders and decoders alike.",
    verdict="false",
    holds=(
        "The derivation has one head and no $W_O$, skip, LayerNorm or mask. With several heads or a "
        "skip, two layers are a sum of many terms, which no single $A X W$ equals even with the "
        "patterns frozen. A decoder also reads a second sequence."
    ),
    references=("vaswani2017attention",),
)
def claim_62() -> Findings:
    """Ask how much of two layers one pattern with one map can hold, once heads or a skip join in."""
    rng = np.random.default_rng(62)
    x = rng.normal(size=(8, 16))
    cases = {
        "four heads": attention_only(rng, depth=2, n_heads=4),
        "one head and a skip": attention_only(rng, depth=2, residual=True),
    }
    alone = attention_only(rng, depth=2)
    findings = [
        Finding(
            "counterexample", f"{name}: what the best $A X W$ misses", _beyond_rank_one(model, x), "≥", 0.1
        )
        for name, model in cases.items()
    ]
    findings.append(Finding("support", "one head, no skip: the same", _beyond_rank_one(alone, x), "≤", 1e-7))
    return tuple(findings)


def _causal_defect(encoder: Encoder, x: FloatArray, y: FloatArray, t: int, mask: BoolArray) -> float:
    return additivity_defect(lambda z: encoder(z, mask)[t], x, y)


def _beyond_rank_one(encoder: Encoder, x: FloatArray) -> float:
    """Return the share of the frozen operator's norm that its best single term A X W misses."""
    values = operator_singular_values(paths(encoder, encoder.trace(x)))
    return float(np.linalg.norm(values[1:]) / np.linalg.norm(values))
