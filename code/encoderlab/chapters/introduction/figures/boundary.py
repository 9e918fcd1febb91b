"""The introduction's first figure: one layer drawn, and the boundary that a trained stack of it draws."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.text import Text

from encoderlab.experiments.kept_weights import load_model
from encoderlab.experiments.results import load
from encoderlab.explorer.moving import NOWHERE, region
from encoderlab.explorer.picture import Update
from encoderlab.explorer.shapes import arrow, box, canvas
from encoderlab.explorer.style import BLUE, GREY, RC, VERMILLION, panels
from encoderlab.model.arrays import FloatArray
from encoderlab.model.measures import affine_misfit
from encoderlab.training.tasks import moons

WORDS = ("the", "cat", "sat", "down")
X, Y = np.linspace(-2.1, 2.1, 85), np.linspace(-1.5, 1.5, 61)  # of the plane that is drawn
GRID = np.stack(np.meshgrid(X, Y), axis=-1).reshape(-1, 2).astype(np.float32)  # (len(Y) · len(X), 2)
ROUNDING = 1e-5  # of an affine function in float32
COLOURS = (VERMILLION, BLUE)  # of the two classes
SHOWN = 160  # points


def boundary() -> tuple[Figure, Update]:
    """Draw a layer of an encoder, and how stacks of it divide the plane of a lone token's two features.

    Returns
    -------
    figure : Figure
    update : callable
        Of `ffn`, a boolean, and `depth`, one of `encoderlab.experiments.plane.DEPTHS`.
    """
    task, runs = moons(), load("boundary")
    points, labels = task.draw(np.random.default_rng(5), SHOWN)
    points = points[:, 0]  # (SHOWN, 2)
    with mpl.rc_context(RC):
        figure, (sheet, plane) = panels(2, height=3.5)
        ffns, times = _draw_layer(sheet)
        plane.set(xlim=X[[0, -1]], ylim=Y[[0, -1]], aspect="equal")
        plane.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1], title="What a trained stack answers")
        plane.set(xlabel="first feature of the token", ylabel="second feature")
        fields = [PathPatch(NOWHERE, fc=colour, ec="none", alpha=0.25, animated=True) for colour in COLOURS]
        for field in fields:
            plane.add_patch(field)
        for label, (marker, colour) in enumerate(zip("os", COLOURS, strict=True)):
            plane.plot(*points[labels == label].T, marker, ms=4, color=colour, zorder=5, animated=True)

    def update(ffn: bool, depth: int) -> str:
        for outline, word in ffns:
            outline.set(edgecolor=BLUE if ffn else GREY, linestyle="-" if ffn else ":")
            word.set_text("FFN" if ffn else "–")
        times.set_text(f"× {depth}")
        lead = _lead(ffn, depth)  # (len(Y), len(X))
        bent = affine_misfit(GRID, lead.reshape(-1, 1))
        for field, sign in zip(fields, (-1, 1), strict=True):
            field.set_path(region(X, Y, sign * lead))
        right = runs.measure("accuracy", ffn=ffn, depth=depth, dtype="float32")
        line = runs.select(dtype="float32")[0].baselines["best straight line"]
        stack = f"{depth} layer{'s' * (depth > 1)} of attention {'and FFN' if ffn else 'alone'}"
        return (
            f"{stack}, trained from {len(right)} starts: right on {right.min():.1%} to {right.max():.1%} "
            f"of the points, where the best straight line has {line:.1%}. "
            f"The boundary shown, of the first start, is "
            f"{'a straight line' if bent < ROUNDING else 'a curve'}."
        )

    return figure, update


def _lead(ffn: bool, depth: int) -> FloatArray:
    """Return by how much the first start's model prefers class 1 over the plane, (len(Y), len(X))."""
    model, _ = load_model("boundary", f"{'ffn' if ffn else 'attention'}_{depth}")
    lead: FloatArray = np.diff(model(GRID[:, None])).reshape(len(Y), len(X))
    return lead


def _draw_layer(sheet: Axes) -> tuple[list[tuple[FancyBboxPatch, Text]], Text]:
    """Draw one layer: tokens side by side, attention across them, an FFN within each, skips and norms."""
    canvas(sheet, 12, 8.6)
    sheet.set_title("One layer")
    places, middle, wide = [1.8 + 2.5 * k for k in range(len(WORDS))], 5.55, 9.9
    for x, word in zip(places, WORDS, strict=True):
        box(sheet, x, 0.55, 2.0, 0.9, word)
        for low, high in ((1.25, 4.0), (4.95, 7.05)):  # the skips, past attention and past the FFN
            arrow(sheet, (x, low), (x - 1.0, low), arrowstyle="-", lw=1)
            arrow(sheet, (x - 1.0, low), (x - 1.0, high), lw=1)
        for low, high in ((1.0, 1.6), (3.5, 4.0), (4.6, 5.3), (6.3, 7.05), (7.65, 8.5)):
            arrow(sheet, (x, low), (x, high))
    box(sheet, middle, 2.55, wide, 1.9, fc="white", ec=VERMILLION)
    sheet.text(middle, 3.12, "attention: across the tokens", ha="center", va="center_baseline")
    for k, x in enumerate(places):  # each token reads every other
        for other in places[:k]:
            bend = f"arc3,rad={0.55 / (1 + (x - other) / 2.5):.2f}"
            arrow(sheet, (x, 1.85), (other, 1.85), arrowstyle="<|-|>", connectionstyle=bend, lw=0.9)
    for height in (4.3, 7.35):
        box(sheet, middle, height, wide, 0.6, "add and norm", fc="white", lw=1)
    ffns = [box(sheet, x, 5.8, 1.6, 1.0, "FFN", fc="white", animated=True) for x in places]
    times = sheet.text(11.3, 4.3, "", ha="center", va="center", fontsize=15, animated=True)
    return ffns, times
