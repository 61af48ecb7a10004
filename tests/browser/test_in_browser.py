"""Reports in a real browser: what readers do with them, and text that attacks them."""

from __future__ import annotations

import json
import re
import shutil
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import pytest

import coverage_eval as ce
from coverage_eval.attention_maps import AttentionMap, save
from coverage_eval.comparison.report.html import make_report
from tests.browser.conftest import Reader, violations
from tests.conftest import RunCli
from tests.planting import inject_lines

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEXTS = ("--ref", "test.en", "--src", "test.de", "--model", "model")
OPTIONS = (*TEXTS, "--metrics", "rep,drop,softdrop")
SYSTEMS = ("careful=careful.en", "dropping=dropping.en", "bad=bad.en")


@pytest.fixture(scope="module")
def folder(demonstration: Path, run_cli: RunCli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of three systems, with attention of one."""
    path = tmp_path_factory.mktemp("browser") / "demo"
    shutil.copytree(demonstration, path)
    lines = inject_lines(ce.read_segments(path / "test.en"), "omission-content", 0.05)
    lines = inject_lines(lines, "repetition-word", 0.05)
    (path / "bad.en").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sources, outputs = (
        [line.split() for line in ce.read_segments(path / name)] for name in ("test.de", "bad.en")
    )
    maps = [
        AttentionMap([[1 / len(source)] * len(source)] * len(output), source, output)
        for source, output in zip(sources, outputs, strict=True)
    ]
    save(maps, path / "maps.npz")
    more = ("--attention", "bad=maps.npz")
    run_cli("report", *OPTIONS, *SYSTEMS, *more, "-o", "report.html", cwd=path)
    return path


@pytest.fixture(scope="module")
def details(folder: Path, run_cli: RunCli) -> dict[tuple[str, int], Any]:
    """The evidence of each system and segment, as ``compare`` writes it."""
    line = ("compare", *OPTIONS, *SYSTEMS, "--resamples", 0, "--sentence-level")
    run_cli(*line, "-o", "details.jsonl", cwd=folder)
    _, *records = map(json.loads, (folder / "details.jsonl").read_text().splitlines())
    return {(record["system"], record["segment"]): record for record in records}


def count(page: Page) -> int:
    return int(page.inner_text(".count").split()[0].replace(",", ""))


def numbers(page: Page) -> list[int]:
    return [
        int(text) for text in page.locator(".list .row > .number:first-child").all_inner_texts()
    ]


def settled(page: Page, expected: int) -> None:
    """Wait until the page shows this number of segments."""
    page.locator(".count", has_text=re.compile(rf"^\s*{expected} of 500 segments")).wait_for()


def with_errors(details: dict[tuple[str, int], Any], system: str, metric: str) -> set[int]:
    return {
        number
        for (name, number), record in details.items()
        if name == system and record["metrics"][metric]["marks"]
    }


def marked_words(record: Any, metric: str, side: str) -> set[int]:
    """The positions of the words that a metric marks, in a text of words with spaces between."""
    return {
        position
        for mark in record["metrics"][metric]["marks"]
        for position in range(
            record[side][: mark["start"]].count(" "), record[side][: mark["end"]].count(" ") + 1
        )
    }


def dropped_words(record: Any) -> set[int]:
    """The positions of the source words that DROP marks."""
    return marked_words(record, "DROP", "source")


def test_every_segment_has_the_scores_of_compare(reader, folder, details):
    page = reader.open(folder / "report.html")
    assert page.evaluate("[scrollY, location.hash]") == [0, ""]
    for number in (1, 250, 251, 500):
        page = reader.open(folder / "report.html", f"#segment={number}&x=")
        page.locator(f"article[aria-label='Segment {number}']").wait_for()
        for system in ("careful", "dropping", "bad"):
            shown = page.locator(f"section[aria-label='{system}'] dd").all_inner_texts()
            metrics = details[system, number]["metrics"].values()
            assert shown == [f"{item['score']:.2f}" for item in metrics]


def test_filters_show_the_segments_that_pass(reader, folder, details):
    page = reader.open(folder / "report.html")
    assert count(page) == 500
    dropped = with_errors(details, "dropping", "DROP")
    page.select_option("#sort", "DROP")
    page.select_option("#whose", "dropping")
    page.locator(".count", has_text=f"DROP flags {len(dropped)} of dropping").wait_for()
    page.check("#flagged")
    settled(page, len(dropped))
    assert page.evaluate("document.activeElement.id") == "flagged"
    # Flagged scores are painted, and no others.
    for row in page.locator(".list .row").all()[:5]:
        number, *scores = row.locator(".number").all()
        flagged = ["flagged" in (score.get_attribute("class") or "").split() for score in scores]
        assert flagged == [
            int(number.inner_text()) in with_errors(details, system, "DROP")
            for system in ("careful", "dropping", "bad")
        ]
    page.click("#reset")
    settled(page, 500)
    page.fill("#text", "HAUS")
    haus = sum("haus" in details["careful", n]["source"] for n in range(1, 501))
    settled(page, haus)
    page.fill("#text", "no such words")
    page.locator(".pane", has_text="No segment matches").wait_for()


def test_an_entry_leads_to_its_segments(reader, folder, details):
    page = reader.open(folder / "report.html")
    row = page.locator("#about-dropped-words tbody tr", has_text="dropping").first
    word = row.locator("a").inner_text()
    row.locator("a").click()
    expected = [
        n
        for n in range(1, 501)
        if word in {mark["text"] for mark in details["dropping", n]["metrics"]["DROP"]["marks"]}
    ]
    settled(page, len(expected))
    assert f"“{word}”" in page.inner_text(".found")
    assert page.evaluate("document.activeElement.className") == "list"
    assert {*numbers(page)} <= {*expected}
    page.click(".found button")
    settled(page, 500)


def test_the_worst_segment_comes_first_and_headers_sort(reader, folder, details):
    page = reader.open(folder / "report.html")

    def scores(system: str, metric: str) -> dict[int, float]:
        own = ((n, details[system, n]["metrics"][metric]["score"]) for n in range(1, 501))
        return {n: score or 0 for n, score in own}

    metric = page.input_value("#sort")
    head = page.locator(".row.head [aria-pressed='true']").get_attribute("aria-label") or ""
    worst = head.split(" of ")[1].split(",")[0]
    assert worst != "careful"
    first = max(scores(worst, metric).items(), key=lambda item: (item[1], -item[0]))[0]
    page.locator(f"article[aria-label='Segment {first}']").wait_for()
    assert numbers(page)[0] == first
    other = "bad" if worst == "dropping" else "dropping"
    page.click(f".row.head button[aria-label^='{metric} of {other}']")
    first = max(scores(other, metric).items(), key=lambda item: (item[1], -item[0]))[0]
    page.locator(f"#row-{first}[aria-selected='true']").wait_for()
    page.click(f".row.head button[aria-label^='{metric} of {other}']")
    page.locator(".row.head button[aria-label$=', ascending']").wait_for()
    page.click(".row.head button[aria-label='Number']")
    page.locator("article[aria-label='Segment 1']").wait_for()
    # The system that the list is about has a column, shown side by side or not.
    page.uncheck("#show-2")
    page.select_option("#whose", "bad")
    page.locator(f".row.head button[aria-label^='{metric} of bad']").wait_for()


def test_back_undoes_links_searches_and_filters(reader, folder):
    page = reader.open(folder / "report.html")
    page.locator("#about-dropped-words tbody a").nth(4).focus()
    page.keyboard.press("Enter")
    page.locator(".list:focus").wait_for()
    page.go_back()
    settled(page, 500)
    page.check("#flagged")
    page.locator(".count", has_not_text="500 of 500").wait_for()
    filtered = count(page)
    page.locator("#text").press_sequentially("haus", delay=300)
    page.locator(".count", has_not_text=re.compile(rf"^({filtered}|500) of")).wait_for()
    page.go_back()
    settled(page, filtered)
    assert (page.input_value("#text"), page.is_checked("#flagged")) == ("", True)
    page.go_forward()
    page.locator(".count", has_not_text=re.compile(rf"^({filtered}|500) of")).wait_for()
    assert page.input_value("#text") == "haus"
    page.go_back()
    settled(page, filtered)
    page.go_back()
    settled(page, 500)


def runs(positions: set[int], words: list[str]) -> list[str]:
    """The words of neighbouring positions, without punctuation at their ends."""
    found: list[list[int]] = []
    for position in sorted(positions):
        if found and found[-1][-1] == position - 1:
            found[-1].append(position)
        else:
            found.append([position])
    texts = [" ".join(words[position] for position in run).strip(" .,!?") for run in found]
    return [text for text in texts if text]


def test_runs_are_marked_and_the_source_shows_the_chosen_output(reader, folder, details):
    number = min(with_errors(details, "dropping", "DROP") & with_errors(details, "bad", "DROP"))
    page = reader.open(folder / "report.html", f"#segment={number}&show=dropping&show=bad")
    source = page.locator(".pane p[aria-label='source']")
    assert source.count() == 1
    for system in ("bad", "dropping"):
        page.locator(f".pane section[aria-label='{system}'] h4 button").click()
        page.locator(".pane .source small b", has_text=system).wait_for()
        record = details[system, number]
        expected = runs(dropped_words(record), record["source"].split())
        assert source.locator("mark").all_inner_texts() == expected
        assert page.locator(".pane .source h4").inner_text().endswith(f"missing in {system}")
        card = page.locator(f".pane section[aria-label='{system}']")
        repeated = marked_words(record, "REP", "hypothesis")
        expected = runs(repeated, record["hypothesis"].split())
        assert card.locator("p mark").all_inner_texts() == expected
    assert page.locator(".pane mark.lost").count() == 0
    page.check("#mark-lost")
    page.uncheck("#mark-dropped")
    page.locator(".pane mark.lost").first.wait_for()
    again = reader.open(folder / "report.html", "#" + page.url.partition("#")[2])
    again.locator(".pane mark.lost").first.wait_for()
    assert again.locator(".pane mark.dropped").count() == 0


def test_marks_are_hidden_one_by_one_and_come_back(reader, folder):
    """Each change of the view is made of the last one, whichever part of the page makes it."""
    page = reader.open(folder / "report.html")
    shown = page.locator("article mark.run")
    before = shown.all_text_contents()
    assert before
    boxes = "[...document.querySelectorAll('[id^=mark-]:checked')]"
    assert page.evaluate(f"{boxes}.map(box => box.click()).length") > 1
    page.wait_for_function("!document.querySelector('article mark.run')")
    assert "&marks=&" in f"&{page.url.partition('#')[2]}&"
    page.click("#reset")
    page.wait_for_function("document.querySelector('article mark.run')")
    assert shown.all_text_contents() == before


def test_marks_of_nearly_all_are_no_omission(reader, tmp_path):
    sources, systems = ["ein rotes haus"], {"strange": ["a red hut"], "good": ["a red house"]}
    links = [[(0, 0), (1, 1), (2, 2)]]
    aligner = ce.Aligner.from_links(links, {"strange": [[]], "good": links})
    found = ce.compare(systems, ["a red house"], sources, aligner, metrics=["drop"], resamples=0)
    make_report(found).save(tmp_path / "report.html")
    page = reader.open(tmp_path / "report.html", "#whose=strange")
    heading = page.locator(".pane .source h4")
    heading.wait_for()
    assert heading.inner_text().endswith("the model may not know this text, in strange")


def test_words_show_what_they_are_linked_with(reader, folder, details, run_cli):
    number = min(with_errors(details, "dropping", "DROP"))
    page = reader.open(folder / "report.html", f"#segment={number}&show=dropping")
    card = page.locator(".pane article")
    words = card.locator("p[aria-label='source'] .word")
    links = run_cli("align", "apply", "model", "test.de", "dropping.en",
                    cwd=folder).stdout.splitlines()[number - 1]  # fmt: skip
    pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
    output = details["dropping", number]["hypothesis"].split()
    dropped = dropped_words(details["dropping", number])
    for position in range(words.count()):
        words.nth(position).hover()
        linked = card.locator("p[aria-label='output'] .word.linked").all_inner_texts()
        assert linked == [output[t] for s, t in sorted(pairs) if s == position]
    words.nth(min(dropped)).hover()
    assert "(dropped" in page.inner_text(".status")
    assert "dropping: no link" in page.inner_text(".status")
    # The same with the keyboard.
    words.first.focus()
    for _ in range(min(dropped)):
        page.keyboard.press("ArrowRight")
    assert "dropping: no link" in page.inner_text(".status")
    page.keyboard.press("ArrowLeft" if min(dropped) else "ArrowRight")
    assert page.evaluate("document.activeElement.classList.contains('linked')")


def test_the_keyboard_reaches_everything(reader, folder):
    page = reader.open(folder / "report.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the segments"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "list"
    page.select_option("#sort", "number")
    page.locator("article[aria-label='Segment 1']").wait_for()
    page.focus(".list")
    for key, number in (
        ("ArrowDown", 2),
        ("ArrowUp", 1),
        ("j", 2),
        ("k", 1),
        ("End", 500),
        ("Home", 1),
    ):
        page.keyboard.press(key)
        page.locator(f"article[aria-label='Segment {number}']").wait_for()
        chosen = page.get_attribute(".list", "aria-activedescendant")
        assert chosen == f"row-{number}"
        assert page.get_attribute(f"#{chosen}", "aria-selected") == "true"
    # Letters do nothing elsewhere, or when they are switched off.
    page.focus(".pane")
    page.keyboard.press("j")
    page.uncheck("#letters")
    page.focus(".list")
    page.keyboard.press("j")
    assert page.get_attribute(".list", "aria-activedescendant") == "row-1"


def test_an_address_opens_the_same_view(chromium, reader, folder):
    page = reader.open(folder / "report.html")
    page.uncheck("#show-0")
    page.select_option("#sort", "DROP")
    page.select_option("#whose", "bad")
    page.check("#flagged")
    page.fill("#text", "e")
    page.wait_for_timeout(600)
    page.focus(".list")
    page.keyboard.press("ArrowDown")
    url = page.url
    shown = page.inner_text(".count"), numbers(page), page.inner_text(".pane h3")
    other = Reader(chromium)
    again = other.open(folder / "report.html", f"#{url.partition('#')[2]}")
    again.locator(".pane h3").wait_for()
    assert (again.inner_text(".count"), numbers(again), again.inner_text(".pane h3")) == shown
    assert again.input_value("#text") == "e"
    assert not again.is_checked("#show-0")
    assert again.locator(".segment .card").count() == 2
    other.close()


def test_attention_is_shown(reader, folder):
    page = reader.open(folder / "report.html", "#segment=7&show=bad&show=careful")
    attention = page.locator("article .attention", has_text="Attention of bad")
    assert page.locator("article .attention").count() == 1
    source, output = (
        (folder / name).read_text().splitlines()[6].split() for name in ("test.de", "bad.en")
    )
    cells = attention.locator("tbody td")
    assert cells.count() == len(source) * len(output)
    said = cells.first.get_attribute("title") or ""
    assert said == f"{output[0]} ← {source[0]}: {round(100 / len(source)) / 100:.2f}"
    colours = cells.evaluate_all("cells => cells.map(c => getComputedStyle(c).backgroundColor)")
    assert len({*colours}) == 1  # the weights are all the same


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1024), ("light", 390)])
def test_axe_finds_no_violation(chromium, folder, scheme, width):
    other = Reader(chromium, color_scheme=scheme, viewport={"width": width, "height": 900})
    page = other.open(folder / "report.html", "#segment=7&found=dropped-words&entry=x")
    page.click("#reset")
    assert violations(page) == []
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    other.close()


@pytest.mark.parametrize("width", [320, 768, 1400])
def test_the_table_of_scores_is_never_cut_and_nothing_scrolls_sideways(chromium, folder, width):
    other = Reader(chromium, viewport={"width": width, "height": 900})
    page = other.open(folder / "report.html", "#segment=7&x=")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    table = page.locator("#which .picture .scroll")
    assert table.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert table.evaluate("node => node.scrollHeight <= node.clientHeight + 1")
    other.close()


PAPER = 718
"""Pixels across a page of A4 with margins of 1 cm."""


def test_print_cuts_nothing_and_keeps_headings_with_their_text(chromium, folder):
    pypdf = pytest.importorskip("pypdf", reason="no pypdf: make test-browser")
    other = Reader(chromium, viewport={"width": PAPER, "height": 1000})
    page = other.open(folder / "report.html", "#sort=number")
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    clipped = "node => node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight"
    for part in page.locator(".scroll:visible, .card:visible").all():
        assert not part.evaluate(clipped)
    headings = {*page.locator("h2:visible, h3:visible, h4:visible").all_inner_texts()}
    assert "Intervals and tests" in headings
    margins = dict.fromkeys(("top", "bottom", "left", "right"), "1cm")
    paper = pypdf.PdfReader(BytesIO(page.pdf(format="A4", margin=margins)))
    assert len(paper.pages) <= 4
    seen: set[str] = set()
    for sheet in paper.pages:
        lines: list[tuple[float, str]] = []

        def keep(text: str, cm: Any, tm: Any, *_: Any, lines: Any = lines) -> None:
            if text.strip():  # a ligature is two letters
                lines.append((tm[5] * cm[3] + cm[5], normalize("NFKC", text.strip())))

        sheet.extract_text(visitor_text=keep)
        _, last = min(lines)
        assert last not in headings
        seen |= {text for _, text in lines}
    assert len(headings & seen) > 10
    assert not {"Segments", "Commonest errors", "Marks"} & seen
    other.close()


HOSTILE = {
    "script": "<script>window.hacked=1</script>",
    "end": "</script><script>window.hacked=1</script>",
    "textarea": "</textarea><img src=x onerror=window.hacked=1>",
    "comment": "--><img src=x onerror=window.hacked=1><!--",
    "bidi": "\u202egnp.exe\u202c \u2067abc\u2069",
    "flood": "Z" + "\u0301\u0323\u0489" * 300,
    "long": "W" * 10_000,
    "separators": "one\u2028two\u2029three\u0085four",
    "attribute": '" onmouseover="window.hacked=1" x=\'',
    "template": "{{ 7 * 7 }} {% raw %} ${7*7}",
    "controls": "\x1b[31m \x07 \ufeff \u200f",
    "formula": "=HYPERLINK(1)",
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A megabyte in few words, because the search for loops takes long for each that repeats.
    texts = [*HOSTILE.values(), f"{'word' * 13} " * 20_000]
    systems = {
        "<img src=x onerror=window.hacked=1>": [f"{text} {text}" for text in texts[:-1]]
        + [texts[-1]],
        "b</script>\u202e": texts[::-1],
    }
    aligner = ce.Aligner.from_links(
        [[(0, 0)]] * len(texts), [[[(0, 0)]] * len(texts), [[]] * len(texts)]
    )
    comparison = ce.compare(systems, texts, texts, aligner, metrics=["rep", "drop"], resamples=0)
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    make_report(comparison, title="<b>bold</b>", command="a <u>b</u>").save(path)
    return path


def test_hostile_text_is_text(reader, hostile):
    page = reader.open(hostile)
    assert page.inner_text("h1") == "<b>bold</b>"
    for number, text in enumerate(HOSTILE.values(), start=1):
        page.evaluate(f"location.hash = 'segment={number}&x='")
        page.locator(f"article[aria-label='Segment {number}']").wait_for()
        reference = page.locator("article p[aria-label='reference'] .word")  # folded if long
        words = reference.all_text_contents()
        assert len(words) == len(text.split())
        if text.isascii() and text.isprintable() and len(text) < 1000:
            assert " ".join(words) == text
        assert not any(set(word) & set("\u202e\u2067\u2028\u2029\x1b") for word in words)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        card = page.locator(".segment .card").first
        assert card.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
    assert not set(page.inner_text("body")) & set("\u202e\u2067\u2028\u2029\x1b")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, textarea").count() == 0
    assert page.locator("main script").count() == 0


def test_a_segment_of_a_megabyte_is_shown_in_parts(reader, hostile):
    number = len(HOSTILE) + 1
    page = reader.open(hostile, f"#segment={number}&x=")
    card = page.locator(".segment .card[aria-label^='<img']")
    words = card.locator("p[aria-label='output'] .word")
    assert words.count() == 2400 // 53
    card.locator("p[aria-label='output'] button", has_text="more characters: show 12,000").click()
    assert words.count() == (2400 // 53) + 12_000 // 53
    assert {len(word) for word in words.all_text_contents()} == {52}
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_long_list_has_rows_only_where_they_are_visible(reader, tmp_path):
    """Of 20,000 segments only visible rows exist on the page, and every row can be reached."""
    texts = [f"word {n}" for n in range(20_000)]
    comparison = ce.compare({"a": texts}, texts, metrics=["rep"], resamples=0)
    make_report(comparison).save(tmp_path / "long.html")
    page = reader.open(tmp_path / "long.html")
    assert page.locator(".list .row").count() < 60
    page.focus(".list")
    page.keyboard.press("End")
    page.locator("article[aria-label='Segment 20000']").wait_for()
    page.locator("#row-20000 .snippet", has_text="word 19999").wait_for()
    page.fill("#text", "word 7777")
    page.locator(".count", has_text="1 of 20,000 segments").wait_for()
    assert numbers(page) == [7778]
    # The segments found are far apart: each visible row is in another block.
    page.fill("#text", "000")
    page.locator(".count", has_text="28 of 20,000 segments").wait_for()
    page.focus(".list")
    page.keyboard.press("ArrowDown")
    page.locator("article[aria-label='Segment 2001']").wait_for()
    page.locator("#row-9001 .snippet", has_text="word 9000").wait_for()


def test_a_notebook_shows_the_report(reader, tmp_path):
    texts = ["a house", "a dog"]
    report = make_report(ce.compare({"a": texts}, texts, metrics=["rep"], resamples=0))
    (tmp_path / "notebook.html").write_text(
        f"<!DOCTYPE html><title>n</title>{report._repr_html_()}"
    )
    reader.page.goto((tmp_path / "notebook.html").as_uri())
    frame = reader.page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    assert frame.locator(".count").inner_text().startswith("2 of 2 segments")
    frame.locator("#row-2").click()
    frame.locator("article[aria-label='Segment 2']").wait_for()
    frame.locator("#text").fill("dog")
    frame.locator(".count", has_text="1 of 2 segments").wait_for()
