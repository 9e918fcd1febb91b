"""XOR and parity with weights written by hand: what an encoder can represent, whatever training would find.

A token carries its bits as ±1 in its first coordinates, and the answer is the sign of a coordinate of its
output: positive when an odd number of bits is +1. The token is alone, or sees one constant token beside it.
"""

from __future__ import annotations

import itertools

import numpy as np

from encoderlab.chapters.elementwise.affine import Affine
from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.feed_forward import FeedForwardWeights
from encoderlab.model.layer_norm import LayerNormWeights
from encoderlab.model.weights import EncoderWeights, LayerWeights

ANSWER = 2  # the coordinate of the output whose sign is the answer
EPS = 1e-12  # LayerNorm's ε in the constructions, which are exact for ε = 0


def corners(n: int) -> FloatArray:
    """Return every row of n bits ±1, the corners of a cube: shape (2ⁿ, n)."""
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def parity_of(bits: FloatArray) -> FloatArray:
    """Return +1 where an odd number of the bits in a row is +1, else −1; for two bits this is XOR.

    Examples
    --------
    >>> parity_of(corners(2)).tolist()
    [-1.0, 1.0, 1.0, -1.0]
    """
    label: FloatArray = -np.prod(-bits, axis=-1)
    return label


def as_tokens(bits: FloatArray, d_model: int) -> FloatArray:
    """Make each row of bits a sequence of one token, zeros behind them: (m, n_bits) to (m, 1, d_model)."""
    return np.pad(bits, ((0, 0), (0, d_model - bits.shape[-1])))[:, None]


def behind_constant_token(tokens: FloatArray) -> FloatArray:
    """Put the token (0, …, 0, 1) in front of each sequence: (m, n, d_model) to (m, n + 1, d_model)."""
    constant = np.zeros_like(tokens[:, :1])
    constant[..., -1] = 1
    return np.concatenate([constant, tokens], axis=1)


def silent_layer(config: EncoderConfig) -> LayerWeights:
    """Return the weights of a layer in which attention and FFN add nothing: a blank to write into."""
    d, d_ff = config.d_model, config.d_ff
    zero, norm = np.zeros((d, d)), LayerNormWeights(np.ones(d), np.zeros(d))
    ffn = FeedForwardWeights(np.zeros((d, d_ff)), np.zeros((d_ff, d)), np.zeros(d_ff), np.zeros(d))
    return LayerWeights(AttentionWeights(zero, zero, zero, zero, b_O=np.zeros(d)), norm, ffn, norm)


def xor_with_constant_token(sharpness: float = 4.0) -> Encoder:
    """Compute XOR with one softmax head, no bias but the threshold, no LayerNorm and no FFN.

    The query reads the first bit and the key the second, so the token's logit for itself is c·x₁x₂, and its
    logit for the constant token is 0. The weight on the constant token, whose value is 1, is σ(−c·x₁x₂):
    above one half when the bits differ. The answer is σ(−c·x₁x₂) − ½ = −½ tanh(c·x₁x₂/2).

    Parameters
    ----------
    sharpness : float, the c above

    Returns
    -------
    Encoder
        Of width 3, for the sequences of `behind_constant_token`.
    """
    config = EncoderConfig(d_model=3, n_heads=1, d_ff=1, depth=1, ffn=False, norm="none")
    first, second, constant = np.eye(3)
    layer = silent_layer(config)
    attention = AttentionWeights(
        W_Q=np.outer(first, first),
        W_K=np.outer(second, first) * sharpness * 3**0.5,  # attention divides by √d_head = √3
        W_V=np.outer(constant, constant),
        W_O=np.eye(3),
        b_O=-constant / 2,
    )
    return Encoder(config, EncoderWeights((layer._replace(attention=attention),), layer.attention_norm))


def xor_with_ffn() -> Encoder:
    """Compute XOR of a lone token with two ReLU neurons: 1 − |x₁ + x₂| = 1 − ReLU(x₁ + x₂) − ReLU(−x₁ − x₂).

    Returns
    -------
    Encoder
        Width 3, attention silent, no LayerNorm.
    """
    config = EncoderConfig(d_model=3, n_heads=1, d_ff=2, depth=1, norm="none")
    layer = silent_layer(config)
    ffn = FeedForwardWeights(
        W_1=np.array([[1.0, -1.0], [1.0, -1.0], [0.0, 0.0]]),
        W_2=np.array([[0.0, 0.0, -1.0], [0.0, 0.0, -1.0]]),
        b_2=np.array([0.0, 0.0, 1.0]),
    )
    return Encoder(config, EncoderWeights((layer._replace(ffn=ffn),), layer.attention_norm))


def fold(direction: FloatArray, centre: float = 0.0, constant: float = 1.0) -> Affine:
    """Return the affine map after which LayerNorm folds a line: x ↦ (a − k, −a − k, 2k, 0, …).

    Here a = x·direction − centre, and k is the constant. The row has mean 0 and variance (2a² + 6k²)/d, so
    LayerNorm turns its third coordinate, which was constant, into √(2d/3) / √(1 + a²/(3k²)): even in a, and
    falling with |a|. Without a constant there is no fold: LayerNorm of a linear map is odd.

    Parameters
    ----------
    direction : ndarray, shape (d,)
    centre, constant : float

    Returns
    -------
    Affine
        From d to d.

    Raises
    ------
    ValueError
        If there are fewer than three coordinates.
    """
    d = len(direction)
    if d < 3:
        raise ValueError(f"direction must have at least 3 entries, got {d}")
    W, b = np.zeros((d, d)), np.zeros(d)
    W[:, 0], W[:, 1] = direction, -direction
    b[:3] = -centre - constant, centre - constant, 2 * constant
    return Affine(W, b)


def folded(a: float, d: int, constant: float = 1.0) -> float:
    """Return the third coordinate behind `fold` and LayerNorm."""
    return float((2 * d / 3) ** 0.5 / (1 + a * a / (3 * constant**2)) ** 0.5)


def xor_with_layer_norm() -> Encoder:
    """Compute XOR of a lone token with one LayerNorm behind a bias, and no FFN.

    Attention, which is affine here, makes the fold of x₁ + x₂: 0 for bits that differ, ±2 for equal ones.

    Returns
    -------
    Encoder
        Width 3, no residual. The answers are ±1.
    """
    return _layer_norm_stack([fold(np.array([1.0, 1.0, 0.0]))], folded(0, 3), folded(2, 3))


def parity_with_layer_norm(constant: float = 1.0) -> Encoder:
    """Compute the parity of four bits in a lone token with two LayerNorms, and no FFN.

    Their sum s is 0 or ±4 for an even number of ones, ±2 for an odd one. The first fold takes s to |s|; the
    second lays the images of 0 and 4 upon each other. Ni et al. 2024 fit any labels with such layers.

    Parameters
    ----------
    constant : float, that of the first fold

    Returns
    -------
    Encoder
        Width 4, no residual, depth 2. The answers are ±1.

    Raises
    ------
    ValueError
        If the constant is not positive.
    """
    if constant <= 0:
        raise ValueError(f"constant must be positive, got {constant}")
    ends, middle = [folded(s, 4, constant) for s in (0, 4)], folded(2, 4, constant)
    centre, half = sum(ends) / 2, (ends[0] - ends[1]) / 2
    first = fold(np.ones(4), constant=constant)
    second = fold(np.eye(4)[ANSWER], centre, constant=half)
    return _layer_norm_stack([first, second], folded(middle - centre, 4, half), folded(half, 4, half))


def _layer_norm_stack(maps: list[Affine], high: float, low: float) -> Encoder:
    """Return post-LN attention that does these maps to a lone token and brings its answer to ±1."""
    d = len(maps[0].W)
    config = EncoderConfig(
        d_model=d, n_heads=1, d_ff=1, depth=len(maps), ffn=False, residual=False, norm="post", eps=EPS
    )
    blank = silent_layer(config)
    layers = [
        blank._replace(attention=blank.attention._replace(W_V=W, W_O=np.eye(d), b_O=b)) for W, b in maps
    ]
    gamma, beta = np.ones(d), np.zeros(d)
    gamma[ANSWER], beta[ANSWER] = 2 / (high - low), -(high + low) / (high - low)
    layers[-1] = layers[-1]._replace(attention_norm=LayerNormWeights(gamma, beta))
    return Encoder(config, EncoderWeights(tuple(layers), blank.ffn_norm))
