"""The explorer in a kernel: ipywidgets, and a figure drawn anew at each change."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Any

from encoderlab.explorer.controls import Control, Toggle
from encoderlab.explorer.picture import Picture

STEP_EVERY = 600  # milliseconds between two steps of a slider that plays


def widget(
    controls: Mapping[str, Control], picture: Picture, move: Callable[[Mapping[str, object]], str]
) -> Any:
    """Return an explorer as one ipywidgets box: controls, picture and sentence.

    Parameters
    ----------
    controls : mapping of str to Control
        One for each key of a state.
    picture : Picture
        The figure.
    move : callable
        Brings the figure to a state and returns the sentence for it.

    Returns
    -------
    ipywidgets.VBox
        Its picture is an image whose bytes are replaced: no output area, so nothing flickers or shows twice.
    """
    import ipywidgets as widgets  # type: ignore[import-untyped]  # the built book does without

    inputs: dict[str, Any] = {}
    bar = widgets.HBox(layout={"flex_flow": "row wrap", "align_items": "flex-end", "grid_gap": "0 24px"})
    for key, control in controls.items():
        options = list(zip(control.texts, control.values, strict=True))
        shared = {"options": options, "value": control.start, "description": control.label}
        if isinstance(control, Toggle):
            inputs[key] = widgets.ToggleButtons(**shared, style={"button_width": "auto"})
            bar.children += (inputs[key],)
        else:
            inputs[key] = widgets.SelectionSlider(**shared)
            play = widgets.Play(
                min=0, max=len(options) - 1, value=control.start_index, interval=STEP_EVERY, show_repeat=False
            )
            widgets.jslink((play, "value"), (inputs[key], "index"))
            bar.children += (inputs[key], play)

    width = picture.figure.get_figwidth() * 72  # its pixels on the screen, half of those drawn
    image = widgets.Image(format="png", layout={"width": f"{width:.0f}px", "max_width": "100%"})
    sentence = widgets.HTML()

    def redraw(_change: object = None) -> None:
        try:
            sentence.value = html.escape(move({key: control.value for key, control in inputs.items()}))
        except ValueError as error:  # raised in a callback it would only reach a log
            sentence.value = f"<strong>{html.escape(str(error))}</strong>"
            raise
        image.value = picture.png()

    redraw()
    for control in inputs.values():
        control.observe(redraw, "value")
    return widgets.VBox([bar, image, sentence])
