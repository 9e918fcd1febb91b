"""Figure of chapter 2 on what training finds: parity of a token's bits, start by start."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from encoderlab.experiments import results
from encoderlab.explorer.controls import SWITCH
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, RC, VERMILLION, panels

DEPTHS = (1, 2, 4)
OFFSETS = (-0.18, 0, 0.18)  # the three starts stand side by side


def parity_runs() -> tuple[Figure, Update]:
    """Show how many inputs each trained model got right, by depth.

    Returns
    -------
    figure : Figure
    update : callable
        Of `bits`, "2" or "4", `constant` and `ffn`, booleans, and `norm`, "none", "post" or "pre".
    """
    found = results.load("lone_token")
    with mpl.rc_context(RC):
        figure, (axes,) = panels(1, height=3.6)
        axes.set(title="Share of the inputs that is right", xlabel="layers", xlim=(-0.5, 3.9), ylim=(0, 1.08))
        axes.set_xticks(range(len(DEPTHS)), [str(depth) for depth in DEPTHS])
        axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
        axes.axhline(1, color=GREY)
        affine = axes.axhline(1, color=VERMILLION, linestyle="--", animated=True)
        name = axes.text(3.85, 0, "best affine map", ha="right", va="bottom", animated=True)
        (dots,) = axes.plot([], [], "o", color=BLUE, markersize=8, animated=True)

    def update(bits: str, constant: bool, ffn: bool, norm: str) -> str:
        n = 2 ** int(bits)
        settings = {"bits": int(bits), "bos": constant, "ffn": ffn, "norm": norm}
        asked = settings | {"residual": True, "dtype": "float32", "lr": 3e-3, "steps": 1000}
        right = np.array([n * found.measure("accuracy", **asked, depth=depth) for depth in DEPTHS])
        threshold = n * found.select(**asked)[0].baselines["threshold on a weighted sum of the bits"]
        dots.set_data(np.add.outer(range(len(DEPTHS)), OFFSETS).ravel(), right.ravel() / n)
        affine.set_ydata([threshold / n] * 2)
        name.set_y(threshold / n)
        each = "; ".join(
            f"{depth} layer{'s' * (depth > 1)}: {', '.join(f'{value:.0f}' for value in row)}"
            for depth, row in zip(DEPTHS, right, strict=True)
        )
        beside = "beside a constant token" if constant else "alone"
        return (
            f"Parity of {bits} bits in a token {beside}, FFN {SWITCH[ffn]}, norm {norm}. Inputs right of "
            f"{n}, three starts each. {each}. The best affine map has {threshold:.0f}."
        )

    return figure, update
