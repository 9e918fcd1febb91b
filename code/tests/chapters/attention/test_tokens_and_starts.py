"""What chapter 2 says of the number of tokens, and of how many starts learn parity by LayerNorm alone."""

import numpy as np
import pytest

from encoderlab.chapters.attention.linearity import sweep
from encoderlab.experiments.results import load

RATES = (1e-3, 3e-3, 1e-2, 3e-2)


def test_what_linearity_misses_at_unit_logits_grows_with_the_number_of_tokens():
    few, some, many = (
        [np.median(part) for part in sweep([1.0], np.random.default_rng(1), n=n, draws=8)]
        for n in (2, 12, 128)
    )
    assert np.all(np.less(few, some))
    assert np.all(np.less(some, many))


@pytest.fixture(scope="module")
def solved():
    """Return a function that counts the starts of 24 with every input right, by rate."""
    found = load("parity_starts")

    def count(bits, norm, depth, steps):
        cell = {"bits": bits, "norm": norm, "depth": depth, "steps": steps, "dtype": "float32"}
        right = [found.measure("accuracy", **cell, lr=lr) for lr in RATES]
        assert {len(starts) for starts in right} == {24}
        return [int(np.sum(starts == 1)) for starts in right]

    return count


def test_rate_and_time_both_matter_to_two_post_ln_layers(solved):
    short, long = solved(4, "post", 2, 1000), solved(4, "post", 2, 4000)
    assert short[0] == 0
    assert min(long[1:3]) >= 6
    assert sum(long) > sum(short)
    assert max(long) < 12


def test_four_post_ln_layers_learn_at_the_lower_rates_alone(solved):
    short, long = solved(4, "post", 4, 1000), solved(4, "post", 4, 4000)
    assert min(long[:2]) >= 5
    assert max(short[:2]) <= 2
    assert short[2:] == long[2:] == [0, 0]


def test_two_pre_ln_layers_learn_from_nearly_every_start(solved):
    assert min(solved(4, "pre", 2, 4000)) == 24
    assert min(solved(4, "pre", 2, 1000)) >= 22
    one = solved(4, "pre", 1, 1000), solved(4, "pre", 1, 4000)
    assert np.all(np.less(*one))
