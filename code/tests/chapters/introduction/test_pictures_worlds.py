"""The introduction's three small pictures show what other parts of the package compute."""

import numpy as np

from encoderlab.chapters.abstraction.data import measured
from encoderlab.chapters.introduction.figures import worlds
from encoderlab.experiments.results import load
from encoderlab.model.encoder import Encoder, EncoderConfig


def test_attention_alone_is_affine_and_the_ffn_is_not():
    figure, says = worlds.proved()
    with_ffn, without = (line.get_ydata() for line in figure.axes[0].lines)
    assert np.max(without) < 1e-12 < 0.2 < np.min(with_ffn)
    rng = np.random.default_rng(0)
    full = Encoder.random(EncoderConfig(16, 2, 64, 8, norm="none"), rng)
    x = rng.normal(size=(500, 1, 16))
    design = np.column_stack([x[:, 0], np.ones(500)])
    y = full.switch(depth=1)(x)[:, 0]
    residual = y - design @ np.linalg.lstsq(design, y)[0]
    np.testing.assert_allclose(with_ffn[0], np.linalg.norm(residual) / np.linalg.norm(y), rtol=1e-9)
    assert f"FFNs {min(with_ffn):.0%} to {max(with_ffn):.0%}" in says


def test_dots_are_the_runs_of_each_stack():
    figure, _ = worlds.trained()
    (axes,) = figure.axes
    rows = [label.get_text() for label in axes.get_yticklabels()]
    found = load("two_hop")
    for k, (name, settings) in enumerate({"1 layer": {"depth": 1}, "2 layers": {"depth": 2}}.items()):
        line = axes.lines[{"1 layer": 0, "2 layers": 2}[name]]
        assert rows[{0: 0, 1: 2}[k]] == name
        plain = {"ffn": False, "n_heads": 1, "residual": True, "norm": "none", "n_symbols": 16}
        runs = found.select(**(plain | settings))
        assert set(line.get_xdata()) <= {run.measures["accuracy"] for run in runs}


def test_margins_are_those_of_the_surgery_room():
    figure, _ = worlds.published()
    (axes,) = figure.axes
    rows = [label.get_text() for label in axes.get_yticklabels()]
    for part in ("FFN", "attention"):
        line = axes.lines[rows.index(f"no {part}")]
        expected = [
            measured("surgery", part, f, "margin", "estimate")[-1] for f in ("zero", "mean of its kind")
        ]
        np.testing.assert_allclose(line.get_xdata(), expected)
    np.testing.assert_allclose(axes.lines[2].get_xdata(), measured("intact", "margin", "estimate")[-1])
