"""The part of abstraction.npz on the length of a text: reach, neighbours and [CLS] at ten to 160 words."""

from __future__ import annotations

from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.contributions import contributions, share_of_first, value_lengths
from encoderlab.chapters.abstraction.prose import LENGTHS, dealt_anew, passages
from encoderlab.chapters.abstraction.reading import (
    between_words,
    distance,
    distance_to_others,
    neighbours,
    over_uniform,
    to_neighbours,
)
from encoderlab.chapters.abstraction.sentences import sentences
from encoderlab.model.arrays import FloatArray
from encoderlab.pretrained.sentence_encoder import SentenceEncoder, untrained

LENGTH_MEASURES = (
    "reach",
    "reach to others",
    "reach with markers",
    "to [CLS]",
    "[CLS] by length of vectors",
    "neighbours",
    "to neighbours",
)
"""Each is one number for a head and a text."""

ORDERS = ("as told", "dealt anew")


def by_length(model: SentenceEncoder) -> dict[str, Any]:
    """Measure attention on texts of every length, as told and with their words dealt anew."""
    fresh = untrained(model, np.random.default_rng(0))
    measured, by_head, words, never = [], [], [], []
    for length in LENGTHS:
        rng = np.random.default_rng([0, length])
        told = [passage.text for passage in passages(length, rng)]
        dealt = [dealt_anew(text, rng) for text in told]
        both = np.array([[measure(model, text) for text in texts] for texts in (told, dealt)])
        measured.append(both.mean(axis=-1))  # (2, texts, measures, 6)
        by_head.append(both[0].mean(axis=0))  # (measures, 6, 12)
        words.append([len(text.split()) for text in told])
        never.append(np.mean([measure(fresh, text).mean(axis=-1) for text in told[::5]], axis=0))
    short = [
        measure(model, text)[LENGTH_MEASURES.index("[CLS] by length of vectors")] for text in sentences()
    ]
    return {
        "by_length": np.array(measured),  # (5, 2, 50, measures, 6)
        "by_length_heads": np.array(by_head),  # (5, measures, 6, 12)
        "by_length_untrained": np.array(never),  # (5, measures, 6)
        "by_length_words": np.array(words),  # (5, 50)
        "cls_by_length_of_vectors": np.mean(short, axis=-1),  # (64, 6)
        "cls_value_length": np.array([_value_of_first(model, text) for text in sentences()]),  # (64, 6)
    }


def measure(model: SentenceEncoder, text: str) -> FloatArray:
    """Return the `LENGTH_MEASURES` of a text, (measures, depth, h)."""
    trace = model.trace(text)
    pattern = np.stack(trace.attention)  # (6, 12, n, n)
    words = between_words(pattern)
    brought = [
        share_of_first(contributions(layer.attention_inner, weights.attention.W_O))
        for layer, weights in zip(trace.layers, model.encoder.weights.layers, strict=True)
    ]
    return np.stack(
        [
            distance(words),
            distance_to_others(words),
            distance(pattern),
            pattern[..., 1:-1, 0].mean(axis=-1),
            np.stack(brought),
            over_uniform(words, neighbours(words.shape[-1])),
            to_neighbours(words),
        ]
    )


def _value_of_first(model: SentenceEncoder, text: str) -> FloatArray:
    """Return how long f(x) of [CLS] is over that of a word, mean over heads, by layer, (6,)."""
    trace = model.trace(text)
    lengths = np.stack(
        [
            value_lengths(layer.attention_inner, weights.attention.W_O)
            for layer, weights in zip(trace.layers, model.encoder.weights.layers, strict=True)
        ]
    ).mean(axis=1)  # (6, n)
    ratio: FloatArray = lengths[:, 0] / lengths[:, 1:-1].mean(axis=1)
    return ratio
