"""Figures of chapter 5: the note's three bins beside the measurements."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from encoderlab.chapters.abstraction.data import measured, results
from encoderlab.chapters.abstraction.likeness import HIDDEN_MEASURES
from encoderlab.chapters.abstraction.reading import HEAD_MEASURES
from encoderlab.chapters.abstraction.sentences import centred, mean_and_interval, separation
from encoderlab.explorer.moving import MovingScale
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, RC, VERMILLION, panels
from encoderlab.model.arrays import FloatArray

BINS = (("local", 0.5, 2.5), ("phrases", 2.5, 4.5), ("global", 4.5, 6.5))  # the note's, by layer


class Curve(NamedTuple):
    """A measure after each layer: of the model, with an interval, and of layers never trained."""

    layers: FloatArray  # (k,)
    mean: FloatArray  # (k,)
    low: FloatArray  # (k,)
    high: FloatArray  # (k,)
    control: FloatArray  # (k,)
    spread: FloatArray  # (k, anything): each head, or each sentence
    second: FloatArray | None  # (k,), a fairer comparison


class Measure(NamedTuple):
    """A measure of the first explorer."""

    stored: str  # its name in the results
    ends: tuple[float, float]  # of the axis
    says: str
    second: str = ""  # name of the measure to compare with
    label: str = ""  # what that is


MEASURES: dict[str, Measure] = {
    "reach": Measure(
        "distance",
        (0, 1.6),
        "attention between words reaches {} of the distance that even attention would",
        "distance to others",
        "a word itself left out",
    ),
    "evenness": Measure("entropy", (0, 1.2), "attention has {} of the entropy of even attention"),
    "to [CLS]": Measure("to [CLS]", (0, 1), "{} of a word's attention goes to [CLS]"),
    "neighbours": Measure("neighbours", (0, 6), "a neighbour gets {} times the mean weight of a word"),
    "same word": Measure(
        "identical",
        (-1, 1),
        "preference for a copy of the same word over another word as far away is {}",
        "identical, same key",
        "for the same key",
    ),
    "likeness of words": Measure(
        "likeness of words",
        (-0.25, 0.75),
        "two words of a sentence have a mean cosine of {}",
        "with words of other sentences",
        "words of two sentences",
    ),
    "distance to rank one": Measure(
        "distance to rank one", (0, 1), "the distance of a sentence's words to all being equal is {}"
    ),
    "step": Measure(
        "step",
        (0, 1),
        "a word has a cosine of {} with itself a layer earlier",
        "step, mean removed",
        "common vector removed",
    ),
    "likeness of sentences": Measure(
        "others",
        (-1, 1),
        "two sentences that share no block have a mean cosine of {}",
        "others",
        "common vector removed",
    ),
    "margin": Measure(
        "margin",
        (-5, 15),
        "a sentence's partner stands out by {} standard deviations",
        "margin",
        "common vector removed",
    ),
}
"""What the first explorer shows."""


def curve(measure: str) -> Curve:
    """Gather a measure of `MEASURES` on the book's sentences from the stored results."""
    stored, (name, _, _, second, _) = results(), MEASURES[measure]
    more: FloatArray | None = None
    if name in HEAD_MEASURES:
        heads = measured("heads", name)[1:]  # (64, 6, 12)
        values, control = heads.mean(axis=-1), measured("untrained_heads", name)[:, 1:]
        spread, layers = np.nanmean(heads, axis=0), np.arange(1, 7)
        if second:
            more = np.nanmean(measured("heads", second)[1:], axis=(0, 2))
    elif name in HIDDEN_MEASURES:
        first = int(name == "step")
        values = measured("hidden", name)[1:, first:]  # (64, k)
        control = measured("untrained_hidden", name)[:, 1:, first:]
        spread, layers = values.T, np.arange(first, 7)
        if second:
            more = measured("hidden", second)[1:, first:].mean(axis=0)
    else:
        values = getattr(separation(stored["cosines"]), name).T  # (64, 7)
        field = measured("untrained_separation", "as they are", name)
        control, spread, layers = field.swapaxes(-1, -2), values.T, np.arange(7)
        more = getattr(separation(centred(stored["cosines"])), name).mean(axis=-1)
    mean, low, high = mean_and_interval(values, np.random.default_rng(0))
    return Curve(layers.astype(float), mean, low, high, np.nanmean(control, axis=(0, 1)), spread, more)


def bins() -> tuple[Figure, Update]:
    """Draw a measure by layer over the note's three bins, and how heads or sentences scatter about its mean.

    Returns
    -------
    figure : Figure
    update : callable
        Of `measure`, a key of `MEASURES`.
    """
    with mpl.rc_context(RC):
        figure, axes = panels(2, height=4.2)
        mean_axes, spread_axes = axes
        mean_axes.set(title="Mean, with 95 % interval")
        spread_axes.set(title="Each head, or each sentence")
        scales = [MovingScale(each, "y") for each in axes]
        for each in axes:
            draw_bins(each)
        (control,) = mean_axes.plot([], [], "--", color=GREY, animated=True)
        (second,) = mean_axes.plot([], [], "s-", color=VERMILLION, lw=1.3, ms=4, animated=True)
        (line,) = mean_axes.plot([], [], "o-", color=BLUE, animated=True)
        whiskers = [mean_axes.plot([], [], color=BLUE, lw=4, alpha=0.4, animated=True)[0] for _ in range(7)]
        mean_axes.legend(
            [line, control, second],
            ["trained", "never trained", "trained, compared fairly"],
            loc="upper left",
            bbox_to_anchor=(0, -0.17),
            fontsize=11,
        )
        note = mean_axes.text(
            0.5, 0.1, "", ha="center", transform=mean_axes.transAxes, fontsize=11, animated=True
        )
        (dots,) = spread_axes.plot([], [], "o", ms=4, color=BLUE, alpha=0.5, mew=0, animated=True)

    def update(measure: str) -> str:
        c, about = curve(measure), MEASURES[measure]
        for scale in scales:
            scale.set(*about.ends)
        y = scales[0]
        line.set_data(c.layers, y(c.mean))
        control.set_data(c.layers, y(c.control))
        if c.second is None:
            second.set_data([], [])
        else:
            second.set_data(c.layers, y(c.second))
        note.set_text(f"orange: {about.label}" if about.label else "")
        for k, whisker in enumerate(whiskers):
            there = slice(k, k + 1)
            ends = np.concatenate([c.low[there], c.high[there]])
            whisker.set_data(np.repeat(c.layers[there], 2), y(ends))
        jitter = np.linspace(-0.25, 0.25, c.spread.shape[1])
        dots.set_data((c.layers[:, None] + jitter).ravel(), y(c.spread).ravel())
        where = "layers 1 to 6" if c.layers[0] == 1 else "the embedding and layers 1 to 6"
        said = about.says.format(listed(c.mean))
        fair = "" if c.second is None else f"; {about.label}, {listed(c.second)}"
        never = listed(c.control[-1:])
        return f"{said[0].upper()}{said[1:]} ({where}){fair}; never trained, {never} at the end."

    return figure, update


def listed(values: FloatArray) -> str:
    """Write numbers one after the other, with two digits."""
    return ", ".join(f"{round(value, 2) + 0.0:.2f}" for value in values.tolist()).replace("-", "−")


def draw_bins(axes: Axes) -> None:
    """Shade the note's bins and name them above the axis of layers."""
    axes.set_xlim(-0.5, 6.5)
    axes.set_xticks(range(7), ["emb.", *map(str, range(1, 7))])
    axes.set_xlabel("after layer")
    for k, (name, start, end) in enumerate(BINS):
        axes.axvspan(start, end, color=GREY, alpha=0.06 + 0.06 * (k % 2), linewidth=0)
        axes.text(
            (start + end) / 2,
            0.005,
            name,
            ha="center",
            va="bottom",
            fontsize=10,
            transform=axes.get_xaxis_transform(),
        )
