"""A figure that the reader steers: in a page without a kernel, and in a kernel, from one matplotlib figure.

In the built book every state is drawn beforehand and switched in the browser (`page`); in a kernel the figure
is drawn anew at each change (`widget`). The build decides which: it sets the environment variable
`ENCODERLAB_WORLD` to "page". Unset, it is a kernel.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from encoderlab.explorer.controls import SWITCH, Control, Steps, Toggle
from encoderlab.explorer.diagram import Diagram
from encoderlab.explorer.page import drawn_for_a_page, page
from encoderlab.explorer.picture import KERNEL_DPI, PAGE_DPI, Picture
from encoderlab.explorer.widget import widget

__all__ = ["SWITCH", "Diagram", "Explorer", "Steps", "Toggle"]


class Explorer:
    """A figure with controls, shown as the value of a notebook's cell.

    Parameters
    ----------
    name : str
        What addresses it in the page, as in `#name?depth=6`: lower-case letters, digits and hyphens.
    figure : Figure
        Built once, with fixed limits. Artists that move are marked `animated=True` and lie above all others.
        Its top-level subfigures, if any, are panels that a narrow page sets one below the other.
    update : callable
        `update(**state)` moves the animated artists, and them alone, to a state of the controls. It returns
        one sentence that says what is seen, with its numbers: the figure's text alternative.
    **controls : Toggle or Steps
        One for each argument of `update`, in the order shown.

    Raises
    ------
    ValueError
        If an argument does not fit; if `update` raises, returns no sentence or changes a still artist. In a
        page this covers every state, in a kernel the first one; a later one shows the error in its place.

    Examples
    --------
    >>> figure = Figure()
    >>> bar = figure.subplots().bar([0], [1], animated=True)[0]
    >>> def update(height):
    ...     bar.set_height(height)
    ...     return f"The bar is {height} high."
    >>> Explorer("bar", figure, update, height=Steps("Height", (0.1, 0.5, 1.0)))
    Explorer('bar')
    """

    def __init__(self, name: str, figure: Figure, update: Callable[..., str], /, **controls: Control) -> None:
        in_page = drawn_for_a_page()
        if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise ValueError(f"name: expected a-z, then any of a-z, 0-9 and hyphens, got {name!r}")
        if not isinstance(figure, Figure):
            raise ValueError(f"figure: expected a matplotlib Figure, got {figure!r}")
        _check_controls(controls)
        try:
            inspect.signature(update).bind(**controls)
        except TypeError as error:
            raise ValueError(f"update: expected a function of {', '.join(controls)}, got {error}") from error
        self.name = name
        self._update = update
        plt.close(figure)  # else pyplot would show it a second time
        self._picture = Picture(name, figure, PAGE_DPI if in_page else KERNEL_DPI)
        self._html = ""
        self._widget: Any = None
        if in_page:
            self._html = page(name, controls, self._picture, self._move)
            self._check_still("update", thoroughly=True)
        else:
            self._widget = widget(controls, self._picture, self._move)

    def _move(self, state: Mapping[str, object]) -> str:
        """Bring the figure to a state, make sure that only moving artists have moved, return the sentence."""
        call = f"update({', '.join(f'{key}={value!r}' for key, value in state.items())})"
        try:
            sentence = self._update(**state)
        except Exception as error:
            raise ValueError(
                f"explorer {self.name!r}: {call} raised {type(error).__name__}: {error}"
            ) from error
        if not isinstance(sentence, str) or not sentence.strip():
            raise ValueError(
                f"explorer {self.name!r}: {call} returned {sentence!r}, expected a sentence on what is seen"
            )
        if word := re.search(r"\b(True|False|nan)\b", sentence):
            raise ValueError(
                f"explorer {self.name!r}: {call} returned {sentence!r}, "
                f"expected words for a reader, not {word[0]}"
            )
        self._check_still(call)
        return sentence

    def _check_still(self, call: str, *, thoroughly: bool = False) -> None:
        try:
            self._picture.check_still(thoroughly=thoroughly)
        except ValueError as error:
            raise ValueError(f"explorer {self.name!r}: {call} {error}") from error

    def __repr__(self) -> str:
        """Return its name, which is all that a log needs."""
        return f"Explorer({self.name!r})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        if self._html:
            return {"text/html": self._html, "text/plain": repr(self)}
        return self._widget._repr_mimebundle_(include=include, exclude=exclude)


def _check_controls(controls: Mapping[str, object]) -> None:
    if not controls:
        raise ValueError("controls: expected at least one, as in ffn=Toggle('FFN'), got none")
    for key, control in controls.items():
        if key in ("name", "figure", "update") or not key.isidentifier():
            raise ValueError(f"controls: expected the name of an argument of update, got {key!r}")
        if not isinstance(control, Control):
            raise ValueError(f"{key}: expected a Toggle or Steps, got {control!r}")
