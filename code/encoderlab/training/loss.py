"""What training makes small, each beside its gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from encoderlab.model.arrays import FloatArray

IntArray = NDArray[np.intp]


def cross_entropy(logits: FloatArray, target: IntArray) -> tuple[float, FloatArray]:
    """Return the mean of −log softmax(logits)[target] over a batch, and its gradient.

    With m the largest logit, −log softmax_t = log Σ exp(s_i − m) − (s_t − m): no exp overflows and no log
    meets zero. Its derivative by s_i is softmax_i − δ_it.

    Parameters
    ----------
    logits : ndarray, shape (batch, n_classes)
    target : ndarray of int, shape (batch,)
        The right class of each row.

    Returns
    -------
    loss : float
        In nats; log(n_classes) for logits that are all equal.
    grad_logits : ndarray, shape (batch, n_classes)

    Raises
    ------
    ValueError
        If `target` is not one class of 0 to n_classes − 1 for each row.

    Examples
    --------
    >>> loss, grad = cross_entropy(np.array([[0.0, 0.0]]), np.array([1]))
    >>> round(loss, 4), grad
    (0.6931, array([[ 0.5, -0.5]]))
    """
    batch, n_classes = logits.shape
    if target.shape != (batch,) or target.dtype.kind not in "iu":
        raise ValueError(f"target must be integers of shape ({batch},), got {target.dtype} {target.shape}")
    if batch and not 0 <= target.min() <= target.max() < n_classes:
        raise ValueError(
            f"target must lie in 0 to {n_classes - 1}, got values from {target.min()} to {target.max()}"
        )
    rows = np.arange(batch)
    shifted = logits - logits.max(axis=-1, keepdims=True)  # (batch, n_classes)
    weights = np.exp(shifted)
    total = weights.sum(axis=-1, keepdims=True)  # (batch, 1)
    loss = np.mean(np.log(total[:, 0]) - shifted[rows, target])
    grad = weights / total
    grad[rows, target] -= 1
    return float(loss), grad / batch


def squared_error(output: FloatArray, target: FloatArray) -> tuple[float, FloatArray]:
    """Return the mean of (output − target)² over all entries, and its gradient.

    Parameters
    ----------
    output, target : ndarray of one shape

    Returns
    -------
    loss : float
    grad_output : ndarray, shape of `output`
    """
    difference = output - target
    return float(np.mean(difference * difference)), difference * (2 / difference.size)
