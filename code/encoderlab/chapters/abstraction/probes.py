"""Linear probes: what a linear map can read off a token's hidden state, and what it could read without it.

A probe shows that something can be read, not that the model uses it (Hewitt and Liang 2019). So beside each
stand the commonest label, the position alone, the same probe on bare embeddings of the words around, and the
same probe on layers that were never trained.

scikit-learn is imported inside the functions that fit; the book reads stored accuracies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from encoderlab.chapters.abstraction.grammar import Labelled
from encoderlab.chapters.abstraction.probe_tasks import Items
from encoderlab.model.arrays import FloatArray
from encoderlab.pretrained.sentence_encoder import SentenceEncoder

BATCH = 64

Known = dict[tuple[str, ...], FloatArray]
"""Hidden states (depth + 1, n, d_model) of sentences that a model has read."""


def states(model: SentenceEncoder, items: Sequence[Labelled], known: Known | None = None) -> FloatArray:
    """Return the hidden state at each item's place, before the layers and after each.

    Parameters
    ----------
    model : SentenceEncoder
        Whose tokeniser must leave the words whole.
    items : sequence of Labelled
    known : dict, optional
        Hidden states of sentences that the model has read already; those of the others are added.

    Returns
    -------
    ndarray, shape (depth + 1, items, d_model)
    """
    hidden = {} if known is None else known
    by_length: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for words in dict.fromkeys(item.words for item in items if item.words not in hidden):
        by_length[len(words)].append(words)
    for sentences in by_length.values():
        for start in range(0, len(sentences), BATCH):
            batch = sentences[start : start + BATCH]
            x = np.stack([_embed_whole(model, words) for words in batch])  # (batch, n, d_model)
            layers = np.stack(model.encoder.trace(x).hidden)  # (depth + 1, batch, n, d_model)
            hidden |= {words: layers[:, k] for k, words in enumerate(batch)}
    return np.stack([hidden[item.words][:, item.place + 1] for item in items], axis=1)  # [CLS] is token 0


def accuracy(train: FloatArray, labels: Sequence[str], test: FloatArray, truth: Sequence[str]) -> float:
    """Fit ridge regression to ±1 for each label on standardised features, and return the share it gets right.

    Parameters
    ----------
    train, test : ndarray, shape (items, d_model)
    labels, truth : sequence of str
    """
    from sklearn.linear_model import RidgeClassifier  # type: ignore[import-untyped]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    probe = make_pipeline(StandardScaler(), RidgeClassifier(alpha=100.0))
    return float(probe.fit(train, labels).score(test, truth))


def logistic_accuracy(
    train: FloatArray, labels: Sequence[str], test: FloatArray, truth: Sequence[str]
) -> float:
    """Do the same by logistic regression, to see whether the kind of probe matters."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    probe = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=2000))
    return float(probe.fit(train, labels).score(test, truth))


def window(items: Sequence[Labelled], known: Known, reach: int) -> FloatArray:
    """Return the embeddings before layer 1 of a word and of so many on each side, one after the other.

    Parameters
    ----------
    items : sequence of Labelled
    known : dict
        Filled by `states`.
    reach : int
        How many on each side; zeros stand beyond the markers.

    Returns
    -------
    ndarray, shape (items, (2 reach + 1) d_model)
    """
    rows = []
    for item in items:
        x = known[item.words][0]  # (n, d_model)
        padded = np.pad(x, ((reach, reach), (0, 0)))
        rows.append(padded[item.place + 1 : item.place + 2 + 2 * reach].ravel())  # [CLS] is token 0
    return np.array(rows)


def narrowed(items: Sequence[Labelled], known: Known, reach: int = 2) -> FloatArray:
    """Return the window of so many on each side, projected at random to the width of a hidden state."""
    wide = window(items, known, reach)
    width = known[items[0].words].shape[-1]
    rng = np.random.default_rng(0)  # one projection for training and test
    matrix = rng.normal(scale=wide.shape[1] ** -0.5, size=(wide.shape[1], width))
    return wide @ matrix.astype(wide.dtype)


def bag(items: Sequence[Labelled], known: Known) -> FloatArray:
    """Return the mean of the embeddings of all words of the sentence, (items, d_model)."""
    return np.array([known[item.words][0, 1:-1].mean(axis=0) for item in items])


EMBEDDING_CONTROLS: Mapping[str, Callable[[Sequence[Labelled], Known], FloatArray]] = MappingProxyType(
    {
        "all words, averaged": bag,
        "word and 1 on each side": lambda items, known: window(items, known, 1),
        "word and 2 on each side": lambda items, known: window(items, known, 2),
        "2 on each side, at random to one width": narrowed,
    }
)
"""What the same probe sees of bare embeddings, instead of a hidden state."""

CONTROLS = ("commonest label", "position alone", *EMBEDDING_CONTROLS)


def position_accuracy(train: Items, test: Items) -> float:
    """Guess the label that was commonest at the same place in training."""
    by_place: dict[int, list[str]] = defaultdict(list)
    for item in train:
        by_place[item.place].append(item.label)
    everywhere = _commonest([item.label for item in train])
    guess = {place: _commonest(labels) for place, labels in by_place.items()}
    return float(np.mean([guess.get(item.place, everywhere) == item.label for item in test]))


def majority_accuracy(train: Items, test: Items) -> float:
    """Guess the commonest label of the training items every time."""
    guess = _commonest([item.label for item in train])
    return float(np.mean([item.label == guess for item in test]))


def _commonest(labels: Sequence[str]) -> str:
    names, counts = np.unique(labels, return_counts=True)
    return str(names[counts.argmax()])


def _embed_whole(model: SentenceEncoder, words: tuple[str, ...]) -> FloatArray:
    x = model.embed(" ".join(words))
    if len(x) != len(words) + 2:
        raise ValueError(f"words must be whole tokens, got {model.tokens(' '.join(words))}")
    return x
