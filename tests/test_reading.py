"""A page on paper, with storage blocked, inside another site's frame, and where its address leads."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from fixtures_book import Book, notebooks, source
from test_pages import server  # noqa: F401 (a fixture)

NAME = next(document for document in notebooks() if "\nExplorer(" in source(document))
LONG = "chapters/stacking"
NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"])
    Object.defineProperty(
        window, name, { configurable: true, get() { throw new DOMException("blocked"); } });"""
# The least contrast between the words shown and white paper, as WCAG counts it.
FAINTEST = """() => {
    const light = (c) => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
    let least = 21;
    for (const text of document.querySelectorAll("article p, article pre, .explorer-frame text")) {
        const { color, fill } = getComputedStyle(text);
        const rgb = (text.tagName === "text" ? fill : color).match(/[\\d.]+/g).map(Number);
        const y = .2126 * light(rgb[0]) + .7152 * light(rgb[1]) + .0722 * light(rgb[2]);
        least = Math.min(least, 1.05 / (y + .05));
    }
    return [least, document.querySelectorAll("article details:not([open])").length];
}"""


def test_dark_page_is_printed_dark_on_white_and_unfolded(browser: Browser, book: Book) -> None:
    with browser.new_page(color_scheme="dark") as page:
        page.goto(f"{book.html.as_uri()}/{NAME}.html")
        page.locator("figure.explorer[data-ready]").first.wait_for()
        assert page.evaluate(FAINTEST)[0] < 4.5  # on the screen its paper is dark
        folded = page.evaluate(FAINTEST)[1]
        page.emulate_media(media="print", color_scheme="dark")
        page.wait_for_function("document.documentElement.dataset.theme === 'light'")
        least, still_folded = page.evaluate(FAINTEST)
        assert least >= 4.5
        assert still_folded == 0
        page.emulate_media(media="screen", color_scheme="dark")
        page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        assert page.evaluate(FAINTEST)[1] == folded


def complaints_of(page: Page) -> list[str]:
    """Collect what goes wrong in a page from here."""
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


def test_page_works_without_storage(browser: Browser, book: Book) -> None:
    with browser.new_page(viewport={"width": 390, "height": 844}) as page:
        page.add_init_script(NO_STORAGE)
        found = complaints_of(page)
        page.goto(f"{book.html.as_uri()}/{NAME}.html")
        page.locator("figure.explorer[data-ready]").first.wait_for()
        modes = set()
        for _ in range(3):
            page.evaluate("document.querySelector('.theme-switch-button').click()")
            modes.add(page.evaluate("document.documentElement.dataset.mode"))
        assert modes == {"auto", "light", "dark"}
        assert found == []


@pytest.mark.parametrize("sandbox", ["", ' sandbox="allow-scripts"'])
def test_page_works_in_a_frame_of_another_site(
    browser: Browser,
    server: str,  # noqa: F811
    tmp_path: Path,
    sandbox: str,
) -> None:
    """A link that cannot be copied is shown: the address bar is not this page's."""
    address = f"{server}/{NAME}.html"
    frame = f'<iframe src="{address}" width="1200" height="800"{sandbox}></iframe>'
    (tmp_path / "other.html").write_text(f"<!doctype html><title>Other</title>{frame}", encoding="utf-8")
    with browser.new_page() as page:
        found = complaints_of(page)
        page.goto((tmp_path / "other.html").as_uri())
        figure = page.frame_locator("iframe").locator("figure.explorer[data-ready]").first
        figure.wait_for()
        figure.get_by_role("button", name="Copy link").click()
        note = figure.locator(".explorer-note")
        expect(note).not_to_be_empty()
        assert "address bar" not in note.inner_text()
        assert found == []


LANDED = """(name) => {
    const part = document.getElementById(name);
    const above = parseFloat(getComputedStyle(part).scrollMarginTop)
        + (parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) || 0);
    const end = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    return Math.abs(part.getBoundingClientRect().top - above) < 2 || end;
}"""


def test_deep_links_hold_where_the_browser_does_not(browser: Browser, book: Book) -> None:
    """Formulas are typeset after the page is shown; Safari lets the scroll slip then."""
    with browser.new_page(viewport={"width": 390, "height": 844}) as page:
        page.add_init_script(
            "document.addEventListener('DOMContentLoaded', () => {"
            "const style = document.createElement('style');"
            "style.textContent = '* { overflow-anchor: none }';"
            "document.head.append(style); })"
        )
        page.goto(f"{book.html.as_uri()}/{LONG}.html")
        ids = page.evaluate("[...document.querySelectorAll('article section[id]')].map((part) => part.id)")
        for name in (ids[len(ids) // 2], ids[-2]):
            page.goto("about:blank")
            page.goto(f"{book.html.as_uri()}/{LONG}.html#{name}")
            page.evaluate("async () => { await window.MathJax.startup.promise; await document.fonts.ready; }")
            page.wait_for_function("!document.querySelector('figure.explorer:not(.diagram, [data-ready])')")
            page.wait_for_function(LANDED, arg=name)  # fails in the end if the place is not set again
