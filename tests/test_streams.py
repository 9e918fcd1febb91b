"""What a cell prints is one block, in the page and in the notebook, however the kernel divides it."""

from __future__ import annotations

import itertools

import nbformat
import pytest
from bs4 import BeautifulSoup

from fixtures_book import Book, write_notebook
from streams import merge_streams

TEXT = "Right.\n\n  indented, in two parts\nand no end"


def stream(text: str, name: str = "stdout") -> nbformat.NotebookNode:
    return nbformat.v4.new_output("stream", name=name, text=text)


@pytest.mark.parametrize("cuts", list(itertools.combinations(range(1, len(TEXT)), 2))[::7])
def test_no_division_shows(cuts: tuple[int, int]) -> None:
    first, second = cuts
    parts = [stream(TEXT[:first]), stream(TEXT[first:second]), stream(TEXT[second:])]
    assert merge_streams(parts) == [stream(TEXT)]
    assert merge_streams(parts) == [stream(TEXT)], "the parts themselves have changed"


def test_order_of_streams_and_figures_is_kept() -> None:
    figure = nbformat.v4.new_output("display_data", {"text/plain": "a figure"})
    outputs = [stream("one"), figure, stream("two"), stream("a warning", "stderr"), stream("three")]
    assert merge_streams(outputs) == outputs
    assert merge_streams([]) == []


def test_line_begun_anew_shows_its_last_state() -> None:
    assert merge_streams([stream("10 %\r"), stream("20 %\rdone\r\n")]) == [stream("done\r\n")]


def test_flush_in_a_page_leaves_no_trace(small_book: Book) -> None:
    cell = "print('Right.', flush=True)\nprint('\\none', end='', flush=True)\nprint(' line', flush=True)"
    write_notebook(small_book.root / "intro.md", "A page", cell)
    build = small_book.build()
    assert build.status == 0, build.log[-6000:]
    soup = BeautifulSoup((small_book.html / "intro.html").read_text(encoding="utf-8"), "html.parser")
    assert soup.select_one(".cell_output pre").get_text() == "Right.\n\none line\n"
    notebook = nbformat.read(small_book.html / "_sources" / "intro.ipynb", as_version=4)
    (cell,) = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [output.text for output in cell.outputs] == ["Right.\n\none line\n"]
