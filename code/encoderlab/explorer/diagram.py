"""A figure that stands still: a diagram, or a small chart, in the dress of the explorers."""

from __future__ import annotations

import html
import re
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from encoderlab.explorer.page import drawn_for_a_page, panels
from encoderlab.explorer.picture import KERNEL_DPI, PAGE_DPI, Picture


class Diagram:
    """A figure without controls, shown as the value of a notebook's cell.

    Parameters
    ----------
    name : str
        What addresses it in the page: lower-case letters, digits and hyphens.
    figure : Figure
        None of its artists is animated. Its top-level subfigures, if any, are panels that a narrow page sets
        one below the other.
    sentence : str
        What is seen, with its numbers: the caption, and the text alternative.

    Raises
    ------
    ValueError
        If an argument does not fit.

    Examples
    --------
    >>> figure = Figure()
    >>> line = figure.subplots().plot([0, 1], [0, 1])
    >>> Diagram("rise", figure, "A line rises from 0 to 1.")
    Diagram('rise')
    """

    def __init__(self, name: str, figure: Figure, sentence: str) -> None:
        if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise ValueError(f"name: expected a-z, then any of a-z, 0-9 and hyphens, got {name!r}")
        if not isinstance(figure, Figure):
            raise ValueError(f"figure: expected a matplotlib Figure, got {figure!r}")
        if not isinstance(sentence, str) or not sentence.strip():
            raise ValueError(f"sentence: expected a sentence on what is seen, got {sentence!r}")
        in_page = drawn_for_a_page()
        self.name, self._sentence = name, sentence
        plt.close(figure)  # else pyplot would show it a second time
        self._picture = Picture(name, figure, PAGE_DPI if in_page else KERNEL_DPI, still=True)
        self._in_page = in_page

    def __repr__(self) -> str:
        """Return its name, which is all that a log needs."""
        return f"Diagram({self.name!r})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        words = html.escape(self._sentence)
        if not self._in_page:
            return {"image/png": self._picture.png(), "text/plain": self._sentence}
        frame = panels(self.name, self._picture, [""] * len(self._picture.panels))
        return {
            "text/html": (
                f'<figure class="explorer diagram" id="{self.name}"><div class="explorer-frame">{frame}</div>'
                f'<figcaption class="explorer-says" id="{self.name}-says">{words}</figcaption></figure>'
            ),
            "text/plain": repr(self),
        }
