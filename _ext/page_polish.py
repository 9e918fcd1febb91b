"""What the theme and its extensions leave amiss in a page: description, names, ids given twice."""

from __future__ import annotations

import html
import re
import textwrap
from collections import Counter
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx

logger = logging.getLogger(__name__)

LONGEST_DESCRIPTION = 160
STORAGE = """<script>
  // Where a browser keeps nothing for a page, memory does until it is closed: the theme does not look first.
  for (const name of ["localStorage", "sessionStorage"])
    try { window[name].getItem(""); } catch {
      const kept = new Map();
      const value = {
        getItem: (key) => kept.get(key) ?? null,
        setItem: (key, text) => void kept.set(key, String(text)),
        removeItem: (key) => void kept.delete(key),
      };
      Object.defineProperty(window, name, { value, configurable: true });
    }
</script>"""
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


def bring_storage(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Put what stands in for blocked storage before all scripts of the head."""
    context["metatags"] = f"{STORAGE}\n{context.get('metatags', '')}"


class Ids(HTMLParser):
    """Every id of a page, in order."""

    def __init__(self, body: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(body)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the id of an element."""
        self.found += [value for name, value in attrs if name == "id" and value]


def refuse_same_ids(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Warn of two things of one name: links and the address bar reach the first alone."""
    counts = Counter(Ids(context.get("body", "")).found)
    for name in [name for name, count in counts.items() if count > 1]:
        logger.warning("the id %r is given to %d things on this page", name, counts[name], location=pagename)


def mend(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Take out names that hide the text shown, roles that do not fit, and the id that all exercises share."""
    body = context.get("body", "")
    for misleading in AMISS:
        body = body.replace(misleading, "")
    context["body"] = re.sub(r'<section id="(exercise|solution)-content">', "<section>", body)


def carry_once(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Let a style or a script that cells bring several times stand in the page once.

    The first style stays, for what follows it, and the last script, for what stands before it.
    """
    context["body"] = once(context.get("body", ""))


def once(body: str) -> str:
    """Return a body without the repetitions of its styles and scripts."""
    for kind in ("style", "script"):
        for text, count in Counter(re.findall(rf"(?s)<{kind}>.*?</{kind}>", body)).items():
            if count > 1 and kind == "style":
                first, *rest = body.split(text)
                body = f"{first}{text}{''.join(rest)}"
            elif count > 1:
                *rest, last = body.split(text)
                body = f"{''.join(rest)}{text}{last}"
    return body


def setup(app: Sphinx) -> dict[str, object]:
    """Connect to Sphinx."""
    app.connect("html-page-context", describe)
    app.connect("html-page-context", mend)
    app.connect("html-page-context", carry_once)
    app.connect("html-page-context", refuse_same_ids)
    app.connect("html-page-context", bring_storage)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
