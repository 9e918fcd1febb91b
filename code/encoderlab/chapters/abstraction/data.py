"""The stored measurements of chapter 5, which `abstraction_data` makes from the published weights."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.reading import Reading
from encoderlab.chapters.abstraction.sentences import THE_NOTES

ATLAS = (
    THE_NOTES,
    "The dog chased the cat across the yard.",
    "The teacher praised the girl for her drawing.",
    "The train from the city came ten minutes early.",
)
"""Sentences whose patterns are stored whole."""

SURGERY_MEASURES = ("distance to rank one", "likeness to the intact", "likeness of sentences", "margin")
WIDTHS = (24, 48, 96, 192, 384, 768, 1152, 1536)
"""Neurons kept in each FFN; the published model has four times 384."""
LENGTHS = (16, 64, 256, 510)
"""Words and markers in a row of nouns; the model takes no more than 512."""
NOTE_PAIRS = {
    "sat → cat": (2, 1),
    "cat → sat": (1, 2),
    "on → mat": (3, 5),
    "the → cat": (0, 1),
    "sat → mat": (2, 5),
    "cat → mat": (1, 5),
    "mat → cat": (5, 1),
}
"""Query and key in sentences of the form of the note's own."""


@functools.cache
def results() -> Mapping[str, Any]:
    """Read `abstraction.npz`, once.

    Returns
    -------
    mapping of str to ndarray
        "provenance" is the command, the digests, seeds and versions behind the numbers.
    """
    with files(__package__).joinpath("abstraction.npz").open("rb") as file, np.load(file) as stored:
        arrays: dict[str, Any] = {name: stored[name] for name in stored.files}
    for array in arrays.values():
        array.flags.writeable = False  # shared by all who ask
    return arrays | {"provenance": json.loads(str(arrays["provenance"]))}


def reading(text: str) -> Reading:
    """Return the stored reading of a sentence of the atlas.

    Raises
    ------
    ValueError
        If the sentence is not one of `ATLAS`.
    """
    if text not in ATLAS:
        raise ValueError(f"text must be one of {ATLAS}, got {text!r}")
    tokens, attention, cosines = (results()[f"reading/{ATLAS.index(text)}/{f}"] for f in Reading._fields)
    return Reading(tuple(tokens.tolist()), attention, cosines)
