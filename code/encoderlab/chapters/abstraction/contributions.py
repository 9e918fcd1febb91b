"""What a token's attention brings it from each other token: the weight times the vector that it weighs.

A weight says how much is taken, not how much there is to take. After Kobayashi et al. 2020: the output of
attention at token i is a sum over tokens j and heads of a_ij f(x_j), with f(x) = (x W_V + b_V) W_O of a head;
what j contributes is the length of its summand.
"""

from __future__ import annotations

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionTrace


def value_lengths(trace: AttentionTrace, W_O: FloatArray) -> FloatArray:
    """Return ‖f(x_j)‖ for each head and token.

    Parameters
    ----------
    trace : AttentionTrace
        Of one text.
    W_O : ndarray, shape (d_model, d_model)

    Returns
    -------
    ndarray, shape (h, n)
    """
    n_heads, _, d_head = trace.V.shape
    per_head = W_O.reshape(n_heads, d_head, -1)  # (h, d_head, d_model)
    lengths: FloatArray = np.linalg.norm(trace.V @ per_head, axis=-1)
    return lengths


def contributions(trace: AttentionTrace, W_O: FloatArray) -> FloatArray:
    """Return how long each token's summand is at each other token: a_ij ‖f(x_j)‖.

    Parameters
    ----------
    trace : AttentionTrace
        Of one text.
    W_O : ndarray, shape (d_model, d_model)

    Returns
    -------
    ndarray, shape (h, n, n)
        Rows are the tokens that attend.
    """
    lengths: FloatArray = trace.pattern * value_lengths(trace, W_O)[:, None, :]
    return lengths


def share_of_first(lengths: FloatArray) -> FloatArray:
    """Return what each head brings words from [CLS], over what a head brings them in all on average.

    Parameters
    ----------
    lengths : ndarray, shape (h, n, n)
        Contributions, or weights, of a text with a marker at either end.

    Returns
    -------
    ndarray, shape (h,)
        The mean over heads is the share of [CLS] in all that words get.

    Examples
    --------
    A head that looks at [CLS] alone and finds next to nothing there, beside one that looks at two words:

    >>> one, two = np.zeros((4, 4)), np.zeros((4, 4))
    >>> one[:, 0], two[:, 1:3] = 0.1, 0.95
    >>> share_of_first(np.stack([one, two])).round(3).tolist()
    [0.1, 0.0]
    """
    rows = lengths[:, 1:-1]  # (h, words, n)
    share: FloatArray = (rows[..., 0] / rows.sum(axis=-1).mean(axis=0)).mean(axis=-1)
    return share
