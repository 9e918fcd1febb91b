"""Adam, and the flat vector of parameters that it moves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from encoderlab.model.arrays import FloatArray


def flatten(parameters: Mapping[str, FloatArray]) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Copy all parameters into one vector, and return it with a view of each of them.

    An optimiser that changes the vector in place changes every parameter, in one pass over memory.

    Parameters
    ----------
    parameters : mapping of str to ndarray
        All of one dtype.

    Returns
    -------
    vector : ndarray, shape (n_parameters,)
    views : dict of ndarray
        The same names and shapes; writing to `vector` writes to them.

    Examples
    --------
    >>> vector, views = flatten({"W": np.ones((2, 2)), "b": np.zeros(2)})
    >>> vector += 1
    >>> views["b"]
    array([1., 1.])
    """
    vector = np.concatenate([array.ravel() for array in parameters.values()])
    ends = np.cumsum([array.size for array in parameters.values()])
    views = {
        name: vector[end - array.size : end].reshape(array.shape)
        for (name, array), end in zip(parameters.items(), ends, strict=True)
    }
    return vector, views


class Adam:
    """Adam of Kingma and Ba 2015, algorithm 1, in place.

    It keeps running means of the gradient, m, and of its square, v. Both start at zero, which
    m/(1 − β₁ᵗ) and v/(1 − β₂ᵗ) correct; the step is −lr · m̂/(√v̂ + ε).

    Parameters
    ----------
    vector : ndarray, shape (n_parameters,)
        What it will change.
    beta_1, beta_2, eps : float
        The constants of the paper.

    Examples
    --------
    The first step has the length of the learning rate, whatever the gradient's size:

    >>> vector = np.zeros(3)
    >>> Adam(vector).step(np.array([1e-3, 1.0, -1e3]), lr=0.1)
    >>> vector.round(4)
    array([-0.1, -0.1,  0.1])
    """

    def __init__(
        self, vector: FloatArray, beta_1: float = 0.9, beta_2: float = 0.999, eps: float = 1e-8
    ) -> None:
        self.vector, self.beta_1, self.beta_2, self.eps = vector, beta_1, beta_2, eps
        self.m, self.v = np.zeros_like(vector), np.zeros_like(vector)
        self.steps = 0

    def step(self, grad: FloatArray, lr: float) -> None:
        """Move the vector once.

        Parameters
        ----------
        grad : ndarray, shape (n_parameters,)
        lr : float
            The learning rate of this step.
        """
        self.steps += 1
        self.m *= self.beta_1
        self.m += (1 - self.beta_1) * grad
        self.v *= self.beta_2
        self.v += (1 - self.beta_2) * (grad * grad)
        root = np.sqrt(self.v / (1 - self.beta_2**self.steps))
        root += self.eps
        self.vector -= lr / (1 - self.beta_1**self.steps) * self.m / root


def warmed_up(step: int, lr: float, warmup: int) -> float:
    """Return the learning rate of a step, counted from 0: it rises linearly over `warmup` steps, then stays.

    Examples
    --------
    >>> [round(warmed_up(step, lr=0.1, warmup=4), 3) for step in range(6)]
    [0.025, 0.05, 0.075, 0.1, 0.1, 0.1]
    """
    return lr * min(1.0, (step + 1) / max(warmup, 1))
