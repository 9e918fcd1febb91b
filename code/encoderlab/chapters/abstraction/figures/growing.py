"""Figures of chapter 5: a layer against a few bare embeddings, as phrases grow."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.abstraction.data import measured
from encoderlab.chapters.abstraction.figures.bins import listed
from encoderlab.chapters.abstraction.probe_data import MOST_ADJECTIVES
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREEN, GREY, PURPLE, RC, VERMILLION, panels

SHOWN = {
    "word and 1 on each side": (VERMILLION, "^--", "1 on each side"),
    "word and 2 on each side": (PURPLE, "s--", "2 on each side"),
    "word and 3 on each side": (GREEN, "v--", "3 on each side"),
    "2 on each side, at random to one width": (GREY, "D--", "2 on each side, at the width of one"),
}


def growing() -> tuple[Figure, Update]:
    """Draw the accuracy of a probe of layer 3, and of the same probe of bare embeddings, by adjectives.

    Returns
    -------
    figure : Figure
    update : callable
        Of `task`, a key of `encoderlab.chapters.abstraction.probe_data.GROWING`.
    """
    with mpl.rc_context(RC):
        figure, (axes,) = panels(1, height=4.4)
        axes.set(
            title="Right answers",
            xlabel="adjectives in a phrase, at most",
            xticks=MOST_ADJECTIVES,
            xlim=(-0.4, 6.4),
            ylim=(0.45, 1.03),
        )
        axes.grid(axis="y")
        (seeds,) = axes.plot([], [], "o", color=BLUE, ms=3, alpha=0.5, mew=0, animated=True)
        (layer,) = axes.plot([], [], "o-", color=BLUE, animated=True)
        lines = [
            axes.plot([], [], style, color=colour, ms=4, lw=1.3, animated=True)[0]
            for colour, style, _ in SHOWN.values()
        ]
        axes.legend(
            [layer, *lines],
            ["layer 3", *(label for _, _, label in SHOWN.values())],
            loc="upper center",
            bbox_to_anchor=(0.5, -0.18),
            ncols=2,
            fontsize=10,
        )

    def update(task: str) -> str:
        runs = measured("growing", task)[..., 3]  # (6, seeds)
        layer.set_data(MOST_ADJECTIVES, runs.mean(axis=1))
        seeds.set_data(np.repeat(MOST_ADJECTIVES, runs.shape[1]), runs.ravel())
        told = []
        for line, (name, (_, _, label)) in zip(lines, SHOWN.items(), strict=True):
            values = measured("growing_rivals", task, name).mean(axis=1)  # (6,)
            line.set_data(MOST_ADJECTIVES, values)
            told.append(f"{label}, {listed(values)}")
        most = ", ".join(map(str, MOST_ADJECTIVES))
        layers = listed(runs.mean(axis=1))
        return (
            f"{task.capitalize()}, with at most {most} adjectives in a phrase: after layer 3 a probe is "
            f"right in {layers} of cases; from bare embeddings of the word and {'; '.join(told)}."
        )

    return figure, update
