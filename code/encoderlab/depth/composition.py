"""Models of one layer and of two, trained on tasks that ask for two steps, and what they reach."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from encoderlab.results import Results
from encoderlab.validation import FloatArray

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
