"""Figures of chapter 3: one layer in place of two, and what a third token changes."""

from __future__ import annotations

from functools import lru_cache

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.stacking.impersonation import Match, averaging, errors, matching_layer, random_head
from encoderlab.chapters.stacking.third_token import log_odds
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREEN, GREY, PURPLE, RC, SEQUENTIAL, VERMILLION, log_ticks, panels
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights, multi_head_attention
from encoderlab.numerals import power_of_ten, scientific


def impersonator() -> tuple[Figure, Update]:
    """Show the pattern of two layers beside that of the one layer made to match it, and how far off it is.

    Returns
    -------
    figure : Figure
    update : callable
        Of `n` tokens, width `d`, `d_qk` and `seen`, "its own" or "a new" input.
    """
    draws = 100
    with mpl.rc_context(RC):
        figure, (left, error) = panels(2, height=3.4)
        left.set(title="Weights: the brighter, the more", xlim=(0, 2.1), ylim=(0, 1), aspect="equal")
        left.set_axis_off()
        images = [
            left.imshow(
                np.zeros((2, 2)),
                vmin=0,
                vmax=1,
                cmap=SEQUENTIAL,
                extent=(x, x + 1, 0, 1),
                animated=True,
            )
            for x in (0, 1.1)
        ]
        left.set(xlim=(0, 2.1), ylim=(-0.12, 1))
        for x, name in ((0.5, "A₂A₁"), (1.6, "the layer's")):
            left.text(x, -0.03, name, ha="center", va="top")
        error.set(title="How far off its output is", xlabel="error ÷ size of the output", xscale="log")
        error.set(xlim=(1e-16, 30), ylim=(-0.6, 2.6))
        log_ticks(error.xaxis, (-15, -10, -5, 0))
        error.set_yticks(
            [0, 1, 2], ["averaging,\nnew inputs", "the layer,\nnew inputs", "the layer,\nits own input"]
        )
        error.grid(axis="x")
        (own,) = error.plot([], [], "o", color=GREEN, ms=9, animated=True)
        ranges = [error.plot([], [], color=c, lw=6, alpha=0.4, animated=True)[0] for c in (GREY, VERMILLION)]
        medians = [error.plot([], [], "o", color=c, ms=9, animated=True)[0] for c in (GREY, VERMILLION)]

    @lru_cache
    def pair(n: int, d: int) -> tuple[FloatArray, AttentionWeights, AttentionWeights, FloatArray]:
        rng = np.random.default_rng(1)
        first, second = random_head(rng, d), random_head(rng, d)
        return rng.normal(size=(n, d)), first, second, rng.normal(size=(draws, n, d))

    @lru_cache
    def measure(n: int, d: int, d_qk: int) -> tuple[Match, FloatArray, FloatArray]:
        x, *layers, others = pair(n, d)
        match = matching_layer(x, *layers, d_qk=d_qk, best_fit=True)
        average = averaging(match.layer)
        return match, errors(match.layer, others, *layers), errors(average, others, *layers)

    def update(n: int, d: int, d_qk: int, seen: str) -> str:
        match, of_layer, of_mean = measure(n, d, d_qk)
        x, first, second, others = pair(n, d)
        shown = others[0] if seen == "a new" else x
        hidden, trace = multi_head_attention(shown, first, 1)
        product = multi_head_attention(hidden, second, 1)[1].pattern[0] @ trace.pattern[0]
        imitation = multi_head_attention(shown, match.layer, 1)[1].pattern[0]
        for image, weights in zip(images, (product, imitation), strict=True):
            image.set_data(weights / max(product.max(), imitation.max()))
        own.set_data([max(match.error, 2e-16)], [2])
        for row, values in enumerate((of_mean, of_layer)):
            ranges[row].set_data([values.min(), values.max()], [row, row])
            medians[row].set_data([np.median(values)], [row])
        lacks = [f"only {d} tokens can be independent"] if n > d else []
        lacks += [f"{match.rank} needed"] if d_qk < match.rank else []
        apart = np.abs(product - imitation).max()
        on_own = f"{match.error:.1%}" if match.error > 5e-4 else _power(match.error)
        worse = np.count_nonzero(of_layer > of_mean)
        return (
            f"{n} tokens of width {d}, d_qk {d_qk} ({', '.join(lacks) or 'enough'}): on {seen} input "
            f"the weights differ by up to {scientific(apart)}. The output is off by {on_own} on its own "
            f"input, by {np.median(of_layer):.0%} in the median of {draws} new ones; averaging all values is "
            f"off by {np.median(of_mean):.0%} there, and better than the layer on {worse}."
        )

    return figure, update


def third_token() -> tuple[Figure, Update]:
    """Show how a query's preference between two keys moves with a third token, in one head and in A₂A₁.

    Returns
    -------
    figure : Figure
    update : callable
        Of `angle`, where the third token stands, in degrees, and `scale`, the size of the logits.
    """
    angles = np.arange(0.0, 361.0, 5)
    rng = np.random.default_rng(3)
    first, second = (AttentionWeights(*rng.normal(size=(4, 2, 2)) / 2**0.5) for _ in range(2))
    pair = np.array([[1.0, 0.3], [-0.2, 1.0]])
    with mpl.rc_context(RC):
        figure, (plane, odds) = panels(2, height=3.6)
        plane.set(
            title="Three tokens", xlim=(-2.2, 2.2), ylim=(-1.7, 1.7), aspect="equal", xticks=[], yticks=[]
        )
        plane.spines[:].set_visible(False)
        plane.plot(*(1.5 * _on_circle(angles)).T, ":", color=GREY, lw=1)
        for token, name, colour in zip(
            pair, ("query, and one key", "the other key"), (BLUE, PURPLE), strict=True
        ):
            plane.plot(*token, "o", color=colour, ms=9)
            plane.annotate(name, token, xytext=(0, 10), textcoords="offset points", ha="center")
        (third,) = plane.plot([], [], "o", color=VERMILLION, ms=9, animated=True)
        odds.set(
            title="How much the query prefers the first key",
            xlabel="where the third token is",
            ylabel="log-odds",
        )
        odds.set(xlim=(0, 360), ylim=(-1.5, 4))
        odds.set_xticks(range(0, 361, 90), [f"{k}°" for k in range(0, 361, 90)])
        odds.grid()
        (one,) = odds.plot([], [], color=BLUE, animated=True)
        (two,) = odds.plot([], [], color=VERMILLION, animated=True)
        (here,) = odds.plot([], [], "o", color=VERMILLION, animated=True)
        odds.legend([one, two], ["one layer, A₁", "two layers, A₂A₁"], loc="upper right", ncols=2)

    @lru_cache
    def sweep(scale: float) -> tuple[FloatArray, FloatArray]:
        tokens = np.stack([np.vstack([pair, place]) for place in 1.5 * _on_circle(angles)])  # (angles, 3, 2)
        sharp = [layer._replace(W_Q=scale * layer.W_Q) for layer in (first, second)]
        hidden, trace = multi_head_attention(tokens, sharp[0], 1)
        A_1, A_2 = trace.pattern[:, 0], multi_head_attention(hidden, sharp[1], 1)[1].pattern[:, 0]
        return log_odds(A_1, 0, 0, 1), log_odds(A_2 @ A_1, 0, 0, 1)

    def update(angle: int, scale: float) -> str:
        alone, product = sweep(scale)
        third.set_data(*(1.5 * _on_circle(np.array([float(angle)]))).T)
        one.set_data(angles, alone)
        two.set_data(angles, product)
        now = product[angles.tolist().index(angle)]
        here.set_data([angle], [now])
        told = (alone[0], now, product.min(), product.max())
        flat, at, low, high = (f"{value:.2f}".replace("-", "−") for value in told)
        return (
            f"Logits times {scale:g}, third token at {angle}°: the log-odds of one layer are {flat} "
            f"wherever it is; those of two are {at} here, and from {low} to "
            f"{high} around the circle."
        )

    return figure, update


def _on_circle(degrees: FloatArray) -> FloatArray:
    radians = np.deg2rad(degrees)
    return np.stack([np.cos(radians), np.sin(radians)], axis=-1)


def _power(value: float) -> str:
    return f"about {power_of_ten(round(float(np.log10(max(value, 1e-16)))))}"
