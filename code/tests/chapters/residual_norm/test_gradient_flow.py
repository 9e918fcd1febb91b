"""Gradient norms by layer: against the encoder's own gradients, and against the products they must be."""

import numpy as np
import pytest
from conftest import lively

from encoderlab.chapters.residual_norm.gradient_flow import (
    ARCHITECTURES,
    depth_exponent,
    draw_stack,
    gradient_flow,
    skip_path,
)
from encoderlab.model.encoder import Encoder, EncoderConfig
from encoderlab.model.jacobian import encoder_jacobian, layer_norm_jacobian


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("ffn", [True, False])
def test_flow_measures_the_gradients_of_the_whole_encoder(rng, architecture, ffn):
    config = EncoderConfig(d_model=6, n_heads=2, d_ff=10, depth=4, ffn=ffn, **ARCHITECTURES[architecture])
    encoder, x, grad = lively(config), rng.normal(size=(2, 5, 6)), rng.normal(size=(2, 5, 6))
    flow = gradient_flow(encoder, x, grad)
    grad_x, grads = encoder.gradients(x, grad)
    np.testing.assert_allclose(flow.hidden[0], np.linalg.norm(grad_x), rtol=1e-12)
    assert flow.hidden.shape == (5,)
    for name, norms in flow.parameters.items():
        expected = [np.linalg.norm(grads[f"layers.{i}.{name}"]) for i in range(4)]
        np.testing.assert_allclose(norms, expected, rtol=1e-12, atol=1e-12 * flow.hidden.max(), err_msg=name)


def test_flow_in_the_middle_is_the_gradient_of_the_upper_half(rng):
    encoder, x, grad = draw_stack("pre-LN", 4, rng)
    lower = encoder.switch(depth=2, final_norm=False)
    upper = Encoder(
        encoder.switch(depth=2).config, encoder.weights._replace(layers=encoder.weights.layers[2:])
    )
    expected = np.linalg.norm(upper.gradients(lower(x), grad)[0])
    np.testing.assert_allclose(gradient_flow(encoder, x, grad).hidden[2], expected, rtol=1e-12)


def test_an_encoder_of_depth_zero_has_no_parameters_to_measure(rng):
    encoder, x, grad = draw_stack("residual", 0, rng)
    flow = gradient_flow(encoder, x, grad)
    np.testing.assert_allclose(flow.hidden, [1.0])
    assert flow.parameters == {}


@pytest.mark.parametrize("architecture", ["residual", "pre-LN"])
def test_the_skip_path_is_the_identity_without_post_norm(rng, architecture):
    encoder, x, grad = draw_stack(architecture, 5, rng)
    np.testing.assert_allclose(skip_path(encoder, x, grad), np.ones(6), rtol=1e-14)


@pytest.mark.parametrize("ffn", [True, False])
def test_the_skip_path_of_post_norm_is_a_product_of_layer_norm_jacobians(rng, ffn):
    encoder, x, grad = draw_stack("post-LN", 2, rng)
    encoder = encoder.switch(ffn=ffn)
    expected = grad.ravel()
    for weights, layer in zip(encoder.weights.layers[::-1], encoder.trace(x).layers[::-1], strict=True):
        if ffn:
            expected = layer_norm_jacobian(layer.ffn.u, weights.ffn_norm).T @ expected
        expected = layer_norm_jacobian(layer.attention.u, weights.attention_norm).T @ expected
    np.testing.assert_allclose(skip_path(encoder, x, grad)[0], np.linalg.norm(expected), rtol=1e-12)


def test_with_branches_of_zeros_the_skip_path_is_all_there_is(rng):
    encoder, x, grad = draw_stack("post-LN", 3, rng, gain=0.0)
    np.testing.assert_allclose(
        skip_path(encoder, x, grad)[0],
        np.linalg.norm(encoder_jacobian(encoder, x).T @ grad.ravel()),
        rtol=1e-12,
    )


def test_drawing_is_seeded_and_of_unit_gradient():
    first, second = (draw_stack("post-LN", 2, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first[0](first[1]), second[0](second[1]))
    assert np.linalg.norm(first[2]) == pytest.approx(1)


def test_a_power_law_is_found():
    assert depth_exponent([6, 12, 24, 48], [3 * L**-0.5 for L in (6, 12, 24, 48)]) == pytest.approx(-0.5)


def test_what_is_not_there_is_refused(rng):
    with pytest.raises(ValueError, match=r"architecture must be one of no residual, .*, got 'post'"):
        draw_stack("post", 2, rng)
    with pytest.raises(ValueError, match="encoder must have its residual switched on"):
        skip_path(*draw_stack("no residual", 2, rng))
