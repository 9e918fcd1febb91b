"""A box to type a sentence into, where there is a kernel with the six-layer model; elsewhere a line."""

# mypy: allow-untyped-calls
# (IPython carries no annotations)

from __future__ import annotations

import html
import os
from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.figures.atlas import VIEWS, atlas
from encoderlab.chapters.abstraction.reading import read
from encoderlab.chapters.abstraction.sentences import THE_NOTES
from encoderlab.explorer import Steps, Toggle
from encoderlab.explorer.picture import KERNEL_DPI, Picture
from encoderlab.explorer.widget import widget
from encoderlab.pretrained import minilm
from encoderlab.pretrained.sentence_encoder import SentenceEncoder

LONGEST = 32  # tokens that the figure has room for


def own_sentence(text: str = THE_NOTES) -> Any:
    """Show what the model makes of a sentence, and let the reader type another.

    Parameters
    ----------
    text : str
        What stands in the box at first.

    Returns
    -------
    object that a notebook shows
        In a kernel with the model a text field over the atlas of the sentence in it; otherwise one line, as
        when the model's files are not the published ones.
    """
    from IPython.display import Markdown

    if os.environ.get("ENCODERLAB_WORLD") == "page":
        return Markdown(
            "*In a kernel with the model this is a box to type a sentence into. To get it, open the chapter "
            "with `make lab` after `make minilm`.*"
        )
    if not minilm.is_installed():
        return Markdown(
            f"*The six-layer model is not installed: {minilm.HOW_TO_INSTALL}, then restart the kernel.*"
        )
    try:
        model = minilm.sentence_encoder(np.float32)
    except ValueError as error:
        return Markdown(f"*The six-layer model cannot be used: {error}.*")
    return sentence_box(model, text)


def sentence_box(model: SentenceEncoder, text: str) -> Any:
    """Return the text field over the atlas of what it holds; a text that is refused says why in its place."""
    import ipywidgets as widgets  # type: ignore[import-untyped]

    field = widgets.Text(
        value=text, description="Sentence", continuous_update=False, layout={"width": "min(100%, 640px)"}
    )
    place = widgets.VBox()

    def show(_change: object = None) -> None:
        try:
            place.children = (_atlas_of(model, field.value),)
        except ValueError as error:
            place.children = (widgets.HTML(f"<strong>{html.escape(str(error))}</strong>"),)

    show()
    field.observe(show, "value")
    return widgets.VBox([field, place])


def _atlas_of(model: SentenceEncoder, text: str) -> Any:
    n = len(model.tokens(text))
    if n > LONGEST:
        raise ValueError(f"text must have at most {LONGEST} tokens to be drawn here, got {n}")
    if n < 4:
        raise ValueError(f"text must have at least two words to be drawn here, got {text!r}")
    figure, update = atlas({text: read(model, text)})
    controls = {"layer": Steps("Layer", range(1, 7)), "view": Toggle("View", VIEWS)}
    return widget(controls, Picture("own", figure, KERNEL_DPI), lambda state: update(text, **state))
