"""A downloaded notebook runs after the one line that it names, in an environment that had nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from fixtures_binder import OURS
from fixtures_book import LEFT_BEHIND, REPOSITORY, Book, notebooks

RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=None, kernel_name="python3").execute()
outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
assert not [o for o in outputs if o.get("name") == "stderr"], outputs
print(len(outputs))
"""


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory, book: Book) -> Path:
    """Carry out the line of the first notebook, where it says, and return the Python that it filled."""
    root = tmp_path_factory.mktemp("reader")
    shutil.copytree(REPOSITORY, root / "clone", ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    subprocess.run([sys.executable, "-m", "venv", root / "env"], check=True)
    first = nbformat.read(book.html / "_sources" / "intro.ipynb", as_version=4).cells[0].source
    (line,) = re.findall(r"What it needs to run: `(pip [^`]+)`", first)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    environment |= {"PATH": f"{root / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}", "PIP_QUIET": "1"}
    subprocess.run(["bash", "-c", line], cwd=root / "clone", env=environment, check=True)
    return root / "env" / "bin" / "python"


@pytest.mark.parametrize("document", notebooks())
def test_download_runs(python: Path, book: Book, document: str, tmp_path: Path) -> None:
    """From a folder of its own, without a warning."""
    path = shutil.copy(book.html / "_sources" / f"{document}.ipynb", tmp_path)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    done = subprocess.run(
        [python, "-c", RUN, path], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert int(done.stdout) > 0
