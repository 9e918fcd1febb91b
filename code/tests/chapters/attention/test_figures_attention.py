"""What chapter 2 says of its explorers, and what their sentences say, is what the mathematics gives."""

import itertools
import re

import numpy as np
import pytest

from encoderlab.chapters.attention import xor as xor_tasks
from encoderlab.chapters.attention.figures import parity_runs, root_d, sums_and_hulls, swapped_tokens, xor_map


def number(pattern, text):
    return float(re.search(pattern, text)[1].replace("−", "-"))


@pytest.fixture(scope="module")
def linear():
    return sums_and_hulls.linear()[1]


def miss(linear, test, scale):
    return number(r"by ([\d.]+)% of its size", linear(test, "live", scale))


def share(linear, scale):
    return number(r"typically (\d+)% of the derivative", linear("f(X+Y)", "live", scale))


def test_three_regimes_of_linear(linear):
    assert max(miss(linear, test, "0.01") for test in sums_and_hulls.TESTS) < 10
    assert min(miss(linear, test, "1") for test in sums_and_hulls.TESTS) > 50
    assert share(linear, "1") >= 40
    assert miss(linear, "f(2X)", "1000") == 0
    assert 80 < miss(linear, "f(X+Y)", "1000") < 120  # about its own size
    shares = [share(linear, scale) for scale in ("0.01", "10", "1000")]
    assert shares[1] > max(shares[0], shares[2])
    assert shares[2] == 0


def test_a_frozen_pattern_is_linear_at_every_scale(linear):
    for test, scale in itertools.product(sums_and_hulls.TESTS, sums_and_hulls.SCALES):
        says = linear(test, "frozen", scale)
        assert "to the last digit" in says or re.search(r"up to a relative [\d.]+ × 10⁻¹⁶", says)


def test_one_head_never_leaves_its_hull_and_two_may_but_not_the_rectangle():
    update = sums_and_hulls.hulls()[1]
    one, two = (
        [update(heads, depth, s) for depth in range(1, 7) for s in sums_and_hulls.SHARPNESS]
        for heads in ("1", "2")
    )
    assert not any("outside" in says for says in one)
    outside = [says for says in two if "outside" in says]
    assert len(outside) > 5
    assert all("none outside the rectangle" in says for says in outside)
    assert "down to rounding error" in update("1", 1, "0")


def test_which_tokens_notice():
    update = swapped_tokens.order()[1]
    for depth, swap in itertools.product(range(1, 5), swapped_tokens.SWAPS):
        assert "no token notices" in update("none", False, depth, swap)
    assert "that notice are 1, 2; the last token changes by rounding" in update("causal", False, 1, "1 and 2")
    assert "that notice are 3, 4, 5; the last token changes by rounding" in update(
        "causal", False, 1, "3 and 5"
    )
    for depth in (2, 3, 4):
        assert "every token notices" in update("causal", False, depth, "1 and 2")
        assert "that notice are 3, 4, 5, 6" in update("causal", False, depth, "3 and 5")


def test_the_root_keeps_rows_alike():
    update = root_d.root_d()[1]

    def keys(d_head, divisor):
        return number(r"attends to ([\d.]+) of", update(d_head, divisor))

    assert keys(64, "1") < 2
    assert keys(1024, "1") == 1
    assert all(10.5 < keys(d_head, "√d_head") < 11.5 for d_head in (16, 32, 64, 128, 256, 512, 1024))
    assert keys(1024, "d_head") > 15.9


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_makes_xor_possible(depth):
    update = xor_map.xor_map()[1]
    for constant, biases, norm, ffn in itertools.product((False, True), repeat=4):
        says = update(constant, biases, norm, ffn, depth)
        possible = constant or ffn or (norm and biases)
        assert ("right at 4 of 4" in says) == possible
        assert ("is 0 everywhere" in says) != possible
        assert ("is odd" in says) == (not possible and norm)


def test_the_folds():
    update = xor_map.norm_folds()[1]
    for constant in xor_map.CONSTANTS:
        first = re.search(r"go to ([\d.]+), ([\d.]+) and ([\d.]+)\.$", update("first", constant))
        assert np.all(np.diff([float(value) for value in first.groups()]) < 0)
        assert "at −1.00 and −1.00; 2 goes to 1.00." in update("second", constant)


def test_parity_runs_say_what_the_theorems_say():
    update = parity_runs.parity_runs()[1]

    def right(*settings):
        says = update(*settings)
        rows = re.findall(r"layers?: ([\d, ]+)[;.]", says)
        return np.array([row.split(", ") for row in rows], int), int(number(r"map has (\d+)", says))

    for bits in ("2", "4"):
        bare, affine = right(bits, False, False, "none")
        assert bare.max() <= affine < 2 ** int(bits)
        for constant, ffn in ((True, False), (False, True)):
            assert (right(bits, constant, ffn, "none")[0] == 2 ** int(bits)).all()
    assert right("4", False, False, "post")[0][0].max() < 16  # one post-LN layer: the proof in the chapter
    assert (right("4", False, False, "pre")[0][1:] == 16).all()


def test_no_affine_map_has_less_cross_entropy_on_parity_than_saying_nothing():
    corners, odd = xor_tasks.corners(4), xor_tasks.parity_of(xor_tasks.corners(4))
    gradient = np.column_stack([corners, np.ones(16)]).T @ (0.5 - (odd > 0))
    assert np.abs(gradient).max() == 0  # at the map that says one half; cross-entropy is convex
