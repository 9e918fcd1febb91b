"""What leaves the book as a notebook reads as prose in any notebook program, and its links lead somewhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from bs4 import BeautifulSoup

from fixtures_book import REPOSITORY, Book, notebooks, source, toc_documents, write_notebook
from plain_notebooks import INSTALL

CODE = re.compile(
    r"(?ms)^(?P<fence>`{3,})[^`{\n]*\n.*?^(?P=fence)$|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
)
MARKUP = re.compile(r"(?m)\{[a-z]+(?::[a-z]+)?\}`|^ *`{3,}\{|^ *:{3,}|^\([\w-]+\)=|\{\{|^:[\w-]+:|^: |<a\s")
MATHS = re.compile(r"(?s)\$\$.*?\$\$|\$[^$]+\$")
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
GLUED = re.compile(r"\{glue:text\}`")


def texts(path: Path) -> list[str]:
    """List the Markdown of a notebook: of its cells, and of what they print."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    found = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return found + [o.data["text/markdown"] for o in outputs if "text/markdown" in o.get("data", {})]


def words(text: str) -> list[str]:
    """List the words of a text, mathematics and links aside."""
    text = re.sub(r"\]\([^)]*\)", "]", MATHS.sub(" ", text))
    return re.findall(r"[^\W_]+", text)


@pytest.fixture(params=["download", "live"])
def folder(request: pytest.FixtureRequest, book: Book) -> Path:
    """Give the folder of the notebooks behind the pages' buttons, and of those that are opened live."""
    return book.html / "_sources" if request.param == "download" else book.root / "notebooks"


@pytest.mark.parametrize("document", notebooks())
def test_no_markup_is_left(folder: Path, document: str) -> None:
    for text in texts(folder / f"{document}.ipynb"):
        prose = MATHS.sub("x", CODE.sub("", text))
        assert MARKUP.findall(prose) == [], prose


@pytest.mark.parametrize("document", toc_documents())
def test_links_of_live_notebooks_lead_to_files(book: Book, document: str) -> None:
    """Pages without cells, such as the glossary, are among them."""
    path = book.root / "notebooks" / f"{document}.ipynb"
    for text in texts(path):
        headings = {title.replace(" ", "-") for title in re.findall(r"(?m)^#+ (.+)$", "\n".join(texts(path)))}
        for target in LINK.findall(CODE.sub("", text)):
            if target.startswith("#"):
                assert target[1:] in headings, target
            elif not target.startswith(("http://", "https://")):
                assert (path.parent / unquote(target)).is_file(), target


@pytest.mark.parametrize("document", notebooks())
def test_downloaded_notebook_has_no_link_that_needs_a_neighbour(book: Book, document: str) -> None:
    """It may lie on any disk. This book does not know where it is published, so links became words."""
    path = book.html / "_sources" / f"{document}.ipynb"
    for text in texts(path):
        for target in LINK.findall(CODE.sub("", text)):
            assert target.startswith(("#", "http://", "https://")), target


@pytest.mark.parametrize("document", [name for name in notebooks() if GLUED.search(source(name))])
def test_numbers_are_those_of_the_page(book: Book, document: str) -> None:
    """Each paragraph of the page with a number from a cell reads the same in the notebook, word by word."""
    page = (book.html / f"{document}.html").read_text(encoding="utf-8")
    soup = BeautifulSoup(page, "html.parser")
    told = " ".join(words("\n".join(texts(book.html / "_sources" / f"{document}.ipynb"))))
    numbers = soup.select("article .pasted-text")
    assert len(numbers) == len(GLUED.findall(source(document)))
    for number in numbers:
        block = number.find_parent(["p", "li", "td"])
        for formula in block.select(".math"):
            formula.replace_with(" ")
        sentence = next(
            text for text in re.split(r"(?<=[.:;]) |\n", block.get_text()) if number.get_text() in text
        )
        assert " ".join(words(re.sub(r"\[[^\]]*\]|\([^)]*\)", " ", sentence)))[:30] in told


def test_badges_keep_their_verdict(book: Book) -> None:
    """In every chapter each claim cited is told with its verdict, as on the page."""
    for document in notebooks():
        page = (book.html / f"{document}.html").read_text(encoding="utf-8")
        soup = BeautifulSoup(page, "html.parser")
        told = "\n".join(texts(book.html / "_sources" / f"{document}.ipynb"))
        for badge in soup.select("article .claim-badge"):
            if badge.find_parent(class_="text_html"):  # drawn by a cell, so no Markdown
                continue
            assert f"**{badge.get_text()}**" in told


def test_address_of_the_book_makes_links_of_a_download_whole(small_book: Book) -> None:
    path = small_book.root / "intro.md"
    write_notebook(path, "A page", "print(1)")
    other = "# Another\n\nText.\n"
    (small_book.root / "chapters" / "other.md").write_text(other, encoding="utf-8")
    toc = "format: jb-book\nroot: intro\nchapters:\n- file: chapters/other\n"
    (small_book.root / "_toc.yml").write_text(toc, encoding="utf-8")
    text = "\nSee {doc}`chapters/other` and {module}`encoderlab.model.linear`.\n"
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    told = {"BOOK_ADDRESS": "https://example.org/book", "BOOK_REPOSITORY": "https://github.com/owner/name"}
    build = small_book.build(**told)
    assert build.status == 0, build.log[-6000:]
    first, *_, last = texts(small_book.html / "_sources" / "intro.ipynb")
    assert "[A page](https://example.org/book/intro.html)" in first
    assert f"`{INSTALL}`, in a clone of https://github.com/owner/name" in first
    assert "[Another](https://example.org/book/chapters/other.html)" in last
    assert "https://github.com/owner/name/blob/HEAD/code/encoderlab/model/linear.py" in last
    build = small_book.build(BOOK_ADDRESS="example.org")
    assert build.status != 0
    assert "BOOK_ADDRESS: expected the address of a folder" in build.log


def test_notebook_that_a_reader_changed_is_kept(small_book: Book) -> None:
    """Those that nobody touched follow the book."""
    path = small_book.root / "notebooks" / "intro.ipynb"
    assert small_book.build().status == 0
    assert "unchanged" in path.read_text(encoding="utf-8")
    write_notebook(small_book.root / "intro.md", "A page", "print('second')")
    assert small_book.build().status == 0
    assert "second" in path.read_text(encoding="utf-8")
    mine = json.loads(path.read_text(encoding="utf-8"))
    mine["cells"][-1]["source"] = ["print('mine')"]
    path.write_text(json.dumps(mine), encoding="utf-8")
    write_notebook(small_book.root / "intro.md", "A page", "print('third')")
    build = small_book.build()
    assert "notebooks/intro.ipynb was changed, and is left as it is" in build.log
    assert "mine" in path.read_text(encoding="utf-8")


def test_unknown_markup_ends_the_build_and_says_so(small_book: Book) -> None:
    """A role that nobody has taught the notebooks would reach readers raw."""
    path = small_book.root / "intro.md"
    path.write_text(path.read_text(encoding="utf-8") + "\n{kbd}`Ctrl-C` ends it.\n", encoding="utf-8")
    build = small_book.build()
    assert build.status != 0
    assert "intro: no plain Markdown is known for the role 'kbd'" in build.log


def test_install_line_of_the_notebook_is_the_one_of_the_page_and_of_the_package() -> None:
    assert INSTALL in source("chapters/teaching")
    assert "\nlive = [" in (REPOSITORY / "code" / "pyproject.toml").read_text(encoding="utf-8")
