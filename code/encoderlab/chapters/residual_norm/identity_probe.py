"""How much of a token is left after the layers: its direction, and whether it can still be told apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder


class Remains(NamedTuple):
    """What is left of the input tokens."""

    cosine: float  # mean cosine of a token's output with its input
    readable: float  # share of tokens, in sequences not fitted, whose identity a linear readout names


def what_remains(
    encoder: Encoder, rng: np.random.Generator, *, vocabulary: int = 32, n: int = 8, sequences: int = 300
) -> Remains:
    """Send random sequences of a random vocabulary through an encoder and look for the input in the output.

    The readout is the least-squares map from a token's output, brought to length one, to its one-hot
    identity, fitted on two thirds of the sequences. It finds what can be read *linearly*: a miss proves no
    loss.

    Parameters
    ----------
    encoder : Encoder
    rng : numpy.random.Generator
    vocabulary : int
        Number of different tokens, each a standard normal vector; guessing is right once in that many.
    n, sequences : int

    Returns
    -------
    Remains

    Examples
    --------
    An encoder of no layers changes nothing:

    >>> from encoderlab.model.encoder import EncoderConfig
    >>> nothing = Encoder.random(EncoderConfig(depth=0), np.random.default_rng(0))
    >>> [round(value, 12) for value in what_remains(nothing, np.random.default_rng(0))]
    [1.0, 1.0]
    """
    vectors = rng.normal(size=(vocabulary, encoder.config.d_model))
    tokens = rng.integers(vocabulary, size=(sequences, n))
    x = vectors[tokens]  # (sequences, n, d_model)
    y = _unit(encoder(x))
    cosine = float((_unit(x) * y).sum(axis=-1).mean())
    features = np.concatenate([y, np.ones_like(y[..., :1])], axis=-1)  # (sequences, n, d_model + 1)
    seen = 2 * sequences // 3
    fitted = features[:seen].reshape(-1, features.shape[-1])
    readout, *_ = np.linalg.lstsq(fitted, np.eye(vocabulary)[tokens[:seen].ravel()], rcond=None)
    named = (features[seen:] @ readout).argmax(axis=-1)  # (sequences - seen, n)
    return Remains(cosine, float(np.mean(named == tokens[seen:])))


def _unit(x: FloatArray) -> FloatArray:
    unit: FloatArray = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return unit
