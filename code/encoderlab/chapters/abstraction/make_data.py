"""Make abstraction.npz, every measurement of chapter 5.

`python -m encoderlab.chapters.abstraction.make_data` needs the six-layer model (`make minilm`), scikit-learn
(`pip install -e "code[test]"`) and some ten minutes.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from encoderlab.chapters.abstraction.attention_data import like_the_note, long_texts, relations
from encoderlab.chapters.abstraction.data import ATLAS
from encoderlab.chapters.abstraction.erasure_data import erasure
from encoderlab.chapters.abstraction.length_data import by_length
from encoderlab.chapters.abstraction.likeness import hidden_measures
from encoderlab.chapters.abstraction.meaning_data import meaning
from encoderlab.chapters.abstraction.probe_data import NETWORKS, SEEDS, growing_phrases, probes
from encoderlab.chapters.abstraction.reading import HEAD_MEASURES, read
from encoderlab.chapters.abstraction.sentences import BLOCK, THE_NOTES, centred, sentences, separation
from encoderlab.chapters.abstraction.surgery_data import loud_neurons, surgery, width
from encoderlab.model.arrays import FloatArray
from encoderlab.pretrained.minilm import SHA256, sentence_encoder
from encoderlab.pretrained.sentence_encoder import SentenceEncoder, sentence_vector, untrained

OUT = Path(__file__).with_name("abstraction.npz")

Arrays = dict[str, Any]


def corpus(model: SentenceEncoder) -> Arrays:
    """Measure heads and hidden states on the note's sentence and the book's, and keep some readings whole."""
    texts = [THE_NOTES, *sentences()]
    blocks = [-1, *(i // BLOCK for i in range(len(texts) - 1))]
    traces = [model.trace(text) for text in texts]
    hidden = [np.stack(trace.hidden) for trace in traces]  # (7, n, d_model) each
    vectors = np.stack([sentence_vector(h) for h in hidden[1:]], axis=1)  # (7, 64, d_model)
    arrays: Arrays = {
        "heads": np.stack([_heads(model, text) for text in texts], axis=1),  # (measures, 65, 6, 12)
        "hidden": hidden_measures([h[:, 1:-1] for h in hidden], blocks),  # (measures, 65, 7)
        "cosines": vectors @ vectors.swapaxes(-1, -2),  # (7, 64, 64)
        "words": np.array([h.shape[1] - 2 for h in hidden]),  # (65,)
    }
    for number, text in enumerate(ATLAS):
        reading = read(model, text)
        arrays |= {f"reading/{number}/{name}": np.asarray(value) for name, value in reading._asdict().items()}
    return arrays


def weights_apart(model: SentenceEncoder) -> Arrays:
    """Compare the matrices of every two layers, and those of the first two with their entries permuted.

    Rows and columns of one matrix are dealt anew, which keeps its values and undoes any agreement.
    """
    layers = [
        [w for group in (layer.attention, layer.ffn) for w in group if w is not None and w.ndim == 2]
        for layer in model.encoder.weights.layers
    ]
    rng = np.random.default_rng(0)
    dealt = [[rng.permutation(rng.permutation(w), axis=1) for w in layers[1]] for _ in range(20)]
    return {
        "layers_apart": np.array([[_gaps(a, b) for b in layers] for a in layers]),  # (6, 6, matrices)
        "layers_apart_by_chance": np.array([_gaps(layers[0], b) for b in dealt]),  # (20, matrices)
        "layer_shapes": np.array([[w.shape for w in layer] for layer in layers]),  # (6, matrices, 2)
    }


def control(model: SentenceEncoder) -> Arrays:
    """Measure the same, averaged over heads, on layers that were never trained."""
    runs = []
    for seed in NETWORKS:
        arrays = corpus(untrained(model, np.random.default_rng(seed)))
        cosines = arrays["cosines"]
        apart = np.stack([np.stack(separation(c)) for c in (cosines, centred(cosines))])  # (2, 5, 7, 64)
        runs.append((arrays["heads"].mean(axis=-1), arrays["hidden"], apart))
    names = ("untrained_heads", "untrained_hidden", "untrained_separation")
    return {name: np.stack(values) for name, values in zip(names, zip(*runs, strict=True), strict=True)}


def _gaps(a: list[FloatArray], b: list[FloatArray]) -> list[float]:
    """Return ‖A − B‖/√(‖A‖² + ‖B‖²) for each pair of matrices: 0 if equal, about 1 if unrelated."""
    return [
        float(np.linalg.norm(x - y) / np.hypot(np.linalg.norm(x), np.linalg.norm(y)))
        for x, y in zip(a, b, strict=True)
    ]


def _heads(model: SentenceEncoder, text: str) -> FloatArray:
    pattern, tokens = np.stack(model.trace(text).attention), model.tokens(text)
    return np.stack([measure(pattern, tokens) for measure in HEAD_MEASURES.values()])


def sections() -> Iterator[Arrays]:
    """Yield the arrays of each part of the chapter."""
    exact, fast = sentence_encoder(np.float64), sentence_encoder(np.float32)
    parts = (
        corpus,
        weights_apart,
        control,
        relations,
        like_the_note,
        long_texts,
        loud_neurons,
        surgery,
        width,
    )
    for section in parts:
        start = time.monotonic()
        yield section(exact)
        print(f"{section.__name__}: {time.monotonic() - start:.0f} s", flush=True)
    for section in (by_length, meaning, erasure, growing_phrases, probes):
        start = time.monotonic()
        yield section(fast)
        print(f"{section.__name__}: {time.monotonic() - start:.0f} s", flush=True)


def main() -> None:
    """Run everything and write one file."""
    arrays: Arrays = {name: value for section in sections() for name, value in section.items()}
    provenance = {
        "command": "python -m encoderlab.chapters.abstraction.make_data",
        "model": SHA256,
        "seeds": {"probes": len(SEEDS), "untrained networks": len(NETWORKS)},
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
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped: nothing was stored, the file is written at the end")
