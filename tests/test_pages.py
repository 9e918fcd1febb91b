"""Every page in Chromium, from a file with the network cut and from a server: quiet, typeset, steerable."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Request

from fixtures_book import Book, toc_documents

PAGES = [*toc_documents(), "genindex", "search"]
READY = """async () => {
    await window.MathJax?.startup?.promise;
    const figures = [...document.querySelectorAll("figure.explorer:not(.diagram)")];
    const deadline = performance.now() + 20000;
    while (figures.some((figure) => !("ready" in figure.dataset)) && performance.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 20));
}"""
FAULTS = r"""() => {
    const faults = [];
    for (const math of document.querySelectorAll(".math"))
        if (!math.querySelector("mjx-container")) faults.push("not typeset: " + math.textContent);
    for (const error of document.querySelectorAll("mjx-merror")) faults.push("maths: " + error.textContent);
    if (/\\\(|\\\[/.test(document.querySelector("article")?.innerText ?? "")) faults.push("raw TeX is shown");
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    for (const id of new Set(ids))
        if (ids.filter((other) => other === id).length > 1) faults.push("id given twice: " + id);
    for (const figure of document.querySelectorAll("figure.explorer:not(.diagram)"))
        if (!("ready" in figure.dataset)) faults.push("explorer not ready: " + figure.id);
    for (const box of document.querySelectorAll(".admonition")) {
        const title = box.querySelector(".admonition-title")?.textContent ?? "";
        if (box.textContent.trim() === title.trim()) faults.push("empty box: " + title);
    }
    if (document.documentElement.scrollWidth > innerWidth) faults.push("wider than the window");
    return faults;
}"""
# Which control never changes the picture, or never the sentence, with the others as they are at first or with
# one of them moved?
MOVES = """(figure) => {
    const form = figure.querySelector("form");
    const inputs = (name) => [...form.querySelectorAll(`input[name="${name}"]`)];
    const names = [...new Set([...form.querySelectorAll("input")].map((input) => input.name))];
    const values = (name) => {
        const [{ type, min, max, step }] = inputs(name);
        if (type === "radio") return inputs(name).map((radio) => radio.value);
        return Array.from({ length: (max - min) / step + 1 }, (_, k) => String(+min + k * step));
    };
    const value = (name) => (inputs(name).find((input) => input.checked) ?? inputs(name)[0]).value;
    const set = (name, value) => {
        const radio = inputs(name).find((input) => input.type === "radio" && input.value === value);
        if (radio) radio.checked = true;
        else inputs(name)[0].value = value;
        (radio ?? inputs(name)[0]).dispatchEvent(new Event("input", { bubbles: true }));
    };
    const start = names.map((name) => [name, value(name)]);
    const idle = [];
    for (const name of names) {
        const moved = names.filter((other) => other !== name)
            .flatMap((other) => values(other).map((value) => [[other, value]]));
        const seen = { figure: 1, sentence: 1 };
        for (const place of [[], ...moved]) {
            for (const pair of [...start, ...place]) set(...pair);
            const pictures = new Set(), sentences = new Set();
            for (const value of values(name)) {
                set(name, value);
                pictures.add(figure.querySelector(".explorer-frame").innerHTML);
                sentences.add(figure.querySelector(".explorer-says").textContent);
            }
            seen.figure = Math.max(seen.figure, pictures.size);
            seen.sentence = Math.max(seen.sentence, sentences.size);
            if (seen.figure > 1 && seen.sentence > 1) break;
        }
        for (const [what, count] of Object.entries(seen))
            if (count === 1) idle.push(`${figure.id}: ${name} does not change the ${what}`);
    }
    return idle;
}"""


class QuietHandler(SimpleHTTPRequestHandler):
    """Serve files without a word."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server(book: Book) -> Iterator[str]:
    """Serve the built book, and give its address."""
    handler = functools.partial(QuietHandler, directory=str(book.html))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


@pytest.fixture(params=["file", "server"])
def origin(request: pytest.FixtureRequest, book: Book) -> str:
    """Give the address of the book's root, opened in one way and in the other."""
    return book.html.as_uri() if request.param == "file" else request.getfixturevalue("server")


@pytest.fixture
def context(browser: Browser, origin: str) -> Iterator[BrowserContext]:
    """Open a profile of its own, with the network cut where no server is needed."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as opened:
        opened.set_offline(origin.startswith("file:"))
        yield opened


@pytest.mark.parametrize("name", PAGES)
def test_page_is_quiet_and_whole(context: BrowserContext, origin: str, name: str) -> None:
    """No other host or complaint, maths typeset, no empty box, ids unique, explorers ready, at two widths."""
    page = context.new_page()
    faults: list[str] = []

    def on_request(request: Request) -> None:
        if not request.url.startswith((origin, "data:", "blob:")):
            faults.append(f"asks {request.url}")

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            faults.append(f"{message.type}: {message.text}")

    page.on("request", on_request)
    page.on("console", on_console)
    page.on("requestfailed", lambda request: faults.append(f"not found: {request.url}"))
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.goto(f"{origin}/{name}.html")
    page.evaluate(READY)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        faults += [f"{fault} (at {width} px)" for fault in page.evaluate(FAULTS)]
    assert faults == []


@pytest.mark.parametrize("name", toc_documents())
def test_each_control_moves_figure_and_sentence(browser: Browser, book: Book, name: str) -> None:
    """Some move of each control changes the picture, and some move changes the sentence under it."""
    with browser.new_page() as page:
        page.goto(f"{book.html.as_uri()}/{name}.html")
        page.evaluate(READY)
        figures = page.query_selector_all("figure.explorer:not(.diagram)")
        source = (book.root / f"{name}.md").read_text(encoding="utf-8")
        assert len(figures) == source.count("\nExplorer(")
        assert [fault for figure in figures for fault in figure.evaluate(MOVES)] == []


def test_root_leads_to_the_first_page(browser: Browser, server: str) -> None:
    """Whoever opens the folder of a served book lands on its first page."""
    with browser.new_page() as page:
        page.goto(f"{server}/")
        page.wait_for_url(f"{server}/{toc_documents()[0]}.html")
