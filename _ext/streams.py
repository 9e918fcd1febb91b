"""What one cell prints is one block, whatever moments the kernel chose to send it in.

A kernel sends what was printed whenever a fifth of a second has passed, or a print says `flush`: in the
middle of a line, if it falls there. MyST-NB ends each part with a new line; here parts are put together.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import myst_nb.core.render

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from sphinx.application import Sphinx

OVERWRITTEN = re.compile(r".*\r(?=[^\n])")  # a carriage return begins the line anew, as progress bars do


def merge_streams(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Join neighbours that went to the same stream, byte for byte.

    Parameters
    ----------
    outputs : iterable of NotebookNode
        What a cell showed, in order; left as it is.

    Returns
    -------
    list of NotebookNode
        The same for every division of the text into parts.
    """
    merged: list[NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else {"output_type": ""}
        kinds = {output["output_type"], last["output_type"]}
        if kinds == {"stream"} and output["name"] == last["name"]:
            last["text"] += output["text"]
        else:
            merged.append(copy.copy(output))
    for output in merged:
        if output["output_type"] == "stream":
            output["text"] = OVERWRITTEN.sub("", output["text"])
    return merged


def setup(app: Sphinx) -> dict[str, object]:
    """Put it in the place of what `nb_merge_streams` switches on."""
    myst_nb.core.render.coalesce_streams = merge_streams
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
