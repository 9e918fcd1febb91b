"""A matplotlib figure taken apart: what stands still, drawn once, and what moves, drawn for every state.

Drawing a whole figure takes a tenth of a second, its moving artists alone a few milliseconds. matplotlib's
own mark for an artist that moves is `animated=True`: it leaves those out when it draws the figure.
"""
# mypy: allow-untyped-calls
# (matplotlib's renderers carry no annotations)

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage, imsave

PAGE_DPI = 72  # one unit of the SVG is one point
KERNEL_DPI = 144  # two pixels of the PNG to one on the screen

Update = Callable[..., str]
"""What moves a figure to a state of its controls, and returns a sentence on what is seen."""


class Picture:
    """A figure whose still part is drawn once, under moving artists that are drawn for every state.

    Parameters
    ----------
    name : str
        What makes its identifiers differ from those of other pictures on a page.
    figure : Figure
        Its top-level subfigures, where it has any, are the panels of the picture; otherwise it is one panel.
        Its layout is settled here, once.
    dpi : int
        Dots per inch.
    still : bool, default False
        Whether nothing moves.

    Raises
    ------
    ValueError
        If no artist is animated, or one in a still figure; if one stands outside all panels, a moving image
        is interpolated, or a font lacks a character.
    """

    def __init__(self, name: str, figure: Figure, dpi: int, *, still: bool = False) -> None:
        self.name, self.figure = name, figure
        self.panels: list[Figure | SubFigure] = [*figure.subfigs] or [figure]
        self.moving = [_animated(panel) for panel in self.panels]
        self._refuse_what_cannot_be_drawn(still)
        figure.set_dpi(dpi)
        figure.patch.set_facecolor("white")
        with _missing_glyphs_are_errors():
            figure.draw_without_rendering()
        figure.set_layout_engine("none")
        self.still = self._draw_still()
        self._note_changes_from_here()
        self._canvas = FigureCanvasAgg(figure)
        self._background: Any = None

    def frame(self) -> list[str]:
        """Draw the moving artists of each panel as the inside of an SVG element."""
        return [self._svg(f"moving {k}", artists) for k, artists in enumerate(self.moving)]

    def png(self) -> bytes:
        """Draw the figure on white as a PNG."""
        with _missing_glyphs_are_errors():
            if self._background is None:
                self._canvas.draw()
                self._background = self._canvas.copy_from_bbox(self.figure.bbox)
                self._note_changes_from_here()
            self._canvas.restore_region(self._background)
            for artists in self.moving:
                for artist in artists:
                    artist.draw(self._canvas.get_renderer())
        out = io.BytesIO()
        imsave(out, self._canvas.buffer_rgba(), format="png", pil_kwargs={"compress_level": 1})  # swiftly
        return out.getvalue()

    def check_still(self, *, thoroughly: bool = False) -> None:
        """Make sure that nothing but the moving artists has changed.

        Parameters
        ----------
        thoroughly : bool, default False
            Look even if matplotlib has noticed no change: it misses an array that is overwritten in place.

        Raises
        ------
        ValueError
            Naming the artists that changed, as far as matplotlib knows.
        """
        if not (self.figure.stale or thoroughly):  # animated artists do not make a figure stale
            return
        if [_animated(panel) for panel in self.panels] != self.moving:
            raise ValueError(
                "added, removed or replaced an animated artist, expected it to move those there are"
            )
        touched = self._touched()
        if self._draw_still() != self.still:
            names = f" ({', '.join(map(str, touched[:3]))})" if touched else ""
            raise ValueError(f"changed a still artist{names}, expected it to move animated ones alone")
        self._note_changes_from_here()

    def _refuse_what_cannot_be_drawn(self, still: bool) -> None:
        moving = [artist for artists in self.moving for artist in artists]
        if still and moving:
            raise ValueError(
                f"figure: expected no artist marked animated=True in a still figure, got {moving[0]}"
            )
        if not (moving or still):
            raise ValueError("figure: expected an artist marked animated=True, got none: nothing could move")
        inside = [self.figure.patch, *self.figure.subfigs]
        outside = [artist for artist in self.figure.get_children() if artist not in inside]
        if self.figure.subfigs and outside:
            raise ValueError(
                f"figure: expected every artist in one of the subfigures, got {outside[0]} outside"
            )
        for image in moving:
            if isinstance(image, AxesImage) and image.get_interpolation() != "none":
                raise ValueError(
                    "figure: expected interpolation='none' in a moving image, whose cells stay sharp, "
                    f"got {image.get_interpolation()!r}"
                )

    def _draw_still(self) -> list[str]:
        self.figure.patch.set_visible(False)  # the page is the background
        still = [self._svg(f"still {k}", [panel]) for k, panel in enumerate(self.panels)]
        self.figure.patch.set_visible(True)
        return still

    def _touched(self) -> list[Artist]:
        """List the still parts of the figure and its axes that matplotlib has seen change."""
        owners = (self.figure, *self.figure.subfigs, *self.figure.axes)
        parts = [part for owner in owners for part in owner.get_children() if part not in owners]
        return [part for part in parts if any(a.stale and not a.get_animated() for a in part.findobj())]

    def _note_changes_from_here(self) -> None:
        for artist in self.figure.findobj():
            artist.stale = False

    def _svg(self, salt: str, artists: list[Artist]) -> str:
        """Draw artists in their order; the salt keeps their identifiers apart from all others on a page."""
        settings: dict[Any, Any] = {
            "svg.fonttype": "none",  # text stays text
            "svg.hashsalt": f"{self.name} {salt}",
            "image.composite_image": False,
        }
        out = io.StringIO()
        with mpl.rc_context(settings), _missing_glyphs_are_errors():
            renderer = RendererSVG(self.figure.bbox.width, self.figure.bbox.height, out, image_dpi=PAGE_DPI)
            for artist in artists:
                artist.draw(renderer)
            renderer.finalize()
        _head, body = out.getvalue().split("</defs>", 1)  # the head styles the whole page
        return _tidy(body[: body.rindex("</svg>")])


def _animated(part: Figure | SubFigure) -> list[Artist]:
    """List the animated artists of a part of a figure, the lowest first."""
    return sorted(part.findobj(lambda artist: artist.get_animated()), key=lambda artist: artist.get_zorder())


def _tidy(svg: str) -> str:
    """Fit matplotlib's SVG into a page: its font, its colours, identifiers only where one is referred to."""
    svg = re.sub(r'(<g|<image)((?: [\w:-]+="[^"]*")*?) id="[^"]*"', r"\1\2", svg)
    svg = re.sub(r'font-family: [^;"]*(; )?', "", svg)
    # Black is the ink of the page; a style sheet may give every other colour a variant for a dark page.
    svg = svg.replace("#000000", "currentColor")
    svg = re.sub(r": (#([0-9a-f]{6}))\b", r": var(--c-\2, \1)", svg)
    # A hundredth of a unit is finer than any screen.
    svg = re.sub(r' (?:d|x|y)="[^"]*"', lambda attribute: re.sub(r"(\.\d\d)\d+", r"\1", attribute[0]), svg)
    return re.sub(r"\s*\n\s*", " ", svg).replace("xlink:href", "href")


@contextmanager
def _missing_glyphs_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph .* missing")
        try:
            yield
        except UserWarning as warning:
            if not str(warning).startswith("Glyph"):
                raise
            raise ValueError(f"figure: expected characters that its font has, got {warning}") from warning
