"""Models of one layer and of two, trained on tasks that ask for two steps, and what they reach."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from encoderlab.experiments.kept_weights import load_model
from encoderlab.experiments.results import Results
from encoderlab.model.arrays import FloatArray

PLAIN = {"ffn": False, "n_heads": 1, "norm": "none", "residual": True}
CONTESTANTS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "1 layer": PLAIN | {"depth": 1},
        "1 layer and FFN": PLAIN | {"depth": 1, "ffn": True},
        "1 layer, 4 heads": PLAIN | {"depth": 1, "n_heads": 4},
        "1 layer, 4 heads and FFN": PLAIN | {"depth": 1, "n_heads": 4, "ffn": True},
        "2 layers": PLAIN | {"depth": 2},
        "2 layers and FFN": PLAIN | {"depth": 2, "ffn": True},
        "2 layers, 4 heads": PLAIN | {"depth": 2, "n_heads": 4},
    }
)
"""Settings of the models compared, by what the book calls them."""

OPTIONS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "two_hop": {"size_of_cycle": 8, "n_symbols": 16},
        "induction": {"n": 16, "n_symbols": 16, "positions": "learned"},
    }
)
"""The size of each task."""


def accuracies(results: Results) -> dict[str, FloatArray]:
    """Return the accuracy of every contestant over seeds.

    Parameters
    ----------
    results : Results
        Of the experiment "two_hop" or "induction".

    Returns
    -------
    dict of ndarray, shape (n_seeds,)
    """
    size = OPTIONS[results.experiment]
    return {name: results.measure("accuracy", **size, **settings) for name, settings in CONTESTANTS.items()}


def line_to_beat(results: Results) -> float:
    """Return the accuracy that one look affords: the best baseline, at the task's size in `OPTIONS`."""
    return max(results.select(**OPTIONS[results.experiment])[0].baselines.values())


class InductionLooks(NamedTuple):
    """Mean attention weights of a model of two layers of one head, trained on induction."""

    before: float  # layer 1, from a symbol to the one before it
    after: float  # layer 1, from a symbol to the one after it
    copy: float  # layer 2, from the question to the copy of its symbol
    after_copy: float  # layer 2, from the question to the one after that copy


def induction_looks(start: int, examples: int = 1000) -> InductionLooks:
    """Measure where the plain model of two layers looks.

    Parameters
    ----------
    start : {1, 2, 3}
        Which of its random starts.
    examples : int
        How many sequences to average over.

    Returns
    -------
    InductionLooks
    """
    model, cell = load_model("induction", "depth_2" if start == 1 else f"depth_2_start_{start}")
    features, _ = cell.make_task().draw(np.random.default_rng(0), examples)  # (examples, 16, 16)
    first, second = (pattern[:, 0] for pattern in model.trace(features).attention)  # (examples, 16, 16)
    copy = (features[:, :15] * features[:, 15:]).sum(axis=-1).argmax(axis=-1)  # (examples,)
    rows, inner = np.arange(examples), np.arange(1, 14)  # symbols with one on either side, but the question
    in_first = (float(first[:, inner, inner + step].mean()) for step in (-1, 1))
    in_second = (float(second[rows, 15, copy + step].mean()) for step in (0, 1))
    return InductionLooks(*in_first, *in_second)
