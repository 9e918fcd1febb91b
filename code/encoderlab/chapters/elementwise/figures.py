"""Figures of chapter 1: an activation at work, the line folded, the boundary of a small network."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.elementwise import rings
from encoderlab.chapters.elementwise.affine import Affine, collapse
from encoderlab.chapters.elementwise.perceptron import perceptron
from encoderlab.chapters.elementwise.piecewise import perturb, sawtooth, trace_line, zigzag
from encoderlab.chapters.elementwise.propagation import propagate
from encoderlab.chapters.elementwise.regions import linear_regions, zero_segments
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, PURPLE, RC, VERMILLION, log_ticks, panels
from encoderlab.model.activations import ACTIVATIONS
from encoderlab.model.arrays import FloatArray
from encoderlab.numerals import scientific

FUNCTIONS = ("sigmoid", "tanh", "relu", "gelu", "identity")
ERRORS = ("0", "0.01", "0.03", "0.1", "0.3", "1")
GAINS = {"0.5": 0.5, "1": 1.0, "√2": np.sqrt(2), "2": 2.0, "4": 4.0}


def activation_bench() -> tuple[Figure, Update]:
    """Show a function with its slope, and what twenty layers of it do to a signal and to a gradient.

    Returns
    -------
    figure : Figure
    update : callable
        Of `activation`, one of `FUNCTIONS`, and `gain`, a key of `GAINS`.
    """
    depth, draws = 20, 5
    x = np.linspace(-6, 6, 241)
    bins = np.linspace(-6, 6, 49)
    with mpl.rc_context(RC):
        figure, (one, many) = panels(2, height=3.6)
        one.set(title="One neuron", xlabel="its input", xlim=(-6, 6), ylim=(-1.1, 2.1))
        one.grid()
        density = one.stairs(np.zeros(48), bins, fill=True, color=GREY, alpha=0.3, animated=True)
        (value,) = one.plot([], [], color=BLUE, animated=True)
        (slope,) = one.plot([], [], "--", color=VERMILLION, animated=True)
        one.legend(
            [value, slope, density], ["value", "slope", "inputs in layer 20"], loc="upper left", ncols=1
        )
        many.set(title="Twenty layers of 64", xlabel="layer", xlim=(0, depth), ylim=(1e-20, 1e14))
        many.set_yscale("log")
        log_ticks(many.yaxis, (-20, -15, -10, -5, 0, 5, 10))
        many.set_xticks(range(0, depth + 1, 5))
        many.grid()
        (forward,) = many.plot([], [], color=BLUE, animated=True)
        (backward,) = many.plot([], [], "--", color=VERMILLION, animated=True)
        many.legend(
            [forward, backward], ["signal, going right", "gradient, coming back left"], loc="lower right"
        )

    @lru_cache
    def measure(activation: str, gain: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        seeds = map(np.random.default_rng, range(draws))
        runs = [propagate(rng, activation, GAINS[gain], depth=depth) for rng in seeds]
        signal = np.exp(np.mean([np.log(run.signal) for run in runs], axis=0))  # geometric means over draws
        gradient = np.exp(np.mean([np.log(run.gradient) for run in runs], axis=0))
        return signal, gradient, np.concatenate([run.preactivation.ravel() for run in runs])

    def update(activation: str, gain: str) -> str:
        signal, gradient, preactivation = measure(activation, gain)
        f, derivative = ACTIVATIONS[activation]
        value.set_data(x, f(x))
        slope.set_data(x, derivative(x))
        counts = np.histogram(preactivation, bins)[0] / preactivation.size
        density.set_data(counts / max(counts.max(), 0.02))  # the tallest bar reaches 1
        forward.set_data(range(depth + 1), signal)
        backward.set_data(range(depth + 1), gradient)
        flat = np.mean(np.abs(derivative(preactivation)) < 0.01)
        there, back = scientific(signal[-1]), scientific(gradient[0])
        return (
            f"{activation}, weight gain {gain}: after {depth} layers a signal of size 1 has size {there}, a "
            f"gradient of size 1 comes back with size {back}, and {flat:.0%} of the neurons in layer {depth} "
            "have a slope below 0.01."
        )

    return figure, update


def folding() -> tuple[Figure, Update]:
    """Show a line folded by a deep narrow network, or bent by a shallow wide one, and count the pieces.

    Returns
    -------
    figure : Figure
    update : callable
        Of `depth`, from 1 to 8, `network`, "deep" or "shallow", and `error`, one of `ERRORS`: the standard
        deviation of what is added to each weight.
    """
    depths, draws, typical = range(1, 9), 20, 6  # the draw shown has about the mean number of pieces
    make: dict[str, Callable[[int], list[Affine]]] = {
        "deep": sawtooth,
        "shallow": lambda depth: zigzag(2 * depth),
    }
    with mpl.rc_context(RC):
        figure, (line, count) = panels(2, height=3.6)
        line.set(title="The line, folded", xlabel="input", ylabel="output", xlim=(0, 1), ylim=(-1, 2))
        line.grid()
        (curve,) = line.plot([], [], color=BLUE, lw=1.2, animated=True)
        count.set(
            title="Straight pieces", xlabel="depth, two neurons a layer", xlim=(0.8, 8.2), ylim=(0.9, 400)
        )
        count.set_yscale("log", base=2)
        count.set_yticks([2**k for k in depths], labels=[str(2**k) for k in depths], minor=False)
        count.set_xticks(depths)
        count.grid()
        count.plot(depths, [2**k for k in depths], ":", color=GREY)
        count.plot(depths, [2 * k + 1 for k in depths], ":", color=GREY)
        count.text(5.6, 75, "2 to the depth", ha="right")
        count.text(8.1, 8.5, "neurons + 1", ha="right")
        spread = count.fill_between([], [], [], color=BLUE, alpha=0.2, lw=0, animated=True)
        (mean,) = count.plot([], [], color=BLUE, animated=True)
        (here,) = count.plot([], [], "o", color=VERMILLION, ms=8, animated=True)

    @lru_cache
    def pieces(network: str, error: str) -> FloatArray:
        nets = [make[network](depth) for depth in depths]
        counts = [
            [trace_line(perturb(net, np.random.default_rng(k), float(error))).pieces for net in nets]
            for k in range(draws if float(error) else 1)
        ]
        return np.array(counts)  # (draws, depths)

    def update(depth: int, network: str, error: str) -> str:
        shown = trace_line(perturb(make[network](depth), np.random.default_rng(typical), float(error)))
        counts = pieces(network, error)
        low, high, middle = counts.min(axis=0), counts.max(axis=0), counts.mean(axis=0)
        curve.set_data(shown.knots, shown.values)
        spread.set_data(depths, low, high)
        mean.set_data(depths, middle)
        here.set_data([depth], [shown.pieces])
        at = depths.index(depth)
        deep, shallow = f"{_count(depth, 'layer')} of 2 neurons", f"1 layer of {2 * depth} neurons"
        net = {"deep": deep, "shallow": shallow}[network]
        pieces_shown = _count(shown.pieces, "straight piece")
        if not float(error):
            return f"{net}, exact weights: {pieces_shown}."
        return (
            f"{net}, errors of {error} in the weights: {pieces_shown} in the draw shown; "
            f"over {draws} draws {middle[at]:.3g} on average, from {low[at]} to {high[at]}."
        )

    return figure, update


def boundary() -> tuple[Figure, Update]:
    """Show where a network trained to tell a disc from a ring draws its boundary, and its linear regions.

    Returns
    -------
    figure : Figure
    update : callable
        Of `activation`, `depth`, `width` and `seed`, as in `encoderlab.chapters.elementwise.rings`.
    """
    x, labels = rings.rings(np.random.default_rng(0))
    grid = np.linspace(-1, 1, 61)
    with mpl.rc_context(RC):
        figure, (plane,) = panels(1, height=4.8)
        plane.set(xlim=(-1, 1), ylim=(-1, 1), xticks=[-1, 0, 1], yticks=[-1, 0, 1], aspect="equal")
        plane.plot(*x[labels > 0].T, "o", color=BLUE, ms=4, label="disc")
        plane.plot(*x[labels < 0].T, "s", color=PURPLE, ms=3.5, label="ring")
        (bends,) = plane.plot([], [], color=GREY, lw=0.8, animated=True)
        (zero,) = plane.plot([], [], color=VERMILLION, lw=2.5, animated=True)
        (wrong,) = plane.plot([], [], "x", color="black", ms=8, animated=True)
        plane.legend(
            [*plane.lines[:2], zero, wrong],
            ["disc", "ring", "boundary", "wrong side"],
            loc="lower center",
            bbox_to_anchor=(0.5, 1),
            ncols=4,
            handletextpad=0.3,
            columnspacing=1,
        )

    def update(activation: str, depth: int, width: int, seed: int) -> str:
        layers = rings.load(activation, depth, width, seed)
        output = perceptron(x, layers, activation)[0][:, 0]
        mistaken = np.sign(output) != labels
        wrong.set_data(*x[mistaken].T)
        net = f"{activation}, {_count(depth, 'hidden layer')} of {width}, start {seed}"
        right = f"{np.count_nonzero(~mistaken)} of {len(x)} points are on the right side"
        if activation == "tanh":
            points = np.stack(np.meshgrid(grid, grid), axis=-1)
            height = perceptron(points, layers, activation)[0][..., 0]
            bends.set_data([], [])
            zero.set_data(*_polylines(_level_line(grid, height)))
            return f"{net}: the boundary is a smooth curve; {right}."
        regions, folds = linear_regions([collapse(layers)] if activation == "identity" else layers)
        segments = zero_segments(regions)
        bends.set_data(*_polylines(folds))
        zero.set_data(*_polylines(segments))
        crossed = f"the boundary has a straight piece in {len(segments)} of them"
        return f"{net}: {_count(len(regions), 'linear region')}; {crossed}; {right}."

    return figure, update


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _level_line(grid: FloatArray, height: FloatArray) -> list[FloatArray]:
    from contourpy import contour_generator  # it comes with matplotlib

    return [np.array(line) for line in contour_generator(grid, grid, height).lines(0.0)]


def _polylines(lines: Iterable[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Join lines into one path with gaps, which makes one element of the picture."""
    gap = np.full((1, 2), np.nan)
    joined = np.concatenate([gap, *(part for line in lines for part in (line, gap))])
    return joined[:, 0], joined[:, 1]
