"""The stored networks: where they come from, and that training makes them again."""

import numpy as np
import pytest

from encoderlab.chapters.elementwise import rings
from encoderlab.chapters.elementwise.perceptron import perceptron


def test_a_disc_and_a_ring():
    x, labels = rings.rings(np.random.default_rng(1), 2000)
    radius = np.linalg.norm(x, axis=1)
    assert radius[labels > 0].max() <= 0.45
    assert radius[labels < 0].min() >= 0.6
    assert radius[labels < 0].max() <= 0.9
    inner = np.mean(radius[labels > 0] < 0.45 / 2**0.5)  # half the area, so half the points
    assert inner == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("activation", "depth", "width", "seed"), [("relu", 1, 3, 1), ("tanh", 2, 2, 0)])
def test_training_again_gives_the_stored_network(activation, depth, width, seed):
    x, _ = rings.rings(np.random.default_rng(0))
    stored = perceptron(x, rings.load(activation, depth, width, seed), activation)[0]
    again = perceptron(x, rings.train(activation, depth, width, seed), activation)[0]
    assert np.mean(np.sign(stored) == np.sign(again)) > 0.97  # rounding may lead another machine elsewhere


def test_every_network_is_there_and_has_its_shape():
    for activation in rings.ACTIVATIONS:
        for depth in rings.DEPTHS:
            for width in rings.WIDTHS:
                for seed in rings.SEEDS:
                    layers = rings.load(activation, depth, width, seed)
                    assert [W.shape for W, _ in layers] == [
                        (2, width),
                        *[(width, width)] * (depth - 1),
                        (width, 1),
                    ]
                    assert [b.size for _, b in layers] == [width] * depth + [1]
    assert "python -m encoderlab.chapters.elementwise.rings: seeds 0 to 4, 2000 steps" in rings.provenance()


def test_what_the_chapter_says_of_them():
    straight = {
        rings.accuracy(rings.load("identity", d, w, s), "identity")
        for d in (1, 2, 3)
        for w in (2, 8)
        for s in rings.SEEDS
    }
    assert straight == {0.515}  # one line, whatever the depth
    assert all(rings.accuracy(rings.load("relu", 1, 2, s), "relu") < 0.9 for s in rings.SEEDS)
    assert all(rings.accuracy(rings.load("relu", 1, 8, s), "relu") == 1 for s in rings.SEEDS)


def test_what_is_not_stored_is_named():
    with pytest.raises(ValueError, match="got relu-9-3 and 0"):
        rings.load("relu", 9, 3, 0)
    with pytest.raises(ValueError, match="got relu-1-3 and 7"):
        rings.load("relu", 1, 3, 7)
