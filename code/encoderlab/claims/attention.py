"""Claims 11 to 19, 26, 28, 30 to 32, 61 and 64, on attention (note 1, section 8.2), each with its check."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from encoderlab import results
from encoderlab.attention import (
    AttentionWeights,
    causal_mask,
    merge_heads,
    multi_head_attention,
    multi_head_attention_vjp,
    softmax,
)
from encoderlab.bends.affine import Affine, random_stack
from encoderlab.bends.gates import lstm_cell
from encoderlab.bends.perceptron import perceptron
from encoderlab.claims.model import Claim, Evidence, Finding
from encoderlab.distance import gap, size
from encoderlab.elementwise import sigmoid
from encoderlab.encoder import Encoder, EncoderConfig
from encoderlab.feed_forward import FeedForwardWeights, feed_forward, feed_forward_vjp
from encoderlab.gradients.jacobian import jacobian
from encoderlab.linear import linear
from encoderlab.mixing.hull import distance_outside, minkowski_sum
from encoderlab.mixing.linearity import additivity_defect, attend, attention_map, frozen_matrix, sweep
from encoderlab.mixing.lone_token import lone_token_map
from encoderlab.mixing.neurons import heads_as_neurons, silu
from encoderlab.mixing.saturation import softmax_jacobian
from encoderlab.mixing.xor import (
    ANSWER,
    as_tokens,
    behind_constant_token,
    corners,
    parity_of,
    parity_with_layer_norm,
    xor_with_constant_token,
    xor_with_ffn,
)
from encoderlab.validation import FloatArray


def check_11() -> Evidence:
    """Add two inputs, with and without biases, and give the keys another bias."""
    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(2, 6, 8))
    bare = _random_weights(rng)
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
        Finding("support", "another key bias changes weights by", _largest(with_key - pattern), "≤", 1e-13),
        Finding("support", "another query bias, by", _largest(with_query - pattern), "≥", 0.1),
    )
    return Evidence(findings)


def check_12() -> Evidence:
    """Measure the variance of a logit with one head and with eight, under both divisors."""
    rng = np.random.default_rng(12)
    d, x = 64, rng.normal(size=(10, 60, 64))
    weights = _random_weights(rng, d)
    _, one = multi_head_attention(x, weights, 1)
    _, eight = multi_head_attention(x, weights, 8)
    by_width_1, by_width_8 = (t.Q @ t.K.swapaxes(-1, -2) / t.Q.shape[-1] ** 0.5 for t in (one, eight))
    by_d = eight.Q @ eight.K.swapaxes(-1, -2) / d**0.5
    by_hand = gap(softmax(by_width_8), eight.pattern)
    findings = (
        Finding(
            "precise", "1 head, by √64: distance of the variance from 1", abs(by_width_1.var() - 1), "≤", 0.15
        ),
        Finding("precise", "8 heads, by √8: the same", abs(by_width_8.var() - 1), "≤", 0.15),
        Finding(
            "precise", "the encoder's pattern against softmax of $QK^\\top/\\sqrt 8$", by_hand, "≤", 1e-13
        ),
        Finding(
            "as stated", "8 heads, by √64: distance of the variance from 1", abs(by_d.var() - 1), "≥", 0.8
        ),
    )
    return Evidence(findings)


def check_13() -> Evidence:
    """Look for outputs outside the hulls that should hold them, in the plane."""
    rng = np.random.default_rng(13)
    one_head, masked, each_head, together, projected = [], [], [], [], []
    for _ in range(30):
        x, weights = rng.normal(size=(6, 2)), _random_weights(rng, 2)
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
    return Evidence(findings)


def check_14() -> Evidence:
    """Multiply the input by three, and add two inputs."""
    rng = np.random.default_rng(14)
    x, y = rng.normal(size=(2, 6, 8))
    weights = _random_weights(rng)

    def scores(z: FloatArray) -> FloatArray:
        return linear(z, weights.W_Q) @ linear(z, weights.W_K).T

    tripled = gap(scores(3 * x), 9 * scores(x))
    findings = (
        Finding("counterexample", "$k$ in $S(2X) = 2^k S(X)$ (linear: 1)", _degree(scores, x), "≥", 1.99),
        Finding("counterexample", "additivity defect of $S$", additivity_defect(scores, x, y), "≥", 0.5),
        Finding("support", "$S(3X)$ against $9\\,S(X)$", tripled, "≤", 1e-14),
    )
    return Evidence(findings)


def check_15() -> Evidence:
    """Leave softmax out and see what is left."""
    rng = np.random.default_rng(15)
    x, y = rng.normal(size=(2, 6, 8))
    weights = _random_weights(rng)

    def product(z: FloatArray) -> FloatArray:
        Q, K, V = (linear(z, W) for W in weights[:3])
        return Q @ K.T @ V

    degree, defect = _degree(product, x), additivity_defect(product, x, y)
    findings = (
        Finding("counterexample", "$QK^\\top V$: $k$ in $f(2X) = 2^k f(X)$ (linear: 1)", degree, "≥", 2.99),
        Finding("counterexample", "$QK^\\top V$: additivity defect", defect, "≥", 0.5),
    )
    return Evidence(findings)


def check_16() -> Evidence:
    """Move one score at a time and see which weights move."""
    rng = np.random.default_rng(16)
    scores, others = rng.normal(size=(2, 4, 6))
    others[0] = scores[0]
    steps = 1e-5 * np.eye(6)
    columns = [(softmax(scores + step) - softmax(scores - step)) / 2e-5 for step in steps]
    numerical = np.stack(columns, axis=-1)  # (4, 6, 6)
    formula = _largest(softmax_jacobian(softmax(scores)) - numerical)
    other_rows = _largest(softmax(others)[0] - softmax(scores)[0])
    others_in_row = _largest(numerical * (1 - np.eye(6)))
    findings = (
        Finding("precise", "$\\operatorname{diag}(a) - aa^\\top$ against differences", formula, "≤", 1e-9),
        Finding("precise", "effect of other rows on a row's weights", other_rows, "=", 0),
        Finding("as stated", "effect of a score on another's weight: at most", others_in_row, "≥", 0.05),
    )
    return Evidence(findings)


def check_17() -> Evidence:
    """Add two inputs under one fixed pattern, and under their own."""
    rng = np.random.default_rng(17)
    x, y, z = rng.normal(size=(3, 6, 8))
    weights = _random_weights(rng)
    pattern = multi_head_attention(z, weights, 2)[1].pattern
    frozen = additivity_defect(lambda v: attend(v, pattern, weights), x, y)
    live = additivity_defect(attention_map(weights, 2), x, y)
    findings = (
        Finding("inside", "pattern fixed: additivity defect", frozen, "≤", 1e-14),
        Finding("outside", "pattern set by the input: additivity defect", live, "≥", 0.3),
    )
    return Evidence(findings)


def check_18() -> Evidence:
    """Compare attention with the matrix it is when frozen; then look at small, opposite and large inputs."""
    rng = np.random.default_rng(18)
    x, y = rng.normal(size=(2, 12, 32))
    weights = _random_weights(rng, 32)
    f = attention_map(weights, 4)
    biased = attention_map(weights._replace(b_Q=rng.normal(size=32)), 4)
    output, trace = multi_head_attention(x, weights, 4)
    as_matrix = gap(frozen_matrix(trace.pattern, weights) @ x.T.ravel(), output.T.ravel())
    least = sweep([1.0], np.random.default_rng(18)).additivity.min()
    small = additivity_defect(f, x / 100, y / 100)
    steeper = _steepness(10.0) / _steepness(1.0)
    findings = (
        Finding("counterexample", "least additivity defect of 40 draws", least, "≥", 0.5),
        Finding("support", "pattern frozen: one matrix against the layer", as_matrix, "≤", 1e-13),
        Finding("support", "no biases: $f(-X)$ against $-f(X)$", gap(f(-x), -f(x)), "≤", 1e-13),
        Finding("support", "with a query bias: the same", gap(biased(-x), -biased(x)), "≥", 0.1),
        Finding("support", "inputs a hundredth as large: additivity defect", small, "≤", 1e-3),
        Finding("support", "steepness at $(0, t, -t)$: $t = 10$ over $t = 1$", steeper, "≥", 20),
    )
    return Evidence(findings)


def check_19() -> Evidence:
    """Split the derivative of attention into what flows through the pattern and what does not."""
    draws = sweep([0.01, 1.0, 10.0, 1000.0], np.random.default_rng(19), n=8, d_model=16, n_heads=1)
    small, unit, large, saturated = np.median(draws.pattern_share, axis=1)
    x, y, z = np.random.default_rng(19).normal(size=(3, 6, 8))
    weights = _random_weights(np.random.default_rng(20))
    pattern = multi_head_attention(z, weights, 2)[1].pattern
    frozen = additivity_defect(lambda v: attend(v, pattern, weights), x, y)
    findings = (
        Finding("precise", "weights fixed: additivity defect", frozen, "≤", 1e-14),
        Finding("as stated", "share of the derivative through the weights, logits of size 1", unit, "≥", 0.4),
        Finding("as stated", "logits of size 10: the same", large, "≥", 0.6),
        Finding("support", "logits of size 0.01: the same", small, "≤", 0.03),
        Finding("support", "logits of size 1000: the same", saturated, "≤", 0.01),
    )
    return Evidence(findings)


def check_26() -> Evidence:
    """Build a gate from one head, and look at what it cannot do."""
    rng = np.random.default_rng(26)
    x, direction = rng.normal(size=(100, 5)), rng.normal(size=(5, 1))
    head = heads_as_neurons(FeedForwardWeights(direction, np.ones((1, 5))))
    tokens = behind_constant_token(np.pad(x, ((0, 0), (0, 1)))[:, None])  # (100, 2, 6)
    output, trace = multi_head_attention(tokens, head, 1)
    z = (x @ direction)[:, 0]
    gate, gated = trace.pattern[:, 0, 1, 1], output[:, 1, 0]  # the token's weight on itself, and what it gets
    _, many = multi_head_attention(x, _random_weights(rng, 5), 1)
    _, lone = multi_head_attention(x[:1], _random_weights(rng, 5), 1)
    total = _largest(many.pattern.sum(axis=-1) - 1)
    findings = (
        Finding(
            "counterexample",
            "a head's weight against the gate $\\sigma(z)$",
            gap(gate, sigmoid(z)),
            "≤",
            1e-13,
        ),
        Finding(
            "counterexample", "the head's output against $z\\,\\sigma(z)$", gap(gated, silu(z)), "≤", 1e-13
        ),
        Finding("support", "most that the gates of a row miss a sum of 1", total, "≤", 1e-14),
        Finding("support", "weight of a lone token on itself", lone.pattern.item(), "=", 1),
    )
    return Evidence(findings)


def check_28() -> Evidence:
    """Write out the whole Jacobian of the feed-forward layer, token by token."""
    rng = np.random.default_rng(28)
    x = rng.normal(size=(4, 6))
    weights = FeedForwardWeights(rng.normal(size=(6, 24)), rng.normal(size=(24, 6)), rng.normal(size=24))
    _, trace = feed_forward(x, weights, "gelu")
    J = jacobian(lambda g: feed_forward_vjp(g, x, weights, trace, "gelu")[0], x.shape)
    blocks = J.reshape(4, 6, 4, 6).swapaxes(1, 2)  # (token out, token in, feature out, feature in)
    own = np.eye(4, dtype=np.bool_)
    least = float(np.abs(blocks[own][:, ~np.eye(6, dtype=np.bool_)]).min())
    findings = (
        Finding("counterexample", "effect of a feature on another of its token: at least", least, ">", 1e-4),
        Finding("support", "effect of a token on another: at most", _largest(blocks[~own]), "=", 0),
    )
    return Evidence(findings)


def check_30() -> Evidence:
    """Ask for XOR and parity with the FFN and without, of a lone token and of one beside a constant."""
    rng = np.random.default_rng(30)
    config = EncoderConfig(d_model=8, n_heads=2, d_ff=32, depth=8, ffn=False, norm="none")
    bare = Encoder.random(config, rng)
    encoder = bare.with_parameters({name: rng.normal(size=8) for name in bare.parameters() if ".b_" in name})
    x = rng.normal(size=(50, 1, 8))
    W, b = lone_token_map(encoder)
    affine = gap(encoder(x), x @ W + b)
    bent = _affine_misfit(x[:, 0], encoder.switch(ffn=True)(x)[:, 0])
    two, four = as_tokens(corners(2), 3), as_tokens(corners(4), 4)
    with_ffn = _right(xor_with_ffn()(two))
    with_constant = _right(xor_with_constant_token()(behind_constant_token(two))[:, 1:])
    with_norm = _right(parity_with_layer_norm()(four))
    runs = results.load("lone_token").select(bits=4, residual=True)

    def trained(**settings: object) -> list[float]:
        """Return how many of the 16 inputs each of the runs with these settings got right."""
        chosen = [run for run in runs if settings.items() <= run.settings.items()]
        return [16 * run.measures["accuracy"] for run in chosen]

    bare_runs, helped = trained(bos=False, ffn=False, norm="none"), trained(bos=False, ffn=True)
    beside, one_norm = trained(bos=True, ffn=False), trained(bos=False, ffn=False, norm="post", depth=1)
    findings = (
        Finding("inside", "lone token, 8 layers of attention against one affine map", affine, "≤", 1e-13),
        Finding("inside", "with an FFN in each: share that no affine map explains", bent, "≥", 0.1),
        Finding("inside", "XOR in a lone token, with an FFN: right of 4", with_ffn, "=", 4),
        Finding("outside", "XOR beside a constant token, attention alone: right of 4", with_constant, "=", 4),
        Finding("outside", "parity of 4 bits, two LayerNorms and no FFN: right of 16", with_norm, "=", 16),
        Finding("inside", "trained, neither FFN nor norm: most of 16 right", max(bare_runs), "≤", 11),
        Finding("inside", "trained, with an FFN: fewest of 16 right", min(helped), "=", 16),
        Finding("outside", "trained, no FFN, a constant token: fewest of 16 right", min(beside), "=", 16),
        Finding("support", "trained, one post-LN layer, no FFN: most of 16 right", max(one_norm), "≤", 14),
    )
    return Evidence(findings)


def check_31() -> Evidence:
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
    return Evidence(findings)


def check_32() -> Evidence:
    """Let one head multiply two features of a token, which no affine map can."""
    x = np.random.default_rng(32).normal(size=(200, 2))
    tokens = behind_constant_token(as_tokens(x, 3))
    answers = xor_with_constant_token(1.0)(tokens)[:, 1, ANSWER]
    by_hand = gap(answers, -np.tanh(x[:, 0] * x[:, 1] / 2) / 2)
    misfit = _affine_misfit(x, answers[:, None])
    findings = (
        Finding("counterexample", "one head: share that no affine map explains", misfit, "≥", 0.9),
        Finding("support", "one head against $-\\tanh(x_1x_2/2)/2$", by_hand, "≤", 1e-13),
    )
    return Evidence(findings)


def check_61() -> Evidence:
    """Ask whether the nonlinearity that the note grants softmax reaches the output."""
    rng = np.random.default_rng(61)
    s, t = rng.normal(size=(2, 6))
    x, y = rng.normal(size=(2, 6, 8))
    weights, uniform = _random_weights(rng), np.full((2, 6, 6), 1 / 6)
    alone = additivity_defect(softmax, s, t)
    layer = additivity_defect(attention_map(weights, 2), x, y)
    constant = additivity_defect(lambda z: attend(z, uniform, weights), x, y)
    findings = (
        Finding("counterexample", "softmax: additivity defect", alone, "≥", 0.3),
        Finding("counterexample", "attention: additivity defect", layer, "≥", 0.3),
        Finding("support", "attention with constant weights: additivity defect", constant, "≤", 1e-14),
    )
    return Evidence(findings)


def check_64() -> Evidence:
    """Look for the mark of an activation behind each affine map of three models."""
    rng = np.random.default_rng(64)
    x, h, c = 10 * rng.normal(size=(3, 100, 16))
    _, _, gates = lstm_cell(x, h, c, rng.normal(size=(32, 64)), np.zeros(64))
    layers, unread = random_stack(rng, [16] * 5), Affine(np.eye(16), np.zeros(16))
    hidden = [perceptron(x, [*layers[:depth], unread])[0] for depth in (1, 2, 3)]  # behind each hidden layer
    below = float(np.mean(perceptron(x, layers)[0] < 0))
    layer = Encoder.random(EncoderConfig(d_model=16, n_heads=4, d_ff=64, depth=1), rng).trace(x).layers[0]
    inner = layer.attention_inner
    behind = [inner.Q, inner.K, inner.V, layer.attention.y]
    if layer.ffn is not None and layer.ffn_inner is not None:
        behind += [layer.ffn_inner.activation, layer.ffn.y]
    negative = sorted(float(np.mean(array < 0)) for array in behind)
    lstm = max(_largest(values) for values in gates)
    relus = max(float(np.mean(values < 0)) for values in hidden)
    findings = (
        Finding("inside", "perceptron, 3 hidden layers: largest share of values below 0", relus, "=", 0),
        Finding("inside", "LSTM, large inputs: largest value behind its 4 affine maps", lstm, "≤", 1),
        Finding("outside", "perceptron, output layer: share of values below 0", below, "≥", 0.3),
        Finding("support", "Transformer layer: affine maps", len(negative), "=", 6),
        Finding("support", "of these, with no value below 0 behind", negative.count(0.0), "=", 1),
        Finding("support", "behind the others, share of values below 0: at least", negative[1], "≥", 0.3),
    )
    return Evidence(findings)


def _random_weights(rng: np.random.Generator, d_model: int = 8) -> AttentionWeights:
    return AttentionWeights(*rng.normal(scale=d_model**-0.5, size=(4, d_model, d_model)))


def _largest(x: FloatArray) -> float:
    return float(np.abs(x).max())


def _degree(f: Callable[[FloatArray], FloatArray], x: FloatArray) -> float:
    """Power of 2 by which f grows when its input doubles."""
    return float(np.log2(size(f(2 * x)) / size(f(x))))


def _affine_misfit(x: FloatArray, y: FloatArray) -> float:
    """Share of y, by size, that no affine function of x explains."""
    with_one = np.column_stack([x, np.ones(len(x))])
    return gap(with_one @ np.linalg.lstsq(with_one, y)[0], y)


def _steepness(t: float) -> float:
    """Spectral norm of the Jacobian of attention with unit weights, at the tokens 0, t and −t of width 1."""
    x, one = np.array([[0.0], [t], [-t]]), np.ones((1, 1))
    weights = AttentionWeights(one, one, one, one)
    _, trace = multi_head_attention(x, weights, 1)
    J = jacobian(lambda g: multi_head_attention_vjp(g, x, weights, trace)[0], x.shape)
    return float(np.linalg.norm(J, 2))


def _right(output: FloatArray) -> int:
    """Count the right answers, one token each for all bits of its width, in order."""
    answers = output[:, 0, ANSWER]
    return int(np.sum(np.sign(answers) == parity_of(corners(len(answers).bit_length() - 1))))


CLAIMS = (
    Claim(
        number=11,
        note=1,
        section="8.2.1",
        says="Queries, keys and values are linear in the input: $Q = XW_Q$, $K = XW_K$, $V = XW_V$.",
        verdict="exact",
        holds=(
            "With biases they are affine. The bias of the keys does nothing at all: it adds the same "
            "number to all logits of a row, which softmax ignores."
        ),
        chapter="attention",
        check=check_11,
    ),
    Claim(
        number=12,
        note=1,
        section="8.2.1",
        says="The weights are $A = \\operatorname{softmax}(QK^\\top/\\sqrt d)$; $X$ has the width $d$.",
        verdict="loose",
        holds=(
            "The divisor is $\\sqrt{d_\\text{head}}$, the width in which a query meets a key. It keeps the "
            "variance of a logit at 1 when queries and keys are independent with unit variance; with "
            "$\\sqrt d$ and $h$ heads it would be $1/h$. The note writes one head, where the two agree."
        ),
        chapter="attention",
        check=check_12,
        references=("vaswani2017attention",),
    ),
    Claim(
        number=13,
        note=1,
        section="8.2.1",
        says="The output $H = AV$ is a weighted sum of the values.",
        verdict="exact",
        holds=(
            "A weighted mean: each head's output lies in the convex hull of that head's value rows, masked "
            "or not, as long as a token sees at least one. Heads side by side may leave the hull of the "
            "full value rows, and after $W_O$ the output lies in a sum of hulls, one for each head."
        ),
        chapter="attention",
        check=check_13,
    ),
    Claim(
        number=14,
        note=1,
        section="8.2.1",
        says="$QK^\\top$ is a linear operation, since it is a matrix product.",
        verdict="false",
        holds=(
            "Both factors depend on $X$. Without biases the scores are a quadratic form, $S(3X) = 9\\,S(X)$; "
            "with them a polynomial of degree 2."
        ),
        chapter="attention",
        check=check_14,
    ),
    Claim(
        number=15,
        note=1,
        section="8.2.1",
        says="Softmax is the only nonlinear part of attention.",
        verdict="false",
        holds="Without softmax the layer would be $XW_QW_K^\\top X^\\top XW_V$, which is cubic in $X$.",
        chapter="attention",
        check=check_15,
    ),
    Claim(
        number=16,
        note=1,
        section="8.2.1",
        says="Softmax acts on attention scores, which are scalars, and not on the representation's elements.",
        verdict="loose",
        holds=(
            "It acts on scores, and on whole rows of them: its Jacobian is "
            "$\\operatorname{diag}(a) - aa^\\top$, which is full. That it leaves the representation linear "
            "does not follow; see claim 18."
        ),
        chapter="attention",
        check=check_16,
    ),
    Claim(
        number=17,
        note=1,
        section="8.2.1",
        says="The weighted sum $AV$ is linear.",
        verdict="conditional",
        holds="Linear in $V$ while $A$ is fixed. Both come from $X$, and in $X$ their product is not linear.",
        chapter="attention",
        check=check_17,
    ),
    Claim(
        number=18,
        note=1,
        section="8.2.1",
        says="So the output $H$ of self-attention is in essence a linear transformation of $X$.",
        verdict="false",
        holds=(
            "With the pattern frozen it is linear, "
            "$\\operatorname{vec} H = \\sum_h (W_V^h W_O^h)^\\top \\otimes A_h\\, \\operatorname{vec} X$. "
            "With the pattern live, $f(X + Y)$ misses $f(X) + f(Y)$ by about the size of that sum when "
            "logits have unit size. What is true: near $X = 0$ attention is nearly linear, and it is odd, "
            "$f(-X) = -f(X)$, if $b_Q = b_V = b_O = 0$. On unbounded inputs its slope has no bound."
        ),
        chapter="attention",
        check=check_18,
        references=("kim2021lipschitz",),
    ),
    Claim(
        number=19,
        note=1,
        section="8.2.1",
        says="Softmax only affects how the weights are distributed, and transforms no output directly.",
        verdict="loose",
        holds=(
            "True that softmax acts on the weights alone; but at logits of unit size about half of "
            "attention's derivative, by size, flows through them, so they are not a detail. The share "
            "vanishes for small logits, grows with them, and for typical inputs vanishes again when softmax "
            "saturates."
        ),
        chapter="attention",
        check=check_19,
    ),
    Claim(
        number=26,
        note=1,
        section="8.2.2",
        says=(
            "Attention's output is a weighted sum, unlike an LSTM, whose nonlinear gates change the flow of "
            "information at every layer."
        ),
        verdict="false",
        holds=(
            "Each weight is a gate for a query, a key and a head: computed from the data, between 0 and 1, "
            "and multiplied with a value. Beside a constant token one head is exactly $z\\,\\sigma(z)$. "
            "It differs from an LSTM's gate: the gates of a row sum to 1, so all cannot close at once, all "
            "channels of a head share one, and a token alone has none."
        ),
        chapter="attention",
        check=check_26,
        references=("hochreiter1997long", "huben2023attention"),
    ),
    Claim(
        number=28,
        note=1,
        section="8.2.2",
        says="The feed-forward network is elementwise.",
        verdict="false",
        holds=(
            "It is position-wise: no token acts on another, and within a token every feature acts on every "
            "other. Only its activation is elementwise."
        ),
        chapter="attention",
        check=check_28,
        references=("vaswani2017attention",),
    ),
    Claim(
        number=30,
        note=1,
        section="8.2.2",
        says="With a feed-forward network beside attention, each layer has the nonlinearity that it lacked.",
        verdict="conditional",
        holds=(
            "For a token that sees no other, without LayerNorm, an FFN is what makes more than an affine map "
            "possible. Elsewhere it is not the only way: one softmax head computes XOR beside a constant "
            "token, and two LayerNorms compute the parity of four bits; one with nothing beside it (post-LN) "
            "cannot do three bits, and gets at most 14 of the 16 inputs of four. Attention between linear "
            "maps that may write constants into the sequence approximates every continuous function on a "
            "closed and bounded domain, as a Transformer with FFN does."
        ),
        chapter="attention",
        check=check_30,
        references=("ni2024nonlinearity", "hu2025universal", "liu2025maxaffine", "yun2020universal"),
    ),
    Claim(
        number=31,
        note=1,
        section="8.2.2",
        says="Self-attention cannot perceive the order of a sequence.",
        verdict="conditional",
        holds=(
            "Without positions and without a mask it is permutation-equivariant, and so is the whole "
            "encoder. A causal mask breaks that; yet at depth 1 the last token is still blind to the order "
            "of those before it, and at depth 2 no longer."
        ),
        chapter="attention",
        check=check_31,
        references=("haviv2022transformer",),
    ),
    Claim(
        number=32,
        note=1,
        section="8.2.2",
        says="Self-attention has the defect of containing no nonlinear transformation.",
        verdict="false",
        holds=(
            "One head multiplies two features of a token: with a constant token beside it, it returns "
            "$-\\tanh(c\\,x_1x_2/2)/2$, of which the best affine map explains next to nothing."
        ),
        chapter="attention",
        check=check_32,
    ),
    Claim(
        number=61,
        note=1,
        section="8.2.2",
        says="Softmax is nonlinear; and attention has no nonlinear transformation.",
        verdict="false",
        holds=(
            "The two halves exclude each other, since the output depends on what softmax returns. They would "
            "agree if its weights did not depend on the input."
        ),
        chapter="attention",
        check=check_61,
    ),
    Claim(
        number=64,
        note=1,
        section="8.1.2",
        says=(
            "In traditional deep models, such as perceptrons and LSTMs, every layer's output usually passes "
            "a nonlinear activation."
        ),
        verdict="conditional",
        holds=(
            "For the hidden layers of a perceptron and the four affine maps of an LSTM's cell that is so. "
            "Output layers have none, and in a Transformer layer one affine map of six is followed by one, "
            "the first of the FFN."
        ),
        chapter="attention",
        check=check_64,
    ),
)
