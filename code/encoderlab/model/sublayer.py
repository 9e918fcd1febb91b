"""A sub-layer: attention or a feed-forward layer inside its residual connection and norm.

Post-LN, as Vaswani et al. 2017 print it: LN(x + F(x)). Pre-LN: x + F(LN(x)). Xiong et al. 2020 compare them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from encoderlab.model.arrays import FloatArray
from encoderlab.model.config import EncoderConfig
from encoderlab.model.edit import INTACT, Edit
from encoderlab.model.layer_norm import LayerNormWeights, Standardized, rescale, rescaled_vjp, standardize

Record = TypeVar("Record")
Weights = TypeVar("Weights")


class SublayerTrace(NamedTuple):
    """What a sub-layer computed on the way."""

    x: FloatArray  # (..., n, d_model), what came in
    z: FloatArray  # (..., n, d_model), what F saw: LN(x) before a pre-LN sub-layer, else x
    y: FloatArray  # (..., n, d_model), what F gave
    u: FloatArray  # (..., n, d_model), x + y with the residual, else y
    normed: Standardized | None  # u (post-LN) or x (pre-LN), standardized


def sublayer(
    x: FloatArray,
    f: Callable[[FloatArray], tuple[FloatArray, Record]],
    norm_weights: LayerNormWeights,
    config: EncoderConfig,
    edit: Edit = INTACT,
) -> tuple[FloatArray, SublayerTrace, Record]:
    """Wrap F, attention or a feed-forward layer, in its residual connection and norm (claims 35, 46).

    Parameters
    ----------
    x : ndarray, shape (..., n, d_model)
    f : callable
        Maps (..., n, d_model) to the same shape and a record of what it computed.
    norm_weights : LayerNormWeights
        Unused when `config.norm` is "none".
    config : EncoderConfig
        Its switches `residual`, `norm`, `norm_kind` and `eps`.
    edit : Edit, optional
        What stands in the place of the branch, the skip or the norm.

    Returns
    -------
    output : ndarray, shape (..., n, d_model)
    trace : SublayerTrace
    record
        What `f` returned beside its output.
    """
    c = config
    z, normed = x, None
    if c.norm == "pre":
        normed = standardize(x, c.eps, c.norm_kind)
        z = rescale(normed.x_hat, norm_weights, c.norm_kind)
    y, record = f(z)
    y = edit.branch(y) if edit.branch else y
    u = y
    if c.residual:
        u = (edit.skip(x) if edit.skip else x) + y
    output = u
    if c.norm == "post" and edit.norm:
        output = edit.norm(u)
    elif c.norm == "post":
        normed = standardize(u, c.eps, c.norm_kind)
        output = rescale(normed.x_hat, norm_weights, c.norm_kind)
    return output, SublayerTrace(x, z, y, u, normed), record


def sublayer_vjp(
    grad: FloatArray,
    trace: SublayerTrace,
    f_vjp: Callable[[FloatArray], tuple[FloatArray, Weights]],
    norm_weights: LayerNormWeights,
    config: EncoderConfig,
) -> tuple[FloatArray, Weights, LayerNormWeights | None]:
    """Pull a gradient back through a wrapped sub-layer.

    Read `sublayer` from its last line up. Post-LN: through the norm first, then I + J_F, so nothing passes
    unnormalised. Pre-LN: through F and the norm on the branch, and the identity beside it.

    Parameters
    ----------
    grad : ndarray, shape (..., n, d_model)
        ∂loss/∂output.
    trace : SublayerTrace
        What `sublayer` returned.
    f_vjp : callable
        Maps ∂loss/∂y to ∂loss/∂z and the gradients of the weights of F.
    norm_weights, config
        What `sublayer` was given.

    Returns
    -------
    grad_x : ndarray, shape (..., n, d_model)
    grad_f : the gradients of the weights of F
    grad_norm : LayerNormWeights or None
        None without a norm.
    """
    grad_norm, kind = None, config.norm_kind
    if config.norm == "post" and trace.normed is not None:
        grad, grad_norm = rescaled_vjp(grad, trace.normed, norm_weights, kind)
    grad_x, grad_f = f_vjp(grad)
    if config.norm == "pre" and trace.normed is not None:
        grad_x, grad_norm = rescaled_vjp(grad_x, trace.normed, norm_weights, kind)
    return (grad + grad_x if config.residual else grad_x), grad_f, grad_norm
