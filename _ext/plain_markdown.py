"""A page's text as every notebook program shows it: MyST's roles and directives turned into plain Markdown.

The sources stay MyST. What leaves the book as a notebook is rewritten here: a role becomes the words, number
or link that the page shows in its place, a directive its title and its text.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from myst_nb.core.variables import format_plain_text
from pybtex.plugin import find_plugin

from encoderlab.chapters.registry import CLAIMS
from encoderlab.claims.claim import VERDICT_NAMES

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

FENCE = re.compile(r"(?P<fence>`{3,}|:{3,})(?:\{(?P<name>[\w:-]+)\})? *(?P<argument>.*)")
OPTION = re.compile(r":[\w-]+:")
LABEL = re.compile(r"\([\w-]+\)=\n?", re.MULTILINE)
# A role, a span of code (kept as it is), a substitution, a link without a scheme, or one to a figure's state.
INLINE = re.compile(
    r"\{(?P<role>[\w:]+)\}`(?P<content>[^`]+)`"
    r"|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
    r"|\{\{ *(?P<substitution>\w+) *\}\}"
    r"|(?<!!)\[(?P<text>[^\]\[]+)\]\((?P<target>(?!\w+:)[\w./#-]+)\)"
    r'|<a href="(?P<built>[\w./-]+)\.html#(?P<state>[^"]*)">(?P<name>[^<]*)</a>',
    re.DOTALL,
)
EXPLICIT = re.compile(r"(?P<text>.+?)\s*<(?P<target>[^<>]+)>", re.DOTALL)

Link = Callable[[str, str], str]
"""From a document, or a file of the repository, and an anchor in it to an address; "" where there is none."""


@dataclass(frozen=True)
class Writer:
    """Rewrites the text of one document.

    Parameters
    ----------
    env : BuildEnvironment
        The whole book, as Sphinx has read it.
    docname : str
        The document.
    glued : mapping of str to str
        What its cells have glued, by name.
    page, file : callable
        Where another document and where a file of the repository is found.
    """

    env: BuildEnvironment
    docname: str
    glued: Mapping[str, str]
    page: Link
    file: Link
    titles: dict[str, str] = field(default_factory=dict)

    def convert(self, text: str) -> str:
        """Return the text in plain Markdown.

        Raises
        ------
        ValueError
            If it holds a role or a directive that is not known here.
        """
        lines, out = text.split("\n"), []
        k = 0
        prose: list[str] = []

        def flush() -> None:
            out.append(self._prose("\n".join(prose)))
            prose.clear()

        while k < len(lines):
            match = FENCE.fullmatch(lines[k])
            if match is None:
                prose.append(lines[k])
                k += 1
                continue
            end = self._end(lines, k, match["fence"])
            body = lines[k + 1 : end]
            flush()
            if match["name"] is None and match["fence"].startswith("`"):
                out.append("\n".join(lines[k : end + 1]))
            else:
                out.append(self._directive(match["name"] or "div", match["argument"], body))
            k = end + 1
        flush()
        return re.sub(r"\n{3,}", "\n\n", "\n".join(part for part in out if part.strip()))

    @staticmethod
    def _end(lines: list[str], start: int, fence: str) -> int:
        """Find the line that closes a fence, or the end of the text."""
        closing = re.compile(rf"{re.escape(fence[0])}{{{len(fence)},}}\s*")
        return next((k for k in range(start + 1, len(lines)) if closing.fullmatch(lines[k])), len(lines))

    def _directive(self, name: str, argument: str, body: list[str]) -> str:
        while body and OPTION.match(body[0]):
            body = body[1:]
        text = self.convert("\n".join(body)).strip()
        title = self._inline(argument)
        if name in ("exercise", "exercise-start"):
            head = f"### Exercise: {title}"
        elif name in ("solution", "solution-start"):
            head = f"### Solution: {self._title(argument)}"
        elif name == "admonition":
            head = f"**{title.rstrip('.:')}.**"
        elif name == "glossary":
            return self._glossary(body)
        elif name == "bibliography":
            return self._bibliography()
        elif name == "tab-item":
            head = f"**{title}**"
        elif name in ("div", "exercise-end", "solution-end", "tab-set"):
            head = ""
        else:
            raise ValueError(f"{self.docname}: no plain Markdown is known for the directive {name!r}")
        return f"\n{head}\n\n{text}\n"

    def _glossary(self, body: list[str]) -> str:
        """Set the names of a term on one line, above what it means."""
        entries: list[tuple[list[str], list[str]]] = []
        for line in body:
            if line.startswith(" ") and entries:
                entries[-1][1].append(line.strip())
            elif line.strip() and (not entries or entries[-1][1]):
                entries.append(([line], []))
            elif line.strip():
                entries[-1][0].append(line)
        return "\n" + "\n\n".join(
            f"**{' · '.join(names)}**  \n{self._inline(chr(10).join(meaning))}" for names, meaning in entries
        )

    def _bibliography(self) -> str:
        backend = find_plugin("pybtex.backends", "markdown")()
        entries = [citation.formatted_entry for citation in self.env.get_domain("cite").citations]
        return "\n" + "\n\n".join(sorted(f"- {entry.text.render(backend)}" for entry in entries))

    def _prose(self, text: str) -> str:
        """Convert what stands between fences."""
        text = self._inline(LABEL.sub("", text))
        # A definition list: its term in bold, its definition below it.
        text = re.sub(r"(?m)^(\S.*)\n: +", r"**\1**  \n", text)
        return re.sub(r"(?m)(^\*\*.*\*\*  \n(?:.+\n)*)  (?=\S)", r"\1", text)

    def _inline(self, text: str) -> str:
        return INLINE.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        if match["role"]:
            role = getattr(self, f"_role_{match['role'].replace(':', '_')}", None)
            if role is None:
                raise ValueError(f"{self.docname}: no plain Markdown is known for the role {match['role']!r}")
            return role(" ".join(match["content"].split()))
        if match["substitution"]:
            return self.convert(str(self.env.config.myst_substitutions[match["substitution"]]))
        if match["target"]:
            return self._link_of_text(match["text"], match["target"])
        if match["built"]:
            page = self.page(self._absolute(match["built"]), html.unescape(match["state"]))
            return self._linked(match["name"], page)
        return match[0]

    def _link_of_text(self, text: str, target: str) -> str:
        path, _, anchor = target.partition("#")
        if not path:
            return self._linked(text, self._inside(anchor))
        if path.endswith(".md"):
            return self._linked(text, self.page(self._absolute(path.removesuffix(".md")), anchor))
        if path in self.env.get_domain("std").anonlabels:  # [text](label)
            return self._linked(text, self._label(path))
        return self._linked(text, self.file(self._absolute(path), anchor))

    def _absolute(self, path: str) -> str:
        """Name a document or file from the root of the book."""
        if path.startswith("/"):
            return path[1:]
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.docname), path))

    def _inside(self, slug: str) -> str:
        """Link to a heading of this document, as JupyterLab names it; "" if there is none of that slug."""
        title = self.titles.get(slug, "")
        return f"#{title.replace(' ', '-')}" if title else ""

    def _label(self, name: str) -> str:
        docname, anchor = self.env.get_domain("std").anonlabels.get(name, ("", ""))[:2]
        if not docname:
            return ""
        return self._inside(anchor) if docname == self.docname else self.page(docname, anchor)

    def _title(self, label: str) -> str:
        """Return the title of what a label names."""
        exercise = getattr(self.env, "sphinx_exercise_registry", {}).get(label)
        if exercise:
            return str(exercise["node"][0][-1].astext())  # what stands behind "Exercise"
        entry = self.env.get_domain("std").labels.get(label)
        return str(entry[2]) if entry else label

    @staticmethod
    def _linked(text: str, address: str) -> str:
        return f"[{text}]({address})" if address else text

    @staticmethod
    def _split(content: str) -> tuple[str, str]:
        """Separate ``text <target>``; text is "" where only a target is given."""
        explicit = EXPLICIT.fullmatch(content)
        return (explicit["text"], explicit["target"]) if explicit else ("", content)

    def _role_glue_text(self, content: str) -> str:
        name, _, format_spec = content.partition(":")
        return format_plain_text(self.glued[name], format_spec)

    def _role_claim(self, content: str) -> str:
        claim = CLAIMS[int(content)]
        badge = f"**claim {claim.number} · {VERDICT_NAMES[claim.verdict]}**"
        return self._linked(badge, self._label(f"claim-{content}"))

    def _role_term(self, content: str) -> str:
        text, target = self._split(content)
        objects = self.env.get_domain("std").objects
        places = {name.lower(): place for (kind, name), place in objects.items() if kind == "term"}
        return self._linked(text or target, self.page(*places[target.lower()]))

    def _role_doc(self, content: str) -> str:
        text, target = self._split(content)
        docname = self._absolute(target)
        return self._linked(text or self.env.titles[docname].astext(), self.page(docname, ""))

    def _role_ref(self, content: str) -> str:
        text, label = self._split(content)
        return self._linked(text or self._title(label), self._label(label))

    def _role_module(self, content: str) -> str:
        path = f"code/{content.replace('.', '/')}"
        is_package = Path(self.env.srcdir, path).is_dir()
        return self._linked(
            f"`{content}`", self.file(f"{path}/__init__.py" if is_package else f"{path}.py", "")
        )

    def _role_download(self, content: str) -> str:
        text, target = self._split(content)
        return self._linked(text or target, self.file(self._absolute(target), ""))

    def _role_cite_p(self, content: str) -> str:
        return f"({'; '.join(self._cited(key.strip(), ', ') for key in content.split(','))})"

    _role_cite = _role_cite_p

    def _role_cite_t(self, content: str) -> str:
        return "; ".join(self._cited(key.strip(), " (") + ")" for key in content.split(","))

    def _cited(self, key: str, between: str) -> str:
        """Name a work by author and year, with a link to the list of references."""
        domain = self.env.get_domain("cite")
        citation = next(citation for citation in domain.citations if citation.key == key)
        work = domain.bibdata.data.entries[key]
        authors = work.persons.get("author") or work.persons.get("editor") or []
        names = [" ".join(person.prelast_names + person.last_names).strip("{}") for person in authors]
        by = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
        address = self.page(citation.bibliography_key.docname, citation.citation_id)
        return self._linked(f"{by}{between}{work.fields.get('year', '')}", address)
