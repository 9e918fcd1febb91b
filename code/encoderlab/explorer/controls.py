"""The controls of an explorer: a choice among a few values, and a walk along an ordered row of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

SWITCH = {False: "off", True: "on"}
"""How a boolean is written for readers."""


@dataclass(frozen=True)
class Control:
    """One argument of an explorer's `update`, and the values that a reader can give it.

    Parameters
    ----------
    label : str
        What the reader sees beside the control.
    values : sequence
        Two values or more; each is shown, and written in the address, as its `str`, False and True as "off"
        and "on".
    start : optional
        The value shown first; the first one unless given.

    Raises
    ------
    ValueError
        If the label is empty, there are fewer than two values, two of them are equal or look alike,
        or `start` is none of them.
    """

    label: str
    values: Sequence[object]
    start: object = None

    def __post_init__(self) -> None:
        """Refuse what a reader could not tell apart."""
        kind = f"{type(self).__name__}({self.label!r})"
        if not isinstance(self.label, str) or not self.label.strip():
            raise ValueError(f"label: expected the words that a reader sees, got {self.label!r}")
        if isinstance(self.values, str):
            raise ValueError(f"{kind}: values: expected a sequence of values, got the string {self.values!r}")
        if not isinstance(self.values, Iterable):
            raise ValueError(f"{kind}: values: expected a sequence of values, got {self.values!r}")
        values = tuple(self.values)
        for name, value in (*(("values", value) for value in values), ("start", self.start)):
            if isinstance(value, np.ndarray):
                raise ValueError(f"{kind}: {name}: expected numbers or words, got an array, {value!r}")
        object.__setattr__(self, "values", values)
        if len(values) < 2:
            raise ValueError(f"{kind}: values: expected two or more, got {values!r}")
        for k, (value, text) in enumerate(zip(values, self.texts, strict=True)):
            if not text.strip():
                raise ValueError(f"{kind}: values: expected values that can be read, got {value!r}")
            if value in values[:k] or text in self.texts[:k]:
                raise ValueError(
                    f"{kind}: values: expected values that differ and look different, got {value!r} twice "
                    f"or beside another that reads {text!r}, in {values!r}"
                )
        if self.start is None:
            object.__setattr__(self, "start", values[0])
        elif self.start not in values:
            raise ValueError(f"{kind}: start: expected one of {values!r}, got {self.start!r}")

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as the reader sees them."""
        return tuple(SWITCH[value] if isinstance(value, bool) else str(value) for value in self.values)

    @property
    def start_index(self) -> int:
        """The place of `start` among the values."""
        return tuple(self.values).index(self.start)


@dataclass(frozen=True)
class Toggle(Control):
    """A choice of one among a few values, off and on unless said otherwise: radio buttons.

    Examples
    --------
    >>> Toggle("FFN").texts
    ('off', 'on')
    >>> Toggle("Norm", ("none", "post", "pre"), start="post").start_index
    1
    """

    values: Sequence[object] = (False, True)


@dataclass(frozen=True)
class Steps(Control):
    """A walk along an ordered row of values: a slider.

    Examples
    --------
    >>> Steps("Depth", range(1, 13), start=6).start_index
    5
    """
