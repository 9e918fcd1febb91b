"""Internal covariate shift, as Santurkar et al. 2018 measure it (claim 50)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.training.classifier import Classifier
from encoderlab.training.loss import IntArray


class Shift(NamedTuple):
    """How much a layer's gradient changes because the layers below it were updated."""

    distance: FloatArray  # (depth,): ‖G − G′‖₂
    relative: FloatArray  # (depth,): ‖G − G′‖₂ / ‖G‖₂
    cosine: FloatArray  # (depth,): of the angle between G and G′


def covariate_shift(model: Classifier, after: FloatArray, features: FloatArray, target: IntArray) -> Shift:
    """Compare each layer's gradient before and after the update of all that comes before it.

    Definition 2.1 of Santurkar et al. 2018: for layer i, G is the gradient of the loss by its weights at step
    t, and G′ the same where the weights of layers 1 to i − 1 are those of step t + 1 already. A shift of
    zero, with cosine 1, means that the layer aims at a target that does not move. For the first layer it is
    the embedding, with its positions, that comes before.

    The definition says nothing about how the distribution of activations looks, and a smaller value
    shows no cause.

    Parameters
    ----------
    model : Classifier
        With the parameters of step t, which it has again on return.
    after : ndarray, shape (n_parameters,)
        The parameters of step t + 1, in the order of `model.vector`.
    features, target
        The batch that made the step.

    Returns
    -------
    Shift

    Raises
    ------
    ValueError
        If `after` has another shape than the model's parameters.
    """
    if after.shape != model.vector.shape:
        raise ValueError(f"after must have shape {model.vector.shape}, got {after.shape}")
    before = model.vector.copy()
    _, reference = model.gradients(features, target)
    rows = []
    try:
        for i in range(model.config.depth):
            model.vector[:] = np.where(_below(model, i), after, before)
            _, moved = model.gradients(features, target)
            names = [name for name in reference if name.startswith(f"layers.{i}.")]
            G = np.concatenate([reference[name].ravel() for name in names])
            G_moved = np.concatenate([moved[name].ravel() for name in names])
            distance, size = np.linalg.norm(G - G_moved), np.linalg.norm(G)
            rows.append((distance, distance / size, G @ G_moved / (size * np.linalg.norm(G_moved))))
    finally:
        model.vector[:] = before
    return Shift(*np.array(rows, dtype=np.float64).reshape(-1, 3).T)


def _below(model: Classifier, layer: int) -> FloatArray:
    """Mark, in one vector, the parameters that come before a layer."""
    inputs = ("embedding.", "positions.", *(f"layers.{i}." for i in range(layer)))
    return np.concatenate(
        [np.full(array.size, name.startswith(inputs)) for name, array in model.parameters.items()]
    )
