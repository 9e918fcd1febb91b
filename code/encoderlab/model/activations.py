"""Elementwise functions: each output depends on one input alone, so the Jacobian is diagonal.

Each function here takes real numbers of any shape and returns the same shape; float32 stays float32, all else
is computed in float64. None overflows, however large its input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from encoderlab.model.arrays import FloatArray
from encoderlab.model.gaussian import UNDERFLOW, upper_tail

BLOCK = 16384
"""GELU makes many passes over its input; a block of this many numbers stays in the cache between them."""

SQRT_2_OVER_PI = np.sqrt(2 / np.pi).item()
CUBIC = 0.044715
"""The one fitted constant of the tanh form of GELU (Hendrycks and Gimpel 2016)."""


def _floats(x: ArrayLike) -> FloatArray:
    """Return `x` as an array of float32 or float64; refuse what is not a real number."""
    x = np.asarray(x)
    if x.dtype.kind not in "biuf":
        raise ValueError(f"x must hold real numbers, got dtype {x.dtype}")
    return x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)


def identity(x: ArrayLike) -> FloatArray:
    """f(x) = x, the activation of a network that has none."""
    return _floats(x)


def identity_derivative(x: ArrayLike) -> FloatArray:
    """f′(x) = 1."""
    return np.ones_like(_floats(x))


def relu(x: ArrayLike) -> FloatArray:
    """f(x) = max(0, x), with values in [0, ∞).

    Examples
    --------
    >>> relu([-2, 0, 3]).tolist()
    [0.0, 0.0, 3.0]
    """
    return np.maximum(_floats(x), 0)


def relu_derivative(x: ArrayLike) -> FloatArray:
    """f′(x) = 1 for x > 0 and 0 for x < 0; at the kink itself we take 0, as PyTorch does."""
    x = _floats(x)
    return (x > 0).astype(x.dtype)


def sigmoid(x: ArrayLike) -> FloatArray:
    """σ(x) = 1 / (1 + exp(-x)), with values in (0, 1).

    Only exp(-|x|) is evaluated, which cannot overflow: for x < 0, σ(x) = exp(x) / (1 + exp(x)).

    Examples
    --------
    >>> sigmoid([-1000, 0, 1000]).tolist()
    [0.0, 0.5, 1.0]
    """
    x = _floats(x)
    z = np.exp(-np.abs(x))
    value: FloatArray = np.where(x < 0, z, 1) / (1 + z)
    return value


def sigmoid_derivative(x: ArrayLike) -> FloatArray:
    """σ′(x) = σ(x) σ(-x), at most 1/4, and never lost to the cancellation in 1 - σ(x)."""
    z = np.exp(-np.abs(_floats(x)))
    slope: FloatArray = z / (1 + z) ** 2
    return slope


def tanh(x: ArrayLike) -> FloatArray:
    """tanh(x) = 2σ(2x) - 1, with values in (-1, 1)."""
    return np.tanh(_floats(x))


def tanh_derivative(x: ArrayLike) -> FloatArray:
    """tanh′(x) = 1 - tanh²(x) = 4σ′(2x), at most 1."""
    x = np.minimum(np.abs(_floats(x)), 1000)  # 2x must not overflow; the slope was 0 long before
    return 4 * sigmoid_derivative(2 * x)


def erf(x: ArrayLike) -> FloatArray:
    """erf(x) = (2/√π) ∫₀ˣ exp(-t²) dt, with values in (-1, 1), to an absolute error of 1e-15.

    Examples
    --------
    >>> f"{erf(0.5):.12f}"
    '0.520499877813'
    """
    x = _floats(x)
    return np.copysign(1 - 2 * upper_tail(np.abs(x) * np.sqrt(2, dtype=x.dtype)), x)


def gelu(x: ArrayLike) -> FloatArray:
    """GELU(x) = x Φ(x), Φ the normal distribution function (Hendrycks and Gimpel 2016).

    Computed as ReLU(x) - |x| Q(|x|) with the upper tail Q = 1 - Φ: the same function, and accurate for x ≪ 0,
    where x (1 + erf(x/√2)) / 2 cancels to nothing.

    Examples
    --------
    >>> [f"{value:.12g}" for value in gelu([-10, 0, 10])]
    ['-7.61985302416e-23', '0', '10']
    """
    x = _floats(x)
    result = np.empty(x.shape, x.dtype)
    source, target = x.reshape(-1), result.reshape(-1)
    for start in range(0, x.size, BLOCK):
        block = source[start : start + BLOCK]
        a = np.minimum(np.abs(block), UNDERFLOW)
        target[start : start + BLOCK] = np.maximum(block, 0) - a * upper_tail(a)
    return result


def gelu_derivative(x: ArrayLike) -> FloatArray:
    """GELU′(x) = Φ(x) + x φ(x), φ the normal density: negative left of x ≈ -0.75, above 1 right of √2."""
    x = _floats(x)
    a = np.minimum(np.abs(x), UNDERFLOW)
    tail = upper_tail(a)
    density = np.exp(a * a / -2) * (SQRT_2_OVER_PI / 2)
    slope: FloatArray = np.where(x < 0, tail, 1 - tail) + np.copysign(a, x) * density
    return slope


def _twice_u(x: FloatArray) -> FloatArray:
    """2u = 2√(2/π) (x + 0.044715 x³), the argument of the sigmoid in the tanh form of GELU."""
    twice_u: FloatArray = 2 * SQRT_2_OVER_PI * x * (1 + CUBIC * x**2)
    return twice_u


def gelu_tanh(x: ArrayLike) -> FloatArray:
    """GELU as GPT-2 has it, without the Gaussian integral: x (1 + tanh u) / 2 = x σ(2u)."""
    x = _floats(x)
    a = np.minimum(np.abs(x), UNDERFLOW)
    return np.maximum(x, 0) - a * sigmoid(-_twice_u(a))


def gelu_tanh_derivative(x: ArrayLike) -> FloatArray:
    """f′(x) = σ(2u) + x σ′(2u) (2u)′."""
    x = np.clip(_floats(x), -UNDERFLOW, UNDERFLOW)  # beyond, f′ is 0 or 1 to the last digit
    twice_u = _twice_u(x)
    inner: FloatArray = 2 * SQRT_2_OVER_PI * (1 + 3 * CUBIC * x**2)
    return sigmoid(twice_u) + x * sigmoid_derivative(twice_u) * inner


class Activation(NamedTuple):
    """An elementwise function beside its derivative, which is the diagonal of its Jacobian."""

    f: Callable[[ArrayLike], FloatArray]
    derivative: Callable[[ArrayLike], FloatArray]


ACTIVATIONS: Mapping[str, Activation] = MappingProxyType(
    {
        "identity": Activation(identity, identity_derivative),
        "relu": Activation(relu, relu_derivative),
        "sigmoid": Activation(sigmoid, sigmoid_derivative),
        "tanh": Activation(tanh, tanh_derivative),
        "gelu": Activation(gelu, gelu_derivative),
        "gelu_tanh": Activation(gelu_tanh, gelu_tanh_derivative),
    }
)
