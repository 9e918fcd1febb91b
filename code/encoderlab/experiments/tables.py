"""Experiments on tables learned by heart, which do not tell models with and without FFN apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from encoderlab.experiments.classifier_cell import NORMS, ClassifierCell
from encoderlab.experiments.experiment import Experiment


def modular_addition() -> Experiment:
    """Addition modulo 11, all pairs seen, by FFN, norm and depth."""
    base = ClassifierCell("modular_addition", {"p": 11}, n_heads=4, steps=1000)
    small = replace(base, options={"p": 5}, d_model=16, n_heads=2, steps=600, dtype="float64")
    return Experiment("modular_addition", "What is (a + b) mod p?", (small, *_toggles(base)))


def facts() -> Experiment:
    """Learn a table of 128 facts, by FFN, norm and depth."""
    many = {"n_subjects": 16, "n_relations": 8, "n_values": 16}
    base = ClassifierCell("facts", many, n_heads=4, steps=1000)
    few = {"n_subjects": 4, "n_relations": 4, "n_values": 8}
    small = replace(base, options=few, d_model=16, n_heads=2, steps=600, dtype="float64")
    return Experiment("facts", "Which value belongs to this subject and relation?", (small, *_toggles(base)))


def _toggles(base: ClassifierCell) -> tuple[ClassifierCell, ...]:
    """Every norm with and without FFN at depths 1 and 2, no residual, and a single head."""
    switches = product((1, 2), (False, True), NORMS)
    cells = [replace(base, depth=depth, ffn=ffn, norm=norm) for depth, ffn, norm in switches]
    cells += [replace(base, depth=2, ffn=ffn, residual=False) for ffn in (False, True)]
    cells += [replace(base, depth=depth, ffn=ffn, n_heads=1) for depth, ffn in product((1, 2), (False, True))]
    return tuple(cells)
