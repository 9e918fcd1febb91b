"""Hand-derived gradients: against finite differences, and against automatic differentiation."""

from dataclasses import replace

import autograd
import autograd.numpy as anp
import numpy as np
import pytest
from conftest import SMALL, SWITCHES, VARIANTS, lively, numerical_gradient, written_out

from encoderlab.model.activations import ACTIVATIONS
from encoderlab.model.attention import causal_mask, padding_mask, softmax, softmax_vjp
from encoderlab.model.edit import LayerEdit, zero
from encoderlab.model.encoder import Encoder, EncoderConfig

TINY = {"d_model": 4, "n_heads": 2, "d_ff": 5, "depth": 2}
MASKS = {
    "none": None,
    "causal": causal_mask(3),
    "padding": padding_mask([2], 3)[0],
    "fully masked row": np.array([[False, False, False], [True, False, True], [True, True, True]]),
}


def differences(encoder, x, g, mask):
    """Yield name, our gradient and the numerical one of Σ output·g, for the input and every parameter."""
    grad_x, grads = encoder.gradients(x, g, mask)
    assert grads.keys() == encoder.parameters().keys()
    yield "x", grad_x, numerical_gradient(lambda v: (encoder(v, mask) * g).sum(), x)
    for name, array in encoder.parameters().items():

        def loss(v, name=name):
            return (encoder.with_parameters({name: v})(x, mask) * g).sum()

        yield name, grads[name], numerical_gradient(loss, array)


@pytest.mark.parametrize(("ffn", "residual", "norm"), SWITCHES)
@pytest.mark.parametrize("mask", MASKS)
def test_every_gradient_equals_finite_differences(rng, ffn, residual, norm, mask):
    config = EncoderConfig(**TINY, ffn=ffn, residual=residual, norm=norm, final_norm=norm == "pre")
    x, g = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    for name, ours, numerical in differences(lively(config), x, g, MASKS[mask]):
        scale = max(1.0, np.abs(numerical).max())
        np.testing.assert_allclose(ours / scale, numerical / scale, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_has_the_gradient_of_finite_differences(rng, activation):
    config = EncoderConfig(**TINY, norm="pre", activation=activation)
    x, g = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    for name, ours, numerical in differences(lively(config), x, g, None):
        np.testing.assert_allclose(ours, numerical, atol=1e-6, err_msg=name)


@pytest.mark.parametrize(("ffn", "residual", "norm"), SWITCHES)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu_tanh"])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_every_gradient_equals_automatic_differentiation(
    rng, ffn, residual, norm, masked, activation, variant
):
    """The written-out formulas, differentiated by HIPS autograd, which shares no code with ours."""
    config = EncoderConfig(
        **SMALL, ffn=ffn, residual=residual, norm=norm, activation=activation, final_norm=True, **variant
    )
    encoder, x, g = lively(config), rng.normal(size=(5, 6)), rng.normal(size=(5, 6))
    mask = causal_mask(5) if masked else None

    def loss(p, x):
        return anp.sum(written_out(config, p, x, mask, anp) * g)

    with np.errstate(over="ignore"):  # autograd divides by cosh², which may rightly be inf
        theirs, theirs_x = autograd.grad(loss, (0, 1))(encoder.parameters(), x)
    ours_x, ours = encoder.gradients(x, g, mask)
    largest = max(np.abs(array).max() for array in theirs.values())
    for name, array in ours.items():
        scale = np.abs(theirs[name]).max()
        if name.endswith("b_K"):  # exactly zero in truth (claim 11); both give rounding errors
            assert max(np.abs(array).max(), scale) < 1e-12 * max(1, largest)
        else:
            rounding = 1e-10 * scale + 1e-13 * largest  # a gradient far below the largest is all rounding
            np.testing.assert_allclose(array, theirs[name], rtol=0, atol=rounding, err_msg=name)
    np.testing.assert_allclose(ours_x, theirs_x, atol=1e-10 * np.abs(theirs_x).max())


def test_softmax_jacobian_is_diag_a_minus_a_a_transposed(rng):
    a = softmax(rng.normal(size=6))
    jacobian = np.stack([softmax_vjp(row, a) for row in np.eye(6)])
    np.testing.assert_allclose(jacobian, np.diag(a) - np.outer(a, a), atol=1e-15)


def test_batch_gradients_are_sums_over_the_batch(rng):
    encoder, x, g = (
        lively(EncoderConfig(**TINY)),
        rng.normal(size=(2, 3, 3, 4)),
        rng.normal(size=(2, 3, 3, 4)),
    )
    grad_x, grads = encoder.gradients(x, g)
    singles = {index: encoder.gradients(x[index], g[index]) for index in np.ndindex(2, 3)}
    for index, (single_x, _) in singles.items():
        np.testing.assert_allclose(grad_x[index], single_x, atol=1e-12)
    for name, array in grads.items():
        np.testing.assert_allclose(array, sum(single[name] for _, single in singles.values()), atol=1e-11)


def test_gradients_keep_float32(rng):
    encoder = lively(EncoderConfig(**TINY, norm="pre", final_norm=True))
    x, g = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    grad_x, grads = encoder.gradients(x.astype(np.float32), g.astype(np.float32))
    assert {grad_x.dtype, *(array.dtype for array in grads.values())} == {np.dtype(np.float32)}
    exact_x, exact = encoder.gradients(x, g)
    np.testing.assert_allclose(grad_x, exact_x, atol=1e-4)
    for name, array in grads.items():
        np.testing.assert_allclose(array, exact[name], atol=1e-4 * max(1, np.abs(exact[name]).max()))


@pytest.mark.parametrize(
    ("g", "message"),
    [
        (np.ones((3, 5)), r"grad_output must have shape \(3, 4\), got \(3, 5\)"),
        (np.ones((3, 4), dtype=np.float32), "grad_output must have the dtype of x, float64, got float32"),
        (np.full((3, 4), np.inf), "grad_output must be finite, got 12 inf or NaN"),
    ],
)
def test_a_gradient_that_does_not_fit_is_refused(g, message):
    with pytest.raises(ValueError, match=message):
        lively(EncoderConfig(**TINY)).gradients(np.ones((3, 4)), g)


def test_what_is_not_in_use_has_no_gradient(rng):
    """None, never a weight in its place."""
    encoder, x = lively(EncoderConfig(**TINY, ffn=False, norm="none")), rng.normal(size=(3, 4))
    back = encoder.backward_trace(encoder.trace(x), x)
    assert all(layer.ffn is layer.ffn_norm is layer.attention_norm is None for layer in back.layers)
    assert back.final_norm is None
    parallel = encoder.switch(ffn=True, norm="pre", norm_kind="rms", parallel=True)
    for layer in parallel.backward_trace(parallel.trace(x), x).layers:
        assert layer.ffn_norm is layer.attention_norm.beta is None


def test_what_arrives_at_a_layer_is_the_gradient_of_the_stack_above_it(rng):
    encoder, x, g = lively(EncoderConfig(**TINY)), rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    trace = encoder.trace(x)
    back = encoder.backward_trace(trace, g)
    above = Encoder(
        replace(encoder.config, depth=1), encoder.weights._replace(layers=encoder.weights.layers[1:])
    )
    numerical = numerical_gradient(lambda v: (above(v) * g).sum(), trace.hidden[1])
    np.testing.assert_allclose(back.hidden[1], numerical, atol=1e-7)


def test_an_edited_trace_has_no_gradient(rng):
    encoder, x = lively(EncoderConfig(**TINY)), rng.normal(size=(3, 4))
    trace = encoder.trace(x, edits={0: LayerEdit(change=zero)})
    with pytest.raises(ValueError, match="trace must come from an encoder without edits"):
        encoder.backward(trace, x)
