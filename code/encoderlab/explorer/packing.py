"""What keeps a page light: images that share one palette, and everything else in gzip."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re

import numpy as np
from PIL import Image

PNG = re.compile(r"(?<=data:image/png;base64, )[^\"]*")


def pack(states: object) -> str:
    """Return an object as JSON, compressed, in characters that an HTML page can hold; the same each time."""
    text = json.dumps(states, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def share_palette(frames: list[list[str]]) -> list[list[str]]:
    """Let all images of some frames index one palette.

    A colour map has few colours. With its palette written alike in every image, gzip keeps it once, and a
    cell costs a byte where it cost three.

    Parameters
    ----------
    frames : list of list of str
        SVG whose images are PNGs in data URLs.

    Returns
    -------
    list of list of str
        The same pictures; the same text where there are no images, more than 256 colours or transparent ones.
    """
    images = {text: _pixels(text) for frame in frames for svg in frame for text in PNG.findall(svg)}
    if not images:
        return frames
    palette = np.unique(np.concatenate([image.ravel() for image in images.values()]))
    colours = palette.view(np.uint8).reshape(-1, 4)  # (number of colours, RGBA)
    if len(palette) > 256 or (colours[:, 3] < 255).any():
        return frames
    indexed = {text: _indexed(np.searchsorted(palette, image), colours) for text, image in images.items()}
    return [[PNG.sub(lambda match: indexed[match[0]], svg) for svg in frame] for frame in frames]


def _pixels(png: str) -> np.ndarray:
    """Decode a PNG to one number per pixel: (height, width), uint32."""
    image = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")
    return np.asarray(image).view("<u4")[..., 0]


def _indexed(places: np.ndarray, colours: np.ndarray) -> str:
    """Encode a PNG whose pixels are places in a palette."""
    height, width = places.shape
    image = Image.frombytes("P", (width, height), places.astype(np.uint8).tobytes())
    image.putpalette(colours[:, :3].tobytes())
    out = io.BytesIO()
    image.save(out, "png", optimize=True)
    return base64.b64encode(out.getvalue()).decode()
