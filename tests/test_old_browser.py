"""The built page in a browser that falls short: the first state remains, and the page says what lacks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Page, Route, expect

from fixtures_book import Book, notebooks, source

NOTE = "This figure stands still"
WITH_EXPLORERS = [document for document in notebooks() if "\nExplorer(" in source(document)]
LATE = 60_000  # milliseconds; the note waits five seconds for a script that is merely slow


def cannot_unpack(page: Page) -> None:
    """Leave out what unpacks the states, as browsers before 2023 do."""
    page.add_init_script("delete window.DecompressionStream")


def does_not_parse(page: Page) -> None:
    """Let the script end in a syntax error, as it does in a browser without its newer signs."""
    page.route("**/explorer.js*", lambda route: route.fulfill(body="a ??= ?", content_type="text/javascript"))


def is_blocked(page: Page) -> None:
    """Keep the script from arriving."""
    page.route("**/explorer.js*", lambda route: route.abort())


@pytest.mark.parametrize("fall_short", [cannot_unpack, does_not_parse, is_blocked])
def test_first_state_remains_and_the_page_says_why(
    browser: Browser, book: Book, fall_short: Callable[[Page], None]
) -> None:
    """Picture and sentence are those of the file; nothing that does not work is offered."""
    name = WITH_EXPLORERS[0]
    soup = BeautifulSoup((book.html / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    with browser.new_page() as page:
        fall_short(page)
        page.goto(f"{book.html.as_uri()}/{name}.html")
        assert page.locator("figure.explorer:not(.diagram)").count() == source(name).count("\nExplorer(")
        for figure in page.locator("figure.explorer:not(.diagram)").all():
            expect(figure.get_by_text(NOTE)).to_be_visible(timeout=LATE)
            expect(figure.locator(".explorer-moving").first.locator("path, image, use").first).to_be_visible()
            sentence = soup.find(id=figure.get_attribute("id")).select_one(".explorer-says").get_text()
            expect(figure.locator(".explorer-says")).to_have_text(sentence)
            expect(figure.locator("input:visible, button:visible")).to_have_count(0)


def test_the_note_stays_away_where_the_figure_moves(browser: Browser, book: Book) -> None:
    """A reader with a browser of today never sees it, and nor does one whose script is slow to come."""
    with browser.new_page() as page:
        held: list[Route] = []
        page.route("**/explorer.js*", lambda route: held.append(route))
        page.goto(f"{book.html.as_uri()}/{WITH_EXPLORERS[0]}.html", wait_until="commit")
        note = page.get_by_text(NOTE).first
        note.wait_for(state="attached")
        page.wait_for_timeout(1000)
        expect(note).to_be_hidden()
        held[0].continue_()
        page.locator("figure.explorer[data-ready]").first.wait_for()
        page.wait_for_timeout(5000)
        expect(note).to_be_hidden()
