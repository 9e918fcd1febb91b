"""The stored measurements of chapter 5 as the claims' checks ask for them.

They are of one published model; `make_data` made them, and a test recomputes a sample from the weights.
A difference between layers counts if its 95 % interval keeps clear of the bound,
a difference between probes if it is there with each of the five seeds.
"""

from __future__ import annotations

import numpy as np

from encoderlab.chapters.abstraction.data import measured, reading, results
from encoderlab.chapters.abstraction.minimal_pairs import minimal_pairs, overlap
from encoderlab.chapters.abstraction.probes import CONTROLS
from encoderlab.chapters.abstraction.prose import LENGTHS, story_interval
from encoderlab.chapters.abstraction.reading import (
    between_words,
    over_other_queries,
    over_uniform,
)
from encoderlab.chapters.abstraction.sentences import (
    THE_NOTES,
    Separation,
    centred,
    mean_and_interval,
    sentences,
    separation,
)
from encoderlab.model.arrays import FloatArray

WORDS = ("the", "cat", "sat", "on", "the", "mat")  # of the note, for a hundred sentences of its form


def head_mean(measure: str) -> FloatArray:
    """Return a measure on the 64 sentences by layer, as a mean over heads, (64, 6)."""
    mean: FloatArray = measured("heads", measure)[1:].mean(axis=-1)
    return mean


def by_length(measure: str, words: int, order: str = "as told") -> FloatArray:
    """Return one of `LENGTH_MEASURES` on the texts of a length, as a mean over heads, (50, 6).

    In the order "as told" or with words "dealt anew".
    """
    return measured("by_length", f"{words} words", order, measure)


def gap_by_length(measure: str, one: int, other: int) -> tuple[FloatArray, FloatArray]:
    """Return by how much one layer, from 1, exceeds another: ends of 95 % intervals, by length, (5,) each."""
    ends = [
        story_interval(values[:, one - 1] - values[:, other - 1], np.random.default_rng(0))[1:]
        for values in (by_length(measure, words) for words in LENGTHS)
    ]
    low, high = np.transpose(ends)
    return low, high


def growing_gap(task: str, rival: str, most: int) -> FloatArray:
    """Return the accuracy after layer 3 over that from bare embeddings, up to so many adjectives, (5,)."""
    at = task, f"up to {most} adjectives"
    gap: FloatArray = measured("growing", *at)[:, 3] - measured("growing_rivals", *at, rival)
    return gap


def own_words_overlap() -> FloatArray:
    """Return how many words each of the 64 sentences shares with the look-alike in its own words, (64,)."""
    texts = sentences()
    return np.array([overlap(text, texts[i ^ 2]) for i, text in enumerate(texts)])


def own_words_by_overlap() -> FloatArray:
    """Return how often the partner is nearer than it, by thirds from least to most overlap, (3, 7)."""
    thirds = np.array_split(np.argsort(own_words_overlap(), kind="stable"), 3)
    beats: FloatArray = np.stack([apart().beats_own_words[:, third].mean(axis=1) for third in thirds])
    return beats


def paraphrase_nearer() -> dict[str, FloatArray]:
    """Count the minimal pairs whose paraphrase is nearer than the contradiction, by change and layer."""
    paraphrase, contradiction = (measured("minimal_pairs", name) for name in ("paraphrase", "contradiction"))
    changes = np.array([pair.change for pair in minimal_pairs(np.random.default_rng(0))])
    nearer = paraphrase > contradiction
    return {change: nearer[changes == change].sum(axis=0) for change in dict.fromkeys(changes.tolist())}


def sense_accuracy() -> FloatArray:
    """Return how often the sense of a word of two is told, after each layer, (7,)."""
    share: FloatArray = results()["senses"].mean(axis=0)
    return share


def related_over_unrelated() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what related words give each other over what unrelated ones do, with a 95 % interval, (6,)."""
    weight = results()["related"].mean(axis=-1)  # (pairs, 2, 6)
    chosen = np.random.default_rng(0).integers(len(weight), size=(2000, len(weight)))
    drawn = weight[chosen].mean(axis=1)  # (draws, 2, 6)
    low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5], axis=0)
    mean = weight.mean(axis=0)
    return mean[0] / mean[1], low, high


def related_head(layer: int) -> tuple[int, float]:
    """Choose the head of a layer that favours related words most on half of the pairs; judge it on others."""
    weight = results()["related"][:, :, layer - 1]  # (pairs, 2, 12)
    one, other = (half.mean(axis=0) for half in (weight[::2], weight[1::2]))
    head = int((one[0] / one[1]).argmax())
    return head + 1, float(other[0, head] / other[1, head])


def erased_change(fact: str, kind: str) -> tuple[float, float, float]:
    """Return how the margin changes without a fact, or what is none: mean and interval over sentences."""
    change = measured("erased_margin", fact, kind).mean(axis=0)  # (64,), of five draws
    mean, low, high = mean_and_interval(change, np.random.default_rng(0))
    return float(mean), float(low), float(high)


def hidden(measure: str) -> FloatArray:
    """Return one of the `HIDDEN_MEASURES` on the 64 sentences after each layer, (64, 7)."""
    return measured("hidden", measure)[1:]


def apart() -> Separation:
    """Return how the 64 sentences lie after each layer; every field is (7, 64)."""
    return separation(results()["cosines"])


def apart_centred() -> Separation:
    """Return the same with the sentences' common vector removed."""
    return separation(centred(results()["cosines"]))


def probe_runs(task: str) -> FloatArray:
    """Return a probe's accuracy by seed and layer, (5, 7)."""
    return measured("probes", task)


def probe_accuracy(task: str) -> FloatArray:
    """Return a probe's accuracy by layer, as a mean over seeds, (7,)."""
    mean: FloatArray = probe_runs(task).mean(axis=0)
    return mean


def control_runs(task: str, control: str) -> FloatArray:
    """Return the accuracy of one of the `CONTROLS` by seed, (5,)."""
    return measured("controls", task, control)


def untrained_accuracy(task: str) -> FloatArray:
    """Return the best accuracy over layers of each network that was never trained, (4,)."""
    best: FloatArray = measured("untrained_probes", task).max(axis=-1)
    return best


def read_halfway(layer: int) -> int:
    """Count the facts of which a probe gets right half of what the commonest label gets wrong."""
    accuracy = results()["probes"][..., layer].mean(axis=1)  # (tasks,)
    commonest = measured("controls", CONTROLS[0]).mean(axis=1)
    return int(np.sum(accuracy >= (1 + commonest) / 2))


def link(query: str, key: str, layer: int) -> FloatArray:
    """Return the weight of a pair in the note's sentence over even attention between words, by head."""
    tokens, attention, _ = reading(THE_NOTES)
    words = list(tokens[1:-1])
    pair = np.zeros((len(words), len(words)), dtype=bool)
    pair[words.index(query), words.index(key)] = True
    return over_uniform(between_words(attention[layer - 1]), pair)


def pair_by_head(query: str, key: str, layer: int) -> FloatArray:
    """Return a pair's weight over an even share in a hundred sentences like the note's, by head, (12,)."""
    weight: FloatArray = results()["note_heads"][layer - 1, :, _place(query), _place(key)]
    return weight


def pair_over_key(query: str, key: str) -> FloatArray:
    """Return a pair's weight over what other words give that key, mean over heads, by layer, (6,)."""
    return over_other_queries(results()["note_mean"].mean(axis=0), _place(query), _place(key))


def mean(values: FloatArray) -> float:
    """Return the mean of all values."""
    return float(values.mean())


def least(values: FloatArray) -> float:
    """Return the lower end of a 95 % interval for the mean over sentences."""
    return float(mean_and_interval(values, np.random.default_rng(0))[1])


def most(values: FloatArray) -> float:
    """Return the upper end of a 95 % interval for the mean over sentences."""
    return float(mean_and_interval(values, np.random.default_rng(0))[2])


def _place(word: str) -> int:
    return WORDS.index(word)
