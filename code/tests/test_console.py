"""Commands print on systems whose code page lacks σ, ≤ and ′, and stop without a traceback."""

import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from encoderlab.chapters.registry import CLAIMS
from encoderlab.experiments.blas import blas_kernel


def run(*arguments: str, encoding: str) -> subprocess.CompletedProcess[bytes]:
    """Run a module with its output redirected, as on a Windows of that code page."""
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, check=False)


@pytest.mark.parametrize("encoding", ["cp1252", "cp936", "ascii"])
def test_redirected_output_is_whole_in_any_code_page(encoding):
    done = run("encoderlab.claims", encoding=encoding)
    assert done.returncode == 0, done.stderr.decode("utf-8")
    assert len(done.stdout.decode("utf-8").splitlines()) == len(CLAIMS) + 1
    done = run("encoderlab.claims", "3", encoding=encoding)
    assert done.returncode == 0, done.stderr.decode("utf-8")
    text = done.stdout.decode("utf-8")
    assert not text.isascii()
    assert "\ufffd" not in text


def test_list_of_experiments_is_whole_too():
    done = run("encoderlab.experiments", "--list", encoding="cp936")
    assert done.returncode == 0, done.stderr.decode("utf-8")
    assert done.stdout.decode("utf-8")


def test_interrupted_training_ends_in_one_sentence(tmp_path):
    command = [sys.executable, "-m", "encoderlab.experiments", "xor_among", "--directory", str(tmp_path)]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs are deaf to it
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, preexec_fn=heard
    ) as training:
        assert training.stderr is not None
        first = training.stderr.read(1)  # the bar of the first run: training has begun
        training.send_signal(signal.SIGINT)
        told = (first + training.stderr.read()).decode("utf-8")
    assert training.returncode not in (0, -signal.SIGINT)
    assert "Traceback" not in told
    assert "stopped: the same command goes on from here" in told


def test_kernel_is_named_as_threadpoolctl_names_it():
    from threadpoolctl import threadpool_info

    (library,) = {one["filepath"]: one for one in threadpool_info() if "numpy" in one["filepath"]}.values()
    assert library["architecture"] in blas_kernel()
    assert library["version"] in blas_kernel()


def test_kernel_is_said_to_be_unknown_where_nothing_tells(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    assert blas_kernel().endswith("kernel not known")
