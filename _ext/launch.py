"""Buttons that open a page live, where the book knows its repository, and each page's notebook to download.

The theme's own launch buttons are not used: they give nbgitpuller a commit, where it takes a branch or a tag,
and leave slashes in the address of a repository outside GitHub and GitLab, where Binder cuts it short.
"""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from sphinx.errors import ConfigError

from plain_notebooks import FOLDER, write_download
from repository import Repository, find_repository

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.config import Config

BINDER = "https://mybinder.org"
HELP = "chapters/teaching"  # the page on all ways to run the book, and on what to do when one fails


def binder_link(repository: Repository) -> str:
    """Return what, followed by a file of the repository, opens that file on Binder."""
    url = urlsplit(repository.address)
    path = url.path.strip("/")
    if url.netloc == "github.com" and path.count("/") == 1:
        place = f"gh/{path}"
    elif url.netloc == "gitlab.com":
        place = f"gl/{quote(path, safe='')}"
    else:
        place = f"git/{quote(repository.address, safe='')}"
    return f"{BINDER}/v2/{place}/{repository.commit}?urlpath=lab/tree/"


def jupyterhub_link(repository: Repository, hub: str) -> str:
    """Return what, followed by a file of the repository, opens it on a JupyterHub with nbgitpuller."""
    url = urlsplit(hub)
    if url.scheme not in ("http", "https") or not url.netloc or url.query or url.fragment:
        raise ConfigError(
            "BOOK_JUPYTERHUB: expected the address of a JupyterHub, such as https://hub.example.org, "
            f"got {hub!r}"
        )
    query = {"repo": repository.address, "branch": repository.branch}
    query = {key: value for key, value in query.items() if value}
    hub = hub.rstrip("/").removesuffix("/hub")
    return (
        f"{hub}/hub/user-redirect/git-pull?{urlencode(query)}&urlpath={quote(f'lab/tree/{repository.name}/')}"
    )


def launch_links(root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Name the services that can run the book; a file's name completes each link.

    Parameters
    ----------
    root : Path
        The folder of the book.
    environment : mapping of str to str
        The environment variables: `BOOK_JUPYTERHUB` is the address of a class's JupyterHub.

    Returns
    -------
    dict of str to str
        Nothing if the book knows of no repository.

    Raises
    ------
    ConfigError
        If an address in the environment is none, or there is a JupyterHub but nothing that it could pull.
    """
    repository = find_repository(root, environment)
    hub = environment.get("BOOK_JUPYTERHUB", "").strip()
    if repository is None:
        if hub:
            raise ConfigError("BOOK_JUPYTERHUB is set, but nothing that it could pull: set BOOK_REPOSITORY")
        return {}
    links = {"Binder": binder_link(repository)}
    if hub:
        links["JupyterHub"] = jupyterhub_link(repository, hub)
    return links


def page_link(service: str, link: str, document: str) -> str:
    """Complete the link of a service with a document of the book.

    Binder's image has the notebooks, which its last step wrote; nbgitpuller brings what is in the repository.
    """
    return link + quote(f"{FOLDER}/{document}.ipynb" if service == "Binder" else f"{document}.md")


def book_address(environment: Mapping[str, str]) -> str:
    """Return the address that `BOOK_ADDRESS` gives the book, with a slash at its end; "" if unknown."""
    address = environment.get("BOOK_ADDRESS", "").strip()
    url = urlsplit(address)
    if address and (url.scheme not in ("http", "https") or not url.netloc or url.query or url.fragment):
        raise ConfigError(
            "BOOK_ADDRESS: expected the address of a folder, such as https://example.org/book/, "
            f"got {address!r}"
        )
    return f"{address.rstrip('/')}/" if address else ""


def find_links(app: Sphinx, config: Config) -> None:
    """Look once in a build; when the links change, every page is written anew."""
    config.launch_links = launch_links(Path(app.srcdir), os.environ)
    config.html_baseurl = book_address(os.environ)


def offer(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give a page that is a notebook its launch buttons and its notebook, outputs included."""
    if "kernelspec" not in app.env.metadata.get(pagename, {}):
        return
    repository = find_repository(Path(app.srcdir), os.environ)
    write_download(app, pagename, Path(app.outdir, "_sources", f"{pagename}.ipynb"), repository)
    context["ipynb_source"] = f"{pagename}.ipynb"  # the theme adds it to the downloads
    buttons = [
        link_button(
            name, html.escape(page_link(name, link, pagename)), f"Open this page live on {name}", logo(name)
        )
        for name, link in app.config.launch_links.items()
    ]
    if buttons and HELP in app.env.found_docs:
        page = f"{context['pathto'](HELP)}#when-something-is-down"
        buttons.append(link_button("Does not open?", page, "Other ways to run this page", "fas fa-question"))
    if buttons:
        context["header_buttons"].append(
            {
                "type": "group",
                "tooltip": "Open this page live",
                "icon": "fas fa-rocket",
                "buttons": buttons,
                "label": "launch-buttons",
            }
        )


def link_button(text: str, url: str, tooltip: str, icon: str) -> dict[str, str]:
    """Describe a button as the theme wants it."""
    return {"type": "link", "text": text, "url": url, "tooltip": tooltip, "icon": icon}


def logo(service: str) -> str:
    """Name the theme's picture of a service."""
    return f"_static/images/logo_{service.lower()}.svg"


def setup(app: Sphinx) -> dict[str, object]:
    """Connect to Sphinx, after the theme has begun its header buttons and before it lists the downloads."""
    app.add_config_value("launch_links", {}, "html", [dict])
    app.connect("config-inited", find_links)
    app.connect("html-page-context", offer)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
