"""The experiments whose results the book shows: `python -m encoderlab.experiments NAME` makes one again."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from encoderlab.experiments.boolean import parity_helped, parity_starts, xor_among
from encoderlab.experiments.covariate_shift import internal_covariate_shift
from encoderlab.experiments.experiment import Experiment
from encoderlab.experiments.learning_rate import learning_rate, rates_by_start, small_branches
from encoderlab.experiments.longer import longer
from encoderlab.experiments.plane import boundary
from encoderlab.experiments.retrieval import copy_previous, induction, two_hop
from encoderlab.experiments.student import student
from encoderlab.experiments.tables import facts, modular_addition

__all__ = ["EXPERIMENTS", "Experiment"]

EXPERIMENTS: Mapping[str, Callable[[], Experiment]] = MappingProxyType(
    {
        experiment.__name__: experiment
        for experiment in (
            boundary,
            two_hop,
            induction,
            longer,
            copy_previous,
            parity_starts,
            parity_helped,
            xor_among,
            modular_addition,
            facts,
            student,
            learning_rate,
            rates_by_start,
            small_branches,
            internal_covariate_shift,
        )
    }
)
