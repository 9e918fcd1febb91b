"""On random weights an FFN usually hastens the collapse, as chapter 3 says of its own figure."""

from itertools import product

import numpy as np

from encoderlab.chapters.stacking.figures.collapse import DEPTH, DRAWS
from encoderlab.chapters.stacking.random_stacks import biases, distances


def test_in_most_settings_of_the_figure_an_ffn_hastens_the_collapse():
    def end(ffn, residual, norm, mask, scale):
        bias = biases()["causal mask"] if mask else None
        switches = {"ffn": ffn, "residual": residual, "norm": norm}
        return np.median(distances(DEPTH, draws=DRAWS, scale=scale, bias=bias, **switches)[:, -1])

    settings = list(product((False, True), ("none", "post", "pre"), (False, True), (1, 4, 16)))
    ratio = np.array([max(end(True, *s), 1e-300) / max(end(False, *s), 1e-300) for s in settings])
    hastened, delayed = np.sum(ratio < 0.99), np.sum(ratio > 1.01)
    assert hastened > len(settings) / 2
    assert 0 < delayed < len(settings) / 4
