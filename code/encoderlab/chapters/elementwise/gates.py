"""Gates: elementwise products in which one factor decides how much of the other passes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from encoderlab.model.activations import ACTIVATIONS, tanh
from encoderlab.model.arrays import FloatArray
from encoderlab.model.linear import linear


class LSTMGates(NamedTuple):
    """What an LSTM cell multiplies with, and what it would write."""

    input: FloatArray  # (..., d_hidden), in (0, 1)
    forget: FloatArray  # (..., d_hidden), in (0, 1)
    output: FloatArray  # (..., d_hidden), in (0, 1)
    candidate: FloatArray  # (..., d_hidden), in (-1, 1)


def lstm_cell(
    x: FloatArray, h: FloatArray, c: FloatArray, W: FloatArray, b: FloatArray, gate: str = "sigmoid"
) -> tuple[FloatArray, FloatArray, LSTMGates]:
    """Take one step of a long short-term memory cell (claim 8).

    Three gates are sigmoids; tanh shapes what is written and what is read:
    c′ = forget ⊙ c + input ⊙ candidate, h′ = output ⊙ tanh(c′).
    Hochreiter and Schmidhuber 1997 had no forget gate, which is forget = 1; Gers et al. 2000 added it.

    Parameters
    ----------
    x : ndarray, shape (..., d_in)
        The input of this step.
    h, c : ndarray, shape (..., d_hidden)
        Output and memory of the step before.
    W : ndarray, shape (d_in + d_hidden, 4 · d_hidden)
        Four blocks of columns: input, forget, output, candidate.
    b : ndarray, shape (4 · d_hidden,)
    gate : str
        The activation of the three gates: "sigmoid", or another to see what goes wrong.

    Returns
    -------
    h, c : ndarray, shape (..., d_hidden)
    gates : LSTMGates
    """
    z = linear(np.concatenate([x, h], axis=-1), W, b)  # (..., 4 · d_hidden)
    i, f, o, g = np.split(z, 4, axis=-1)  # 4 times (..., d_hidden)
    squash = ACTIVATIONS[gate].f
    gates = LSTMGates(squash(i), squash(f), squash(o), tanh(g))
    c = gates.forget * c + gates.input * gates.candidate
    return gates.output * tanh(c), c, gates


def gated_feed_forward(
    x: FloatArray, W: FloatArray, V: FloatArray, W_2: FloatArray, activation: str = "gelu"
) -> FloatArray:
    """Apply a gated feed-forward layer, (f(x W) ⊙ x V) W₂: three matrices, no bias (Shazeer 2020; claim 63).

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    W, V : ndarray, shape (d_model, d_ff)
    W_2 : ndarray, shape (d_ff, d_model)
    activation : str
        "sigmoid" makes it a GLU, "relu" a ReGLU, "gelu" a GEGLU.

    Returns
    -------
    ndarray, shape (..., n, d_model)
    """
    gate = ACTIVATIONS[activation].f(x @ W)  # (..., n, d_ff)
    return (gate * (x @ V)) @ W_2  # (..., n, d_model)
