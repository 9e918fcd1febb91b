"""Ways to reach into a layer: something else in the place of one of its parts.

`encoder.trace(x, edits=edits)` with the FFN of the third layer at half its size:

>>> edits = {2: LayerEdit(ffn=Edit(branch=scaled(0.5)))}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.config import EncoderConfig

Replacement = Callable[[FloatArray], FloatArray]
"""Maps what a part gave, (..., n, d_model), to what stands in its place, of the same shape."""


class Edit(NamedTuple):
    """Replacements in one sub-layer norm(skip + branch); None leaves a part as it is."""

    branch: Replacement | None = None  # of what attention or the FFN gave
    skip: Replacement | None = None  # of what the residual connection carries past it
    norm: Replacement | None = None  # in the place of a post-LN norm: a function of skip + branch


class LayerEdit(NamedTuple):
    """Replacements in one layer."""

    attention: Edit = Edit()
    ffn: Edit = Edit()
    change: Replacement | None = None  # of what the whole layer adds: output − input


INTACT = Edit()
INTACT_LAYER = LayerEdit()
Edits = Mapping[int, LayerEdit]
"""Replacements by the number of the layer; 0 is the first."""
NO_EDITS: Edits = MappingProxyType({})


def zero(value: FloatArray) -> FloatArray:
    """Put zeros in the place of a part."""
    return np.zeros_like(value)


def unchanged(value: FloatArray) -> FloatArray:
    """Let a value pass; as a norm, that is no norm."""
    return value


def scaled(factor: float) -> Replacement:
    """Multiply what a part gave."""
    return lambda value: value * value.dtype.type(factor)


def replaced_by(array: FloatArray) -> Replacement:
    """Put an array, broadcast to the shape of the part, in its place: a mean, or what another text gave."""
    return lambda value: np.broadcast_to(array, value.shape).astype(value.dtype)


def require_edits(edits: Edits, config: EncoderConfig) -> None:
    """Refuse an edit of what is not there.

    Raises
    ------
    ValueError
        If a layer's number or a part is not one that the config has.

    Examples
    --------
    >>> require_edits({6: LayerEdit(change=zero)}, EncoderConfig(depth=6))
    Traceback (most recent call last):
        ...
    ValueError: edits must name layers 0 to 5, got 6
    """
    c = config
    for i, edit in edits.items():
        if i not in range(c.depth):
            raise ValueError(f"edits must name layers 0 to {c.depth - 1}, got {i!r}")
        parts = (*(("attention", *part) for part in zip(Edit._fields, edit.attention, strict=True)),)
        parts += (*(("ffn", *part) for part in zip(Edit._fields, edit.ffn, strict=True)),)
        for sublayer, part, replacement in parts:
            there = {"branch": True, "skip": c.residual, "norm": c.norm == "post"}[part]
            if sublayer == "ffn":
                there &= c.ffn and not (c.parallel and part != "branch")
            if replacement and not there:
                raise ValueError(
                    f"edits must name parts that the config has, got {sublayer}.{part} of layer {i}"
                )
