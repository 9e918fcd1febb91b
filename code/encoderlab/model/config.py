"""The sizes of an encoder and its switches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from encoderlab.model.activations import ACTIVATIONS
from encoderlab.model.layer_norm import NormKind

Norm = Literal["none", "post", "pre"]


@dataclass(frozen=True)
class EncoderConfig:
    """The sizes of an encoder and its switches.

    Parameters
    ----------
    d_model, n_heads, d_ff, depth : int
        Width of a token, number of heads (which divides the width), width inside the FFN, number of layers.
    ffn, residual : bool
        Whether each layer has its feed-forward sub-layer; whether every sub-layer has its skip.
    norm : {"none", "post", "pre"}
        Where the norm stands in each sub-layer.
    norm_kind : {"layer", "rms"}
        Which norm that is, the final one too: LayerNorm or RMSNorm.
    parallel : bool
        Whether attention and FFN stand side by side in one sub-layer, x + A(LN(x)) + F(LN(x)), with the norm
        of attention for both (Wang, Komatsuzaki 2021; Chowdhery et al. 2022), or one behind the other.
    activation : str
        A name in `encoderlab.model.activations.ACTIVATIONS`.
    eps : float
        Added to the variance in LayerNorm.
    final_eps : float, optional
        The same in the final norm; `eps` unless given.
    final_norm : bool
        Whether one more LayerNorm follows the last layer, as is usual with pre-LN.

    Raises
    ------
    ValueError
        Names the argument that is impossible.

    Examples
    --------
    >>> EncoderConfig(d_model=6, n_heads=4)
    Traceback (most recent call last):
        ...
    ValueError: n_heads must divide d_model = 6, got 4
    """

    d_model: int = 32
    n_heads: int = 4
    d_ff: int = 128
    depth: int = 6
    ffn: bool = True
    residual: bool = True
    norm: Norm = "post"
    activation: str = "relu"
    eps: float = 1e-5
    final_norm: bool = False
    norm_kind: NormKind = "layer"
    parallel: bool = False
    final_eps: float | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be built."""
        for name, least in (("d_model", 1), ("n_heads", 1), ("d_ff", 1), ("depth", 0)):
            value = getattr(self, name)
            if not _is((int, np.integer), value) or value < least:
                raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
            object.__setattr__(self, name, int(value))
        if self.d_model % self.n_heads:
            raise ValueError(f"n_heads must divide d_model = {self.d_model}, got {self.n_heads}")
        for name in ("ffn", "residual", "final_norm", "parallel"):
            value = getattr(self, name)
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {value!r}")
            object.__setattr__(self, name, bool(value))
        for name, choices in (
            ("norm", get_args(Norm)),
            ("norm_kind", get_args(NormKind)),
            ("activation", tuple(ACTIVATIONS)),
        ):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
        for name in ("eps", "final_eps"):
            value = getattr(self, name)
            if name == "final_eps" and value is None:
                continue
            if not _is((int, float, np.integer, np.floating), value):
                raise ValueError(f"{name} must be a number, got {value!r}")
            if not 0 < value < math.inf:
                raise ValueError(f"{name} must be positive and finite, got {value!r}")
            object.__setattr__(self, name, float(value))

    @property
    def last_eps(self) -> float:
        """The eps of the final norm."""
        return self.eps if self.final_eps is None else self.final_eps


def _is(kinds: tuple[type, ...], value: object) -> bool:
    """Tell whether a value is of one of these kinds of number; True and False are none."""
    return isinstance(value, kinds) and not isinstance(value, bool | np.bool_)
