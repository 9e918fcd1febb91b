"""What a clone must hold for its commands to work, anywhere and on any machine."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import chromium
from fixtures_book import LEFT_BEHIND, REPOSITORY

UNREAD = {".png", ".npz", ".npy", ".ico"}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command from the root."""
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=300)


def locked(name: str) -> dict[str, Requirement]:
    """Read a lock file: what it pins, by name."""
    lines = (REPOSITORY / name).read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line.partition("#")[0]) for line in lines if re.match(r"\w", line)]
    return {pin.name: pin for pin in pins}


def test_code_does_not_hide_the_standard_library() -> None:
    """``code`` is a folder here and a module there, which pdb and doctest import."""
    done = run(sys.executable, "-c", "import pdb, doctest, code; print(code.interact.__name__)")
    assert done.stdout.strip() == "interact", done.stderr
    assert not (REPOSITORY / "code" / "__init__.py").exists()


@pytest.mark.parametrize("command", [[], ["-m", "pytest"]])
def test_code_tests_are_collected_from_the_root(command: list[str]) -> None:
    """``pytest code/`` and ``python -m pytest code/`` find the tests and the doctests."""
    start = [sys.executable, *command] if command else [str(Path(sys.executable).with_name("pytest"))]
    done = run(*start, "code/", "--collect-only", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_claims.py" in done.stdout
    assert "encoderlab.model.activations" in done.stdout


def test_jupyter_book_stays_on_the_line_that_reads_this_book() -> None:
    """Jupyter Book 2 reads neither ``_config.yml`` nor ``_toc.yml``."""
    pin = locked("requirements.txt")["jupyter-book"]
    assert pin.specifier.contains("1.0.4.post1")
    assert all(clause.operator == "==" and clause.version.startswith("1.") for clause in pin.specifier)
    declared = (REPOSITORY / "code" / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r'"jupyter-book>=1[^"]*<2"', declared)


def test_locks_agree() -> None:
    """Tests run on the versions that the book is built with, each pinned exactly."""
    book, tests = locked("requirements.txt"), locked("requirements-test.txt")
    for pins in (book, tests):
        assert all(clause.operator == "==" for pin in pins.values() for clause in pin.specifier)
    assert {n: str(p.specifier) for n, p in tests.items() if n in book} == {
        n: str(book[n].specifier) for n in tests if n in book
    }
    assert "-e ./code" in (REPOSITORY / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert (
        (REPOSITORY / "binder" / "requirements.txt")
        .read_text(encoding="utf-8")
        .endswith("-r ../requirements.txt\n")
    )


def test_commands_of_the_readme_exist() -> None:
    """Each `make` command that a document names is a target."""
    targets = set(re.findall(r"^([a-z][\w-]*):", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md"):
        named = re.findall(r"\bmake ([a-z][\w-]*)", (REPOSITORY / name).read_text(encoding="utf-8"))
        assert set(named) <= targets
    assert {"book", "test"} <= targets


def test_make_help_names_every_target_for_readers() -> None:
    """`make` alone says what there is to say."""
    done = run("make")
    assert done.returncode == 0
    for target in ("book", "test", "serve", "lab", "lock", "clean"):
        assert f"make {target}" in done.stdout


def test_old_python_is_refused_clearly(tmp_path: Path) -> None:
    """A Python below 3.11 is named, and so is what to type instead."""
    python = tmp_path / "python3"
    script = '#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.10.9"\n'
    python.write_text(script, encoding="utf-8")
    python.chmod(0o755)
    done = run("make", f"PYTHON={python}", f"VENV={tmp_path}/venv", "book")
    assert done.returncode != 0
    assert "Python 3.10.9" in done.stderr
    assert "make book PYTHON=python3.12" in done.stderr


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """It is not PyPI's fault, nor that of a package called venv."""
    (tmp_path / "file").touch()
    done = run("make", f"VENV={tmp_path}/file/venv", "book")
    assert done.returncode != 0
    assert f"writing to _build and {tmp_path}/file/venv" in done.stderr
    assert "Copy the repository to a folder of your own" in done.stderr
    assert "PyPI" not in done.stderr


def checked_out(*options: str, folder: Path) -> Path:
    """Clone the files that are here, as git would hand them out on another system."""
    subprocess.run(["git", "init", "--quiet", folder / "source"], check=True)
    shutil.copytree(
        REPOSITORY, folder / "source", ignore=shutil.ignore_patterns(*LEFT_BEHIND), dirs_exist_ok=True
    )
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for step in (["add", "--all"], [*who, "commit", "--quiet", "--message=All"]):
        subprocess.run(["git", *step], cwd=folder / "source", check=True, capture_output=True)
    subprocess.run(["git", *options, "clone", "--quiet", folder / "source", folder / "clone"], check=True)
    return folder / "clone"


def test_windows_checkout_keeps_the_line_ends_that_bash_reads(tmp_path: Path) -> None:
    """And no file of the repository comes out with other bytes than it went in."""
    clone = checked_out("-c", "core.autocrlf=true", folder=tmp_path)
    for script in ("binder/postBuild", ".ci/run"):
        assert b"\r" not in (clone / script).read_bytes()
        assert run("bash", "-n", str(clone / script)).returncode == 0
    for path in filter(Path.is_file, (clone / "code").rglob("*")):
        assert path.read_bytes() == (REPOSITORY / path.relative_to(clone)).read_bytes(), path


def test_no_step_needs_a_run_bit() -> None:
    """Windows and an unpacked archive have none: scripts are handed to bash."""
    for name in (
        "Makefile",
        "README.md",
        "CONTRIBUTING.md",
        "chapters/teaching.md",
        ".github/workflows/book.yml",
    ):
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        for script in ("binder/postBuild", ".ci/run"):
            for line in text.splitlines():
                assert script not in line or f"bash {script}" in line, f"{name}: {line}"


def test_package_carries_its_licence_and_its_tests(tmp_path: Path) -> None:
    """Whoever has the wheel has the licence; whoever has the archive of sources can test it."""
    shutil.copytree(REPOSITORY / "code", tmp_path / "code", ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    build = [
        sys.executable,
        "-m",
        "uv",
        "build",
        "--quiet",
        "--out-dir",
        tmp_path / "dist",
        tmp_path / "code",
    ]
    subprocess.run(build, check=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    root = " ".join((REPOSITORY / "LICENSE").read_text(encoding="utf-8").split())
    with zipfile.ZipFile(wheel) as file:
        (licence,) = [name for name in file.namelist() if name.endswith("licenses/LICENSE")]
        assert " ".join(file.read(licence).decode("utf-8").split()) in root
        assert not any(name.startswith("tests/") for name in file.namelist())
    with tarfile.open(archive) as file:
        packed = {name.partition("/")[2] for name in file.getnames()}
    for path in filter(Path.is_file, (REPOSITORY / "code" / "tests").rglob("*")):
        if "__pycache__" not in path.parts:
            assert path.relative_to(REPOSITORY / "code").as_posix() in packed


def test_git_ignores_what_building_leaves() -> None:
    """No build of the package or the book comes into a commit by `git add`."""
    rules = (REPOSITORY / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"code/build/", "code/dist/", "_build/", "notebooks/"} <= set(rules)


def test_serve_says_what_is_in_the_way(tmp_path: Path) -> None:
    """Without a book `make serve` says how to get one, and on a port in use how to name another."""
    done = run("make", f"PAGE={tmp_path}/intro.html", "serve")
    assert done.returncode != 0
    assert "Run make book first" in done.stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("make", "PAGE=README.md", f"PORT={taken.getsockname()[1]}", "serve")
    assert done.returncode != 0
    assert "It is in use: try make serve PORT=" in done.stderr


def test_missing_browser_is_said_clearly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where none is found and none can be brought, the failure says what to install."""
    tried = []
    monkeypatch.setattr(chromium, "find", lambda: None)
    monkeypatch.setattr(chromium, "install", lambda: tried.append("install"))
    assert chromium.main() == 1
    assert tried == ["install"]
    assert "apt-get install chromium" in capsys.readouterr().err


def test_links_of_the_documents_resolve() -> None:
    """Each file that a document of the root links to or shows is there."""
    for document in REPOSITORY.glob("*.md"):
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8"))
        assert [link for link in links if not (REPOSITORY / link).exists()] == [], document.name


def test_no_file_names_a_machine() -> None:
    """No path of anyone's machine stands in the repository."""
    machine = re.compile(r"(?<![\w./~-])/(?:home|root|work|Users)/\w")
    told, read = [], 0
    for folder, folders, names in os.walk(REPOSITORY):
        # In a further worktree `.git` is a file, and names where the first one is.
        left_behind = shutil.ignore_patterns(*LEFT_BEHIND)(folder, [*folders, *names])
        folders[:] = set(folders) - left_behind
        texts = [Path(folder, n) for n in set(names) - left_behind if Path(n).suffix not in UNREAD]
        told += [str(path) for path in texts if machine.search(path.read_text(encoding="utf-8"))]
        read += len(texts)
    assert read > 100
    assert told == []
