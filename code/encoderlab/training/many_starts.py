"""Many starts of one small classifier, trained at once: a leading axis in place of a loop over the seeds.

At these sizes the time goes into calling NumPy, not into what it computes, so 24 starts cost little more than
one. Layer by layer it repeats `encoderlab.model`, with s starts in front; a test holds it to the loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import softmax, softmax_vjp
from encoderlab.model.layer_norm import standardize
from encoderlab.training.adam import Adam, flatten, warmed_up
from encoderlab.training.classifier import Classifier
from encoderlab.training.tasks.task import Batch

Gradients = dict[str, FloatArray]


class ManyStarts:
    """Classifiers of one shape and one config, whose parameters are stacked.

    Parameters
    ----------
    models : sequence of Classifier
        Without positions, with ReLU, LayerNorm and all biases, the two sub-layers one after the other.
    every : Batch
        All examples, each of which is in every step.

    Raises
    ------
    ValueError
        If `models` is empty, or has switches that are not repeated here.
    """

    def __init__(self, models: Sequence[Classifier], every: Batch) -> None:
        if not models:
            raise ValueError("models must hold at least one classifier, got none")
        c = models[0].config
        if c.parallel or c.norm_kind != "layer" or c.activation != "relu" or models[0].positions != "none":
            raise ValueError(
                "models must be sequential, with LayerNorm, ReLU and no positions, got "
                f"parallel = {c.parallel}, {c.norm_kind}, {c.activation}, {models[0].positions}"
            )
        self.models, self.config, self.shape = models, c, models[0].shape
        self.vector, self.p = flatten(
            {name: np.stack([model.parameters[name] for model in models]) for name in models[0].parameters}
        )
        self.x = every.features.astype(self.vector.dtype).reshape(-1, self.shape.n_features)  # (b · n, ...)
        self.target = every.target

    def train(self, *, steps: int, lr: float, warmup: int = 0) -> FloatArray:
        """Train all starts as `encoderlab.training.train` trains one, and write back their parameters.

        Returns
        -------
        losses : ndarray of float64, shape (s, steps)

        Raises
        ------
        FloatingPointError
            If a start diverges: one by one the others could go on.
        """
        adam, losses = Adam(self.vector), np.zeros((len(self.models), steps))
        for step in range(steps):
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found below
                losses[:, step], grads = self.losses_and_gradients()
                grad = np.concatenate([grads[name].ravel() for name in self.p])
                finite = math.isfinite(float(losses[:, step].sum()) + float(grad @ grad))
            if not finite:
                raise FloatingPointError(f"a start diverged at step {step}")
            adam.step(grad, warmed_up(step, lr, warmup))
        for start, model in enumerate(self.models):
            for name, array in self.p.items():
                model.parameters[name][...] = array[start]
        return losses

    def losses_and_gradients(self) -> tuple[FloatArray, Gradients]:
        """Return each start's cross-entropy, (s,), and the gradients, each of the shape (s, ...) of `p`."""
        s, n, d = len(self.models), self.shape.n, self.config.d_model
        rows = np.arange(len(self.target))
        tape: list[tuple[str, FloatArray, tuple[FloatArray, ...]]] = []
        x: FloatArray = self.x @ self.p["embedding.W"]  # (s, b · n, d_model)
        for i in range(self.config.depth):
            for part in ("attention", "ffn")[: 1 + self.config.ffn]:
                name = f"layers.{i}.{part}"
                z, scaled = self._norm(x, name) if self.config.norm == "pre" else (x, None)
                y, kept = self._attend(z, name) if part == "attention" else self._feed(z, name)
                x = x + y if self.config.residual else y
                x, scaled = self._norm(x, name) if self.config.norm == "post" else (x, scaled)
                tape.append((name, z, kept if scaled is None else (*scaled, *kept)))
        read, final = self._norm(x, "final") if self.config.final_norm else (x, None)
        read = read.reshape(s, -1, n, d)[:, :, self.shape.read_at]  # (s, b, d_model)
        logits = read @ self.p["readout.W"] + self.p["readout.b"][:, None]  # (s, b, n_classes)
        shifted = logits - logits.max(axis=-1, keepdims=True)
        total = np.exp(shifted).sum(axis=-1)  # (s, b)
        losses = np.mean(np.log(total) - shifted[:, rows, self.target], axis=-1)
        g = np.exp(shifted) / total[..., None]
        g[:, rows, self.target] -= 1
        grads: Gradients = {}
        g = self._linear_back(g / len(rows), read, "readout.W", "readout.b", grads)
        placed = np.zeros((s, len(rows), n, d), self.vector.dtype)  # only one position was read
        placed[:, :, self.shape.read_at] = g
        grad: FloatArray = placed.reshape(s, -1, d)  # (s, b · n, d_model)
        grad = grad if final is None else self._norm_back(grad, final, "final", grads)
        for name, z, kept in reversed(tape):
            scaled, kept = (kept[:2], kept[2:]) if self.config.norm != "none" else (None, kept)
            if self.config.norm == "post":
                grad = self._norm_back(grad, scaled, name, grads)
            back = self._attend_back if name.endswith("attention") else self._feed_back
            g = back(grad, z, name, kept, grads)
            if self.config.norm == "pre":
                g = self._norm_back(g, scaled, name, grads)
            grad = grad + g if self.config.residual else g
        grads["embedding.W"] = self.x.T @ grad
        return losses, grads

    def _norm(self, x: FloatArray, name: str) -> tuple[FloatArray, tuple[FloatArray, ...]]:
        normed = standardize(x, self.config.eps)
        scaled = normed.x_hat * self.p[f"{name}_norm.gamma"][:, None]
        return scaled + self.p[f"{name}_norm.beta"][:, None], normed

    def _norm_back(
        self, grad: FloatArray, normed: tuple[FloatArray, ...] | None, name: str, grads: Gradients
    ) -> FloatArray:
        assert normed is not None
        x_hat, sigma = normed
        grads[f"{name}_norm.gamma"], grads[f"{name}_norm.beta"] = (grad * x_hat).sum(axis=1), grad.sum(axis=1)
        g = grad * self.p[f"{name}_norm.gamma"][:, None]
        along = np.vecdot(g, x_hat)[..., None] / g.shape[-1]  # (s, b · n, 1)
        out: FloatArray = (g - g.mean(axis=-1, keepdims=True) - x_hat * along) / sigma
        return out

    def _linear(self, x: FloatArray, W: str, b: str) -> FloatArray:
        return x @ self.p[W] + self.p[b][:, None]

    def _linear_back(self, grad: FloatArray, x: FloatArray, W: str, b: str, grads: Gradients) -> FloatArray:
        grads[W], grads[b] = x.swapaxes(1, 2) @ grad, grad.sum(axis=1)
        return grad @ self.p[W].swapaxes(1, 2)

    def _feed(self, z: FloatArray, name: str) -> tuple[FloatArray, tuple[FloatArray, ...]]:
        hidden = np.maximum(self._linear(z, f"{name}.W_1", f"{name}.b_1"), 0)  # (s, b · n, d_ff)
        return self._linear(hidden, f"{name}.W_2", f"{name}.b_2"), (hidden,)

    def _feed_back(
        self, grad: FloatArray, z: FloatArray, name: str, kept: tuple[FloatArray, ...], grads: Gradients
    ) -> FloatArray:
        (hidden,) = kept
        g = self._linear_back(grad, hidden, f"{name}.W_2", f"{name}.b_2", grads) * (hidden > 0)
        return self._linear_back(g, z, f"{name}.W_1", f"{name}.b_1", grads)

    def _split(self, x: FloatArray) -> FloatArray:
        """Cut rows into sequences and columns into heads: (s, b · n, d_model) to (s, b, h, n, d_head)."""
        s, h = len(x), self.config.n_heads
        return x.reshape(s, -1, self.shape.n, h, x.shape[-1] // h).swapaxes(2, 3)

    def _attend(self, z: FloatArray, name: str) -> tuple[FloatArray, tuple[FloatArray, ...]]:
        if self.shape.n == 1:  # softmax over one logit is 1: the head is its value
            heads = self._linear(z, f"{name}.W_V", f"{name}.b_V")
            return self._linear(heads, f"{name}.W_O", f"{name}.b_O"), (heads,)
        Q, K, V = (self._split(self._linear(z, f"{name}.W_{m}", f"{name}.b_{m}")) for m in "QKV")
        A = softmax(Q @ K.swapaxes(-1, -2) / Q.shape[-1] ** 0.5)  # (s, b, h, n, n)
        heads = (A @ V).swapaxes(2, 3).reshape(z.shape)  # (s, b · n, d_model)
        return self._linear(heads, f"{name}.W_O", f"{name}.b_O"), (Q, K, V, A, heads)

    def _attend_back(
        self, grad: FloatArray, z: FloatArray, name: str, kept: tuple[FloatArray, ...], grads: Gradients
    ) -> FloatArray:
        g = self._linear_back(grad, kept[-1], f"{name}.W_O", f"{name}.b_O", grads)
        if self.shape.n == 1:
            unused = [f"{name}.{kind}_{m}" for kind, m in product("Wb", "QK")]
            grads |= {weight: np.zeros_like(self.p[weight]) for weight in unused}
            return self._linear_back(g, z, f"{name}.W_V", f"{name}.b_V", grads)
        Q, K, V, A, _ = kept
        g = self._split(g)  # (s, b, h, n, d_head)
        grad_S = softmax_vjp(g @ V.swapaxes(-1, -2), A) * Q.shape[-1] ** -0.5
        back = {"Q": grad_S @ K, "K": grad_S.swapaxes(-1, -2) @ Q, "V": A.swapaxes(-1, -2) @ g}
        through = [
            self._linear_back(b.swapaxes(2, 3).reshape(z.shape), z, f"{name}.W_{m}", f"{name}.b_{m}", grads)
            for m, b in back.items()
        ]
        return through[0] + through[1] + through[2]
