"""Figures of chapter 3 on rank collapse: how fast the tokens become one, with each part on and off."""

from __future__ import annotations

from functools import lru_cache

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.stacking.random_stacks import biases, distances, random_stack
from encoderlab.chapters.stacking.rank_collapse import Apart, follow
from encoderlab.explorer.controls import SWITCH
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, RC, VERMILLION, log_ticks, panels
from encoderlab.model.arrays import FloatArray
from encoderlab.numerals import power_of_ten, scientific

DEPTH, DRAWS = 12, 8
FLOOR = 1e-60
"""The bottom of the first panel."""

IN_THE_WAY = ("none", *biases(), "skip")
"""What can keep the ruler from measuring three."""


def collapse_laboratory() -> tuple[Figure, Update]:
    """Show the distance to rank one after each layer of random stacks, far below rounding error.

    Returns
    -------
    figure : Figure
    update : callable
        Of `ffn` and `residual`, booleans, `norm`, `mask`, "none" or "causal", and `scale` of the logits.
    """
    layers = np.arange(DEPTH + 1)
    with mpl.rc_context(RC):
        figure, (whole, top) = panels(2, height=3.6)
        for axes, bottom, title in ((whole, FLOOR, "Distance to rank one"), (top, 1e-3, "The top of it")):
            axes.set(title=title, xlabel="layers passed", yscale="log", xlim=(0, DEPTH), ylim=(bottom, 2))
            axes.set_xticks(range(0, DEPTH + 1, 3))
            axes.grid()
        log_ticks(whole.yaxis, range(-60, 1, 10))
        log_ticks(top.yaxis, range(-3, 1))
        whole.axhspan(FLOOR, 1e-16, color=GREY, alpha=0.15, lw=0)
        whole.text(DEPTH - 0.2, 1e-18, "out of reach of float64 in one array", ha="right", va="top")
        bands = [
            a.fill(np.zeros(4), np.ones(4), color=BLUE, alpha=0.25, lw=0, animated=True)[0]
            for a in (whole, top)
        ]
        lines = [a.plot([], [], "o-", color=BLUE, ms=4, animated=True)[0] for a in (whole, top)]

    @lru_cache
    def measure(ffn: bool, residual: bool, norm: str, mask: str, scale: int) -> FloatArray:
        bias = biases()["causal mask"] if mask == "causal" else None
        switches = {"ffn": ffn, "residual": residual, "norm": norm}
        return distances(DEPTH, draws=DRAWS, scale=scale, bias=bias, **switches)

    def update(ffn: bool, residual: bool, norm: str, mask: str, scale: int) -> str:
        distance = np.maximum(measure(ffn, residual, norm, mask, scale), 1e-300)
        low, high, middle = distance.min(axis=0), distance.max(axis=0), np.median(distance, axis=0)
        outline = np.column_stack([[*layers, *layers[::-1]], [*low, *high[::-1]]])
        for band, line in zip(bands, lines, strict=True):
            band.set_xy(outline)
            line.set_data(layers, middle)
        gone = np.flatnonzero(middle < 1e-3)
        end = scientific(middle[-1]) if middle[-1] > FLOOR else f"below {power_of_ten(-60)}"
        when = f"falls below a thousandth at layer {gone[0]}" if gone.size else "stays above a thousandth"
        return (
            f"FFN {SWITCH[ffn]}, residual {SWITCH[residual]}, norm {norm}, mask {mask}, logits "
            f"times {scale}: over {DRAWS} draws the median distance to rank one {when} "
            f"and is {end} after {DEPTH}."
        )

    return figure, update


def cubic_ruler() -> tuple[Figure, Update]:
    """Plot what each layer leaves of the residual against what it was given: the slope is the law.

    Returns
    -------
    figure : Figure
    update : callable
        Of `between`, one of `IN_THE_WAY`, `norm`, `ffn`, booleans, and `scale` of the logits.
    """
    with mpl.rc_context(RC):
        figure, (axes,) = panels(1, height=4.4)
        axes.set(xlabel="‖R‖ before the layer", ylabel="‖R‖ after it", xscale="log", yscale="log")
        axes.set(xlim=(1e-54, 1e7), ylim=(1e-54, 1e7))
        for axis in (axes.xaxis, axes.yaxis):
            log_ticks(axis, range(-50, 1, 10))
        axes.grid()
        axes.plot([1e-54, 1e7], [1e-54, 1e7], ":", color=GREY)
        axes.plot([1e-18, 1e2], [1e-54, 1e6], ":", color=GREY)
        axes.text(1e-40, 1e-36, "slope 1", ha="right")
        axes.text(1e-14, 1e-50, "slope 3")
        (walk,) = axes.plot([], [], "o-", color=VERMILLION, lw=1, animated=True)

    @lru_cache
    def run(between: str, norm: str, ffn: bool, scale: int) -> list[Apart]:
        full, x = random_stack(0, 24, scale)
        encoder = full.switch(ffn=ffn, residual=between == "skip", norm=norm)
        return follow(encoder, x, biases().get(between))

    def update(between: str, norm: str, ffn: bool, scale: int) -> str:
        spread = np.array([state.spread for state in run(between, norm, ffn, scale)])
        spread = spread[spread > 1e-160]  # the next would have lost digits to underflow
        walk.set_data(spread[:-1], spread[1:])
        logs = np.log10(spread)
        if between == "none":
            law = f"the last step has slope {(logs[-1] - logs[-2]) / (logs[-2] - logs[-3]):.3f}"
        else:
            law = f"of the last 12 layers each leaves {10 ** np.diff(logs[-13:]).mean():.2g} of it on average"
        return (
            f"In the way: {between}; norm {norm}, FFN {SWITCH[ffn]}, logits times {scale}: from "
            f"{scientific(spread[0])} the residual comes to {scientific(spread[-1])} in {len(spread) - 1} "
            f"layers, and {law}."
        )

    return figure, update
