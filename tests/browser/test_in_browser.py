"""Reports in a real browser: what readers do with them, and text that attacks them."""

from __future__ import annotations

import csv
import json
import re
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import pytest

import coverage_eval as ce
from coverage_eval.attention_maps import AttentionMap, save
from coverage_eval.metrics.planting import inject_lines
from coverage_eval.report.html import make_report
from tests.browser.conftest import Reader
from tests.conftest import ROOT, RunCli

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEXTS = ("--ref", "test.en", "--src", "test.de", "--model", "model")
OPTIONS = (*TEXTS, "--metrics", "rep,drop,softdrop", "--symmetrize", "forward")
SYSTEMS = ("careful=careful.en", "dropping=dropping.en", "bad=bad.en")
STRUCK = """() => {
  const boxes = (what) => Array.from(
    document.querySelectorAll(`#score-charts ${what}`), (item) => item.getBoundingClientRect());
  const lines = boxes('g[stroke-width="1.5"] line');
  if (!lines.length) throw new Error("no zero line");
  return boxes("g[paint-order] > text").filter((text) => lines.some((line) =>
    line.left > text.left - 1 && line.left < text.right
    && line.top < text.bottom && line.bottom > text.top)).length;
}"""
"""The number of labels that a chart's zero line strikes through."""
AXE = ROOT / "coverage_eval/report/frontend/node_modules/axe-core/axe.min.js"


@pytest.fixture(scope="module")
def folder(run_cli: RunCli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of three systems, with labels and attention of one."""
    path = tmp_path_factory.mktemp("browser") / "demo"
    run_cli("demo", "--folder", path)
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
def compared(folder: Path, run_cli: RunCli) -> Any:
    return json.loads(run_cli("compare", *OPTIONS, *SYSTEMS, "-f", "json", cwd=folder).stdout)


@pytest.fixture(scope="module")
def details(folder: Path, run_cli: RunCli) -> dict[tuple[str, int], Any]:
    """The evidence of each system and segment, as ``compare`` writes it."""
    run_cli("compare", *OPTIONS, *SYSTEMS, "--resamples", 0, "--details", "details", cwd=folder)
    _, *records = map(json.loads, (folder / "details").read_text().splitlines())
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


def dropped_words(record: Any) -> set[int]:
    """The source positions that DROP marks."""
    return {place for mark in record["metrics"]["DROP"]["marks"] for place in mark["positions"]}


def test_every_score_is_that_of_compare(reader, folder, compared, details):
    page = reader.open(folder / "report.html")
    assert page.evaluate("[scrollY, location.hash]") == [0, ""]
    assert page.evaluate(STRUCK) == 0
    page.click("#scores-details > summary")
    for row, system in enumerate(("careful", "dropping", "bad")):
        cells = page.locator("#scores-details tbody tr").nth(row).locator("td")
        own = [score for score in compared["scores"] if score["system"] == system]
        for column, score in enumerate(own):
            figure, interval = cells.nth(column).inner_text().split("\n")[:2]
            assert figure.rstrip("*") == f"{score['score']:.2f}"
            low, high = (score["confidence"][end] for end in ("low", "high"))
            assert interval == f"[{low:.2f}, {high:.2f}]"
            title = f"{system}: {score['metric']} {score['score']:.2f}"
            drawn = page.locator("#score-charts title", has_text=title).count()
            assert drawn == (system != "careful")  # the others are drawn against it
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
    page.select_option("#kind", "dropped")
    page.select_option("#of", "dropping")
    settled(page, len(dropped))
    scores = {n: details["dropping", n]["metrics"]["DROP"]["score"] for n in dropped}
    page.select_option("#metric", "DROP")
    page.fill("#least", "20")
    page.press("#least", "Enter")
    settled(page, sum(score >= 20 for score in scores.values()))
    page.click("#reset")
    settled(page, 500)
    page.fill("#text", "HAUS")
    haus = sum("haus" in details["careful", n]["source"] for n in range(1, 501))
    settled(page, haus)
    page.select_option("#within", "output")
    settled(page, 0)
    page.locator(".pane", has_text="No segment matches").wait_for()
    page.fill("#text", r"\b(\w+) \1\b")
    page.check("#regex")
    page.select_option("#of", "bad")
    repeats = [n for n in range(1, 501) if twice(details["bad", n]["hypothesis"])]
    assert repeats
    settled(page, len(repeats))
    page.fill("#text", "(")
    page.locator(".count", has_text="Not a regular expression").wait_for()
    page.click("#reset")
    page.select_option("#winner", "careful")
    page.select_option("#loser", "dropping")
    page.select_option("#metric", "SoftDROP")
    wins = [
        n
        for n in range(1, 501)
        if details["careful", n]["metrics"]["SoftDROP"]["score"]
        < details["dropping", n]["metrics"]["SoftDROP"]["score"]
    ]
    settled(page, len(wins))


def twice(text: str) -> bool:
    words = text.split()
    return any(first == second and first.isalnum() for first, second in pairwise(words))


def test_sorting_by_a_difference_between_systems(reader, folder, details):
    page = reader.open(folder / "report.html")
    page.select_option("#sort", "SoftDROP")
    page.select_option("#whose", "dropping")
    page.select_option("#minus", "bad")
    page.check("#descending")

    def difference(number: int) -> float:
        ours, theirs = (
            details[name, number]["metrics"]["SoftDROP"]["score"] for name in ("dropping", "bad")
        )
        return float(ours - theirs)

    expected = sorted(range(1, 501), key=lambda n: (-difference(n), n))
    page.locator(f"#row-{expected[0]}[aria-selected='true']").wait_for()
    assert numbers(page)[:15] == expected[:15]
    page.focus(".list")
    page.keyboard.press("End")
    page.locator(f"article[aria-label='Segment {expected[-1]}']").wait_for()
    assert numbers(page)[-10:] == expected[-10:]


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
    row = page.locator("#about-dropped-by-one tbody tr").first
    assert row.locator("a").inner_text() == row.locator("td, th").nth(2).inner_text()
    for article in ("frequency", "source-position", "source-length", "reference-length"):
        page.locator(f"#about-{article} summary").click()
        page.locator(f"#about-{article} a").first.click()
        page.locator(".found").wait_for()
        found = page.locator(".count", has_text=" of 500 segments")
        found.filter(has_not_text="500 of 500").wait_for()
        assert 0 < count(page) < 500
        if article.endswith("length"):
            drawn = page.locator(f"#about-{article} svg").first.text_content() or ""
            assert f"n = {count(page)}" in drawn


def test_the_worst_segment_comes_first_and_headers_sort(reader, folder, details):
    page = reader.open(folder / "report.html")

    def scores(system: str, metric: str) -> dict[int, float]:
        own = ((n, details[system, n]["metrics"][metric]["score"]) for n in range(1, 501))
        return {n: score or 0 for n, score in own}

    metric, worst = page.input_value("#sort"), page.input_value("#whose")
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
    assert page.input_value("#whose") == other
    page.click(".row.head button[aria-label='Number']")
    page.locator("article[aria-label='Segment 1']").wait_for()
    # The columns show what the filter asks for, of the system that it names.
    page.uncheck("#show-2")
    page.select_option("#kind", "repeated")
    page.select_option("#of", "bad")
    page.locator(".row.head button[aria-label='REP of bad']").wait_for()


def test_back_returns_to_the_place(reader, folder):
    page = reader.open(folder / "report.html")
    link = page.locator("#about-dropped-words tbody a").nth(4)
    link.focus()
    page.wait_for_timeout(500)
    place, word = page.evaluate("scrollY"), link.inner_text()
    page.keyboard.press("Enter")
    page.locator(".list:focus").wait_for()
    page.go_back()
    settled(page, 500)
    page.wait_for_timeout(500)
    assert abs(page.evaluate("scrollY") - place) < 5
    assert page.evaluate("document.activeElement.innerText") == word
    # Searches and filters are steps, too: each typed text is one.
    page.select_option("#kind", "dropped")
    page.locator(".count", has_not_text="500 of 500").wait_for()
    filtered = count(page)
    page.locator("#text").press_sequentially("haus", delay=300)
    page.locator(".count", has_not_text=re.compile(rf"^({filtered}|500) of")).wait_for()
    page.go_back()
    settled(page, filtered)
    assert (page.input_value("#text"), page.input_value("#kind")) == ("", "dropped")
    page.go_forward()
    page.locator(".count", has_not_text=re.compile(rf"^({filtered}|500) of")).wait_for()
    assert page.input_value("#text") == "haus"
    page.go_back()
    settled(page, filtered)
    page.go_back()
    settled(page, 500)
    # A word leads to its meaning, and Back to the word.
    page.locator("a.term", has_text="baseline").first.focus()
    page.keyboard.press("Enter")
    page.locator("#word-baseline:target").wait_for()
    page.go_back()
    settled(page, 500)


def test_marks_one_kind_at_a_time_and_the_source_once(reader, folder, details):
    number = min(with_errors(details, "dropping", "DROP") & with_errors(details, "bad", "DROP"))
    page = reader.open(folder / "report.html", f"#segment={number}&show=dropping&show=bad")
    source = page.locator(".pane p[aria-label='source']")
    assert source.count() == 1
    dropped = {system: dropped_words(details[system, number]) for system in ("dropping", "bad")}
    words = source.locator(".word")
    for position in range(words.count()):
        dots = words.nth(position).locator(".dot").count()
        assert dots == sum(position in found for found in dropped.values())
    assert page.locator(".pane .word.lost").count() == 0
    page.click("#mark-lost")
    page.locator(".pane .word.lost").first.wait_for()
    page.click("#mark-dropped")
    page.locator(".pane .word.dropped").first.wait_for(state="detached")
    assert page.locator(".pane .word.lost").count() > 0
    again = reader.open(folder / "report.html", "#" + page.url.partition("#")[2])
    again.locator(".pane .word.lost").first.wait_for()
    assert again.locator(".pane .word.dropped").count() == 0


def test_labels_become_a_measurement(reader, folder, run_cli):
    """Click and save labels; ``meta`` measures the scores by them."""
    gold = [json.loads(line) for line in (folder / "gold").read_text().splitlines()]
    omitted: dict[int, list[int]] = {}
    for error in gold:
        if error["kind"].startswith("omission"):
            found = {*omitted.get(error["segment"], []), *error["source"]}
            omitted[error["segment"]] = sorted(found)
    placed = [number for number, words in omitted.items() if words]
    chosen = [*placed[:4], *[n for n in range(1, 501) if n not in omitted][:4]]
    path = folder / "report.html"
    for number in chosen:
        page = reader.open(path, f"#segment={number}&show=bad&show=careful")
        page.locator(f"article[aria-label='Segment {number}']").wait_for()
        judge = page.locator("section[aria-label='bad'] [aria-label='left out, bad']")
        if number in omitted:
            words = page.locator(".pane p[aria-label='source'] .word")
            judge.get_by_role("button", name="error", exact=True).click()
            assert judge.get_by_role("status").inner_text() == ""  # the marks are not the reader's
            accept = judge.get_by_role("button", name="accept the marks")
            if accept.count():
                accept.click()
            judge.get_by_role("button", name="which words").click()
            have = {
                i for i in range(words.count()) if "chosen" in words.nth(i).get_attribute("class")
            }
            for position in have ^ set(omitted[number]):
                words.nth(position).click()
        else:
            judge.get_by_role("button", name="no error").click()
        assert judge.locator("[aria-pressed='true']").count() == (2 if number in omitted else 1)
    # Labels stay when the report is closed.
    page = reader.open(path, f"#segment={chosen[0]}&show=bad")
    page.locator("#labels-omission", has_text="Save 8 omission labels").wait_for()
    with page.expect_download() as download:
        page.click("#labels-omission")
    download.value.save_as(folder / "labels.tsv")
    lines = (folder / "labels.tsv").read_text().splitlines()
    assert lines[0] == "segment\tsystem\tlabel\twords"
    for line in lines[1:]:
        segment, system, label, positions = line.split("\t")
        assert (system, label) == ("bad", str(int(int(segment) in omitted)))
        assert [int(p) - 1 for p in positions.split()] == omitted.get(int(segment), [])
    run_cli("compare", *OPTIONS, *SYSTEMS, "--resamples", 0, "--details", "details", cwd=folder)
    asked = ("meta", "--labels", "labels.tsv", "details", "--resamples", 0, "-f", "json")
    measured = json.loads(run_cli(*asked, cwd=folder).stdout)
    assert (measured["translations"], measured["with_error"]) == (8, 4)
    page.on("dialog", lambda dialog: dialog.accept())
    page.click("#labels-clear")
    page.locator("#labels-omission").wait_for(state="detached")


def test_saved_labels_are_read_back(reader, folder, tmp_path):
    page = reader.open(folder / "report.html", "#segment=7&show=bad")
    judge = page.locator("section[aria-label='bad'] [aria-label='left out, bad']")
    judge.get_by_role("button", name="error", exact=True).click()
    with page.expect_download() as download:
        page.click("#labels-omission")
    saved = tmp_path / "labels-omission (1).tsv"
    download.value.save_as(saved)
    page.on("dialog", lambda dialog: dialog.accept())
    page.click("#labels-clear")
    page.locator("#labels-omission").wait_for(state="detached")
    # Another file changes nothing.
    for name, said in (("labels.tsv", "must contain omission or"), ("omission.tsv", "line 1")):
        page.set_input_files("#labels-file", {"name": name, "mimeType": "", "buffer": b"x\n"})
        page.locator("#labels-said", has_text=f"{name} was not loaded: ").wait_for()
        assert said in page.inner_text("#labels-said")
        assert page.locator("#labels-omission").count() == 0
    with page.expect_file_chooser() as chooser:
        page.click("#labels-read")
    chooser.value.set_files(saved)
    page.locator("#labels-omission", has_text="Save 1 omission labels").wait_for()
    assert "labels-omission (1).tsv: 1 labels" in page.inner_text("#labels-said")
    assert judge.locator("[aria-pressed='true']").inner_text() == "error"
    page.reload()
    page.locator("#labels-omission").wait_for()


def test_words_show_what_they_are_linked_with(reader, folder, details, run_cli):
    number = min(with_errors(details, "dropping", "DROP"))
    page = reader.open(folder / "report.html", f"#segment={number}&show=dropping")
    card = page.locator(".pane article")
    words = card.locator("p[aria-label='source'] .word")
    links = run_cli("align", "apply", "model", "test.de", "dropping.en", "--symmetrize", "forward",
                    cwd=folder).stdout.splitlines()[number - 1]  # fmt: skip
    pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
    output = details["dropping", number]["hypothesis"].split()
    dropped = dropped_words(details["dropping", number])
    for position in range(words.count()):
        word = words.nth(position)
        assert ("dropped" in (word.get_attribute("class") or "").split()) == (position in dropped)
        word.hover()
        linked = card.locator("p[aria-label='output'] .word.linked").all_inner_texts()
        assert [text.rstrip("×") for text in linked] == [
            output[t] for s, t in sorted(pairs) if s == position
        ]
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
    page = reader.open(folder / "report.html", "#sort=number")
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the segments"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "list"
    for key, number in (
        ("ArrowDown", 2),
        ("j", 3),
        ("k", 2),
        ("ArrowUp", 1),
        ("End", 500),
        ("Home", 1),
    ):
        page.keyboard.press(key)
        page.locator(f"article[aria-label='Segment {number}']").wait_for()
        chosen = page.get_attribute(".list", "aria-activedescendant")
        assert chosen == f"row-{number}"
        assert page.get_attribute(f"#{chosen}", "aria-selected") == "true"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.type("jk/")
    assert page.input_value("#text") == "jk/"


def test_an_address_opens_the_same_view(chromium, reader, folder):
    page = reader.open(folder / "report.html")
    page.uncheck("#show-0")
    page.select_option("#kind", "missed")
    page.select_option("#of", "bad")
    page.fill("#text", "e")
    page.select_option("#sort", "DROP")
    page.check("#descending")
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


def test_exported_segments_equal_the_commands_output(reader, folder, details, run_cli):
    page = reader.open(folder / "report.html", "#kind=dropped&of=dropping&sort=number")
    with page.expect_download() as download:
        page.click("#segments-csv")
    rows = list(csv.DictReader(download.value.path().open(encoding="utf-8", newline="")))
    text = run_cli("drop", "dropping.en", "test.en", "--src", "test.de", "--model", "model",
                   "--symmetrize", "forward", "--sentence-level", "--errors-only", "-f", "csv",
                   cwd=folder).stdout  # fmt: skip
    expected = list(csv.DictReader(text.splitlines()))
    assert len(rows) == len(expected) > 10
    for row, wanted in zip(rows, expected, strict=True):
        assert row["segment"] == wanted["segment"]
        assert float(row["DROP"]) == float(wanted["score"])
        assert row["dropped"] == wanted["marks"]
        assert row["output"] == details["dropping", int(row["segment"])]["hypothesis"]
    page.select_option("#sort", "DROP")
    page.select_option("#whose", "dropping")
    page.check("#descending")
    page.locator(f"#row-{max(rows, key=lambda row: float(row['DROP']))['segment']}").wait_for()
    with page.expect_download() as download:
        page.click("#segments-csv")
    rows.sort(key=lambda row: -float(row["DROP"]))
    assert [*csv.DictReader(download.value.path().open(encoding="utf-8", newline=""))] == rows
    page.click("#scores-details > summary")
    with page.expect_download() as download:
        page.click("#scores-csv")
    csv_text = run_cli("compare", *OPTIONS, *SYSTEMS, "-f", "csv", cwd=folder).stdout
    assert download.value.path().read_text(encoding="utf-8") + "\n" == csv_text


def test_exported_figures_stand_alone(chromium, reader, folder, tmp_path):
    page = reader.open(folder / "report.html")
    with page.expect_download() as download:
        page.locator("#score-charts button").first.click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "scores.svg"
    other = Reader(chromium)
    other.page.goto(path.as_uri())
    assert other.page.locator("title", has_text="dropping: REP").count() == 1
    other.close()


def test_labels_and_attention_are_shown(reader, folder):
    gold = [json.loads(line) for line in (folder / "gold").read_text().splitlines()]
    number = next(error["segment"] for error in gold if error["kind"].startswith("repetition"))
    page = reader.open(folder / "report.html", f"#segment={number}&show=bad&show=careful")
    card = page.locator("section[aria-label='bad']")
    assert card.locator(".marks li", has_text="labelled repetition-word").count() >= 1
    assert card.locator(".word.labelled").count() >= 1
    assert page.locator("section[aria-label='careful'] .labelled").count() == 0
    attention = page.locator("article .attention", has_text="Attention of bad")
    box = attention.locator(".scroll")
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")  # no word is cut
    cells = attention.locator("g > rect:has(title)")
    source, output = (
        (folder / name).read_text().splitlines()[number - 1].split()
        for name in ("test.de", "bad.en")
    )
    assert cells.count() == len(source) * len(output)
    assert f"{output[0]} ← {source[0]}: {1 / len(source):.2f}" in (cells.first.text_content() or "")
    with page.expect_download() as download:
        attention.locator("button").click()
    assert download.value.suggested_filename == "attention-bad.svg"
    assert "</svg>" in download.value.path().read_text(encoding="utf-8")
    page.select_option("#kind", "label")
    settled(page, len({error["segment"] for error in gold}))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(chromium, folder, scheme):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: make test-browser")
    other = Reader(chromium, color_scheme=scheme)
    page = other.open(folder / "report.html", "#segment=7&kind=label&found=dropped-words&entry=x")
    page.click("#reset")
    for summary in page.locator("#what summary").all():
        summary.click()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    violations = [
        (item["id"], item["nodes"][0]["html"][:200], item["nodes"][0].get("failureSummary"))
        for item in found
    ]
    assert violations == []
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    other.close()


@pytest.mark.parametrize("width", [390, 1400])
def test_the_table_of_scores_is_never_cut(chromium, folder, width):
    other = Reader(chromium, viewport={"width": width, "height": 900})
    page = other.open(folder / "report.html")
    page.click("#scores-details > summary")
    table = page.locator("#scores-details .whole")
    assert table.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert table.evaluate("node => node.scrollHeight <= node.clientHeight + 1")
    other.close()


@pytest.mark.parametrize("width", [320, 768])
def test_narrow_screens_need_no_horizontal_scrolling(chromium, folder, width):
    other = Reader(chromium, viewport={"width": width, "height": 700})
    page = other.open(folder / "report.html", "#segment=7&x=")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    other.close()


def test_printing_shows_the_segments_found(reader, folder):
    page = reader.open(folder / "report.html", "#kind=dropped&of=dropping&sort=DROP&whose=dropping")
    page.evaluate(
        "print = () => { printed = document.querySelectorAll('.printed .segment').length }"
    )
    page.click("#print")
    page.wait_for_timeout(300)
    assert page.evaluate("printed") == min(40, count(page))
    page.emulate_media(media="print")
    assert not page.is_visible(".filters")
    assert not page.is_visible(".list")
    assert page.is_visible(".printed .segment >> nth=0")
    assert not page.is_visible(".pane")
    assert page.is_visible(".worst a >> nth=0")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.is_visible(".pane .segment")


def test_every_print_has_the_ten_worst_segments(reader, folder):
    page = reader.open(folder / "report.html")
    visible = [f"Segment {number}" for number in numbers(page)[:10]]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    titles = page.locator(".printed .segment > h3").all_inner_texts()
    assert (len(titles), titles[: len(visible)]) == (10, visible)
    for part in ("#what", ".map", ".pane", ".judge >> nth=0", "#sentences"):
        assert not page.is_visible(part)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".printed .segment").count() == 0
    pypdf = pytest.importorskip("pypdf", reason="no pypdf: make test-browser")
    margins = dict.fromkeys(("top", "bottom", "left", "right"), "1cm")
    paper = pypdf.PdfReader(BytesIO(page.pdf(format="A4", margin=margins))).pages
    starts = [
        next(at for at, sheet in enumerate(paper) if heading in sheet.extract_text())
        for heading in ("The 10 worst segments", "How was it measured?")
    ]
    assert starts[0] <= 2  # behind two pages of summary
    assert starts[1] <= 6
    assert len(paper) <= 8


PAPER = 718
"""Pixels across a page of A4 with margins of 1 cm."""


def test_print_cuts_nothing_and_keeps_headings_with_their_text(chromium, folder):
    pypdf = pytest.importorskip("pypdf", reason="no pypdf: make test-browser")
    other = Reader(chromium, viewport={"width": PAPER, "height": 1000})
    page = other.open(folder / "report.html", "#kind=dropped&of=dropping&sort=number")
    page.evaluate("print = () => { printing = true }")
    page.click("#print")
    page.wait_for_function("window.printing")
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER
    clipped = "node => node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight"
    for part in page.locator(".scroll:visible, figure:visible, .card:visible").all():
        assert not part.evaluate(clipped)
    headings = {*page.locator("h2:visible, h3:visible, h4:visible").all_inner_texts()}
    assert "Why" in headings
    assert any(heading.startswith("Segment ") for heading in headings)
    margins = dict.fromkeys(("top", "bottom", "left", "right"), "1cm")
    paper = pypdf.PdfReader(BytesIO(page.pdf(format="A4", margin=margins)))
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
    assert len(headings & seen) > 15
    assert not {"Show", "Show the figures as a table", "Save this table as CSV"} & seen
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
        assert len(words) == len([word for word in text.replace("\t", " ").split(" ") if word])
        if text.isascii() and text.isprintable():
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
    card = page.locator(".segment .card").first
    assert card.locator("p[aria-label='output'] .word").count() == 400
    card.locator("p[aria-label='output'] button", has_text="more words: show").click()
    assert card.locator("p[aria-label='output'] .word").count() == 2400
    # What has no marks is folded, until a click or the keyboard comes there.
    words = card.locator("p[aria-label='output'] .word:visible")
    shown = words.count()
    assert shown < 100
    words.nth(shown - 1).focus()
    page.keyboard.press("ArrowRight")
    assert shown < words.count() < 2400
    page.get_by_role("button", name="Show all words").click()
    assert words.count() == 2400
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


def test_a_slow_regular_expression_is_stopped(reader, hostile):
    """The page responds meanwhile, a new search starts at once, and the slow one ends."""
    page = reader.open(hostile, "#sort=number")
    page.check("#regex")
    page.fill("#text", "(w+)+!")
    page.locator(".count", has_text="Reading segments: 0 of 13").wait_for()
    page.focus(".list")
    page.keyboard.press("ArrowDown")
    page.locator("article[aria-label='Segment 2']").wait_for()
    page.fill("#text", "^=hyper")
    page.locator(".count", has_text="2 of 13 segments").wait_for()
    page.fill("#text", "(w+)+!")
    page.locator(".count", has_text="Stopped: segments 1 to 13 took longer than 10").wait_for()


def test_a_notebook_shows_the_report(reader, tmp_path):
    texts = ["a house", "a dog"]
    report = make_report(ce.compare({"a": texts}, texts, metrics=["rep"], resamples=0))
    (tmp_path / "notebook.html").write_text(
        f"<!DOCTYPE html><title>n</title>{report._repr_html_()}"
    )
    reader.page.goto((tmp_path / "notebook.html").as_uri())
    frame = reader.page.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached")
    assert frame.locator(".count").inner_text() == "2 of 2 segments"
    frame.locator("#row-2").click()
    frame.locator("article[aria-label='Segment 2']").wait_for()
    frame.locator("#text").fill("dog")
    frame.locator(".count", has_text="1 of 2 segments").wait_for()
