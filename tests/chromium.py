"""Find a Chromium to drive, or bring one: the PATH's, else Debian's when root, else Playwright's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ADVICE = (
    "no Chromium was found and none could be installed: put one on the PATH under the name chromium "
    "(Debian and Ubuntu: apt-get install chromium), or run: python -m playwright install chromium"
)


def works(executable: str) -> bool:
    """Tell whether it starts at all: Ubuntu's package of that name may be an empty shell around a snap."""
    try:
        answer = subprocess.run([executable, "--version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def find() -> str | None:
    """Return the path of a Chromium that starts, or None."""
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    candidates = [path for name in NAMES if (path := shutil.which(name))]
    if Path(own).exists():
        candidates.append(own)
    return next(filter(works, candidates), None)


def install() -> None:
    """Bring a Chromium, by the first way that is open."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        update = ["apt-get", "update", "-qq"]
        chromium = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"]
        if all(subprocess.run(step, env=quiet, check=False).returncode == 0 for step in (update, chromium)):
            return
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


def main() -> int:
    """Make sure that there is a browser, and say which."""
    path = find()
    if path is None:
        install()
        path = find()
    print(f"browser: {path}" if path else ADVICE, file=sys.stdout if path else sys.stderr)
    return 0 if path else 1


if __name__ == "__main__":
    sys.exit(main())
