"""A sixth chapter takes one page, one folder, one line in _toc.yml and one where chapters are registered."""

from __future__ import annotations

import subprocess
import sys

from bs4 import BeautifulSoup

from encoderlab.chapters.registry import CLAIMS as CLAIMS_SO_FAR
from fixtures_book import REPOSITORY, Book, write_notebook

FIGURES = '''"""Figures of the sixth chapter."""

from matplotlib.figure import Figure

from encoderlab.explorer.picture import Update


def doubling() -> tuple[Figure, Update]:
    """Show a number and its double."""
    figure = Figure()
    axes = figure.subplots()
    axes.set(xlim=(0, 4), ylim=(0, 8), xlabel="number", ylabel="double")
    (dot,) = axes.plot([], [], "o", animated=True)

    def update(number: int) -> str:
        dot.set_data([number], [2 * number])
        return f"{number} doubled is {2 * number}."

    return figure, update
'''
CLAIMS = '''"""The claims of the sixth chapter."""

from encoderlab.claims import Finding, Findings, claim


@claim(
    NUMBER,
    note=2,
    section="6",
    says="Two times two is four.",
    verdict="exact",
    holds="It is.",
)
def claim_NUMBER() -> Findings:
    """Multiply."""
    return (Finding("identity", "two times two", 2 * 2, "=", 4),)


CLAIMS = (claim_NUMBER,)
'''
PAGE = """from encoderlab.chapters.sixth import figures
from encoderlab.explorer import Explorer, Steps

Explorer("doubling", *figures.doubling(), number=Steps("Number", (1, 2, 3)))"""


def test_the_walk_through_of_contributing_adds_a_chapter(small_book: Book) -> None:
    """Follow CONTRIBUTING.md, build the page, list the claim, and ask whether the rooms are in order."""
    package = small_book.root / "code" / "encoderlab"
    room = package / "chapters" / "sixth"
    registry = room.parent / "registry.py"
    number = max(CLAIMS_SO_FAR) + 1
    room.mkdir()
    (room / "__init__.py").write_text('"""Chapter 6, doubling."""\n', encoding="utf-8")
    (room / "figures.py").write_text(FIGURES, encoding="utf-8")
    (room / "claims.py").write_text(CLAIMS.replace("NUMBER", str(number)), encoding="utf-8")
    line = registry.read_text(encoding="utf-8")
    added = line.replace(
        "\nCHAPTERS = (", "from encoderlab.chapters.sixth import claims as sixth\n\nCHAPTERS = ("
    ).replace("abstraction)", "abstraction, sixth)")
    assert added != line
    registry.write_text(added, encoding="utf-8")
    toc = small_book.root / "_toc.yml"
    toc.write_text(toc.read_text(encoding="utf-8") + "chapters:\n- file: chapters/sixth\n", encoding="utf-8")
    write_notebook(small_book.root / "chapters" / "sixth.md", "A sixth chapter", PAGE)

    build = small_book.build()
    assert build.status == 0, build.log[-6000:]
    page = (small_book.html / "chapters" / "sixth.html").read_text(encoding="utf-8")
    soup = BeautifulSoup(page, "html.parser")
    assert soup.select_one("figure#doubling .explorer-says").get_text() == "1 doubled is 2."

    def python(*arguments: str) -> str:
        run = subprocess.run(
            [sys.executable, *arguments],
            cwd=small_book.root,
            env={"PYTHONPATH": "code", "PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    assert "Two times two is four." in python("-m", "encoderlab.claims", str(number))
    python("-m", "pytest", "code/tests/test_house.py", "-q", "-p", "no:cacheprovider")


def test_contributing_names_every_step() -> None:
    """The walk-through tells of each place that the test above had to touch."""
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Adding a chapter")[2].partition("\n## ")[0]
    for place in (
        "chapters/",
        "code/encoderlab/chapters/",
        "registry.py",
        "_toc.yml",
        "code/tests/chapters/",
    ):
        assert place in section
