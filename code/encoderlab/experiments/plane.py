"""The boundary that a trained stack draws through the plane of a lone token's two features (claim 30)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from encoderlab.experiments.classifier_cell import ClassifierCell
from encoderlab.experiments.experiment import Experiment

DEPTHS = (1, 2, 4, 8)


def boundary() -> Experiment:
    """Two half circles, with the FFN and without it, by depth; the weights of the first start are kept."""
    base = ClassifierCell("moons", d_model=8, n_heads=2, steps=400, warmup=50)
    again = replace(base, dtype="float64")
    cells = {
        f"{'ffn' if ffn else 'attention'}_{depth}": replace(base, ffn=ffn, depth=depth)
        for ffn, depth in product((False, True), DEPTHS)
    }
    return Experiment(
        "boundary",
        "On which side of the boundary does a point lie?",
        (again, *cells.values()),
        seeds=tuple(range(10)),
        keep={key: (cell, 0) for key, cell in cells.items()},
    )
