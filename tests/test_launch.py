"""The book offers to run a page live if, and only if, it knows a repository that readers can reach."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from sphinx.errors import ConfigError

from fixtures_book import REPOSITORY, Book, Build, notebooks, source, toc_documents
from launch import launch_links, page_link
from repository import Repository, find_repository, public_address

HTTPS = "https://github.com/owner/name"
NAMED = {"BOOK_REPOSITORY": HTTPS}


def git(root: Path, *arguments: str) -> str:
    """Run git in a folder, as nobody in particular."""
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"]
    run = subprocess.run(
        ["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True, timeout=60
    )
    return run.stdout.strip()


def make_clone(root: Path, origin: str) -> str:
    """Make a folder a clone with one commit, and return that commit."""
    root.mkdir(exist_ok=True)
    git(root, "init", "--initial-branch=main")
    git(root, "commit", "--allow-empty", "--message=One")
    git(root, "remote", "add", "origin", origin)
    return git(root, "rev-parse", "HEAD")


# Which addresses are a repository's?


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/owner/name", HTTPS),
        ("https://github.com/owner/name.git", HTTPS),
        ("https://github.com/owner/name/", HTTPS),
        ("https://owner:secret@github.com/owner/name.git", HTTPS),
        ("https://x-access-token:a:b@github.com/owner/name", HTTPS),
        ("git@github.com:owner/name.git", HTTPS),
        ("github.com:owner/name.git", HTTPS),
        ("ssh://git@github.com/owner/name.git", HTTPS),
        ("git://github.com/owner/name.git", HTTPS),
        ("git+ssh://git@github.com:22/owner/name", HTTPS),
        ("ssh://git@git.example.org:2222/group/part/name.git", "https://git.example.org/group/part/name"),
        ("https://git.example.org:8443/name.git", "https://git.example.org:8443/name"),
        ("http://git.example.org/name", "http://git.example.org/name"),
    ],
)
def test_remote_becomes_an_address_for_readers(remote: str, address: str) -> None:
    assert public_address(remote) == address


@pytest.mark.parametrize(
    "remote",
    [
        "/srv/git/name.git",
        "../name",
        "./name.git",
        "name",
        "~/name",
        "file:///srv/git/name.git",
        "C:\\books\\name",
        "C:/books/name",
        "\\\\server\\share\\name",
        "http://localhost:3000/owner/name",
        "https://127.0.0.1/owner/name",
        "http://[::1]/owner/name",
        "work:owner/name.git",
        "reader@example.org:~/name",
        "https://github.com",
        "https://github.com/",
        "",
        "  ",
    ],
)
def test_path_of_a_machine_is_no_address(remote: str) -> None:
    assert public_address(remote) == ""


# Who says where the repository is?


def test_variable_comes_first_then_the_remote_then_github(tmp_path: Path) -> None:
    root = tmp_path / "clone"
    commit = make_clone(root, "git@git.example.org:class/book.git")
    github = {"GITHUB_REPOSITORY": "owner/actions", "GITHUB_SHA": "0" * 40}
    everyone = NAMED | github
    assert find_repository(root, everyone) == Repository(HTTPS, commit, "main")
    assert find_repository(root, github) == Repository("https://git.example.org/class/book", commit, "main")
    git(root, "remote", "set-url", "origin", "/srv/git/book.git")
    assert find_repository(root, github).address == "https://github.com/owner/actions"
    enterprise = github | {"GITHUB_SERVER_URL": "https://github.example.org"}
    assert find_repository(root, enterprise).address == "https://github.example.org/owner/actions"
    assert find_repository(root, {}) is None


def test_folder_without_git_knows_what_it_is_told(tmp_path: Path) -> None:
    assert find_repository(tmp_path, {}) is None
    assert find_repository(tmp_path, NAMED) == Repository(HTTPS, "HEAD", "")
    github = {"GITHUB_REPOSITORY": "owner/name", "GITHUB_SHA": "0" * 40}
    assert find_repository(tmp_path, github) == Repository(HTTPS, "0" * 40, "")


def test_copy_inside_another_repository_is_not_from_there(tmp_path: Path) -> None:
    make_clone(tmp_path, HTTPS)
    copy = tmp_path / "copy"
    copy.mkdir()
    assert find_repository(tmp_path, {}) is not None
    assert find_repository(copy, {}) is None


def test_checked_out_tag_is_named(tmp_path: Path) -> None:
    """Nbgitpuller takes a branch or a tag; a commit between tags has neither."""
    commit = make_clone(tmp_path, HTTPS)
    git(tmp_path, "tag", "v1.0")
    git(tmp_path, "checkout", "--detach")
    assert find_repository(tmp_path, {}) == Repository(HTTPS, commit, "v1.0")
    git(tmp_path, "tag", "--delete", "v1.0")
    assert find_repository(tmp_path, {}) == Repository(HTTPS, commit, "")


@pytest.mark.parametrize("remote", ["/srv/git/name.git", "name", "file:///srv/name"])
def test_variable_that_names_no_repository_is_refused(tmp_path: Path, remote: str) -> None:
    with pytest.raises(ConfigError, match=r"BOOK_REPOSITORY: expected an address .* got"):
        find_repository(tmp_path, {"BOOK_REPOSITORY": remote})


# Where do the links lead?


@pytest.mark.parametrize(
    ("address", "place"),
    [
        (HTTPS, "gh/owner/name"),
        ("https://gitlab.com/group/part/name", "gl/group%2Fpart%2Fname"),
        ("https://git.example.org/owner/name", "git/https%3A%2F%2Fgit.example.org%2Fowner%2Fname"),
    ],
)
def test_binder_gets_the_repository_the_revision_and_the_file(
    tmp_path: Path, address: str, place: str
) -> None:
    root = tmp_path / "clone"
    commit = make_clone(root, f"{address}.git")
    links = launch_links(root, {})
    assert list(links) == ["Binder"]
    link = page_link("Binder", links["Binder"], "chapters/attention")
    assert (
        link
        == f"https://mybinder.org/v2/{place}/{commit}?urlpath=lab/tree/notebooks/chapters/attention.ipynb"
    )


@pytest.mark.parametrize(
    "hub", ["https://hub.example.org", "https://hub.example.org/hub/", "http://h.org/a/"]
)
def test_hub_gets_what_nbgitpuller_takes(tmp_path: Path, hub: str) -> None:
    root = tmp_path / "clone"
    make_clone(root, "git@github.com:owner/name.git")
    link = page_link("JupyterHub", launch_links(root, {"BOOK_JUPYTERHUB": hub})["JupyterHub"], "intro")
    url = urlsplit(link)
    assert link.startswith(f"{hub.removesuffix('/hub/').rstrip('/')}/hub/user-redirect/git-pull?")
    assert parse_qs(url.query) == {"repo": [HTTPS], "branch": ["main"], "urlpath": ["lab/tree/name/intro.md"]}


def test_hub_gets_no_branch_where_none_is_known(tmp_path: Path) -> None:
    links = launch_links(tmp_path, NAMED | {"BOOK_JUPYTERHUB": "https://hub.example.org"})
    assert "branch" not in links["JupyterHub"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"BOOK_JUPYTERHUB": "https://hub.example.org"}, "set BOOK_REPOSITORY"),
        (
            NAMED | {"BOOK_JUPYTERHUB": "hub.example.org"},
            "BOOK_JUPYTERHUB: expected .* got 'hub.example.org'",
        ),
        (NAMED | {"BOOK_JUPYTERHUB": "https://hub.example.org?a=b"}, "BOOK_JUPYTERHUB: expected"),
    ],
)
def test_hub_that_cannot_serve_is_refused(tmp_path: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        launch_links(tmp_path, settings)


# What stands in a page?


def buttons(book: Book, build: Build, kind: str) -> dict[str, str]:
    """Return the links under one button in the header of the first page, by what they say."""
    assert build.status == 0, build.log[-6000:]
    soup = BeautifulSoup((book.html / "intro.html").read_text(encoding="utf-8"), "html.parser")
    return {a.get_text(strip=True): str(a["href"]) for a in soup.select(f".dropdown-{kind}-buttons a")}


def test_buttons_of_a_page_follow_what_the_book_knows(small_book: Book) -> None:
    """No repository, no button; a new commit reaches pages that did not change themselves."""
    root = small_book.root
    commit = make_clone(root, "/srv/somewhere/book.git")
    assert buttons(small_book, small_book.build(), "launch") == {}
    for path in [*small_book.html.rglob("*.html"), *small_book.html.rglob("*.js")]:
        assert "/srv/somewhere" not in path.read_text(encoding="utf-8")

    git(root, "remote", "set-url", "origin", "git@github.com:owner/name.git")
    build = small_book.build(BOOK_JUPYTERHUB="https://hub.example.org")
    links = buttons(small_book, build, "launch")
    assert list(links) == ["Binder", "JupyterHub"]
    assert f"/owner/name/{commit}?" in links["Binder"]
    assert unquote(urlsplit(links["JupyterHub"]).query).endswith(
        "&branch=main&urlpath=lab/tree/name/intro.md"
    )

    git(root, "commit", "--allow-empty", "--message=Two")
    build = small_book.build()
    assert build.notebooks("Executed") == []
    links = buttons(small_book, build, "launch")
    assert list(links) == ["Binder"]
    assert f"/{git(root, 'rev-parse', 'HEAD')}?" in links["Binder"]


def test_wrong_address_ends_the_build_and_says_so(small_book: Book) -> None:
    build = small_book.build(BOOK_REPOSITORY="/srv/git/book")
    assert build.status != 0
    assert "BOOK_REPOSITORY: expected an address that readers can reach" in build.log


@pytest.mark.parametrize("document", toc_documents())
def test_page_offers_its_source_and_its_notebook(book: Book, document: str) -> None:
    """The source is the file; the notebook has the outputs that the page shows, and names no machine."""
    page = book.html / f"{document}.html"
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    files = [page.parent / str(a["href"]) for a in soup.select(".dropdown-download-buttons a")]
    assert [path.suffix for path in files] == ([".ipynb"] if document in notebooks() else []) + [".md"]
    assert files[-1].read_text(encoding="utf-8") == source(document)
    if document in notebooks():
        text = files[0].read_text(encoding="utf-8")
        assert str(book.root) not in text
        assert not re.search(r" at 0x[0-9a-f]{6,}", text), "an output tells where in memory an object was"
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        assert len(cells) == source(document).count("\n```{code-cell}")
        html = [o["data"].get("text/html", "") for c in cells for o in c["outputs"] if "data" in o]
        shown = [text for text in map("".join, html) if 'class="explorer"' in text]
        assert len(shown) == source(document).count("\nExplorer(")


def test_page_without_a_repository_has_no_launch_button(book: Book) -> None:
    """The copy that the tests build is no clone."""
    for document in toc_documents():
        soup = BeautifulSoup((book.html / f"{document}.html").read_text(encoding="utf-8"), "html.parser")
        assert soup.select(".dropdown-launch-buttons") == []


def test_help_behind_the_button_is_there() -> None:
    """The page that the third link of the button leads to has the heading that it names."""
    assert "\n## When something is down\n" in (REPOSITORY / "chapters/teaching.md").read_text(
        encoding="utf-8"
    )
