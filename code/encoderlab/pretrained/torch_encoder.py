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
from encoderlab.model.layer_norm import LayerNormWeights, NormKind
from encoderlab.model.weights import EncoderWeights, LayerWeights


def from_torch(
    state_dict: Mapping[str, Any],
    *,
    n_heads: int,
    norm: Norm = "post",
    activation: str = "relu",
    eps: float = 1e-5,
    norm_kind: NormKind | None = None,
    final_norm: bool | None = None,
    final_eps: float | None = None,
) -> Encoder:
    """Build an encoder from the arrays of a `torch.nn.TransformerEncoder`.

    PyTorch keeps Q, K and V in one matrix and multiplies by the transpose, x Wᵀ, so each matrix is cut and
    transposed. Its padding masks say True where a key is hidden; ours say True where it may be seen.

    Parameters
    ----------
    state_dict : mapping of str to array
        What `module.state_dict()` returns: tensors on the CPU, or arrays. The names tell sizes, depth,
        whether there are biases and whether a final norm with weights follows. All arrays are copied.
    n_heads, norm, activation, eps
        What the names do not tell; `norm` is "pre" for ``norm_first=True``.
    norm_kind : {"layer", "rms"}, optional
        Needed where norms have no bias: LayerNorm without one and RMSNorm have the same names.
    final_norm : bool, optional
        Needed as True where the final norm has no weights, since it then has no name.
    final_eps : float, optional
        Needed where the eps of the final norm is not that of the layers.

    Returns
    -------
    Encoder

    Raises
    ------
    ValueError
        If an array is missing, unexpected, or of a shape that does not fit, or the kind of norm is open.
    """
    if not isinstance(state_dict, Mapping):
        raise ValueError(
            f"state_dict must be what module.state_dict() gives, got {type(state_dict).__name__}"
        )
    arrays = {name: _copied(name, value) for name, value in state_dict.items()}
    numbers = [name.split(".")[1] for name in arrays if name.startswith("layers.")]
    odd = [number for number in numbers if not (number.isascii() and number.isdigit())]
    if odd:
        raise ValueError(f"state_dict must number its layers, as in layers.0, got layers.{odd[0]}")
    depth = max(map(int, numbers), default=-1) + 1
    if depth == 0:
        raise ValueError(f"state_dict must hold names such as layers.0.linear1.weight, got {sorted(arrays)}")

    def take(name: str) -> FloatArray:
        if name not in arrays:
            raise ValueError(f"state_dict must hold {name}, and does not")
        return arrays.pop(name)

    def maybe(name: str) -> FloatArray | None:
        return arrays.pop(name, None)

    def layer_norm(prefix: str) -> LayerNormWeights:
        gamma, beta = take(f"{prefix}.weight"), maybe(f"{prefix}.bias")
        if beta is None and norm_kind is None:
            raise ValueError(f"norm_kind must be layer or rms where {prefix} has no bias, got None")
        if beta is not None and norm_kind == "rms":
            raise ValueError(f"norm_kind must be layer where {prefix} has a bias, got 'rms'")
        return LayerNormWeights(gamma, beta)

    def attention(prefix: str) -> AttentionWeights:
        stacked = take(f"{prefix}.in_proj_weight")  # (3 · d_model, d_model)
        if stacked.ndim != 2 or stacked.shape[0] != 3 * stacked.shape[1]:
            raise ValueError(f"{prefix}.in_proj_weight must have shape (3d, d), got {stacked.shape}")
        W_Q, W_K, W_V = np.split(stacked.T, 3, axis=1)  # each (d_model, d_model)
        W_O, b_O = take(f"{prefix}.out_proj.weight").T, maybe(f"{prefix}.out_proj.bias")
        bias = maybe(f"{prefix}.in_proj_bias")
        if bias is not None and bias.shape != stacked.shape[:1]:
            raise ValueError(f"{prefix}.in_proj_bias must have shape {stacked.shape[:1]}, got {bias.shape}")
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
    named = "norm.weight" in arrays
    if named and final_norm is False:
        raise ValueError("final_norm must be True where state_dict holds norm.weight, got False")
    plain = np.ones(d_model, layers[0].ffn.W_1.dtype)  # γ of a norm without weights
    last = layer_norm("norm") if named else LayerNormWeights(plain)
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
        final_norm=named if final_norm is None else final_norm,
        norm_kind=norm_kind or "layer",
        final_eps=final_eps,
    )
    return Encoder(config, EncoderWeights(layers, last))


def _copied(name: str, value: Any) -> FloatArray:
    """Return an array that shares no memory with a tensor; NumPy has no bfloat16."""
    try:
        return np.array(value)
    except (TypeError, RuntimeError) as error:
        raise ValueError(f"{name} must be a float32 or float64 array on the CPU, got {error}") from error
