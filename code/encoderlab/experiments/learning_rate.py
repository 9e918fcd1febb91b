"""Learning-rate sweeps on an easy and on a hard task: where a norm helps, and where not (claims 51, 52)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from encoderlab.experiments.classifier_cell import NORMS, ClassifierCell
from encoderlab.experiments.experiment import Experiment

RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
"""Half decades: finer differences are smaller than those between seeds."""


def learning_rate() -> Experiment:
    """Six layers with FFN and residual, each norm and none, by learning rate, with and without warm-up."""
    deep = ClassifierCell("copy_previous", depth=6, d_model=16, n_heads=2, ffn=True, batch=64)
    easy = replace(deep, options={"n": 8}, positions="learned", steps=300)
    hard = replace(deep, task="two_hop", options={"size_of_cycle": 6, "n_symbols": 6}, steps=1000)
    cells = [replace(easy, depth=2, steps=200, dtype="float64")]
    for task, norm, warmup, lr in product((easy, hard), NORMS, (0, 100), RATES):
        cells.append(replace(task, norm=norm, warmup=warmup, lr=lr))
    question = "Which learning rates lead to a solution?"
    return Experiment("learning_rate", question, tuple(cells))
