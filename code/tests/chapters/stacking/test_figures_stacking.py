"""The sentences under the figures of chapter 3 say what was computed, and the pictures move with them."""

import numpy as np
import pytest

from encoderlab.chapters.stacking.figures import collapse, one_for_two


def moving(figure):
    return [artist for artist in figure.findobj() if artist.get_animated()]


def test_the_impersonator_tells_its_conditions():
    figure, update = one_for_two.impersonator()
    told = update(n=8, d=16, d_qk=7, seen="its own")
    assert "d_qk 7 (enough)" in told
    own = [image.get_array().copy() for image in moving(figure)[:2]]
    np.testing.assert_allclose(*own, atol=1e-10)
    told_new = update(n=8, d=16, d_qk=7, seen="a new")
    new = [image.get_array() for image in moving(figure)[:2]]
    assert np.abs(new[0] - new[1]).max() > 0.1
    assert told.split("The output")[1] == told_new.split("The output")[1]
    assert "d_qk 4 (7 needed)" in update(n=8, d=16, d_qk=4, seen="its own")
    assert "only 4 tokens can be independent, 4 needed" in update(n=8, d=4, d_qk=2, seen="its own")


def test_the_third_token_moves_one_line_only():
    figure, update = one_for_two.third_token()
    told = update(angle=90, scale=2.0)
    flat, curve = (line.get_ydata() for line in moving(figure)[1:3])
    assert np.ptp(flat) < 1e-12
    assert np.ptp(curve) > 0.5
    assert f"{flat[0]:.2f}" in told
    assert curve[0] == pytest.approx(curve[-1])  # once around


def test_the_laboratory_reads_off_its_curve():
    figure, update = collapse.collapse_laboratory()
    state = {"norm": "none", "mask": "none", "scale": 1}
    assert "falls below a thousandth at layer 3 and is below 10⁻⁶⁰" in update(
        ffn=False, residual=False, **state
    )
    with_skip = update(ffn=False, residual=True, **state)
    assert "stays above a thousandth" in with_skip
    curves = [a for a in moving(figure) if hasattr(a, "get_ydata")]
    assert all((curve.get_ydata() > 0.01).all() for curve in curves)


@pytest.mark.parametrize("norm", ["none", "post", "pre"])
def test_the_ruler_measures_three(norm):
    _, update = collapse.cubic_ruler()
    told = update(between="none", norm=norm, ffn=False, scale=1)
    assert float(told.rsplit(" ", 1)[1].rstrip(".")) == pytest.approx(3, abs=0.05)
    masked = update(between="causal mask", norm=norm, ffn=False, scale=1)
    assert float(masked.split("each leaves ")[1].split()[0]) == pytest.approx(0.5, abs=0.1)
