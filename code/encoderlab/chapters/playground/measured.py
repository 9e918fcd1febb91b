"""What was measured with the page's own trainer: how many starts solve a state, and in how many steps.

`node measure.js ../measured.json`, in the folder `web`, measures what is not in `measured.json` yet.
"""

from __future__ import annotations

import json
import os
import statistics
from functools import lru_cache
from importlib import resources
from typing import Any

TASKS = {
    "moons": "Moons",
    "rings": "Rings",
    "xor": "XOR",
    "checkerboard": "Checkerboard",
    "previous": "Previous token",
    "induction": "Induction",
    "two_hop": "Two look-ups",
    "xor_among": "XOR of two",
}
CLOUDS = tuple(TASKS)[:4]


@lru_cache
def measured() -> dict[str, Any]:
    """Return what is stored: "made", "limit", "line", and in "runs" what became of each state's starts."""
    text = (resources.files(__package__) / "measured.json").read_text(encoding="utf-8")
    stored: dict[str, Any] = json.loads(text)
    return stored


def query(task: str, depth: int, norm: str, ffn: bool, constant: bool = False) -> str:
    """Write a state as the address of the figure does: the task, and what differs from its start."""
    changes = [("ffn", "on", ffn), ("norm", norm, norm != "none"), ("depth", str(depth), depth != 1)]
    changes.append(("constant", "on", constant))
    return "&".join([f"task={task}", *(f"{name}={value}" for name, value, changed in changes if changed)])


def solved(state: str) -> tuple[int, int]:
    """Return how many starts of a state reach 98 %, and how many there were."""
    run = measured()["runs"][state]
    return len(run["solved"]), run["starts"]


def found(state: str) -> str:
    """Say how the starts of a state ended, in a sentence."""
    run = measured()["runs"][state]
    after, starts = run["solved"], run["starts"]
    if after:
        steps = f"after {after[0]} to {after[-1]} steps, {statistics.median(after):.0f} in the median"
        return f"Measured: {len(after)} of {starts} starts reach 98 %, {steps}."
    task = state.split("&")[0].removeprefix("task=")
    limit = measured()["limit"]["cloud" if task in CLOUDS else "question"]
    low, high = (f"{100 * share:.0f}" for share in (run["best"][0], run["best"][-1]))
    best = f"{high} %" if low == high else f"{low} to {high} %"
    return f"Measured: none of {starts} starts reaches 98 % in {limit} steps; their best is {best}."


def cell(state: str) -> str:
    """Say it for a table: starts that reach 98 % and the median of their steps, or the best accuracy."""
    run = measured()["runs"].get(state)
    if run is None:
        return "not measured"
    after = run["solved"]
    if after:
        return f"**{len(after)}** of {run['starts']} · {statistics.median(after):.0f}"
    return f"0 of {run['starts']} · {100 * run['best'][-1]:.0f}\u00a0%"


def states(task: str) -> list[tuple[int, str, list[str]]]:
    """Return the rows of a task's table: depth, norm, and a state for each column."""
    columns = [(False, False), (True, False)]
    if task in CLOUDS:
        columns += [(False, True), (True, True)]
    return [
        (depth, norm, [query(task, depth, norm, *column) for column in columns])
        for depth in ((1, 2, 8) if task in CLOUDS else (1, 2))
        for norm in ("none", "post", "pre")
    ]


def cells_by_starts() -> str:
    """Say which cells of the tables have how many starts, and how many were not measured."""
    starts: dict[int, dict[str, int]] = {}
    missing = 0
    for task, name in TASKS.items():
        for state in (state for _, _, row in states(task) for state in row):
            run = measured()["runs"].get(state)
            if run is None:
                missing += 1
                continue
            counts = starts.setdefault(run["starts"], {})
            counts[name] = counts.get(name, 0) + 1
    said = []
    for count, cells in sorted(starts.items(), reverse=True):
        of = ", ".join(f"{number} of *{name}*" for name, number in cells.items())
        said.append(f"{sum(cells.values())} cells have {count} starts ({of})")
    return f"{'; '.join(said)}; {missing or 'none'} {'was' if missing == 1 else 'were'} not measured."


def table(task: str) -> str:
    """Return the table of a task in Markdown: depth and norm down, FFN and constant token across."""
    rows_of_states = states(task)
    width = len(rows_of_states[0][2])
    names = ["no FFN", "FFN", "constant token", "both"][:width]
    rows = [["depth", "norm", *names], [":-:", ":-", *["--:"] * width]]
    rows += [[str(depth), norm, *map(cell, row)] for depth, norm, row in rows_of_states]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def tables() -> str:
    """Return all tables in Markdown, each under the name of its task: in the book behind a tab of its own."""
    if os.environ.get("ENCODERLAB_WORLD") != "page":
        return "\n\n".join(f"**{name}**\n\n{table(task)}" for task, name in TASKS.items())
    tabs = (f":::{{tab-item}} {name}\n{table(task)}\n:::" for task, name in TASKS.items())
    return "\n".join(["::::{tab-set}", *tabs, "::::"])
