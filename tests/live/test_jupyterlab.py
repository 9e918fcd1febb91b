"""Each chapter in JupyterLab, opened as the launch button opens it: all cells run, its explorers redraw."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from fixtures_binder import Server
from fixtures_book import notebooks, source
from launch import launch_links, page_link

MINUTES = 60_000  # milliseconds
# Cells that wait are marked [*], one that ran has its number; after one that raised, the others have neither.
PROMPTS = """() => [...document.querySelectorAll(".jp-CodeCell .jp-InputPrompt")].map((p) => p.textContent)"""
DONE = f"""() => {{
    const prompts = ({PROMPTS})();
    return prompts.some((text) => /[0-9]/.test(text)) && !prompts.some((text) => text.includes("*"));
}}"""
SHOWS = f"""() => document.querySelector("img.widget-image") || ({DONE})()"""
PICTURE = """async (image) => {
    const bytes = await (await fetch(image.src)).arrayBuffer();
    return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).join();
}"""


@pytest.fixture
def page(browser: Browser, binder: Server) -> Iterator[Page]:
    """Open an empty tab, and leave no kernel behind."""
    with browser.new_page(viewport={"width": 1400, "height": 1000}) as opened:
        opened.set_default_timeout(2 * MINUTES)  # a machine may be busy, and what fails fails later
        yield opened
    binder.end_sessions()


def path_behind_the_button(document: str) -> str:
    """Return the path that the button of a page asks Binder to open."""
    links = launch_links(Path(), {"BOOK_REPOSITORY": "https://github.com/owner/name"})
    return parse_qs(urlsplit(page_link("Binder", links["Binder"], document)).query)["urlpath"][0]


def shown(explorer: Locator) -> tuple[str, str]:
    """Return the picture and the sentence of an explorer."""
    return explorer.locator("img.widget-image").evaluate(PICTURE), explorer.locator(
        ".widget-html-content"
    ).last.inner_text()


def moves(control: Locator) -> Iterator[None]:
    """Bring a control to each of its other values; between two of them the explorer follows."""
    buttons = control.locator("button.widget-toggle-button")
    if buttons.count():
        for button in buttons.all():
            if "mod-active" not in button.get_attribute("class"):
                yield button.click()
        return
    handle = control.locator(".noUi-handle")
    start, last = (int(float(handle.get_attribute(f"aria-value{what}"))) for what in ("now", "max"))
    for key in ["ArrowRight"] * (last - start) + ["ArrowLeft"] * last:
        yield handle.press(key)


def changes(explorer: Locator, control: Locator) -> set[str]:
    """Move a control until figure and sentence have both changed, and tell which did.

    The kernel sends the sentence before the figure, so a new figure ends a move. Without one there is nothing
    to wait for but time, plenty of it.
    """
    changed: set[str] = set()
    before = after = shown(explorer)
    for _ in moves(control):
        figure = after[0]
        deadline = time.monotonic() + MINUTES / 1000
        while len(changed) < 2 and after[0] == figure and time.monotonic() < deadline:
            explorer.page.wait_for_timeout(50)
            after = shown(explorer)
            changed |= {
                what for what, a, b in zip(("figure", "sentence"), before, after, strict=True) if a != b
            }
        if len(changed) == 2:
            break
    return changed


@pytest.mark.parametrize("document", notebooks())
def test_chapter_runs_in_jupyterlab(page: Page, binder: Server, document: str) -> None:
    """Run All finishes without a complaint; each control of one explorer changes figure and sentence."""
    clock = [time.monotonic()]
    page.goto(binder.url(path_behind_the_button(document)))
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=2 * MINUTES)
    clock.append(time.monotonic())
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    explorers = page.locator(".jp-OutputArea-output:has(img.widget-image)")
    expected = source(document).count("\nExplorer(")
    page.wait_for_function(SHOWS, timeout=5 * MINUTES)
    clock.append(time.monotonic())
    page.wait_for_function(DONE, timeout=5 * MINUTES)
    clock.append(time.monotonic())
    complaints = page.locator('[data-mime-type$=".stderr"], [data-mime-type$=".error"]')
    assert complaints.all_inner_texts() == []
    prompts = page.evaluate(PROMPTS)
    assert len(prompts) == source(document).count("\n```{code-cell}")
    assert [text for text in prompts if not re.search(r"\[\d+\]", text)] == []
    expect(explorers).to_have_count(expected)
    opened, first, ran = (b - a for a, b in itertools.pairwise(clock))
    print(f"\n{document}: open {opened:.1f} s, then first figure {first:.1f} s, all run {first + ran:.1f} s")
    if expected:
        explorer = explorers.first
        controls = explorer.locator(".widget-toggle-buttons, .widget-hslider").all()
        assert len(controls) > 0
        for control in controls:
            label = control.locator("label").first.inner_text()
            assert changes(explorer, control) == {"figure", "sentence"}, f"{label} in {document}"
