"""Claims 1 to 9 and 63, on elementwise functions (note 1, section 8.1), each with its check."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from encoderlab.attention import AttentionWeights, multi_head_attention, softmax
from encoderlab.bends import rings
from encoderlab.bends.affine import Affine, collapse, random_stack, stack
from encoderlab.bends.gates import gated_feed_forward, lstm_cell
from encoderlab.bends.perceptron import perceptron
from encoderlab.bends.piecewise import perturb, sawtooth, trace_line, zigzag
from encoderlab.bends.propagation import propagate
from encoderlab.bends.regions import area, linear_regions, zero_segments
from encoderlab.claims.model import Claim, Evidence, Finding
from encoderlab.distance import gap, size
from encoderlab.elementwise import ACTIVATIONS, relu, sigmoid, tanh
from encoderlab.feed_forward import FeedForwardWeights, feed_forward
from encoderlab.residual_norm import LayerNormWeights, layer_norm
from encoderlab.validation import FloatArray

XOR_POINTS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
XOR_LABELS = np.array([-1.0, 1.0, 1.0, -1.0])  # +1 where the two signs differ


def check_1() -> Evidence:
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
    degree = _degree(lambda z: gated_feed_forward(z, gate, value, out, "relu"), x)
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
        Finding("outside", "gated with ReLU, three matrices: $k$ in $f(2x) = 2^k f(x)$", degree, "≥", 1.99),
    )
    return Evidence(findings)


def check_2() -> Evidence:
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
    return Evidence(elementwise + others)


def check_3() -> Evidence:
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
    return Evidence(findings)


def check_4() -> Evidence:
    """Multiply deep stacks out, with biases, and compare."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(100, 16))
    gaussian = random_stack(rng, [16] * 129, bias=0.5)
    orthogonal = random_stack(rng, [16] * 129, bias=0.5, orthogonal=True)
    with_relu, _ = perceptron(x, random_stack(rng, [16] * 5, gain=np.sqrt(2), bias=0.5))
    condition_8 = float(np.linalg.cond(collapse(gaussian[:8]).W))
    condition_128 = float(np.linalg.cond(collapse(orthogonal).W))
    findings = (
        Finding("identity", "128 Gaussian layers against one map", _collapse_gap(x, gaussian), "≤", 1e-12),
        Finding(
            "identity", "128 orthogonal layers against one map", _collapse_gap(x, orthogonal), "≤", 1e-12
        ),
        Finding("support", "condition number, 8 Gaussian layers", condition_8, "≥", 1e3),
        Finding("support", "condition number, 128 orthogonal layers", condition_128, "≤", 1 + 1e-9),
        Finding(
            "support",
            "4 layers with ReLU: what an affine fit misses",
            _affine_misfit(x, with_relu),
            "≥",
            0.1,
        ),
    )
    return Evidence(findings)


def check_5() -> Evidence:
    """Count straight pieces: built by hand, in one layer, at random, spoilt a little, and without a bend."""
    rng = np.random.default_rng(5)
    shallow = [trace_line(random_stack(rng, [1, 20, 1], bias=0.3)).pieces for _ in range(200)]
    by_hand = trace_line(zigzag(20), (-1, 1)).pieces  # all 20 bends inside
    unbent = np.linspace(0, 1, 1025)[:, None]  # (1025, 1)
    misfit = _affine_misfit(unbent, stack(unbent, sawtooth(10)))
    square, broad, narrow = (_random_pieces(rng, *shape) for shape in ((8, 8), (4, 16), (32, 2)))
    tenth, third = (
        float(np.mean([trace_line(perturb(sawtooth(8), rng, error)).pieces for _ in range(40)]))
        for error in (0.1, 0.3)
    )
    findings = (
        Finding(
            "inside", "20 ReLU neurons that fold 10 times: pieces", trace_line(sawtooth(10)).pieces, "=", 1024
        ),
        Finding(
            "inside",
            "20 in one layer: most of 200 random ones and one by hand",
            max(*shallow, by_hand),
            "=",
            21,
        ),
        Finding(
            "outside", "the same 10 layers without ReLU: share no affine map explains", misfit, "≤", 1e-12
        ),
        Finding("outside", "64 neurons in 8 random layers of 8: mean of 40", square, "≤", 80),
        Finding("outside", "64 neurons in 4 random layers of 16: mean of 40", broad, "≥", 45),
        Finding("outside", "64 neurons in 32 random layers of 2: mean of 40", narrow, "≤", 5),
        Finding("outside", "8 folds, 256 pieces, after errors of 0.1: mean of 40", tenth, "≤", 128),
        Finding("outside", "8 folds, 256 pieces, after errors of 0.3: mean of 40", third, "≤", 26),
    )
    return Evidence(findings)


def check_6() -> Evidence:
    """Take a trained network apart along its folds."""
    rng = np.random.default_rng(6)
    net = rings.load("relu", 2, 8, seed=0)
    regions, _ = linear_regions(net)
    ends = zero_segments(regions)  # (k, 2, 2)
    boundary = ends[:, 0] + rng.uniform(size=(len(ends), 1)) * (ends[:, 1] - ends[:, 0])  # (k, 2)
    inside = np.array([rng.dirichlet(np.ones(len(r.polygon))) @ r.polygon for r in regions])  # (regions, 2)
    by_region = np.array([point @ r.W + r.b for point, r in zip(inside, regions, strict=True)])
    in_regions = gap(perceptron(inside, net)[0], by_region)
    on_boundary = float(np.abs(perceptron(boundary, net)[0]).max())
    total_area = sum(area(r.polygon) for r in regions)
    one, other = relu(-rng.uniform(size=(2, 50)))
    _, preactivations = perceptron(rng.normal(size=(500, 64)), random_stack(rng, [64] * 4, gain=np.sqrt(2)))
    silent = float(np.mean(relu(preactivations[-1]) == 0))
    findings = (
        Finding("identity", "ReLU, one value below 0 against another", gap(one, other), "=", 0),
        Finding("identity", "network against each region's affine map", in_regions, "≤", 1e-10),
        Finding("identity", "largest output on the boundary that is drawn", on_boundary, "≤", 1e-10),
        Finding("identity", "area of all regions, less the square's", abs(total_area - 4), "≤", 1e-12),
        Finding("support", "ReLU(−x) at the input x = −1, which is not ignored", relu(1.0).item(), "=", 1),
        Finding("support", "neurons at zero in a random network: at least", silent, "≥", 0.4),
        Finding("support", "neurons at zero in a random network: at most", silent, "≤", 0.6),
    )
    return Evidence(findings)


def check_7() -> Evidence:
    """Send a signal through twenty random layers and a gradient back."""
    wide, wider = (propagate(np.random.default_rng(7), "tanh", gain) for gain in (4.0, 40.0))
    open_4, open_40 = (propagate(np.random.default_rng(7), "relu", gain) for gain in (4.0, 40.0))
    narrow = propagate(np.random.default_rng(7), "sigmoid", 1.0)
    flat_wide = float(np.mean(_slope("tanh", wide.preactivation) < 0.01))
    flat_narrow = float(np.mean(_slope("sigmoid", narrow.preactivation) < 0.01))
    bounded, unbounded = wider.signal[-1] / wide.signal[-1], open_40.signal[-1] / open_4.signal[-1]
    x = np.linspace(-5, 5, 1001)
    findings = (
        Finding("for", "tanh: signal after 20 layers, gain 40 over gain 4", bounded, "≤", 1.2),
        Finding("for", "ReLU: the same", unbounded, "≥", 1e6),
        Finding("against", "sigmoid, gain 1: gradient left after 20 layers", narrow.gradient[0], "≤", 1e-9),
        Finding("against", "tanh, gain 4: gradient after 20 layers", wide.gradient[0], "≥", 100),
        Finding("support", "sigmoid, gain 1: neurons with slope below 0.01", flat_narrow, "≤", 0.01),
        Finding("support", "tanh, gain 4: neurons with slope below 0.01", flat_wide, "≥", 0.25),
        Finding("support", "steepest slope of sigmoid", _slope("sigmoid", x).max(), "=", 0.25),
        Finding("support", "steepest slope of tanh", _slope("tanh", x).max(), "=", 1),
    )
    return Evidence(findings)


def check_8() -> Evidence:
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
    return Evidence(findings)


def check_9() -> Evidence:
    """Tell exclusive or apart without a nonlinearity, with ReLU, with LayerNorm, with a product."""
    angle = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    height = XOR_POINTS @ np.stack([np.cos(angle), np.sin(angle)])  # (4, angles)
    thresholds = np.linspace(-2, 2, 81)
    sides = np.sign(height[:, :, None] - thresholds - 1e-9)  # (4, angles, thresholds)
    affine = (sides == XOR_LABELS[:, None, None]).sum(axis=0).max()
    total = XOR_POINTS.sum(axis=1)  # (4,), 0 where the signs differ
    by_relu = 1 - relu(total) - relu(-total)
    with_constant = np.stack([total, -total, np.ones(4), -np.ones(4)], axis=1)  # (4, 4)
    normalised = layer_norm(with_constant, LayerNormWeights(np.ones(4)))[:, 2]
    product = -XOR_POINTS[:, 0] * XOR_POINTS[:, 1]
    findings = (
        Finding("for", "best of 58320 affine maps: points of 4 it gets right", int(affine), "=", 3),
        Finding("for", "two ReLU neurons: the same", _right(by_relu), "=", 4),
        Finding("against", "LayerNorm, nothing elementwise: the same", _right(normalised - 1), "=", 4),
        Finding("against", "a product of two coordinates: the same", _right(product), "=", 4),
    )
    return Evidence(findings)


def check_63() -> Evidence:
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
    plain = _degree(lambda z: feed_forward(z, bare, "relu")[0], x / 8)
    smooth = _degree(lambda z: feed_forward(z, bare, "gelu")[0], x / 8)
    gated = _degree(lambda z: gated_feed_forward(z, gate, W_1, W_2, "relu"), x / 8)
    findings = (
        Finding("inside", "layer against $\\max(0, xW_1 + b_1)W_2 + b_2$", gap(layer, by_hand), "≤", 1e-13),
        Finding("inside", "ReLU: $k$ in $f(2x) = 2^k f(x)$, less 1", abs(plain - 1), "≤", 1e-12),
        Finding("outside", "GELU, as in BERT: the same", abs(smooth - 1), "≥", 0.01),
        Finding("outside", "gated with ReLU: the same", abs(gated - 1), "≥", 0.99),
    )
    return Evidence(findings)


def _off_diagonal(f: Callable[[FloatArray], FloatArray], x: FloatArray) -> float:
    """Largest entry off the diagonal of the Jacobian of f, by central differences."""
    steps = 1e-5 * np.eye(len(x))
    jacobian = np.array([(f(x + step) - f(x - step)) / 2e-5 for step in steps])
    return float(np.abs(jacobian - np.diag(np.diag(jacobian))).max())


def _degree(f: Callable[[FloatArray], FloatArray], x: FloatArray) -> float:
    """Power of 2 by which f grows when its input doubles."""
    return float(np.log2(size(f(2 * x)) / size(f(x))))


def _collapse_gap(x: FloatArray, layers: Sequence[Affine]) -> float:
    return gap(stack(x, [collapse(layers)]), stack(x, layers))


def _affine_misfit(x: FloatArray, y: FloatArray) -> float:
    """Share of y, by size, that no affine function of x explains."""
    with_one = np.column_stack([x, np.ones(len(x))])
    coefficients = np.linalg.lstsq(with_one, y)[0]
    return gap(with_one @ coefficients, y)


def _random_pieces(rng: np.random.Generator, depth: int, width: int) -> float:
    """Mean number of straight pieces on [−10, 10] of 40 random networks from one number to one."""
    widths = [1, *[width] * depth, 1]
    nets = (random_stack(rng, widths, gain=np.sqrt(2), bias=0.1) for _ in range(40))
    return float(np.mean([trace_line(net, (-10, 10)).pieces for net in nets]))


def _slope(name: str, x: FloatArray) -> FloatArray:
    return ACTIVATIONS[name].derivative(x)


def _right(output: FloatArray) -> int:
    return int(np.sum(np.sign(output) == XOR_LABELS))


CLAIMS = (
    Claim(
        number=1,
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
        chapter="elementwise",
        check=check_1,
        references=("vaswani2017attention", "shazeer2020glu", "chowdhery2022palm"),
        rests_on_reference=True,
    ),
    Claim(
        number=2,
        note=1,
        section="8.1.1",
        says="An elementwise nonlinearity transforms every component on its own, not the vector as a whole.",
        verdict="exact",
        holds="Its Jacobian is diagonal. Softmax and LayerNorm are nonlinear too, and not elementwise.",
        chapter="elementwise",
        check=check_2,
    ),
    Claim(
        number=3,
        note=1,
        section="8.1.1",
        says=(
            "ReLU is $\\max(0, x)$; sigmoid is $1/(1+e^{-x})$ with values in (0, 1); tanh has values in "
            "(−1, 1)."
        ),
        verdict="exact",
        holds=(
            "The intervals of sigmoid and tanh are open; ReLU takes the values in [0, ∞). In floating point "
            "rounding reaches both ends of tanh and the upper end of sigmoid; the lower end is reached only "
            "where it underflows."
        ),
        chapter="elementwise",
        check=check_3,
    ),
    Claim(
        number=4,
        note=1,
        section="8.1.2",
        says="With linear transformations alone the whole is linear, however many layers are stacked.",
        verdict="exact",
        holds=(
            "With biases it is one affine map, equal to the stack up to rounding. What depth does change "
            "is how well that one map is conditioned, and how it learns."
        ),
        chapter="elementwise",
        check=check_4,
        references=("saxe2014exact",),
    ),
    Claim(
        number=5,
        note=1,
        section="8.1.2",
        says="Nonlinear activations let a network express more complex functions.",
        verdict="conditional",
        holds=(
            "They let it: with the right weights $L$ layers of two ReLU neurons fold a line into $2^L$ "
            "pieces, where one layer of as many neurons makes at most $2L + 1$. With random weights a "
            "network has about as many pieces as neurons if its layers are not too narrow, and fewer if they "
            "are; errors of a tenth in the weights undo most of the folds."
        ),
        chapter="elementwise",
        check=check_5,
        references=("telgarsky2015representation", "telgarsky2016benefits", "hanin2019complexity"),
    ),
    Claim(
        number=6,
        note=1,
        section="8.1.2",
        says=(
            "ReLU lets a network ignore inputs (below 0 it gives 0), which makes decision boundaries "
            "piecewise linear."
        ),
        verdict="exact",
        holds=(
            "What is ignored is a pre-activation below zero: everything on one side of a hyperplane, not "
            "the negative coordinates of the input. The boundary has one straight piece in each linear "
            "region that it crosses."
        ),
        chapter="elementwise",
        check=check_6,
        references=("montufar2014number",),
    ),
    Claim(
        number=7,
        note=1,
        section="8.1.2",
        says=(
            "Sigmoid and tanh squeeze values into (0, 1) and (−1, 1), which helps to control the flow of "
            "information."
        ),
        verdict="depends",
        holds=(
            "The signal going forward is bounded, which ReLU does not do. The gradient coming back is "
            "not under control: through sigmoids it vanishes even where none is saturated, since no "
            "slope exceeds 1/4; through tanh with large weights it explodes although many neurons are "
            "saturated."
        ),
        chapter="elementwise",
        check=check_7,
        references=("poole2016exponential",),
    ),
    Claim(
        number=8,
        note=1,
        section="8.1.2",
        says="The LSTM's forget, input and output gates are computed with sigmoid or tanh.",
        verdict="loose",
        holds=(
            "The gates are sigmoids; tanh shapes what is written and what is read. With tanh a gate "
            "could be negative and turn memory into its opposite. The cell of 1997 had no forget gate; "
            "it came in 2000."
        ),
        chapter="elementwise",
        check=check_8,
        references=("hochreiter1997long", "gers2000learning"),
        rests_on_reference=True,
    ),
    Claim(
        number=9,
        note=1,
        section="8.1.2",
        says=(
            "Elementwise nonlinear activations have become an expected part of deep learning, because they "
            "proved crucial for complex tasks."
        ),
        verdict="depends",
        holds=(
            "Some nonlinearity is crucial; it need not be elementwise. LayerNorm after a map with a "
            "constant, or a product of two linear maps, also separates what no affine map can."
        ),
        chapter="elementwise",
        check=check_9,
        references=("ni2024nonlinearity",),
    ),
    Claim(
        number=63,
        note=1,
        section="8.2.2",
        says="The feed-forward network is usually a two-layer perceptron with a ReLU in the middle.",
        verdict="conditional",
        holds="That is the layer of 2017. BERT has GELU in its place, and many later models a gated form.",
        chapter="elementwise",
        check=check_63,
        references=("vaswani2017attention", "devlin2019bert", "hendrycks2016gaussian", "shazeer2020glu"),
    ),
)
