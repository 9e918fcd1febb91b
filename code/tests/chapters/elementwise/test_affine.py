"""Stacks of affine maps and what they collapse to."""

import numpy as np
import pytest

from encoderlab.chapters.elementwise.affine import Affine, collapse, random_stack, stack


@pytest.mark.parametrize("widths", [[3, 5], [3, 5, 2], [4, 1, 6, 4], [8] * 129])
def test_a_stack_equals_its_collapse(widths):
    rng = np.random.default_rng(len(widths))
    layers = random_stack(rng, widths, bias=0.5)
    x = rng.normal(size=(2, 7, widths[0]))
    deep, one = stack(x, layers), stack(x, [collapse(layers)])
    assert deep.shape == (2, 7, widths[-1])
    assert np.linalg.norm(deep - one) <= 1e-13 * np.linalg.norm(deep)


def test_collapse_keeps_the_product_of_the_matrices_and_the_image_of_zero():
    layers = random_stack(np.random.default_rng(0), [3, 4, 5], bias=1.0)
    W, b = collapse(layers)
    np.testing.assert_allclose(W, layers[0].W @ layers[1].W, rtol=1e-13)
    np.testing.assert_allclose(b, stack(np.zeros(3), layers), rtol=1e-13)


def test_orthogonal_maps_keep_lengths():
    layers = random_stack(np.random.default_rng(1), [6] * 20, orthogonal=True)
    assert np.linalg.cond(collapse(layers).W) == pytest.approx(1, abs=1e-12)


def test_gaussian_maps_at_gain_one_keep_the_mean_square_on_average():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(50, 200))
    assert np.mean(stack(x, random_stack(rng, [200, 200, 200])) ** 2) == pytest.approx(1, abs=0.1)


def test_misuse_is_named():
    one, other = Affine(np.ones((2, 3)), np.zeros(3)), Affine(np.ones((2, 2)), np.zeros(2))
    with pytest.raises(
        ValueError, match=r"layers\[1\]\.W must have 3 rows, as many as come in, got \(2, 2\)"
    ):
        collapse([one, other])
    with pytest.raises(ValueError, match="at least one affine map"):
        collapse([])
    with pytest.raises(ValueError, match="widths must all be equal"):
        random_stack(np.random.default_rng(0), [2, 3], orthogonal=True)
