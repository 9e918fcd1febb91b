"""Figures of chapter 5: one sentence in every layer, and one head at a time."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from encoderlab.chapters.abstraction.data import measured, results
from encoderlab.chapters.abstraction.likeness import mean_off_diagonal
from encoderlab.chapters.abstraction.reading import Reading, between_words, distance
from encoderlab.explorer.moving import token_matrix
from encoderlab.explorer.picture import Update
from encoderlab.explorer.style import BLUE, DIVERGING, GREY, RC, colour_key, panels
from encoderlab.model.arrays import FloatArray

VIEWS = ("attention", "between words", "cosines")


def atlas(readings: Mapping[str, Reading]) -> tuple[Figure, Update]:
    """Draw what a layer does with a sentence, as a matrix between its tokens, and the same over all layers.

    Parameters
    ----------
    readings : mapping of str to Reading
        By the name of the sentence.

    Returns
    -------
    figure : Figure
    update : callable
        Of `sentence`, a key of `readings`, `layer` from 1, and `view`, one of `VIEWS`.
    """
    longest = max(len(reading.tokens) for reading in readings.values())
    depth = len(next(iter(readings.values())).attention)
    layers = np.arange(1, depth + 1)
    with mpl.rc_context(RC):
        figure, (matrix, line_axes) = panels(2, height=4.4)
        image = matrix.imshow(np.zeros((2, 2)), vmin=-1, vmax=1, cmap=DIVERGING, extent=(0, 1, 1, 0))
        colour_key(image, matrix, "weight from row to column, or cosine")
        draw = token_matrix(matrix, longest, vmin=-1, vmax=1, cmap=DIVERGING)
        matrix.set_title("One layer")
        line_axes.set(title="All layers", xlabel="layer", xlim=(0.7, depth + 0.3), ylim=(0, 1.3))
        line_axes.set_xticks(layers)
        line_axes.grid(axis="y")
        (others,) = line_axes.plot([], [], "--", color=GREY, animated=True)
        (line,) = line_axes.plot([], [], "o-", color=BLUE, animated=True)
        (here,) = line_axes.plot([], [], "o", color="none", mec="black", mew=2, ms=12, animated=True)
        note = line_axes.text(0.98, 0.97, "", ha="right", va="top", transform=line_axes.transAxes)
        note.set_animated(True)
        line_axes.legend([line, others], ["this sentence", "the 64"], loc="lower right")

    def update(sentence: str, layer: int, view: str) -> str:
        reading = readings[sentence]
        cells, values, corpus, what = _view(reading, view)
        draw(cells[layer - 1], reading.tokens)
        line.set_data(layers, values)
        others.set_data(layers, corpus)
        here.set_data([layer], [values[layer - 1]])
        note.set_text(what)
        return f"“{sentence}”, layer {layer}: {_tell(reading, layer, view)}; {what} {values[layer - 1]:.2f}."

    return figure, update


def heads(readings: Mapping[str, Reading]) -> tuple[Figure, Update]:
    """Draw the pattern of one head, and where it stands among all heads.

    Parameters
    ----------
    readings : mapping of str to Reading

    Returns
    -------
    figure : Figure
    update : callable
        Of `sentence`, `layer` and `head`, both from 1.
    """
    longest = max(len(reading.tokens) for reading in readings.values())
    reach = measured("heads", "distance")[1:].mean(axis=0)  # (6, 12)
    with mpl.rc_context(RC):
        figure, (matrix, table) = panels(2, height=4.4)
        image = matrix.imshow(np.zeros((2, 2)), vmin=-1, vmax=1, cmap=DIVERGING, extent=(0, 1, 1, 0))
        image.set_visible(False)
        draw = token_matrix(matrix, longest, vmin=-1, vmax=1, cmap=DIVERGING)
        matrix.set_title("One head: from row to column")
        table.set(title="Reach of all 72, even attention = 1", xlabel="head", ylabel="layer")
        cells = table.imshow(reach, vmin=0, vmax=2, cmap=DIVERGING, aspect="auto")
        table.set_xticks(range(12), range(1, 13))  # type: ignore[arg-type]
        table.set_yticks(range(6), range(1, 7))  # type: ignore[arg-type]
        colour_key(cells, table, "mean distance between words")
        (frame,) = table.plot([], [], color="black", lw=2, animated=True)

    def update(sentence: str, layer: int, head: int) -> str:
        reading = readings[sentence]
        pattern = reading.attention[layer - 1, head - 1]
        draw(pattern, reading.tokens)
        box = np.array([-0.5, 0.5, 0.5, -0.5, -0.5]), np.array([-0.5, -0.5, 0.5, 0.5, -0.5])
        frame.set_data(head - 1 + box[0], layer - 1 + box[1])
        return (
            f"Layer {layer}, head {head}: its mean reach is {reach[layer - 1, head - 1]:.2f}, even attention "
            f"being 1; here {pattern[1:-1, 0].mean():.0%} of a word's attention goes to [CLS], and "
            f"between words {_strongest(pattern, reading.tokens)}."
        )

    return figure, update


def _view(reading: Reading, view: str) -> tuple[FloatArray, FloatArray, FloatArray, str]:
    """Return a view's matrices by layer, its curve, that of the 64 sentences, and what the curve is."""
    stored = results()
    mean = reading.attention.mean(axis=1)  # (depth, n, n)
    if view == "cosines":
        cosines = reading.cosines[1:]
        words = mean_off_diagonal(cosines[:, 1:-1, 1:-1])
        return cosines, words, stored["hidden"][0, 1:, 1:].mean(axis=0), "mean cosine of two words"
    if view == "attention":
        measure, values, what = "to [CLS]", mean[:, 1:-1, 0].mean(axis=-1), "from words to [CLS]"
        cells = mean
    else:
        words = between_words(reading.attention)  # (depth, h, n − 2, n − 2)
        cells = np.zeros_like(mean)
        cells[:, 1:-1, 1:-1] = words.mean(axis=1)
        measure, values, what = "distance", distance(words).mean(axis=1), "reach, even attention = 1:"
    corpus = measured("heads", measure)[1:].mean(axis=(0, 2))
    return cells, values, corpus, what


def _tell(reading: Reading, layer: int, view: str) -> str:
    if view == "cosines":
        cosines = reading.cosines[layer][1:-1, 1:-1] - np.eye(len(reading.tokens) - 2)
        i, j = np.unravel_index(cosines.argmax(), cosines.shape)
        words = reading.tokens[1:-1]
        return f"the two words most alike are “{words[i]}” and “{words[j]}”, cosine {cosines[i, j]:.2f}"
    mean = reading.attention[layer - 1].mean(axis=0)
    return f"mean over heads, between words {_strongest(mean, reading.tokens)}"


def _strongest(pattern: FloatArray, tokens: tuple[str, ...]) -> str:
    """Say which word gives most of its attention to which other word, markers left out."""
    words = between_words(pattern) * ~np.eye(len(tokens) - 2, dtype=bool)
    i, j = np.unravel_index(words.argmax(), words.shape)
    return f"the strongest link is “{tokens[i + 1]}” → “{tokens[j + 1]}”, {words[i, j]:.0%}"
