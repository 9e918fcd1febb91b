"""Weights that others trained, put into our encoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights
from encoderlab.model.config import EncoderConfig, Norm
from encoderlab.model.encoder import Encoder
from encoderlab.model.feed_forward import FeedForwardWeights
from encoderlab.model.layer_norm import LayerNormWeights
from encoderlab.model.weights import EncoderWeights, LayerWeights


def from_torch(
    state_dict: Mapping[str, Any],
    *,
    n_heads: int,
    norm: Norm = "post",
    activation: str = "relu",
    eps: float = 1e-5,
) -> Encoder:
    """Build an encoder from the arrays of a `torch.nn.TransformerEncoder`.

    PyTorch keeps Q, K and V in one matrix and multiplies by the transpose, x Wᵀ, so each matrix is cut and
    transposed. Its padding masks say True where a key is hidden; ours say True where it may be seen.

    Parameters
    ----------
    state_dict : mapping of str to array
        What `module.state_dict()` returns: tensors on the CPU, or arrays. The names tell sizes, depth,
        whether there are biases and whether a final norm follows.
    n_heads, norm, activation, eps
        What the names do not tell; `norm` is "pre" for ``norm_first=True``.

    Returns
    -------
    Encoder

    Raises
    ------
    ValueError
        If an array is missing, unexpected, or of a shape that does not fit.
    """
    arrays = {name: np.asarray(value) for name, value in state_dict.items()}
    numbers = [int(name.split(".")[1]) for name in arrays if name.startswith("layers.")]
    depth = max(numbers, default=-1) + 1
    if depth == 0:
        raise ValueError(f"state_dict must hold names such as layers.0.linear1.weight, got {sorted(arrays)}")

    def take(name: str) -> FloatArray:
        if name not in arrays:
            raise ValueError(f"state_dict must hold {name}, and does not")
        return arrays.pop(name)

    def maybe(name: str) -> FloatArray | None:
        return arrays.pop(name, None)

    def layer_norm(prefix: str) -> LayerNormWeights:
        return LayerNormWeights(take(f"{prefix}.weight"), maybe(f"{prefix}.bias"))

    def attention(prefix: str) -> AttentionWeights:
        W_Q, W_K, W_V = np.split(take(f"{prefix}.in_proj_weight").T, 3, axis=1)  # each (d_model, d_model)
        W_O, b_O = take(f"{prefix}.out_proj.weight").T, maybe(f"{prefix}.out_proj.bias")
        bias = maybe(f"{prefix}.in_proj_bias")
        b_Q, b_K, b_V = (None, None, None) if bias is None else np.split(bias, 3)  # each (d_model,)
        return AttentionWeights(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O)

    def ffn(prefix: str) -> FeedForwardWeights:
        W_1, W_2 = take(f"{prefix}.linear1.weight").T, take(f"{prefix}.linear2.weight").T
        return FeedForwardWeights(W_1, W_2, maybe(f"{prefix}.linear1.bias"), maybe(f"{prefix}.linear2.bias"))

    layers = tuple(
        LayerWeights(
            attention(f"layers.{i}.self_attn"),
            layer_norm(f"layers.{i}.norm1"),
            ffn(f"layers.{i}"),
            layer_norm(f"layers.{i}.norm2"),
        )
        for i in range(depth)
    )
    d_model, d_ff = layers[0].ffn.W_1.shape
    final_norm = "norm.weight" in arrays
    last = layer_norm("norm") if final_norm else layers[-1].ffn_norm
    if arrays:
        raise ValueError(
            f"state_dict must hold an encoder and nothing else, got also {', '.join(sorted(arrays))}"
        )
    config = EncoderConfig(
        d_model=d_model,
        n_heads=n_heads,
        d_ff=d_ff,
        depth=depth,
        norm=norm,
        activation=activation,
        eps=eps,
        final_norm=final_norm,
    )
    return Encoder(config, EncoderWeights(layers, last))
