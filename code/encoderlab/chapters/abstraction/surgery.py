"""Parts taken out of a trained post-LN encoder, in seven forms each, for each form changes something else.

A sub-layer is LN(s + y) with the skip s = x and the branch y = F(x). What is taken out is one of the three,
skip, branch or LN, around attention or around the FFN, in all layers, or else one layer entire.
Five forms put something in its place that is alike for all tokens, or all of a kind, or nothing; the last two
put what differs from token to token and says nothing about this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from encoderlab.chapters.abstraction.corpus_means import (
    ALL,
    BETWEEN,
    FIRST,
    LAST,
    LayerMeans,
    Pool,
    SublayerMeans,
)
from encoderlab.model.arrays import FloatArray
from encoderlab.model.edit import Edit, LayerEdit, unchanged, zero
from encoderlab.model.encoder import Encoder
from encoderlab.model.layer_norm import LayerNormWeights, standardize
from encoderlab.model.weights import LayerWeights

Form = Literal[
    "zero", "mean", "mean of its kind", "mean of the sentence", "skipped", "a stranger's", "dealt anew"
]
Piece = Literal["branch", "skip", "norm"]
Sublayer = Literal["attention", "ffn"]

FORMS: Mapping[Form, str] = MappingProxyType(
    {
        "zero": "zero in its place, with the LayerNorm behind it kept",
        "mean": "its mean over all tokens of all sentences",
        "mean of its kind": "its mean over the tokens of its kind: all [CLS], all [SEP], or all words",
        "mean of the sentence": "its mean over the tokens of the sentence",
        "skipped": "nothing, and the LayerNorm behind it is left out too",
        "a stranger's": "that of a token drawn by lot from other sentences, of its kind",
        "dealt anew": "that of a word drawn by lot from its own sentence, each word's once",
    }
)
"""What stands in the place of a branch, a skip or a layer's change; for a LayerNorm see `_normalise`."""

BY_LOT: tuple[Form, ...] = ("a stranger's", "dealt anew")
"""Forms that draw, and put another thing in the place of each token's."""


class Operation(NamedTuple):
    """What is taken out: a piece of both or one kind of sub-layer in every layer, or all of one layer."""

    attention: Piece | None = None
    ffn: Piece | None = None
    layer: int | None = None  # 0 is the first


PARTS: Mapping[str, Operation] = MappingProxyType(
    {
        "attention": Operation(attention="branch"),
        "FFN": Operation(ffn="branch"),
        "skip round attention": Operation(attention="skip"),
        "skip round FFN": Operation(ffn="skip"),
        "both skips": Operation(attention="skip", ffn="skip"),
        "LN after attention": Operation(attention="norm"),
        "LN after FFN": Operation(ffn="norm"),
        "both LNs": Operation(attention="norm", ffn="norm"),
        **{f"layer {i + 1}": Operation(layer=i) for i in range(6)},
    }
)
"""Every operation that the surgery room shows."""


def operate(
    encoder: Encoder,
    x: FloatArray,
    operation: Operation,
    form: Form,
    means: Sequence[LayerMeans],
    rng: np.random.Generator | None = None,
) -> tuple[FloatArray, ...]:
    """Run an encoder with a part taken out.

    Parameters
    ----------
    encoder : Encoder
        Post-LN, every part switched on.
    x : ndarray, shape (..., n, d_model)
    operation : Operation
    form : a key of `FORMS`
    means : sequence of LayerMeans
        Of `encoderlab.chapters.abstraction.corpus_means`, for the forms that take from other sentences.
    rng : numpy.random.Generator, optional
        For the forms `BY_LOT`, which need one.

    Returns
    -------
    tuple of ndarray, shape (..., n, d_model)
        The input, and what every layer gives.

    Raises
    ------
    ValueError
        If the encoder is not post-LN with every part switched on, the form is none of `FORMS`, or it draws
        and there is no generator.
    """
    c = encoder.config
    if not (c.ffn and c.residual and c.norm == "post" and c.norm_kind == "layer" and not c.parallel):
        raise ValueError(
            f"encoder must be post-LN with every part switched on, one behind the other, got {c}"
        )
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
    if form in BY_LOT and rng is None:
        raise ValueError(f"rng must be a numpy.random.Generator for the form {form!r}, got None")
    edits = {
        i: _layer_edit(i, w, c.eps, operation, form, means[i], rng)
        for i, w in enumerate(encoder.astype(x.dtype).weights.layers[: c.depth])
    }
    return encoder.trace(x, edits=edits).hidden


def _layer_edit(
    i: int,
    w: LayerWeights,
    eps: float,
    operation: Operation,
    form: Form,
    means: LayerMeans,
    rng: np.random.Generator | None,
) -> LayerEdit:
    """Say what stands in the place of the parts of one layer."""
    if i == operation.layer and form not in ("zero", "skipped"):
        return LayerEdit(change=lambda change: _replaced(change, form, means.change, rng))
    if i == operation.layer:
        nothing = Edit(branch=zero, norm=unchanged if form == "skipped" else None)
        return LayerEdit(nothing, nothing)
    return LayerEdit(
        _edit(operation.attention, w.attention_norm, eps, form, means.attention, rng),
        _edit(operation.ffn, w.ffn_norm, eps, form, means.ffn, rng),
    )


def _edit(
    piece: Piece | None,
    norm: LayerNormWeights,
    eps: float,
    form: Form,
    means: SublayerMeans,
    rng: np.random.Generator | None,
) -> Edit:
    """Say what stands in the place of a piece of one sub-layer LN(s + y)."""
    kept_norm = unchanged if form == "skipped" else None
    if piece == "branch":
        return Edit(branch=lambda y: _replaced(y, form, means.branch, rng), norm=kept_norm)
    if piece == "skip":
        return Edit(skip=lambda x: _replaced(x, form, means.skip, rng), norm=kept_norm)
    if piece == "norm":
        return Edit(norm=lambda u: _normalise(u, norm, eps, form, means, rng))
    return Edit()


def _replaced(value: FloatArray, form: Form, pool: Pool, rng: np.random.Generator | None) -> FloatArray:
    """Return what stands in the place of a value (..., n, d), of its shape."""
    if rng is not None and form in BY_LOT:
        return _drawn(value, form, pool, rng)
    if form in ("zero", "skipped"):
        return zero(value)
    if form == "mean of the sentence":
        return np.broadcast_to(value.mean(axis=-2, keepdims=True), value.shape)
    return np.broadcast_to(_rows(pool.means, value.shape[-2], form), value.shape)


def _drawn(value: FloatArray, form: Form, pool: Pool, rng: np.random.Generator) -> FloatArray:
    """Return another token's value in the place of each (..., n, d)."""
    *batch, n, _ = value.shape
    if form == "dealt anew":
        order = np.argsort(rng.random((*batch, n - 2)), axis=-1)[..., None]  # (..., n − 2, 1)
        drawn = value.copy()
        drawn[..., 1:-1, :] = np.take_along_axis(value[..., 1:-1, :], order, axis=-2)
        return drawn
    first, between, last = (
        values[rng.integers(len(values), size=(*batch, k))]
        for values, k in zip(pool.values, (1, n - 2, 1), strict=True)
    )
    return np.concatenate([first, between, last], axis=-2).astype(value.dtype)


def _rows(means: FloatArray, n: int, form: Form) -> FloatArray:
    """Return the corpus mean for each of n tokens, (n, d): one for all, or that of its kind."""
    kinds = [ALL] * n if form == "mean" else [FIRST, *[BETWEEN] * (n - 2), LAST]
    return means[kinds]


def _normalise(
    u: FloatArray,
    norm: LayerNormWeights,
    eps: float,
    form: Form,
    means: SublayerMeans,
    rng: np.random.Generator | None,
) -> FloatArray:
    """Take LayerNorm's own work out: the centring and scaling of each token by its own mean and deviation.

    "zero" keeps γ and β alone; the means and the draws put a centre and a scale from elsewhere in the place
    of each token's own, which leaves an affine map; "skipped" leaves u as it is.
    """
    if form == "skipped":
        return u
    if form != "zero":
        centre = _replaced(u.mean(axis=-1, keepdims=True), form, means.centre, rng)  # (..., n, 1)
        scale = _replaced(standardize(u, eps)[1], form, means.scale, rng)  # (..., n, 1)
        u = (u - centre) / scale
    scaled = u * norm.gamma
    return scaled if norm.beta is None else scaled + norm.beta
