"""Figure of chapter 4: what training finds at each learning rate, with each norm and without."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.experiments.results import Results, Run
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREY, RC, VERMILLION, panels
from encoderlab.numerals import power_of_ten

COLOURS = {"none": GREY, "post": VERMILLION, "pre": BLUE}
TASKS = {"easy": "copy_previous", "hard": "two_hop"}
DEPTH = 6


def sweep(results: Results, small_branches: Results) -> tuple[Figure, Update]:
    """Show accuracy by learning rate for each norm: every start a mark, their mean a line.

    Parameters
    ----------
    results, small_branches : Results
        Of the experiments "learning_rate" and "small_branches".

    Returns
    -------
    figure : Figure
    update : callable
        Of `task`, a key of `TASKS`, `warmup`, a number of steps, and `branches`, "unit" or "small".
    """
    every = {"unit": results.select(depth=DEPTH), "small": small_branches.select(depth=DEPTH)}
    rates = sorted({run.settings["lr"] for run in every["unit"]})
    with mpl.rc_context(RC):
        figure, (plane,) = panels(1, height=4.0)
        plane.set(xscale="log", xlim=(rates[0] / 1.5, rates[-1] * 1.5), ylim=(-0.03, 1.04))
        plane.set(xlabel="learning rate", ylabel="accuracy")
        exponents = (-3, -2, -1)
        plane.set_xticks([10.0**k for k in exponents], labels=[power_of_ten(k) for k in exponents])
        plane.grid()
        places = {norm: np.array(rates) * 1.06**k for k, norm in enumerate(COLOURS, start=-1)}  # side by side
        dots = {n: plane.plot([], [], ".", color=c, ms=6, animated=True)[0] for n, c in COLOURS.items()}
        lines = {n: plane.plot([], [], color=c, animated=True)[0] for n, c in COLOURS.items()}
        (lost,) = plane.plot([], [], "x", color="black", ms=7, animated=True)
        (line,) = plane.plot([], [], ":", color="black", lw=1.2, animated=True)
        plane.legend(
            [*lines.values(), lost, line],
            [*map(_name, COLOURS), "diverged", "best shortcut"],
            loc="lower center",
            bbox_to_anchor=(0.45, 1),
            ncols=3,
            handletextpad=0.4,
            columnspacing=1,
        )

    def update(task: str, warmup: int, branches: str) -> str:
        settings = {"task": TASKS[task], "warmup": warmup}
        chosen = [run for run in every[branches] if settings.items() <= run.settings.items()]
        told, crosses = [], []
        for norm in COLOURS:
            runs = [
                [r for r in chosen if r.settings["norm"] == norm and r.settings["lr"] == lr] for lr in rates
            ]
            accuracy = [[r.measures["accuracy"] for r in cell] for cell in runs]
            dots[norm].set_data(
                np.repeat(places[norm], [len(cell) for cell in runs]), np.concatenate(accuracy)
            )
            lines[norm].set_data(places[norm], [np.mean(cell) for cell in accuracy])
            crosses += [
                (x, r.measures["accuracy"])
                for x, cell in zip(places[norm], runs, strict=True)
                for r in cell
                if r.diverged_at is not None
            ]
            told.append(f"{_name(norm)}: {_solved(runs, rates)}")
        lost.set_data(*(zip(*crosses, strict=True) if crosses else ([], [])))
        baseline = max(chosen[0].baselines.values())
        line.set_data([rates[0] / 1.5, rates[-1] * 1.5], [baseline] * 2)
        return (
            f"{task.capitalize()} task, {warmup or 'no'} steps of warm-up, {branches} branches at the "
            f"start. Rates at which every seed gets 95% or more right: {'; '.join(told)}. "
            f"The best shortcut gets {baseline:.0%}."
        )

    return figure, update


def _name(norm: str) -> str:
    return "no norm" if norm == "none" else f"{norm}-LN"


def _solved(runs: list[list[Run]], rates: list[float]) -> str:
    """Name the rates at which every seed solves the task."""
    good = [
        f"{lr:g}"
        for lr, cell in zip(rates, runs, strict=True)
        if min(run.measures["accuracy"] for run in cell) >= 0.95
    ]
    return ", ".join(good) or "none"
