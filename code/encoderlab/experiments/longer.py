"""More steps for single layers, and for a start that was still on its plateau (claims 10, 25)."""

from __future__ import annotations

from dataclasses import replace

from encoderlab.experiments.classifier_cell import ClassifierCell
from encoderlab.experiments.experiment import Experiment


def longer() -> Experiment:
    """Train two or three times as long as in `retrieval`, to see whether it was time that was missing."""
    induction = ClassifierCell(
        "induction", {"n": 16, "n_symbols": 16}, depth=2, ffn=True, positions="learned", steps=4000
    )
    two_hop = ClassifierCell("two_hop", {"size_of_cycle": 8, "n_symbols": 16}, n_heads=4, ffn=True)
    few = {"size_of_cycle": 6, "n_symbols": 6}
    cells = (
        replace(two_hop, options=few, d_model=16, batch=32, steps=400, dtype="float64"),
        induction,
        replace(two_hop, options={"size_of_cycle": 8, "n_symbols": 12}, steps=4000),
        replace(two_hop, steps=6000),
    )
    return Experiment("longer", "Is it only more steps that they need?", cells)
