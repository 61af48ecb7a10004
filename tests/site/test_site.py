"""The site in build/site: its links lead somewhere, and a reader's browser asks nobody else."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.conftest import ROOT

SITE = ROOT / "build" / "site"
PAGES = sorted(SITE.rglob("*.html"))

LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
"""What a browser fetches without being asked."""


class Page(HTMLParser):
    """What a page links to and loads, and the names of its places."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in LOADS and dict(attrs).get("rel") != "canonical":
                self.loads.append(value or "")
            elif (tag, name) == ("a", "href"):
                self.links.append(value or "")
            elif name == "id":
                self.places.add(value or "")


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    assert len(PAGES) >= 20, "build the site first: make docs"
    return {path: Page(path.read_text(encoding="utf-8")) for path in PAGES}


def test_links_lead_somewhere(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in {"http", "https"} or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            known = pages[target].places if target in pages else {place}
            if not target.is_file() or place not in {"", *known}:
                broken.append(f"{path.relative_to(SITE)}: {link}")
    assert sum(len(page.links) for page in pages.values()) > 500
    assert not broken


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Page]) -> None:
    loads = {load for path, page in pages.items() for load in page.loads if path.name != "404.html"}
    assert loads
    for path, page in pages.items():
        for load in page.loads:
            parts = urlsplit(load)
            assert not parts.netloc, load
            if path.name != "404.html" and parts.scheme != "data":
                assert (path.parent / unquote(parts.path)).is_file(), load
    for style in SITE.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", text), style


def test_docstrings_are_markdown(pages: dict[Path, Page]) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    assert text.count("<math") > 50
    assert not re.findall(r":(?:attr|class|data|exc|func|math|meth|mod):`?|\.\. math::", text)
    assert "<autoref" not in text
