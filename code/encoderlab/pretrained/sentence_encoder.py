"""A sentence encoder: text becomes tokens, tokens vectors, the layers run, and the mean stands for the text.

The path is embedding, position added, LayerNorm, layers, mean: Devlin et al. 2019 for all but the last step,
Reimers and Gurevych 2019 for that (claim 37).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import Encoder, Trace
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm

Tokenizer = Callable[[str], tuple[list[str], list[int]]]
"""Cuts a text into tokens and their numbers, markers at both ends included; refuses what it cannot cut."""


BERT_INIT = 0.02  # standard deviation of BERT's weights before training


class Embeddings(NamedTuple):
    """What turns token numbers into the input of the first layer."""

    word: FloatArray  # (vocabulary, d_model)
    position: FloatArray  # (longest, d_model)
    segment: FloatArray  # (d_model,), the same for every token of a single sentence
    norm: LayerNormWeights


@dataclass(frozen=True)
class SentenceEncoder:
    """An encoder that reads text.

    Parameters
    ----------
    tokenize : callable
        From str to tokens and their numbers.
    embeddings : Embeddings
        Its norm decides the dtype of everything computed.
    encoder : Encoder

    Examples
    --------
    >>> from encoderlab.pretrained import sentence_encoder
    >>> model = sentence_encoder()  # doctest: +SKIP
    >>> model.switch(ffn=False, depth=2).trace("The cat sat on the mat").output.shape  # doctest: +SKIP
    (8, 384)
    """

    tokenize: Tokenizer
    embeddings: Embeddings
    encoder: Encoder

    def switch(self, **changes: Any) -> SentenceEncoder:
        """Return the same model with other switches, such as ``ffn=False`` or ``depth=2``."""
        return replace(self, encoder=self.encoder.switch(**changes))

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text, one for each row of `embed` and `trace`."""
        return self.tokenize(text)[0]

    def embed(self, text: str) -> FloatArray:
        """Return the input of the first layer: LN(word + position + segment).

        Parameters
        ----------
        text : str

        Returns
        -------
        ndarray, shape (n, d_model)

        Raises
        ------
        ValueError
            If the text cannot be cut into tokens, or has more of them than there are positions.
        """
        _, numbers = self.tokenize(text)
        word, position, segment, norm = self.embeddings
        n, longest = len(numbers), len(position)
        if n > longest:
            raise ValueError(f"text must have at most {longest} tokens, both markers included, got {n}")
        x = word[numbers].astype(norm.gamma.dtype) + position[:n] + segment  # (n, d_model)
        return layer_norm(x, norm, self.encoder.config.eps)

    def trace(self, text: str) -> Trace:
        """Run the layers over a text and keep everything on the way; see `embed` for the errors."""
        return self.encoder.trace(self.embed(text))

    def __call__(self, text: str) -> FloatArray:
        """Return the vector of a text, shape (d_model,); see `embed` for the errors."""
        return sentence_vector(self.trace(text).output)


def sentence_vector(hidden: FloatArray) -> FloatArray:
    """Average the tokens of a sentence and bring the mean to length one.

    Parameters
    ----------
    hidden : ndarray, shape (..., n, d_model)

    Returns
    -------
    ndarray, shape (..., d_model)
        So that the product of two is their cosine.
    """
    mean = hidden.mean(axis=-2)  # (..., d_model)
    unit: FloatArray = mean / np.linalg.norm(mean, axis=-1, keepdims=True)
    return unit


def untrained(model: SentenceEncoder, rng: np.random.Generator) -> SentenceEncoder:
    """Put layers as BERT's are before training in place of a model's own, and keep its embeddings.

    Matrices are drawn from N(0, 0.02²), biases and β are zero, γ is one.
    """

    def fresh(name: str, old: FloatArray) -> FloatArray:
        if ".W_" in name:
            return rng.normal(scale=BERT_INIT, size=old.shape).astype(old.dtype)
        return np.ones_like(old) if name.endswith("gamma") else np.zeros_like(old)

    parameters = {name: fresh(name, old) for name, old in model.encoder.parameters().items()}
    return replace(model, encoder=model.encoder.with_parameters(parameters))
