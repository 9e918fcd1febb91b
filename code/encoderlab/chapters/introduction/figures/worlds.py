"""Three small pictures: what is proved, what training finds, what a published model does."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from encoderlab.chapters.abstraction.data import measured
from encoderlab.chapters.attention.lone_token import lone_token_map
from encoderlab.chapters.stacking.two_steps import accuracies, line_to_beat
from encoderlab.experiments.results import load
from encoderlab.explorer.style import BLUE, GREY, RC, VERMILLION, panels
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.measures import affine_misfit
from encoderlab.numerals import scientific

DEPTHS = (1, 2, 4, 8)


def proved() -> tuple[Figure, str]:
    """Draw how much of a lone token's output is not affine in it, with the FFN and without, by depth."""
    rng = np.random.default_rng(0)
    full = Encoder.random(EncoderConfig(16, 2, 64, max(DEPTHS), norm="none"), rng)
    tokens = rng.normal(size=(500, 1, 16))
    without, with_ffn = (
        np.array([affine_misfit(tokens[:, 0], full.switch(ffn=ffn, depth=d)(tokens)[:, 0]) for d in DEPTHS])
        for ffn in (False, True)
    )
    last = lone_token_map(full.switch(ffn=False))
    exact = np.abs(tokens[:, 0] @ last.W + last.b - full.switch(ffn=False)(tokens)[:, 0]).max()
    with mpl.rc_context(RC):
        figure, (axes,) = panels(1, height=2.6)
        _draw(axes, "Proved: of a lone token", "not affine", with_ffn, without)
    return figure, (
        f"Random weights, a token by itself: with FFNs {with_ffn.min():.0%} to {with_ffn.max():.0%} of "
        f"the output is not affine in the token; with attention alone it is one affine map, "
        f"up to {scientific(exact)}."
    )


def trained() -> tuple[Figure, str]:
    """Draw how often one layer and two follow a pointer for two steps."""
    found = load("two_hop")
    by_name = accuracies(found)
    names = ("1 layer", "1 layer and FFN", "2 layers")
    with mpl.rc_context(RC):
        figure, (axes,) = panels(1, height=2.6)
        for k, name in enumerate(names):
            axes.plot(by_name[name], [k] * len(by_name[name]), "o", color=BLUE, ms=7)
        beat = line_to_beat(found)
        axes.axvline(beat, color=VERMILLION, linestyle="--")
        axes.text(beat + 0.02, 2.45, "one look", va="center")
        axes.set(title="Trained: two steps along pointers", xlim=(0, 1.05), ylim=(-0.5, 2.8))
        axes.set_yticks(range(len(names)), names)
        axes.xaxis.set_major_formatter(PercentFormatter(xmax=1))
        axes.set_xlabel("right answers")
    told = "; ".join(f"{name}: {', '.join(f'{a:.0%}' for a in by_name[name])}" for name in names)
    return figure, (
        f"Small stacks, three starts each, asked who follows the one who follows the query. {told}. "
        f"A single look is worth {beat:.0%}."
    )


def published() -> tuple[Figure, str]:
    """Draw what the published model loses without its FFNs and without its attention, removed in two ways."""
    forms = ("zero", "mean of its kind")
    parts = ("FFN", "attention")
    intact = float(measured("intact", "margin", "estimate")[-1])
    left = {p: [float(measured("surgery", p, f, "margin", "estimate")[-1]) for f in forms] for p in parts}
    with mpl.rc_context(RC):
        figure, (axes,) = panels(1, height=2.6)
        for k, part in enumerate(parts):
            axes.plot(left[part], [k] * len(forms), "o", color=BLUE, ms=7)
        axes.axvline(intact, color=GREY)
        axes.text(intact - 0.1, 1.45, "intact", ha="right", va="center")
        axes.set(title="Published: six layers of MiniLM", xlabel="margin of a paraphrase (in σ)")
        axes.set(xlim=(min(0, *left["FFN"], *left["attention"]) - 0.3, intact * 1.08), ylim=(-0.5, 1.8))
        axes.set_yticks(range(len(parts)), [f"no {part}" for part in parts])
    told = "; ".join(f"without {p} {left[p][0]:.1f} and {left[p][1]:.1f}" for p in parts)
    return figure, (
        f"How far a paraphrase stands out among other sentences, with a part of every layer replaced by "
        f"zero, and by its mean over tokens of the kind: {told}; intact {intact:.1f}."
    )


def _draw(axes: Axes, title: str, ylabel: str, with_ffn: np.ndarray, without: np.ndarray) -> None:
    axes.plot(range(len(DEPTHS)), with_ffn, "s-", color=BLUE)
    axes.plot(range(len(DEPTHS)), without, "o-", color=VERMILLION)
    axes.set(title=title, xlabel="layers", ylabel=ylabel, ylim=(-0.06, 1), xlim=(-0.3, 3.4))
    axes.set_xticks(range(len(DEPTHS)), [str(depth) for depth in DEPTHS])
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1))
    axes.text(3.4, with_ffn[-1] + 0.07, "with FFN", ha="right", va="bottom")
    axes.text(3.4, 0.04, "attention alone", ha="right", va="bottom")
