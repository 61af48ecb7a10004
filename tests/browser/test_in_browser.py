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


def wait_for(page: Any, condition: str) -> None:
    """Wait until an expression is true; the page's security policy forbids Playwright's own way."""
    for _ in range(300):
        if page.evaluate(f"Boolean({condition})"):
            return
        page.wait_for_timeout(50)
    raise AssertionError(condition)


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
    texts = page.locator(".row .place").all_text_contents()
    return [int(text.removeprefix("Segment ")) for text in texts]


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


def loud(details: dict[tuple[str, int], Any], page: Page, system: str) -> set[int]:
    """The segments in which DROP marks more than function words, as the page's data have it."""
    flags = page.evaluate(
        """async (name) => {
            const block = document.querySelector(`[data-block="flags/DROP/${name}"]`);
            const bytes = Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0));
            const unzip = new DecompressionStream("gzip");
            const stream = new Blob([bytes]).stream().pipeThrough(unzip);
            return JSON.parse(await new Response(stream).text());
        }""",
        system,
    )
    found = {number for number, is_flagged in enumerate(flags, start=1) if is_flagged}
    assert found <= with_errors(details, system, "DROP")
    return found


def test_every_segment_has_the_scores_of_compare(reader, folder, details):
    page = reader.open(folder / "report.html")
    assert page.evaluate("[scrollY, location.hash]") == [0, ""]
    assert page.locator(".segment").count() == 0
    for number in (1, 250, 251, 500):
        page = reader.open(folder / "report.html", f"#segment={number}&x=")
        page.locator(f"article[aria-label='Segment {number}']").wait_for()
        for system in ("careful", "dropping", "bad"):
            shown = page.locator(f".segment section[aria-label='{system}'] dd").all_inner_texts()
            metrics = details[system, number]["metrics"].values()
            assert shown == [f"{item['score']:.2f}" for item in metrics]


def test_a_segment_that_does_not_exist_is_said_to(reader, folder):
    page = reader.open(folder / "report.html", "#segment=9999")
    page.locator("text=There is no segment 9999: the last one is 500.").wait_for()
    assert page.locator(".row[aria-expanded='true']").count() == 0


def test_filters_show_the_segments_that_pass(reader, folder, details):
    page = reader.open(folder / "report.html")
    assert count(page) == 500
    flagged = loud(details, page, "dropping")
    page.select_option("#sort", "DROP")
    page.select_option("#whose", "dropping")
    page.locator("#flagged", has_text=f"Flagged {len(flagged)}").wait_for()
    page.click("#flagged")
    settled(page, len(flagged))
    assert page.evaluate("document.activeElement.id") == "flagged"
    assert {*numbers(page)} <= flagged
    # Flagged scores are painted, and no others.
    for row in page.locator(".row").all()[:5]:
        number = int(row.locator(".place").text_content().removeprefix("Segment "))
        for score in row.locator(".scores > span").all():
            is_flagged = "flagged" in (score.get_attribute("class") or "").split()
            system = score.locator("bdi").inner_text()
            assert is_flagged == (number in loud(details, page, system))
    reader.menu()
    page.click("#reset")
    settled(page, 500)
    page.fill("#text", "HAUS")
    haus = sum("haus" in details["careful", n]["source"] for n in range(1, 501))
    settled(page, haus)
    marked = "[...CSS.highlights.get('found')].map(range => range.toString().toLowerCase())"
    wait_for(page, f"{marked}.length > 0")
    assert {*page.evaluate(marked)} == {"haus"}
    page.fill("#text", "no such words")
    page.locator(".rows", has_text="No segment matches").wait_for()


def test_a_search_opens_at_its_first_match(reader, tmp_path):
    long = " ".join(f"word{n}" for n in range(3000))
    texts = [long, f"{long} here"]
    made = ce.compare({"a": texts}, texts, metrics=["rep"], resamples=0)
    make_report(made).save(tmp_path / "long.html")
    page = reader.open(tmp_path / "long.html", "#text=word290&segment=2")
    wait_for(page, "CSS.highlights.get('found')?.size > 0")
    shown = page.evaluate(
        """[...CSS.highlights.get("found")].some((range) => {
            const { top, bottom } = range.getBoundingClientRect();
            const isOpen = range.startContainer.parentElement.closest(".segment");
            return isOpen && top > 0 && bottom < innerHeight;
        })"""
    )
    assert shown


def test_a_bar_of_the_histogram_leads_to_its_segments(reader, folder, details):
    page = reader.open(folder / "report.html")
    bar = page.locator("tr[data-system='dropping'] .bars a").last
    figure = page.evaluate("document.querySelector('th.why').textContent").split()[0]
    low = float(re.search(r"from=([\d.]+)", bar.get_attribute("href"))[1])
    number = int(bar.locator("title").text_content().split()[0].replace(",", ""))
    bar.dispatch_event("click")
    settled(page, number)
    scores = [details["dropping", n]["metrics"][figure]["score"] for n in numbers(page)]
    assert min(scores) >= low
    assert "dropping" in page.locator(".row .scores > span").first.inner_text()
    page.click(".found button")
    settled(page, 500)


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
    wait_for(page, "document.activeElement.className === 'row'")
    assert {*numbers(page)} <= {*expected}
    page.click(".found button")
    settled(page, 500)


def test_function_words_are_marked_on_demand(reader, folder, details):
    page = reader.open(folder / "report.html")
    flagged = loud(details, page, "dropping")
    quiet = min(with_errors(details, "dropping", "DROP") - flagged)
    page = reader.open(folder / "report.html", f"#whose=dropping&segment={quiet}")
    page.locator(f"article[aria-label='Segment {quiet}']").wait_for()
    assert page.locator(".segment .source mark.dropped").count() == 0
    reader.menu()
    page.check("#quiet")
    page.locator(".segment .source mark.dropped").first.wait_for()
    words = {*page.locator("label[for='quiet']").inner_text().partition(": ")[2].split(", ")}
    assert words <= {"der", "die", "das", "ein", "hat", "dem", "den", "eine", "…"}
    entries = page.locator("#about-dropped-words tbody th").all_inner_texts()
    assert not {*entries} & {"der", "die", "das"}


def test_the_worst_segment_comes_first(reader, folder, details):
    page = reader.open(folder / "report.html")

    def scores(system: str, metric: str) -> dict[int, float]:
        own = ((n, details[system, n]["metrics"][metric]["score"]) for n in range(1, 501))
        return {n: score or 0 for n, score in own}

    metric, worst = page.input_value("#sort"), page.input_value("#whose")
    assert worst != "careful"
    ordered = sorted(scores(worst, metric).items(), key=lambda item: (-item[1], item[0]))
    assert numbers(page) == [number for number, _ in ordered[:50]]
    page.click(".pager button >> text=next")
    page.locator(".pager span", has_text="51–100 of 500").wait_for()
    assert numbers(page) == [number for number, _ in ordered[50:100]]
    page.select_option("#sort", "number")
    wait_for(page, "document.querySelector('.row').id === 'row-1'")


def test_headers_of_the_table_sort_it_and_rows_choose_the_example(reader, folder):
    page = reader.open(folder / "report.html")
    table = page.locator("#picture")

    def figures(column: int) -> list[float]:
        cells = table.locator(f"tbody td[data-column='{column}'][data-value]").all()
        return [float(cell.get_attribute("data-value")) for cell in cells]

    for column in (1, 0, 2):
        button = table.locator(f"th[data-column='{column}'] button")
        button.click()
        once = figures(column)
        assert once == sorted(once)  # errors: the best first
        button.click()
        assert figures(column) == once[::-1]
        assert table.locator("[aria-sort]").count() == 1
    for row in table.locator("tbody tr").all():
        row.locator("td").last.click(position={"x": 2, "y": 10})
        system = row.get_attribute("data-system")
        shown = page.locator("#examples .example:visible")
        assert shown.count() == 1
        assert shown.get_attribute("data-system") == system
        row.locator("th a").click()
        wait_for(page, f"document.querySelector('#whose').value === '{system}'")


def test_back_undoes_links_searches_and_filters(reader, folder):
    page = reader.open(folder / "report.html")
    page.locator("#about-dropped-words tbody a").nth(4).focus()
    page.keyboard.press("Enter")
    page.locator(".row:focus").wait_for()
    page.go_back()
    settled(page, 500)
    page.click("#flagged")
    page.locator(".count", has_not_text="500 of 500").wait_for()
    filtered = count(page)
    page.locator("#text").press_sequentially("haus", delay=300)
    page.locator(".count", has_not_text=re.compile(rf"^({filtered}|500) of")).wait_for()
    page.go_back()
    settled(page, filtered)
    pressed = page.get_attribute("#flagged", "aria-pressed")
    assert (page.input_value("#text"), pressed) == ("", "true")
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
    address = f"#segment={number}&show=dropping&show=bad&quiet=yes"
    page = reader.open(folder / "report.html", address)
    source = page.locator(".segment p[aria-label='source']")
    source.wait_for()
    assert source.count() == 1
    for system in ("bad", "dropping"):
        page.locator(f".segment section[aria-label='{system}'] h3 button").click()
        page.locator(".segment .source b", has_text=system).wait_for()
        record = details[system, number]
        expected = runs(dropped_words(record), record["source"].split())
        assert source.locator("mark").all_inner_texts() == expected
        assert page.locator(".segment .source h3").inner_text().endswith(f"missing in {system}")
        card = page.locator(f".segment section[aria-label='{system}']")
        repeated = marked_words(record, "REP", "hypothesis")
        expected = runs(repeated, record["hypothesis"].split())
        assert card.locator("p mark").all_inner_texts() == expected
    assert page.locator(".segment mark.lost").count() == 0
    reader.menu()
    page.check("#mark-lost")
    page.uncheck("#mark-dropped")
    page.locator(".segment mark.lost").first.wait_for()
    again = reader.open(folder / "report.html", "#" + page.url.partition("#")[2])
    again.locator(".segment mark.lost").first.wait_for()
    assert again.locator(".segment mark.dropped").count() == 0


def test_marks_are_hidden_one_by_one_and_come_back(reader, folder):
    """Each change of the view is made of the last one, whichever part of the page makes it."""
    page = reader.open(folder / "report.html")
    shown = page.locator(".row mark.run")
    before = shown.all_text_contents()
    assert before
    boxes = "[...document.querySelectorAll('[id^=mark-]:checked')]"
    assert page.evaluate(f"{boxes}.map(box => box.click()).length") > 1
    wait_for(page, "!document.querySelector('.row mark.run')")
    assert "&marks=&" in f"&{page.url.partition('#')[2]}&"
    reader.menu()
    page.click("#reset")
    wait_for(page, "document.querySelector('.row mark.run')")
    assert shown.all_text_contents() == before


def test_marks_of_nearly_all_are_no_omission(reader, tmp_path):
    sources, systems = ["ein rotes haus"], {"strange": ["a red hut"], "good": ["a red house"]}
    links = [[(0, 0), (1, 1), (2, 2)]]
    aligner = ce.Aligner.from_links(links, {"strange": [[]], "good": links})
    found = ce.compare(systems, ["a red house"], sources, aligner, metrics=["drop"], resamples=0)
    make_report(found).save(tmp_path / "report.html")
    page = reader.open(tmp_path / "report.html", "#whose=strange&segment=1")
    heading = page.locator(".segment .source h3")
    heading.wait_for()
    assert heading.inner_text().endswith("the model may not know this text, in strange")


def test_words_show_what_they_are_linked_with(reader, folder, details, run_cli):
    number = min(with_errors(details, "dropping", "DROP"))
    address = f"#segment={number}&show=dropping&whose=dropping&quiet=yes"
    page = reader.open(folder / "report.html", address)
    card = page.locator(f"article[aria-label='Segment {number}']")
    words = card.locator("p[aria-label='source'] .word")
    words.first.wait_for()
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
    assert page.evaluate("document.activeElement.className") == "row"
    page.select_option("#sort", "number")
    wait_for(page, "document.querySelector('.row').id === 'row-1'")
    page.focus("#row-1")
    for key, number in (
        ("ArrowDown", 2),
        ("ArrowUp", 1),
        ("j", 2),
        ("k", 1),
        ("End", 50),
        ("Home", 1),
    ):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.id") == f"row-{number}"
    page.keyboard.press("Enter")
    page.locator("article[aria-label='Segment 1']").wait_for()
    wait_for(page, "document.activeElement.id === 'row-1'")
    assert page.get_attribute("#row-1", "aria-expanded") == "true"
    page.keyboard.press("Enter")
    wait_for(page, "!document.querySelector('.segment')")
    # Letters do nothing elsewhere, or when they are switched off.
    reader.menu()
    page.uncheck("#letters")
    page.keyboard.press("Escape")
    assert not page.locator(".menu").evaluate("menu => menu.open")
    page.focus("#row-1")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.id") == "row-1"


def test_an_address_opens_the_same_view(chromium, reader, folder):
    page = reader.open(folder / "report.html")
    reader.menu()
    page.uncheck("#show-0")
    page.evaluate("document.querySelector('.menu').open = false")
    page.select_option("#sort", "DROP")
    page.select_option("#whose", "bad")
    page.click("#flagged")
    page.fill("#text", "e")
    page.wait_for_timeout(600)
    page.locator(".row").nth(2).click()
    page.locator("article[aria-label^='Segment']").wait_for()
    url = page.url
    article = "article[aria-label^='Segment']"
    shown = page.inner_text(".count"), numbers(page), page.get_attribute(article, "aria-label")
    other = Reader(chromium)
    again = other.open(folder / "report.html", f"#{url.partition('#')[2]}")
    again.locator(article).wait_for()
    assert (
        again.inner_text(".count"), numbers(again), again.get_attribute(article, "aria-label")
    ) == shown  # fmt: skip
    assert again.input_value("#text") == "e"
    assert not again.is_checked("#show-0")
    assert again.locator(".segment .card").count() == 2
    other.close()


def test_the_switch_changes_light_and_dark(chromium, folder):
    for scheme, before, after in (
        ("light", "rgb(255, 255, 255)", "rgb(22, 24, 27)"),
        ("dark", "rgb(22, 24, 27)", "rgb(255, 255, 255)"),
    ):
        other = Reader(chromium, color_scheme=scheme)
        page = other.open(folder / "report.html")
        paper = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(paper) == before
        page.check("#scheme")
        assert page.evaluate(paper) == after
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
    page = other.open(folder / "report.html", "#segment=7&show=bad&show=dropping&whose=bad")
    page.locator("article[aria-label='Segment 7']").wait_for()
    assert violations(page) == []
    other.menu()
    page.locator("details.whole").evaluate("details => details.open = true")
    assert violations(page) == []
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    other.close()


PAPER = 672
"""Pixels across a page of A4 between its margins."""


def test_print_cuts_nothing_and_keeps_headings_with_their_text(chromium, folder):
    pypdf = pytest.importorskip("pypdf", reason="no pypdf: make test-browser")
    other = Reader(chromium, viewport={"width": PAPER, "height": 1000})
    page = other.open(folder / "report.html", "#sort=number")
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    headings = {*page.locator("h2:visible, h3:visible").all_inner_texts()}
    assert "Intervals and tests" in headings
    paper = pypdf.PdfReader(BytesIO(page.pdf(prefer_css_page_size=True)))
    assert len(paper.pages) <= 3
    seen: set[str] = set()
    for sheet in paper.pages:
        lines: list[tuple[float, str]] = []

        def keep(text: str, cm: Any, tm: Any, *_: Any, lines: Any = lines) -> None:
            if text.strip():  # a ligature is two letters
                lines.append((tm[5] * cm[3] + cm[5], normalize("NFKC", text.strip())))

        sheet.extract_text(visitor_text=keep)
        assert any(re.fullmatch(r"\d", text) for _, text in lines)  # the number of the page
        body = [(y, text) for y, text in lines if y > 60]
        _, last = min(body)
        assert last not in headings
        seen |= {text for _, text in lines}
    assert len(headings & seen) > 5
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
        reference = page.locator("article p[aria-label='reference'] .word")
        words = reference.all_text_contents()
        # Given links count words by ASCII white space.
        assert len(words) == len(re.findall(r"[^ \t\n\r\f\v]+", text))
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


def test_of_a_long_list_a_page_is_drawn_and_every_segment_is_found(reader, tmp_path):
    texts = [f"word {n}" for n in range(20_000)]
    comparison = ce.compare({"a": texts}, texts, metrics=["rep"], resamples=0)
    make_report(comparison).save(tmp_path / "long.html")
    page = reader.open(tmp_path / "long.html", "#segment=20000&sort=number")
    page.locator("article[aria-label='Segment 20000']").wait_for()
    assert numbers(page) == [*range(19_951, 20_001)]
    page.fill("#text", "word 7777")
    page.locator(".count", has_text="1 of 20,000 segments").wait_for()
    wait_for(page, "document.querySelectorAll('.row').length === 1")
    assert numbers(page) == [7778]
    # The segments found are far apart: each row is in another block.
    page.fill("#text", "000")
    page.locator(".count", has_text="28 of 20,000 segments").wait_for()
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
