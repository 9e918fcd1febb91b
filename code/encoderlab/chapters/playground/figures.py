"""The figure of the playground: in the page it stands by itself, in a kernel in a frame of its own."""

from __future__ import annotations

import html
import json
import os
import re
from functools import lru_cache
from importlib import resources
from typing import Any

from encoderlab.chapters.playground.drawn import drawn
from encoderlab.chapters.playground.measured import found
from encoderlab.chapters.playground.script import script

CHAPTERS = {
    "elementwise": "Chapter 1 says why.",
    "attention": "Chapter 2 says why.",
    "stacking": "Chapter 3 says why.",
    "residual_norm": "Chapter 4 says why.",
}


class Playground:
    """A Transformer that trains where it is shown, as the value of a notebook's cell.

    Parameters
    ----------
    name : str
        What addresses it in the page, as in `#name?task=rings`: lower-case letters, digits and hyphens.
        A name in `lessons` makes it small: with that lesson's set states, and no choice of a task.
    state : str
        Where it starts, written as in the address: the task, and what differs from where that task starts.

    Raises
    ------
    ValueError
        If `name` or `state` is not written like that.

    Examples
    --------
    >>> Playground("rings", "task=rings&ffn=on")
    Playground('rings', 'task=rings&ffn=on')
    """

    def __init__(self, name: str = "playground", state: str = "task=moons") -> None:
        if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise ValueError(f"name: expected a-z, then any of a-z, 0-9 and hyphens, got {name!r}")
        if not isinstance(state, str) or not re.fullmatch(r"task=\w+(&\w+=[\w.]+)*", state):
            raise ValueError(f"state: expected an address such as 'task=rings&ffn=on', got {state!r}")
        self.name, self.state = name, state

    def __repr__(self) -> str:
        """Return its name and state, which is all that a log needs."""
        return f"Playground({self.name!r}, {self.state!r})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        in_page = os.environ.get("ENCODERLAB_WORLD") == "page"
        return {"text/html": self.figure(link=True) if in_page else self.frame(), "text/plain": repr(self)}

    def figure(self, *, link: bool) -> str:
        """Return the figure as HTML, with its style and script.

        Parameters
        ----------
        link : bool
            Whether its states can be addressed: so in the page, not in a kernel.
        """
        lesson = lessons().get(self.name)
        states = [_further(one) for one in lesson] if lesson else [_try(one) for one in tries()]
        settings = {"tries": states, "link": link}
        data = json.dumps(settings, ensure_ascii=False).replace("</", "<\\/")
        return (
            f"<style>{_style()}</style>"
            f'<figure class="playground{" pg-lesson" if lesson else ""}" id="{self.name}" '
            f'data-state="{html.escape(self.state)}">'
            f'<div class="pg-drawn">{_drawn(self.state, states if lesson else [])}</div>'
            '<p class="pg-still"></p>'
            f'<noscript><p class="pg-still">Training in the page takes JavaScript.</p></noscript>'
            f'<div class="pg-app">{_web("page.html")}</div>'
            f'<script type="application/json">{data}</script></figure><script>{script()}</script>'
        )

    def frame(self) -> str:
        """Return the same figure in a frame, where a notebook's style and cells cannot reach it.

        The frame takes light or dark from JupyterLab, and grows with what it holds.
        """
        page = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Playground</title><style>'
            "html[data-theme=dark] {--pst-color-text-base: #ced6dd; --pst-color-background: #14181e; "
            "--pst-color-text-muted: #9ca4af; --pst-color-primary: #3fb1c5; color-scheme: dark} "
            "body {margin: 0; padding: 4px; background: var(--pst-color-background, #fff); "
            'font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif}</style><script>'
            'const dark = parent.document.body.dataset.jpThemeLight === "false";'
            'document.documentElement.dataset.theme = dark ? "dark" : "light";'
            "new ResizeObserver(([{target}]) => "
            "{frameElement.style.height = `${target.scrollHeight + 12}px`})"
            ".observe(document.documentElement);"
            f"</script></head><body>{self.figure(link=False)}</body></html>"
        )
        return (
            f'<iframe title="Playground" srcdoc="{html.escape(page)}" '
            'style="width: 100%; height: 900px; border: 0"></iframe>'
        )


@lru_cache
def tries() -> list[dict[str, str]]:
    """Return the set states: query, name, what to expect, and the chapter that says why."""
    states: list[dict[str, str]] = json.loads(_web("tries.json"))
    return states


@lru_cache
def lessons() -> dict[str, list[dict[str, str]]]:
    """Return the set states of the figures inside chapters, by figure: query, name, what to expect."""
    states: dict[str, list[dict[str, str]]] = json.loads(_web("lessons.json"))
    return states


def _drawn(state: str, told: list[dict[str, str]]) -> str:
    """Return what stands without a script: Moons where they are the task, and what was measured."""
    pictures = drawn() if state.startswith("task=moons") else ""
    items = "".join(f"<li><b>{one['name']}.</b> {one['expect']} {one['found']}</li>" for one in told)
    return pictures + (f"<ul>{items}</ul>" if items else "")


def _further(one: dict[str, str]) -> dict[str, str]:
    address = f"playground.html#playground?{one['query']}"
    return one | {"found": found(one["query"]), "chapter": address, "title": "More of it in the playground."}


def _try(one: dict[str, str]) -> dict[str, str]:
    chapter, title = f"{one['chapter']}.html", CHAPTERS[one["chapter"]]
    return one | {"found": found(one["query"]), "chapter": chapter, "title": title}


def _web(name: str) -> str:
    return (resources.files(__package__) / "web" / name).read_text(encoding="utf-8")


def _style() -> str:
    return re.sub(r"/\*.*?\*/\s*", "", _web("page.css"), flags=re.DOTALL)
