"""The book builds without a warning; what it shows is as old as the code, and no older."""

from __future__ import annotations

import shutil
from pathlib import Path

from bs4 import BeautifulSoup

from fixtures_book import REPOSITORY, Book, Build, toc_documents, write_notebook


def explorers(book: Book) -> dict[str, list[str]]:
    """Name the explorers in each page whose states and first picture are there."""
    found = {}
    for page in book.pages():
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        figures = soup.select("figure.explorer:has(form):has(.explorer-frame svg):has(script)")
        found[page.name] = [figure["id"] for figure in figures]
    return {name: ids for name, ids in found.items() if ids}


def explorers_in_sources() -> int:
    """Count the explorers that the chapters make."""
    sources = [REPOSITORY / f"{document}.md" for document in toc_documents()]
    return sum(path.read_text(encoding="utf-8").count("\nExplorer(") for path in sources)


def test_cold_build_has_no_warning(cold_build: tuple[Book, Build]) -> None:
    """A fresh copy builds under -W -n, runs each notebook once, and has every page."""
    book, build = cold_build
    assert build.status == 0, build.log[-6000:]
    assert "WARNING" not in build.log
    executed = build.notebooks("Executed")
    assert len(executed) == len(set(executed)) > 0
    for document in toc_documents():
        assert (book.html / f"{document}.html").is_file()
    assert (book.html / "index.html").is_file()


def test_unchanged_rebuild_runs_nothing(book: Book) -> None:
    """A second build neither executes nor reads anything."""
    before = explorers(book)
    again = book.build()
    assert again.status == 0, again.log[-6000:]
    assert again.notebooks("Execut(?:ed|ing)") == again.notebooks("Using cached") == []
    assert explorers(book) == before
    print(f"unchanged rebuild: {again.seconds:.1f} s")


def test_explorers_survive_a_warm_cache(book: Book) -> None:
    """Every explorer that a chapter makes stands in its page, computed or taken from the cache."""
    cold = explorers(book)
    assert sum(map(len, cold.values())) == explorers_in_sources() > 0
    shutil.rmtree(book.html)
    shutil.rmtree(book.root / "_build" / ".doctrees")
    warm = book.build()
    assert warm.status == 0, warm.log[-6000:]
    assert warm.notebooks("Executed") == []
    assert len(warm.notebooks("Using cached")) > 0
    assert explorers(book) == cold


def test_edit_in_code_reaches_the_page(small_book: Book) -> None:
    """A changed constant is on the page after the next build; taken back, the old output is found again."""
    constant = small_book.root / "code" / "encoderlab" / "constant.py"
    write_notebook(
        small_book.root / "intro.md",
        "A page",
        "from encoderlab.constant import VALUE\nprint('the value is', VALUE)",
    )

    def page_after(value: int) -> tuple[Build, str]:
        constant.write_text(f"VALUE = {value}\n", encoding="utf-8")
        build = small_book.build()
        assert build.status == 0, build.log[-6000:]
        return build, (small_book.html / "intro.html").read_text(encoding="utf-8")

    first, page = page_after(41)
    assert first.notebooks("Executed") == ["intro"]
    assert "the value is 41" in page

    second, page = page_after(42)
    assert second.notebooks("Executed") == ["intro"]
    assert "the value is 42" in page
    assert "the value is 41" not in page

    third, page = page_after(41)
    assert third.notebooks("Executed") == []
    assert third.notebooks("Using cached") == ["intro"]
    assert "the value is 41" in page


def fails_naming(book: Book, *expected: str) -> None:
    """Assert that the build fails, says why, and fails again although nothing was touched since."""
    for _ in range(2):
        build = book.build()
        assert build.status != 0
        for text in expected:
            assert text in build.log


def test_raising_cell_fails_the_build(small_book: Book) -> None:
    """The log names the chapter and holds the traceback of the cell."""
    write_notebook(small_book.root / "intro.md", "A page", "depth = 0\n1 / depth")
    fails_naming(small_book, "intro.md", "1 / depth", "ZeroDivisionError: division by zero")


def test_warning_of_a_cell_fails_the_build(small_book: Book) -> None:
    """So does a glyph that matplotlib cannot draw, which a reader would see as a box."""
    cell = "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\n_ = axes.set_title('\\ue000')"
    write_notebook(small_book.root / "intro.md", "A page", cell)
    fails_naming(small_book, "intro.md", "stderr was found in the cell outputs of cell 2")
    assert "missing from font" in (small_book.html / "intro.html").read_text(encoding="utf-8")


def test_unknown_claim_and_module_fail_the_build(small_book: Book) -> None:
    """A badge without a claim and a link to a module that is not there are warnings, so errors under -W."""
    page = "# A page\n\n{claim}`999` in {module}`encoderlab.nowhere`\n"
    (small_book.root / "intro.md").write_text(page, encoding="utf-8")
    fails_naming(small_book, "no claim has the number '999'", "encoderlab.nowhere")


def test_module_role_leads_to_the_source(small_book: Book) -> None:
    """The page of a module shows its source."""
    page = "# A page\n\n{module}`encoderlab.model.activations`\n"
    (small_book.root / "intro.md").write_text(page, encoding="utf-8")
    build = small_book.build()
    assert build.status == 0, build.log[-6000:]
    soup = BeautifulSoup((small_book.html / "intro.html").read_text(encoding="utf-8"), "html.parser")
    link = soup.select_one("article a.internal[href*=_modules]")
    assert link is not None
    listing = Path(small_book.html / link["href"]).read_text(encoding="utf-8")
    shown = BeautifulSoup(listing, "html.parser").select_one("article pre").get_text()
    source = REPOSITORY / "code/encoderlab/model/activations.py"
    assert shown.strip() == source.read_text(encoding="utf-8").strip()
