"""What the theme and its extensions leave amiss in a page: description, names, ids given twice."""

from __future__ import annotations

import html
import re
import textwrap
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LONGEST_DESCRIPTION = 160
AMISS = (' aria-label="Toggle hidden content"', ' role="doc-biblioentry"', ' role="list"')


def describe(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Describe a page to search engines by its first paragraph, unless it brings a description."""
    if 'name="description"' in context.get("metatags", ""):
        return
    paragraph = doctree and next(iter(doctree.findall(nodes.paragraph)), None)
    text = paragraph.astext() if paragraph else f"{context.get('title', pagename)}: {app.config.html_title}"
    text = html.escape(textwrap.shorten(text, LONGEST_DESCRIPTION, placeholder=" …"))
    context["metatags"] = context.get("metatags", "") + f'\n<meta name="description" content="{text}" />'


def mend(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take out names that hide the text shown, roles that do not fit, and the id that all exercises share."""
    body = context.get("body", "")
    for misleading in AMISS:
        body = body.replace(misleading, "")
    context["body"] = re.sub(r'<section id="(exercise|solution)-content">', "<section>", body)


def setup(app: Sphinx) -> dict[str, object]:
    """Connect to Sphinx."""
    app.connect("html-page-context", describe)
    app.connect("html-page-context", mend)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
