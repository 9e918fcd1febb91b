"""The checks of chapter 2's exercises accept what is right and say what is wrong."""

import numpy as np
import pytest

from encoderlab.chapters.attention.exercises import SUSPECTS, check_gate, check_odd, check_three_bits
from encoderlab.model.attention import AttentionWeights

READS_A, READS_B, MARK = np.eye(3)[:, :, None]
BREAKERS = {"query bias", "value bias", "FFN with ReLU, no biases"}


def test_gate():
    right = AttentionWeights(READS_A, -MARK, READS_B, np.eye(3)[:1])
    assert check_gate(lambda: right) == "Right."
    assert check_gate(lambda: ...) == "Not yet: head() gave Ellipsis, expected AttentionWeights."
    assert "expected (3, 1) three times" in check_gate(lambda: AttentionWeights(*[np.eye(3)] * 4))
    assert "gives [" in check_gate(lambda: right._replace(W_K=MARK))


def test_three_bits():
    assert check_three_bits(1) == "Right."
    assert check_three_bits(0) == "Not yet: with a first fold at 0, 4 of 8 inputs are right."
    assert check_three_bits(-1) == "Not yet: with a first fold at -1, 0 of 8 inputs are right."
    assert check_three_bits(...) == "Not yet: the centre is Ellipsis, expected a number."


def test_odd():
    assert check_odd(BREAKERS) == "Right."
    assert check_odd({*BREAKERS, "residual"}) == "Not yet: residual keeps the layer odd; to mend: 1."
    assert check_odd(set()) == "Not yet: query bias breaks it; to mend: 3."
    assert check_odd({"dropout"}) == "Not yet: 'dropout' is none of the suspects."


@pytest.mark.parametrize("suspect", SUSPECTS)
def test_every_suspect_is_decided(suspect):
    swapped = BREAKERS ^ {suspect}
    assert check_odd(swapped).startswith(f"Not yet: {suspect} ")
