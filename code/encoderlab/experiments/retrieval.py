"""Experiments on retrieval: what one layer of attention finds, and what takes two (claims 10, 25, 27)."""

from __future__ import annotations

from dataclasses import replace

from encoderlab.experiments.classifier_cell import ClassifierCell
from encoderlab.experiments.experiment import Experiment
from encoderlab.training.classifier import Positions


def two_hop() -> Experiment:
    """Depth against the query and its neighbours, with and without an FFN, a norm, a residual, more heads.

    The last two cells have no more symbols than the cycle is long, so that heads can each watch one symbol.
    """
    base = ClassifierCell("two_hop", {"size_of_cycle": 8, "n_symbols": 16})
    one, two = base, replace(base, depth=2)
    fixed = {"size_of_cycle": 8, "n_symbols": 8}
    cells = (
        _small("two_hop", {"size_of_cycle": 6, "n_symbols": 6}),
        *_toggles(one, two),
        replace(one, options=fixed, n_heads=4),
        replace(one, options=fixed, n_heads=4, ffn=True),
    )
    question = "Who follows the one who follows the query, on a single cycle?"
    return Experiment("two_hop", question, cells, keep={"depth_1": (one, 0), "depth_2": (two, 0)})


def induction() -> Experiment:
    """Depth against which tokens there are, by FFN, norm, residual, heads and positions."""
    base = ClassifierCell("induction", {"n": 16, "n_symbols": 16}, positions="learned")
    one, two = base, replace(base, depth=2)
    cells = (
        _small("induction", {"n": 8, "n_symbols": 8}),
        *_toggles(one, two),
        replace(two, positions="sinusoidal"),
        replace(two, positions="none"),
    )
    question = "What followed the last token the first time it appeared?"
    kept = {
        "depth_1": (one, 0),
        "depth_2": (two, 0),
        "depth_2_start_2": (two, 1),
        "depth_2_start_3": (two, 2),
    }
    return Experiment("induction", question, cells, keep=kept)


def copy_previous() -> Experiment:
    """One look at a position: depth 1 is enough, and positions are needed (claim 31)."""
    base = ClassifierCell("copy_previous", {"n": 8}, positions="learned", steps=800)
    cells = (
        replace(base, d_model=16, batch=64, steps=400, dtype="float64"),
        base,
        replace(base, depth=2),
        replace(base, ffn=True),
        replace(base, norm="post"),
        replace(base, norm="pre"),
        replace(base, residual=False),
        replace(base, positions="sinusoidal"),
        replace(base, positions="none"),
        replace(base, positions="none", depth=2, ffn=True, norm="pre"),
    )
    return Experiment("copy_previous", "Which token stands before the last?", cells)


def _toggles(one: ClassifierCell, two: ClassifierCell) -> tuple[ClassifierCell, ...]:
    """Both depths with one switch after another turned; the plainest cells come first."""
    return (
        one,
        two,
        replace(one, ffn=True),
        replace(two, ffn=True),
        replace(one, n_heads=4),
        replace(one, n_heads=4, ffn=True),
        replace(two, n_heads=4),
        replace(two, norm="post"),
        replace(two, norm="pre"),
        replace(one, norm="pre", ffn=True),
        replace(two, norm="pre", ffn=True),
        replace(two, residual=False),
        replace(two, residual=False, norm="post"),
    )


def _small(task: str, options: dict[str, int]) -> ClassifierCell:
    """Make a smaller version of the task, for a test to train again."""
    positions: Positions = "learned" if task == "induction" else "none"
    return ClassifierCell(
        task,
        options,
        depth=2,
        d_model=16,
        positions=positions,
        batch=64,
        steps=1000,
        lr=5e-3,
        dtype="float64",
    )
