"""The multilayer perceptron: affine maps with an elementwise activation between them, and how it learns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from encoderlab.chapters.elementwise.affine import Affine
from encoderlab.model.activations import ACTIVATIONS, sigmoid
from encoderlab.model.arrays import FloatArray
from encoderlab.model.linear import linear
from encoderlab.training.adam import Adam, flatten


def perceptron(
    x: FloatArray, layers: Sequence[Affine], activation: str = "relu"
) -> tuple[FloatArray, list[FloatArray]]:
    """Apply f(… f(x W₁ + b₁) …) W_L + b_L; the last map has no activation after it.

    Parameters
    ----------
    x : ndarray, shape (..., d_0)
    layers : sequence of Affine
    activation : str
        A name in `encoderlab.model.activations.ACTIVATIONS`.

    Returns
    -------
    output : ndarray, shape (..., d_L)
    preactivations : list of ndarray, shapes (..., d_l)
        What each activation saw, one for every layer but the last.
    """
    f = ACTIVATIONS[activation].f
    preactivations = []
    for W, b in layers[:-1]:
        preactivations.append(linear(x, W, b))  # (..., d_l)
        x = f(preactivations[-1])
    return linear(x, *layers[-1]), preactivations


def perceptron_vjp(
    grad: FloatArray,
    x: FloatArray,
    layers: Sequence[Affine],
    preactivations: Sequence[FloatArray],
    activation: str = "relu",
) -> tuple[FloatArray, list[Affine]]:
    """Pull a gradient of the output of `perceptron` back to its input and weights.

    Each activation multiplies the gradient, entry by entry, by its derivative: where that is small, little
    of the gradient is left.

    Parameters
    ----------
    grad : ndarray, shape (..., d_L)
        ∂loss/∂output.
    x, layers, activation
        What `perceptron` was given.
    preactivations : sequence of ndarray
        What it returned.

    Returns
    -------
    grad_x : ndarray, shape (..., d_0)
    grad_layers : list of Affine
        The gradient of every W and b, summed over the batch.
    """
    f, derivative = ACTIVATIONS[activation]
    inputs = [x, *(f(z) for z in preactivations)]  # what each affine map was given
    grads = []
    for depth in reversed(range(len(layers))):
        if depth < len(preactivations):
            grad = grad * derivative(preactivations[depth])  # (..., d_{depth+1})
        rows = grad.reshape(-1, grad.shape[-1])  # (batch, d_{depth+1})
        grad_W = inputs[depth].reshape(-1, inputs[depth].shape[-1]).T @ rows  # (d_depth, d_{depth+1})
        grads.append(Affine(grad_W, rows.sum(axis=0)))
        grad = grad @ layers[depth].W.T  # (..., d_depth)
    return grad, grads[::-1]


def logistic_loss(output: FloatArray, labels: FloatArray) -> tuple[float, FloatArray]:
    """Mean of log(1 + exp(-y f)) for labels y = ±1, and its gradient in f."""
    margin = labels * output
    loss = np.logaddexp(0, -margin).mean().item()
    return loss, -labels * sigmoid(-margin) / labels.size


def fit(
    x: FloatArray,
    labels: FloatArray,
    layers: Sequence[Affine],
    activation: str = "relu",
    *,
    steps: int = 2000,
    rate: float = 0.01,
) -> tuple[list[Affine], FloatArray]:
    """Train a perceptron with one output to tell two classes apart, on all points at once, with Adam.

    Parameters
    ----------
    x : ndarray, shape (n, d_0)
    labels : ndarray, shape (n,)
        +1 or -1.
    layers : sequence of Affine
        Where to start; left untouched.
    activation : str
    steps : int
    rate : float
        Step size, lowered to zero along half a cosine.

    Returns
    -------
    layers : list of Affine
    losses : ndarray, shape (steps,)
        The mean logistic loss before each step.
    """
    named = {
        f"{name} {depth}": array
        for depth, (W, b) in enumerate(layers)
        for name, array in (("W", W), ("b", b))
    }
    vector, views = flatten(named)
    arrays = list(views.values())  # W₁, b₁, W₂, …: views of the vector, so they move with it
    net = [Affine(W, b) for W, b in zip(arrays[::2], arrays[1::2], strict=True)]
    adam = Adam(vector, beta_2=0.99)
    losses = np.empty(steps)
    for step in range(steps):
        output, preactivations = perceptron(x, net, activation)  # (n, 1)
        losses[step], grad = logistic_loss(output, labels[:, None])
        _, grads = perceptron_vjp(grad, x, net, preactivations, activation)
        flat = np.concatenate([array.ravel() for layer in grads for array in layer])
        adam.step(flat, rate * (1 + np.cos(np.pi * step / steps)) / 2)
    return net, losses
