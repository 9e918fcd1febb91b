"""The book that the tests look at: a copy of this repository, built once, in a folder of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[1]
LEFT_BEHIND = (
    ".git",
    ".venv",
    "_build",
    "notebooks",
    "build",
    "__pycache__",
    "*.egg-info",
    ".*_cache",
    ".hypothesis",
)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
NEEDED_TO_BUILD = ("_config.yml", "_ext", "_static", "_templates", "code", "requirements.txt")


@dataclass(frozen=True)
class Build:
    """One run of ``jupyter-book build``: how it ended, what it said, how long it took."""

    status: int
    log: str
    seconds: float

    def notebooks(self, action: str) -> list[str]:
        """List the notebooks that were, say, "Executed" or "Using cached", by stem."""
        return re.findall(rf"([\w-]+)\.\w+: {action} notebook", self.log)


@dataclass(frozen=True)
class Book:
    """A folder with the sources of a book, which it can build."""

    root: Path

    @property
    def html(self) -> Path:
        """Where the built pages stand."""
        return self.root / "_build" / "html"

    def pages(self) -> list[Path]:
        """List all built pages, those of the theme and of the sources included."""
        return sorted(path for path in self.html.rglob("*.html") if "_static" not in path.parts)

    def build(self, **settings: str) -> Build:
        """Build it as `make book` does, with the package of this folder, not of the one under test.

        Of the variables that say where a repository is, only those given count.
        """
        command = [f"{sysconfig.get_path('scripts')}/jupyter-book", "build", ".", "-W", "-n", "--keep-going"]
        unset = ("ENCODERLAB_WORLD", "BOOK_", "GITHUB_")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(unset)}
        environment |= {"PYTHONPATH": str(self.root / "code"), "PYTHONUTF8": "1"} | settings
        start = time.monotonic()
        run = subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=3600,
            check=False,
        )
        log = COLOURS.sub("", run.stdout)
        return Build(run.returncode, log, time.monotonic() - start)


def toc_documents() -> list[str]:
    """Name the documents of the book, the first page first."""
    toc = yaml.safe_load((REPOSITORY / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]


def source(document: str) -> str:
    """Return the text of a document."""
    return (REPOSITORY / f"{document}.md").read_text(encoding="utf-8")


def notebooks() -> list[str]:
    """Name the documents that have cells."""
    return [document for document in toc_documents() if "{code-cell}" in source(document)]


def write_notebook(path: Path, title: str, cell: str) -> None:
    """Write a MyST notebook of one cell."""
    head = "---\njupytext:\n  text_representation:\n    format_name: myst\n"
    kernel = "kernelspec:\n  name: python3\n  display_name: Python 3\n---\n\n"
    path.write_text(f"{head}{kernel}# {title}\n\n```{{code-cell}}\n{cell}\n```\n", encoding="utf-8")


@pytest.fixture(scope="session")
def cold_build(tmp_path_factory: pytest.TempPathFactory) -> tuple[Book, Build]:
    """Build the whole book from nothing, once for all tests."""
    root = tmp_path_factory.mktemp("cold") / "book"
    shutil.copytree(REPOSITORY, root, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    book = Book(root)
    return book, book.build()


@pytest.fixture(scope="session")
def book(cold_build: tuple[Book, Build]) -> Book:
    """Return the whole book, built."""
    built, build = cold_build
    assert build.status == 0, build.log[-6000:]
    return built


@pytest.fixture
def small_book(tmp_path: Path) -> Book:
    """Make a book of one page, with the settings, extensions and package of this one."""
    root = tmp_path / "book"
    for name in NEEDED_TO_BUILD:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
        else:
            root.mkdir(exist_ok=True)
            shutil.copy(source, root)
    (root / "chapters").mkdir()
    (root / "chapters" / "references.bib").touch()
    (root / "_toc.yml").write_text("format: jb-book\nroot: intro\n", encoding="utf-8")
    write_notebook(root / "intro.md", "A page", "print('unchanged')")
    return Book(root)
