"""The tasks that the book trains on, each with the accuracies that need no understanding."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from encoderlab.training.tasks.boolean import parity, xor_among
from encoderlab.training.tasks.plane import moons
from encoderlab.training.tasks.retrieval import copy_previous, induction, two_hop
from encoderlab.training.tasks.tables import facts, modular_addition
from encoderlab.training.tasks.task import Batch, Task

__all__ = [
    "TASKS",
    "Batch",
    "Task",
    "copy_previous",
    "facts",
    "induction",
    "modular_addition",
    "moons",
    "parity",
    "two_hop",
    "xor_among",
]

TASKS: Mapping[str, Callable[..., Task]] = MappingProxyType(
    {
        task.__name__: task
        for task in (moons, parity, xor_among, copy_previous, induction, two_hop, modular_addition, facts)
    }
)
