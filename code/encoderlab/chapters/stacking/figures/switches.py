"""Figures of the introduction: what each switch of an encoder does to its tokens."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.explorer.controls import SWITCH
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, DIVERGING, GREY, RC, colour_key, log_ticks, panels
from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder
from encoderlab.model.tokens import cosines, rank_one_residual
from encoderlab.numerals import scientific

ROUNDING = 1e-15  # what float64 leaves of a distance that is zero in exact arithmetic


def switches(encoder: Encoder, x: FloatArray, words: Sequence[str]) -> tuple[Figure, Update]:
    """Draw the cosine between tokens after some layers, beside the distance to rank one after each.

    Parameters
    ----------
    encoder : Encoder
        With every part switched on, and as deep as the deepest state shown.
    x : ndarray, shape (n, d_model)
        The tokens that go in.
    words : sequence of str
        What to call them.

    Returns
    -------
    figure : Figure
    update : callable
        `update(ffn, residual, norm, depth)`, the first two booleans.
    """
    n, deepest = len(words), encoder.config.depth
    with mpl.rc_context(RC):
        figure, (left, right) = panels(2, height=3.9)
        image = left.imshow(np.zeros((n, n)), vmin=-1, vmax=1, cmap=DIVERGING, animated=True)
        left.set(title="How alike the tokens are")
        left.set_xticks(range(n), words, rotation=90)
        left.set_yticks(range(n), words)
        colour_key(image, left, "cosine between two tokens")

        right.set(title="Distance to all tokens equal", xlabel="layers passed", yscale="log")
        right.set(xlim=(-0.3, deepest + 0.3), ylim=(1e-17, 3), ylabel="‖X − mean‖ / ‖X‖")
        right.set_xticks(range(0, deepest + 1, 2))
        log_ticks(right.yaxis, (-15, -10, -5, 0))
        right.axhspan(1e-17, ROUNDING, color=GREY, alpha=0.15, linewidth=0)
        right.text(0, 1e-16, "rounding error", va="center")
        (line,) = right.plot([], [], "o-", color=BLUE, animated=True)

    @functools.cache
    def hidden(ffn: bool, residual: bool, norm: str) -> tuple[FloatArray, ...]:
        return encoder.switch(ffn=ffn, residual=residual, norm=norm).trace(x).hidden

    def update(ffn: bool, residual: bool, norm: str, depth: int) -> str:
        states = hidden(ffn, residual, norm)[: depth + 1]
        distances = [float(rank_one_residual(state)) for state in states]
        similarity = cosines(states[-1])
        image.set_data(similarity)
        line.set_data(range(depth + 1), np.maximum(distances, 2e-17))
        mean = similarity[~np.eye(n, dtype=bool)].mean()
        distance = (
            f"the distance to all tokens equal is {scientific(distances[-1])}"
            if distances[-1] > ROUNDING
            else "the tokens are equal up to rounding error"
        )
        return (
            f"FFN {SWITCH[ffn]}, residual {SWITCH[residual]}, norm {norm}, "
            f"{depth} layer{'s' * (depth > 1)}: {distance}; "
            f"two different tokens have a mean cosine of {mean:.2f}."
        )

    return figure, update
