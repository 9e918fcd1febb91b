"""A server like the one that Binder starts: the same steps, in a fresh environment outside the repository."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from dockerfile import base_packages, dockerfile, repository_steps
from fixtures_book import LEFT_BEHIND, REPOSITORY

# What of this process must not reach the environment under test.
OURS = ("ENCODERLAB_", "PYTHON", "JUPYTER", "IPYTHON", "VIRTUAL_ENV", "UV_")


@dataclass(frozen=True)
class Server:
    """A running Jupyter server, and how to reach it."""

    address: str
    token: str

    def url(self, path: str) -> str:
        """Return the address of a page, with all tabs of earlier pages closed."""
        return f"{self.address}/{path}?token={self.token}&reset"

    def ask(self, path: str, method: str = "GET") -> bytes:
        """Ask the server's own interface."""
        request = Request(f"{self.address}/api{path}", headers={"Authorization": f"token {self.token}"})
        request.method = method
        with urlopen(request, timeout=120) as answer:
            return answer.read()

    def end_sessions(self) -> None:
        """Stop all kernels."""
        for session in json.loads(self.ask("/sessions")):
            self.ask(f"/sessions/{session['id']}", "DELETE")


@pytest.fixture(scope="session")
def binder_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Carry out the steps of Binder's Dockerfile, and return the variables that its processes see."""
    text = dockerfile()
    (python,) = re.findall(r"environment for python=(\S+)", text)
    home = tmp_path_factory.mktemp("binder") / "jovyan"
    shutil.copytree(REPOSITORY, home, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    prefix = home.parent / "env"
    subprocess.run([sys.executable, "-m", "venv", prefix], check=True)
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", prefix / "bin" / "python"]
    subprocess.run([*uv, *base_packages(python)], check=True)
    variables = {key: value for key, value in os.environ.items() if not key.startswith(OURS)}
    variables |= {
        "HOME": str(home),
        "KERNEL_PYTHON_PREFIX": str(prefix),
        "PATH": f"{prefix / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    for step in [*repository_steps(text), "pip check"]:
        done = subprocess.run(
            ["bash", "-c", step],
            cwd=home,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=3600,
            check=False,
        )
        assert done.returncode == 0, f"{step}\n{done.stdout[-6000:]}"
    return variables


@pytest.fixture(scope="session")
def binder(binder_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start what Binder's Dockerfile starts, for this machine alone."""
    (command,) = re.findall(r"^CMD (.*)$", dockerfile(), re.MULTILINE)
    token = secrets.token_hex()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = [f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [
                *json.loads(command.replace("0.0.0.0", "127.0.0.1")),
                *options,
                "--no-browser",
                "--allow-root",
            ],
            cwd=binder_environment["HOME"],
            env=binder_environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    running = Server(f"http://127.0.0.1:{port}", token)
    try:
        wait_for(running, process, log)
        yield running
        running.end_sessions()
    finally:
        process.terminate()
        process.wait(120)


def wait_for(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server answers; fail with its log if it ends or five minutes pass."""
    deadline = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < deadline:
        try:
            server.ask("/status")
            return
        except OSError:  # refused, or too slow to answer
            time.sleep(0.2)
    pytest.fail(log.read_text(encoding="utf-8"))
