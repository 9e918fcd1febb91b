"""What two published implementations of post-LN compute, stored to hold against the formulas (claim 35)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder
from encoderlab.model.layer_norm import LayerNormWeights
from encoderlab.pretrained import from_torch
from encoderlab.pretrained.minilm import CONFIG

FILE = Path(__file__).with_name("post_norm.npz")
COMMAND = "python code/tests/chapters/residual_norm/reference/make_post_norm.py"


class TorchCase(NamedTuple):
    """Six layers of `torch.nn.TransformerEncoder` with random weights, as our encoder, with its output."""

    encoder: Encoder
    x: FloatArray  # (5, 8)
    y: FloatArray  # (5, 8), what PyTorch returned


class PublishedToken(NamedTuple):
    """The token "cat" of "The cat sat on the mat" on its way through all-MiniLM-L6-v2, by BertModel."""

    skip: FloatArray  # (13, 384), what came into each of the twelve sub-layers, and the output
    branch: FloatArray  # (12, 384), what attention and FFN in turn added
    norms: tuple[LayerNormWeights, ...]  # the LayerNorm of each sub-layer
    eps: float
    gap: float  # largest difference between the whole model in this book's code and BertModel


def torch_case() -> TorchCase:
    """Return the encoder of PyTorch."""
    arrays = _stored()
    state = {n.removeprefix("torch/state/"): a for n, a in arrays.items() if n.startswith("torch/state/")}
    return TorchCase(from_torch(state, n_heads=2), arrays["torch/x"], arrays["torch/y"])


def published_token() -> PublishedToken:
    """Return the token of the published model."""
    arrays = _stored()
    norms = arrays["minilm/norms"].astype(np.float64)  # (12, 2, 384)
    return PublishedToken(
        arrays["minilm/skip"],
        arrays["minilm/branch"],
        tuple(LayerNormWeights(gamma, beta) for gamma, beta in norms),
        CONFIG.eps,
        float(arrays["minilm/gap"]),
    )


def provenance() -> str:
    """Say how the file was made: command, seed, text and versions, as JSON."""
    return str(_stored()["provenance"])


@cache
def _stored() -> dict[str, FloatArray]:
    try:
        with FILE.open("rb") as opened, np.load(opened) as file:
            return dict(file)
    except (OSError, EOFError, BadZipFile) as error:
        raise ValueError(f"{FILE.name} cannot be read ({error}); make it again: {COMMAND}") from error
