"""Tasks that are tables of answers to be learned by heart: modular addition and facts."""

from __future__ import annotations

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.training.adam import Adam
from encoderlab.training.classifier import Shape
from encoderlab.training.loss import IntArray, cross_entropy
from encoderlab.training.tasks.task import Batch, Task, from_table, one_hot


def most_common_share(groups: IntArray, answers: IntArray) -> float:
    """Return the accuracy of giving each group its most frequent answer."""
    best = [np.bincount(answers[groups == group]).max() for group in np.unique(groups)]
    return float(sum(best) / len(answers))


def sum_of_look_ups(features: FloatArray, answers: IntArray, n_values: int, steps: int = 300) -> float:
    """Return the accuracy of scores that are a sum of one look-up for each token, by logistic regression.

    The features of all tokens together are the rows that are looked up. The best sum may do better still, as
    likelihood is not accuracy.

    Parameters
    ----------
    features : ndarray, shape (rows, n, n_features)
    answers : ndarray of int, shape (rows,)
    n_values : int
    steps : int
        Of Adam, from zero, on a convex loss.
    """
    rows = features.sum(axis=1, dtype=np.float64)  # (rows, n_features)
    table = np.zeros((rows.shape[1], n_values))
    optimiser = Adam(table.reshape(-1))
    for _ in range(steps):
        _, grad = cross_entropy(rows @ table, answers)
        optimiser.step((rows.T @ grad).reshape(-1), lr=0.1)
    return float(np.mean((rows @ table).argmax(axis=1) == answers))


def two_keys(first: IntArray, second: IntArray, n_symbols: int) -> FloatArray:
    """Return the features of the sequences (first, second, query): (rows, 3, n_symbols + 1)."""
    query = np.full(len(first), n_symbols)
    return one_hot(np.column_stack([first, second, query]), n_symbols + 1)


def modular_addition(p: int = 11) -> Task:
    """Ask for (a + b) mod p; training sees all p² pairs, so this is fitting, not generalising.

    One operand alone says nothing: 1/p. But *adding* two look-ups already reaches far. Scores
    2c(a + b) − c² prefer the class c nearest to the sum a + b, and a shift of c by p where that pays makes p
    consecutive sums right of the 2p − 1 that occur; the middle ones cover (3p² + 1)/4 of the p² pairs for odd
    p. So a model without any product of a and b can reach that, which is the line to beat, though perhaps
    not the best sum of look-ups. None is right everywhere: summed over all pairs, the scores of the right
    classes are as large as the mean over all classes, as each class is right once for every a and every b.
    A single head of depth 1 without LayerNorm and FFN is such a sum, since the denominator of its softmax
    is the same for all classes; with two heads there are two denominators, and products.

    Parameters
    ----------
    p : int
        At least 2.

    Returns
    -------
    Task

    Examples
    --------
    >>> {name: round(value, 3) for name, value in modular_addition(11).baselines.items()}
    {'chance': 0.091, 'one operand': 0.091, 'sum of two look-ups, at least': 0.752}
    """
    if p < 2:
        raise ValueError(f"p must be at least 2, got {p}")
    a, b = (grid.ravel() for grid in np.indices((p, p)))
    answers = (a + b) % p
    low = (p - 1) // 2  # the sums low to low + p − 1 get a class each
    classes = low + (np.arange(p) - low) % p  # (p,): the sum that class c stands for
    scores = 2 * classes * (a + b)[:, None] - classes**2  # (p², p): f(a) + g(b) for each class
    baselines = {
        "chance": 1 / p,
        "one operand": most_common_share(a, answers),
        "sum of two look-ups, at least": float(np.mean(scores.argmax(axis=1) == answers)),
    }
    every = Batch(two_keys(a, b, p), answers)
    return from_table(f"addition modulo {p}", Shape(3, p + 1, p, -1), every, baselines)


def facts(n_subjects: int = 16, n_relations: int = 8, n_values: int = 16, seed: int = 0) -> Task:
    """Ask for the value of (subject, relation) in a random table: nothing to understand, all to store.

    The baselines are those of this very table: its most frequent value, the most frequent value of each
    subject or of each relation, and what a sum of two look-ups reaches, at least: all that a single head of
    depth 1 without LayerNorm and FFN can be, as in `modular_addition`.

    Parameters
    ----------
    n_subjects, n_relations, n_values : int
    seed : int
        Of the table.

    Returns
    -------
    Task
    """
    for name, size in (("n_subjects", n_subjects), ("n_relations", n_relations), ("n_values", n_values)):
        if size < 1:
            raise ValueError(f"{name} must be at least 1, got {size}")
    subject, relation = (grid.ravel() for grid in np.indices((n_subjects, n_relations)))
    answers = np.random.default_rng(seed).integers(n_values, size=subject.size)
    every = Batch(two_keys(subject, n_subjects + relation, n_subjects + n_relations), answers)
    baselines = {
        "chance": 1 / n_values,
        "most frequent value": most_common_share(np.zeros_like(answers), answers),
        "most frequent value of the subject": most_common_share(subject, answers),
        "most frequent value of the relation": most_common_share(relation, answers),
        "sum of two look-ups, at least": sum_of_look_ups(every.features, answers, n_values),
    }
    shape = Shape(3, n_subjects + n_relations + 1, n_values, -1)
    return from_table("key to value facts", shape, every, baselines)
