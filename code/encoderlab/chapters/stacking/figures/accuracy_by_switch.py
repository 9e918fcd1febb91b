"""Figure of chapter 3 on trained models: how often each is right, by the switch that the reader picks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from encoderlab.chapters.stacking.trained_models import (
    Trained,
    lines_to_beat,
    neighbours,
    said,
    trained_models,
)
from encoderlab.experiments.results import DATA, load
from encoderlab.explorer.controls import SWITCH
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREEN, GREY, RC, VERMILLION, panels

TASKS: Mapping[str, str] = MappingProxyType(
    {
        "2-hop": "two_hop",
        "induction": "induction",
        "copy-previous": "copy_previous",
        "addition mod 11": "modular_addition",
        "facts": "facts",
        "XOR among 8": "xor_among",
    }
)
"""Experiments, by what a reader calls their tasks."""

SWITCHES: Mapping[str, tuple[str, tuple[object, ...]]] = MappingProxyType(
    {
        "FFN": ("ffn", (False, True)),
        "norm": ("norm", ("none", "post", "pre")),
        "skip": ("residual", (False, True)),
        "positions": ("positions", ("none", "sinusoidal", "learned")),
    }
)
"""Settings by which the models can be arranged, with their values from left to right."""

QUALIFIED: Mapping[str, str] = MappingProxyType(
    {
        "2-hop": "; it is no ceiling",
        "induction": ", for models with positions",
        "addition mod 11": "; training does not seek it",
        "facts": "; one fitted sum, others reach more",
    }
)
"""What must be said of some tasks' lines to beat."""

COLOURS: Mapping[int, str] = MappingProxyType({1: VERMILLION, 2: GREEN, 4: BLUE})
"""By the number of heads."""

DEPTHS = (1, 2)
MOST = 3  # values of a switch


def accuracy_by_switch(directory: Path = DATA) -> tuple[Figure, Update]:
    """Show how often every trained model is right, models of one layer on the left and of two on the right.

    Parameters
    ----------
    directory : Path
        Where the results are.

    Returns
    -------
    figure : Figure
    update : callable
        Of `task`, a key of `TASKS`, and `by`, a key of `SWITCHES`.
    """
    with mpl.rc_context(RC):
        figure, axes = panels(2, height=3.8)
        shows = [_panel(part, depth) for part, depth in zip(axes, DEPTHS, strict=True)]

    @lru_cache
    def read(experiment: str) -> tuple[list[Trained], Mapping[str, Sequence[float]]]:
        models = trained_models(load(experiment, directory))
        return models, lines_to_beat(models)

    def update(task: str, by: str) -> str:
        models, given = read(TASKS[task])
        key, values = SWITCHES[by]
        told = []
        for depth, show in zip(DEPTHS, shows, strict=True):
            here = [model for model in models if model.settings["depth"] == depth]
            show(here, key, values, given)
            told.append(f"{depth} layer{'s' * (depth > 1)}: {_ranges(here, key, values)}")
        line = max(given, key=lambda name: given[name][0])
        chance, *fewer = given["chance"]
        with_few = "".join(f" ({share:.1%} with 8 symbols)" for share in fewer)
        return (
            f"{task} by {by}, share of right answers. {told[0]}. {told[1]}. "
            f"Line to beat: {given[line][0]:.0%} ({line}{QUALIFIED.get(task, '')}). "
            f"Chance: {chance:.0%}{with_few}."
        )

    return figure, update


def _panel(
    axes: Axes, depth: int
) -> Callable[[list[Trained], str, tuple[object, ...], Mapping[str, Sequence[float]]], None]:
    """Prepare the axes for models of one depth; return what puts them in."""
    axes.set(title=f"{depth} layer{'s' * (depth > 1)}", xlim=(-0.5, 2.5), ylim=(-0.12, 1.08))
    axes.set_xticks([])
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "all right"])
    axes.grid(axis="y")
    look: dict[bool, dict[str, Any]] = {True: {"mfc": "none", "mew": 1.5}, False: {"alpha": 0.7}}
    dots = {
        (heads, hollow): axes.plot([], [], "o", color=colour, animated=True, **look[hollow])[0]
        for heads, colour in COLOURS.items()
        for hollow in (False, True)
    }
    links = {
        heads: axes.plot([], [], color=colour, lw=1, alpha=0.6, animated=True)[0]
        for heads, colour in COLOURS.items()
    }
    (line,) = axes.plot([], [], "--", color=GREY, lw=1.5, animated=True)
    (chance,) = axes.plot([], [], ":", color=GREY, lw=1.5, animated=True)
    names = [axes.text(0, -0.1, "", ha="center", va="bottom", animated=True) for _ in range(MOST)]
    nothing = axes.text(1, 0.5, "", ha="center", color=GREY, animated=True)
    if depth == DEPTHS[0]:
        keys = [dots[heads, False] for heads in COLOURS]
        labels = [f"{heads} head{'s' * (heads > 1)}" for heads in COLOURS]
    else:
        keys, labels = [line, chance, dots[4, True]], ["line to beat", "chance", "8 symbols, not 16"]
    axes.legend(keys, labels, loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, columnspacing=1)

    def show(
        models: list[Trained], key: str, values: tuple[object, ...], given: Mapping[str, Sequence[float]]
    ) -> None:
        place = dict(zip(values, np.linspace(0, 2, len(values)), strict=True))
        for (heads, hollow), artist in dots.items():
            own = [m for m in models if _kind(m) == (heads, hollow)]
            x = [place[m.settings[key]] + _aside(m, k) for m in own for k in range(len(m.accuracies))]
            artist.set_data(x, [share for m in own for share in m.accuracies])
        for heads, artist in links.items():
            groups = [g for g in neighbours(models, key) if g[0].settings["n_heads"] == heads]
            points = [
                point
                for group in groups
                for point in [(place[m.settings[key]] + _aside(m), m.accuracies.mean()) for m in group]
                + [(np.nan, np.nan)]
            ]
            artist.set_data(*np.array(points).reshape(-1, 2).T)
        for artist, height in (
            (line, max(shares[0] for shares in given.values())),
            (chance, given["chance"][0]),
        ):
            artist.set_data([-0.5, 2.5], [height, height])
        for k, name in enumerate(names):
            used = k < len(values)
            name.set(text=_named(values[k]) if used else "", x=place[values[k]] if used else 0)
        nothing.set_text("" if models else "none trained")

    return show


def _aside(model: Trained, seed: int = 1) -> float:
    """Keep models of different heads, and the three starts of one, from hiding each other."""
    return 0.22 * (int(np.log2(model.settings["n_heads"])) - 1) + 0.05 * (seed - 1)


def _named(value: object) -> str:
    return SWITCH[value] if isinstance(value, bool) else said(value)


def _ranges(models: Iterable[Trained], key: str, values: tuple[object, ...]) -> str:
    """Say between which accuracies the models of each number of heads lie, for each value of a setting."""
    found: dict[tuple[int, bool], dict[object, list[float]]] = {}
    for model in models:
        shares = found.setdefault(_kind(model), {}).setdefault(model.settings[key], [])
        shares.extend(model.accuracies)
    told = []
    for (heads, few), by_value in sorted(found.items()):
        spans = ", ".join(f"{_named(v)} {_span(by_value[v])}" for v in values if v in by_value)
        told.append(f"{heads} head{'s' * (heads > 1)}{', 8 symbols' * few} – {spans}")
    return "; ".join(told) if told else "none trained"


def _span(shares: Sequence[float]) -> str:
    low, high = (f"{share:.0%}" for share in (min(shares), max(shares)))
    return low if low == high else f"{low} to {high}"


def _kind(model: Trained) -> tuple[int, bool]:
    """Return how many heads a model has, and whether its task has fewer symbols than the others'."""
    return model.settings["n_heads"], model.settings.get("n_symbols") == 8
