"""Numbers near the largest of their dtype: hidden ones are not read, seen ones are refused."""

import numpy as np
import pytest
from conftest import SMALL, VARIANTS, lively

from encoderlab.model.attention import causal_mask, padding_mask
from encoderlab.model.encoder import EncoderConfig

MASKS = {"padding": padding_mask([4], 5)[0], "causal": causal_mask(5)}
LARGE = {np.float32: 1e38, np.float64: 1e308}


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("norm", ["none", "post", "pre"])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("dtype", LARGE)
@pytest.mark.parametrize("mask", MASKS)
def test_what_is_hidden_is_not_read(rng, variant, norm, residual, dtype, mask):
    """The last token, huge, leaves the others and every gradient as they are with a small one there."""
    config = EncoderConfig(**SMALL, norm=norm, residual=residual, final_norm=norm == "pre", **variant)
    encoder, x = lively(config), rng.normal(size=(5, 6)).astype(dtype)
    grad = rng.normal(size=(5, 6)).astype(dtype)
    grad[4] = 0
    huge = x.copy()
    huge[4] = LARGE[dtype] * np.sign(x[4])
    np.testing.assert_allclose(encoder(huge, MASKS[mask])[:4], encoder(x, MASKS[mask])[:4], rtol=1e-5)
    grad_x, grads = encoder.gradients(x, grad, MASKS[mask])
    grad_huge, grads_huge = encoder.gradients(huge, grad, MASKS[mask])
    tight = 1e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(grad_huge, grad_x, rtol=tight, atol=tight * np.abs(grad_x).max())
    for name, expected in grads.items():
        np.testing.assert_allclose(
            grads_huge[name], expected, rtol=tight, atol=tight * max(np.abs(expected).max(), 1)
        )


@pytest.mark.parametrize(("dtype", "large"), [(np.float32, 1e38), (np.float64, 1e200)])
def test_what_is_seen_and_overflows_is_refused(rng, dtype, large):
    encoder, x = lively(EncoderConfig(**SMALL)), rng.normal(size=(5, 6)).astype(dtype)
    with pytest.raises(ValueError, match=f"x must be small enough for {np.dtype(dtype)}, .* tokens"):
        encoder(x * dtype(large))
    with pytest.raises(ValueError, match="x must be small enough"):
        encoder.gradients(x * dtype(large), x)
    encoder = encoder.switch(norm="none")
    x[1] = np.finfo(dtype).max / 2 * np.sign(x[1])
    with pytest.raises(ValueError, match="of 5 tokens"):
        encoder(x, causal_mask(5))
    assert np.isfinite(encoder.trace(x, causal_mask(5)).output[0]).all()
    assert np.isnan(encoder.trace(x, causal_mask(5)).output[1:]).any()


def test_large_numbers_under_pre_norm_are_no_trouble(rng):
    encoder, x = lively(EncoderConfig(**SMALL, norm="pre", final_norm=True)), rng.normal(size=(5, 6))
    np.testing.assert_allclose(encoder(x * 1e200), encoder(x * 1e100), rtol=1e-9)
