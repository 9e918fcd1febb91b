"""Claims 14, 15, 17 to 19, 32 and 61: how linear attention is (note 1, section 8.2.1)."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.attention.linearity import (
    additivity_defect,
    attend,
    attention_map,
    frozen_matrix,
    sweep,
    unit_weights,
)
from encoderlab.chapters.attention.xor import (
    ANSWER,
    as_tokens,
    behind_constant_token,
    xor_with_constant_token,
)
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import (
    AttentionWeights,
    multi_head_attention,
    multi_head_attention_vjp,
    softmax,
)
from encoderlab.model.jacobian import jacobian
from encoderlab.model.linear import linear
from encoderlab.model.measures import affine_misfit, degree, gap


@claim(
    14,
    note=1,
    section="8.2.1",
    says="$QK^\\top$ is a linear operation, since it is a matrix product.",
    verdict="false",
    holds=(
        "Both factors depend on $X$. Without biases the scores are a quadratic form, $S(3X) = 9\\,S(X)$; "
        "with them a polynomial of degree 2."
    ),
)
def claim_14() -> Findings:
    """Multiply the input by three, and add two inputs."""
    rng = np.random.default_rng(14)
    x, y = rng.normal(size=(2, 6, 8))
    weights = unit_weights(rng)

    def scores(z: FloatArray) -> FloatArray:
        return linear(z, weights.W_Q) @ linear(z, weights.W_K).T

    tripled = gap(scores(3 * x), 9 * scores(x))
    findings = (
        Finding("counterexample", "$k$ in $S(2X) = 2^k S(X)$ (linear: 1)", degree(scores, x), "≥", 1.99),
        Finding("counterexample", "additivity defect of $S$", additivity_defect(scores, x, y), "≥", 0.5),
        Finding("support", "$S(3X)$ against $9\\,S(X)$", tripled, "≤", 1e-14),
    )
    return findings


@claim(
    15,
    note=1,
    section="8.2.1",
    says="Softmax is the only nonlinear part of attention.",
    verdict="false",
    holds="Without softmax the layer would be $XW_QW_K^\\top X^\\top XW_V$, which is cubic in $X$.",
)
def claim_15() -> Findings:
    """Leave softmax out and see what is left."""
    rng = np.random.default_rng(15)
    x, y = rng.normal(size=(2, 6, 8))
    weights = unit_weights(rng)

    def product(z: FloatArray) -> FloatArray:
        Q, K, V = (linear(z, W) for W in weights[:3])
        return Q @ K.T @ V

    power, defect = degree(product, x), additivity_defect(product, x, y)
    findings = (
        Finding("counterexample", "$QK^\\top V$: $k$ in $f(2X) = 2^k f(X)$ (linear: 1)", power, "≥", 2.99),
        Finding("counterexample", "$QK^\\top V$: additivity defect", defect, "≥", 0.5),
    )
    return findings


@claim(
    17,
    note=1,
    section="8.2.1",
    says="The weighted sum $AV$ is linear.",
    verdict="conditional",
    holds="Linear in $V$ while $A$ is fixed. Both come from $X$, and in $X$ their product is not linear.",
)
def claim_17() -> Findings:
    """Add two inputs under one fixed pattern, and under their own."""
    rng = np.random.default_rng(17)
    x, y, z = rng.normal(size=(3, 6, 8))
    weights = unit_weights(rng)
    pattern = multi_head_attention(z, weights, 2)[1].pattern
    frozen = additivity_defect(lambda v: attend(v, pattern, weights), x, y)
    live = additivity_defect(attention_map(weights, 2), x, y)
    findings = (
        Finding("inside", "pattern fixed: additivity defect", frozen, "≤", 1e-14),
        Finding("outside", "pattern set by the input: additivity defect", live, "≥", 0.3),
    )
    return findings


@claim(
    18,
    note=1,
    section="8.2.1",
    says=(
        "So the output $H$ of self-attention is in essence a linear transformation of $X$, only that the "
        "attention weights $A$ bring in a dynamic weighting."
    ),
    verdict="false",
    holds=(
        "With the pattern frozen it is linear, "
        "$\\operatorname{vec} H = \\sum_h (W_V^h W_O^h)^\\top \\otimes A_h\\, \\operatorname{vec} X$. "
        "The qualifier is the whole of the difference: a matrix that depends on what it is applied to is no "
        "linear map. With the pattern live and logits of unit size $f(X + Y)$ misses $f(X) + f(Y)$ by about "
        "half the size of that sum when there are two tokens, and by about all of it when there are twelve; "
        "$f(2X)$ misses by more the more tokens there are. What is true: near $X = 0$ attention is nearly "
        "linear, and it is odd, $f(-X) = -f(X)$, if $b_Q = b_V = b_O = 0$. On unbounded inputs its slope has "
        "no bound."
    ),
    references=("kim2021lipschitz",),
)
def claim_18() -> Findings:
    """Compare attention with the matrix it is when frozen; then look at small, opposite and large inputs."""
    rng = np.random.default_rng(18)
    x, y = rng.normal(size=(2, 12, 32))
    weights = unit_weights(rng, 32)
    f = attention_map(weights, 4)
    biased = attention_map(weights._replace(b_Q=rng.normal(size=32)), 4)
    output, trace = multi_head_attention(x, weights, 4)
    as_matrix = gap(frozen_matrix(trace.pattern, weights) @ x.T.ravel(), output.T.ravel())
    least = sweep([1.0], np.random.default_rng(18)).additivity.min()
    two, many = (sweep([1.0], np.random.default_rng(18), n=n, draws=21) for n in (2, 128))
    additivity = float(np.median(two.additivity))
    doubled, doubled_many = (float(np.median(draws.homogeneity)) for draws in (two, many))
    small = additivity_defect(f, x / 100, y / 100)
    steeper = _steepness(10.0) / _steepness(1.0)
    findings = (
        Finding("counterexample", "12 tokens: least additivity defect of 40 draws", least, "≥", 0.5),
        Finding("counterexample", "2 tokens: median additivity defect of 21 draws", additivity, "≥", 0.3),
        Finding("support", "2 tokens: median defect of $f(2X)$", doubled, "≤", 0.6),
        Finding("support", "128 tokens: the same", doubled_many, "≥", 1.5),
        Finding("support", "pattern frozen: one matrix against the layer", as_matrix, "≤", 1e-13),
        Finding("support", "no biases: $f(-X)$ against $-f(X)$", gap(f(-x), -f(x)), "≤", 1e-13),
        Finding("support", "with a query bias: the same", gap(biased(-x), -biased(x)), "≥", 0.1),
        Finding("support", "inputs a hundredth as large: additivity defect", small, "≤", 1e-3),
        Finding("support", "steepness at $(0, t, -t)$: $t = 10$ over $t = 1$", steeper, "≥", 20),
    )
    return findings


@claim(
    19,
    note=1,
    section="8.2.1",
    says="Softmax only affects how the weights are distributed, and transforms no output directly.",
    verdict="loose",
    holds=(
        "True that softmax acts on the weights alone; but at logits of unit size much of attention's "
        "derivative, by size, flows through them, a quarter to a third with 2 tokens, half with 8 and "
        "more with many, so they are not a detail. The share vanishes for small logits and grows with "
        "them. When softmax saturates it vanishes again for typical inputs of few tokens; with many some "
        "rows are always near a tie, and it stays."
    ),
)
def claim_19() -> Findings:
    """Split the derivative of attention into what flows through the pattern and what does not."""
    draws = sweep([0.01, 1.0, 10.0, 1000.0], np.random.default_rng(19), n=8, d_model=16, n_heads=1)
    small, unit, large, saturated = np.median(draws.pattern_share, axis=1)
    few, many = (
        np.median(
            sweep(
                [1.0, 1000.0], np.random.default_rng(19), n=n, d_model=16, n_heads=1, draws=21
            ).pattern_share,
            axis=1,
        )
        for n in (2, 128)
    )
    x, y, z = np.random.default_rng(19).normal(size=(3, 6, 8))
    weights = unit_weights(np.random.default_rng(20))
    pattern = multi_head_attention(z, weights, 2)[1].pattern
    frozen = additivity_defect(lambda v: attend(v, pattern, weights), x, y)
    findings = (
        Finding("precise", "weights fixed: additivity defect", frozen, "≤", 1e-14),
        Finding("as stated", "8 tokens, logits of size 1: share of the derivative through A", unit, "≥", 0.4),
        Finding("as stated", "2 tokens: the same", few[0], "≥", 0.2),
        Finding("as stated", "128 tokens: the same", many[0], "≥", 0.6),
        Finding("as stated", "8 tokens, logits of size 10: the same", large, "≥", 0.6),
        Finding("support", "8 tokens, logits of size 0.01: the same", small, "≤", 0.03),
        Finding("support", "8 tokens, logits of size 1000: the same", saturated, "≤", 0.01),
        Finding("support", "128 tokens, logits of size 1000: the same", many[1], "≥", 0.5),
    )
    return findings


@claim(
    32,
    note=1,
    section="8.2.2",
    says="Self-attention has the defect of containing no nonlinear transformation.",
    verdict="false",
    holds=(
        "One head multiplies two features of a token: with a constant token beside it, it returns "
        "$-\\tanh(c\\,x_1x_2/2)/2$, of which the best affine map explains next to nothing."
    ),
)
def claim_32() -> Findings:
    """Let one head multiply two features of a token, which no affine map can."""
    x = np.random.default_rng(32).normal(size=(200, 2))
    tokens = behind_constant_token(as_tokens(x, 3))
    answers = xor_with_constant_token(1.0)(tokens)[:, 1, ANSWER]
    by_hand = gap(answers, -np.tanh(x[:, 0] * x[:, 1] / 2) / 2)
    misfit = affine_misfit(x, answers[:, None])
    findings = (
        Finding("counterexample", "one head: share that no affine map explains", misfit, "≥", 0.9),
        Finding("support", "one head against $-\\tanh(x_1x_2/2)/2$", by_hand, "≤", 1e-13),
    )
    return findings


@claim(
    61,
    note=1,
    section="8.2.2",
    says="Softmax is nonlinear; and attention has no nonlinear transformation.",
    verdict="false",
    holds=(
        "The two halves exclude each other, since the output depends on what softmax returns. They would "
        "agree if its weights did not depend on the input."
    ),
)
def claim_61() -> Findings:
    """Ask whether the nonlinearity that the note grants softmax reaches the output."""
    rng = np.random.default_rng(61)
    s, t = rng.normal(size=(2, 6))
    x, y = rng.normal(size=(2, 6, 8))
    weights, uniform = unit_weights(rng), np.full((2, 6, 6), 1 / 6)
    alone = additivity_defect(softmax, s, t)
    layer = additivity_defect(attention_map(weights, 2), x, y)
    constant = additivity_defect(lambda z: attend(z, uniform, weights), x, y)
    findings = (
        Finding("counterexample", "softmax: additivity defect", alone, "≥", 0.3),
        Finding("counterexample", "attention: additivity defect", layer, "≥", 0.3),
        Finding("support", "attention with constant weights: additivity defect", constant, "≤", 1e-14),
    )
    return findings


def _steepness(t: float) -> float:
    """Spectral norm of the Jacobian of attention with unit weights, at the tokens 0, t and −t of width 1."""
    x, one = np.array([[0.0], [t], [-t]]), np.ones((1, 1))
    weights = AttentionWeights(one, one, one, one)
    _, trace = multi_head_attention(x, weights, 1)
    J = jacobian(lambda g: multi_head_attention_vjp(g, x, weights, trace)[0], x.shape)
    return float(np.linalg.norm(J, 2))
