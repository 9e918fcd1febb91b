"""The workflows are valid, pinned, and call commands that exist."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from packaging.version import Version

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
    assert WORKFLOWS
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


def before(jobs: dict[str, Any], name: str) -> set[str]:
    """Name the jobs that must have passed before a job starts."""
    needs = jobs[name].get("needs", [])
    needs = {needs} if isinstance(needs, str) else set(needs)
    return needs.union(*(before(jobs, need) for need in needs))


def test_nothing_is_put_online_that_was_not_tested_or_is_not_on_main() -> None:
    """Whatever job may write, all tests have passed before it, in the same run, and the branch is main."""
    writers = 0
    for path in WORKFLOWS:
        jobs = read(path)["jobs"]
        for name, job in jobs.items():
            if "write" not in job.get("permissions", {}).values():
                continue
            writers += 1
            passed = [jobs[other] for other in before(jobs, name)]
            assert any(step.get("run") == "bash .ci/run" for other in passed for step in other["steps"])
            assert any(other.get("if") == "github.ref == 'refs/heads/main'" for other in [job, *passed])
    assert writers > 0


def test_tests_run_on_the_oldest_python_that_is_promised_and_on_binders() -> None:
    """What a project declares and what its workflow tries drift apart when one of them is edited."""
    project = tomllib.loads((REPOSITORY / "code" / "pyproject.toml").read_text(encoding="utf-8"))
    promised = SpecifierSet(project["project"]["requires-python"])
    binder = (REPOSITORY / "binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    tried = {
        str(python)
        for path in WORKFLOWS
        for job in read(path)["jobs"].values()
        for python in job.get("strategy", {}).get("matrix", {}).get("python", [])
    }
    oldest = min(tried, key=Version)
    major, minor = map(int, oldest.split("."))
    assert f"{major}.{minor}" in promised
    assert f"{major}.{minor - 1}" not in promised
    assert binder.removeprefix("python-") in tried


def test_what_make_test_leaves_out_is_run_somewhere() -> None:
    """A check that nobody runs finds nothing."""
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    checks = set(re.findall(r"^(test[\w-]*|links|lint|mutants):", makefile, re.MULTILINE))
    commands = [step["run"] for path in WORKFLOWS for step in steps(read(path)) if "run" in step]
    scripts = [
        (REPOSITORY / name).read_text("utf-8") for name in re.findall(r"bash (\S+)", "\n".join(commands))
    ]
    asked = {
        name
        for text in (*commands, *scripts)
        for line in re.findall(r"\bmake ([^|&\n]+)", text)
        for name in line.split()
    }
    asked |= set(re.search(r"^test: (.*)", makefile, re.MULTILINE)[1].split()) if "test" in asked else set()
    assert checks <= asked
