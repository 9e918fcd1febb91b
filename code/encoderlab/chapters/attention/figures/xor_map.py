"""Figures of chapter 2 on what makes a token's output bend: the map of XOR, and LayerNorm as a fold."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch

from encoderlab.chapters.attention.readout import best_readout, random_body, token_features
from encoderlab.chapters.attention.xor import ANSWER, corners, parity_of, parity_with_layer_norm
from encoderlab.explorer.moving import NOWHERE, region
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, RC, VERMILLION, panels
from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder, Trace
from encoderlab.model.layer_norm import standardize

UNDECIDED = 1e-6  # a readout smaller than this is zero up to rounding


def xor_map() -> tuple[Figure, Update]:
    """Show what the best readout of a random encoder says over the plane of two bits.

    Returns
    -------
    figure : Figure
    update : callable
        Of `constant`, `biases`, `norm` and `ffn`, booleans, and `depth`.
    """
    bits, reach = corners(2), 1.6
    labels = parity_of(bits)
    draw = np.random.default_rng(7).normal(size=(3, 12))
    embedding, constant_token = draw[:2], draw[2]
    grid = np.linspace(-reach, reach, 41)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    with mpl.rc_context(RC):
        figure, (plane,) = panels(1, height=4.8)
        plane.set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        plane.set(xlabel="first bit", ylabel="second bit", aspect="equal")
        differ = PathPatch(NOWHERE, fc=BLUE, ec="none", alpha=0.35, animated=True)
        alike = PathPatch(NOWHERE, fc=VERMILLION, ec="none", alpha=0.35, animated=True)
        plane.add_patch(differ)
        plane.add_patch(alike)
        note = plane.text(0, 0, "", ha="center", va="center", animated=True)
        (square,) = plane.plot(*bits[labels > 0].T, "s", color=BLUE, ms=11, zorder=3, animated=True)
        (disc,) = plane.plot(*bits[labels < 0].T, "o", color=VERMILLION, ms=12, zorder=3, animated=True)
        plane.legend(
            [square, disc],
            ["bits differ", "bits alike"],
            loc="lower center",
            bbox_to_anchor=(0.5, 1),
            ncols=2,
        )

    def update(constant: bool, biases: bool, norm: bool, ffn: bool, depth: int) -> str:
        body = random_body(
            np.random.default_rng(3),
            biases=biases,
            layer_norm=norm,
            ffn=ffn,
            depth=depth,
        )
        front = constant_token if constant else None
        W, b = best_readout(token_features(body, bits, embedding, front), labels)
        height = (token_features(body, points, embedding, front) @ W + b).reshape(41, 41)
        answers = (token_features(body, bits, embedding, front) @ W + b)[:, 0]
        differ.set_path(region(grid, grid, height, UNDECIDED))
        alike.set_path(region(grid, grid, -height, UNDECIDED))
        states = {"a constant token": constant, "biases": biases, "LayerNorm": norm, "FFN": ffn}
        extra = [name for name, state in states.items() if state]
        parts = (
            f"Attention{' with ' + ', '.join(extra) if extra else ' alone'}, {depth} layer{'s' * (depth > 1)}"
        )
        if np.abs(height).max() < UNDECIDED:
            note.set_text("0 everywhere")
            why = "odd in the bits, and XOR is even" if norm else "affine in the bits"
            return f"{parts}: the best readout is 0 everywhere, since all that comes out is {why}."
        note.set_text("")
        right = int(np.sum(np.sign(answers) == labels))
        return f"{parts}: the best readout is right at {right} of 4 points."

    return figure, update


CONSTANTS = ("0.5", "1", "2", "4", "8")


def norm_folds() -> tuple[Figure, Update]:
    """Show how LayerNorm wraps a line round a circle, and the coordinate that it folds.

    Returns
    -------
    figure : Figure
    update : callable
        Of `norm`, "first" or "second", and `constant`, one of `CONSTANTS`.
    """
    sums, fine = np.array([-4.0, -2.0, 0.0, 2.0, 4.0]), np.linspace(-5, 5, 201)
    odd = np.abs(sums) == 2
    across, up = np.array([[1, -1, 0, 0], [-1, -1, 2, 0]]) / np.sqrt([[2], [6]])
    with mpl.rc_context(RC):
        figure, (circle, answer) = panels(2, height=3.6)
        circle.set(title="LayerNorm takes a line to a circle", aspect="equal", xticks=[], yticks=[])
        circle.set(xlim=(-4.6, 4.6), ylim=(-0.7, 3.2))
        circle.spines[:].set_visible(False)
        turn = np.linspace(0, np.pi, 61)
        circle.plot(2 * np.cos(turn), 2 * np.sin(turn), color=GREY, lw=1)
        circle.axhline(np.sqrt(6), color=GREY, lw=1)
        circle.text(-4.5, np.sqrt(6) + 0.12, "before")
        circle.text(0, -0.2, "after: height is the third coordinate", ha="center", va="top")
        (rays,) = circle.plot([], [], color=GREY, lw=0.8, animated=True)
        (even_on,) = circle.plot([], [], "o", color=VERMILLION, ms=9, animated=True)
        (odd_on,) = circle.plot([], [], "s", color=BLUE, ms=8, animated=True)
        answer.set(title="The third coordinate", xlabel="sum of the four bits", xlim=(-5, 5), ylim=(-2.1, 2))
        answer.set_xticks(sums)
        answer.grid()
        (curve,) = answer.plot([], [], color=GREY, animated=True)
        (even_at,) = answer.plot([], [], "o", color=VERMILLION, ms=9, animated=True)
        (odd_at,) = answer.plot([], [], "s", color=BLUE, ms=8, animated=True)
        answer.legend([odd_at, even_at], ["odd number of ones", "even"], loc="lower center", ncols=2)

    def update(norm: str, constant: str) -> str:
        encoder, layer = parity_with_layer_norm(float(constant)), 0 if norm == "first" else 1
        before = _trace(encoder, sums).layers[layer].attention.u[:, 0]  # (5, 4)
        after = standardize(before, encoder.config.eps)[0]  # (5, 4)
        third = _trace(encoder, sums).hidden[layer + 1][:, 0, ANSWER]
        line = before / before[:, [ANSWER]] * 2  # only the direction counts: put the line at one height
        ends = np.stack([line @ across, line @ up], axis=1)  # (5, 2)
        rays.set_data(*np.stack([np.zeros((5, 2)), ends, np.full((5, 2), np.nan)], axis=1).reshape(-1, 2).T)
        on = np.stack([after @ across, after @ up], axis=1)
        even_on.set_data(*on[~odd].T)
        odd_on.set_data(*on[odd].T)
        curve.set_data(fine, _trace(encoder, fine).hidden[layer + 1][:, 0, ANSWER])
        even_at.set_data(sums[~odd], third[~odd])
        odd_at.set_data(sums[odd], third[odd])
        zero, two, four = (f"{value:.2f}".replace("-", "−") for value in third[[2, 3, 4]])
        if norm == "first":
            return (
                f"First LayerNorm, constant {constant}: sums of opposite sign get the same value; 0, 2 and 4 "
                f"go to {zero}, {two} and {four}."
            )
        return (
            f"Second LayerNorm, constant {constant}: 0 and 4 fall upon each other, at {zero} and "
            f"{four}; 2 goes to {two}. The sign is the parity."
        )

    return figure, update


def _trace(encoder: Encoder, sums: FloatArray) -> Trace:
    tokens = np.repeat(sums[:, None, None] / 4, 4, axis=2)  # (m, 1, 4): any four numbers with this sum
    return encoder.trace(tokens)
