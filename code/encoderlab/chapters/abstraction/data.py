"""The stored measurements of chapter 5, which `make_data` makes from the published weights, by name."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.erasure_data import ERASED, FACTS
from encoderlab.chapters.abstraction.homonyms import CONTROLS as BARE
from encoderlab.chapters.abstraction.length_data import LENGTH_MEASURES, ORDERS
from encoderlab.chapters.abstraction.likeness import HIDDEN_MEASURES
from encoderlab.chapters.abstraction.probe_data import GROWING, MOST_ADJECTIVES, RIVALS
from encoderlab.chapters.abstraction.probe_tasks import TASKS
from encoderlab.chapters.abstraction.probes import CONTROLS
from encoderlab.chapters.abstraction.prose import LENGTHS as PROSE_LENGTHS
from encoderlab.chapters.abstraction.reading import HEAD_MEASURES, Reading
from encoderlab.chapters.abstraction.relations import LURES, RELATIONS
from encoderlab.chapters.abstraction.sentences import THE_NOTES, Separation
from encoderlab.chapters.abstraction.surgery import FORMS, PARTS
from encoderlab.model.arrays import FloatArray

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
AXES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "heads": ("head measure", "text", "layer", "head"),  # the note's sentence, then the 64
        "untrained_heads": ("network", "head measure", "text", "layer"),
        "hidden": ("hidden measure", "text", "depth"),
        "untrained_hidden": ("network", "hidden measure", "text", "depth"),
        "untrained_separation": ("network", "centred", "separation", "depth", "text"),
        "surgery": ("part", "form", "surgery measure", "depth", "interval"),
        "surgery_change": ("part", "form", "surgery measure", "interval"),
        "intact": ("surgery measure", "depth", "interval"),
        "probes": ("task", "seed", "depth"),
        "untrained_probes": ("task", "network", "depth"),
        "controls": ("task", "seed", "control"),
        "relations": ("relation", "half", "layer", "head"),
        "lures": ("lure", "layer", "head"),
        "by_length": ("length", "order", "text", "length measure", "layer"),
        "by_length_heads": ("length", "length measure", "layer", "head"),
        "by_length_untrained": ("length", "length measure", "layer"),
        "growing": ("grown", "adjectives", "seed", "depth"),
        "growing_rivals": ("grown", "adjectives", "seed", "rival"),
        "erased_read": ("fact", "seed", "erased", "depth"),
        "erased_margin": ("fact", "seed", "erased", "text"),
        "skipped_read": ("fact", "seed", "layer"),
        "minimal_pairs": ("pair", "beside", "depth"),
        "senses_bare": ("use", "bare"),
    }
)
"""What the axes of an array run over. A layer is counted from 0, a depth is the number of layers passed."""
LABELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "head measure": tuple(HEAD_MEASURES),
        "hidden measure": tuple(HIDDEN_MEASURES),
        "surgery measure": SURGERY_MEASURES,
        "separation": Separation._fields,
        "centred": ("as they are", "common vector removed"),
        "interval": ("estimate", "low", "high"),
        "part": tuple(PARTS),
        "form": tuple(FORMS),
        "task": tuple(TASKS),
        "control": tuple(CONTROLS),
        "relation": tuple(RELATIONS),
        "lure": tuple(LURES),
        "length": tuple(f"{words} words" for words in PROSE_LENGTHS),
        "order": ORDERS,
        "length measure": LENGTH_MEASURES,
        "grown": tuple(GROWING),
        "adjectives": tuple(f"up to {most} adjectives" for most in MOST_ADJECTIVES),
        "rival": tuple(RIVALS),
        "fact": tuple(FACTS),
        "erased": ERASED,
        "beside": ("paraphrase", "contradiction"),
        "bare": BARE,
    }
)
"""The names along the axes that have names."""


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


def measured(array: str, *names: str) -> FloatArray:
    """Return a part of a stored array by the names of its places, in whatever order they are given.

    Parameters
    ----------
    array : str
        A key of `AXES`.
    *names : str
        Each a name along one of the array's axes, which is then gone.

    Returns
    -------
    ndarray
        With the axes that are left, in their order.

    Raises
    ------
    ValueError
        If the array has no such name, or has it on two axes.

    Examples
    --------
    >>> measured("surgery", "FFN", "zero", "margin", "estimate").shape  # after no layer to after all six
    (7,)
    """
    if array not in AXES:
        raise ValueError(f"array must be one of {', '.join(AXES)}, got {array!r}")
    place: dict[str, int] = {}
    for name in names:
        axes = [axis for axis in AXES[array] if name in LABELS.get(axis, ())]
        if len(axes) != 1 or axes[0] in place:
            raise ValueError(f"names must each name a place on another axis of {AXES[array]}, got {names}")
        place[axes[0]] = LABELS[axes[0]].index(name)
    part: FloatArray = results()[array][tuple(place.get(axis, slice(None)) for axis in AXES[array])]
    return part


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
