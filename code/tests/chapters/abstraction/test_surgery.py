"""Every operation against its formula written out, and against the encoder's own switches."""

import numpy as np
import pytest
from conftest import SMALL, lively
from published import model

from encoderlab.chapters.abstraction.corpus_means import corpus_means
from encoderlab.chapters.abstraction.surgery import BY_LOT, FORMS, PARTS, Operation, operate
from encoderlab.model.attention import multi_head_attention
from encoderlab.model.encoder import EncoderConfig
from encoderlab.model.feed_forward import feed_forward
from encoderlab.model.layer_norm import layer_norm
from encoderlab.pretrained.sentence_encoder import sentence_vector

CONFIG = EncoderConfig(**SMALL, activation="gelu")
FORM = pytest.mark.parametrize("form", FORMS)
FIXED = pytest.mark.parametrize("form", [form for form in FORMS if form not in BY_LOT])


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
                ("branch", "mean"): layer_norm(x + m.branch.means[0], norm, eps),
                ("branch", "mean of its kind"): layer_norm(x + m.branch.means[kinds], norm, eps),
                ("branch", "mean of the sentence"): layer_norm(x + y.mean(0), norm, eps),
                ("branch", "skipped"): x,
                ("skip", "zero"): layer_norm(y, norm, eps),
                ("skip", "mean"): layer_norm(m.skip.means[0] + y, norm, eps),
                ("skip", "mean of its kind"): layer_norm(m.skip.means[kinds] + y, norm, eps),
                ("skip", "mean of the sentence"): layer_norm(x.mean(0) + y, norm, eps),
                ("skip", "skipped"): y,
                ("norm", "zero"): u * norm.gamma + norm.beta,
                ("norm", "mean"): (u - m.centre.means[0]) / m.scale.means[0] * norm.gamma + norm.beta,
                ("norm", "mean of its kind"): (u - m.centre.means[kinds]) / m.scale.means[kinds] * norm.gamma
                + norm.beta,
                ("norm", "mean of the sentence"): (u - u.mean()) / sigma.mean() * norm.gamma + norm.beta,
                ("norm", "skipped"): u,
            }
            x = results[getattr(operation, name), form]
        if i == operation.layer:
            norms = layer_norm(layer_norm(start, layer.attention_norm, eps), layer.ffn_norm, eps)
            change = x - start
            x = {
                "zero": norms,
                "mean": start + means[i].change.means[0],
                "mean of its kind": start + means[i].change.means[[1, *[2] * (len(x) - 2), 3]],
                "mean of the sentence": start + change.mean(0),
                "skipped": start,
            }[form]
    return x


@FIXED
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
    for mean, kind in zip(means[1].ffn.branch.means, kinds, strict=True):
        np.testing.assert_allclose(mean, np.concatenate([rows[kind] for rows in y]).mean(axis=0), atol=1e-12)
    u = np.concatenate([trace.layers[2].attention.u for trace in traces])
    assert means[2].attention.scale.means[0] == pytest.approx(np.sqrt(u.var(axis=1) + CONFIG.eps).mean())
    change = np.stack([trace.hidden[2][-1] - trace.hidden[1][-1] for trace in traces])
    np.testing.assert_allclose(means[1].change.means[3], change.mean(axis=0), atol=1e-12)


@FORM
def test_nothing_taken_out_changes_nothing(encoder, corpus, form):
    rng = np.random.default_rng(0)
    hidden = operate(encoder, corpus[0], Operation(), form, corpus_means(encoder, corpus), rng)
    np.testing.assert_allclose(hidden, encoder.trace(corpus[0]).hidden, atol=1e-12)


@pytest.mark.parametrize("part", ["FFN", "skip round attention", "LN after FFN", "layer 2"])
def test_a_stranger_drawn_from_one_is_the_mean_of_its_kind(encoder, corpus, part):
    """A corpus with one token of each kind leaves the draw no choice, and its mean is that token."""
    means, x = corpus_means(encoder, [corpus[0][:3]]), corpus[1]
    drawn = operate(encoder, x, PARTS[part], "a stranger's", means, np.random.default_rng(0))
    mean = operate(encoder, x, PARTS[part], "mean of its kind", means)
    np.testing.assert_allclose(drawn, mean, atol=1e-12)


def test_a_stranger_is_one_token_of_the_corpus_and_another_for_each(encoder, corpus):
    """Without attention's branch and the skip round it left as drawn, LN(s + y) has s from the pool."""
    means, x = corpus_means(encoder, corpus), np.tile(corpus[2], (40, 1, 1))
    shallow = encoder.switch(depth=1)
    quiet = shallow.with_parameters(
        {
            name: np.zeros_like(weight)
            for name, weight in shallow.parameters().items()
            if name.endswith(("attention.W_O", "attention.b_O", "ffn.W_2", "ffn.b_2"))
        }
    )
    drawn = operate(quiet, x, PARTS["skip round attention"], "a stranger's", means, np.random.default_rng(0))
    w, eps = quiet.weights.layers[0], quiet.config.eps
    pool = layer_norm(layer_norm(means[0].attention.skip.values[1], w.attention_norm, eps), w.ffn_norm, eps)
    words = drawn[-1][:, 1:-1].reshape(-1, 6)
    nearest = np.abs(words[:, None] - pool).max(axis=-1)  # (drawn, pool)
    assert nearest.min(axis=1).max() < 1e-12
    assert set(nearest.argmin(axis=1)) == set(range(len(pool)))


def test_words_dealt_anew_are_the_same_words(encoder, corpus):
    """What stands in the place of a last change is the same changes: the mean over tokens stays."""
    means, x = corpus_means(encoder, corpus), corpus[2]
    drawn = operate(encoder, x, PARTS["layer 3"], "dealt anew", means, np.random.default_rng(1))
    intact = encoder.trace(x).hidden
    change, dealt = intact[-1] - intact[-2], drawn[-1] - intact[-2]
    order = np.lexsort(change[1:-1].T), np.lexsort(dealt[1:-1].T)
    np.testing.assert_allclose(change[1:-1][order[0]], dealt[1:-1][order[1]], atol=1e-12)
    assert not np.allclose(change, dealt)
    np.testing.assert_allclose(dealt[[0, -1]], change[[0, -1]], atol=1e-12)
    np.testing.assert_allclose(sentence_vector(drawn[-1]), sentence_vector(encoder(x)), atol=1e-12)


def test_forms_that_draw_need_a_generator(encoder, corpus):
    with pytest.raises(ValueError, match=r"rng must be a numpy.random.Generator for the form .*, got None"):
        operate(encoder, corpus[0], PARTS["FFN"], "dealt anew", corpus_means(encoder, corpus))


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
