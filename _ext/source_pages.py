"""The role {module}`encoderlab.model.linear`: a link to the module's source, which the book carries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.roles import XRefRole
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

REFTYPE = "module"
FOLDER = "_modules"


def module_file(root: Path, name: str) -> Path:
    """Say where the source of a module or package of ``code/`` would stand."""
    path = root / "code" / Path(*name.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


class SourcePages:
    """Links to modules, and a page for each module that something in this build links to."""

    def __init__(self) -> None:
        self.cited: set[str] = set()

    def resolve(
        self, app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
    ) -> nodes.Node | None:
        """Link to the page of a module; one that does not exist stays unresolved, which ``-n`` reports."""
        name = node["reftarget"]
        if node["reftype"] != REFTYPE or node.get("refdomain"):
            return None
        if not module_file(Path(app.srcdir), name).is_file():
            return None
        if app.builder.name != "html":  # only the web pages carry the source
            return content
        self.cited.add(name)
        return make_refnode(app.builder, node["refdoc"], f"{FOLDER}/{name}", "", content)

    def pages(self, app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
        """Yield name, content and template of each page."""
        for name in sorted(self.cited):
            path = module_file(Path(app.srcdir), name)
            source = path.read_text(encoding="utf-8")
            listing = app.builder.highlighter.highlight_block(source, "python", location=name)
            body = (
                f"<h1>{path.relative_to(app.srcdir).as_posix()}</h1>"
                f'<div class="highlight-python notranslate">{listing}</div>'
            )
            yield f"{FOLDER}/{name}", {"title": name, "body": body}, "page.html"


def setup(app: Sphinx) -> dict[str, object]:
    """Register the role, what resolves it, and the pages it leads to."""
    sources = SourcePages()
    app.add_role(REFTYPE, XRefRole())
    app.connect("missing-reference", sources.resolve)
    app.connect("html-collect-pages", sources.pages)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
