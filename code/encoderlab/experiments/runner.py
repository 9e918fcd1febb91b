"""Runs an experiment run by run and stores each as soon as it is finished: it can be stopped at any time."""

from __future__ import annotations

import json
import math
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from encoderlab.experiments.blas import blas_kernel
from encoderlab.experiments.experiment import Cell, Experiment, Outcome, TogetherCell
from encoderlab.experiments.kept_weights import keep
from encoderlab.experiments.results import FORMAT, command, fingerprint
from encoderlab.training.checkpoint import write_atomically


def run(experiment: Experiment, directory: Path, *, force: bool = False, progress: bool = False) -> Path:
    """Train what is not trained yet, and return the file that holds the results.

    While runs are missing, the finished ones stand in ``<name>.partial.json`` and the one in training
    in ``<name>.checkpoint.npz``.

    Parameters
    ----------
    experiment : Experiment
    directory : Path
        Where its files are.
    force : bool
        Train everything again and replace finished results.
    progress : bool
        Show a progress bar for each run.

    Raises
    ------
    FileExistsError
        If there are finished results and `force` is not set.
    ValueError
        If what a stopped run left behind cannot be used. Both errors say what to do.
    """
    finished = directory / f"{experiment.name}.json"
    partial = directory / f"{experiment.name}.partial.json"
    checkpoint = directory / f"{experiment.name}.checkpoint.npz"
    if force:
        partial.unlink(missing_ok=True)
        checkpoint.unlink(missing_ok=True)
    elif finished.exists():
        raise FileExistsError(f"{finished} is finished: replace it with {command(experiment.name)} --force")
    content = _resume(partial, plan(experiment))
    for index, (cell, stored) in enumerate(zip(experiment.cells, content["cells"], strict=True), start=1):
        missing = experiment.seeds[len(stored["runs"]) :]
        if experiment.together and missing:
            outcomes = _together(cell, missing)
            stored["runs"] += [
                record(cell, seed, outcome, experiment.parts)
                for seed, outcome in zip(missing, outcomes, strict=True)
            ]
            write_atomically(partial, _readable(content))
            continue
        for seed in missing:
            name = f"cell {index} of {len(experiment.cells)}, seed {seed}"
            identity = f"{content['command']} ({name}, plan {content['config_sha256'][:12]})"
            bar = f"{experiment.name}: {name}" if progress else None
            outcome = cell.train(seed, checkpoint, identity, bar)
            keep(experiment, cell, seed, outcome, directory)
            stored["runs"].append(record(cell, seed, outcome, experiment.parts))
            write_atomically(partial, _readable(content))
            checkpoint.unlink(missing_ok=True)
    write_atomically(finished, _readable(content))
    partial.unlink(missing_ok=True)
    return finished


def plan(experiment: Experiment) -> dict[str, Any]:
    """Return the content of a results file before the first run: all that says what is to be trained."""
    cells = [
        {"settings": cell.settings, "baselines": _rounded(cell.baselines()), "runs": []}
        for cell in experiment.cells
    ]
    return {
        "format": FORMAT,
        "experiment": experiment.name,
        "question": experiment.question,
        "command": command(experiment.name),
        "seeds": list(experiment.seeds),
        "config_sha256": fingerprint([cell.settings for cell in experiment.cells], list(experiment.seeds)),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "encoderlab": version("encoderlab"),
            "blas": blas_kernel(),
        },
        "cells": cells,
    }


def record(cell: Cell, seed: int, outcome: Outcome, parts: int) -> dict[str, Any]:
    """Return what a results file says of one run, with the mean loss in each of some parts of its steps."""
    losses = outcome.training.losses
    width = math.ceil(cell.settings["steps"] / parts)
    curve = [float(f"{losses[start : start + width].mean():.5g}") for start in range(0, len(losses), width)]
    measures = dict(outcome.measures)
    if curve:  # a run may diverge at its first step
        measures["loss"] = curve[-1]
    return {
        "seed": seed,
        "measures": _rounded(measures),
        "curve": curve,
        "diverged_at": outcome.training.diverged_at,
    }


def _together(cell: Cell, seeds: tuple[int, ...]) -> list[Outcome]:
    if not isinstance(cell, TogetherCell):
        raise TypeError(f"cells must have train_together, got {type(cell).__name__}")
    return cell.train_together(seeds)


def _resume(partial: Path, planned: dict[str, Any]) -> dict[str, Any]:
    if not partial.exists():
        return planned
    remedy = f"start anew with {planned['command']} --force"
    try:
        content: dict[str, Any] = json.loads(partial.read_text(encoding="utf-8"))
        if [cell.keys() for cell in content["cells"]] != [cell.keys() for cell in planned["cells"]]:
            raise ValueError("its cells are not those of the plan")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{partial} is damaged ({error}): {remedy}") from error
    differs = [key for key in planned if key != "cells" and content.get(key) != planned[key]]
    if differs:
        raise ValueError(f"{partial} was begun with other {' and '.join(differs)}: {remedy}")
    return content


def _rounded(values: Any) -> dict[str, float]:
    """Keep five digits, which is more than seeds agree on."""
    return {name: float(f"{value:.5g}") for name, value in values.items()}


def _readable(content: dict[str, Any]) -> bytes:
    """Write JSON with sorted names and one line for each run."""
    head = {name: value for name, value in content.items() if name != "cells"}
    start = json.dumps(head, sort_keys=True, indent=1, allow_nan=False).removesuffix("\n}")
    cells = ",\n".join(_readable_cell(cell) for cell in content["cells"])
    return f'{start},\n "cells": [\n{cells}\n ]\n}}\n'.encode()


def _readable_cell(cell: dict[str, Any]) -> str:
    baselines, settings = (json.dumps(cell[name], sort_keys=True) for name in ("baselines", "settings"))
    runs = ",\n".join(f"   {json.dumps(run, sort_keys=True, allow_nan=False)}" for run in cell["runs"])
    return f'  {{"baselines": {baselines},\n   "settings": {settings},\n   "runs": [\n{runs}\n  ]}}'
