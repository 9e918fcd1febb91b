"""What chapter 2 says of its explorers, and what their sentences say, is what the mathematics gives."""

import itertools
import re

import numpy as np
import pytest

from encoderlab.chapters.attention import xor as xor_tasks
from encoderlab.chapters.attention.figures import parity_runs, root_d, sums_and_hulls, swapped_tokens, xor_map
from encoderlab.experiments.boolean import RATES
from encoderlab.experiments.results import load
from encoderlab.experiments.success import success


def number(pattern, text):
    return float(re.search(pattern, text)[1].replace("−", "-"))


@pytest.fixture(scope="module")
def linear():
    return sums_and_hulls.linear()[1]


def typical(linear, scale, n=6):
    """Return how far f(X+Y) and f(2X) typically miss, and the share of the pattern, in percent."""
    says = linear("f(X+Y)", "live", scale, n)
    return [
        number(pattern, says)
        for pattern in (r"f\(X\+Y\) misses by (\d+)%", r"f\(2X\) by (\d+)%", r"and (\d+)% of the derivative")
    ]


def test_three_regimes_of_linear(linear):
    assert max(typical(linear, "0.01")[:2]) < 10
    assert min(typical(linear, "1")) >= 40
    sums, doubles, _ = typical(linear, "1000")
    assert doubles == 0
    assert 80 < sums < 120  # about its own size
    shares = [typical(linear, scale)[2] for scale in ("0.01", "10", "1000")]
    assert shares[1] > max(shares[0], shares[2])
    assert shares[2] == 0


def test_more_tokens_are_less_linear(linear):
    """At logits of size 1 all three measures grow with the tokens; six of them decide nothing for others."""
    by_tokens = np.array([typical(linear, "1", n) for n in sums_and_hulls.TOKENS])
    assert (np.diff(by_tokens, axis=0) > 0).all()
    assert by_tokens[0].max() < 60
    assert by_tokens[-1].min() > 65
    shares = [typical(linear, "1000", n)[2] for n in sums_and_hulls.TOKENS]
    assert max(shares[:2]) == 0
    assert shares[-1] > 50  # "it stays up"


def test_a_frozen_pattern_is_linear_at_every_scale(linear):
    for test, scale in itertools.product(sums_and_hulls.TESTS, sums_and_hulls.SCALES):
        says = linear(test, "frozen", scale, 6)
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


def counts(says):
    """Return, by number of steps, how many starts got all inputs right at each rate."""
    rows = re.findall(r"after (\d+) steps ((?:\d+ at [\d.]+(?:, )?)+)", says)
    return {int(steps): [int(k) for k in re.findall(r"(\d+) at", row)] for steps, row in rows}


def test_parity_runs_say_what_the_theorems_say():
    update = parity_runs.parity_runs()[1]
    for bits, depth in itertools.product(("2", "4"), parity_runs.DEPTHS):
        says = update(bits, "nothing", "none", depth)
        assert counts(says) == {1000: [0]}
        assert says.endswith("None can: proved.")
    one = update("4", "nothing", "post", 1)
    assert counts(one) == {1000: [0] * 4, 4000: [0] * 4}
    assert one.endswith("None can: proved.")
    assert "proved" not in update("4", "nothing", "post", 2)
    assert "proved" not in update("2", "nothing", "post", 1)


def test_what_to_notice_of_the_parity_runs():
    update = parity_runs.parity_runs()[1]
    soon, late = counts(update("4", "nothing", "post", 2)).values()
    assert soon[:2] == [0, 0]
    assert all(late)
    assert sum(late) >= sum(soon) + 12  # time matters
    _, deeper = counts(update("4", "nothing", "post", 4)).values()
    assert all(6 <= right <= 10 for right in deeper[:2])  # about a third
    assert deeper[2:] == [0, 0]  # and rate
    pre = np.array(list(counts(update("4", "nothing", "pre", 2)).values()))
    assert pre.min() >= 22
    for bits, norm, depth in itertools.product(("2", "4"), parity_runs.NORMS, parity_runs.DEPTHS):
        assert counts(update(bits, "FFN", norm, depth)) == {1000: [24]}
        (beside,) = counts(update(bits, "constant token", norm, depth))[1000]
        assert beside == 24 or (depth == 1 and beside >= 20)


def test_what_the_table_of_runs_is_said_to_show():
    found = load("parity_starts")

    def right(bits, norm, depth, steps):
        cell = {"bits": bits, "norm": norm, "depth": depth, "steps": steps, "dtype": "float32"}
        return np.array([success(found, **cell, lr=rate).right for rate in RATES])

    soon, late = right(2, "post", 1, 1000), right(2, "post", 1, 4000)
    assert soon[-1] == late[-1] == 24
    assert 8 <= soon[0] <= 16  # about half
    assert (late >= soon).all()
    assert late.sum() > soon.sum()
    soon, late = right(4, "post", 2, 1000), right(4, "post", 2, 4000)
    assert (late >= soon + 3).all()
    assert late.max() < 12  # fewer than half
    assert late.sum() >= 4 * soon.sum()
    soon, late = right(4, "post", 4, 1000), right(4, "post", 4, 4000)
    assert late[:2].min() >= 5
    assert soon[:2].max() <= 2
    assert late[2:].max() == soon[2:].max() == 0
    assert max(right(4, "post", 8, 1000).max(), right(4, "post", 8, 4000).max()) <= 2
    one = right(4, "pre", 1, 4000)
    assert one[1:3].min() >= 20
    assert one.max() < 24
    assert min(right(4, "pre", depth, steps).min() for depth in (2, 4) for steps in (1000, 4000)) >= 20
    assert right(2, "pre", 1, 4000).max() == 24  # "by one pre-LN layer: yes"


def test_no_affine_map_has_less_cross_entropy_on_parity_than_saying_nothing():
    corners, odd = xor_tasks.corners(4), xor_tasks.parity_of(xor_tasks.corners(4))
    gradient = np.column_stack([corners, np.ones(16)]).T @ (0.5 - (odd > 0))
    assert np.abs(gradient).max() == 0  # at the map that says one half; cross-entropy is convex
