"""The book builds without a warning; what it shows is as old as the code, and no older."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from bs4 import BeautifulSoup

from bookworld import tell_the_cells, versions_behind_the_cells
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


def test_newer_package_beneath_the_cells_runs_them_anew(
    small_book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock may say the same while another NumPy is installed."""
    before = versions_behind_the_cells(small_book.root)
    assert f"numpy {numpy.__version__}" in before.splitlines()
    monkeypatch.setattr("bookworld.version_of", lambda name: "9.9" if name == "numpy" else "1")
    after = versions_behind_the_cells(small_book.root)
    assert "numpy 9.9" in after.splitlines()
    caches = set()
    for _ in range(2):
        app = SimpleNamespace(srcdir=small_book.root)
        config = SimpleNamespace()
        monkeypatch.setenv("ENCODERLAB_WORLD", "")
        monkeypatch.setenv("IPYTHONDIR", "")
        tell_the_cells(app, config)
        caches.add(config.nb_execution_cache_path)
        monkeypatch.undo()
    assert len(caches) == 2


@pytest.mark.parametrize("other", ["twice", "a-heading"])
def test_two_things_of_one_name_fail_the_build(small_book: Book, other: str) -> None:
    """A link and the address bar would reach the first alone."""
    cells = [
        "import matplotlib.pyplot as plt\nfrom encoderlab.explorer import Explorer, Toggle",
        "def explorer(name):",
        "    figure, axes = plt.subplots()",
        "    (line,) = axes.plot([0, 1], animated=True)",
        "    return Explorer(name, figure, lambda ffn: f'The FFN is {ffn:d}.', ffn=Toggle('FFN'))",
        "display(explorer('twice'))",
        f"display(explorer('{other}'))",
    ]
    path = small_book.root / "intro.md"
    write_notebook(path, "A page", "\n".join(cells))
    path.write_text(path.read_text(encoding="utf-8") + "\n## A heading\n\nText.\n", encoding="utf-8")
    fails_naming(small_book, f"the id '{other}' is given to 2 things on this page")


def test_github_serves_folders_that_begin_with_an_underscore(book: Book) -> None:
    """A branch that holds the pages goes through Jekyll, which drops them, unless this file says no."""
    assert (book.html / ".nojekyll").is_file()


def test_scripts_stand_in_one_order(book: Book) -> None:
    """A disk lists files in an order of its own, and two machines would build two books."""
    for page in book.pages():
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        own = [Path(str(tag["src"]).partition("?")[0]).name for tag in soup.select("script[src]")]
        own = [name for name in own if (REPOSITORY / "_static" / name).is_file()]
        assert own == sorted(own)


def test_two_builds_in_two_folders_are_the_same_book(small_book: Book, tmp_path: Path) -> None:
    """Each file that readers get is the same, byte by byte, those of figures and the notebooks among them."""
    cells = [
        "import matplotlib.pyplot as plt\nfrom encoderlab.explorer import Explorer, Toggle",
        "figure, axes = plt.subplots()",
        "(line,) = axes.plot([0, 1], animated=True)",
        "Explorer('one', figure, lambda ffn: line.set_ydata([0, ffn]) or f'{ffn:d}', ffn=Toggle('FFN'))",
    ]
    path = small_book.root / "intro.md"
    write_notebook(path, "A page", "\n".join(cells))
    still = "plt.subplots()[1].scatter([0, 1], [1, 0], label='still');"
    text = f"\n## A heading\n\nSee {{module}}`encoderlab.model.linear`.\n\n```{{code-cell}}\n{still}\n```\n"
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")
    other = Book(tmp_path / "elsewhere" / "another name")
    shutil.copytree(small_book.root, other.root)
    written = []
    for book in (small_book, other):
        build = book.build()
        assert build.status == 0, build.log[-6000:]
        folders = (book.html, book.root / "notebooks")
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        written.append({path.relative_to(book.root).as_posix(): path.read_bytes() for path in files})
    first, second = written
    assert len(first) > 0
    assert sorted(first) == sorted(second)
    assert [name for name, content in first.items() if second[name] != content] == []


def test_no_table_has_a_head_without_words(book: Book) -> None:
    """A screen reader names each cell by the head of its column."""
    for page in book.pages():
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        assert [th for th in soup.select("th") if not th.get_text(strip=True)] == [], page.name


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
