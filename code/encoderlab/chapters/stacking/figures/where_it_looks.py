"""Figure of chapter 3 on trained models: where one layer looks, and where two do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.stacking.two_steps import CONTESTANTS, accuracies, line_to_beat
from encoderlab.experiments.kept_weights import load_model
from encoderlab.experiments.results import DATA, load
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, RC, SEQUENTIAL, VERMILLION, panels
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import softmax
from encoderlab.training.loss import IntArray

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TASKS = {"2-hop": "two_hop", "induction": "induction"}


def token_names(experiment: str, features: FloatArray) -> list[str]:
    """Name the tokens of a sequence: "a→b" for an entry of a table, "a" for a symbol, "a?" for the question.

    Parameters
    ----------
    experiment : {"two_hop", "induction"}
    features : ndarray, shape (n, n_features)

    Returns
    -------
    list of str
    """
    if experiment == "induction":
        symbols = [LETTERS[k] for k in features.argmax(axis=-1)]
        return [*symbols[:-1], f"{symbols[-1]}?"]
    slots = features.reshape(len(features), 3, -1).argmax(axis=-1)  # key, value, query
    entries = [f"{LETTERS[key]}→{LETTERS[value]}" for key, value, _ in slots[:-1]]
    return [*entries, f"{LETTERS[slots[-1, 2]]}?"]


def depths(examples: int = 6, directory: Path = DATA) -> tuple[Figure, Update]:
    """Show the patterns of trained models of one and two layers, beside how often such models are right.

    The patterns are those of the first random start.

    Parameters
    ----------
    examples : int
        How many sequences there are to look at.
    directory : Path
        Where the results are.

    Returns
    -------
    figure : Figure
    update : callable
        Of `task`, a key of `TASKS`, `depth`, 1 or 2, and `example`, counted from 1.
    """
    names = list(CONTESTANTS)
    with mpl.rc_context(RC):
        figure, axes = panels(3, height=4.2)
        maps = [_attention_map(axes[k], f"Layer {k + 1}") for k in (0, 1)]
        score = axes[2]
        score.set(title="Right answers", xlim=(0, 1.04), ylim=(-0.6, len(names) - 0.4))
        score.set_yticks(range(len(names)), names[::-1])
        score.set_xticks([0, 0.5, 1], ["0", "half", "all"])
        score.grid(axis="x")
        (dots,) = score.plot([], [], "o", color=BLUE, alpha=0.7, animated=True)
        (shortcut,) = score.plot([], [], "--", color=VERMILLION, animated=True)
        score.legend([shortcut], ["what one look gives"], loc="upper center", bbox_to_anchor=(0.5, -0.08))

    @lru_cache
    def scores(experiment: str) -> tuple[dict[str, FloatArray], float]:
        results = load(experiment, directory)
        return accuracies(results), line_to_beat(results)

    @lru_cache
    def seen(experiment: str, depth: int) -> tuple[FloatArray, IntArray, tuple[FloatArray, ...], FloatArray]:
        model, cell = load_model(experiment, f"depth_{depth}", directory)
        features, target = cell.make_task().draw(np.random.default_rng(2**32 - 2), examples)
        return features, target, model.trace(features).attention, softmax(model(features))

    def update(task: str, depth: int, example: int) -> str:
        experiment, i = TASKS[task], example - 1
        features, target, attention, answers = seen(experiment, depth)
        tokens = token_names(experiment, features[i])
        looks = []
        for k, show in enumerate(maps):
            pattern = attention[k][i, 0] if k < depth else None
            show(tokens, pattern)
            if pattern is not None:
                most = int(pattern[-1].argmax())
                looks.append(f"at {tokens[most]} in layer {k + 1} ({pattern[-1, most]:.0%})")
        found, line = scores(experiment)
        rows = [len(names) - 1 - names.index(name) for name in names for _ in found[name]]
        dots.set_data(np.concatenate([found[name] for name in names]), rows)
        shortcut.set_data([line, line], [-0.6, len(names) - 0.4])
        answer = int(answers[i].argmax())
        verdict = "right" if answer == target[i] else f"not {LETTERS[target[i]]}"
        mean = found["1 layer" if depth == 1 else "2 layers"].mean()
        return (
            f"{task}, {depth} layer{'s' * (depth > 1)}, first start, example {example}. "
            f"Asked “{tokens[-1]}”, the last token looks most {', '.join(looks)}. "
            f"The answer is {LETTERS[answer]}, {verdict}. "
            f"Over three starts such models are right on {mean:.0%}; one look gives {line:.0%}."
        )

    return figure, update


def _attention_map(axes: mpl.axes.Axes, title: str) -> Callable[[Sequence[str], FloatArray | None], None]:
    """Prepare a map of weights with names of tokens on two sides; return what puts a pattern into it."""
    longest = 16
    axes.set(title=title, xlim=(-0.16, 1), ylim=(-0.2, 1), aspect="equal")
    axes.set_axis_off()
    image = axes.imshow(np.zeros((2, 2)), vmin=0, vmax=1, cmap=SEQUENTIAL, extent=(0, 1, 0, 1), animated=True)
    rows = [axes.text(-0.02, 0, "", ha="right", va="center", animated=True) for _ in range(longest)]
    columns = [
        axes.text(0, -0.02, "", ha="center", va="top", rotation=90, animated=True) for _ in range(longest)
    ]
    nothing = axes.text(0.5, 0.5, "", ha="center", color=GREY, animated=True)

    def show(tokens: Sequence[str], pattern: FloatArray | None) -> None:
        n = len(tokens)
        image.set_visible(pattern is not None)
        nothing.set_text("" if pattern is not None else "there is no second layer")
        if pattern is not None:
            image.set_data(pattern)
        for k in range(longest):
            name = tokens[k] if pattern is not None and k < n else ""
            place = (k + 0.5) / n
            rows[k].set(text=name, y=1 - place)
            columns[k].set(text=name, x=place)

    return show
