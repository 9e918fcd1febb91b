"""Figure of chapter 2 on the square root of d: how a row of attention saturates as heads grow wider."""

from __future__ import annotations

import functools

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.attention.saturation import random_rows
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREEN, RC, VERMILLION, log_ticks, panels
from encoderlab.model.arrays import FloatArray
from encoderlab.numerals import scientific

WIDTHS = tuple(2**k for k in range(11))
DIVISORS: dict[str, float] = {"1": 0.0, "√d_head": -0.5, "d_head": -1.0}


def root_d() -> tuple[Figure, Update]:
    """Show one row of attention between random tokens, and how much gradient softmax lets through.

    Returns
    -------
    figure : Figure
    update : callable
        Of `d_head`, one of `WIDTHS`, and `divisor`, a key of `DIVISORS`.
    """
    n = 16
    with mpl.rc_context(RC):
        figure, (row, gradient) = panels(2, height=3.6)
        row.set(title="Weights of one query, largest first", xlabel="key", ylim=(0, 1), xlim=(-0.7, n - 0.3))
        row.set_xticks([])
        row.grid(axis="y")
        bars = row.bar(range(n), 1, color=BLUE, animated=True)
        gradient.set(title="What softmax lets through", xlabel="d_head", ylabel="size of its Jacobian")
        gradient.set(xscale="log", yscale="log", xlim=(0.9, 1300), ylim=(1e-5, 1))
        gradient.set_xticks(
            [1, 4, 16, 64, 256, 1024], labels=["1", "4", "16", "64", "256", "1024"], minor=False
        )
        gradient.set_xticks([], minor=True)
        log_ticks(gradient.yaxis, (-5, -4, -3, -2, -1, 0))
        gradient.grid()
        (here,) = gradient.plot([], [], "o", color="black", ms=7, animated=True)

    @functools.cache
    def measure(d_head: int, divisor: str) -> tuple[FloatArray, float, float]:
        rows = random_rows(np.random.default_rng(0), d_head, d_head ** DIVISORS[divisor], n=n)
        typical = np.argsort(rows.keys)[len(rows.keys) // 2]
        return np.sort(rows.weights[typical])[::-1], float(rows.keys[typical]), float(np.median(rows.passed))

    with mpl.rc_context(RC):
        for divisor, style, colour in zip(DIVISORS, ("-", "--", ":"), (VERMILLION, BLUE, GREEN), strict=True):
            passed = [measure(d, divisor)[2] for d in WIDTHS]
            gradient.plot(WIDTHS, passed, style, color=colour, label=f"divided by {divisor}")
        gradient.legend(loc="lower left")

    def update(d_head: int, divisor: str) -> str:
        weights, keys, passed = measure(d_head, divisor)
        for bar, height in zip(bars, weights, strict=True):
            bar.set_height(height)
        here.set_data([d_head], [passed])
        return (
            f"d_head = {d_head}, logits divided by {divisor}: a typical query attends to {keys:.1f} of {n} "
            f"keys, with {weights[0]:.0%} of its weight on one; the Jacobian of softmax has the size "
            f"{scientific(passed)}."
        )

    return figure, update
