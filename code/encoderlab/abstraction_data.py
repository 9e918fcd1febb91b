"""Make data/abstraction.npz, every measurement of chapter 5: `python -m encoderlab.abstraction_data`.

Needs the six-layer model (`make minilm`), scikit-learn (`pip install -e "code[test]"`) and a few minutes.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from encoderlab.abstraction import HEAD_MEASURES, between_words, over_uniform, read
from encoderlab.abstraction_results import ATLAS
from encoderlab.grammar import clauses, places, split_lexicon
from encoderlab.likeness import hidden_measures
from encoderlab.minilm import SHA256, sentence_encoder
from encoderlab.probe_data import SEEDS, UNTRAINED_SEEDS, probes
from encoderlab.relations import RELATIONS, head_accuracy, offset_accuracy, offset_rule, parse
from encoderlab.sentence_encoder import SentenceEncoder, sentence_vector, untrained
from encoderlab.sentences import THE_NOTES, sentences, separation
from encoderlab.surgery_data import loud_neurons, surgery, width
from encoderlab.validation import FloatArray

OUT = Path(__file__).with_name("data") / "abstraction.npz"
PLACES_PAIRS = {"cat → sat": (1, 2), "sat → cat": (2, 1), "on → mat": (3, 5), "mat → on": (5, 3)}
PLACES_PAIRS |= {"the → cat": (0, 1), "sat → on": (2, 3), "cat → mat": (1, 5), "mat → cat": (5, 1)}

Arrays = dict[str, Any]


def corpus(model: SentenceEncoder) -> Arrays:
    """Measure heads and hidden states on the note's sentence and the book's, and keep some readings whole."""
    texts = [THE_NOTES, *sentences()]
    traces = [model.trace(text) for text in texts]
    vectors = np.stack([sentence_vector(np.stack(t.hidden)) for t in traces[1:]], axis=1)  # (7, 64, d_model)
    arrays: Arrays = {
        "heads": np.stack([_heads(model, text) for text in texts], axis=1),  # (measures, 65, 6, 12)
        "hidden": np.stack([hidden_measures(trace) for trace in traces], axis=1),  # (3, 65, 7)
        "cosines": vectors @ vectors.swapaxes(-1, -2),  # (7, 64, 64)
    }
    for number, text in enumerate(ATLAS):
        reading = read(model, text)
        arrays |= {f"reading/{number}/{name}": np.asarray(value) for name, value in reading._asdict().items()}
    return arrays


def weights_apart(model: SentenceEncoder) -> Arrays:
    """Compare the matrices of every two layers: the distance over what unrelated ones would have."""
    layers = [
        [w for group in (layer.attention, layer.ffn) for w in group if w is not None and w.ndim == 2]
        for layer in model.encoder.weights.layers
    ]
    gaps = [[_gap(a, b) for b in layers] for a in layers]
    return {"layers_apart": np.array(gaps)}


def control(model: SentenceEncoder) -> Arrays:
    """Measure the same, averaged over heads, on layers that were never trained."""
    runs = []
    for seed in UNTRAINED_SEEDS:
        arrays = corpus(untrained(model, np.random.default_rng(seed)))
        apart = np.stack(separation(arrays["cosines"]))  # (4, 7, 64)
        runs.append((arrays["heads"].mean(axis=-1), arrays["hidden"], apart))
    names = ("untrained_heads", "untrained_hidden", "untrained_separation")
    return {name: np.stack(values) for name, values in zip(names, zip(*runs, strict=True), strict=True)}


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
        rules.append([offset_accuracy(half, name, step) for half in halves])
        pairs = list(zip(halves, attention, strict=True))
        heads.append([head_accuracy(half, patterns, name) for half, patterns in pairs])
        means.append([head_accuracy(half, [p.mean(axis=1) for p in ps], name) for half, ps in pairs])
    return {
        "relations": np.array(heads),
        "relations_mean": np.array(means),
        "relation_rules": np.array(rules),
    }


def like_the_note(model: SentenceEncoder) -> Arrays:
    """Measure the note's word pairs on 100 sentences of the form of its own."""
    texts = dict.fromkeys(places(np.random.default_rng(0), 100))
    ratios = []
    for words in texts:
        pattern = between_words(np.stack(model.trace(" ".join(words)).attention))  # (6, 12, 6, 6)
        eye = np.eye(len(words), dtype=bool)
        ratios.append([over_uniform(pattern, np.outer(eye[i], eye[j])) for i, j in PLACES_PAIRS.values()])
    spread = np.std(ratios, axis=0) / len(ratios) ** 0.5
    return {"pairs": np.mean(ratios, axis=0), "pairs_error": spread, "pair_names": list(PLACES_PAIRS)}


def _gap(a: list[FloatArray], b: list[FloatArray]) -> float:
    """Return the least over pairs of ‖A − B‖/√(‖A‖² + ‖B‖²): 0 if equal, about 1 if unrelated."""
    return min(
        float(np.linalg.norm(x - y) / np.hypot(np.linalg.norm(x), np.linalg.norm(y)))
        for x, y in zip(a, b, strict=True)
    )


def _heads(model: SentenceEncoder, text: str) -> FloatArray:
    pattern, tokens = np.stack(model.trace(text).attention), model.tokens(text)
    return np.stack([measure(pattern, tokens) for measure in HEAD_MEASURES.values()])


def sections() -> Iterator[Arrays]:
    """Yield the arrays of each part of the chapter."""
    exact, fast = sentence_encoder(np.float64), sentence_encoder(np.float32)
    for section in (corpus, weights_apart, control, surgery, relations, like_the_note, loud_neurons, width):
        print(section.__name__, flush=True)
        yield section(exact)
    yield probes(fast)


def main() -> None:
    """Run everything and write one file."""
    arrays: Arrays = {name: value for section in sections() for name, value in section.items()}
    provenance = {
        "command": "python -m encoderlab.abstraction_data",
        "model": SHA256,
        "seeds": {"probes": len(SEEDS), "untrained layers": len(UNTRAINED_SEEDS)},
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "tokenizers", "safetensors", "scikit-learn")},
    }
    compact = {name: _compact(np.asarray(value)) for name, value in arrays.items()}
    np.savez_compressed(OUT, provenance=json.dumps(provenance), **compact)
    print(f"{OUT}: {OUT.stat().st_size} bytes")


def _compact(array: Any) -> Any:
    """Keep four significant digits or so: enough to draw, and half the size."""
    return array.astype(np.float32) if array.dtype == np.float64 else array


if __name__ == "__main__":
    main()
