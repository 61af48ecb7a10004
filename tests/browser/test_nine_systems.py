"""A report of nine systems: its first screen, its table, its paper, and where its links lead."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import coverage_eval as ce
from coverage_eval.comparison.report.html import make_report
from tests.browser.conftest import Reader, violations
from tests.planting import inject_lines

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from coverage_eval.comparison.table import Comparison

NAMES = [f"system-{n}.out.en" for n in range(8)]
METRICS = {"REP ↓": "rep", "DROP ↓": "drop", "SoftDROP ↓": "softdrop", "BLEU ↑": "bleu"}


@pytest.fixture(scope="module")
def made(demonstration: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Comparison]:
    """Eight systems, the later ones worse, and the reference; segments of four lines each."""
    sources, references = (
        [" ".join(lines[i : i + 4]) for i in range(0, 240, 4)]
        for name in ("test.de", "test.en")
        for lines in [list(ce.read_segments(demonstration / name))]
    )
    systems = {}
    for number, name in enumerate(NAMES):
        lines = inject_lines(
            references, "omission-content", 0.2 if number == 7 else 0.01, seed=number
        )
        systems[name] = inject_lines(lines, "repetition-phrase", 0.005 * number, seed=number)
    systems["person.out.en"] = references
    path = tmp_path_factory.mktemp("nine") / "report.html"
    with ce.Aligner.load(demonstration / "model") as aligner:
        comparison = ce.compare(
            systems, references, sources, aligner, metrics=[*METRICS.values(), "chrf"]
        )
        make_report(comparison).save(path)
    return path, comparison


SIZES = {"wide": (1440, 900), "laptop": (1024, 768), "tablet": (768, 1024), "phone": (390, 844)}


@pytest.fixture(params=SIZES)
def window(chromium: Any, made: Any, request: Any) -> Iterator[Page]:
    """The report in a window of each size."""
    width, height = SIZES[request.param]
    other = Reader(chromium, viewport={"width": width, "height": height})
    yield other.open(made[0])
    other.close()


def test_the_first_screen_has_the_answer_all_systems_and_an_error_of_the_worst(chromium, made):
    other = Reader(chromium, viewport={"width": 1440, "height": 900})
    page = other.open(made[0])
    for part in ("#answer", "#picture tbody tr", "#examples"):
        box = page.locator(part).last.bounding_box()
        assert 0 < box["y"] + box["height"] <= 900
    assert page.locator("#where").bounding_box()["y"] < 900
    worst = page.locator("#picture tbody tr:not(.reference) th").last.inner_text().strip()
    assert page.locator("#examples h2:visible").inner_text().strip() == worst
    assert page.locator("#answer .who").inner_text().startswith(worst)
    assert not [text for text in page.locator("main bdi").all_inner_texts() if ".out.en" in text]
    other.close()


def test_nothing_is_cut_or_overlaps_and_nothing_scrolls_inside(window):
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
    found = window.evaluate(
        """() => {
            const seen = (node) => node.checkVisibility() && !node.closest(".hidden, .skip");
            const text = [...document.querySelectorAll(
                `#answer p, #odd li, #picture :is(th, td, .note, button), .bar > *,
                .example :is(dt, dd)`)]
                .filter(seen);
            const cut = text.filter((node) => node.scrollWidth > node.clientWidth + 1
                && getComputedStyle(node).overflow !== "visible"
                && !node.matches(".words, input, select"));
            const boxes = [...document.querySelectorAll(
                "#picture tbody tr:first-child > :is(th, td), .bar > *")].filter(seen)
                .map((node) => [node.textContent, node.getBoundingClientRect()]);
            const over = [];
            for (const [a, one] of boxes) for (const [b, two] of boxes)
                if (one !== two && one.left < two.right - 1 && two.left < one.right - 1
                    && one.top < two.bottom - 1 && two.top < one.bottom - 1) over.push([a, b]);
            const scrollers = [...document.querySelectorAll("main *")].filter((node) => seen(node)
                && /auto|scroll/.test(getComputedStyle(node).overflow)
                && node.tagName !== "INPUT" && !node.closest(".menu"));
            return [cut.map((node) => node.textContent), over, scrollers.map((node) => node.id)];
        }"""
    )
    assert found == [[], [], []]
    assert window.locator(".bar").bounding_box()["height"] == 44
    rows = window.locator(".row").all()
    assert {round(row.bounding_box()["height"]) for row in rows} <= {51, 52, 53}


def test_dots_stand_where_their_figures_are(window, made):
    """Between the ticks of the header, to a pixel; the reference has no dot."""
    comparison = made[1]
    for column in window.locator("#picture thead th[data-column]:visible").all():
        number, name = column.get_attribute("data-column"), column.inner_text().split("▲")[0]
        ticks = window.locator(f"#picture .ticks .axis[data-column='{number}'] span").all()
        figures, places = [], []
        for tick in ticks:
            box = tick.bounding_box()
            figures.append(float(tick.inner_text()))
            places.append(box["x"] + box["width"] / 2)
        assert places[1] == pytest.approx((places[0] + places[2]) / 2, abs=0.6)
        for row in window.locator("#picture tbody tr").all():
            dots = row.locator(f"td.axis[data-column='{number}'] circle").all()
            system = row.get_attribute("data-system")
            if system == "person.out.en":
                assert not dots
                continue
            (dot,) = dots
            box = dot.bounding_box()
            score = comparison.rows[system][METRICS[name.strip()]].score.score
            share = (score - figures[0]) / (figures[2] - figures[0])
            expected = places[0] + share * (places[2] - places[0])
            assert box["x"] + box["width"] / 2 == pytest.approx(expected, abs=1)


def test_a_fifth_column_is_folded_and_a_reference_stays_last(chromium, made):
    other = Reader(chromium, viewport={"width": 1440, "height": 900})
    page = other.open(made[0])
    assert page.locator("#picture thead th[data-column]:visible").count() == 4
    page.click("#fold")
    assert page.locator("#picture thead th[data-column]:visible").count() == 5
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for button in page.locator("#picture thead th button").all():
        button.click()
        last = page.locator("#picture tbody tr").last
        assert last.get_attribute("class").split()[0] == "reference"
    assert last.locator("small").inner_text() == "is the reference"
    other.close()


def test_every_link_opens_the_system_that_it_names(window):
    links = window.locator("#odd a, #picture tbody a:not([tabindex]), #answer a").all()
    hrefs = [link.get_attribute("href") for link in links if link.is_visible()]
    hrefs += window.locator(".breakdowns a").evaluate_all("links => links.map(a => a.hash)")
    hrefs += window.locator(".example .actions a").evaluate_all("links => links.map(a => a.hash)")
    assert len(hrefs) > 30
    for href in hrefs:
        window.evaluate(
            "href => { const link = document.createElement('a'); link.href = href;"
            "document.body.append(link); link.click(); link.remove(); }",
            href,
        )
        asked = dict(part.split("=") for part in href.removeprefix("#").split("&"))
        name = asked["whose"].replace(".out.en", "")
        window.wait_for_function(
            "name => document.querySelector('.row .scores bdi')?.textContent === name", arg=name
        )
        if "segment" in asked:
            article = f"article[aria-label='Segment {asked['segment']}']"
            window.locator(f"{article} .card[aria-label='{name}']").wait_for()


def test_a_phone_shows_one_column_at_a_time(chromium, made):
    other = Reader(chromium, viewport={"width": 390, "height": 844})
    page = other.open(made[0])
    for number, name in enumerate(page.locator("#column option").all_inner_texts()):
        page.select_option("#column", label=name)
        assert (
            page.locator("#picture thead th[data-column]:visible")
            .all_inner_texts()[0]
            .startswith(name)
        )
        assert page.locator(f"#picture td[data-column='{number}'][data-value]:visible").count() == 9
    other.close()


def test_screen_readers_get_what_is_seen(window):
    row = window.locator(".row").first
    assert row.get_attribute("aria-expanded") == "false"
    scores = row.locator(".scores > span").all()
    assert all(score.text_content().startswith("system-") for score in scores)
    for score in scores:
        flagged = "flagged" in (score.get_attribute("class") or "")
        assert score.text_content().endswith(", flagged") == flagged
        if flagged:  # not by colour alone
            assert score.evaluate("node => getComputedStyle(node).fontWeight") == "600"
    row.click()
    window.locator(".segment .source mark").first.wait_for()
    said = " ".join(window.locator(".segment .marks").all_inner_texts())
    marks = window.locator(".segment .source mark").all_text_contents()
    assert marks
    assert all(f"left out – {marks[0]}" in said and mark in said for mark in marks)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(window, scheme):
    window.emulate_media(color_scheme=scheme)
    assert violations(window) == []
    window.emulate_media(media="print")
    assert violations(window) == []


def test_nine_systems_print_on_three_pages(chromium, made):
    pypdf = pytest.importorskip("pypdf", reason="no pypdf: make test-browser")
    other = Reader(chromium)
    page = other.open(made[0])
    paper = pypdf.PdfReader(BytesIO(page.pdf(prefer_css_page_size=True)))
    texts = [sheet.extract_text() for sheet in paper.pages]
    assert len(texts) <= 3
    assert all(name in texts[0] for name in list(METRICS)[:4])
    assert "Score" not in texts[0].splitlines()  # the switch
    for number, text in enumerate(texts, start=1):
        assert "Coverage errors of 9 systems" in text
        assert f"{number} / {len(texts)}" in " ".join(text.split())
    whole = "".join(texts)
    assert whole.count("segment ") >= 10
    assert "Segments" not in whole.split()
    page.emulate_media(media="print")
    text, label = (
        page.locator(f".example {tag}:visible").first.evaluate(
            "node => [getComputedStyle(node).fontSize, getComputedStyle(node).lineHeight]"
            ".map(parseFloat)"
        )
        for tag in ("dd", "dt")
    )
    assert label[0] <= text[0]
    assert text[1] >= 1.65 * text[0]  # a line under words does not cross the next line
    other.close()
