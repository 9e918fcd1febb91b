"""The model that the tasks train: an encoder between an embedding and a readout at one position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray, require_float_array, require_generator
from encoderlab.model.encoder import Encoder, EncoderConfig, Trace
from encoderlab.model.linear import linear, linear_vjp
from encoderlab.model.positions import sinusoidal_positions
from encoderlab.training.adam import flatten
from encoderlab.training.loss import IntArray, cross_entropy

Positions = Literal["none", "learned", "sinusoidal"]


class Shape(NamedTuple):
    """What a classifier reads and what it answers."""

    n: int  # tokens in a sequence
    n_features: int  # entries of a token: one for each symbol, of which a token has one or several
    n_classes: int
    read_at: int  # the position whose output is the answer


class Classifier:
    """A token's features become a vector, the encoder mixes the vectors, one of them becomes class logits.

    Parameters
    ----------
    shape : Shape
    config : EncoderConfig
    parameters : mapping of str to ndarray
        "embedding.W" (n_features, d_model), "positions.P" (n, d_model) if they are learned, "readout.W"
        (d_model, n_classes), "readout.b" (n_classes,), and those of the encoder. All of one dtype. They are
        copied into one vector.
    positions : {"none", "learned", "sinusoidal"}
        What is added to the embedding to tell the positions apart.

    Raises
    ------
    ValueError
        If a parameter is missing, unknown, not finite, or of a shape that does not fit.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> model = Classifier.random(Shape(n=3, n_features=4, n_classes=2, read_at=-1), EncoderConfig(), rng)
    >>> model(np.ones((5, 3, 4), np.float32)).shape
    (5, 2)
    """

    def __init__(
        self,
        shape: Shape,
        config: EncoderConfig,
        parameters: Mapping[str, FloatArray],
        positions: Positions = "none",
    ) -> None:
        self.shape, self.config, self.positions = shape, config, positions
        self.vector, self.parameters = flatten(parameters)
        outside = {
            "embedding.W": (shape.n_features, config.d_model),
            "readout.W": (config.d_model, shape.n_classes),
            "readout.b": (shape.n_classes,),
        }
        if positions == "learned":
            outside["positions.P"] = (shape.n, config.d_model)
        untrained = Encoder.random(config, np.random.default_rng(0))  # only a place for the weights
        expected = outside.keys() | untrained.parameters().keys()
        if parameters.keys() != expected:
            different = sorted(parameters.keys() ^ expected)
            raise ValueError(f"parameters must be named as in `Classifier`, and differ in {different}")
        for name, size in outside.items():
            require_float_array(f"parameters[{name!r}]", self.parameters[name], shape=size)
        self.encoder = untrained.with_parameters(
            {name: array for name, array in self.parameters.items() if name not in outside}
        )
        self._sinusoid = sinusoidal_positions(shape.n, config.d_model).astype(self.vector.dtype)

    @classmethod
    def random(
        cls,
        shape: Shape,
        config: EncoderConfig,
        rng: np.random.Generator,
        positions: Positions = "none",
        dtype: type[np.floating] = np.float32,
    ) -> Classifier:
        """Draw embedding and positions from N(0, 1/4), and the readout like any matrix of the encoder.

        A token that sums a few of those rows starts at about unit scale; ones from N(0, 1) trained slower.
        """
        require_generator("rng", rng)
        parameters: dict[str, FloatArray] = {
            "embedding.W": rng.normal(scale=0.5, size=(shape.n_features, config.d_model))
        }
        if positions == "learned":
            parameters["positions.P"] = rng.normal(scale=0.5, size=(shape.n, config.d_model))
        scale = config.d_model**-0.5
        parameters["readout.W"] = rng.normal(scale=scale, size=(config.d_model, shape.n_classes))
        parameters["readout.b"] = np.zeros(shape.n_classes)
        parameters |= Encoder.random(config, rng).parameters()
        typed = {name: array.astype(dtype) for name, array in parameters.items()}
        return cls(shape, config, typed, positions)

    def trace(self, features: FloatArray) -> Trace:
        """Run embedding and encoder, and keep everything on the way.

        Parameters
        ----------
        features : ndarray, shape (batch, n, n_features)

        Returns
        -------
        Trace
            Of the encoder; the first of its hidden states is the embedding with its positions.
        """
        require_float_array("features", features, min_ndim=3, width=self.shape.n_features)
        if features.shape[-2] != self.shape.n:
            raise ValueError(f"features must hold n = {self.shape.n} tokens, got {features.shape[-2]}")
        x = linear(features, self.parameters["embedding.W"])  # (batch, n, d_model)
        if self.positions == "learned":
            x += self.parameters["positions.P"]
        elif self.positions == "sinusoidal":
            x += self._sinusoid
        return self.encoder.trace(x)

    def __call__(self, features: FloatArray) -> FloatArray:
        """Return the class logits, (batch, n_classes)."""
        read = self.trace(features).output[:, self.shape.read_at]  # (batch, d_model)
        return linear(read, self.parameters["readout.W"], self.parameters["readout.b"])

    def accuracy(self, features: FloatArray, target: IntArray) -> float:
        """Return the share of rows whose largest logit is that of the target."""
        return float(np.mean(self(features).argmax(axis=-1) == target))

    def gradients(self, features: FloatArray, target: IntArray) -> tuple[float, dict[str, FloatArray]]:
        """Return the cross-entropy and its gradient by every parameter.

        Parameters
        ----------
        features : ndarray, shape (batch, n, n_features)
        target : ndarray of int, shape (batch,)

        Returns
        -------
        loss : float
        gradients : dict of ndarray
            Named and ordered as `parameters`.
        """
        p = self.parameters
        trace = self.trace(features)
        read = trace.output[:, self.shape.read_at]  # (batch, d_model)
        loss, grad_logits = cross_entropy(linear(read, p["readout.W"], p["readout.b"]), target)
        grad_read, grad_W, grad_b = linear_vjp(grad_logits, read, p["readout.W"], p["readout.b"])
        grad_output = np.zeros_like(trace.output)  # (batch, n, d_model): only one position was read
        grad_output[:, self.shape.read_at] = grad_read
        grad_x, grads = self.encoder.backward(trace, grad_output)  # (batch, n, d_model)
        grads |= {"embedding.W": linear_vjp(grad_x, features, p["embedding.W"])[1]}
        grads |= {"positions.P": grad_x.sum(axis=0), "readout.W": grad_W}
        if grad_b is not None:
            grads["readout.b"] = grad_b
        return loss, {name: grads[name] for name in p}
