"""What teachers are told of memory and waiting is what was measured, in the page and in README."""

from __future__ import annotations

import html
import json
import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, expect

from encoderlab.chapters.playground.figures import tries
from fixtures_book import REPOSITORY, Book, notebooks, source
from live_numbers import MEASURED, substitutions
from plain_markdown import Writer

HUNGRY = {
    "server_memory_mb": 74.2,
    "cores": 2,
    "python": "3.11.7",
    "date": "2026-01-31",
    "chapters": {
        "intro": {"first_figure_s": 5.3, "all_cells_s": 8.0, "peak_memory_mb": 149},
        "chapters/claims": {"first_figure_s": None, "all_cells_s": 9.5, "peak_memory_mb": 301},
    },
}


@pytest.fixture(scope="module")
def measured() -> dict[str, str]:
    """Say in words what benchmarks/live_kernel.json holds."""
    return substitutions(json.loads((REPOSITORY / MEASURED).read_text(encoding="utf-8")))


def test_words_follow_the_numbers() -> None:
    words = substitutions(HUNGRY)
    assert words["kernel_memory"] == "310 MB"
    assert words["kernel_hungriest"] == "{doc}`/chapters/claims`"
    assert words["server_memory"] == "80 MB"
    assert words["reader_memory"] == "380 MB"
    assert words["kernel_first_figure"] == "5 to 5 seconds"
    assert words["kernel_table"].splitlines()[-1] == "| {doc}`/chapters/claims` | 310 MB | – | 9.5 |"


def test_every_page_with_cells_was_measured() -> None:
    """Else run benchmarks/live_kernel.py, which takes some minutes."""
    stored = json.loads((REPOSITORY / MEASURED).read_text(encoding="utf-8"))
    assert list(stored["chapters"]) == notebooks()


def test_page_and_readme_tell_what_was_measured(book: Book, measured: dict[str, str]) -> None:
    page = (book.html / "chapters" / "teaching.html").read_text(encoding="utf-8")
    text = BeautifulSoup(page, "html.parser").select_one("article").get_text()
    assert "{{" not in text
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for name in ("kernel_memory", "server_memory", "reader_memory"):
        assert measured[name] in text
        assert measured[name] in readme


def test_memory_that_the_page_advises_is_enough(measured: dict[str, str]) -> None:
    (least,) = re.findall(r"memory: \{guarantee: (\d+)G, limit: \d+G\}", source("chapters/teaching"))
    assert float(measured["reader_memory"].removesuffix(" MB")) < 1000 * int(least)


def test_every_set_state_of_the_playground_has_its_question() -> None:
    """Each is linked by its own address, under its own name."""
    links = re.findall(
        r'<a href="playground\.html#playground\?([^"]*)">([^<]*)</a>', source("chapters/teaching")
    )
    assert [(html.unescape(state), name) for state, name in links] == [
        (t["query"], t["name"]) for t in tries()
    ]


def test_each_question_opens_the_playground_in_its_state(browser: Browser, book: Book) -> None:
    with browser.new_page() as page:
        for one in tries():
            page.goto(f"{book.html.as_uri()}/chapters/teaching.html")
            page.get_by_role("article").get_by_role("link", name=one["name"], exact=True).click()
            expect(page.locator("figure.playground[data-ready] [aria-current]")).to_have_text(one["name"])
            assert page.url.endswith(f"/chapters/playground.html#playground?{one['query']}")


@pytest.mark.parametrize("base", ["", "https://example.org/book/"])
def test_a_question_in_a_download_links_to_the_state_or_is_words(base: str) -> None:
    """Its link stands in HTML, since Markdown knows no address of a state."""

    def page(document: str, anchor: str) -> str:
        return f"{base}{document}.html#{anchor}" if base else ""

    env = SimpleNamespace(srcdir=str(REPOSITORY))
    writer = Writer(cast(Any, env), "chapters/teaching", {}, page, lambda path, anchor: "")
    text = writer.convert('1. <a href="playground.html#playground?task=moons&amp;depth=8">Eight</a>: why?')
    address = "https://example.org/book/chapters/playground.html#playground?task=moons&depth=8"
    assert text == (f"1. [Eight]({address}): why?" if base else "1. Eight: why?")
