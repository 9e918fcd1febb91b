"""The picture of the switches shows what the encoder gives, token by token and layer by layer."""

import numpy as np
import pytest
from artists import (
    axis_names,
    band,
    image,
    labels_at_their_values,
    points,
    scales,
    steer,
    ticks,
    titled,
    value_at,
)
from conftest import written_out

from encoderlab.chapters.stacking.figures.switches import switches
from encoderlab.explorer.style import DIVERGING
from encoderlab.model.encoder import Encoder, EncoderConfig

WORDS = ("the", "cat", "sat", "on")
CONFIG = EncoderConfig(d_model=8, n_heads=2, d_ff=16, depth=6)


@pytest.fixture(scope="module")
def encoder():
    return Encoder.random(CONFIG, np.random.default_rng(1))


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(2).normal(size=(4, 8))


@pytest.mark.parametrize(
    ("ffn", "residual", "norm", "depth"),
    [(True, True, "post", 3), (False, True, "none", 5), (True, False, "none", 1), (False, False, "none", 6)],
)
def test_cosines_and_distances_are_those_of_the_tokens(encoder, x, ffn, residual, norm, depth):
    figure, update = steer(switches(encoder, x, WORDS))
    update(True, True, "pre", 2)
    says = update(ffn, residual, norm, depth)

    def after(layers):
        switched = encoder.switch(ffn=ffn, residual=residual, norm=norm, depth=layers)
        return written_out(switched.config, switched.parameters(), x) if layers else x

    tokens, alike = after(depth), titled(figure, "How alike the tokens are")
    for i, row in enumerate(WORDS):
        for j, column in enumerate(WORDS):
            shown = value_at(image(alike), ticks(alike.xaxis)[column], ticks(alike.yaxis)[row])
            length = np.sqrt((tokens[i] @ tokens[i]) * (tokens[j] @ tokens[j]))
            assert shown == pytest.approx(tokens[i] @ tokens[j] / length)
    assert (image(alike).get_cmap().name, image(alike).get_clim()) == (DIVERGING, (-1, 1))

    apart = titled(figure, "Distance to all tokens equal")
    (line,) = [line for line in apart.lines if line.get_animated()]
    told = [after(k) - after(k).mean(axis=0) for k in range(depth + 1)]
    told = [np.linalg.norm(gap) / np.linalg.norm(after(k)) for k, gap in enumerate(told)]
    layers, distance = points(line).T
    assert layers.tolist() == list(range(depth + 1))
    real = np.array(told) > 1e-13
    np.testing.assert_allclose(distance[real], np.array(told)[real], rtol=1e-3)
    assert (distance[~real] < 1e-13).all()
    assert (distance > apart.get_ylim()[0]).all()  # none is lost below the axis
    pairs = [
        tokens[i] @ tokens[j] / np.linalg.norm(tokens[i]) / np.linalg.norm(tokens[j])
        for i in range(4)
        for j in range(i)
    ]
    assert says.endswith(f"mean cosine of {np.mean(pairs):.2f}.")
    assert ("equal up to rounding error" in says) == (told[-1] < 1e-15)


def test_the_axes_say_what_they_measure(encoder, x):
    figure, _ = switches(encoder, x, WORDS)
    apart = titled(figure, "Distance to all tokens equal")
    assert axis_names(apart) == ("layers passed", "‖X − mean‖ / ‖X‖")
    assert scales(apart) == ("linear", "log")
    assert labels_at_their_values(apart.yaxis)
    assert band(apart) == (apart.get_ylim()[0], 1e-15)
    assert "cosine between two tokens" in [axes.get_ylabel() for axes in figure.axes]
