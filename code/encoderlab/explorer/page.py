"""The explorer in a built page: native inputs, and every state of the figure drawn beforehand.

The first state stands in the page itself; `_static/explorer.js` unpacks the others and shows the controls.
Where it cannot, `_static/explorer.css` shows a note instead, and the first state remains.
"""

from __future__ import annotations

import html
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral

from encoderlab.explorer.controls import Control, Toggle
from encoderlab.explorer.packing import pack, share_palette
from encoderlab.explorer.picture import Picture

STILL = (
    "This figure stands still in the state described below it. "
    "Steering it takes JavaScript and a browser of 2023 or newer."
)


def drawn_for_a_page() -> bool:
    """Say whether figures are for a built page: the build sets `ENCODERLAB_WORLD`, and a kernel does not."""
    world = os.environ.get("ENCODERLAB_WORLD", "")
    if world not in ("", "page"):
        raise ValueError(f"ENCODERLAB_WORLD: expected 'page', or unset in a kernel, got {world!r}")
    return world == "page"


def page(
    name: str, controls: Mapping[str, Control], picture: Picture, move: Callable[[Mapping[str, object]], str]
) -> str:
    """Draw every state of an explorer and return it as HTML.

    Parameters
    ----------
    name : str
        The figure's `id`.
    controls : mapping of str to Control
        One for each key of a state.
    picture : Picture
        The figure, at 72 dots per inch.
    move : callable
        Brings the figure to a state and returns the sentence for it.

    Returns
    -------
    str
        A `<figure>`; the same bytes for the same figure.
    """
    frames, sentences = [], []
    for values in itertools.product(*(control.values for control in controls.values())):
        sentences.append(move(dict(zip(controls, values, strict=True))))
        frames.append(picture.frame())
    frames = share_palette(frames)
    first = 0  # the last control varies fastest
    for control in controls.values():
        first = first * len(control.values) + control.start_index

    steered = [[key, control.texts, control.start_index] for key, control in controls.items()]
    states = {"controls": steered, "frames": frames, "sentences": sentences}
    fields = "".join(
        _radios(key, control) if isinstance(control, Toggle) else _slider(key, control)
        for key, control in controls.items()
    )
    return (
        f'<figure class="explorer" id="{name}">'
        f'<form class="explorer-controls" autocomplete="off" hidden>{fields}'
        '<div class="explorer-actions"><button type="button" data-do="reset">Reset</button>'
        '<button type="button" data-do="copy">Copy link</button>'
        '<span class="explorer-note" role="status"></span></div></form>'
        f'<p class="explorer-still">{STILL}</p>'
        f'<div class="explorer-frame">{panels(name, picture, frames[first])}</div>'
        f'<script type="application/gzip">{pack(states)}</script>'
        f'<figcaption class="explorer-says" id="{name}-says" aria-live="polite">'
        f"{html.escape(sentences[first])}</figcaption></figure>"
    )


def _radios(key: str, control: Control) -> str:
    options = "".join(
        f'<label><input type="radio" name="{key}" value="{html.escape(text)}"'
        f"{' checked' if k == control.start_index else ''}><span>{html.escape(text)}</span></label>"
        for k, text in enumerate(control.texts)
    )
    return f"<fieldset><legend>{html.escape(control.label)}</legend>{options}</fieldset>"


def _slider(key: str, control: Control) -> str:
    first, step = _scale(control.values)
    last, value = (first + step * k for k in (len(control.values) - 1, control.start_index))
    label, text = html.escape(control.label), html.escape(control.texts[control.start_index])
    width = max(map(len, control.texts))
    return (
        f'<div class="explorer-steps"><label><span>{label}</span> <input type="range" name="{key}" '
        f'min="{first}" max="{last}" step="{step}" value="{value}" aria-valuetext="{text}"></label>'
        f'<output aria-live="off" style="min-width: {width}ch">{text}</output>'
        f'<button type="button" data-do="play" data-key="{key}">Play<span> {label}</span></button></div>'
    )


def _scale(values: Sequence[object]) -> tuple[int, int]:
    """Return a slider's first number and its step: the values' own if evenly spaced integers, else places."""
    whole = [int(value) for value in values if isinstance(value, Integral)]
    if len(whole) == len(values):
        first, step = whole[0], whole[1] - whole[0]
        if step > 0 and whole == list(range(first, first + step * len(whole), step)):
            return first, step
    return 0, 1


def panels(name: str, picture: Picture, frame: Sequence[str]) -> str:
    """Return each panel as an SVG of its own; to a screen reader they are one image, told by the sentence."""
    svgs = []
    for k, panel in enumerate(picture.panels):
        x, y, width, height = panel.bbox.bounds
        top = picture.figure.bbox.height - y - height  # matplotlib counts from below
        heard = 'aria-hidden="true"' if k else f'role="img" aria-labelledby="{name}-says"'
        svgs.append(
            f'<svg {heard} viewBox="{x:g} {top:g} {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" style="--width: {width:g}px" '
            'fill="currentColor" stroke-linejoin="round">'
            f'{picture.still[k]}<g class="explorer-moving">{frame[k]}</g></svg>'
        )
    return "".join(svgs)
