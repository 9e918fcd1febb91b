"""Every link of the built book leads somewhere, and nothing that a page loads stands outside the book."""

from __future__ import annotations

import re
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

from encoderlab.chapters.registry import CLAIMS
from encoderlab.claims.claim import VERDICT_NAMES
from fixtures_book import REPOSITORY, Book, toc_documents

MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:home|root|tmp|work|Users|var|private)/[\w.-]+|[A-Z]:\\\\Users")
LOADED = "script[src], img[src], iframe[src], source[src], video[src], audio[src], object[data], link[href]"


@pytest.fixture(scope="module")
def pages(book: Book) -> dict[str, BeautifulSoup]:
    """Parse every page, by its address in the book."""
    return {
        path.relative_to(book.html).as_posix(): BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in book.pages()
    }


def targets(soup: BeautifulSoup) -> set[str]:
    """List what an anchor of a page can name."""
    return {str(tag.get("id") or tag.get("name")) for tag in soup.select("[id], a[name]")}


def anchor_of(fragment: str) -> str:
    """Name the element that a fragment leads to; the state of a figure may follow its name."""
    return unquote(fragment.partition("?")[0])


def test_links_and_anchors_resolve(book: Book, pages: dict[str, BeautifulSoup]) -> None:
    """No link inside the book is broken, down to the anchor."""
    anchors = {name: targets(soup) for name, soup in pages.items()}
    broken = []
    for name, soup in pages.items():
        for link in soup.select("a[href]"):
            url = urlsplit(urljoin(name, str(link["href"])))
            if url.scheme or url.netloc or link["href"] == "#":
                continue
            path = unquote(url.path) or name
            if not (book.html / path).is_file():
                broken.append(f"{name}: {link['href']}: no such file")
            elif url.fragment and path in anchors and anchor_of(url.fragment) not in anchors[path]:
                broken.append(f"{name}: {link['href']}: no such anchor")
    assert broken == []


def test_nothing_is_loaded_from_outside(book: Book, pages: dict[str, BeautifulSoup]) -> None:
    """Scripts, styles, pictures and fonts all stand in the book."""
    missing = []
    for name, soup in pages.items():
        for tag in soup.select(LOADED):
            address = str(tag.get("src") or tag.get("href") or tag.get("data"))
            url = urlsplit(urljoin(name, address))
            if url.scheme == "data" or is_relation(tag):
                continue
            if url.scheme or url.netloc or not (book.html / unquote(url.path)).is_file():
                missing.append(f"{name}: {address}")
    assert missing == []


def is_relation(tag: Tag) -> bool:
    """Tell whether a link element only names a related page, and loads nothing."""
    return tag.name == "link" and bool({"next", "prev", "index", "search", "canonical"} & set(tag["rel"]))


def test_no_page_tells_where_it_was_built(book: Book) -> None:
    """No folder of the machine that built the book has come into a page."""
    told = {
        str(path.relative_to(book.html)): found
        for path in [*book.pages(), *book.html.rglob("*.txt"), book.html / "searchindex.js"]
        if (found := MACHINE_PATH.findall(path.read_text(encoding="utf-8")))
        or str(book.root) in path.read_text(encoding="utf-8")
    }
    assert told == {}


@pytest.mark.parametrize("document", toc_documents())
def test_page_describes_itself(pages: dict[str, BeautifulSoup], document: str) -> None:
    """Each page has one title, one description, one main heading and an icon."""
    soup = pages[f"{document}.html"]
    (description,) = soup.select('meta[name="description"]')
    assert 20 < len(str(description["content"])) <= 170
    assert len(soup.select("article h1")) == 1
    assert soup.select_one('link[rel~="icon"]') is not None


def test_claims_of_chapters_are_cited() -> None:
    """Each claim is cited in the chapter that shows it, and each citation has a claim."""
    for document in toc_documents():
        text = (REPOSITORY / f"{document}.md").read_text(encoding="utf-8")
        cited = set(map(int, re.findall(r"\{claim\}`(\d+)`", text)))
        stem = document.rpartition("/")[2]
        assert cited <= set(CLAIMS), f"{document} cites claims that do not exist"
        own = {claim.number for claim in CLAIMS.values() if claim.chapter == stem}
        assert own <= cited, f"{document} does not cite {sorted(own - cited)}"
    stems = {document.rpartition("/")[2] for document in toc_documents()}
    assert {claim.chapter for claim in CLAIMS.values()} <= stems


def test_every_verdict_is_explained_and_has_its_colours() -> None:
    """The ledger says what each verdict means, in the words of the badges; each has its two inks."""
    ledger = (REPOSITORY / "chapters" / "claims.md").read_text(encoding="utf-8")
    style = (REPOSITORY / "_static" / "book.css").read_text(encoding="utf-8")
    for verdict, name in VERDICT_NAMES.items():
        assert f"\n{name}\n: " in ledger
        assert style.count(f".claim-{verdict} {{") == 2
    assert "{{ n_claims }} in all" in ledger  # counted, not typed


def test_ledger_has_a_row_with_evidence_for_each_claim(pages: dict[str, BeautifulSoup]) -> None:
    """The row shows both statements, the verdict, and each finding with what was measured in this build."""
    ledger = pages["chapters/claims.html"]
    for claim in CLAIMS.values():
        row = ledger.find(id=f"claim-{claim.number}")
        assert isinstance(row, Tag)
        assert f"claim-{claim.verdict}" in row["class"]
        assert "The note says:" in row.get_text()
        assert "What holds:" in row.get_text()
        findings = claim.check().findings
        assert len(row.select("tbody tr")) == len(findings)
        assert [line.select("td")[0].get_text(strip=True) for line in row.select("tbody tr")] == [
            finding.role for finding in findings
        ]
        assert len(row.select(".bibtex-citation")) == bool(claim.references)
