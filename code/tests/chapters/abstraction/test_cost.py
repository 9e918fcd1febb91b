"""The formula against multiplications counted while an encoder runs."""

import numpy as np
import pytest

from encoderlab.chapters.abstraction.cost import even_length, layer_cost
from encoderlab.model.encoder import Encoder, EncoderConfig


class Counted(np.ndarray):
    """An array that counts the multiplications of every matrix product it takes part in."""

    total = 0

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        """Do what NumPy would, and count if it is a product."""
        plain = [x.view(np.ndarray) if isinstance(x, Counted) else x for x in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(x.view(np.ndarray) if isinstance(x, Counted) else x for x in kwargs["out"])
        result = getattr(ufunc, method)(*plain, **kwargs)
        if ufunc is np.matmul:
            Counted.total += result.size * plain[0].shape[-1]
        return result.view(Counted) if isinstance(result, np.ndarray) else result


@pytest.mark.parametrize(("n", "d_ff"), [(3, 16), (20, 32), (7, 8)])
def test_counts_equal_the_formula(n, d_ff, rng):
    encoder = Encoder.random(EncoderConfig(d_model=8, n_heads=2, d_ff=d_ff, depth=1), rng)
    encoder = encoder.with_parameters({name: w.view(Counted) for name, w in encoder.parameters().items()})
    Counted.total = 0
    encoder(rng.normal(size=(n, 8)).view(Counted))
    assert Counted.total == sum(layer_cost(n, 8, d_ff))


def test_the_even_length_is_where_the_parts_are_equal():
    cost = layer_cost(even_length(8, 32), 8, 32)
    assert cost.pattern == cost.projections + cost.ffn
    assert even_length(8, 32) == 6 * 8
