"""Figures of chapter 5: what linear probes read off each layer."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.abstraction.data import measured, results
from encoderlab.chapters.abstraction.figures.bins import draw_bins
from encoderlab.chapters.abstraction.probe_tasks import TASKS
from encoderlab.chapters.abstraction.probes import CONTROLS
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, DIVERGING, GREEN, GREY, PURPLE, RC, VERMILLION, colour_key, panels
from encoderlab.model.arrays import FloatArray

SHOWN = {  # of the controls, the lines to beat
    "commonest label": (GREY, ":"),
    "position alone": (GREEN, "--"),
    "all words, averaged": ("black", "-."),
    "word and 1 on each side": (VERMILLION, "--"),
    "word and 2 on each side": (PURPLE, "--"),
}


def above_commonest() -> FloatArray:
    """Return how far each accuracy goes from that of the commonest label (0) towards 1, (tasks, 7)."""
    accuracy = results()["probes"].mean(axis=1)
    commonest = measured("controls", CONTROLS[0]).mean(axis=1)[:, None]
    share: FloatArray = (accuracy - commonest) / (1 - commonest)
    return share


def probes() -> tuple[Figure, Update]:
    """Draw the accuracy of a probe by layer with its controls, and all probes at a glance.

    Returns
    -------
    figure : Figure
    update : callable
        Of `task`, a key of `TASKS`.
    """
    names = list(TASKS)
    with mpl.rc_context(RC):
        figure, (axes, table) = panels(2, height=4.6)
        axes.set(title="Right answers", ylim=(-0.02, 1.04))
        axes.grid(axis="y")
        draw_bins(axes)
        lines = [
            axes.plot([], [], style, color=colour, lw=1.3, animated=True)[0]
            for colour, style in SHOWN.values()
        ]
        (fresh,) = axes.plot([], [], "s--", color=GREY, ms=4, animated=True)
        (seeds,) = axes.plot([], [], "o", color=BLUE, ms=3, alpha=0.5, mew=0, animated=True)
        (trained,) = axes.plot([], [], "-", color=BLUE, animated=True)
        axes.legend(
            [trained, fresh, *lines],
            ["trained", "never trained", *SHOWN],
            loc="upper center",
            bbox_to_anchor=(0.5, -0.18),
            ncols=2,
            fontsize=10,
        )
        table.set(title="All at a glance", xlabel="layers passed")
        image = table.imshow(above_commonest(), vmin=-1, vmax=1, cmap=DIVERGING, aspect="auto")
        table.set_yticks(range(len(names)), names)
        table.set_xticks(range(7))
        colour_key(image, table, "0: as the commonest label, 1: always right")
        (frame,) = table.plot([], [], color="black", lw=2, animated=True)

    def update(task: str) -> str:
        index = names.index(task)
        runs, untrained = measured("probes", task), measured("untrained_probes", task)  # (seeds, 7)
        layers, means = np.arange(7), runs.mean(axis=0)
        trained.set_data(layers, means)
        seeds.set_data(np.tile(layers, len(runs)), runs.ravel())
        fresh.set_data(layers, untrained.mean(axis=0))
        levels = dict(zip(CONTROLS, measured("controls", task).mean(axis=0), strict=True))
        for line, name in zip(lines, SHOWN, strict=True):
            line.set_data([0, 6], [levels[name]] * 2)
        frame.set_data([-0.5, 6.5, 6.5, -0.5, -0.5], index + np.array([-0.5, -0.5, 0.5, 0.5, -0.5]))
        told = ", ".join(f"{value:.2f}" for value in means)
        best = int(means.argmax())
        where = f"layer {best}" if best else "the embedding"
        return (
            f"{task.capitalize()}: a linear probe is right in {told} of cases (embedding, layers 1 to 6), "
            f"best after {where}. From bare embeddings: of the word and one on each side "
            f"{levels['word and 1 on each side']:.2f}, of two on each side "
            f"{levels['word and 2 on each side']:.2f} "
            f"({levels['2 on each side, at random to one width']:.2f} at the width of one token), "
            f"all words averaged {levels['all words, averaged']:.2f}; position "
            f"alone {levels['position alone']:.2f}; never trained {untrained.mean(axis=0).max():.2f} at best."
        )

    return figure, update
