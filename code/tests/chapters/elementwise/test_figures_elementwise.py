"""What the sentences of chapter 1's explorers say is what the mathematics gives."""

import re

import numpy as np
import pytest

from encoderlab.chapters.elementwise import figures, rings
from encoderlab.chapters.elementwise.propagation import propagate
from encoderlab.numerals import scientific


@pytest.fixture(scope="module")
def fold():
    return figures.folding()[1]


@pytest.fixture(scope="module")
def boundary():
    return figures.boundary()[1]


def test_exact_folds_double_and_one_layer_adds(fold):
    for depth in range(1, 9):
        assert fold(depth, "deep", "0").endswith(f" {2**depth} straight pieces.")
        assert fold(depth, "shallow", "0").endswith(f" {2 * depth} straight pieces.")


def test_what_the_chapter_says_of_errors(fold):
    def mean(network, error):
        return float(re.search(r"draws (\S+) on average", fold(8, network, error))[1])

    assert mean("deep", "0.01") > 256  # a very small one adds a few
    assert 4 * mean("shallow", "0.1") < mean("deep", "0.1") < 256 / 2  # most are gone, still several times
    assert mean("shallow", "0.1") > 0.9 * 16  # next to nothing is
    assert mean("deep", "1") < 2  # all but straight
    assert mean("shallow", "1") - 1 < 15 / 2  # of 15 bends


def test_boundary_counts_points_and_pieces(boundary):
    for activation, depth, width in [("identity", 3, 8), ("relu", 2, 4), ("tanh", 1, 3)]:
        says = boundary(activation, depth, width, 1)
        right = rings.accuracy(rings.load(activation, depth, width, 1), activation) * 200
        assert f"{right:.0f} of 200 points are on the right side." in says
    assert "1 linear region; the boundary has a straight piece in 1 of them" in boundary("identity", 2, 3, 0)


def test_the_bench_tells_what_was_propagated():
    update = figures.activation_bench()[1]
    runs = [propagate(np.random.default_rng(k), "sigmoid", 1.0) for k in range(5)]
    gradient = np.exp(np.mean([np.log(run.gradient[0]) for run in runs]))
    assert f"comes back with size {scientific(gradient)}, and 0% of the neurons" in update("sigmoid", "1")
    assert 0.4 < np.min([run.signal[1:] for run in runs]) < np.max([run.signal[1:] for run in runs]) < 0.6
    kept = [float(number) for number in re.findall(r"(?<=h|s) size ([\d.]+)(?=,)", update("relu", "√2"))]
    assert len(kept) == 2
    assert all(0.3 < size < 3 for size in kept)
    tanh = update("tanh", "4")
    assert re.search(r"comes back with size \d\.\d × 10³,", tanh)
    assert int(re.search(r"(\d+)% of the neurons", tanh)[1]) > 30
