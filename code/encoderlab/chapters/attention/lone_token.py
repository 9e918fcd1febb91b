"""A token that attends to itself alone: there attention has nothing to choose, and is an affine map.

The first token of every causal model is such a token: the plainest reason why attention alone is not enough.
"""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.elementwise.affine import Affine, collapse
from encoderlab.model.encoder import Encoder


def lone_token_map(encoder: Encoder) -> Affine:
    """Multiply out what an attention-only encoder does to a token that sees no other (claim 24).

    Softmax over one logit is 1, whatever the logit. A layer is then x ↦ x W_V W_O + b_V W_O + b_O, all heads
    together, plus x with the residual; a stack of them is one affine map, as in chapter 1. It holds for a
    sequence of one token, for equal tokens, and for the first token under a causal mask.

    Parameters
    ----------
    encoder : Encoder
        Without FFN and LayerNorm.

    Returns
    -------
    Affine
        From d_model to d_model.

    Raises
    ------
    ValueError
        If the encoder has an FFN or a LayerNorm: its map is then not affine.

    Examples
    --------
    >>> from encoderlab.model.encoder import EncoderConfig
    >>> rng = np.random.default_rng(0)
    >>> config = EncoderConfig(d_model=4, n_heads=2, d_ff=4, depth=5, ffn=False, norm="none")
    >>> encoder, token = Encoder.random(config, rng), rng.normal(size=(1, 4))
    >>> W, b = lone_token_map(encoder)
    >>> np.allclose(encoder(token), token @ W + b)
    True
    """
    config = encoder.config
    if config.ffn:
        raise ValueError("encoder must have ffn = False, got True")
    if config.norm != "none" or config.final_norm:
        raise ValueError(
            f"encoder must have no LayerNorm, got norm = {config.norm!r}, final_norm = {config.final_norm}"
        )
    d = config.d_model
    layers = [Affine(np.eye(d), np.zeros(d))]
    for layer in encoder.weights.layers[: config.depth]:
        w = layer.attention
        W, b = w.W_V @ w.W_O, np.zeros(d)  # (d_model, d_model), (d_model,)
        if w.b_V is not None:
            b = b + w.b_V @ w.W_O
        if w.b_O is not None:
            b = b + w.b_O
        layers.append(Affine(W + np.eye(d) if config.residual else W, b))
    return collapse(layers)
