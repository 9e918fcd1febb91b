"""One attention layer that stands in for two on one input: when it can, and what that is worth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray, require_float_array
from encoderlab.model.attention import AttentionWeights, multi_head_attention
from encoderlab.model.linear import linear

INDEPENDENCE = 1e-7
"""Directions of the tokens below this share of the strongest count as absent, and so does a misfit below it.

It is about the root of float64's rounding error: a direction weaker than that is not known to that accuracy.
"""

RANK = 1e-12
"""Singular values of the needed logits below this share of the largest count as zero."""


class Match(NamedTuple):
    """A single layer, and how well it does what two layers do on the input that it was made for."""

    layer: AttentionWeights  # one head; W_Q and W_K are (d_model, d_qk)
    rank: int  # the least d_qk that is enough for the best fit
    misfit: float  # ‖its centred logits − those needed‖ / ‖those needed‖
    error: float  # ‖its output − that of the two layers‖ / ‖that of the two layers‖


def random_head(rng: np.random.Generator, d_model: int = 16) -> AttentionWeights:
    """Draw one head whose logits, on tokens from N(0, I), have a standard deviation of about 3.

    Parameters
    ----------
    rng : np.random.Generator
    d_model : int

    Returns
    -------
    AttentionWeights
        Without biases.
    """
    W_Q, W_K, W_V, W_O = rng.normal(size=(4, d_model, d_model)) / d_model**0.5
    return AttentionWeights(3 * W_Q, W_K, W_V, W_O)


def two_layers(x: FloatArray, first: AttentionWeights, second: AttentionWeights) -> FloatArray:
    """Apply two layers of one head each, without skip or norm.

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    first, second : AttentionWeights

    Returns
    -------
    ndarray, shape (..., n, d_model)
    """
    return multi_head_attention(multi_head_attention(x, first, 1)[0], second, 1)[0]


def needed_logits(x: FloatArray, first: AttentionWeights, second: AttentionWeights) -> FloatArray:
    """Return log(A₂A₁) less the mean of each row: what softmax must be given to return A₂A₁.

    It is summed in logarithms, so that a weight too small for a float still has its logarithm.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)
    first, second : AttentionWeights
        Of one head each.

    Returns
    -------
    ndarray, shape (n, n)
    """
    logits_1, logits_2 = _logits(x, first), _logits(multi_head_attention(x, first, 1)[0], second)  # (n, n)
    log_A_1 = logits_1 - np.logaddexp.reduce(logits_1, axis=1, keepdims=True)
    through = logits_2[:, :, None] + log_A_1[None]  # (query, between, key)
    log_product = np.logaddexp.reduce(through, axis=1)  # (n, n), but for a constant in each row
    centred: FloatArray = log_product - log_product.mean(axis=1, keepdims=True)
    return centred


def span_basis(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what the columns of a matrix span, less directions below `INDEPENDENCE`.

    Parameters
    ----------
    columns : ndarray, shape (n, m)

    Returns
    -------
    ndarray, shape (n, rank)
    """
    U, sigma, _ = np.linalg.svd(columns, full_matrices=False)
    basis: FloatArray = U[:, sigma > INDEPENDENCE * sigma[0]]
    return basis


def matching_layer(
    x: FloatArray,
    first: AttentionWeights,
    second: AttentionWeights,
    *,
    d_qk: int | None = None,
    query_bias: bool = False,
    best_fit: bool = False,
) -> Match:
    """Build the one-head layer that does to `x` what two one-head layers do (claim 22).

    Softmax forgets a constant added to a row of logits, so the new layer has to produce M = log(A₂A₁) less
    the mean of each row. It can produce what its queries and keys span: columns in the span of the columns of
    `x`, and rows in that of the centred `x`. If the tokens are linearly independent both hold all of M, and
    any factorisation M = U Vᵀ gives the queries and keys; it takes rank(M) columns, as a rule n − 1.
    The maps of the values pass over as they are, and their biases too, because rows of a pattern sum to one.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)
        The one input.
    first, second : AttentionWeights
        Two layers of one head, without skip, norm or mask.
    d_qk : int, optional
        Width of the new layer's queries and keys; by default as many as are needed.
    query_bias : bool
        Let the new layer have a query bias: then it is enough that the rows (x, 1) are independent.
    best_fit : bool
        Where no layer matches, return the one whose logits come nearest to M in least squares.

    Returns
    -------
    Match
        In float64.

    Raises
    ------
    ValueError
        If no layer matches and `best_fit` is False: it names the condition that fails, and by how much.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> first, second = (AttentionWeights(*rng.normal(size=(4, 8, 8)) / 8**0.5) for _ in range(2))
    >>> x = rng.normal(size=(5, 8))
    >>> match = matching_layer(x, first, second)
    >>> match.rank, match.error < 1e-12
    (4, True)
    >>> round(matching_layer(x, first, second, d_qk=2, best_fit=True).error, 2)
    0.02
    """
    require_float_array("x", x, min_ndim=2, width=first.W_Q.shape[0])
    if x.ndim != 2:
        raise ValueError(f"x must be one sequence of shape (n, {x.shape[-1]}), got {x.shape}")
    if d_qk is not None and d_qk < 1:
        raise ValueError(f"d_qk must be at least 1, got {d_qk}")
    n, d_model = x.shape
    x, first, second = x.astype(np.float64), _in_float64(first), _in_float64(second)
    M = needed_logits(x, first, second)  # (n, n)
    size = np.linalg.norm(M) or 1.0
    asks = np.column_stack([x, np.ones(n)]) if query_bias else x  # (n, d_model), one more with a bias
    answers = x - x.mean(axis=0)  # (n, d_model): what all keys share, softmax forgets
    spans = span_basis(asks), span_basis(answers)
    reached = spans[0] @ spans[0].T @ M @ spans[1] @ spans[1].T  # (n, n)
    U, sigma, Vt = np.linalg.svd(reached)
    rank = max(1, int(np.count_nonzero(sigma > RANK * sigma[0])))
    width = rank if d_qk is None else d_qk
    beyond = float(np.linalg.norm(M - reached) / size)
    misfit = float(np.hypot(beyond, np.linalg.norm(sigma[width:]) / size))
    if not best_fit and beyond > INDEPENDENCE:
        received = f"{n} tokens of rank {spans[0].shape[1]} (tolerance {INDEPENDENCE:g})"
        _refuse("x must have independent tokens", received, misfit)
    if not best_fit and width < rank:
        needed = f"d_qk must be at least {rank}, the rank of the logits needed (tolerance {RANK:g})"
        _refuse(needed, str(d_qk), misfit)

    root = np.zeros((n, width))  # √σ on its diagonal; √width makes up for what attention divides by
    np.fill_diagonal(root, np.sqrt(sigma[: min(n, width)] * width**0.5))
    W_Q = np.linalg.pinv(asks, rcond=INDEPENDENCE) @ U @ root  # (d_model, d_qk), one more row with a bias
    W_K = np.linalg.pinv(answers, rcond=INDEPENDENCE) @ Vt.T @ root  # (d_model, d_qk)
    b_V = np.zeros(first.W_V.shape[1]) if first.b_V is None else first.b_V
    layer = AttentionWeights(
        W_Q[:d_model],
        W_K,
        first.W_V @ first.W_O @ second.W_V,
        second.W_O,
        b_Q=W_Q[d_model] if query_bias else None,
        b_V=linear(linear(b_V, first.W_O, first.b_O), second.W_V, second.b_V),
        b_O=second.b_O,
    )
    target = two_layers(x, first, second)  # (n, d_model)
    difference = multi_head_attention(x, layer, 1)[0] - target
    return Match(layer, rank, misfit, float(np.linalg.norm(difference) / np.linalg.norm(target)))


def errors(
    layer: AttentionWeights, x: FloatArray, first: AttentionWeights, second: AttentionWeights
) -> FloatArray:
    """Measure how far a layer of one head is from two layers, on every sequence of a batch.

    Parameters
    ----------
    layer : AttentionWeights
        Such as `Match.layer`, which knows one input only.
    x : ndarray, shape (batch, n, d_model)
    first, second : AttentionWeights

    Returns
    -------
    ndarray, shape (batch,)
        ‖its output − that of the two layers‖ / ‖that of the two layers‖.
    """
    target = two_layers(x, first, second)  # (batch, n, d_model)
    off = np.linalg.norm(multi_head_attention(x, layer, 1)[0] - target, axis=(1, 2))
    ratio: FloatArray = off / np.linalg.norm(target, axis=(1, 2))
    return ratio


def averaging(layer: AttentionWeights) -> AttentionWeights:
    """Return the layer with all its weights equal: it ignores who is who and averages the values."""
    return layer._replace(W_Q=np.zeros_like(layer.W_Q), b_Q=None)


def _logits(x: FloatArray, weights: AttentionWeights) -> FloatArray:
    _, trace = multi_head_attention(x, weights, 1)
    scaled: FloatArray = trace.Q[0] @ trace.K[0].T / trace.Q.shape[-1] ** 0.5  # (n, n)
    return scaled


def _in_float64(weights: AttentionWeights) -> AttentionWeights:
    return weights._replace(
        **{name: w.astype(np.float64) for name, w in weights._asdict().items() if w is not None}
    )


def _refuse(condition: str, received: str, misfit: float) -> None:
    raise ValueError(
        f"{condition}, got {received}: the best fit misses {misfit:.2g} of the norm of the logits needed, "
        "and best_fit=True returns it"
    )
