"""Time how long an explorer of the built book takes from a move to the next paint, beside an empty frame.

    make book test
    .venv/bin/python benchmarks/move_to_paint.py

Moves and empty frames take turns, so that a busy machine slows both. The budget is 10 ms over an empty
frame, in the median, on an idle machine.
"""

from __future__ import annotations

import shutil
import statistics
from pathlib import Path

from playwright.sync_api import sync_playwright

PAGE = Path(__file__).resolve().parents[1] / "_build" / "html" / "intro.html"
MEASURE = """async () => {
    const slider = document.querySelector(".explorer input[type=range]");
    const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
        const channel = new MessageChannel();  // its message arrives after the frame's paint
        channel.port1.onmessage = () => resolve(performance.now());
        channel.port2.postMessage(0);
    }));
    const time = async (work) => {
        const start = performance.now();
        work();
        return await painted() - start;
    };
    const move = (k) => {
        slider.value = 1 + (k % 12);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const empty = [], moved = [];
    for (let k = 0; k < 60; k++) {
        await painted();
        empty.push(await time(() => {}));
        await painted();
        moved.push(await time(() => move(k)));
    }
    return { empty, moved };
}"""


def main() -> None:
    """Print both medians."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(PAGE.as_uri())
        page.wait_for_selector(".explorer[data-ready]")
        times = page.evaluate(MEASURE)
        browser.close()
    empty, moved = (statistics.median(times[key]) for key in ("empty", "moved"))
    print(f"empty frame {empty:.1f} ms, from a move to paint {moved:.1f} ms, over it {moved - empty:.1f} ms")


if __name__ == "__main__":
    main()
