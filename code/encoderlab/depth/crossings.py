"""What a sum of one look-up for each token cannot answer, and which models are more than such a sum.

A crossing is two rows and two columns of a table of answers that read p q above q p, as in XOR. If the answer
to (row, column) is the class c with the largest f_c(row) + g_c(column), then p beats q twice and q beats p
twice in sums that add up to the same: no sum of look-ups answers so.

One head without LayerNorm and FFN, read at a query, is such a sum. It gives Σ wₜvₜ / Σ wₜ, where the weight
wₜ and the value vₜ of a token depend on that token alone, and the denominator is the same for all classes.
Two heads have two denominators; made common, each multiplies the other's numerator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from encoderlab.encoder import EncoderConfig
from encoderlab.training.classifier import Classifier, Shape
from encoderlab.training.loss import IntArray
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
    rng: np.random.Generator, n_rows: int = 16, n_columns: int = 8, n_classes: int = 16, **switches: Any
) -> IntArray:
    """Ask an untrained model about every pair of a row's symbol and a column's.

    Its embeddings are twice as large as training starts with, so that its weights are far from equal.

    Parameters
    ----------
    rng : np.random.Generator
    n_rows, n_columns, n_classes : int
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
    larger = model.parameters | {"embedding.W": 2 * model.parameters["embedding.W"]}
    row, column = (grid.ravel() for grid in np.indices((n_rows, n_columns)))
    features = two_keys(row, n_rows + column, n_symbols).astype(np.float64)
    scores = Classifier(shape, model.config, larger)(features)  # (n_rows · n_columns, n_classes)
    answers: IntArray = scores.argmax(axis=-1).reshape(n_rows, n_columns)
    return answers


def models_that_cross(rng: np.random.Generator, draws: int = 60, **switches: Any) -> int:
    """Count the untrained models whose answers to a table of 16 by 8 have a crossing.

    Parameters
    ----------
    rng : np.random.Generator
    draws : int
    **switches
        As for `random_answers`.

    Returns
    -------
    int
        Of `draws`.
    """
    return sum(crossings(random_answers(rng, **switches)) > 0 for _ in range(draws))
