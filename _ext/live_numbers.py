"""What the live book was seen to take, for the page that tells teachers: {{ kernel_memory }} and its like.

The numbers are those that benchmarks/live_kernel.py wrote down.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

MEASURED = Path("benchmarks", "live_kernel.json")


def megabytes(amount: float) -> str:
    """Round an amount of memory up to what one would tell a colleague.

    Examples
    --------
    >>> megabytes(271)
    '280 MB'
    """
    return f"{10 * math.ceil(amount / 10)} MB"


def substitutions(measured: dict[str, Any]) -> dict[str, str]:
    """Say in words what was measured.

    Parameters
    ----------
    measured : dict
        The content of live_kernel.json.

    Returns
    -------
    dict of str to str
        Text for each name that a page may use between double braces.
    """
    chapters = measured["chapters"].items()
    waits = [chapter["first_figure_s"] for _, chapter in chapters if chapter["first_figure_s"] is not None]
    hungriest, most = max(chapters, key=lambda item: item[1]["peak_memory_mb"])
    rows = [
        f"| {{doc}}`/{name}` | {megabytes(chapter['peak_memory_mb'])} | {chapter['first_figure_s'] or '–'} "
        f"| {chapter['all_cells_s']} |"
        for name, chapter in chapters
    ]
    head = (
        "| Page | Memory, at most | First figure after (s) | All cells after (s) |\n| :-- | --: | --: | --: |"
    )
    return {
        "kernel_memory": megabytes(most["peak_memory_mb"]),
        "kernel_hungriest": f"{{doc}}`/{hungriest}`",
        "kernel_first_figure": f"{min(waits):.0f} to {max(waits):.0f} seconds",
        "kernel_table": "\n".join([head, *rows]),
        "kernel_machine": f"{measured['cores']} cores, Python {measured['python']}, {measured['date']}",
        "server_memory": megabytes(measured["server_memory_mb"]),
        "reader_memory": megabytes(measured["server_memory_mb"] + most["peak_memory_mb"]),
    }


def tell(app: Sphinx, config: Config) -> None:
    """Give the numbers to MyST; a book without them does not use them."""
    path = Path(app.srcdir, MEASURED)
    if path.is_file():
        config.myst_substitutions = config.myst_substitutions | substitutions(
            json.loads(path.read_text(encoding="utf-8"))
        )


def setup(app: Sphinx) -> dict[str, object]:
    """Connect to Sphinx, before MyST reads its settings."""
    app.connect("config-inited", tell, priority=1)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
