"""What training found, read back from `data/` with where it came from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from encoderlab.model.arrays import FloatArray

FORMAT = 1
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Run:
    """One training run.

    Parameters
    ----------
    settings : mapping
        All that was chosen: task, switches, sizes, learning rate, steps.
    baselines : mapping of str to float
        What the measure would be without understanding the task.
    seed : int
    measures : mapping of str to float
        Such as "accuracy", and "loss", the mean over the last twentieth of the steps.
    curve : tuple of float
        The mean training loss in each twentieth of the steps; shorter if the run diverged.
    diverged_at : int or None
        The step whose loss was not finite; the measures are then of the last good parameters.
    """

    settings: Mapping[str, Any]
    baselines: Mapping[str, float]
    seed: int
    measures: Mapping[str, float]
    curve: tuple[float, ...]
    diverged_at: int | None


@dataclass(frozen=True)
class Results:
    """All runs of one experiment, and how to make them again.

    Parameters
    ----------
    experiment, command : str
    versions : mapping of str to str
        Of Python, NumPy and encoderlab; "blas" is the library and kernel behind the products. With another
        kernel the same seed ends in other weights; results made before it was recorded may not come out again
        to the digit.
    runs : tuple of Run
    """

    experiment: str
    command: str
    versions: Mapping[str, str]
    runs: tuple[Run, ...]

    def made_with(self) -> str:
        """Say on what the runs were trained, and what is not known of it.

        Examples
        --------
        >>> Results("xor", "", {"numpy": "2.4.6", "python": "3.11.7"}, ()).made_with()
        'Python 3.11.7, NumPy 2.4.6, kernel of the processor not recorded'
        """
        kernel = self.versions.get("blas", "kernel of the processor not recorded")
        return f"Python {self.versions['python']}, NumPy {self.versions['numpy']}, {kernel}"

    def select(self, **settings: Any) -> tuple[Run, ...]:
        """Return the runs with these settings.

        Raises
        ------
        ValueError
            If there are none; it says which values each setting takes.
        """
        found = tuple(
            run
            for run in self.runs
            if all(name in run.settings and run.settings[name] == value for name, value in settings.items())
        )
        if not found:
            there = {name: sorted({repr(run.settings.get(name)) for run in self.runs}) for name in settings}
            raise ValueError(f"settings must occur in {self.experiment}, got {settings}, there are {there}")
        return found

    def measure(self, name: str, **settings: Any) -> FloatArray:
        """Return one measure of one cell over the seeds, (n_seeds,).

        Raises
        ------
        ValueError
            If the settings leave more than one cell, or none.
        """
        found = self.select(**settings)
        seeds = [run.seed for run in found]
        if len(set(seeds)) < len(seeds):
            first = found[0].settings
            differing = sorted(
                key for key in first if any(run.settings.get(key) != first[key] for run in found)
            )
            raise ValueError(f"settings must leave one cell, got {settings}, still open are {differing}")
        return np.array([run.measures[name] for run in found])


def fingerprint(cells: list[dict[str, Any]], seeds: list[int]) -> str:
    """Return the SHA-256 of what an experiment sets out to train."""
    plan = json.dumps({"cells": cells, "seeds": seeds}, sort_keys=True)
    return hashlib.sha256(plan.encode()).hexdigest()


def command(experiment: str) -> str:
    """Return the command that trains an experiment."""
    return f"python -m encoderlab.experiments {experiment}"


def load(experiment: str, directory: Path = DATA) -> Results:
    """Read the results of an experiment.

    Parameters
    ----------
    experiment : str
        The name of a file in `data/` without its ending.
    directory : Path
        Where the file is.

    Returns
    -------
    Results

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, of another format, or does not hold every run that it should. Both errors name
        the file and the command that makes it.
    """
    path = directory / f"{experiment}.json"
    remedy = f"make it with {command(experiment)}"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: {remedy}")
    remedy += " --force"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        version = content["format"]
        if version != FORMAT:
            raise ValueError(f"it has format {version}, expected {FORMAT}")
        cells = content["cells"]
        runs = tuple(_run(cell, run) for cell in cells for run in cell["runs"])
        if content["config_sha256"] != fingerprint([cell["settings"] for cell in cells], content["seeds"]):
            raise ValueError("its cells are not those it was made for")
        if any([run["seed"] for run in cell["runs"]] != content["seeds"] for cell in cells):
            raise ValueError("runs are missing")
        return Results(content["experiment"], content["command"], content["versions"], runs)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{path} cannot be used ({error!r}): {remedy}") from error


def _run(cell: Mapping[str, Any], run: Mapping[str, Any]) -> Run:
    return Run(
        cell["settings"],
        cell["baselines"],
        run["seed"],
        run["measures"],
        tuple(run["curve"]),
        run["diverged_at"],
    )
