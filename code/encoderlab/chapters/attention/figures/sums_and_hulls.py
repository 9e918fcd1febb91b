"""Figures of chapter 2 on attention itself: how linear it is, and where its outputs lie."""

from __future__ import annotations

from functools import lru_cache

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.attention.hull import convex_hull, distance_outside
from encoderlab.chapters.attention.linearity import attend, attention_map, scale_logits, sweep
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREEN, GREY, RC, VERMILLION, log_ticks, panels
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights, merge_heads, multi_head_attention
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.numerals import scientific

SCALES = ("0.01", "0.03", "0.1", "0.3", "1", "3", "10", "30", "100", "300", "1000")
TESTS = ("f(X+Y)", "f(2X)")
TOKENS = (2, 6, 24, 96)
SHOWN = 6  # tokens, of those that there are
DRAWS = 51
SHARPNESS = ("0", "1", "2", "4", "8", "16", "32")
ROUNDING = 1e-14  # what float64 leaves of a distance that is zero in exact arithmetic


def linear() -> tuple[Figure, Update]:
    """Show what attention returns against what a linear map would, and three distances from linear by scale.

    Returns
    -------
    figure : Figure
    update : callable
        Of `test`, one of `TESTS`, `pattern`, "live" or "frozen", `scale`, one of `SCALES`, and `n`, one of
        `TOKENS`.
    """
    d = 8
    rng = np.random.default_rng(0)
    unscaled = AttentionWeights(*rng.normal(scale=d**-0.5, size=(4, d, d)))
    pair = rng.normal(size=(2, max(TOKENS), d))
    sizes = [float(scale) for scale in SCALES]
    with mpl.rc_context(RC):
        figure, (cloud, curves) = panels(2, height=3.8)
        cloud.set(title="Is it what a linear map would give?", xlim=(-14, 14), ylim=(-14, 14))
        cloud.set(xlabel="what a linear map would give", ylabel="what attention gives", aspect="equal")
        cloud.set(xticks=[-10, 0, 10], yticks=[-10, 0, 10])
        cloud.plot([-14, 14], [-14, 14], color=GREY, lw=1)
        (points,) = cloud.plot([], [], "o", color=BLUE, ms=4, alpha=0.7, animated=True)
        curves.set(title=f"How far from linear: median of {DRAWS} draws")
        curves.set(xlabel="size of the logits", xscale="log")
        curves.set(xlim=(0.01, 1000), ylim=(-0.06, 3.2), yticks=[0, 0.5, 1, 1.5, 2])
        log_ticks(curves.xaxis, (-2, -1, 0, 1, 2, 3))
        curves.grid()
        typical = [
            curves.plot([], [], style, color=colour, label=label, animated=True)[0]
            for style, colour, label in (
                ("-", BLUE, "f(X+Y): miss"),
                ("--", VERMILLION, "f(2X): miss"),
                (":", GREEN, "derivative: share of the pattern"),
            )
        ]
        curves.legend(loc="upper left", borderaxespad=0)
        (here,) = curves.plot([], [], "o", color="black", ms=6, animated=True)

    @lru_cache
    def medians(n: int) -> FloatArray:
        draws = sweep(sizes, np.random.default_rng(1), n=n, d_model=d, n_heads=1, draws=DRAWS)
        return np.median(draws, axis=-1)  # (3, scales)

    def update(test: str, pattern: str, scale: str, n: int) -> str:
        x, y = pair[:, :n]
        weights = scale_logits(unscaled, float(scale))
        own = multi_head_attention(x, weights, 1)[1].pattern
        live = attention_map(weights, 1)
        f = live if pattern == "live" else lambda z: attend(z, own, weights)
        actual, expected = (f(x + y), f(x) + f(y)) if test == TESTS[0] else (f(2 * x), 2 * f(x))
        unit = expected.std()
        points.set_data(expected[:SHOWN].ravel() / unit, actual[:SHOWN].ravel() / unit)
        distance = float(np.linalg.norm(actual - expected) / np.linalg.norm(expected))
        k, measured = SCALES.index(scale), medians(n)
        for curve, heights in zip(typical, measured, strict=True):
            curve.set_data(sizes, heights)
        here.set_data([sizes[k]] * 3, measured[:, k] if pattern == "live" else [0.0] * 3)
        linear_would = "f(X) + f(Y)" if test == TESTS[0] else "2 f(X)"
        tokens = f"{n} tokens" + (f", of which {SHOWN} are shown" if n > SHOWN else "")
        if pattern == "frozen":
            exact = f"up to a relative {scientific(distance)}" if distance else "to the last digit"
            return (
                f"Pattern frozen, logits of size {scale}, {tokens}: {test} is {linear_would} {exact}; "
                "nothing flows through the pattern."
            )
        return (
            f"Pattern live, logits of size {scale}, {tokens}: in the draw shown {test} misses {linear_would} "
            f"by {distance:.1%} of its size; typically f(X+Y) misses by {measured[0, k]:.0%}, f(2X) by "
            f"{measured[1, k]:.0%}, and {measured[2, k]:.0%} of the derivative flows through the pattern."
        )

    return figure, update


def hulls() -> tuple[Figure, Update]:
    """Show the values of a layer, the hull of them, the outputs, and how the tokens draw together.

    Returns
    -------
    figure : Figure
    update : callable
        Of `heads`, "1" or "2", `depth` from 1 to 6, and `sharpness`, the factor on all logits.
    """
    deepest, n = 6, 6
    angles = 2 * np.pi * (np.arange(n) + 0.25) / n
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1) * [[1], [0.75], [1], [0.6], [0.95], [0.8]]
    encoder = _turning_encoder(np.random.default_rng(4), deepest)
    with mpl.rc_context(RC):
        figure, (plane, sizes) = panels(2, height=3.8)
        plane.set(title="Values and outputs, before W_O", aspect="equal")
        plane.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        plane.set(xlabel="first coordinate", ylabel="second coordinate")
        (box,) = plane.plot([], [], ":", color=VERMILLION, animated=True)
        (rim,) = plane.plot([], [], "-", color=GREY, animated=True)
        (values,) = plane.plot([], [], "o", color=GREY, mfc="none", ms=7, animated=True)
        (outputs,) = plane.plot([], [], "o", color=BLUE, ms=6, animated=True)
        (outside,) = plane.plot([], [], "X", color=VERMILLION, ms=9, animated=True)
        plane.legend(
            [values, outputs, outside],
            ["value", "output", "output outside the hull"],
            loc="lower center",
            bbox_to_anchor=(0.5, 1.08),
            ncols=3,
            handletextpad=0.2,
            columnspacing=1,
        )
        sizes.set(title="Largest distance between two tokens", xlabel="layers passed", yscale="log")
        sizes.set(xlim=(-0.2, deepest + 0.2), ylim=(1e-17, 5), xticks=range(deepest + 1))
        log_ticks(sizes.yaxis, (-15, -10, -5, 0))
        sizes.axhspan(1e-17, ROUNDING, color=GREY, alpha=0.15, linewidth=0)
        sizes.text(0, 1e-16, "rounding error", va="center")
        sizes.grid()
        (spread,) = sizes.plot([], [], "o-", color=BLUE, animated=True)
        (here,) = sizes.plot([], [], "o", color="black", ms=8, mfc="none", mew=2, animated=True)

    def update(heads: str, depth: int, sharpness: str) -> str:
        sharper = {
            name: W * float(sharpness) for name, W in encoder[heads].parameters().items() if "W_Q" in name
        }
        trace = encoder[heads].with_parameters(sharper).trace(x)
        inner = trace.layers[depth - 1].attention_inner
        V, H = merge_heads(inner.V), inner.heads  # (n, 2), (n, 2)
        beyond = distance_outside(H, V)
        out = beyond > ROUNDING
        low, high = V.min(axis=0), V.max(axis=0)
        corners = np.array([low, [high[0], low[1]], high, [low[0], high[1]], low])
        box.set_data(*(corners.T if heads == "2" else ([], [])))
        hull = convex_hull(V)
        rim.set_data(*np.vstack([hull, hull[:1]]).T)
        values.set_data(*V.T)
        outputs.set_data(*H[~out].T)
        outside.set_data(*H[out].T)
        widths = [_diameter(hidden) for hidden in trace.hidden]
        spread.set_data(range(deepest + 1), np.maximum(widths, 2e-17))
        here.set_data([depth], [max(widths[depth], 2e-17)])
        if widths[depth - 1] <= ROUNDING:
            where = "the values are equal up to rounding error, and so are the outputs"
        elif not out.any():
            where = f"all {n} outputs lie in the hull of the {n} values"
        else:
            beyond_box = np.maximum(H - high, low - H).max(axis=1)  # (n,)
            where = (
                f"{out.sum()} of {n} outputs lie outside the hull of the values, by up to "
                f"{scientific(beyond.max())}, but {np.sum(beyond_box > ROUNDING) or 'none'} outside the "
                "rectangle that the two heads span"
            )
        apart = scientific(widths[depth]) if widths[depth] > ROUNDING else "down to rounding error"
        return (
            f"Layer {depth}, {heads} head{'s' * (heads == '2')}, logits times {sharpness}: {where}. "
            f"The largest distance between two tokens after it is {apart}."
        )

    return figure, update


def _turning_encoder(rng: np.random.Generator, depth: int) -> dict[str, Encoder]:
    """Draw attention in the plane whose W_V and W_O are rotations, with one head and with two."""
    config = EncoderConfig(d_model=2, n_heads=1, d_ff=1, depth=depth, ffn=False, residual=False, norm="none")
    encoder = Encoder.random(config, rng)
    turns = {
        name: np.linalg.qr(W).Q for name, W in encoder.parameters().items() if "W_V" in name or "W_O" in name
    }
    encoder = encoder.with_parameters(turns)
    return {"1": encoder, "2": encoder.switch(n_heads=2)}


def _diameter(points: FloatArray) -> float:
    return float(np.linalg.norm(points[:, None] - points, axis=-1).max())
