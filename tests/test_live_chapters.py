"""Each chapter runs in a real kernel, from the root and from its folder, with its explorers as widgets."""

from __future__ import annotations

from pathlib import Path

import jupytext
import pytest
from nbclient import NotebookClient

from fixtures_book import REPOSITORY, toc_documents

WIDGET = "application/vnd.jupyter.widget-view+json"


def notebooks() -> list[str]:
    """Name the documents that have cells."""
    return [name for name in toc_documents() if "{code-cell}" in source(name)]


def source(name: str) -> str:
    """Return the text of a document."""
    return (REPOSITORY / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", [".", "chapters"])
@pytest.mark.parametrize("name", notebooks())
def test_chapter_runs_live(name: str, folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No cell raises or complains, and each explorer shows a widget."""
    monkeypatch.delenv("ENCODERLAB_WORLD", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = jupytext.read(REPOSITORY / f"{name}.md")
    resources = {"metadata": {"path": str(REPOSITORY / folder)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    widgets = [output for output in outputs if WIDGET in output.get("data", {})]
    assert len(widgets) == source(name).count("\nExplorer(")
