"""The checks of chapter 4's exercises: they accept what is right and say what is not."""

import re

import numpy as np
import pytest

from encoderlab.chapters.residual_norm import exercises
from encoderlab.model.feed_forward import FeedForwardWeights


def forgets(d, feature, factor=-1.0):
    W_1, W_2 = np.zeros((d, 2)), np.zeros((2, d))
    W_1[feature], W_2[:, feature] = (1, -1), (factor, -factor)
    return FeedForwardWeights(W_1, W_2)


def vjp(grad, x):
    size = np.sqrt((x * x).mean(axis=-1, keepdims=True))
    return (grad - x * (grad * x).mean(axis=-1, keepdims=True) / size**2) / size


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (exercises.check_forgets, forgets),
        (exercises.check_rms_norm_vjp, vjp),
        (exercises.check_rank, 7),
        (exercises.check_gain, (2 ** (1 / 48) - 1) ** 0.25),
    ],
)
def test_right_answers_are_accepted(check, answer):
    assert check(answer) == exercises.RIGHT


@pytest.mark.parametrize(
    ("check", "answer", "told"),
    [
        (exercises.check_forgets, lambda d, feature: None, "gave None, expected FeedForwardWeights"),
        (
            exercises.check_forgets,
            lambda d, k: forgets(d, k, -2.0),
            r"with forgets\(6, 0\), feature 0 is not",
        ),
        (exercises.check_rms_norm_vjp, lambda grad, x: None, "the gradient is None"),
        (exercises.check_rms_norm_vjp, lambda grad, x: grad, "the largest error is 1"),
        (exercises.check_rank, 6, "6 is not the rank"),
        (exercises.check_gain, ..., "the gain is Ellipsis"),
        (exercises.check_gain, 1, r"grows 2\.81e\+14-fold"),
    ],
)
def test_wrong_answers_are_told_what_is_wrong(check, answer, told):
    message = check(answer)
    assert message.startswith("Not yet: ")
    assert re.search(told, message)
