"""The workflows are valid, pinned, and call commands that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fixtures_book import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
VALID = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]


def read(path: Path) -> dict[str, Any]:
    """Read a workflow; the key `on` is true in YAML."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    """List the steps of all jobs."""
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_workflows_fit_githubs_schema(tmp_path: Path) -> None:
    assert len(WORKFLOWS) == 2
    done = subprocess.run([*VALID, *WORKFLOWS], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(WORKFLOWS[0].read_text(encoding="utf-8").replace("steps:", "step:"), encoding="utf-8")
    assert subprocess.run([*VALID, wrong], capture_output=True, check=False, timeout=120).returncode != 0


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit_and_name_their_version(path: Path) -> None:
    used = re.findall(r"uses: *(.*)", path.read_text(encoding="utf-8"))
    assert len(used) > 0
    for action in used:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_exist_and_jobs_end(path: Path) -> None:
    workflow = read(path)
    targets = set(re.findall(r"^([a-z][\w-]*):", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE))
    commands = [step["run"] for step in steps(workflow) if "run" in step]
    assert {name for command in commands for name in re.findall(r"^make ([a-z-]+)", command)} <= targets
    assert all(
        (REPOSITORY / name).is_file() for command in commands for name in re.findall(r"^bash (\S+)", command)
    )
    assert all(0 < job["timeout-minutes"] <= 60 for job in workflow["jobs"].values())
    assert workflow["permissions"] == {"contents": "read"}


def test_book_is_tested_before_it_is_deployed() -> None:
    """Tests run for each change on all Pythons; only a main branch that passed is put online."""
    workflow = read(REPOSITORY / ".github" / "workflows" / "book.yml")
    jobs = workflow["jobs"]
    assert {"push", "pull_request"} <= set(workflow[True])
    assert jobs["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    assert jobs["build"]["needs"] == "test"
    assert jobs["build"]["if"] == "github.ref == 'refs/heads/main'"
    assert jobs["deploy"]["needs"] == "build"
    assert jobs["deploy"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert any("actions/cache" in step.get("uses", "") for step in steps(workflow))


def test_links_and_newest_versions_are_looked_at_weekly() -> None:
    workflow = read(REPOSITORY / ".github" / "workflows" / "weekly.yml")
    (schedule,) = workflow[True]["schedule"]
    minute, hour, day, month, weekday = schedule["cron"].split()
    assert (day, month) == ("*", "*")
    assert all(part.isdecimal() for part in (minute, hour, weekday))
    commands = [step.get("run") for step in steps(workflow)]
    assert "make links" in commands
    assert commands.index("make lock UPGRADE=--upgrade") < commands.index("bash .ci/run")
