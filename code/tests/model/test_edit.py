"""Reaching into a layer: each edit against the formula written out, and what is not there."""

import numpy as np
import pytest
from conftest import SMALL, lively

from encoderlab.model.attention import multi_head_attention
from encoderlab.model.edit import Edit, LayerEdit, replaced_by, scaled, unchanged, zero
from encoderlab.model.encoder import EncoderConfig
from encoderlab.model.feed_forward import feed_forward
from encoderlab.model.layer_norm import layer_norm


@pytest.fixture
def encoder():
    """Return one post-LN layer, all of whose parts are on."""
    return lively(EncoderConfig(**SMALL)).switch(depth=1)


def parts(encoder, x):
    """Return the two sub-layers' functions and norms."""
    (w, *_) = encoder.weights.layers
    return (
        lambda v: multi_head_attention(v, w.attention, 2)[0],
        lambda v: layer_norm(v, w.attention_norm),
        lambda v: feed_forward(v, w.ffn)[0],
        lambda v: layer_norm(v, w.ffn_norm),
    )


def test_each_edit_equals_the_formula_without_the_part(rng, encoder):
    x, other = rng.normal(size=(5, 6)), rng.normal(size=6)
    A, LN_A, F, LN_F = parts(encoder, x)
    between = LN_A(x + A(x))
    expected = {
        LayerEdit(): LN_F(between + F(between)),
        LayerEdit(ffn=Edit(branch=zero)): LN_F(between),
        LayerEdit(ffn=Edit(branch=scaled(0.5))): LN_F(between + F(between) / 2),
        LayerEdit(ffn=Edit(branch=replaced_by(other))): LN_F(between + other),
        LayerEdit(ffn=Edit(skip=zero)): LN_F(F(between)),
        LayerEdit(ffn=Edit(norm=unchanged)): between + F(between),
        LayerEdit(ffn=Edit(branch=zero, norm=unchanged)): between,
        LayerEdit(attention=Edit(branch=zero)): LN_F(LN_A(x) + F(LN_A(x))),
        LayerEdit(attention=Edit(skip=zero)): LN_F(LN_A(A(x)) + F(LN_A(A(x)))),
        LayerEdit(change=zero): x,
        LayerEdit(change=scaled(2)): 2 * LN_F(between + F(between)) - x,
    }
    for edit, output in expected.items():
        np.testing.assert_allclose(encoder(x, edits={0: edit}), output, atol=1e-12)
        np.testing.assert_array_equal(encoder.trace(x, edits={0: edit}).output, encoder(x, edits={0: edit}))


def test_an_edit_touches_its_own_layer_alone(rng):
    encoder, x = lively(EncoderConfig(**SMALL)), rng.normal(size=(5, 6))
    base, edited = encoder.trace(x), encoder.trace(x, edits={1: LayerEdit(change=zero)})
    assert np.array_equal(edited.hidden[1], base.hidden[1])
    assert np.array_equal(edited.hidden[2], base.hidden[1])
    assert edited.edited
    assert not base.edited


def test_a_parallel_block_loses_one_branch_at_a_time(rng, encoder):
    parallel, x = encoder.switch(parallel=True, norm="none"), rng.normal(size=(5, 6))
    A, _, F, _ = parts(encoder, x)
    np.testing.assert_allclose(parallel(x, edits={0: LayerEdit(ffn=Edit(branch=zero))}), x + A(x), atol=1e-12)
    np.testing.assert_allclose(
        parallel(x, edits={0: LayerEdit(attention=Edit(branch=zero))}), x + F(x), atol=1e-12
    )
    trace = parallel.trace(x).layers[0]
    np.testing.assert_allclose(trace.attention.y, A(x), atol=1e-12)
    np.testing.assert_allclose(trace.ffn.y, F(x), atol=1e-12)


@pytest.mark.parametrize(
    ("switches", "edit", "what"),
    [
        ({"ffn": False}, LayerEdit(ffn=Edit(branch=zero)), "ffn.branch of layer 0"),
        ({"residual": False}, LayerEdit(attention=Edit(skip=zero)), "attention.skip of layer 0"),
        ({"norm": "pre"}, LayerEdit(attention=Edit(norm=zero)), "attention.norm of layer 0"),
        ({"parallel": True}, LayerEdit(ffn=Edit(skip=zero)), "ffn.skip of layer 0"),
    ],
)
def test_an_edit_of_what_is_not_there_is_refused(encoder, switches, edit, what):
    with pytest.raises(ValueError, match=f"edits must name parts that the config has, got {what}"):
        encoder.switch(**switches)(np.ones((5, 6)), edits={0: edit})
    with pytest.raises(ValueError, match="edits must name layers 0 to 0, got 1"):
        encoder(np.ones((5, 6)), edits={1: edit})
