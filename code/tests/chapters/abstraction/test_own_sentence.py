"""The box for a sentence of one's own: what it shows with the model, without it, and in the page."""

import pytest
from published import model

from encoderlab.chapters.abstraction.figures import own_sentence as own
from encoderlab.pretrained import minilm


@pytest.fixture(autouse=True)
def kernel(monkeypatch):
    monkeypatch.delenv("ENCODERLAB_WORLD", raising=False)


def test_in_the_page_a_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setenv("ENCODERLAB_WORLD", "page")
    for installed in (True, False):  # a page must not depend on what is installed where it is built
        monkeypatch.setattr(minilm, "is_installed", lambda installed=installed: installed)
        assert "`make minilm`" in own.own_sentence().data


def test_without_the_model_a_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(minilm, "is_installed", lambda: False)
    assert "run `make minilm`" in own.own_sentence().data


def test_files_that_are_not_the_published_ones_are_named_in_a_line(monkeypatch):
    monkeypatch.setitem(minilm.SHA256, "model.safetensors", "0" * 64)
    says = own.own_sentence().data
    assert "cannot be used: model.safetensors must have the SHA-256 0000" in says
    assert "\n" not in says


def test_with_it_a_typed_sentence_is_drawn_and_a_bad_one_answered():
    box = own.sentence_box(model("float32"), "The dog slept")
    field, place = box.children
    *controls, image, says = place.children[0].children
    rows = [each.options for control in controls for each in control.children if hasattr(each, "options")]
    assert list(rows[0]) == [(str(layer), layer) for layer in range(1, 7)]
    assert bytes(image.value).startswith(b"\x89PNG")
    assert "“The dog slept”, layer 1: " in says.value
    for text, message in (
        ("", "text must hold at least one word"),
        ("汪", "in words that an English vocabulary can spell, got 汪"),
        ("word " * 40, "at most 32 tokens to be drawn here, got 42"),
        ("\ud800 abc", "text must be Unicode, got the lone surrogate U+D800"),
        ("Hi", "at least two words to be drawn here, got &#x27;Hi&#x27;"),
    ):
        field.value = text
        assert message in place.children[0].value
    field.value = "The king saw the dog"
    assert "“The king saw the dog”" in place.children[0].children[-1].value
