"""The part of abstraction.npz on meaning: minimal pairs, words of two senses, related words."""

from __future__ import annotations

from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.homonyms import told_apart, uses, views
from encoderlab.chapters.abstraction.minimal_pairs import minimal_pairs
from encoderlab.chapters.abstraction.related import between_pairs
from encoderlab.pretrained.sentence_encoder import SentenceEncoder, sentence_vector, untrained


def meaning(model: SentenceEncoder) -> dict[str, Any]:
    """Measure all three."""
    pairs = minimal_pairs(np.random.default_rng(0))
    vectors = np.array(
        [[[sentence_vector(h) for h in model.trace(text).hidden] for text in pair[:3]] for pair in pairs]
    )  # (64, 3, 7, d_model)
    found = uses()
    fresh = untrained(model, np.random.default_rng(0))
    states, window, others = (np.array(view) for view in zip(*(views(model, u) for u in found), strict=True))
    never = np.array([views(fresh, use)[0] for use in found])  # (128, 7, d_model)
    return {
        "minimal_pairs": np.einsum("ild,ikld->ikl", vectors[:, 0], vectors[:, 1:]),  # (64, 2, 7), cosines
        "senses": np.stack([told_apart(states[:, k], found) for k in range(7)], axis=1),  # (128, 7)
        "senses_bare": np.stack([told_apart(window, found), told_apart(others, found)], axis=1),  # (128, 2)
        "senses_untrained": np.stack([told_apart(never[:, k], found) for k in range(7)], axis=1),  # (128, 7)
        "related": between_pairs(model),  # (20, 2, 6, 12)
    }
