"""What shows without a script and in print: the plane after training, drawn beforehand."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from contourpy import LineType, contour_generator

from encoderlab.chapters.playground.measured import measured
from encoderlab.chapters.playground.moons import moons, tokens, trained
from encoderlab.model.arrays import FloatArray
from encoderlab.model.encoder import EncoderConfig
from encoderlab.training.loss import IntArray

SIDE = 320  # units of a drawn plane
RES = 72  # points of the plane along each side
STEPS = 200  # of training, before a plane is drawn
SHADES = ((0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.01))  # of a class's probability, fainter first


@lru_cache
def drawn() -> str:
    """Return what shows without a script and in print: Moons after training, without and with the FFN."""
    line = measured()["line"]["moons"]
    panels, said = [], []
    for ffn, name in ((False, "Attention alone"), (True, "With an FFN")):
        config = EncoderConfig(d_model=16, n_heads=2, d_ff=32, depth=1, ffn=ffn, norm="none")
        model, _ = trained(config, seed=0, steps=STEPS)
        points, labels = moons()
        share = model.accuracy(tokens(points), labels)
        side = np.linspace(-1, 1, RES)
        x, y = np.meshgrid(side, side)
        logits = model(tokens(np.column_stack([x.ravel(), y.ravel()])))  # (RES², 2)
        odds = (logits[:, 1] - logits[:, 0]).reshape(RES, RES)
        sentence = f"{name}: {100 * share:.0f} % of the 200 points are on their side"
        panels.append(f"<div><b>{name}</b>{_plane(odds, points, labels, sentence)}</div>")
        said.append(sentence)
    return (
        f"{''.join(panels)}<p>One layer, trained for {STEPS} steps on two interlocking half circles. "
        f"{said[0]}, and the best straight line reaches {100 * line:.0f} %. {said[1]}.</p>"
    )


def _plane(odds: FloatArray, points: FloatArray, labels: IntArray, sentence: str) -> str:
    """Draw the plane in the figure's own colours: shades of each class, the boundary, the points."""
    half = SIDE / 2
    side = np.linspace(0, SIDE, len(odds))
    chance = 1 / (1 + np.exp(-odds))
    shapes = [f'<rect width="{SIDE}" height="{SIDE}" fill="var(--pg-ground)"/>']
    for colour, of_class in (("one", chance), ("zero", 1 - chance)):
        contours = contour_generator(side, side[::-1], of_class)
        for shade, (low, high) in enumerate(SHADES, start=1):
            path = "".join(_path(polygon) + "Z" for polygon in _rings(contours.filled(low, high)))
            fill = f'fill="var(--pg-{colour})" fill-rule="evenodd" opacity="{0.14 * shade:.2f}"'
            shapes.append(f'<path d="{path}" {fill}/>')
    lines: Any = contour_generator(side, side[::-1], odds, line_type=LineType.Separate).lines(0.0)
    boundary = "".join(map(_path, lines))
    shapes.append(f'<path d="{boundary}" fill="none" stroke="var(--pg-ink)" stroke-width="2"/>')
    for (x, y), label in zip(points, labels, strict=True):
        shapes.append(
            f'<circle cx="{half * (1 + x):.1f}" cy="{half * (1 - y):.1f}" r="3" '
            f'fill="var(--pg-{"one" if label else "zero"})" stroke="var(--pg-paper)"/>'
        )
    return f'<svg viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="{sentence}">{"".join(shapes)}</svg>'


def _rings(filled: Any) -> list[FloatArray]:
    """Cut contourpy's polygons, each with its holes, into rings."""
    return [
        polygon[start:end]
        for polygon, offsets in zip(*filled, strict=True)
        for start, end in pairwise(offsets)
    ]


def _path(line: FloatArray) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in line)
