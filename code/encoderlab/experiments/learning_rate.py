"""Learning-rate sweeps on an easy and on a hard task: where a norm helps, and where not (claims 51, 52)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

import numpy as np

from encoderlab.experiments.classifier_cell import NORMS, ClassifierCell
from encoderlab.experiments.experiment import Experiment
from encoderlab.training.classifier import Classifier

Cell = TypeVar("Cell", bound=ClassifierCell)

RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
"""Half decades: finer differences are smaller than those between seeds."""

BRANCH_GAIN = 12**-0.5
"""Six layers have twelve branches."""


@dataclass(frozen=True)
class SmallBranchesCell(ClassifierCell):
    """A cell whose branches start smaller, which may do what else a norm does.

    Parameters
    ----------
    branch_gain : float
        Multiplies the last matrix of every branch, W_O and W_2, as it is drawn. One over the square root of
        the number of branches keeps their sum as large as a single one (Radford et al., 2019).
    """

    branch_gain: float = 1.0

    def untrained(self, rng: np.random.Generator) -> Classifier:
        """Draw the model, and shrink the last matrix of every branch."""
        model = super().untrained(rng)
        shrunk = {
            name: array * self.branch_gain if name.endswith(("W_O", "W_2")) else array
            for name, array in model.parameters.items()
        }
        return self.trained(shrunk)


def learning_rate() -> Experiment:
    """Six layers with FFN and residual, each norm and none, by learning rate, with and without warm-up."""
    easy, hard = _tasks(ClassifierCell("copy_previous"))
    cells = [replace(easy, depth=2, steps=200, dtype="float64")]
    for task, norm, warmup, lr in product((easy, hard), NORMS, (0, 100), RATES):
        cells.append(replace(task, norm=norm, warmup=warmup, lr=lr))
    question = "Which learning rates lead to a solution?"
    return Experiment("learning_rate", question, tuple(cells))


def rates_by_start() -> Experiment:
    """Train the easy task from ten starts, without warm-up, at the four rates between which norms differ.

    The first three starts are those of `learning_rate`, run for run.
    """
    easy, _ = _tasks(ClassifierCell("copy_previous"))
    cells = [replace(easy, depth=2, steps=200, dtype="float64")]
    for lr, norm in product(RATES[1:5], NORMS):
        cells.append(replace(easy, norm=norm, warmup=0, lr=lr))
    question = "From how many starts does a learning rate lead to a solution?"
    return Experiment("rates_by_start", question, tuple(cells), tuple(range(10)))


def small_branches() -> Experiment:
    """Sweep the same stacks with their twelve branches at 12^(-1/2) of their gain at the start."""
    easy, hard = _tasks(SmallBranchesCell("copy_previous", branch_gain=BRANCH_GAIN))
    cells = [replace(easy, depth=2, steps=200, dtype="float64")]
    for task, norm, warmup, lr in product((easy, hard), NORMS, (0, 100), RATES):
        cells.append(replace(task, norm=norm, warmup=warmup, lr=lr))
    question = "Which learning rates lead to a solution when the branches start small?"
    return Experiment("small_branches", question, tuple(cells))


def _tasks(base: Cell) -> tuple[Cell, Cell]:
    """Return the easy and the hard task, for six layers."""
    deep = replace(base, depth=6, d_model=16, n_heads=2, ffn=True, batch=64)
    easy = replace(deep, options={"n": 8}, positions="learned", steps=300)
    return easy, replace(deep, task="two_hop", options={"size_of_cycle": 6, "n_symbols": 6}, steps=1000)
