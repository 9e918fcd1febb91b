"""Each chapter in a real kernel: it runs from the root and from its folder, and shows the same each time."""

from __future__ import annotations

import json
import math

import nbformat
import pytest
from jupyter_cache import get_cache
from nbconvert.preprocessors import CoalesceStreamsPreprocessor

import live_kernel
from fixtures_book import Book, notebooks, source
from live_kernel import Live

WIDGET = "application/vnd.jupyter.widget-view+json"
SHOWN_LIVE = ("\nExplorer(", "\nown_sentence(")  # the second is a text field, for which tests have the model


def outputs(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """List all that the cells show, texts and pictures, what one cell prints in one piece."""
    merged, _ = CoalesceStreamsPreprocessor().preprocess(notebook, {})
    return [output for cell in merged.cells for output in cell.get("outputs", [])]


def executed(book: Book, name: str) -> nbformat.NotebookNode:
    """Return a chapter as the build ran it; in the download its Markdown is rewritten."""
    (cache,) = (book.root / "_build" / ".jupyter_cache").iterdir()
    parsed = nbformat.read(book.root / "_build" / "jupyter_execute" / f"{name}.ipynb", as_version=4)
    return get_cache(cache).merge_match_into_notebook(parsed)[1]


def printed(notebook: nbformat.NotebookNode) -> list[str]:
    """List what the cells print."""
    return [output.text for output in outputs(notebook) if output.get("name") == "stdout"]


@pytest.mark.parametrize("name", notebooks())
def test_chapter_runs_live(book: Book, name: str) -> None:
    """No cell raises or complains; each explorer is a widget; no output differs between runs.

    The chapter runs in the root with widgets, and in its folder as the build runs it, so that the pictures of
    the built page are compared too, every state of them.
    """
    live = live_kernel.run(name)
    again = live_kernel.run(name, "chapters", world="page")
    built = executed(book, name)
    for notebook in (live.notebook, again.notebook):
        assert [output.text for output in outputs(notebook) if output.get("name") == "stderr"] == []
    widgets = [output for output in outputs(live.notebook) if WIDGET in output.get("data", {})]
    assert len(widgets) == sum(map(source(name).count, SHOWN_LIVE))
    assert printed(live.notebook) == printed(again.notebook)
    for output, before in zip(outputs(again.notebook), outputs(built), strict=True):
        assert output == before
    assert_room_for(live, name)


def assert_room_for(live: Live, name: str) -> None:
    """Hold the book to the memory that it tells teachers of."""
    if math.isnan(live.peak_memory):
        return
    told = json.loads(live_kernel.RESULT.read_text(encoding="utf-8"))["chapters"]
    most = max(chapter["peak_memory_mb"] for chapter in told.values())
    assert live.peak_memory < 1.25 * most, (
        f"{name} took {live.peak_memory:.0f} MB, {live_kernel.RESULT.name} tells of {most} MB at most: "
        "run benchmarks/live_kernel.py"
    )
