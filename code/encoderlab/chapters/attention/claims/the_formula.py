"""Claims 11 to 13, 16 and 31: what the formula of attention says (note 1, section 8.2.1)."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.attention.hull import distance_outside, minkowski_sum
from encoderlab.chapters.attention.linearity import (
    unit_weights,
)
from encoderlab.chapters.attention.saturation import softmax_jacobian
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.model.attention import (
    causal_mask,
    merge_heads,
    multi_head_attention,
    softmax,
)
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.linear import linear
from encoderlab.model.measures import gap, largest


@claim(
    11,
    note=1,
    section="8.2.1",
    says="Queries, keys and values are linear in the input: $Q = XW_Q$, $K = XW_K$, $V = XW_V$.",
    verdict="exact",
    holds=(
        "With biases they are affine. The bias of the keys does nothing at all: it adds the same "
        "number to all logits of a row, which softmax ignores."
    ),
)
def claim_11() -> Findings:
    """Add two inputs, with and without biases, and give the keys another bias."""
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(2, 6, 8))
    bare = unit_weights(rng)
    b_Q, b_K, other_Q, other_K = rng.normal(size=(4, 8))
    biased = bare._replace(b_Q=b_Q, b_K=b_K)
    pattern, with_key, with_query = (
        multi_head_attention(x, w, 2)[1].pattern
        for w in (biased, biased._replace(b_K=10 * other_K), biased._replace(b_Q=10 * other_Q))
    )
    worst = max(gap(linear(x + y, W), linear(x, W) + linear(y, W)) for W in bare[:3])
    together = linear(x + y, bare.W_Q, b_Q) + b_Q  # Q(0) is the bias
    apart = linear(x, bare.W_Q, b_Q) + linear(y, bare.W_Q, b_Q)
    findings = (
        Finding("identity", "worst additivity defect of $Q$, $K$ and $V$", worst, "≤", 1e-14),
        Finding("identity", "biased: $Q(X+Y) + Q(0)$ less $Q(X) + Q(Y)$", gap(together, apart), "≤", 1e-14),
        Finding("support", "another key bias changes weights by", largest(with_key - pattern), "≤", 1e-13),
        Finding("support", "another query bias, by", largest(with_query - pattern), "≥", 0.1),
    )
    return findings


@claim(
    12,
    note=1,
    section="8.2.1",
    says=(
        "The weights are $A = \\operatorname{softmax}(QK^\\top/\\sqrt d)$, with $W_Q$ and $W_K$ of shape "
        "$d \\times d$."
    ),
    verdict="exact",
    holds=(
        "The note declares one head, as wide as $X$, and there the formula is exact. With several the "
        "divisor is $\\sqrt{d_\\text{head}}$, the width in which a query meets a key: it keeps the variance "
        "of a logit at 1 when queries and keys are independent with unit variance, and $\\sqrt d$ would "
        "leave $1/h$ of it."
    ),
    references=("vaswani2017attention",),
)
def claim_12() -> Findings:
    """Measure the variance of a logit with one head and with eight, under both divisors."""
    rng = np.random.default_rng(12)
    d, x = 64, rng.normal(size=(10, 60, 64))
    weights = unit_weights(rng, d)
    _, one = multi_head_attention(x, weights, 1)
    _, eight = multi_head_attention(x, weights, 8)
    by_width_1, by_width_8 = (t.Q @ t.K.swapaxes(-1, -2) / t.Q.shape[-1] ** 0.5 for t in (one, eight))
    by_d = eight.Q @ eight.K.swapaxes(-1, -2) / d**0.5
    x_Q, x_K = x @ weights.W_Q, x @ weights.W_K  # (10, 60, 64)
    as_written = gap(softmax(x_Q @ x_K.swapaxes(-1, -2) / d**0.5), one.pattern[:, 0])
    by_hand = gap(softmax(by_width_8), eight.pattern)
    findings = (
        Finding("identity", "1 head of width 64: the pattern against the formula", as_written, "≤", 1e-13),
        Finding(
            "support", "1 head, by √64: distance of the variance from 1", abs(by_width_1.var() - 1), "≤", 0.15
        ),
        Finding("support", "8 heads, by √8: the same", abs(by_width_8.var() - 1), "≤", 0.15),
        Finding(
            "support", "8 heads: the pattern against softmax of $QK^\\top/\\sqrt 8$", by_hand, "≤", 1e-13
        ),
        Finding("support", "8 heads, by √64: distance of the variance from 1", abs(by_d.var() - 1), "≥", 0.8),
    )
    return findings


@claim(
    13,
    note=1,
    section="8.2.1",
    says="The output $H = AV$ is a weighted sum of the values.",
    verdict="exact",
    holds=(
        "A weighted mean: each head's output lies in the convex hull of that head's value rows, masked "
        "or not, as long as a token sees at least one. Heads side by side may leave the hull of the "
        "full value rows, and after $W_O$ the output lies in a sum of hulls, one for each head."
    ),
)
def claim_13() -> Findings:
    """Look for outputs outside the hulls that should hold them, in the plane."""
    rng = np.random.default_rng(13)
    one_head, masked, each_head, together, projected = [], [], [], [], []
    for _ in range(30):
        x, weights = rng.normal(size=(6, 2)), unit_weights(rng, 2)
        _, one = multi_head_attention(x, weights, 1)
        _, causal = multi_head_attention(x, weights, 1, causal_mask(6))
        output, two = multi_head_attention(x, weights, 2)
        one_head.append(distance_outside(one.heads, one.V[0]).max())
        masked.append(distance_outside(causal.heads, causal.V[0]).max())
        low, high = two.V.min(axis=1).T, two.V.max(axis=1).T  # (1, 2): each head's values are an interval
        each_head.append(max((two.heads - high).max(), (low - two.heads).max(), 0))
        together.append(distance_outside(two.heads, merge_heads(two.V)).max())
        of_head = [two.V[h] @ weights.W_O[h : h + 1] for h in range(2)]  # 2 times (6, 2)
        projected.append(distance_outside(output, minkowski_sum(*of_head)).max())
    findings = (
        Finding("identity", "1 head: farthest outside the hull of its values", max(one_head), "≤", 1e-12),
        Finding("identity", "1 head, causal mask: the same", max(masked), "≤", 1e-12),
        Finding("identity", "2 heads: the same for each", max(each_head), "≤", 1e-12),
        Finding(
            "support", "2 heads side by side: outside the hull of the full rows", max(together), "≥", 0.1
        ),
        Finding("support", "after $W_O$: outside the sum of both heads' hulls", max(projected), "≤", 1e-12),
    )
    return findings


@claim(
    16,
    note=1,
    section="8.2.1",
    says="Softmax acts on attention scores, which are scalars, and not on the representation's elements.",
    verdict="loose",
    holds=(
        "It acts on scores, and on whole rows of them: its Jacobian is "
        "$\\operatorname{diag}(a) - aa^\\top$, which is full. That it leaves the representation linear "
        "does not follow; see claim 18."
    ),
)
def claim_16() -> Findings:
    """Move one score at a time and see which weights move."""
    rng = np.random.default_rng(16)
    scores, others = rng.normal(size=(2, 4, 6))
    others[0] = scores[0]
    steps = 1e-5 * np.eye(6)
    columns = [(softmax(scores + step) - softmax(scores - step)) / 2e-5 for step in steps]
    numerical = np.stack(columns, axis=-1)  # (4, 6, 6)
    formula = largest(softmax_jacobian(softmax(scores)) - numerical)
    other_rows = largest(softmax(others)[0] - softmax(scores)[0])
    others_in_row = largest(numerical * (1 - np.eye(6)))
    findings = (
        Finding("precise", "$\\operatorname{diag}(a) - aa^\\top$ against differences", formula, "≤", 1e-9),
        Finding("precise", "effect of other rows on a row's weights", other_rows, "=", 0),
        Finding("as stated", "effect of a score on another's weight: at most", others_in_row, "≥", 0.05),
    )
    return findings


@claim(
    31,
    note=1,
    section="8.2.2",
    says="Self-attention cannot perceive the order of a sequence.",
    verdict="conditional",
    holds=(
        "Without positions and without a mask it is permutation-equivariant, and so is the whole "
        "encoder. A causal mask breaks that; yet at depth 1 the last token is still blind to the order "
        "of those before it, and at depth 2 no longer."
    ),
    references=("haviv2022transformer",),
)
def claim_31() -> Findings:
    """Reorder the tokens, without a mask and with a causal one, and look at the last of them."""
    rng = np.random.default_rng(31)
    two_layers = Encoder.random(EncoderConfig(d_model=16, n_heads=4, d_ff=32, depth=2), rng)
    one_layer = two_layers.switch(depth=1)
    x, mask = rng.normal(size=(8, 16)), causal_mask(8)
    order = [3, 0, 6, 1, 5, 2, 4, 7]  # the last token stays last
    free = gap(two_layers(x[order]), two_layers(x)[order])
    causal = gap(two_layers(x[order], mask), two_layers(x, mask)[order])
    last_1, last_2 = (gap(f(x[order], mask)[-1], f(x, mask)[-1]) for f in (one_layer, two_layers))
    findings = (
        Finding("inside", "no mask: output of reordered tokens less reordered output", free, "≤", 1e-13),
        Finding("outside", "causal mask: the same", causal, "≥", 0.1),
        Finding("support", "causal mask, 1 layer: change of the last token", last_1, "≤", 1e-13),
        Finding("support", "causal mask, 2 layers: the same", last_2, "≥", 0.01),
    )
    return findings
