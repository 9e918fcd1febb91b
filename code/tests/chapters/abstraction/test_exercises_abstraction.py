"""The checks of chapter 5's exercises accept what is right and say what is wrong."""

import numpy as np

from encoderlab.chapters.abstraction.exercises import (
    check_even_length,
    check_looking_back,
    check_reach,
    looking_back,
    role_from_small_words,
)


def test_reach():
    def reach(pattern):
        n = len(pattern)
        apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        return (pattern * apart).sum() / n / apart.mean()

    assert check_reach(reach) == "Right."
    assert check_reach(lambda pattern: 2 * reach(pattern)).startswith(
        "Not yet: reach of even attention gave 2"
    )
    assert check_reach(lambda pattern: None).startswith(
        "Not yet: reach of attention to oneself alone gave None"
    )

    assert check_reach(lambda pattern: np.array(reach(pattern))) == "Right."
    for wrong in (float("nan"), True, ..., [1.0], np.full(3, 1.0), "1"):
        assert check_reach(lambda pattern, wrong=wrong: wrong).startswith("Not yet: reach of ")


def test_looking_back():
    layer, head = np.unravel_index(looking_back().argmax(), (6, 12))
    assert check_looking_back(layer + 1, head + 1) == "Right."
    assert "another gives more" in check_looking_back(6, 1)
    assert "counted from 1" in check_looking_back(7, 1)
    assert "counted from 1" in check_looking_back(..., 1)
    assert "counted from 1" in check_looking_back(True, 3)
    assert "counted from 1" in check_looking_back(1.0, 3)


def test_even_length():
    assert check_even_length(6 * 768) == "Right."
    assert (
        check_even_length(768) == "Not yet: at 768 tokens the part that grows with n² is 0.17 of the other."
    )
    assert check_even_length(np.array(4608)) == "Right."
    assert check_even_length(float("nan")).startswith("Not yet: at nan tokens")
    for wrong in (..., True, None, "4608", 4608j, np.full(2, 4608)):
        assert "expected a number" in check_even_length(wrong)


def test_place_length_and_small_words_tell_the_role_only_together():
    """The solution of "read without having been written": in combination, and not as a sum."""
    table, total = role_from_small_words()
    assert table > 0.82
    assert total < 0.75
