"""Every model that was trained on a task, side by side, by the switches in which they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from encoderlab.experiments.results import Results, Run
from encoderlab.model.arrays import FloatArray

SWITCHES: Mapping[str, str] = MappingProxyType(
    {
        "depth": "layers",
        "n_heads": "heads",
        "ffn": "FFN",
        "norm": "norm",
        "residual": "skip",
        "positions": "positions",
        "n_symbols": "symbols",
    }
)
"""Settings that a table shows where they differ, and what it calls them."""


class Trained(NamedTuple):
    """One way to build and train a model, and how often it was right, from each random start."""

    settings: Mapping[str, Any]
    accuracies: FloatArray  # (n_seeds,)
    baselines: Mapping[str, float]  # what its task gives away, by name


def trained_models(results: Results) -> list[Trained]:
    """Gather the runs of an experiment that differ in nothing but their seed.

    Parameters
    ----------
    results : Results

    Returns
    -------
    list of Trained
        In the order of the file, without the small models in float64 that only a test trains again.
    """
    found: dict[str, list[Run]] = {}
    for run in results.runs:
        if run.settings["dtype"] != "float64":
            found.setdefault(repr(sorted(run.settings.items())), []).append(run)
    return [
        Trained(runs[0].settings, np.array([run.measures["accuracy"] for run in runs]), runs[0].baselines)
        for runs in found.values()
    ]


def lines_to_beat(models: Sequence[Trained]) -> dict[str, list[float]]:
    """Return what the tasks of some models give away, by name: one value for each size of the task.

    Parameters
    ----------
    models : sequence of Trained

    Returns
    -------
    dict of list of float
        In the order in which the models have them.

    Examples
    --------
    >>> from encoderlab.experiments.results import load
    >>> lines_to_beat(trained_models(load("two_hop")))["chance"]
    [0.0625, 0.125]
    """
    return {
        name: list(dict.fromkeys(model.baselines[name] for model in models)) for name in models[0].baselines
    }


def said(value: object) -> str:
    """Write a setting as a table does: "yes", "no", or the value itself."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def accuracy_table(results: Results) -> str:
    """Write the accuracy of every trained model, one in a line, under the baselines of the task.

    Parameters
    ----------
    results : Results

    Returns
    -------
    str
        Accuracies in per cent, one for each random start, then the settings in which the models differ. A
        baseline has several values if the task comes in several sizes, from many symbols to few.
    """
    models = sorted(trained_models(results), key=_plainest_first)
    first = models[0].settings
    columns = [key for key in SWITCHES if any(m.settings.get(key) != first.get(key) for m in models)]
    names = [SWITCHES[key] for key in columns]
    rows = [[said(model.settings[key]) for key in columns] for model in models]
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = [
        f"{name}: {' or '.join(f'{share:.1%}' for share in shares)}"
        for name, shares in lines_to_beat(models).items()
    ]
    lines.append(f"{'right':{6 * len(models[0].accuracies)}} {_in_columns(names, widths)}")
    for row, model in zip(rows, models, strict=True):
        shares = " ".join(f"{100 * share:5.1f}" for share in model.accuracies)
        lines.append(f"{shares}  {_in_columns(row, widths)}")
    return "\n".join(lines)


def neighbours(models: Sequence[Trained], switch: str) -> list[list[Trained]]:
    """Group the models that differ in one switch alone; those without such a neighbour are left out.

    Parameters
    ----------
    models : sequence of Trained
    switch : str
        A key of `SWITCHES`.

    Returns
    -------
    list of list of Trained
    """
    groups: dict[str, list[Trained]] = {}
    for model in models:
        rest = repr(sorted((key, value) for key, value in model.settings.items() if key != switch))
        groups.setdefault(rest, []).append(model)
    return [group for group in groups.values() if len(group) > 1]


def student_table(results: Results) -> str:
    """Write the errors of the students of two layers, averaged over teachers, by the spread of their logits.

    Parameters
    ----------
    results : Results
        Of the experiment "student".

    Returns
    -------
    str
    """
    kinds = {"1 head": (1, 1), "2 heads": (1, 2), "4 heads": (1, 4), "2 layers": (2, 1)}
    lines = ["logits" + "".join(f"{name:>10}" for name in ("affine", *kinds))]
    for scale in (0.5, 1.0, 2.0, 4.0):
        found = [
            results.measure(name, n=4, logit_scale=scale, depth=depth, n_heads=n_heads).mean()
            for name, (depth, n_heads) in (
                ("affine error", kinds["1 head"]),
                *(("relative error", kind) for kind in kinds.values()),
            )
        ]
        lines.append(f"{scale:<6g}" + "".join(f"{error:10.2g}" for error in found))
    return "\n".join(lines)


def _plainest_first(model: Trained) -> tuple[Any, ...]:
    order = ("depth", "n_heads", "ffn", "norm", "positions")
    settings = model.settings
    return -settings.get("n_symbols", 0), *(settings[key] for key in order), not settings["residual"]


def _in_columns(texts: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(text.ljust(width) for text, width in zip(texts, widths, strict=True)).rstrip()
