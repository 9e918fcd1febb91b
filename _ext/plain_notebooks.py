"""The chapters as notebooks: one to download from each page, and all of them in `notebooks/` to open live."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import nbformat
from docutils import nodes
from jupyter_cache import get_cache
from sphinx.util import logging

from plain_markdown import Link, Writer
from repository import Repository
from streams import merge_streams

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from sphinx.application import Sphinx

FOLDER = "notebooks"
WRITTEN = ".written.json"
GLUED = "application/papermill.record/text/plain"
INSTALL = 'pip install -e "./code[live]"'
HEADING = re.compile(r"(?m)^(?:\((?P<label>[\w-]+)\)=\n)?#{1,6} +(?P<title>.+)$")
EXERCISE = re.compile(r"(?m)^`{3,}\{exercise(?:-start)?\} *(?P<title>.*)\n:label: *(?P<label>[\w-]+)")

logger = logging.getLogger(__name__)


def executed(app: Sphinx, docname: str) -> NotebookNode:
    """Read a document with its outputs: MyST-NB leaves those that it took from the cache there."""
    path = Path(app.outdir).parent / "jupyter_execute" / f"{docname}.ipynb"
    if "kernelspec" not in app.env.metadata.get(docname, {}):
        text = Path(app.env.doc2path(docname)).read_text(encoding="utf-8")
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    parsed = nbformat.read(path, as_version=4)
    return get_cache(app.config.nb_execution_cache_path).merge_match_into_notebook(parsed)[1]


def plain(app: Sphinx, docname: str, page: Link, file: Link) -> NotebookNode:
    """Return a document as a notebook without MyST, the same in each build.

    Cells go by number, and what one of them prints is in one piece.
    """
    notebook = executed(app, docname)
    texts = [cell["source"] for cell in notebook.cells if cell["cell_type"] == "markdown"]
    writer = Writer(app.env, docname, glued(notebook), page, file, headings(texts))
    for k, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{k}"
        if cell["cell_type"] == "markdown":
            cell["source"] = writer.convert(cell["source"]).strip()
        for output in cell.get("outputs", []):
            if "text/markdown" in output.get("data", {}):
                output["data"]["text/markdown"] = writer.convert(output["data"]["text/markdown"])
        if "outputs" in cell:
            cell["outputs"] = merge_streams(cell["outputs"])
    notebook.cells = [cell for cell in notebook.cells if cell["source"].strip()]
    return notebook


def glued(notebook: NotebookNode) -> dict[str, str]:
    """Return what the cells of a notebook glued, by name."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return {
        output["metadata"]["scrapbook"]["name"]: output["data"][GLUED]
        for output in outputs
        if GLUED in output.get("data", {})
    }


def headings(texts: list[str]) -> dict[str, str]:
    """Return the headings of a document by everything that may name them: slug, id and label."""
    found = {}
    for text in texts:
        for match in HEADING.finditer(text):
            title = match["title"].strip()
            slug = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            found |= {name: title for name in (slug, nodes.make_id(title), match["label"]) if name}
        for match in EXERCISE.finditer(text):
            found[match["label"]] = f"Exercise: {match['title']}"
    return found


def write_download(app: Sphinx, docname: str, target: Path, repository: Repository | None) -> None:
    """Write the notebook behind a page's button: with outputs, whole addresses, and how to run it."""
    base = app.config.html_baseurl

    def page(document: str, anchor: str) -> str:
        return f"{base}{document}.html{'#' * bool(anchor)}{anchor}" if base else ""

    def file(path: str, anchor: str) -> str:
        return f"{repository.address}/blob/{repository.commit}/{quote(path)}" if repository else ""

    notebook = plain(app, docname, page, file)
    title = app.env.titles[docname].astext()
    named = f"[{title}]({page(docname, '')})" if base else f"*{title}*"
    where = f"in a clone of {repository.address}" if repository else "in a clone of the book's repository"
    origin = f"This notebook is the page {named} of *{app.config.html_title}*."
    how = f"{origin} What it needs to run: `{INSTALL}`, {where}."
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell(how, id="how-to-run"))
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)


def write_folder(app: Sphinx, error: Exception | None) -> None:
    """Write every document to `notebooks/`, without outputs, except where a reader has changed one."""
    if error or app.builder.name != "html":
        return
    folder = Path(app.srcdir, FOLDER)
    folder.mkdir(exist_ok=True)
    record = folder / WRITTEN
    ours: dict[str, str] = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for docname in sorted(app.env.found_docs):
        path = folder / f"{docname}.ipynb"
        if path.exists() and digest(path.read_bytes()) != ours.get(docname):
            logger.info("%s was changed, and is left as it is", path.relative_to(app.srcdir))
            continue
        content = (nbformat.writes(live(app, docname)) + "\n").encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        ours[docname] = digest(content)
    record.write_text(json.dumps(ours, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def live(app: Sphinx, docname: str) -> NotebookNode:
    """Return a document as a notebook to run: its links lead to its neighbours in the folder."""
    here = posixpath.dirname(f"{FOLDER}/{docname}")

    def page(document: str, anchor: str) -> str:
        return quote(posixpath.relpath(f"{FOLDER}/{document}.ipynb", here))

    def file(path: str, anchor: str) -> str:
        return quote(posixpath.relpath(path, here))

    notebook = plain(app, docname, page, file)
    for cell in notebook.cells:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return notebook


def digest(content: bytes) -> str:
    """Name the content of a file."""
    return hashlib.sha256(content).hexdigest()


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect to Sphinx."""
    app.connect("build-finished", write_folder)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
