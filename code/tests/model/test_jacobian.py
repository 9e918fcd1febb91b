"""Jacobians from vector-Jacobian products: against finite differences, and the identities of claim 46."""

import numpy as np
import pytest
from conftest import lively, numerical_gradient
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from encoderlab.model.attention import causal_mask, multi_head_attention, multi_head_attention_vjp
from encoderlab.model.encoder import EncoderConfig
from encoderlab.model.feed_forward import feed_forward, feed_forward_vjp
from encoderlab.model.jacobian import encoder_jacobian, jacobian, layer_norm_jacobian
from encoderlab.model.layer_norm import LayerNormWeights, layer_norm, layer_norm_vjp
from encoderlab.model.sublayer import sublayer, sublayer_vjp

TINY = {"d_model": 4, "n_heads": 2, "d_ff": 6, "depth": 1}


def plain(d):
    return LayerNormWeights(np.ones(d), np.zeros(d))


def by_differences(f, x):
    """Return the Jacobian of f at x by central differences, one output at a time."""
    size = f(x).size
    return np.stack([numerical_gradient(lambda v, i=i: f(v).ravel()[i], x).ravel() for i in range(size)])


def test_jacobian_of_a_map_between_different_shapes(rng):
    A, x = rng.normal(size=(6, 2)), rng.normal(size=(1, 2))
    J = jacobian(lambda g: (1 - np.tanh(A @ x[0]) ** 2).ravel() * g.ravel() @ A, (2, 3))
    np.testing.assert_allclose(J, by_differences(lambda v: np.tanh(A @ v[0]).reshape(2, 3), x), atol=1e-8)


@pytest.mark.parametrize("masked", [False, True])
def test_encoder_jacobian_equals_finite_differences(rng, masked):
    encoder, x = lively(EncoderConfig(**TINY, norm="pre")), rng.normal(size=(3, 4))
    mask = causal_mask(3) if masked else None
    J = encoder_jacobian(encoder, x, mask)
    np.testing.assert_allclose(J, by_differences(lambda v: encoder(v, mask), x), atol=1e-7)
    if masked:  # no token answers to a later one
        assert not J.reshape(3, 4, 3, 4)[0, :, 1:].any()


@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.1])
def test_layer_norm_jacobian_equals_its_vjp_and_finite_differences(rng, eps):
    x, w = rng.normal(size=(3, 5)), LayerNormWeights(rng.normal(size=5), rng.normal(size=5))
    J = layer_norm_jacobian(x, w, eps)
    np.testing.assert_allclose(
        J, jacobian(lambda g: layer_norm_vjp(g, x, w, eps)[0], x.shape), atol=1e-14 * np.abs(J).max()
    )
    np.testing.assert_allclose(J, by_differences(lambda v: layer_norm(v, w, eps), x), atol=1e-7)


@given(
    hnp.arrays(np.float64, st.tuples(st.just(1), st.integers(2, 9)), elements=st.floats(-9, 9)),
    st.sampled_from([0.0, 1e-5, 1e-2]),
)
def test_eigenvalues_of_a_block(x, eps):
    """0 along 1, eps/σ³ along the token, 1/σ elsewhere."""
    d, variance = x.shape[1], x.var()
    assume(variance > 1e-3)
    sigma = (variance + eps) ** 0.5
    found = np.linalg.eigvalsh(layer_norm_jacobian(x, plain(d), eps))
    expected = np.sort([0, eps / sigma**3, *[1 / sigma] * (d - 2)])
    np.testing.assert_allclose(found, expected, atol=1e-12 / sigma)


@pytest.mark.parametrize("d", [2, 3, 8])
def test_rank_is_d_minus_2_without_eps_and_d_minus_1_with_it(rng, d):
    x = rng.normal(size=(1, d))
    assert np.linalg.matrix_rank(layer_norm_jacobian(x, plain(d), eps=0), tol=1e-9) == d - 2
    assert np.linalg.matrix_rank(layer_norm_jacobian(x, plain(d), eps=1e-5), tol=1e-9) == d - 1


def attention(w):
    return lambda z: multi_head_attention(z, w, 2), lambda g, z, t: multi_head_attention_vjp(g, z, w, t)


def ffn(w):
    return lambda z: feed_forward(z, w), lambda g, z, t: feed_forward_vjp(g, z, w, t)


@pytest.mark.parametrize("norm", ["none", "post", "pre"])
@pytest.mark.parametrize(("part", "wrap"), [("attention", attention), ("ffn", ffn)])
def test_the_jacobian_of_a_wrapped_sublayer_is_the_product_that_claim_46_names(rng, part, wrap, norm):
    layer = lively(EncoderConfig(**TINY)).weights.layers[0]
    (f, f_vjp), w = wrap(getattr(layer, part)), LayerNormWeights(rng.normal(size=4), rng.normal(size=4))
    x, identity = rng.normal(size=(3, 4)), np.eye(12)

    def J_F(z):
        return jacobian(lambda g: f_vjp(g, z, f(z)[1])[0], z.shape)

    def J_LN(v):
        return layer_norm_jacobian(v, w)

    config = EncoderConfig(**TINY, norm=norm)
    _, trace, record = sublayer(x, f, w, config)
    whole = jacobian(
        lambda g: sublayer_vjp(g, trace, lambda g: f_vjp(g, trace.z, record), w, config)[0], x.shape
    )
    formula = {
        "none": identity + J_F(x),
        "post": J_LN(x + f(x)[0]) @ (identity + J_F(x)),
        "pre": identity + J_F(layer_norm(x, w)) @ J_LN(x),
    }[norm]
    np.testing.assert_allclose(whole, formula, atol=1e-13 * np.abs(formula).max())


def test_a_batch_is_refused(rng):
    with pytest.raises(ValueError, match=r"x must be one sequence of shape \(n, 4\), got \(2, 3, 4\)"):
        encoder_jacobian(lively(EncoderConfig(**TINY)), np.ones((2, 3, 4)))
    with pytest.raises(ValueError, match=r"x must be one sequence of shape \(n, d_model\), got \(2, 3, 4\)"):
        layer_norm_jacobian(np.ones((2, 3, 4)), plain(4))
