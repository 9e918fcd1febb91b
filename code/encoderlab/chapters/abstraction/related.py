"""Whether attention goes to a word that is related in meaning (claim 71).

Every first word stands with every second one in the same frames, so related pairs and unrelated ones have the
same words and the same distance, and differ in which belong together.
"""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.abstraction.reading import between_words
from encoderlab.model.arrays import FloatArray
from encoderlab.pretrained.sentence_encoder import SentenceEncoder

RELATED = (
    ("doctor", "hospital"),
    ("king", "crown"),
    ("farmer", "field"),
    ("teacher", "school"),
    ("sailor", "ship"),
    ("judge", "court"),
    ("priest", "church"),
    ("soldier", "gun"),
    ("baker", "bread"),
    ("fish", "river"),
    ("bird", "nest"),
    ("dog", "bone"),
    ("bee", "honey"),
    ("driver", "car"),
    ("pilot", "plane"),
    ("prisoner", "jail"),
    ("artist", "painting"),
    ("tailor", "shirt"),
    ("miner", "coal"),
    ("singer", "song"),
)
FRAMES = (
    "we spoke of the {} and then of the {} again",
    "the {} was described before the {} was mentioned",
    "near the {} there is a {} in this picture",
    "yesterday the {} and also the {} were in the news",
)


def between_pairs(model: SentenceEncoder) -> FloatArray:
    """Return the weight between words of a pair, related and not, mean over frames and both directions.

    Returns
    -------
    ndarray, shape (pairs, 2, depth, h)
        Of each related pair; and of its two words with the partners of all others.
    """
    n = len(RELATED)
    weight = np.array([[_weight(model, a, b) for _, b in RELATED] for a, _ in RELATED])  # (n, n, 6, 12)
    related = weight[np.arange(n), np.arange(n)]
    unrelated = (weight.sum(axis=0) + weight.sum(axis=1) - 2 * related) / (2 * (n - 1))
    return np.stack([related, unrelated], axis=1)


def _weight(model: SentenceEncoder, first: str, second: str) -> FloatArray:
    total = []
    for frame in FRAMES:
        text = frame.format(first, second)
        tokens = model.tokens(text)
        i, j = tokens.index(first) - 1, tokens.index(second) - 1  # counted from the first word
        pattern = between_words(np.stack(model.trace(text).attention))
        total.append((pattern[..., i, j] + pattern[..., j, i]) / 2)
    mean: FloatArray = np.mean(total, axis=0)
    return mean
