"""What a sum of one look-up for each token cannot answer, and which models are more than such a sum.

A crossing is two rows and two columns of a table of answers that read p q above q p, as in XOR. If the answer
to (row, column) is the class c with the largest f_c(row) + g_c(column), then p beats q twice and q beats p
twice in sums that add up to the same: no sum of look-ups answers so.

One head without LayerNorm and FFN, read at a query that is the same in every example, is such a sum. It
gives Σ wₜvₜ / Σ wₜ, where the weight wₜ and the value vₜ of a token depend on that token and the query alone,
and the denominator is the same for all classes. Two heads have two denominators; made common, each
multiplies the other's numerator. A LayerNorm after the one head is enough as well: `xor_by_one_head`.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from encoderlab.model.encoder import EncoderConfig
from encoderlab.training.classifier import Classifier, Shape
from encoderlab.training.loss import IntArray
from encoderlab.training.tasks.boolean import xor_among
from encoderlab.training.tasks.tables import two_keys


def crossings(answers: IntArray) -> int:
    """Count the crossings in a table of answers.

    Parameters
    ----------
    answers : ndarray of int, shape (n_rows, n_columns)

    Returns
    -------
    int

    Examples
    --------
    >>> crossings(np.array([[0, 1], [1, 0]])), crossings(np.array([[0, 1], [1, 1]]))
    (1, 0)
    """
    same = answers[:, None, :, None] == answers[None, :, None, :]  # (row, other row, column, other column)
    differ = (answers[:, None] != answers[None])[..., None]  # (row, other row, column, 1)
    return int(np.count_nonzero(same & same.swapaxes(2, 3) & differ)) // 4  # each is met in four orders


def random_answers(
    rng: np.random.Generator,
    n_rows: int = 16,
    n_columns: int = 8,
    n_classes: int = 16,
    scale: float = 1,
    **switches: Any,
) -> IntArray:
    """Ask an untrained model about every pair of a row's symbol and a column's.

    Parameters
    ----------
    rng : np.random.Generator
    n_rows, n_columns, n_classes : int
    scale : float
        Of the embeddings, as a multiple of what training starts with. The larger, the less equal the weights.
    **switches
        Of `EncoderConfig`, such as `n_heads` or `norm`; one layer of one head and nothing else by default.

    Returns
    -------
    ndarray of int, shape (n_rows, n_columns)
    """
    plain: dict[str, Any] = {"depth": 1, "n_heads": 1, "ffn": False, "norm": "none"}
    n_symbols = n_rows + n_columns
    shape = Shape(n=3, n_features=n_symbols + 1, n_classes=n_classes, read_at=-1)
    model = Classifier.random(shape, EncoderConfig(**(plain | switches)), rng, dtype=np.float64)
    scaled = model.parameters | {"embedding.W": scale * model.parameters["embedding.W"]}
    row, column = (grid.ravel() for grid in np.indices((n_rows, n_columns)))
    features = two_keys(row, n_rows + column, n_symbols).astype(np.float64)
    scores = Classifier(shape, model.config, scaled)(features)  # (n_rows · n_columns, n_classes)
    answers: IntArray = scores.argmax(axis=-1).reshape(n_rows, n_columns)
    return answers


def models_that_cross(rng: np.random.Generator, draws: int = 60, scale: float = 1, **switches: Any) -> int:
    """Count the untrained models whose answers to a table of 16 by 8 have a crossing.

    Parameters
    ----------
    rng : np.random.Generator
    draws : int
    scale, **switches
        As for `random_answers`.

    Returns
    -------
    int
        Of `draws`.
    """
    return sum(crossings(random_answers(rng, scale=scale, **switches)) > 0 for _ in range(draws))


def xor_by_one_head(norm: Literal["post", "pre"]) -> Classifier:
    """Build one layer of one head with the skip and a LayerNorm that finds the XOR of two marked bits.

    The head writes the mean of the two bits, taken as ±1, beside what the query carries: 0 if they differ
    and ±1 if not. LayerNorm gives all of it one length, so where the bits cancel more is left for the
    query's own entry, and equally much for +1 and −1: a fold. A threshold reads it.

    Parameters
    ----------
    norm : {"post", "pre"}

    Returns
    -------
    Classifier
        Of `tasks.xor_among(8)`, of width 6: bit, mark and query, and the same with the other sign, so that
        every token has mean zero.
    """
    bit, mark, query = range(3)
    plus = np.array([[0, 0, 0], [0, 0, 0], [-1, 1, 0], [1, 1, 0], [0, 0, 1.0]])  # (5, 3), by symbol
    config = EncoderConfig(6, 1, depth=1, ffn=False, norm=norm, final_norm=norm == "pre")
    shape = xor_among(8).shape
    drawn = Classifier.random(shape, config, np.random.default_rng(0), dtype=np.float64).parameters
    weights = {name: np.full_like(W, name.endswith("gamma")) for name, W in drawn.items()}
    weights["embedding.W"] = np.concatenate([plus, -plus], axis=1)  # (5, 6)
    attention = "layers.0.attention."
    weights[attention + "W_Q"][query, 0] = 60  # look at what is marked
    weights[attention + "W_K"][mark, 0] = 1
    weights[attention + "W_V"][bit, 0] = 1
    weights[attention + "W_O"][0, [bit, bit + 3]] = 1, -1
    weights["readout.W"][query, 1] = 1
    weights["readout.b"][1] = -1.5  # between √3, where the bits differ, and at most √1.5, where they do not
    return Classifier(shape, config, weights)
