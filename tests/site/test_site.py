"""The built site in build/site has no broken links and loads nothing from the network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

from coverage_eval.cli import cli
from tests.browser.conftest import chromium
from tests.conftest import ROOT

__all__ = ["chromium"]

SITE = ROOT / "build" / "site"
PAGES = sorted(SITE.rglob("*.html"))

SAMPLE = "sample-report.html"
"""Its links are handled by its script, so they are not followed here."""

LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
"""Attributes with addresses that a browser loads by itself."""


class Page(HTMLParser):
    """The links, loaded files and anchors of a page."""

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


def test_no_link_is_broken(pages):
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in {"http", "https"} or path.name in {"404.html", SAMPLE}:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            known = pages[target].places if target in pages else {place}
            if not target.is_file() or place not in {"", *known}:
                broken.append(f"{path.relative_to(SITE)}: {link}")
    assert sum(len(page.links) for page in pages.values()) > 500
    assert not broken


def test_nothing_is_loaded_from_elsewhere(pages):
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


def test_docstrings_are_rendered_as_markdown(pages):
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    assert text.count("<math") > 50
    assert not re.findall(r":(?:attr|class|data|exc|func|math|meth|mod):`?|\.\. math::", text)
    assert "<autoref" not in text


def test_every_command_has_a_page_with_its_options(pages):
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        text = (SITE / "commands" / f"{name}.html").read_text(encoding="utf-8")
        assert command is not None
        for item in command.params:
            if isinstance(item, click.Option) and not item.hidden:
                assert f'id="{max(item.opts, key=len)}"' in text, name
    assert not [path for path in pages if "Sentinel" in path.read_text(encoding="utf-8")]


def test_the_site_has_the_notebooks_and_a_sample_report(pages):
    shown = [path for path in pages if path.parent.name == "notebooks"]
    assert len(shown) >= 4
    assert "careful" in (SITE / "sample-report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("width", "query"), [(390, "symmetrisation"), (1400, "--scores")])
def test_search_works_in_pages_opened_as_files(chromium, width, query):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((SITE / "index.html").as_uri())
    if width < 1000:
        page.locator("label[for=__search]:visible").first.click()
    page.locator("input[name=query]").press_sequentially(query)
    page.wait_for_selector(".md-search-result__item")
    assert query.strip("-") in page.inner_text(".md-search-result__list").lower()
    assert not said
    page.close()


@pytest.mark.parametrize("name", ["commands/compare", "scores", "tutorial", "start"])
def test_pages_fit_a_phone(chromium, name):
    """Wide blocks scroll; the page itself does not."""
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto((SITE / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()


@pytest.mark.parametrize(("name", "example", "copied"), [
    ("omissions", ".language-console", "coverage-eval align train demo/train.de demo/train.en"),
    ("attention", ".language-pycon", "from coverage_eval import attention"),
])  # fmt: skip
def test_a_copied_example_has_its_commands_only(chromium, name, example, copied):
    """The theme marks what it copies by an attribute, and takes the text that is then visible."""
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto((SITE / f"{name}.html").as_uri())
    code = page.locator(f"{example} code").first
    shown = code.inner_text()
    assert shown.startswith(("$ ", ">>> "))
    text = code.evaluate("code => { code.dataset.mdCopying = ''; return code.innerText }")
    assert text.startswith(copied)
    assert not any(line.startswith(("$ ", "> ", ">>> ", "... ")) for line in text.splitlines())
    assert len(text.split()) < len(shown.split())
    page.close()


def test_buttons_cover_no_code_on_a_phone(chromium):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto((SITE / "omissions.html").as_uri())
    page.wait_for_selector(".md-code__nav", state="attached")
    for block in page.locator(".language-console pre").all():
        button = block.locator(".md-code__nav").bounding_box()
        words = block.locator(".gp").first.bounding_box()
        assert button is not None
        assert words is not None
        assert button["y"] + button["height"] <= words["y"] + 1
    page.close()


@pytest.mark.parametrize(("scheme", "paper", "name"), [
    ("light", "rgb(255, 255, 255)", "Dark"), ("dark", "rgb(22, 24, 27)", "Light"),
])  # fmt: skip
def test_the_site_has_the_reports_look_and_a_switch_for_dark(chromium, scheme, paper, name):
    page = chromium.new_page(color_scheme=scheme)
    look = """() => {
        const style = getComputedStyle(document.body)
        return [style.backgroundColor, style.fontFamily.split(",")[0]]
    }"""
    page.goto((SITE / SAMPLE).as_uri())
    assert page.evaluate(look) == [paper, "system-ui"]
    page.goto((SITE / "index.html").as_uri())
    assert page.evaluate(look) == [paper, "system-ui"]
    page.locator(f"label[title={name}]").click()
    assert page.evaluate(look)[0] != paper
    page.close()
