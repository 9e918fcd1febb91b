"""Claims 26, 28, 30 and 64: what the FFN adds to attention (note 1, section 8.2)."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.attention.linearity import (
    unit_weights,
)
from encoderlab.chapters.attention.lone_token import lone_token_map
from encoderlab.chapters.attention.neurons import heads_as_neurons, silu
from encoderlab.chapters.attention.xor import (
    ANSWER,
    as_tokens,
    behind_constant_token,
    corners,
    parity_of,
    parity_with_layer_norm,
    xor_with_constant_token,
    xor_with_ffn,
)
from encoderlab.chapters.elementwise.affine import Affine, random_stack
from encoderlab.chapters.elementwise.gates import lstm_cell
from encoderlab.chapters.elementwise.perceptron import perceptron
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.experiments import results
from encoderlab.model.activations import sigmoid
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import (
    multi_head_attention,
)
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.feed_forward import FeedForwardWeights, feed_forward, feed_forward_vjp
from encoderlab.model.jacobian import jacobian
from encoderlab.model.measures import affine_misfit, gap, largest


@claim(
    26,
    note=1,
    section="8.2.2",
    says=(
        "The output of two attention layers can be seen as a more complex weighted sum that brings in no "
        "new nonlinear pattern, unlike an LSTM, whose nonlinear gates change the flow of information at "
        "every layer."
    ),
    verdict="false",
    holds=(
        "A weighted sum it is, with weights $A_2 A_1$, and a new nonlinear pattern too: in one layer no "
        "third token changes how a query divides between two others, in the second layer it does. And each "
        "weight is a gate for a query, a key and a head: computed from the data, between 0 and 1, "
        "and multiplied with a value. Beside a constant token one head is exactly $z\\,\\sigma(z)$. "
        "It differs from an LSTM's gate: the gates of a row sum to 1, so all cannot close at once, all "
        "channels of a head share one, and a token alone has none."
    ),
    references=("hochreiter1997long", "huben2023attention"),
)
def claim_26() -> Findings:
    """Ask two layers what one cannot do, build a gate from one head, and look at what that cannot do."""
    rng = np.random.default_rng(26)
    x, direction = rng.normal(size=(100, 5)), rng.normal(size=(5, 1))
    head = heads_as_neurons(FeedForwardWeights(direction, np.ones((1, 5))))
    tokens = behind_constant_token(np.pad(x, ((0, 0), (0, 1)))[:, None])  # (100, 2, 6)
    output, trace = multi_head_attention(tokens, head, 1)
    z = (x @ direction)[:, 0]
    gate, gated = trace.pattern[:, 0, 1, 1], output[:, 1, 0]  # the token's weight on itself, and what it gets
    _, many = multi_head_attention(x, unit_weights(rng, 5), 1)
    _, lone = multi_head_attention(x[:1], unit_weights(rng, 5), 1)
    total = largest(many.pattern.sum(axis=-1) - 1)
    first, second = _moved_by_a_third_token(rng)
    findings = (
        Finding(
            "counterexample",
            "layer 2: a third token moves the log-odds of two keys by, median of 40 draws",
            second,
            "≥",
            0.01,
        ),
        Finding("support", "layer 1: the same, most of 40 draws", first, "≤", 1e-12),
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
    return findings


@claim(
    28,
    note=1,
    section="8.2.2",
    says="The feed-forward network is elementwise.",
    verdict="false",
    holds=(
        "It is position-wise: no token acts on another, and within a token every feature acts on every "
        "other. Only its activation is elementwise."
    ),
    references=("vaswani2017attention",),
)
def claim_28() -> Findings:
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
        Finding("support", "effect of a token on another: at most", largest(blocks[~own]), "=", 0),
    )
    return findings


@claim(
    30,
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
    references=("ni2024nonlinearity", "hu2025universal", "liu2025maxaffine", "yun2020universal"),
)
def claim_30() -> Findings:
    """Ask for XOR and parity with the FFN and without, of a lone token and of one beside a constant."""
    rng = np.random.default_rng(30)
    config = EncoderConfig(d_model=8, n_heads=2, d_ff=32, depth=8, ffn=False, norm="none")
    bare = Encoder.random(config, rng)
    encoder = bare.with_parameters({name: rng.normal(size=8) for name in bare.parameters() if ".b_" in name})
    x = rng.normal(size=(50, 1, 8))
    W, b = lone_token_map(encoder)
    affine = gap(encoder(x), x @ W + b)
    bent = affine_misfit(x[:, 0], encoder.switch(ffn=True)(x)[:, 0])
    two, four = as_tokens(corners(2), 3), as_tokens(corners(4), 4)
    with_ffn = _right(xor_with_ffn()(two))
    with_constant = _right(xor_with_constant_token()(behind_constant_token(two))[:, 1:])
    with_norm = _right(parity_with_layer_norm()(four))
    runs = [
        run
        for name in ("parity_starts", "parity_helped")
        for run in results.load(name).select(bits=4, dtype="float32")
    ]

    def trained(**settings: object) -> FloatArray:
        """Return how many of the 16 inputs each of the runs with these settings got right."""
        chosen = [run for run in runs if settings.items() <= run.settings.items()]
        return np.array([16 * run.measures["accuracy"] for run in chosen])

    bare_runs, helped = trained(bos=False, ffn=False, norm="none"), trained(bos=False, ffn=True)
    beside, one_norm = trained(bos=True, ffn=False), trained(bos=False, ffn=False, norm="post", depth=1)
    two_norms = trained(norm="post", depth=2, lr=1e-2, steps=4000)
    share_beside = float(np.mean(beside == 16))
    findings = (
        Finding("inside", "lone token, 8 layers of attention against one affine map", affine, "≤", 1e-13),
        Finding("inside", "with an FFN in each: share that no affine map explains", bent, "≥", 0.1),
        Finding("inside", "XOR in a lone token, with an FFN: right of 4", with_ffn, "=", 4),
        Finding("outside", "XOR beside a constant token, attention alone: right of 4", with_constant, "=", 4),
        Finding("outside", "parity of 4 bits, two LayerNorms and no FFN: right of 16", with_norm, "=", 16),
        Finding("inside", "trained, neither FFN nor norm: most of 16 right", bare_runs.max(), "≤", 11),
        Finding("inside", "trained, with an FFN: fewest of 16 right", helped.min(), "=", 16),
        Finding("outside", "trained, a constant token: share of runs with 16 right", share_beside, "≥", 0.95),
        Finding("outside", "trained, two post-LN layers: most of 16 right", two_norms.max(), "=", 16),
        Finding("support", "trained, one post-LN layer, no FFN: most of 16 right", one_norm.max(), "≤", 14),
    )
    return findings


@claim(
    64,
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
)
def claim_64() -> Findings:
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
    lstm = max(largest(values) for values in gates)
    relus = max(float(np.mean(values < 0)) for values in hidden)
    findings = (
        Finding("inside", "perceptron, 3 hidden layers: largest share of values below 0", relus, "=", 0),
        Finding("inside", "LSTM, large inputs: largest value behind its 4 affine maps", lstm, "≤", 1),
        Finding("outside", "perceptron, output layer: share of values below 0", below, "≥", 0.3),
        Finding("support", "Transformer layer: affine maps", len(negative), "=", 6),
        Finding("support", "of these, with no value below 0 behind", negative.count(0.0), "=", 1),
        Finding("support", "behind the others, share of values below 0: at least", negative[1], "≥", 0.3),
    )
    return findings


def _moved_by_a_third_token(rng: np.random.Generator) -> tuple[float, float]:
    """Exchange the fourth token, and measure how far the first token's log-odds between two others move.

    In layer 1, the most of 40 draws, and in layer 2, their median; one head each and nothing else.
    """
    x: FloatArray = rng.normal(size=(40, 6, 8))
    fourth = rng.normal(size=(40, 8))
    other: FloatArray = x.copy()
    other[:, 3] = fourth
    moved = []
    for _ in range(2):
        weights = unit_weights(rng)
        (x, trace), (other, changed) = (multi_head_attention(z, weights, 1) for z in (x, other))
        before, after = (np.log(t.pattern[:, 0, 0, 1] / t.pattern[:, 0, 0, 2]) for t in (trace, changed))
        moved.append(np.abs(after - before))  # (40,)
    return float(moved[0].max()), float(np.median(moved[1]))


def _right(output: FloatArray) -> int:
    """Count the right answers, one token each for all bits of its width, in order."""
    answers = output[:, 0, ANSWER]
    return int(np.sum(np.sign(answers) == parity_of(corners(len(answers).bit_length() - 1))))
