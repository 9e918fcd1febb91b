"""The weights of a few trained classifiers, kept so that their attention can be shown."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from encoderlab.experiments.classifier_cell import ClassifierCell
from encoderlab.experiments.experiment import Cell, Experiment, Outcome
from encoderlab.experiments.results import DATA, FORMAT, command
from encoderlab.training.checkpoint import DAMAGE, write_atomically
from encoderlab.training.classifier import Classifier


def keep(experiment: Experiment, cell: Cell, seed: int, outcome: Outcome, directory: Path) -> None:
    """Store the trained parameters of a run that the experiment keeps, as ``<name>_<key>.npz``."""
    for key, kept in experiment.keep.items():
        if kept == (cell, seed):
            about = {
                "format": FORMAT,
                "command": command(experiment.name),
                "settings": cell.settings,
                "seed": seed,
            }
            arrays: dict[str, Any] = dict(outcome.parameters)
            buffer = io.BytesIO()
            np.savez_compressed(buffer, about=json.dumps(about, sort_keys=True), **arrays)
            write_atomically(directory / f"{experiment.name}_{key}.npz", buffer.getvalue())


def load_model(experiment: str, key: str, directory: Path = DATA) -> tuple[Classifier, ClassifierCell]:
    """Read a trained classifier, and the cell that it was trained in.

    Parameters
    ----------
    experiment, key : str
        Such as "induction" and "depth_2": see `Experiment.keep`.
    directory : Path

    Returns
    -------
    model : Classifier
    cell : ClassifierCell

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, of another format, or does not fit the model. Both errors name the file and
        the command that makes it.

    Examples
    --------
    >>> model, cell = load_model("induction", "depth_2")
    >>> examination = cell.make_task().examination(size=8)
    >>> model.trace(examination.features).attention[1].shape
    (8, 1, 16, 16)
    """
    path = directory / f"{experiment}_{key}.npz"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: make it with {command(experiment)} --force")
    try:
        content = io.BytesIO(path.read_bytes())  # NumPy would leave a damaged file open
        with np.load(content, allow_pickle=False) as file:
            parameters = dict(file)
        about = json.loads(str(parameters.pop("about")))
        if about["format"] != FORMAT:
            raise ValueError(f"it has format {about['format']}, expected {FORMAT}")
        cell = ClassifierCell.of(about["settings"])
        return cell.trained(parameters), cell
    except DAMAGE as error:
        remedy = f"make it again with {command(experiment)} --force"
        raise ValueError(f"{path} cannot be used ({error!r}): {remedy}") from error
