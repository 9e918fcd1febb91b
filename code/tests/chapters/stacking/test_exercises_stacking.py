"""The checks of chapter 3's exercises accept what is right and say what is wrong."""

import numpy as np

from encoderlab.chapters.stacking.exercises import check_bias, check_gain, check_rank, check_three_hops
from encoderlab.chapters.stacking.lookup import ANSWER, HOP, QUERY, VALUE, look_up


def test_rank():
    assert check_rank(13) == "Right."
    assert "not all 16 patterns are independent" in check_rank(16)
    assert check_rank(9) == "Not yet: 9 is not the rank measured."
    assert check_rank(...) == "Not yet: Ellipsis is not the rank measured."


def test_bias():
    def folded(first, second):
        return (
            (first.b_V @ first.W_O + first.b_O) @ second.W_V @ second.W_O
            + second.b_V @ second.W_O
            + second.b_O
        )

    assert check_bias(folded) == "Right."
    assert check_bias(lambda first, second: first.b_O).startswith("Not yet: off by up to")
    assert check_bias(lambda first, second: None) == "Not yet: expected an array of shape (6,), got NoneType."


def test_three_hops():
    first = [look_up(32, QUERY, HOP), look_up(32, VALUE, HOP)]
    assert check_three_hops([first, [look_up(32, HOP, ANSWER, copies=HOP)]]) == "Right."
    two = check_three_hops([[look_up(32, QUERY, HOP)], [look_up(32, HOP, ANSWER)]])
    assert two == "Not yet: 0% of the answers are right."
    assert check_three_hops([[], []]).startswith("Not yet:")


def test_three_hops_are_asked_of_two_layers_of_heads():
    one_by_one = [[look_up(32, QUERY, HOP)], [look_up(32, HOP, VALUE)], [look_up(32, VALUE, ANSWER)]]
    for other in (one_by_one, lambda x: x, ..., None, [look_up(32, QUERY, HOP)] * 2, [[lambda x: x], []]):
        assert check_three_hops(other).startswith("Not yet: expected [[heads of layer 1]")


def test_gain():
    q = 9 / 4
    assert check_gain((np.exp(q) + 7) / (np.exp(q) - 1)) == "Right."
    assert check_gain(1.0).startswith("Not yet: after one layer the spread is 1.5")
