"""Figures of chapter 4: how large the gradient is, by layer and by depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.residual_norm.gradient_flow import (
    ARCHITECTURES,
    depth_exponent,
    draw_stack,
    gradient_flow,
)
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, RC, VERMILLION, log_ticks, panels
from encoderlab.model.arrays import FloatArray
from encoderlab.numerals import scientific

DEPTHS = (6, 12, 24, 48)
PARTS: Mapping[str, str] = MappingProxyType(
    {"activations": "", "W_Q": "attention.W_Q", "W_V": "attention.W_V", "W_2": "ffn.W_2"}
)
"""What a gradient can be taken by, and its name in `GradientFlow.parameters`."""


@cache
def _flows(architecture: str, depth: int, gain: float, draws: int) -> dict[str, FloatArray]:
    """Return for each of `PARTS` the norms by layer, a row for each draw."""
    cases = [draw_stack(architecture, depth, np.random.default_rng(k), gain) for k in range(draws)]
    flows = [gradient_flow(*case) for case in cases]
    rows = {
        part: [flow.parameters[name] if name else flow.hidden for flow in flows]
        for part, name in PARTS.items()
    }
    return {part: np.array(norms) for part, norms in rows.items()}


def thermometer() -> tuple[Figure, Update]:
    """Show the norm of the gradient in every layer, on a wide scale and close to one.

    Returns
    -------
    figure : Figure
    update : callable
        Of `architecture`, a key of `ARCHITECTURES`, `depth`, one of `DEPTHS`, `gain`, such as "0.5", and
        `part`, a key of `PARTS`.
    """
    draws, lowest, highest = 3, 1e-20, 1e20
    with mpl.rc_context(RC):
        figure, (wide, near) = panels(2, height=3.9)
        wide.set(title="Norm of the gradient, all four stacks", ylim=(lowest, highest), yscale="log")
        near.set(title="This stack, three draws, close to 1", ylim=(1e-2, 1e3), yscale="log")
        log_ticks(wide.yaxis, range(-20, 21, 5))
        log_ticks(near.yaxis, range(-2, 4))
        for axes in (wide, near):
            axes.set(xlim=(-0.03, 1.03), xlabel="layer")
            axes.set_xticks([0, 0.5, 1], labels=["first", "middle", "last"])
            axes.grid()
            axes.axhline(1, color=GREY, lw=0.8)
        others = [wide.plot([], [], color=GREY, lw=1.2, animated=True)[0] for _ in range(3)]
        (line,) = wide.plot([], [], color=BLUE, lw=2.5, animated=True)
        curves = [near.plot([], [], color=BLUE, lw=1.2, animated=True)[0] for _ in range(draws)]
        wide.legend([line, others[0]], ["this stack", "the other three"], loc="upper right")

    def update(architecture: str, depth: int, gain: str, part: str) -> str:
        norms = {name: _flows(name, depth, float(gain), draws)[part] for name in ARCHITECTURES}
        at = np.unique(np.linspace(0, norms[architecture].shape[1] - 1, 13).round().astype(int))
        norms = {
            name: rows[:, at] for name, rows in norms.items()
        }  # a deep stack at every fourth layer or so
        shown = {name: np.maximum(_middle(rows), lowest) for name, rows in norms.items()}
        middle, place = shown.pop(architecture), at / at[-1]
        line.set_data(place, middle)
        for other, values in zip(others, shown.values(), strict=True):
            other.set_data(place, values)
        for curve, row in zip(curves, norms[architecture], strict=True):
            curve.set_data(place, np.maximum(row, lowest))
        what = "the activations" if part == "activations" else part
        return (
            f"{architecture}, {depth} layers, weight gain {gain}, a gradient of norm 1 at the output: by "
            f"{what} it is {_told(middle[0])} at the first layer and {_told(middle[-1])} at the last."
        )

    def _told(value: float) -> str:
        return scientific(float(value)) if value > lowest else "10⁻²⁰ or less"

    return figure, update


QUANTITIES: Mapping[str, Callable[[dict[str, FloatArray]], FloatArray]] = MappingProxyType(
    {
        "W_2 of the last layer": lambda flow: flow["W_2"][:, -1],
        "W_2 of the first layer": lambda flow: flow["W_2"][:, 0],
        "activations, first over last": lambda flow: flow["activations"][:, 0] / flow["activations"][:, -1],
    }
)
"""What is followed over depth, one value for each draw."""


def depth_laws() -> tuple[Figure, Update]:
    """Show how three measures of the gradient change with depth, for post-LN beside pre-LN.

    Returns
    -------
    figure : Figure
    update : callable
        Of `quantity`, a key of `QUANTITIES`, and `gain`, such as "0.5".
    """
    draws, colours = 8, {"post-LN": VERMILLION, "pre-LN": BLUE}
    with mpl.rc_context(RC):
        figure, (plane,) = panels(1, height=4.0)
        plane.set(xscale="log", yscale="log", xlim=(5, 58), ylim=(0.004, 70))
        plane.set(xlabel="number of layers", ylabel="norm of the gradient")
        plane.set_xticks(DEPTHS, labels=map(str, DEPTHS))
        plane.minorticks_off()
        log_ticks(plane.yaxis, range(-2, 2))
        plane.grid()
        clouds = {
            name: plane.plot([], [], ".", color=c, ms=5, alpha=0.5, animated=True)[0]
            for name, c in colours.items()
        }
        curves = {name: plane.plot([], [], "o-", color=c, animated=True)[0] for name, c in colours.items()}
        plane.legend(curves.values(), curves.keys(), loc="lower left")

    def update(quantity: str, gain: str) -> str:
        told = []
        for name in colours:
            values = np.array(
                [QUANTITIES[quantity](_flows(name, depth, float(gain), draws)) for depth in DEPTHS]
            )
            middle = _middle(values.T)
            clouds[name].set_data(np.repeat(DEPTHS, draws), values.ravel())
            curves[name].set_data(DEPTHS, middle)
            slopes = [depth_exponent(DEPTHS, draw) for draw in values.T]
            told.append(
                f"{name} goes from {scientific(middle[0])} to {scientific(middle[-1])}, like depth to the "
                f"power {np.mean(slopes):.2f} ± {np.std(slopes):.2f}"
            )
        return (
            f"{quantity}, weight gain {gain}, from {DEPTHS[0]} to {DEPTHS[-1]} layers: {'; '.join(told)} "
            f"(± is the spread of {draws} draws)."
        ).replace("power -", "power −")

    return figure, update


def _middle(norms: FloatArray) -> FloatArray:
    """Return the geometric mean over draws, the first axis."""
    middle: FloatArray = np.exp(np.log(np.maximum(norms, np.finfo(float).tiny)).mean(axis=0))
    return middle
