"""The playground's JavaScript modules, put together into one script.

A browser loads no module from a file, and starts no worker from one: so the modules become one plain script
that stands in the page, and the worker is started from the text of a function in it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

ENGINE = ("matrix", "activations", "encoder", "random")
TRAINER = (*ENGINE, "tasks", "state", "trainer")
PAGE = ("random", "tasks", "state", "texts", "sentence", "picture", "controls", "page")

_COMMENT = re.compile(r"^\s*(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
_IMPORT = re.compile(r"^import\s[^;]*;\n", re.MULTILINE)
_INDENT = re.compile(r"^[ ]+", re.MULTILINE)


def module(name: str) -> str:
    """Return the text of a module of the folder `web`."""
    return (resources.files(__package__) / "web" / f"{name}.js").read_text(encoding="utf-8")


def bundle(names: tuple[str, ...]) -> str:
    """Put modules together: later ones see what earlier ones declare, comments and indentation go.

    Parameters
    ----------
    names : tuple of str
        Modules of the folder `web`, each after those that it imports. What they declare has names of its own.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If a module imports one that does not stand before it.
    """
    texts = []
    for place, name in enumerate(names):
        text = module(name)
        missing = set(re.findall(r'from "\./(\w+)\.js"', text)) - set(names[:place])
        if missing:
            raise ValueError(
                f"names: {name} imports {', '.join(sorted(missing))}, which must stand before it"
            )
        text = _IMPORT.sub("", _COMMENT.sub("", text))
        texts.append(_INDENT.sub("", re.sub(r"^export ", "", text, flags=re.MULTILINE)))
    return "".join(texts)


@lru_cache
def script() -> str:
    """Return the whole script: the figure, and the function whose text becomes the worker."""
    return (
        '(() => {\n"use strict";\n'
        f'const work = () => {{\n"use strict";\n{bundle((*TRAINER, "worker"))}}};\n'
        f"{bundle(PAGE)}}})();\n"
    )
