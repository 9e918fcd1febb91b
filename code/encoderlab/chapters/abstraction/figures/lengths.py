"""Figures of chapter 5: reach, [CLS] and neighbours in texts of ten to 160 words."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.abstraction.data import measured, results
from encoderlab.chapters.abstraction.figures.bins import draw_bins, listed
from encoderlab.chapters.abstraction.measurements import by_length
from encoderlab.chapters.abstraction.prose import LENGTHS, story_interval
from encoderlab.explorer.moving import MovingScale
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, RC, VERMILLION, panels


class Shown(NamedTuple):
    """A measure that length is asked of."""

    stored: str  # one of `LENGTH_MEASURES`
    says: str
    second: str  # of `LENGTH_MEASURES`, or "" for the same in words dealt anew
    label: str  # what that is


SHOWN: dict[str, Shown] = {
    "reach": Shown(
        "reach to others", "a word's attention to others reaches {} of an even reach", "", "words dealt anew"
    ),
    "to [CLS]": Shown(
        "to [CLS]",
        "{} of a word's attention goes to [CLS]",
        "[CLS] by length of vectors",
        "of the lengths of what is brought",
    ),
    "neighbours": Shown(
        "neighbours", "a neighbour gets {} times the mean weight of a word", "", "words dealt anew"
    ),
}
"""What the explorer shows."""


def lengths() -> tuple[Figure, Update]:
    """Draw a measure by layer over the note's bins, for texts of one length, and how heads scatter.

    Returns
    -------
    figure : Figure
    update : callable
        Of `measure`, a key of `SHOWN`, and `words`, one of `LENGTHS`.
    """
    layers = np.arange(1, 7)
    with mpl.rc_context(RC):
        figure, axes = panels(2, height=4.2)
        mean_axes, spread_axes = axes
        mean_axes.set(title="Mean, with 95 % interval")
        spread_axes.set(title="Each head")
        scales = [MovingScale(each, "y") for each in axes]
        for each in axes:
            draw_bins(each)
            each.set_xlim(0.4, 6.6)
        (control,) = mean_axes.plot([], [], "--", color=GREY, animated=True)
        (second,) = mean_axes.plot([], [], "s-", color=VERMILLION, lw=1.3, ms=4, animated=True)
        (line,) = mean_axes.plot([], [], "o-", color=BLUE, animated=True)
        whiskers = [mean_axes.plot([], [], color=BLUE, lw=4, alpha=0.4, animated=True)[0] for _ in layers]
        mean_axes.legend(
            [line, control, second],
            ["trained", "never trained", "trained, to compare"],
            loc="upper left",
            bbox_to_anchor=(0, -0.17),
            fontsize=11,
        )
        note = mean_axes.text(
            0.5, 0.93, "", ha="center", transform=mean_axes.transAxes, fontsize=11, animated=True
        )
        (dots,) = spread_axes.plot([], [], "o", ms=4, color=BLUE, alpha=0.5, mew=0, animated=True)

    def update(measure: str, words: int) -> str:
        shown = SHOWN[measure]
        mean, low, high = story_interval(by_length(shown.stored, words), np.random.default_rng(0))
        order = "as told" if shown.second else "dealt anew"
        other = by_length(shown.second or shown.stored, words, order).mean(axis=0)
        never, heads = (
            measured(array, f"{words} words", shown.stored)  # (6,), (6, 12)
            for array in ("by_length_untrained", "by_length_heads")
        )
        scales[0].set(0, _top(measure, max(high.max(), other.max(), never.max())))
        scales[1].set(0, _top(measure, heads.max()))
        line.set_data(layers, scales[0](mean))
        second.set_data(layers, scales[0](other))
        control.set_data(layers, scales[0](never))
        note.set_text(f"orange: {shown.label}")
        for layer, whisker in enumerate(whiskers):
            whisker.set_data([layer + 1] * 2, scales[0](np.array([low[layer], high[layer]])))
        dots.set_data((layers[:, None] + np.linspace(-0.25, 0.25, 12)).ravel(), scales[1](heads).ravel())
        told = results()["by_length_words"][LENGTHS.index(words)].mean()
        said = shown.says.format(listed(mean))
        return (
            f"Texts of {told:.0f} words on average: {said} (layers 1 to 6); {shown.label}, {listed(other)}; "
            f"never trained, {listed(never[-1:])} at the end."
        )

    return figure, update


def _top(measure: str, largest: float) -> float:
    """Return where an axis ends: shares and reaches at fixed places, counts at the next round number."""
    if measure == "to [CLS]":
        return 1.0
    if measure == "reach":
        return 1.6
    return float(next(top for top in (4, 8, 12, 24, 40, 80, 160) if top >= largest))
