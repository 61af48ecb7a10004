"""The browser of these tests: the distribution's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def find_chromium() -> str | None:
    """The browser that ``CHROMIUM`` names, or else an installed one; None if there is none."""
    names = ("chromium", "chromium-browser")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: make test-browser")
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium: apt-get install chromium, or name it in CHROMIUM")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


AXE = ROOT / "coverage_eval/comparison/report/frontend/node_modules/axe-core/axe.min.js"


def violations(page: Page) -> list[tuple[str, str, str]]:
    """What axe finds: the rule, the first place, and what it says."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: make test-browser")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    places = [(item["id"], item["nodes"][0]) for item in found]
    return [(rule, node["html"][:200], node.get("failureSummary")) for rule, node in places]


class Reader:
    """Opens reports; a report may request nothing and write nothing to the console."""

    def __init__(self, browser: Browser, **settings: Any) -> None:
        settings = {"viewport": {"width": 1280, "height": 900}, **settings}
        self.context = browser.new_context(accept_downloads=True, **settings)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.said: list[str] = []
        self.requested: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.requested.append(request.url))

    def open(self, file: Path, fragment: str = "") -> Page:
        self.page.goto(f"{file.as_uri()}{fragment}")
        self.page.wait_for_selector("html[data-ready]", state="attached")
        return self.page

    def menu(self) -> None:
        """Open the menu of what is shown."""
        self.page.evaluate("document.querySelector('.menu').open = true")

    def close(self) -> None:
        self.context.close()
        assert self.said == []
        assert [url for url in self.requested if not url.startswith(("file:", "blob:"))] == []
        assert len([url for url in self.requested if url.startswith("file:")]) <= 2


@pytest.fixture
def reader(chromium: Browser) -> Iterator[Reader]:
    found = Reader(chromium)
    yield found
    found.close()
