"""`make lab` on a reader's own machine: the chapters open as notebooks, and a port in use is no obstacle."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from urllib.request import urlopen

from fixtures_book import REPOSITORY, Book

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/lab\S*\?token=(\w+)")
VIEWERS = "@jupyterlab/docmanager-extension:plugin"


def test_make_lab_opens_chapters_as_notebooks_on_the_next_port(tmp_path, book: Book) -> None:
    log = tmp_path / "log"
    with socket.create_server(("127.0.0.1", 0)) as taken, log.open("w") as out:
        port = taken.getsockname()[1]
        lab = subprocess.Popen(
            ["make", "lab", f"VENV={REPOSITORY / '.venv'}", f"LAB=--no-browser --port={port}"],
            cwd=book.root,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            deadline = time.monotonic() + 3600
            while not (found := ADDRESS.search(log.read_text(encoding="utf-8"))):
                assert lab.poll() is None, log.read_text(encoding="utf-8")
                assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
                time.sleep(0.2)
            other, token = found.groups()
            assert int(other) != port
            assert "is already in use" in log.read_text(encoding="utf-8")
            address = f"http://127.0.0.1:{other}"
            with urlopen(f"{address}/lab/api/settings/{VIEWERS}?token={token}", timeout=120) as answer:
                settings = json.load(answer)
            viewers = settings["schema"]["properties"]["defaultViewers"]["default"]
            assert viewers == {"markdown": "Jupytext Notebook", "myst": "Jupytext Notebook"}
            with urlopen(
                f"{address}/api/contents/intro.md?type=notebook&token={token}", timeout=120
            ) as answer:
                cells = json.load(answer)["content"]["cells"]
            assert "code" in {cell["cell_type"] for cell in cells}
        finally:
            os.killpg(lab.pid, signal.SIGTERM)
            lab.wait(120)
