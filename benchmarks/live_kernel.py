"""Measure what a reader of the live book waits for, and the memory that it takes.

    make test-code
    .venv/bin/python benchmarks/live_kernel.py

Each document runs from its first cell to its last, in a kernel of its own, three times. The median times and
the largest peak memory go to live_kernel.json beside this file, which the book shows to teachers.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import jupytext
import nbformat
import yaml
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
RESULT = Path(__file__).with_suffix(".json")
REPEATS = 3
SECONDS_FOR_A_CELL = 600  # as in the build, on a machine that may be busy
FIGURES = {"application/vnd.jupyter.widget-view+json", "image/png", "image/svg+xml"}
STATUS = Path("/proc/self/status")  # Linux tells a process's peak memory there
ASK_MEMORY = f"print(open({str(STATUS)!r}).read())"


@dataclass(frozen=True)
class Live:
    """A document that was run in a kernel.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        The cells with their outputs, and the widgets' state.
    first_figure : float or None
        Seconds from the start of the kernel to the end of the first cell that shows a figure.
    seconds : float
        Seconds from the start of the kernel to the end of the last cell.
    peak_memory : float
        Megabytes, the most that the kernel took; nan where the system does not say.
    """

    notebook: nbformat.NotebookNode
    first_figure: float | None
    seconds: float
    peak_memory: float


def run(document: str, folder: str = ".", world: str = "") -> Live:
    """Run all cells of a document.

    Parameters
    ----------
    document : str
        Its path from the root, without the ending.
    folder : str
        Where the kernel starts, from the root.
    world : str
        What the cells draw for: "page" as the build does, "" with explorers as widgets.

    Raises
    ------
    nbclient.exceptions.CellExecutionError, nbclient.exceptions.CellTimeoutError
        If a cell raises, or takes more than ten minutes.
    """
    notebook = jupytext.read(ROOT / f"{document}.md")
    notebook.cells.append(nbformat.v4.new_code_cell(ASK_MEMORY if STATUS.exists() else "print()"))
    client = NotebookClient(
        notebook,
        timeout=SECONDS_FOR_A_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(ROOT / folder)}},
        coalesce_streams=True,
    )
    with tempfile.TemporaryDirectory() as profile:
        start = time.time()
        client.execute(env=os.environ | {"ENCODERLAB_WORLD": world, "IPYTHONDIR": profile})
    peak = peak_memory(notebook.cells.pop().outputs[0].text)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    ends = [datetime.datetime.fromisoformat(cell.metadata.execution["shell.execute_reply"]) for cell in cells]
    seconds = [end.timestamp() - start for end in ends]
    shown = (second for cell, second in zip(cells, seconds, strict=True) if shows_figure(cell))
    return Live(notebook, next(shown, None), seconds[-1], peak)


def peak_memory(status: str) -> float:
    """Find the most megabytes that a process took, in what Linux tells of it; nan if it tells nothing."""
    lines = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return next((float(line.split()[1]) / 1024 for line in lines), math.nan)


def shows_figure(cell: nbformat.NotebookNode) -> bool:
    """Tell whether a cell shows a figure, the playground in its frame among them."""
    shown = [output.get("data", {}) for output in cell.outputs]
    return any(FIGURES & set(data) or "<iframe" in data.get("text/html", "") for data in shown)


def server_memory() -> float:
    """Return the megabytes that JupyterLab's server takes, kernels aside, when its page is asked for."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}"]
    options = ["--ServerApp.port_retries=0", "--IdentityProvider.token="]
    with subprocess.Popen([*command, *options], cwd=ROOT, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(100):
                try:
                    urlopen(f"http://127.0.0.1:{port}/lab", timeout=10).close()
                    break
                except URLError:
                    time.sleep(0.3)
            return peak_memory(Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8"))
        finally:
            server.terminate()


def documents() -> list[str]:
    """Name the documents of the book that have cells."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    files = [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]
    return [name for name in files if "{code-cell}" in (ROOT / f"{name}.md").read_text(encoding="utf-8")]


def main() -> None:
    """Measure every document, print the numbers and write them down."""
    chapters = {}
    for document in documents():
        runs = [run(document) for _ in range(REPEATS)]
        first = [live.first_figure for live in runs if live.first_figure is not None]
        chapters[document] = {
            "first_figure_s": round(statistics.median(first), 1) if first else None,
            "all_cells_s": round(statistics.median(live.seconds for live in runs), 1),
            "peak_memory_mb": round(max(live.peak_memory for live in runs)),
        }
        print(document, chapters[document])
    result = {
        "command": "python benchmarks/live_kernel.py",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "server_memory_mb": round(server_memory()),
        "chapters": chapters,
    }
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
