"""Figure of chapter 2 on what training finds: how often parity of a token's bits is learned, by rate."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter

from encoderlab.experiments import results
from encoderlab.experiments.boolean import RATES, STARTS
from encoderlab.experiments.success import success
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, RC, VERMILLION, panels

DEPTHS = (1, 2, 4)
HELP = ("nothing", "FFN", "constant token")
NORMS = ("none", "post", "pre")
STEPS = {1000: (BLUE, "o", 0.94), 4000: (VERMILLION, "s", 1.06)}
"""Colour, marker and place beside the rate of each number of steps."""


def parity_runs() -> tuple[Figure, Update]:
    """Show the share of starts that get all inputs right, by learning rate and by steps.

    Returns
    -------
    figure : Figure
    update : callable
        Of `bits`, "2" or "4", `beside`, one of `HELP`, `norm`, one of `NORMS`, and `depth`, one of `DEPTHS`.
    """
    alone, helped = results.load("parity_starts"), results.load("parity_helped")
    with mpl.rc_context(RC):
        figure, (axes,) = panels(1, height=3.8)
        axes.set(title=f"Share of {len(STARTS)} starts with all inputs right", xlabel="learning rate")
        axes.set(xscale="log", xlim=(0.0007, 0.045), ylim=(-0.04, 1.28), yticks=np.arange(0, 1.1, 0.25))
        axes.set_xticks(RATES, [f"{rate:g}" for rate in RATES])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
        axes.grid(axis="y")
        drawn = {}
        for steps, (colour, marker, _) in STEPS.items():
            (bars,) = axes.plot([], [], "-", color=colour, lw=1.4, animated=True)
            (shares,) = axes.plot([], [], marker, color=colour, ms=8, label=f"{steps} steps", animated=True)
            drawn[steps] = bars, shares
        axes.legend(loc="upper left", ncols=2, borderaxespad=0)
        bound = axes.text(0.03, 0.72, "", transform=axes.transAxes, ha="left", va="center", animated=True)

    def update(bits: str, beside: str, norm: str, depth: int) -> str:
        bare = beside == "nothing" and norm != "none"
        settings: dict[str, object] = {
            "bits": int(bits),
            "bos": beside == "constant token",
            "ffn": beside == "FFN",
        }
        settings |= {"norm": norm, "depth": depth, "dtype": "float32"}
        told = []
        for steps, (_, _, aside) in STEPS.items():
            rates = RATES if bare else RATES[1:2] if steps == 1000 else ()
            found = [success(alone if bare else helped, **settings, lr=rate, steps=steps) for rate in rates]
            x = np.array(rates) * aside
            ends = np.array([(one.low, one.high, np.nan) for one in found]).ravel()
            bars, shares = drawn[steps]
            bars.set_data(np.repeat(x, 3), ends)
            shares.set_data(x, [one.share for one in found])
            counts = ", ".join(f"{one.right} at {rate:g}" for one, rate in zip(found, rates, strict=True))
            told += [f"after {steps} steps {counts}"] if rates else []
        affine = beside == "nothing" and norm == "none"
        impossible = affine or (bits == "4" and beside == "nothing" and norm == "post" and depth == 1)
        bound.set_text("none can: proved" if impossible else "")
        with_it = {"nothing": "", "FFN": " with an FFN in each", "constant token": " beside a constant token"}
        return (
            f"Parity of {bits} bits, {depth} layer{'s' * (depth > 1)} of attention, norm {norm}"
            f"{with_it[beside]}. Of {len(STARTS)} starts all inputs right: {'; '.join(told)}."
            f"{' None can: proved.' * impossible}"
        )

    return figure, update
