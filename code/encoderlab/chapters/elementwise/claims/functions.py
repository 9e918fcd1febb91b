"""Claims 1 to 3, 8 and 63: what elementwise functions are and where they stand (note 1, section 8.1)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from encoderlab.chapters.elementwise.gates import gated_feed_forward, lstm_cell
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.model.activations import ACTIVATIONS, relu, sigmoid, tanh
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights, multi_head_attention, softmax
from encoderlab.model.feed_forward import FeedForwardWeights, feed_forward
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm
from encoderlab.model.measures import degree, gap


@claim(
    1,
    note=1,
    section="8",
    says="In the encoder and in the decoder, two fully connected layers follow multi-head attention.",
    verdict="conditional",
    holds=(
        "So it was designed in 2017: two matrices, after self-attention in the encoder and after "
        "cross-attention in the decoder, inside a residual connection of their own. Gated "
        "feed-forward layers have three matrices, and parallel blocks put the layer beside "
        "attention, where it does not see what attention did."
    ),
    references=("vaswani2017attention", "shazeer2020glu", "chowdhery2022palm"),
    rests_on_reference=True,
)
def claim_1() -> Findings:
    """Count the matrices, and ask whether the FFN sees what attention did."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6, 8))
    attention = AttentionWeights(*rng.normal(size=(4, 8, 8)) / np.sqrt(8))
    ffn = FeedForwardWeights(rng.normal(size=(8, 32)) / np.sqrt(8), rng.normal(size=(32, 8)) / np.sqrt(32))
    gate, value, out = rng.normal(size=(3, 8, 8))
    attended = x + multi_head_attention(x, attention, 2)[0]
    alone = feed_forward(x, ffn)[0]  # what the FFN adds if attention is switched off
    serial = attended + feed_forward(attended, ffn)[0]
    parallel = attended + feed_forward(x, ffn)[0]
    power = degree(lambda z: gated_feed_forward(z, gate, value, out, "relu"), x)
    findings = (
        Finding("support", "matrices of the 2017 layer", sum(w is not None for w in ffn), "=", 2),
        Finding(
            "inside",
            "after attention: what switching that off changes",
            gap(serial - attended, alone),
            "≥",
            0.1,
        ),
        Finding("support", "beside attention: the same", gap(parallel - attended, alone), "≤", 1e-12),
        Finding("outside", "gated with ReLU, three matrices: $k$ in $f(2x) = 2^k f(x)$", power, "≥", 1.99),
    )
    return findings


@claim(
    2,
    note=1,
    section="8.1.1",
    says="An elementwise nonlinearity transforms every component on its own, not the vector as a whole.",
    verdict="exact",
    holds="Its Jacobian is diagonal. Softmax and LayerNorm are nonlinear too, and not elementwise.",
)
def claim_2() -> Findings:
    """Move one input at a time and see which outputs move."""
    x = np.random.default_rng(2).normal(size=6)

    def norm(z: FloatArray) -> FloatArray:
        return layer_norm(z, LayerNormWeights(np.ones(6)))

    elementwise = tuple(
        Finding("identity", f"{name}: largest entry off the diagonal", _off_diagonal(f, x), "=", 0)
        for name, (f, _) in ACTIVATIONS.items()
    )
    others = (
        Finding("support", "softmax: largest entry off the diagonal", _off_diagonal(softmax, x), "≥", 0.01),
        Finding("support", "LayerNorm: largest entry off the diagonal", _off_diagonal(norm, x), "≥", 0.01),
    )
    return elementwise + others


@claim(
    3,
    note=1,
    section="8.1.1",
    says=(
        "ReLU is $\\max(0, x)$; sigmoid is $1/(1+e^{-x})$ with values in (0, 1); tanh has values in (−1, 1)."
    ),
    verdict="exact",
    holds=(
        "The intervals of sigmoid and tanh are open; ReLU takes the values in [0, ∞). In floating point "
        "rounding reaches both ends of tanh and the upper end of sigmoid; the lower end is reached only "
        "where it underflows."
    ),
)
def claim_3() -> Findings:
    """Compare with other formulas for the same functions, and look for the ends of the ranges."""
    x = np.linspace(-40, 40, 8001)
    near = x[np.abs(x) <= 18]
    quotient = (np.exp(near) - np.exp(-near)) / (np.exp(near) + np.exp(-near))
    by_tanh = (1 + np.tanh(x / 2)) / 2
    findings = (
        Finding("identity", "ReLU against $(x + |x|)/2$", gap(relu(x), (x + np.abs(x)) / 2), "=", 0),
        Finding("identity", "sigmoid against $(1 + \\tanh(x/2))/2$", gap(sigmoid(x), by_tanh), "≤", 1e-15),
        Finding("identity", "tanh against its quotient", gap(tanh(near), quotient), "≤", 1e-15),
        Finding("identity", "smallest value of ReLU, attained", relu(x).min(), "=", 0),
        Finding("identity", "sigmoid(−700)", sigmoid(-700.0).item(), ">", 0),
        Finding("identity", "sigmoid(36)", sigmoid(36.0).item(), "<", 1),
        Finding("identity", "tanh(18)", tanh(18.0).item(), "<", 1),
        Finding("support", "sigmoid(40), rounded to float64", sigmoid(40.0).item(), "=", 1),
        Finding("support", "tanh(20), rounded to float64", tanh(20.0).item(), "=", 1),
    )
    return findings


@claim(
    8,
    note=1,
    section="8.1.2",
    says="The LSTM's forget, input and output gates are computed with sigmoid or tanh.",
    verdict="loose",
    holds=(
        "The gates are sigmoids; tanh shapes what is written and what is read. With tanh a gate "
        "could be negative and turn memory into its opposite. The cell of 1997 had no forget gate; "
        "it came in 2000."
    ),
    references=("hochreiter1997long", "gers2000learning"),
    rests_on_reference=True,
)
def claim_8() -> Findings:
    """Run a cell with the gates it has, with gates of tanh, and without forgetting."""
    rng = np.random.default_rng(8)
    x, h, c = rng.normal(size=(3, 200, 16))
    W, b = rng.normal(size=(32, 64)) / 4, np.zeros(64)
    _, _, gates = lstm_cell(x, h, c, W, b)
    every_gate = np.concatenate([gates.input, gates.forget, gates.output])
    _, _, signed = lstm_cell(x, h, c, W, b, gate="tanh")
    negative = float(np.mean(signed.forget < 0))
    remember = np.where(np.arange(64) // 16 == 1, 1000.0, 0.0)  # the forget gate's bias, so that it is 1
    _, kept, open_gates = lstm_cell(x, h, c, W, remember)
    cell_of_1997 = c + open_gates.input * open_gates.candidate
    findings = (
        Finding("precise", "smallest gate", every_gate.min(), ">", 0),
        Finding("precise", "largest gate", every_gate.max(), "<", 1),
        Finding("precise", "smallest candidate, which tanh shapes", gates.candidate.min(), "<", 0),
        Finding("as stated", "share of gates below 0 if tanh computes them", negative, "≥", 0.4),
        Finding("support", "forget gate 1 against the cell without one", gap(kept, cell_of_1997), "=", 0),
    )
    return findings


@claim(
    63,
    note=1,
    section="8.2.2",
    says="The feed-forward network is usually a two-layer perceptron with a ReLU in the middle.",
    verdict="conditional",
    holds="That is the layer of 2017. BERT has GELU in its place, and many later models a gated form.",
    references=("vaswani2017attention", "devlin2019bert", "hendrycks2016gaussian", "shazeer2020glu"),
)
def claim_63() -> Findings:
    """Write the layer out by hand, then put other things in the place of its ReLU."""
    rng = np.random.default_rng(63)
    x = rng.normal(size=(5, 8))
    W_1, W_2 = rng.normal(size=(8, 32)), rng.normal(size=(32, 8))
    b_1, b_2 = rng.normal(size=32), rng.normal(size=8)
    hidden = [[max(0.0, float(t @ W_1[:, k] + b_1[k])) for k in range(32)] for t in x]
    by_hand = np.array([[row @ W_2[:, j] + b_2[j] for j in range(8)] for row in np.array(hidden)])
    layer, _ = feed_forward(x, FeedForwardWeights(W_1, W_2, b_1, b_2))
    bare = FeedForwardWeights(W_1, W_2)
    gate = rng.normal(size=(8, 32))
    plain = degree(lambda z: feed_forward(z, bare, "relu")[0], x / 8)
    smooth = degree(lambda z: feed_forward(z, bare, "gelu")[0], x / 8)
    gated = degree(lambda z: gated_feed_forward(z, gate, W_1, W_2, "relu"), x / 8)
    findings = (
        Finding("inside", "layer against $\\max(0, xW_1 + b_1)W_2 + b_2$", gap(layer, by_hand), "≤", 1e-13),
        Finding("inside", "ReLU: $k$ in $f(2x) = 2^k f(x)$, less 1", abs(plain - 1), "≤", 1e-12),
        Finding("outside", "GELU, as in BERT: the same", abs(smooth - 1), "≥", 0.01),
        Finding("outside", "gated with ReLU: the same", abs(gated - 1), "≥", 0.99),
    )
    return findings


def _off_diagonal(f: Callable[[FloatArray], FloatArray], x: FloatArray) -> float:
    """Largest entry off the diagonal of the Jacobian of f, by central differences."""
    steps = 1e-5 * np.eye(len(x))
    jacobian = np.array([(f(x + step) - f(x - step)) / 2e-5 for step in steps])
    return float(np.abs(jacobian - np.diag(np.diag(jacobian))).max())
