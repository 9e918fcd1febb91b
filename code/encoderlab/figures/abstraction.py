"""Figures of chapter 5: the note's three bins beside the measurements."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from encoderlab.abstraction import HEAD_MEASURES
from encoderlab.abstraction_results import HIDDEN_MEASURES, results
from encoderlab.figures.moving import MovingScale
from encoderlab.figures.style import BLUE, GREY, RC, VERMILLION, panels
from encoderlab.sentences import Separation, mean_and_interval, separation
from encoderlab.validation import FloatArray

Update = Callable[..., str]

BINS = (("local", 0.5, 2.5), ("phrases", 2.5, 4.5), ("global", 4.5, 6.5))  # the note's, by layer


class Curve(NamedTuple):
    """A measure after each layer: of the model, with an interval, and of layers never trained."""

    layers: FloatArray  # (k,)
    mean: FloatArray  # (k,)
    low: FloatArray  # (k,)
    high: FloatArray  # (k,)
    control: FloatArray  # (k,)
    spread: FloatArray  # (k, anything): each head, or each sentence


MEASURES: dict[str, tuple[str, tuple[float, float]]] = {
    "reach": ("distance", (0, 1.6)),
    "evenness": ("entropy", (0, 1.2)),
    "to [CLS]": ("to [CLS]", (0, 1)),
    "neighbours": ("neighbours", (0, 6)),
    "same word": ("identical", (-1, 1)),
    "likeness of tokens": (HIDDEN_MEASURES[0], (0, 1)),
    "rank": (HIDDEN_MEASURES[1], (0, 1)),
    "step": (HIDDEN_MEASURES[2], (0, 1)),
    "likeness of sentences": ("others", (0, 1)),
    "margin": ("margin", (0, 16)),
}
"""What the first explorer shows, with the name under which it is stored and the ends of its axis."""

SAYS = {
    "reach": "attention between words reaches {} of the distance that even attention would",
    "evenness": "attention has {} of the entropy of even attention",
    "to [CLS]": "{} of a word's attention goes to [CLS]",
    "neighbours": "a neighbouring word gets {} times the mean weight of a word",
    "same word": "preference for a copy of the same word over another word as far away is {}",
    "likeness of tokens": "two tokens of a sentence have a mean cosine of {}",
    "rank": "the distance of a sentence's tokens to all being equal is {}",
    "step": "a token has a cosine of {} with itself a layer earlier",
    "likeness of sentences": "two sentences that share no block have a mean cosine of {}",
    "margin": "a sentence's partner stands out by {} standard deviations",
}


def curve(measure: str) -> Curve:
    """Gather a measure of `MEASURES` on the book's sentences from the stored results."""
    stored, (name, _) = results(), MEASURES[measure]
    if name in HEAD_MEASURES:
        index = list(HEAD_MEASURES).index(name)
        heads = stored["heads"][index, 1:]  # (64, 6, 12)
        values, control = heads.mean(axis=-1), stored["untrained_heads"][:, index, 1:]
        spread, layers = np.nanmean(heads, axis=0), np.arange(1, 7)
    elif name in HIDDEN_MEASURES:
        index, first = HIDDEN_MEASURES.index(name), int(name == HIDDEN_MEASURES[2])
        values = stored["hidden"][index, 1:, first:]  # (64, k)
        control = stored["untrained_hidden"][:, index, 1:, first:]
        spread, layers = values.T, np.arange(first, 7)
    else:
        values = getattr(separation(stored["cosines"]), name).T  # (64, 7)
        field = stored["untrained_separation"][:, Separation._fields.index(name)]
        control, spread, layers = field.swapaxes(-1, -2), values.T, np.arange(7)
    mean, low, high = mean_and_interval(values, np.random.default_rng(0))
    return Curve(layers.astype(float), mean, low, high, np.nanmean(control, axis=(0, 1)), spread)


def bins() -> tuple[Figure, Update]:
    """Draw a measure by layer over the note's three bins, and how heads or sentences scatter about its mean.

    Returns
    -------
    figure : Figure
    update : callable
        Of `measure`, a key of `MEASURES`.
    """
    with mpl.rc_context(RC):
        figure, axes = panels(2, height=3.6)
        mean_axes, spread_axes = axes
        mean_axes.set(title="Mean, with 95 % interval")
        spread_axes.set(title="Each head, or each sentence")
        scales = [MovingScale(each, "y") for each in axes]
        for each in axes:
            draw_bins(each)
        (control,) = mean_axes.plot([], [], "--", color=GREY, animated=True)
        (line,) = mean_axes.plot([], [], "o-", color=BLUE, animated=True)
        whiskers = [mean_axes.plot([], [], color=BLUE, lw=4, alpha=0.4, animated=True)[0] for _ in range(7)]
        mean_axes.legend([line, control], ["trained", "never trained"], loc="upper left", fontsize=11)
        (dots,) = spread_axes.plot([], [], "o", ms=4, color=VERMILLION, alpha=0.5, mew=0, animated=True)

    def update(measure: str) -> str:
        c = curve(measure)
        for scale in scales:
            scale.set(*MEASURES[measure][1])
        y = scales[0]
        line.set_data(c.layers, y(c.mean))
        control.set_data(c.layers, y(c.control))
        for k, whisker in enumerate(whiskers):
            there = slice(k, k + 1)
            ends = np.concatenate([c.low[there], c.high[there]])
            whisker.set_data(np.repeat(c.layers[there], 2), y(ends))
        jitter = np.linspace(-0.25, 0.25, c.spread.shape[1])
        dots.set_data((c.layers[:, None] + jitter).ravel(), y(c.spread).ravel())
        told = ", ".join(f"{value:.2f}".replace("-", "−") for value in c.mean)
        where = "layers 1 to 6" if c.layers[0] == 1 else "the embedding and layers 1 to 6"
        said = SAYS[measure].format(told)
        return f"{said[0].upper()}{said[1:]} ({where}); never trained, {c.control[-1]:.2f} at the end."

    return figure, update


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
