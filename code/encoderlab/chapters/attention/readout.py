"""What the best linear readout makes of an encoder's output: whether its features can do a task at all."""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.elementwise.affine import Affine
from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder, EncoderConfig

TOLERANCE = 1e-9
"""Singular values below this share of the largest count as zero."""


def best_readout(features: FloatArray, labels: FloatArray) -> Affine:
    """Return the affine map from features to labels with the least squared error, the smallest such map.

    Parameters
    ----------
    features : ndarray, shape (m, d)
    labels : ndarray, shape (m,)

    Returns
    -------
    Affine
        From d numbers to 1. The constant is not penalised: features and labels are centred first.

    Examples
    --------
    No affine map fits XOR even in part: the best one is the constant 0. One more feature mends it.

    >>> x = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    >>> labels = np.array([-1.0, 1.0, 1.0, -1.0])
    >>> best_readout(x, labels).W.round(12).ravel() + 0
    array([0., 0.])
    >>> best_readout(np.column_stack([x, x[:, 0] * x[:, 1]]), labels).W.round(12).ravel() + 0
    array([ 0.,  0., -1.])
    """
    mean, middle = features.mean(axis=0), labels.mean()
    W = np.linalg.pinv(features - mean, rcond=TOLERANCE) @ (labels - middle)  # (d,)
    return Affine(W[:, None], np.array([middle - mean @ W]))


def random_body(
    rng: np.random.Generator, *, biases: bool, layer_norm: bool, ffn: bool, depth: int, d_model: int = 12
) -> Encoder:
    """Draw a random encoder, with or without what could make it nonlinear on a lone token.

    Parameters
    ----------
    rng : numpy.random.Generator
        The same state gives the same weights, whatever is switched on.
    biases : bool
        Whether attention has biases, drawn from N(0, 1). The FFN and LayerNorm have none.
    layer_norm, ffn : bool
        LayerNorm stands after each residual connection.
    depth, d_model : int

    Returns
    -------
    Encoder
        With two heads, and a residual connection around each sub-layer.
    """
    config = EncoderConfig(
        d_model=d_model,
        n_heads=2,
        d_ff=4 * d_model,
        depth=depth,
        ffn=ffn,
        norm="post" if layer_norm else "none",
        eps=1e-12,
    )
    encoder = Encoder.random(config, rng)
    if not biases:
        return encoder
    drawn = {
        name: rng.normal(size=b.shape) for name, b in encoder.parameters().items() if ".attention.b_" in name
    }
    return encoder.with_parameters(drawn)


def token_features(
    body: Encoder, bits: FloatArray, embedding: FloatArray, constant: FloatArray | None = None
) -> FloatArray:
    """Send one token for each row of bits through a body, alone or behind a constant token.

    Parameters
    ----------
    body : Encoder
    bits : ndarray, shape (m, n_bits)
    embedding : ndarray, shape (n_bits, d_model)
        The token is bits · embedding: linear, so that an output can only bend if the body bends it.
    constant : ndarray, shape (d_model,), optional
        The token in front, which carries no bits.

    Returns
    -------
    ndarray, shape (m, d_model)
        The output at the token.
    """
    sequences = (bits @ embedding)[:, None]  # (m, 1, d_model)
    if constant is not None:
        front = np.broadcast_to(constant, sequences.shape)
        sequences = np.concatenate([front, sequences], axis=1)  # (m, 2, d_model)
    return body(sequences)[:, -1]
