"""One attention stack taught to do what another does: a student follows a teacher."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import multi_head_attention
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.training.adam import flatten
from encoderlab.training.loss import squared_error


def random_teacher(
    config: EncoderConfig, n: int, logit_scale: float, rng: np.random.Generator, sample: int = 4096
) -> Encoder:
    """Draw an attention-only teacher whose logits have the same given spread in every layer.

    Each layer averages tokens, so the next one would see smaller inputs and give flatter patterns. W_Q of
    each layer is scaled until the standard deviation of its logits within a row, over random tokens, is
    `logit_scale`; a shift of a whole row does nothing. Last, W_O of the last layer is scaled
    until the entries of the output have variance 1.

    Parameters
    ----------
    config : EncoderConfig
        Without FFN, residual and norm.
    n : int
        Tokens in a sequence.
    logit_scale : float
    rng : numpy.random.Generator
    sample : int
        On how many sequences the scales are measured.

    Returns
    -------
    Encoder
        In float64.

    Raises
    ------
    ValueError
        If the config has more than attention, or no layer.
    """
    if config.ffn or config.residual or config.norm != "none" or config.depth < 1:
        raise ValueError(f"config must be attention only, without residual and norm, got {config}")
    teacher = Encoder.random(config, rng)
    x: FloatArray = rng.normal(size=(sample, n, config.d_model))
    scaled = {}
    for i, layer in enumerate(teacher.weights.layers):
        _, trace = multi_head_attention(x, layer.attention, config.n_heads)
        logits = trace.Q @ trace.K.swapaxes(-1, -2) / trace.Q.shape[-1] ** 0.5  # (sample, h, n, n)
        spread = (logits - logits.mean(axis=-1, keepdims=True)).std()
        attention = layer.attention._replace(W_Q=layer.attention.W_Q * (logit_scale / spread))
        x, _ = multi_head_attention(x, attention, config.n_heads)  # (sample, n, d_model)
        scaled[f"layers.{i}.attention.W_Q"] = attention.W_Q
    last = f"layers.{config.depth - 1}.attention.W_O"
    return teacher.with_parameters(scaled | {last: teacher.parameters()[last] / x.std()})


@dataclass(frozen=True)
class Distillation:
    """The squared error of a student on fresh random tokens, by the teacher's output.

    Parameters
    ----------
    student : Encoder
        Of weights that are views of `vector`, as `student_of` makes it.
    vector : ndarray, shape (n_parameters,)
    teacher : Encoder
    n : int
        Tokens in a sequence.
    batch : int
    """

    student: Encoder
    vector: FloatArray
    teacher: Encoder
    n: int
    batch: int

    @classmethod
    def of(cls, student: Encoder, teacher: Encoder, n: int, batch: int) -> Distillation:
        """Copy a student's parameters into one vector, and let it learn from a teacher."""
        vector, views = flatten(student.parameters())
        return cls(student.with_parameters(views), vector, teacher, n, batch)

    def loss_and_gradient(self, rng: np.random.Generator) -> tuple[float, FloatArray]:
        """Draw a batch of tokens and return the mean squared error on it and its gradient."""
        x = rng.normal(size=(self.batch, self.n, self.teacher.config.d_model))
        trace = self.student.trace(x)
        loss, grad_output = squared_error(trace.output, self.teacher(x))
        _, grads = self.student.backward(trace, grad_output)
        return loss, np.concatenate([grad.ravel() for grad in grads.values()])


def relative_error(output: FloatArray, target: FloatArray) -> float:
    """Return the squared error divided by that of always giving the mean target row: 1 means nothing learned.

    Parameters
    ----------
    output, target : ndarray, shape (batch, n, d)
    """
    centred = target - target.mean(axis=(0, 1))
    return float(np.sum((output - target) ** 2) / np.sum(centred**2))


def best_affine_error(x: FloatArray, target: FloatArray) -> float:
    """Return the relative error of the best affine map of a token and the mean token: no softmax.

    That is what is left of attention when its pattern is uniform. Fitted by least squares on the first half
    of the sequences, measured on the second.

    Parameters
    ----------
    x, target : ndarray, shape (batch, n, d)
    """
    mean = np.broadcast_to(x.mean(axis=1, keepdims=True), x.shape)
    inputs = np.concatenate([x, mean, np.ones_like(x[..., :1])], axis=-1)  # (batch, n, 2d + 1)
    half = len(x) // 2
    fit, *_ = np.linalg.lstsq(
        inputs[:half].reshape(-1, inputs.shape[-1]), target[:half].reshape(-1, target.shape[-1])
    )
    return relative_error(inputs[half:] @ fit, target[half:])
