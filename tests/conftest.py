"""The Chromium that the tests of the book drive."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

import chromium

expect.set_options(timeout=60_000)  # milliseconds; a machine may be busy, and what fails fails later

pytest_plugins = ["fixtures_book", "fixtures_binder"]

# Quiet and alone: no sandbox (tests may run as root), no graphics card, no traffic of the browser's own.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Launch Chromium; without one the tests that need it fail, they never skip."""
    executable = chromium.find()
    if executable is None:
        pytest.fail(chromium.ADVICE)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield launched
        launched.close()
