"""What Binder makes of this repository, as repo2docker tells it without building anything."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import yaml

from fixtures_book import REPOSITORY

REPO2DOCKER = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."]
ON_PYPI = {"jupyterhub-singleuser": "jupyterhub"}  # what conda calls otherwise
NOT_ON_PYPI = {"python", "nodejs", "pip"}


def dockerfile() -> str:
    """Return the Dockerfile that Binder builds from this repository, with what is said before it."""
    told = subprocess.run(
        REPO2DOCKER,
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert told.returncode == 0, told.stdout
    return told.stdout


def repository_steps(text: str) -> list[str]:
    """List the commands that a Dockerfile runs once the repository is in its place."""
    return re.findall(r"^RUN (.*)$", text.partition("COPY --chown=0:0 src/ ${REPO_DIR}/")[2], re.MULTILINE)


def base_packages(python: str) -> list[str]:
    """Pin what Binder's own environment asks for before it looks at a repository, as PyPI names it.

    Parameters
    ----------
    python : str
        The version of Python, such as "3.11".
    """
    (package,) = find_spec("repo2docker").submodule_search_locations
    conda = Path(package, "buildpacks", "conda")
    wanted = yaml.safe_load((conda / "environment.yml").read_text())["dependencies"]
    names = {re.split("[ =]", line)[0] for line in wanted}
    lock = (conda / f"environment.py-{python}-linux-64.lock").read_text()
    pins = dict(re.findall(r"/([\w.-]+?)-(\d[\w.]*)-[^-/]+\.(?:conda|tar\.bz2)", lock))
    return [f"{ON_PYPI.get(name, name)}=={pins[name]}" for name in sorted(names - NOT_ON_PYPI)]
