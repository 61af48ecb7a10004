"""The page of a document in a browser: gaps by key, no line too wide for a telephone."""

from __future__ import annotations

from pathlib import Path

import pytest

from coverage_eval.comparison.report.page import (
    ViewedDocument,
    ViewedRow,
    render_documents,
)
from tests.browser.conftest import Reader

pytest.importorskip("playwright")


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        ViewedRow(n + 1, f"Quelle {n} " * 9, "" if n in {9, 10, 40} else f"output {n} " * 9,
                  "missing" if n in {9, 10, 40} else "kept")
        for n in range(60)
    ]  # fmt: skip
    rows.insert(20, ViewedRow(None, "", "a" * 300, "extra"))
    file = tmp_path_factory.mktemp("page") / "page.html"
    file.write_text(render_documents([ViewedDocument("one", "A sentence.", rows)], "A title"))
    return file


@pytest.mark.parametrize("width", [1280, 390])
def test_gaps_are_reached_by_key_at_any_width(chromium, page_file, width):
    reader = Reader(chromium, viewport={"width": width, "height": 800})
    page = reader.open(page_file)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    reached = []
    for key in ("n", "n", "n", "n", "p", "p"):
        page.keyboard.press(key)
        reached.append(page.evaluate("document.activeElement.id"))
    assert reached == ["r1-9", "r1-20", "r1-41", "r1-9", "r1-41", "r1-20"]
    assert page.locator("#where").inner_text() == "2 of 3"
    assert page.locator("#r1-20").is_visible()
    assert (reader.said, len(reader.requested)) == ([], 1)
    reader.close()
