"""The part of abstraction.npz on where single heads look, on sentences made for one question each."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.data import LENGTHS
from encoderlab.chapters.abstraction.grammar import NOUNS, clauses, places, split_lexicon
from encoderlab.chapters.abstraction.reading import between_words
from encoderlab.chapters.abstraction.relations import (
    LURES,
    RELATIONS,
    class_accuracy,
    head_accuracy,
    lured,
    offset_accuracy,
    offset_rule,
    parse,
)
from encoderlab.model.arrays import FloatArray
from encoderlab.pretrained.sentence_encoder import SentenceEncoder

Arrays = dict[str, Any]


def relations(model: SentenceEncoder) -> Arrays:
    """Let each head follow each relation: on 300 clauses to choose a head, on 300 others to judge it."""
    rng = np.random.default_rng(0)
    halves = [parse(clauses(rng, lexicon, 300)) for lexicon in split_lexicon(rng)]
    attention = [
        [np.stack(model.trace(" ".join(clause.words)).attention) for clause in half] for half in halves
    ]
    heads, means, rules = [], [], []
    for name in RELATIONS:
        step = offset_rule(halves[0], name)
        rules.append([offset_accuracy(halves[1], name, step), class_accuracy(halves[1], name)])
        pairs = list(zip(halves, attention, strict=True))
        heads.append([head_accuracy(half, patterns, name) for half, patterns in pairs])
        means.append([head_accuracy(half, [p.mean(axis=1) for p in ps], name) for half, ps in pairs])
    lures, counts = zip(*(lured(halves[1], attention[1], lure) for lure in LURES), strict=True)
    return {
        "relations": np.array(heads),  # (6, 2, 6, 12)
        "relations_mean": np.array(means),  # (6, 2, 6)
        "relation_rules": np.array(rules),  # (6, 2): a fixed step, word class and direction
        "lures": np.array(lures),  # (6, 6, 12)
        "lure_counts": np.array(counts),
    }


def like_the_note(model: SentenceEncoder) -> Arrays:
    """Average attention between words, over an even share, on 100 sentences of the form of the note's own."""
    rng = np.random.default_rng(0)
    texts = list(islice(dict.fromkeys(places(rng, 200)), 100))
    patterns = np.stack(
        [6 * between_words(np.stack(model.trace(" ".join(words)).attention)) for words in texts]
    )  # (100, 6, 12, 6, 6)
    return {"note_heads": patterns.mean(axis=0), "note_mean": patterns.mean(axis=2)}


def long_texts(model: SentenceEncoder) -> Arrays:
    """Put ever more nouns in a row: what one neighbour gets, and what one changed word moves in layer 1.

    The heads are those that look at the word before in layer 1 and at the word after in layer 2.
    """
    rng = np.random.default_rng(0)
    rows = []
    for n in LENGTHS:
        draws = [_changed_noun(model, rng, n) for _ in range(4)]
        rows.append(np.mean(draws, axis=0))
    return {"long_texts": np.array(rows)}  # (4, 4)


def _changed_noun(model: SentenceEncoder, rng: np.random.Generator, n: int) -> list[float]:
    words = rng.choice(NOUNS, n - 2)
    middle = n // 2
    other = words.copy()
    other[middle] = next(noun for noun in rng.permutation(NOUNS) if noun != words[middle])
    trace, changed = (model.encoder.trace(model.embed(" ".join(text))) for text in (words, other))
    before = np.diagonal(trace.attention[0][2, 1:-1, 1:-1], -1)  # head 3 of layer 1
    after = np.diagonal(trace.attention[1][8, 1:-1, 1:-1], 1)  # head 9 of layer 2
    moved: FloatArray = np.linalg.norm(changed.hidden[1] - trace.hidden[1], axis=1)  # (n,)
    others = np.delete(moved, middle + 1)  # token 0 is [CLS]
    return [float(before.mean()), float(after.mean()), float(moved[middle + 2]), float(np.median(others))]
