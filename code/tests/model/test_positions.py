"""Sinusoidal positions: rows differ, moving is rotating, odd widths work."""

import numpy as np
import pytest

from encoderlab.model.positions import sinusoidal_positions


@pytest.mark.parametrize("d_model", [1, 2, 7, 8])
def test_it_is_the_formula_of_the_paper(d_model):
    table = sinusoidal_positions(9, d_model)
    for position in range(9):
        for column in range(d_model):
            angle = position / 10_000 ** (2 * (column // 2) / d_model)
            expected = np.cos(angle) if column % 2 else np.sin(angle)
            assert table[position, column] == pytest.approx(expected, abs=1e-12)


def test_rows_differ_within_a_sentence():
    table = sinusoidal_positions(512, 16)
    gaps = np.linalg.norm(table[:, None] - table[None], axis=-1)
    assert gaps[~np.eye(512, dtype=bool)].min() > 0.1


def test_moving_by_k_is_one_rotation_wherever_it_starts():
    table = sinusoidal_positions(50, 8)
    turn = np.linalg.lstsq(table[:30], table[7:37], rcond=None)[0]
    np.testing.assert_allclose(table[13:43] @ turn, table[20:50], atol=1e-9)


@pytest.mark.parametrize(("arguments", "message"), [((-1, 4), "n must not be"), ((3, 0), "d_model must be")])
def test_impossible_sizes_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sinusoidal_positions(*arguments)
