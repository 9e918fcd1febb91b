"""Parts taken out of a trained post-LN encoder, each in five forms, because each form changes something else.

A sub-layer is LN(s + y) with the skip s = x and the branch y = F(x). What is taken out is one of the three,
skip, branch or LN, around attention or around the FFN, in all layers, or else one layer entire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from encoderlab.chapters.abstraction.corpus_means import ALL, BETWEEN, FIRST, LAST, LayerMeans, SublayerMeans
from encoderlab.model.arrays import FloatArray
from encoderlab.model.edit import Edit, LayerEdit, unchanged, zero
from encoderlab.model.encoder import Encoder
from encoderlab.model.layer_norm import LayerNormWeights, standardize
from encoderlab.model.weights import LayerWeights

Form = Literal["zero", "mean", "mean of its kind", "mean of the sentence", "skipped"]
Piece = Literal["branch", "skip", "norm"]
Sublayer = Literal["attention", "ffn"]

FORMS: Mapping[Form, str] = MappingProxyType(
    {
        "zero": "zero in its place, with the LayerNorm behind it kept",
        "mean": "its mean over all tokens of all sentences",
        "mean of its kind": "its mean over the tokens of its kind: all [CLS], all [SEP], or all words",
        "mean of the sentence": "its mean over the tokens of the sentence",
        "skipped": "nothing, and the LayerNorm behind it is left out too",
    }
)
"""What stands in the place of a branch, a skip or a layer's change; for a LayerNorm see `_normalise`."""


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
    encoder: Encoder, x: FloatArray, operation: Operation, form: Form, means: Sequence[LayerMeans]
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
        Of `encoderlab.chapters.abstraction.corpus_means`, for the forms "mean" and "mean of its kind".

    Returns
    -------
    tuple of ndarray, shape (..., n, d_model)
        The input, and what every layer gives.

    Raises
    ------
    ValueError
        If the encoder is not post-LN with every part switched on, or the form is none of `FORMS`.
    """
    c = encoder.config
    if not (c.ffn and c.residual and c.norm == "post" and c.norm_kind == "layer" and not c.parallel):
        raise ValueError(
            f"encoder must be post-LN with every part switched on, one behind the other, got {c}"
        )
    if form not in FORMS:
        raise ValueError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
    edits = {
        i: _layer_edit(i, w, c.eps, operation, form, means[i])
        for i, w in enumerate(encoder.astype(x.dtype).weights.layers[: c.depth])
    }
    return encoder.trace(x, edits=edits).hidden


def _layer_edit(
    i: int, w: LayerWeights, eps: float, operation: Operation, form: Form, means: LayerMeans
) -> LayerEdit:
    """Say what stands in the place of the parts of one layer."""
    if i == operation.layer and "mean" in form:
        return LayerEdit(change=lambda change: _replaced(change, form, means.change))
    if i == operation.layer:
        nothing = Edit(branch=zero, norm=unchanged if form == "skipped" else None)
        return LayerEdit(nothing, nothing)
    return LayerEdit(
        _edit(operation.attention, w.attention_norm, eps, form, means.attention),
        _edit(operation.ffn, w.ffn_norm, eps, form, means.ffn),
    )


def _edit(piece: Piece | None, norm: LayerNormWeights, eps: float, form: Form, means: SublayerMeans) -> Edit:
    """Say what stands in the place of a piece of one sub-layer LN(s + y)."""
    kept_norm = unchanged if form == "skipped" else None
    if piece == "branch":
        return Edit(branch=lambda y: _replaced(y, form, means.branch), norm=kept_norm)
    if piece == "skip":
        return Edit(skip=lambda x: _replaced(x, form, means.skip), norm=kept_norm)
    if piece == "norm":
        return Edit(norm=lambda u: _normalise(u, norm, eps, form, means))
    return Edit()


def _replaced(value: FloatArray, form: Form, means: FloatArray) -> FloatArray:
    """Return what stands in the place of a value (..., n, d), of its shape; `means` is (4, d)."""
    if form in ("zero", "skipped"):
        return zero(value)
    if form == "mean of the sentence":
        return np.broadcast_to(value.mean(axis=-2, keepdims=True), value.shape)
    return np.broadcast_to(_rows(means, value.shape[-2], form), value.shape)


def _rows(means: FloatArray, n: int, form: Form) -> FloatArray:
    """Return the corpus mean for each of n tokens, (n, d): one for all, or that of its kind."""
    kinds = [ALL] * n if form == "mean" else [FIRST, *[BETWEEN] * (n - 2), LAST]
    return means[kinds]


def _normalise(
    u: FloatArray, norm: LayerNormWeights, eps: float, form: Form, means: SublayerMeans
) -> FloatArray:
    """Take LayerNorm's own work out: the centring and scaling of each token by its own mean and deviation.

    "zero" keeps γ and β alone; the means put a centre and a scale from elsewhere in the place of each token's
    own, which leaves an affine map; "skipped" leaves u as it is.
    """
    if form == "skipped":
        return u
    if form == "mean of the sentence":
        _, sigma = standardize(u, eps)  # (..., n, 1)
        u = (u - u.mean(axis=(-2, -1), keepdims=True)) / sigma.mean(axis=-2, keepdims=True)
    elif form != "zero":
        n = u.shape[-2]
        u = (u - _rows(means.centre, n, form)) / _rows(means.scale, n, form)
    scaled = u * norm.gamma
    return scaled if norm.beta is None else scaled + norm.beta
