"""Claims 4 to 7 and 9: what is gained by a nonlinearity between layers (note 1, section 8.1.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from encoderlab.chapters.elementwise import rings
from encoderlab.chapters.elementwise.affine import Affine, collapse, random_stack, stack
from encoderlab.chapters.elementwise.perceptron import perceptron
from encoderlab.chapters.elementwise.piecewise import perturb, sawtooth, trace_line, zigzag
from encoderlab.chapters.elementwise.propagation import propagate
from encoderlab.chapters.elementwise.regions import area, linear_regions, zero_segments
from encoderlab.claims.claim import Finding, Findings, claim
from encoderlab.model.activations import ACTIVATIONS, relu
from encoderlab.model.arrays import FloatArray
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm
from encoderlab.model.measures import affine_misfit, gap

XOR_POINTS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])

XOR_LABELS = np.array([-1.0, 1.0, 1.0, -1.0])  # +1 where the two signs differ


@claim(
    4,
    note=1,
    section="8.1.2",
    says="With linear transformations alone the whole is linear, however many layers are stacked.",
    verdict="exact",
    holds=(
        "With biases it is one affine map, equal to the stack up to rounding. What depth does change "
        "is how well that one map is conditioned, and how it learns."
    ),
    references=("saxe2014exact",),
)
def claim_4() -> Findings:
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
            affine_misfit(x, with_relu),
            "≥",
            0.1,
        ),
    )
    return findings


@claim(
    5,
    note=1,
    section="8.1.2",
    says="Nonlinear activations let a network express more complex functions.",
    verdict="conditional",
    holds=(
        "They let it: with the right weights $L$ layers of two ReLU neurons fold a line into $2^L$ "
        "pieces, where one layer of as many neurons makes at most $2L + 1$. With random weights a "
        "network has about as many pieces as neurons if its layers are not too narrow, and fewer if they "
        "are; an error of a tenth in every weight leaves three folds nearly all of their pieces, "
        "six about half and eight less than a third."
    ),
    references=("telgarsky2015representation", "telgarsky2016benefits", "hanin2019complexity"),
)
def claim_5() -> Findings:
    """Count straight pieces: built by hand, in one layer, at random, spoilt a little, and without a bend."""
    rng = np.random.default_rng(5)
    shallow = [trace_line(random_stack(rng, [1, 20, 1], bias=0.3)).pieces for _ in range(200)]
    by_hand = trace_line(zigzag(20), (-1, 1)).pieces  # all 20 bends inside
    unbent = np.linspace(0, 1, 1025)[:, None]  # (1025, 1)
    misfit = affine_misfit(unbent, stack(unbent, sawtooth(10)))
    square, broad, narrow = (_random_pieces(rng, *shape) for shape in ((8, 8), (4, 16), (32, 2)))
    tenth, third = (_pieces_left(rng, 8, error) for error in (0.1, 0.3))
    three, six = (_pieces_left(rng, folds, 0.1) for folds in (3, 6))
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
        Finding("outside", "3 folds, 8 pieces, after errors of 0.1: mean of 100", three, "≥", 6.5),
        Finding("outside", "6 folds, 64 pieces: the same", six, "≤", 38),
        Finding("outside", "8 folds, 256 pieces: the same", tenth, "≤", 90),
        Finding("outside", "8 folds, 256 pieces, after errors of 0.3: mean of 100", third, "≤", 26),
    )
    return findings


@claim(
    6,
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
    references=("montufar2014number",),
)
def claim_6() -> Findings:
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
    return findings


@claim(
    7,
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
    references=("poole2016exponential",),
)
def claim_7() -> Findings:
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
    return findings


@claim(
    9,
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
    references=("ni2024nonlinearity",),
)
def claim_9() -> Findings:
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
    return findings


def _collapse_gap(x: FloatArray, layers: Sequence[Affine]) -> float:
    return gap(stack(x, [collapse(layers)]), stack(x, layers))


def _pieces_left(rng: np.random.Generator, folds: int, error: float) -> float:
    """Fold a line, add errors to all weights, and return the mean number of pieces over 100 draws."""
    return float(np.mean([trace_line(perturb(sawtooth(folds), rng, error)).pieces for _ in range(100)]))


def _random_pieces(rng: np.random.Generator, depth: int, width: int) -> float:
    """Mean number of straight pieces on [−10, 10] of 40 random networks from one number to one."""
    widths = [1, *[width] * depth, 1]
    nets = (random_stack(rng, widths, gain=np.sqrt(2), bias=0.1) for _ in range(40))
    return float(np.mean([trace_line(net, (-10, 10)).pieces for net in nets]))


def _slope(name: str, x: FloatArray) -> FloatArray:
    return ACTIVATIONS[name].derivative(x)


def _right(output: FloatArray) -> int:
    return int(np.sum(np.sign(output) == XOR_LABELS))
