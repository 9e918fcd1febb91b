"""Where the book can be had: the address of its repository as a reader reaches it, and the revision built."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sphinx.errors import ConfigError

# https://USER:TOKEN@HOST:PORT/PATH, ssh://USER@HOST:PORT/PATH, git://HOST/PATH
URL = re.compile(
    r"(?P<scheme>https?|(?:git\+)?ssh|git)://(?:[^@/]*@)?(?P<host>[^:/@]+)(?P<port>:\d+)?/(?P<path>.+)"
)
# USER@HOST:PATH, as ssh is written for short
SHORT = re.compile(r"(?:[^@:/]+@)?(?P<host>[^:/@]+):(?P<path>.+)")


@dataclass(frozen=True)
class Repository:
    """What a service that runs the book has to be told.

    Parameters
    ----------
    address : str
        Such as ``https://github.com/owner/name``: no password, no ``.git``.
    commit : str
        The revision built, or "HEAD" where that is not known.
    branch : str
        A branch or tag that leads to it, or "" for the repository's own choice.
    """

    address: str
    commit: str
    branch: str

    @property
    def name(self) -> str:
        """The folder that a clone makes."""
        return self.address.rpartition("/")[2]


def public_address(remote: str) -> str:
    """Turn the address of a remote into one that a reader can reach.

    Parameters
    ----------
    remote : str
        An address in any form that git takes.

    Returns
    -------
    str
        An ``https`` or ``http`` address without user, password and ``.git``; "" for a path of this machine.

    Examples
    --------
    >>> public_address("git@github.com:owner/name.git")
    'https://github.com/owner/name'
    >>> public_address("https://owner:secret@github.com/owner/name/")
    'https://github.com/owner/name'
    >>> public_address("/srv/git/name.git"), public_address("file:///srv/git/name.git")
    ('', '')
    """
    remote = remote.strip()
    parts = URL.fullmatch(remote) or ("://" not in remote and SHORT.fullmatch(remote))
    if not parts:
        return ""
    found = parts.groupdict()
    web = found.get("scheme", "").startswith("http")  # the port of ssh is not the web's
    scheme, port = (found["scheme"], found["port"] or "") if web else ("https", "")
    host, path = found["host"], found["path"].strip("/").removesuffix(".git")
    # A drive, an alias of ssh and localhost have no dot; a home folder is nobody else's.
    if "." not in host.strip(".") or host.startswith("127.") or not path or path.startswith("~"):
        return ""
    return f"{scheme}://{host}{port}/{path}"


def find_repository(root: Path, environment: Mapping[str, str]) -> Repository | None:
    """Say where the book can be had: what `BOOK_REPOSITORY` names, else git's remote, else GitHub's own word.

    Parameters
    ----------
    root : Path
        The folder of the book. A remote counts if it is the root of a clone: a copy inside another
        repository does not come from that repository's remote.
    environment : mapping of str to str
        The environment variables.

    Returns
    -------
    Repository or None
        None if the book does not know, or knows a path of this machine alone.

    Raises
    ------
    ConfigError
        If `BOOK_REPOSITORY` is no address that a reader can reach.
    """
    is_clone = git(root, "rev-parse", "--is-inside-work-tree", "--show-prefix") == "true"
    address = ""
    if named := environment.get("BOOK_REPOSITORY", "").strip():
        address = public_address(named)
        if not address:
            raise ConfigError(
                "BOOK_REPOSITORY: expected an address that readers can reach, such as "
                f"https://github.com/OWNER/NAME, got {named!r}"
            )
    elif is_clone:
        address = public_address(git(root, "remote", "get-url", "origin"))
    if not address and (slug := environment.get("GITHUB_REPOSITORY", "").strip()):
        address = public_address(f"{environment.get('GITHUB_SERVER_URL') or 'https://github.com'}/{slug}")
    if not address:
        return None
    commit = git(root, "rev-parse", "HEAD") if is_clone else environment.get("GITHUB_SHA", "")
    branch = git(root, "branch", "--show-current") or git(root, "describe", "--tags", "--exact-match")
    return Repository(address, commit or "HEAD", branch if is_clone else "")


def git(root: Path, *arguments: str) -> str:
    """Ask git something about a folder; "" if there is no answer, or no git."""
    try:
        answer = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, encoding="utf-8", timeout=60, check=False
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""
