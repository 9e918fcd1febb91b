"""What several test files of the mathematics share."""

import itertools

import numpy as np
import pytest
from hypothesis import settings

from encoderlab.model.encoder import Encoder, EncoderConfig

# How long an example takes says something of the machine: a first call, or other work on it, is no failure.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

collect_ignore_glob = ["**/reference/*"]  # scripts that need torch, which the tests do not

SMALL = {"d_model": 6, "n_heads": 2, "d_ff": 10, "depth": 3}
SWITCHES = list(itertools.product([True, False], [True, False], ["none", "post", "pre"]))
VARIANTS = [{}, {"norm_kind": "rms"}, {"parallel": True}, {"norm_kind": "rms", "parallel": True}]


def lively(config: EncoderConfig, seed: int = 0) -> Encoder:
    """Return an encoder in which every weight, biases, γ and β included, is random, so that none can hide."""
    rng = np.random.default_rng(seed)
    encoder = Encoder.random(config, rng)
    return encoder.with_parameters(
        {
            name: weight + rng.normal(scale=0.3, size=weight.shape)
            for name, weight in encoder.parameters().items()
        }
    )


def written_out(config, p, x, mask=None, xp=np, bias=0):
    """Compute an encoder's output from its named arrays by the textbook's formulas and none of our code.

    `x` is (n, d_model), `p` maps names to arrays, and `xp` is NumPy or something that differentiates it.
    """
    c = config
    activation = {
        "relu": lambda v: xp.maximum(v, 0),
        "tanh": xp.tanh,
        "sigmoid": lambda v: 1 / (1 + xp.exp(-v)),
        "gelu_tanh": lambda v: v * (1 + xp.tanh((2 / np.pi) ** 0.5 * (v + 0.044715 * v**3))) / 2,
        "identity": lambda v: v,
    }[c.activation]

    def norm(v, name):
        if c.norm_kind == "rms":
            return v / xp.sqrt(xp.mean(v**2, axis=1, keepdims=True) + c.eps) * p[f"{name}.gamma"]
        centred = v - xp.mean(v, axis=1, keepdims=True)
        scale = xp.sqrt(xp.mean(centred**2, axis=1, keepdims=True) + c.eps)
        return centred / scale * p[f"{name}.gamma"] + p[f"{name}.beta"]

    def attend(v, name):
        q, k, values = (xp.dot(v, p[f"{name}.W_{m}"]) + p[f"{name}.b_{m}"] for m in "QKV")
        heads = []
        for i in range(c.n_heads):
            block = slice(i * c.d_model // c.n_heads, (i + 1) * c.d_model // c.n_heads)
            e = xp.exp(xp.dot(q[:, block], k[:, block].T) / (c.d_model // c.n_heads) ** 0.5 + bias)
            e = e if mask is None else e * mask
            heads.append(xp.dot(e / xp.sum(e, axis=1, keepdims=True), values[:, block]))
        return xp.dot(xp.concatenate(heads, axis=1), p[f"{name}.W_O"]) + p[f"{name}.b_O"]

    def ffn(v, name):
        inside = activation(xp.dot(v, p[f"{name}.W_1"]) + p[f"{name}.b_1"])
        return xp.dot(inside, p[f"{name}.W_2"]) + p[f"{name}.b_2"]

    for i in range(c.depth):
        if c.parallel and c.ffn:
            name = f"layers.{i}.attention_norm"
            z = norm(x, name) if c.norm == "pre" else x
            y = attend(z, f"layers.{i}.attention") + ffn(z, f"layers.{i}.ffn")
            x = x + y if c.residual else y
            x = norm(x, name) if c.norm == "post" else x
            continue
        for f, part in ((attend, "attention"), (ffn, "ffn")):
            if part == "ffn" and not c.ffn:
                continue
            name = f"layers.{i}.{part}"
            y = f(norm(x, f"{name}_norm") if c.norm == "pre" else x, name)
            x = x + y if c.residual else y
            x = norm(x, f"{name}_norm") if c.norm == "post" else x
    return norm(x, "final_norm") if c.final_norm else x


def numerical_gradient(f, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Return the gradient of a scalar function by central differences, entry by entry."""
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        shift = np.zeros_like(x)
        shift[index] = step
        gradient[index] = (f(x + shift) - f(x - shift)) / (2 * step)
    return gradient


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a fresh generator with a fixed seed."""
    return np.random.default_rng(0)
