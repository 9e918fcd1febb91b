"""Every operation against its formula written out, and against the encoder's own switches."""

import numpy as np
import pytest
from conftest import SMALL, lively
from published import model

from encoderlab.chapters.abstraction.corpus_means import corpus_means
from encoderlab.chapters.abstraction.surgery import FORMS, PARTS, Operation, operate
from encoderlab.model.attention import multi_head_attention
from encoderlab.model.encoder import EncoderConfig
from encoderlab.model.feed_forward import feed_forward
from encoderlab.model.layer_norm import layer_norm
from encoderlab.pretrained.sentence_encoder import sentence_vector

CONFIG = EncoderConfig(**SMALL, activation="gelu")
FORM = pytest.mark.parametrize("form", FORMS)


@pytest.fixture
def encoder():
    return lively(CONFIG)


@pytest.fixture
def corpus(rng):
    return [rng.normal(size=(n, 6)) for n in (4, 5, 7)]


def written_out(encoder, x, operation, form, means):
    """Run the operation by formulas: one line for every piece and form."""
    w, eps = encoder.weights, encoder.config.eps
    for i, layer in enumerate(w.layers):
        start = x
        for name, norm in (("attention", layer.attention_norm), ("ffn", layer.ffn_norm)):
            if name == "attention":
                y = multi_head_attention(x, layer.attention, 2)[0]
            else:
                y = feed_forward(x, layer.ffn, "gelu")[0]
            m = getattr(means[i], name)
            u = x + y
            sigma = np.sqrt(u.var(axis=-1) + eps)
            kinds = [1, *[2] * (len(x) - 2), 3]
            results = {
                (None, form): layer_norm(u, norm, eps),
                ("branch", "zero"): layer_norm(x, norm, eps),
                ("branch", "mean"): layer_norm(x + m.branch[0], norm, eps),
                ("branch", "mean of its kind"): layer_norm(x + m.branch[kinds], norm, eps),
                ("branch", "mean of the sentence"): layer_norm(x + y.mean(0), norm, eps),
                ("branch", "skipped"): x,
                ("skip", "zero"): layer_norm(y, norm, eps),
                ("skip", "mean"): layer_norm(m.skip[0] + y, norm, eps),
                ("skip", "mean of its kind"): layer_norm(m.skip[kinds] + y, norm, eps),
                ("skip", "mean of the sentence"): layer_norm(x.mean(0) + y, norm, eps),
                ("skip", "skipped"): y,
                ("norm", "zero"): u * norm.gamma + norm.beta,
                ("norm", "mean"): (u - m.centre[0]) / m.scale[0] * norm.gamma + norm.beta,
                ("norm", "mean of its kind"): (u - m.centre[kinds]) / m.scale[kinds] * norm.gamma + norm.beta,
                ("norm", "mean of the sentence"): (u - u.mean()) / sigma.mean() * norm.gamma + norm.beta,
                ("norm", "skipped"): u,
            }
            x = results[getattr(operation, name), form]
        if i == operation.layer:
            norms = layer_norm(layer_norm(start, layer.attention_norm, eps), layer.ffn_norm, eps)
            change = x - start
            x = {
                "zero": norms,
                "mean": start + means[i].change[0],
                "mean of its kind": start + means[i].change[[1, *[2] * (len(x) - 2), 3]],
                "mean of the sentence": start + change.mean(0),
                "skipped": start,
            }[form]
    return x


@FORM
@pytest.mark.parametrize("part", [name for name in PARTS if name not in ("layer 4", "layer 5", "layer 6")])
def test_each_operation_equals_its_formula(encoder, corpus, part, form):
    means = corpus_means(encoder, corpus)
    for x in corpus:
        hidden = operate(encoder, x, PARTS[part], form, means)
        assert len(hidden) == 4
        np.testing.assert_allclose(hidden[-1], written_out(encoder, x, PARTS[part], form, means), atol=1e-12)


def test_the_means_are_those_of_the_intact_encoder(encoder, corpus):
    means = corpus_means(encoder, corpus)
    traces = [encoder.trace(x) for x in corpus]
    y = [trace.layers[1].ffn.y for trace in traces]
    kinds = (slice(None), slice(0, 1), slice(1, -1), slice(-1, None))
    for mean, kind in zip(means[1].ffn.branch, kinds, strict=True):
        np.testing.assert_allclose(mean, np.concatenate([rows[kind] for rows in y]).mean(axis=0), atol=1e-12)
    u = np.concatenate([trace.layers[2].attention.u for trace in traces])
    assert means[2].attention.scale[0] == pytest.approx(np.sqrt(u.var(axis=1) + CONFIG.eps).mean())
    change = np.stack([trace.hidden[2][-1] - trace.hidden[1][-1] for trace in traces])
    np.testing.assert_allclose(means[1].change[3], change.mean(axis=0), atol=1e-12)


@FORM
def test_nothing_taken_out_changes_nothing(encoder, corpus, form):
    hidden = operate(encoder, corpus[0], Operation(), form, corpus_means(encoder, corpus))
    np.testing.assert_allclose(hidden, encoder.trace(corpus[0]).hidden, atol=1e-12)


def test_the_encoders_switches_are_among_the_operations(encoder, corpus):
    means, x = corpus_means(encoder, corpus), corpus[0]
    for part, form, switches in (
        ("FFN", "skipped", {"ffn": False}),
        ("both skips", "zero", {"residual": False}),
        ("both LNs", "skipped", {"norm": "none"}),
        ("both skips", "skipped", {"residual": False, "norm": "none"}),
        ("layer 3", "skipped", {"depth": 2}),
    ):
        ours = operate(encoder, x, PARTS[part], form, means)[-1]
        np.testing.assert_allclose(ours, encoder.switch(**switches)(x), atol=1e-12, err_msg=part)


def test_zero_is_what_zero_weights_give(encoder, corpus):
    silent = {
        name: np.zeros_like(weight)
        for name, weight in encoder.parameters().items()
        if name.endswith(("ffn.W_2", "ffn.b_2"))
    }
    ours = operate(encoder, corpus[0], PARTS["FFN"], "zero", corpus_means(encoder, corpus))[-1]
    np.testing.assert_allclose(ours, encoder.with_parameters(silent)(corpus[0]), atol=1e-12)


def test_a_last_change_replaced_by_its_sentence_mean_leaves_the_mean(encoder, corpus):
    """So one number of the surgery room, a likeness of 1 for layer 6, is an identity and no finding."""
    x, means = corpus[0], corpus_means(encoder, corpus)
    ours = operate(encoder, x, PARTS["layer 3"], "mean of the sentence", means)[-1]
    np.testing.assert_allclose(sentence_vector(ours), sentence_vector(encoder(x)), atol=1e-12)


def test_what_cannot_be_operated_on_is_refused(encoder, corpus):
    means = corpus_means(encoder, corpus)
    with pytest.raises(ValueError, match="encoder must be post-LN with every part switched on"):
        operate(encoder.switch(norm="pre"), corpus[0], PARTS["FFN"], "zero", means)
    with pytest.raises(ValueError, match=r"form must be one of zero, mean, .*, got 'gone'"):
        operate(encoder, corpus[0], PARTS["FFN"], "gone", means)


def test_it_works_on_the_published_model():
    x = model().embed("The cat sat on the mat")
    means = corpus_means(model().encoder, [x])
    hidden = operate(model().encoder, x, PARTS["skip round attention"], "zero", means)
    assert len(hidden) == 7
    assert np.isfinite(hidden[-1]).all()
