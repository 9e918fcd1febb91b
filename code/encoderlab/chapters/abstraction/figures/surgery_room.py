"""Figures of chapter 5: the surgery room."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.abstraction.data import measured
from encoderlab.chapters.abstraction.surgery import BY_LOT, FORMS, PARTS
from encoderlab.explorer.moving import MovingScale
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, GREEN, GREY, PURPLE, RC, VERMILLION, panels

RANGES = {"distance to rank one": (0, 1), "likeness to the intact": (-1, 1)}
RANGES |= {"likeness of sentences": (0, 1), "margin": (0, 10)}
COLOURS = dict(zip(FORMS, (BLUE, VERMILLION, GREEN, GREY, PURPLE, BLUE, VERMILLION), strict=True))
MARKS = dict(zip(FORMS, "os^vDPX", strict=True))
LINES = {form: "--" if form in BY_LOT else "-" for form in FORMS}  # for seven forms five colours are enough


def surgery() -> tuple[Figure, Update]:
    """Draw what every removal does, in all its forms, to one measure; and to one part, layer by layer.

    Returns
    -------
    figure : Figure
    update : callable
        Of `part`, a key of `PARTS`, and `measure`, one of `SURGERY_MEASURES`.
    """
    names = list(PARTS)
    with mpl.rc_context(RC):
        figure, (overview, course) = panels(2, height=5.0)
        overview.set(title="After six layers, without …", ylim=(len(names) - 0.4, -0.6))
        overview.set_yticks(range(len(names)), names)
        across = MovingScale(overview, "x")
        (band,) = overview.plot([], [], color=GREY, alpha=0.2, lw=16, solid_capstyle="butt", animated=True)
        (intact,) = overview.plot([], [], color="black", lw=1.2, animated=True)
        spots = [
            overview.plot([], [], MARKS[form], color=COLOURS[form], ms=7, alpha=0.8, animated=True)[0]
            for form in FORMS
        ]
        course.set(title="Layer by layer", xlabel="after layer", xlim=(-0.3, 6.3))
        course.set_xticks(range(7), ["emb.", *map(str, range(1, 7))])
        up = MovingScale(course, "y")
        (whole,) = course.plot([], [], color="black", lw=1.2, animated=True)
        lines = [
            course.plot([], [], MARKS[form] + LINES[form], color=COLOURS[form], ms=5, lw=1.4, animated=True)[
                0
            ]
            for form in FORMS
        ]
        course.legend(
            [whole, *lines],
            ["intact", *FORMS],
            loc="upper center",
            bbox_to_anchor=(0.5, -0.17),
            ncols=2,
            fontsize=11,
        )

    def update(part: str, measure: str) -> str:
        row = names.index(part)
        values = measured("surgery", measure, "estimate")  # (14, 5, 7)
        before = measured("intact", measure, "estimate")  # (7,)
        for scale in (across, up):
            scale.set(*RANGES[measure])
        band.set_data([-0.03, 1.03], [row, row])
        intact.set_data(np.repeat(across(before[-1]), 2), [-0.6, len(names) - 0.4])
        whole.set_data(range(7), up(before))
        for k, (spot, line) in enumerate(zip(spots, lines, strict=True)):
            spot.set_data(across(values[:, k, -1]), np.arange(len(names)) + 0.11 * (k - 3))
            line.set_data(range(7), up(values[row, k]))
        told = ", ".join(f"{_text(v)} ({form})" for form, v in zip(FORMS, values[row, :, -1], strict=True))
        return f"Without {part}, {measure} after six layers: {told}; intact {_text(before[-1])}."

    return figure, update


def _text(value: float) -> str:
    return "0 to rounding" if abs(value) < 1e-6 else f"{value:.2g}".replace("-", "−")
