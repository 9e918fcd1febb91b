"""Checks of arguments that several modules share: each error names what came and what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]


def require_float_array(
    name: str,
    value: object,
    *,
    shape: tuple[int, ...] | None = None,
    min_ndim: int = 0,
    width: int | None = None,
) -> None:
    """Refuse anything but a finite float32 or float64 array of the expected shape.

    Parameters
    ----------
    name : str
        What the caller calls the argument; it opens the error message.
    value : object
        The argument as it came.
    shape : tuple of int, optional
        The one shape allowed.
    min_ndim : int
        The least number of axes, where several shapes are allowed.
    width : int, optional
        The length that the last axis must have.

    Raises
    ------
    ValueError
        If the dtype or the shape is another, or the array holds inf or NaN.

    Examples
    --------
    >>> require_float_array("x", np.ones((3, 4)), min_ndim=2, width=8)
    Traceback (most recent call last):
        ...
    ValueError: x must have shape (..., n, 8), got (3, 4)
    """
    if not isinstance(value, np.ndarray) or value.dtype not in (np.float32, np.float64):
        kind = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
        raise ValueError(f"{name} must be a float32 or float64 array, got {kind}")
    if shape is not None and value.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {value.shape}")
    if value.ndim < min_ndim or (width is not None and value.shape[-1] != width):
        axes = ["..."] + ["n"] * (min_ndim - 1) + ["d" if width is None else str(width)]
        raise ValueError(f"{name} must have shape ({', '.join(axes)}), got {value.shape}")
    if not np.isfinite(value).all():
        raise ValueError(f"{name} must be finite, got {np.count_nonzero(~np.isfinite(value))} inf or NaN")


def require_generator(name: str, value: object) -> None:
    """Refuse anything but a `numpy.random.Generator`: a seed, the module or the old `RandomState`.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> require_generator("rng", 0)
    Traceback (most recent call last):
        ...
    ValueError: rng must be a Generator such as numpy.random.default_rng(0), got int
    """
    if not isinstance(value, np.random.Generator):
        kind = type(value).__name__
        raise ValueError(f"{name} must be a Generator such as numpy.random.default_rng(0), got {kind}")


def require_mask(name: str, value: object, shape: tuple[int, ...]) -> None:
    """Refuse anything but a boolean array that broadcasts to `shape`.

    Parameters
    ----------
    name : str
        What the caller calls the argument.
    value : object
        The argument as it came.
    shape : tuple of int
        (..., n, n), one entry for each query and key.

    Raises
    ------
    ValueError
        If it is not boolean, or does not broadcast to exactly that shape.

    Examples
    --------
    >>> require_mask("mask", np.ones((3, 4), dtype=bool), (2, 4, 4))
    Traceback (most recent call last):
        ...
    ValueError: mask must broadcast to (2, 4, 4), got (3, 4)
    """
    if not isinstance(value, np.ndarray) or value.dtype != np.bool_:
        kind = value.dtype if isinstance(value, np.ndarray) else type(value).__name__
        raise ValueError(f"{name} must be a boolean array, True where attention is allowed, got {kind}")
    if not _broadcasts(value.shape, shape):
        raise ValueError(f"{name} must broadcast to {shape}, got {value.shape}")


def require_no_overflow(output: FloatArray, mask: BoolArray | None) -> None:
    """Refuse an output (..., n, d_model) that is not finite at a token that another may see.

    Raises
    ------
    ValueError
    """
    overflowed = ~np.isfinite(output).all(axis=-1)  # (..., n)
    if mask is not None and overflowed.any():
        n = output.shape[-2]
        others = np.broadcast_to(mask, (*output.shape[:-1], n)) & ~np.eye(n, dtype=np.bool_)  # (..., n, n)
        overflowed &= others.any(axis=-2)  # (..., n)
    if overflowed.any():
        raise ValueError(
            f"x must be small enough for {output.dtype}, with these weights, got inf or NaN in the output of "
            f"{np.count_nonzero(overflowed)} of {overflowed.size} tokens"
        )


def require_bias(name: str, value: object, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse anything but a finite array of this dtype that broadcasts to `shape`.

    Parameters
    ----------
    name : str
        What the caller calls the argument.
    value : object
        The argument as it came.
    shape : tuple of int
        (..., h, n, n), one entry for each head, query and key.
    dtype : dtype

    Raises
    ------
    ValueError
        If it has another dtype, is not finite, or does not broadcast to exactly that shape.

    Examples
    --------
    >>> require_bias("bias", np.ones((3, 4)), (2, 4, 4), np.dtype("float64"))
    Traceback (most recent call last):
        ...
    ValueError: bias must broadcast to (2, 4, 4), got (3, 4)
    """
    require_float_array(name, value)
    assert isinstance(value, np.ndarray)
    if value.dtype != dtype:
        raise ValueError(f"{name} must have the dtype of x, {dtype}, got {value.dtype}")
    if not _broadcasts(value.shape, shape):
        raise ValueError(f"{name} must broadcast to {shape}, got {value.shape}")


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    pairs = zip(shape[::-1], to[::-1], strict=False)
    return 2 <= len(shape) <= len(to) and all(have in (1, want) for have, want in pairs)
