"""Figures of chapter 4: a residual that cancels or turns its input, and LayerNorm at work on one token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, RC, VERMILLION, panels
from encoderlab.model.arrays import FloatArray
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm, standardize
from encoderlab.numerals import scientific

FLAG = np.array([[0.2, -0.6], [0.2, 1.4], [1.6, 0.9], [0.2, 0.4]])
"""Tokens of two features, in a shape without symmetry."""


def _shrink(strength: float) -> FloatArray:
    return -strength * np.eye(2)


def _flatten(strength: float) -> FloatArray:
    return np.diag([0.0, -strength])


def _turn(strength: float) -> FloatArray:
    angle = np.pi / 2 * strength
    rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return rotation - np.eye(2)


BRANCHES: Mapping[str, Callable[[float], FloatArray]] = MappingProxyType(
    {"shrinks": _shrink, "flattens": _flatten, "turns": _turn}
)
"""What a linear branch F(x) = x W does to x + F(x), by strength."""

STRENGTHS = ("0", "0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75", "2")


def cancellation() -> tuple[Figure, Update]:
    """Show tokens of two features before and after x + F(x), and two numbers that disagree about them.

    Returns
    -------
    figure : Figure
    update : callable
        Of `branch`, a key of `BRANCHES`, and `strength`, such as those of `STRENGTHS`.
    """
    strengths = np.linspace(0, 2, 41)
    closed = np.append(FLAG, FLAG[:1], axis=0)
    with mpl.rc_context(RC):
        figure, (plane, curves) = panels(2, height=3.8)
        plane.set(title="Tokens before and after x + F(x)", xlim=(-2.6, 2.6), ylim=(-2.1, 2.1))
        plane.set(xlabel="first feature", ylabel="second feature", aspect="equal")
        plane.set(xticks=[-2, -1, 0, 1, 2], yticks=[-2, -1, 0, 1, 2])
        plane.grid()
        (before,) = plane.plot(*closed.T, "o--", color=GREY)
        (after,) = plane.plot([], [], "o-", color=BLUE, animated=True)
        plane.legend([before, after], ["x", "x + F(x)"], loc="lower right")
        curves.set(title="Two answers", xlabel="strength of F", xlim=(-0.05, 2.05), ylim=(-1.15, 2.2))
        curves.set(xticks=[0, 0.5, 1, 1.5, 2], yticks=[-1, 0, 1, 2])
        curves.grid()
        (cosine,) = curves.plot([], [], "--", color=VERMILLION, animated=True)
        (smallest,) = curves.plot([], [], color=BLUE, animated=True)
        (here,) = curves.plot([], [], "o", color="black", ms=7, animated=True)
        curves.legend(
            [cosine, smallest], ["mean cosine with x", "smallest singular value of I + J"], loc="upper left"
        )

    def measure(W: FloatArray) -> tuple[float, float]:
        out = FLAG + FLAG @ W
        length = np.linalg.norm(out, axis=1) * np.linalg.norm(FLAG, axis=1)
        if not length.all():  # a token of zeros has no direction
            return np.nan, 0.0
        cosines = (FLAG * out).sum(axis=1) / length
        return cosines.mean(), np.linalg.svd(np.eye(2) + W, compute_uv=False)[-1]

    def update(branch: str, strength: str) -> str:
        W = BRANCHES[branch]
        after.set_data(*(closed + closed @ W(float(strength))).T)
        answers = np.array([measure(W(s)) for s in strengths])
        cosine.set_data(strengths, answers[:, 0])
        smallest.set_data(strengths, answers[:, 1])
        similar, kept = measure(W(float(strength)))
        here.set_data([float(strength)] * 2, [similar, kept])
        verdict = "x can be computed from x + F(x)" if kept > 1e-9 else "x can no longer be computed from it"
        told = "undefined" if np.isnan(similar) else f"{similar + 0.0:.2f}".replace("-", "−")
        return (
            f"F {branch}, strength {strength}: the mean cosine of x + F(x) with x is {told}, the smallest "
            f"singular value of I + J is {abs(kept):.2f}; {verdict}."
        )

    return figure, update


TOKEN = np.array([0.9, -0.4, 1.3, -1.1, 0.2, -0.7, 0.5, -0.3])  # one token of eight features


def layer_norm_bench() -> tuple[Figure, Update]:
    """Show the features of one token before and after LayerNorm, γ = 1 and β = 0.

    Returns
    -------
    figure : Figure
    update : callable
        Of `scale`, `shift` and `eps`, numbers written as text, and `outlier`, a boolean.
    """
    places = np.arange(1, 9)
    plain = LayerNormWeights(np.ones(8), np.zeros(8))
    with mpl.rc_context(RC):
        figure, (raw, normed) = panels(2, height=3.6)
        raw.set(title="One token", xlabel="feature", xticks=places, ylim=(-200, 2000))
        raw.set_yscale("symlog", linthresh=1, linscale=0.8)
        raw.set_yticks(
            [-100, -10, -1, 0, 1, 10, 100, 1000], labels=["−100", "−10", "−1", "0", "1", "10", "100", "1000"]
        )
        raw.minorticks_off()
        raw.axhline(0, color=GREY, lw=0.8)
        normed.set(title="After LayerNorm", xlabel="feature", xticks=places, ylim=(-3, 3))
        for height in (-1, 0, 1):
            normed.axhline(height, color=GREY, lw=0.8, ls="-" if height == 0 else ":")
        before = raw.bar(places, np.zeros(8), color=GREY, animated=True)
        after = normed.bar(places, np.zeros(8), color=BLUE, animated=True)

    def update(scale: str, shift: str, outlier: bool, eps: str) -> str:
        x = TOKEN.copy()
        if outlier:
            x[2] = 20.0
        x = float(scale) * x + float(shift)
        y = layer_norm(x, plain, float(eps))
        for bars, heights in ((before, x), (after, y)):
            for bar, height in zip(bars, heights, strict=True):
                bar.set_height(height)
        sigma = standardize(x, float(eps)).sigma.item()
        largest = np.sort(np.abs(y))
        return (
            f"Mean {scientific(x.mean())} and spread {scientific(x.std())} become {abs(y.mean()):.0f} and "
            f"{y.std():.2g}; a small change comes out {scientific(1 / sigma)} times as large; "
            f"the largest feature comes out at {largest[-1]:.2f}, the next at {largest[-2]:.2f}."
        )

    return figure, update
