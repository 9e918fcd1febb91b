"""The published model against transformers' BertModel, as stored in reference/; and what it refuses."""

import itertools
import pathlib

import numpy as np
import pytest
from published import model

from encoderlab.chapters.abstraction.sentences import sentences
from encoderlab.pretrained import minilm

REFERENCE = pathlib.Path(__file__).parent / "reference" / "minilm.npz"
with np.load(REFERENCE) as stored:
    EXPECTED = {name: stored[name] for name in stored.files}
TEXTS = EXPECTED["texts"].tolist()
SWITCHES = list(itertools.product([True, False], [True, False], ["none", "post", "pre"], [0, 1, 6]))


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_hidden_states_and_attention_equal_the_reference(number):
    trace = model().trace(TEXTS[number])
    hidden = np.stack(trace.hidden)
    assert model().tokens(TEXTS[number]) == EXPECTED[f"{number}/tokens"].tolist()
    assert hidden.dtype == np.float64
    np.testing.assert_allclose(hidden[..., ::9], EXPECTED[f"{number}/hidden"], atol=1e-10)
    np.testing.assert_allclose(hidden.sum(axis=-1), EXPECTED[f"{number}/hidden_sum"], atol=1e-10)
    np.testing.assert_allclose(np.stack(trace.attention), EXPECTED[f"{number}/attention"], atol=1e-10)


def test_float32_stays_float32_and_close():
    trace = model("float32").trace(TEXTS[1])
    assert {h.dtype for h in (*trace.hidden, *trace.attention)} == {np.dtype("float32")}
    np.testing.assert_allclose(np.stack(trace.hidden)[..., ::9], EXPECTED["1/hidden"], atol=2e-5)


@pytest.mark.parametrize(("ffn", "residual", "norm", "depth"), SWITCHES)
def test_every_switch_works_on_it(ffn, residual, norm, depth):
    switched = model().switch(ffn=ffn, residual=residual, norm=norm, depth=depth)
    trace = switched.trace("The cat sat on the mat")
    assert len(trace.hidden) == depth + 1
    assert len(trace.attention) == depth
    assert np.isfinite(trace.output).all()
    if norm == "post" and ffn and residual:
        whole = model().trace("The cat sat on the mat")
        np.testing.assert_array_equal(trace.output, whole.hidden[depth])


def test_a_sentence_has_a_vector_of_length_one():
    cat, rug, loan = (model()(text) for text in (TEXTS[0], "A cat sits on a rug.", "The bank lent money."))
    assert np.linalg.norm(cat) == pytest.approx(1)
    assert cat @ rug > 0.7 > 0.3 > cat @ loan


def test_it_reads_every_sentence_of_the_book():
    assert all(model().tokens(text)[0] == "[CLS]" for text in sentences())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text must hold at least one word, got '', which is empty"),
        (" \n", r"text must hold at least one word, got ' \\n', which is empty"),
        ("\u200b\u0000", "of which no token is left"),
        ("\ud800 abc", "text must be Unicode, got the lone surrogate U\\+D800"),
        ("cats 喵 and dogs 汪", "that an English vocabulary can spell, got 喵, 汪$"),
        ("a " + "x" * 300, "can spell, got x{20}…$"),
        ("word " * 511, "text must have at most 512 tokens, both markers included, got 513"),
        (None, "text must be a str, got NoneType"),
        (["The cat"], "text must be a str, got list"),
    ],
)
def test_bad_text_is_refused_with_one_clear_message(text, message):
    for call in (model().embed, model().trace, model()):
        with pytest.raises(ValueError, match=message):
            call(text)


def test_the_longest_text_is_accepted():
    assert len(model("float32").embed("word " * 510)) == 512


def test_a_typed_marker_is_text():
    assert model().tokens("[SEP]")[1:-1] == ["[", "sep", "]"]


def test_weights_that_are_not_the_published_ones_are_refused(tmp_path):
    for name in minilm.SHA256:
        genuine = (minilm.model_folder() / name).read_bytes()
        assert minilm.checked_bytes(minilm.model_folder() / name) == genuine
        (tmp_path / name).write_bytes(genuine[:-1] + bytes([genuine[-1] ^ 1]))
        with pytest.raises(ValueError, match=f"{name} must have the SHA-256 {minilm.SHA256[name]}, got "):
            minilm.checked_bytes(tmp_path / name)


def test_loading_checks_both_files(monkeypatch):
    checked = []
    genuine = minilm.checked_bytes
    monkeypatch.setattr(minilm, "checked_bytes", lambda path: checked.append(path.name) or genuine(path))
    minilm.sentence_encoder(np.float32)
    assert sorted(checked) == sorted(minilm.SHA256)


@pytest.mark.parametrize("missing", [minilm.PACKAGE, "tokenizers", "safetensors"])
def test_without_the_model_the_message_says_how_to_get_it(monkeypatch, missing):
    find = minilm.importlib.util.find_spec
    monkeypatch.setattr(
        minilm.importlib.util, "find_spec", lambda name: None if name == missing else find(name)
    )
    assert not minilm.is_installed()
    with pytest.raises(ModuleNotFoundError, match="not installed: run `make minilm`"):
        minilm.sentence_encoder()
