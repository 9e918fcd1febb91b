"""Binder reads this repository as it is meant: its Python, its lock, its last step."""

from __future__ import annotations

import re

from packaging.requirements import Requirement

from dockerfile import dockerfile, repository_steps
from fixtures_book import REPOSITORY


def test_dockerfile_names_python_installs_the_lock_and_runs_the_last_step() -> None:
    """What repo2docker prints; a `binder` folder makes it look there alone."""
    text = dockerfile()
    runtime = (REPOSITORY / "binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    assert runtime == "python-3.11"
    assert f"Building conda environment for {runtime.replace('-', '=')}\n" in text
    steps = repository_steps(text)
    install = next(
        k
        for k, step in enumerate(steps)
        if step.endswith('pip install --no-cache-dir -r "binder/requirements.txt"')
    )
    assert "./binder/postBuild" in steps[install + 1 :]
    lines = (REPOSITORY / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    asked = [line for line in lines if not line.startswith("#")]
    assert asked[-1] == "-r ../requirements.txt"
    assert all(re.fullmatch(r"==[\d.]+", str(Requirement(line).specifier)) for line in asked[:-1])


def test_what_binder_reads_in_the_root_is_not_there() -> None:
    """A file that Binder would take in the root, were there no `binder` folder, misleads whoever edits it."""
    for name in ("runtime.txt", "postBuild", "environment.yml", "apt.txt", "start", "Dockerfile", "Pipfile"):
        assert not (REPOSITORY / name).exists()
    assert not (REPOSITORY / ".binder").exists()  # it would win over `binder`
