"""A report of nine systems: what is on the first screen, and where its links lead."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import coverage_eval as ce
from coverage_eval.comparison.report.html import make_report
from tests.browser.conftest import Reader
from tests.planting import inject_lines

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = [f"system-{n}.out.en" for n in range(9)]


@pytest.fixture(scope="module")
def report(demonstration: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine systems, the later ones worse; long segments, of four lines each."""
    sources, references = (
        [" ".join(lines[i : i + 4]) for i in range(0, 240, 4)]
        for name in ("test.de", "test.en")
        for lines in [list(ce.read_segments(demonstration / name))]
    )
    systems = {}
    for number, name in enumerate(NAMES):
        lines = inject_lines(references, "omission-content", 0.01 * number, seed=number)
        systems[name] = inject_lines(lines, "repetition-phrase", 0.005 * number, seed=number)
    path = tmp_path_factory.mktemp("nine") / "report.html"
    with ce.Aligner.load(demonstration / "model") as aligner:
        comparison = ce.compare(
            systems, references, sources, aligner, metrics=["rep", "drop", "bleu"]
        )
        make_report(comparison).save(path)
    return path


def bottom(page: Page, selector: str) -> float:
    box = page.locator(selector).last.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_the_first_screen_has_the_verdict_all_systems_and_an_error_of_the_worst(chromium, report):
    other = Reader(chromium, viewport={"width": 1440, "height": 900})
    page = other.open(report)
    rows = page.locator(".picture tbody tr")
    assert rows.count() == 9
    assert {round(box["height"]) for box in (row.bounding_box() for row in rows.all()) if box} <= {
        28,
        29,
    }
    for part in ("#answer", ".picture tbody tr", ".first .card"):
        assert 0 < bottom(page, part) <= 900
    worst = rows.last.locator("th").inner_text()
    assert page.locator(".first .card h4").inner_text().strip() == worst.strip()
    assert not [text for text in page.locator("main bdi").all_inner_texts() if ".out.en" in text]
    other.close()


def test_every_link_opens_the_system_that_it_names(reader, report):
    page = reader.open(report)
    cards = page.locator("#which .card").all()
    assert len(cards) > 5
    for card in cards:
        name = card.locator("h4 bdi").inner_text()
        marked = card.locator("mark").first.text_content()
        number = card.locator(".actions a").inner_text().removeprefix("Segment ")
        card.locator(".actions a").click()
        page.locator(
            f"article[aria-label='Segment {number}'] .card[aria-label='{name}']"
        ).wait_for()
        chosen = page.locator(".pane h4 [aria-pressed='true'] bdi").inner_text()
        assert chosen == name
        if page.locator("article.long").count():  # first for the eye and for the keyboard
            assert page.locator(".pane .card").first.get_attribute("aria-label") == name
        marks = page.locator(f".pane .source mark, .pane .card[aria-label='{name}'] mark")
        assert marked in marks.all_text_contents()
    for row in page.locator(".breakdowns tbody tr").all():
        name = row.locator("td bdi").first.inner_text()
        row.locator("a").click()
        page.locator(f".pane .card[aria-label='{name}']").wait_for()
        page.locator(f".pane .card[aria-label='{name}'] mark, .pane .source mark").first.wait_for()


def test_a_phone_shows_one_column_at_a_time(chromium, report):
    other = Reader(chromium, viewport={"width": 390, "height": 844})
    page = other.open(report)
    assert bottom(page, ".picture tbody tr") - bottom(page, "#answer") < 450
    for number, name in enumerate(("REP ↓", "DROP ↓", "BLEU ↑")):
        page.select_option("#column", label=name)
        assert page.locator(".picture thead th:visible").count() == 2
        assert page.locator(f".picture td[data-column='{number}']:visible").count() == 9
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    other.close()


def test_scores_are_said_with_their_systems_and_flags(reader, report):
    page = reader.open(report)
    row = page.locator(".list .row").first
    scores = row.locator(".number").all_text_contents()[1:]
    assert all(score.startswith("system-") for score in scores)
    flagged = row.locator(".flagged").all_text_contents()
    assert flagged == [score for score in scores if score.endswith(", flagged")]
