"""The checks of chapter 1's exercises accept what is right and say what is wrong."""

import numpy as np

from encoderlab.chapters.elementwise.affine import Affine
from encoderlab.chapters.elementwise.exercises import check_forget_bias, check_maximum, check_trisect
from encoderlab.chapters.elementwise.piecewise import sawtooth
from encoderlab.model.activations import relu


def trisect(depth):
    bends, read = np.array([0, -1 / 3, -2 / 3]), np.array([[3.0], [-6], [6]])
    inner = [Affine(read @ np.ones((1, 3)), bends)] * (depth - 1)
    return [Affine(np.ones((1, 3)), bends), *inner, Affine(read, np.zeros(1))]


def test_maximum():
    assert check_maximum(lambda a, b: a + relu(b - a)) == "Right."
    assert check_maximum(lambda a, b: ...) == "Not yet: maximum(-3, -3) gave Ellipsis, expected -3."
    assert check_maximum(lambda a, b: relu(a) + relu(b - a)).startswith("Not yet: maximum(-3, -3) gave ")


def test_trisect():
    assert check_trisect(trisect) == "Right."
    assert "gave nothing" in check_trisect(lambda depth: None)
    assert "has the widths [2, 1], expected [3, 1]" in check_trisect(sawtooth)

    def flat(depth):
        return [Affine(W * 0, b) for W, b in trisect(depth)]

    def shifted(depth):
        *rest, (W, b) = trisect(depth)
        return [*rest, Affine(W, b + 1)]

    assert "has 1 pieces, expected 3" in check_trisect(flat)
    assert "not between 0 and 1" in check_trisect(shifted)


def test_forget_bias():
    assert check_forget_bias(np.log(1 / (2**0.01 - 1))) == "Right."
    assert check_forget_bias(5.2).startswith("Not yet: with a bias of 5.2")
    assert check_forget_bias(...) == "Not yet: the bias is Ellipsis, expected a number."
