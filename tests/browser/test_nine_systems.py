"""A report of nine systems: what is on the first screen, and where its links lead."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import coverage_eval as ce
from coverage_eval.comparison.report.html import make_report
from tests.browser.conftest import Reader, violations
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
            systems, references, sources, aligner, metrics=["rep", "drop", "softdrop", "bleu"]
        )
        make_report(comparison).save(path)
    return path


SIZES = {"wide": (1440, 900), "laptop": (1024, 768), "tablet": (768, 1024), "phone": (390, 844)}


@pytest.fixture(params=SIZES)
def window(chromium: Any, report: Path, request: Any) -> Iterator[Page]:
    """The report in a window of each size."""
    width, height = SIZES[request.param]
    other = Reader(chromium, viewport={"width": width, "height": height})
    yield other.open(report)
    other.close()


def bottom(page: Page, selector: str) -> float:
    box = page.locator(selector).last.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_the_first_screen_has_the_verdict_all_systems_and_an_error_of_the_worst(chromium, report):
    other = Reader(chromium, viewport={"width": 1440, "height": 900})
    page = other.open(report)
    for part in ("#answer", ".picture tbody tr", ".first .card"):
        assert 0 < bottom(page, part) <= 900
    worst = page.locator(".picture tbody th").last.inner_text()
    assert page.locator(".first .card h4").inner_text().strip() == worst.strip()
    assert not [text for text in page.locator("main bdi").all_inner_texts() if ".out.en" in text]
    other.close()


def test_the_table_has_a_line_for_each_system_and_is_whole(window):
    rows = window.locator(".picture tbody tr").all()
    boxes = [box for row in rows if (box := row.bounding_box())]
    assert len(boxes) == 9
    assert {round(box["height"]) for box in boxes} <= {28, 29}
    region = window.locator(".picture .scroll")
    assert region.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
    names = window.locator(".picture th[scope=row]")
    assert names.evaluate_all("nodes => nodes.every(node => node.scrollWidth <= node.clientWidth)")
    for dot, figure in zip(
        window.locator(".picture td:visible circle").all(),
        window.locator(".picture td:visible .number").all(),
        strict=True,
    ):
        drawn, written = dot.bounding_box(), figure.bounding_box()
        assert drawn is not None
        assert written is not None
        assert written["x"] + written["width"] <= drawn["x"]


def test_every_link_opens_the_system_that_it_names(window):
    cards = window.locator("#which .card").all()
    assert len(cards) > 5
    for card in cards:
        name = card.locator("h4 bdi").inner_text()
        marked = card.locator("mark").first.text_content()
        number = card.locator(".actions a").inner_text().removeprefix("Segment ")
        card.locator(".actions a").click()
        window.locator(
            f"article[aria-label='Segment {number}'] .card[aria-label='{name}']"
        ).wait_for()
        chosen = window.locator(".pane h4 [aria-pressed='true'] bdi").inner_text()
        assert chosen == name
        if window.locator("article.long").count():  # first for the eye and for the keyboard
            assert window.locator(".pane .card").first.get_attribute("aria-label") == name
        marks = window.locator(f".pane .source mark, .pane .card[aria-label='{name}'] mark")
        assert any(marked in text for text in marks.all_text_contents())
    rows = window.locator(".breakdowns tbody tr").all()
    assert len(rows) == 2 * 8
    for row in rows:
        name = row.locator("td bdi").first.inner_text()
        row.locator("a").click()
        window.locator(f".pane .card[aria-label='{name}']").wait_for()
        marks = f".pane .card[aria-label='{name}'] mark, .pane .source mark"
        window.locator(marks).first.wait_for()


def test_a_phone_shows_one_column_at_a_time(chromium, report):
    other = Reader(chromium, viewport={"width": 390, "height": 844})
    page = other.open(report)
    assert bottom(page, ".picture tbody tr") - bottom(page, "#answer") < 450
    for number, name in enumerate(("REP ↓", "DROP ↓", "SoftDROP ↓", "BLEU ↑")):
        page.select_option("#column", label=name)
        assert page.locator(".picture thead th:visible").count() == 2
        assert page.locator(f".picture td[data-column='{number}']:visible").count() == 9
    other.close()


def test_screen_readers_get_what_is_seen_in_the_order_that_is_seen(window):
    row = window.locator(".list .row").first
    scores = row.locator(".number").all_text_contents()[1:]
    assert all(score.startswith("system-") for score in scores)
    flagged = row.locator(".flagged")
    assert flagged.all_text_contents() == [score for score in scores if score.endswith(", flagged")]
    shapes = flagged.evaluate_all("nodes => nodes.map(node => getComputedStyle(node).outlineStyle)")
    assert {*shapes} <= {"solid"}  # not by colour alone
    boxes = [card.bounding_box() for card in window.locator(".pane .card").all()]
    places = [(box["y"], box["x"]) for box in boxes if box]
    assert all(before < behind for before, behind in pairwise(places))
    said = " ".join(window.locator(".pane .marks").all_inner_texts())
    marks = window.locator(".pane .source mark").all_text_contents()
    assert marks
    assert all(f"left out – {marks[0]}" in said and mark in said for mark in marks)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(window, scheme):
    window.emulate_media(color_scheme=scheme)
    assert violations(window) == []
    window.emulate_media(media="print")
    assert violations(window) == []


def test_on_paper_all_columns_and_whole_examples_are_printed(chromium, report):
    pypdf = pytest.importorskip("pypdf", reason="no pypdf: make test-browser")
    other = Reader(chromium)
    page = other.open(report)
    margins = dict.fromkeys(("top", "bottom", "left", "right"), "1cm")
    paper = pypdf.PdfReader(BytesIO(page.pdf(format="A4", margin=margins)))
    texts = [sheet.extract_text() for sheet in paper.pages]
    assert all(name in texts[0] for name in ("REP ↓", "DROP ↓", "SoftDROP ↓", "BLEU ↑"))
    assert "Score" not in texts[0].splitlines()  # the switch
    # An example begins with its system and ends with its output: none goes on on another page.
    assert sum(text.count("Segment ") for text in texts) >= 10 + 5
    for text in texts:
        assert text.count("Segment ") == text.splitlines().count("output")
        assert len(text.splitlines()) > 5
    page.emulate_media(media="print")
    text, label = (
        page.locator(f".card {tag}").first.evaluate(
            "node => [getComputedStyle(node).fontSize, getComputedStyle(node).lineHeight]"
            ".map(parseFloat)"
        )
        for tag in ("dd", "dt")
    )
    assert label[0] <= text[0]
    assert text[1] >= 1.65 * text[0]  # a line under words does not cross the next line
    other.close()
