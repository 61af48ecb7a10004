"""``report``: its page agrees with what ``compare`` prints."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.comparison.systems import read_blocks, spans_of
from tests.conftest import RunCli

OPTIONS = (
    "--ref", "test.en", "--src", "test.de", "--model", "model", "--metrics", "rep,drop,bleu",
    "--resamples", "400",
)  # fmt: skip
SYSTEMS = ("careful=careful.en", "dropping=dropping.en", "repeating=repeating.en")


@pytest.fixture(scope="module")
def folder(demonstration: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "demo"
    shutil.copytree(demonstration, path)
    return path


class Page(HTMLParser):
    """Blocks of data, scripts, tables as rows of text, and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.blocks = read_blocks(text)
        self.scripts: list[str] = []
        self.links: list[str] = []
        self.policy = ""
        self.tables: list[list[list[str]]] = []
        self._is_data = False
        self._in: list[str] = []
        self.feed(text)

    @property
    def segments(self) -> list[Any]:
        """The segments of all blocks."""
        named = (f"segments/{number}" for number in range(len(self.blocks)))
        return [item for name in named for item in self.blocks.get(name, ())]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self._is_data = "data-block" in named
        if tag == "meta" and named.get("http-equiv"):
            self.policy = named["content"] or ""
        if tag == "a":
            self.links.append(named["href"] or "")
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in {"td", "th"}:
            self.tables[-1][-1].append("")
        if tag == "br" and self.tables:
            self.handle_data("\n")
        if tag not in {"meta", "br", "link", "input"}:
            self._in.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._in.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._in and self._in[-1] == "script":
            if not self._is_data:
                self.scripts.append(data)
        elif {"td", "th"} & set(self._in) and self.tables:
            self.tables[-1][-1][-1] += data


@pytest.fixture(scope="module")
def page(folder: Path, run_cli: RunCli) -> Page:
    run_cli("report", *OPTIONS, *SYSTEMS, "-o", "report.html", cwd=folder)
    return Page((folder / "report.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def compared(folder: Path, run_cli: RunCli) -> Any:
    return json.loads(run_cli("compare", *OPTIONS, *SYSTEMS, "-f", "json", cwd=folder).stdout)


def test_its_scores_are_those_of_compare(page, compared):
    (names, _, *picture), (header, *rows) = page.tables[:2]
    assert header == ["system", "REP ↓", "DROP ↓", "BLEU ↑"]
    assert names == ["system", "REP ↓", "DROP ↓", "BLEU ↑", "REP of segments", "flagged"]
    assert [row[0] for row in picture] == ["careful", "dropping", "repeating"]  # by REP
    for row, system in zip(rows, ("careful", "dropping", "repeating"), strict=True):
        assert row[0].partition("\n")[0] == system
        own = [score for score in compared["scores"] if score["system"] == system]
        (drawn,) = (row for row in picture if row[0] == system)
        for cell, shown, score in zip(row[1:], drawn[1:7:2], own, strict=True):
            figure, interval, *more = cell.split("\n")
            adjusted = score["p_value_holm"]
            significant = adjusted is not None and adjusted < 0.05
            assert shown == figure == f"{score['score']:.2f}" + "*" * significant
            low, high = (score["confidence"][end] for end in ("low", "high"))
            assert interval == f"{low:.2f}–{high:.2f}"
            assert more == ([] if system == "careful" else [f"p = {adjusted:.3f}"])
        flagged = sum(page.blocks[f"flags/REP/{system}"])
        assert drawn[-1] == (f"{flagged} flagged of {system}" if flagged else "0")


def test_the_page_begins_with_the_answer_the_faults_the_table_and_an_error_of_each_system(
    page, folder
):
    text = (folder / "report.html").read_text(encoding="utf-8")
    marks = ('<p class="who"', "say the same words again", "<table", 'id="examples"',
             '<section id="where"', '<section id="what"', '<section id="how"')  # fmt: skip
    places = [text.index(mark) for mark in marks]
    assert places == sorted(places)
    for system in ("dropping", "repeating"):
        start = text.index(f'aria-label="An error of {system}"')
        example = text[start : text.index("</section>", start)]
        numbers = [int(n) for n in re.findall(r">Segment (\d+)</a>", example)]
        metric = {"dropping": "DROP", "repeating": "REP"}[system]
        assert len(numbers) == 1
        assert page.blocks[f"flags/{metric}/{system}"][numbers[0] - 1]
        assert f'class="run {"dropped" if metric == "DROP" else "repeated"}"' in example
        # Only that of the worst system is shown.
        assert (" hidden>" in example.partition("\n")[0]) == (system == "dropping")
    assert page.blocks["contents"]["worst"] == {"metric": "REP", "system": "repeating"}


def test_the_answer_is_what_the_same_run_says_as_json(page, folder, compared):
    text = (folder / "report.html").read_text(encoding="utf-8")
    who, much, why = (
        html.unescape(re.sub(r"<[^>]*>", "", line))
        for line in re.findall(r'<p class="(?:who|much|why)">(.*?)</p>', text)
    )
    told = {item["metric"]: item for item in compared["statements"]}
    for metric in ("REP", "DROP"):
        assert len(told[metric]["systems"]["better"]) == 2
    repeating, dropping = (told[metric]["systems"]["worse"][0] for metric in ("REP", "DROP"))
    assert who == f"{repeating} repeats more and {dropping} drops more words than any other system"
    counts = {
        (metric, system): sum(page.blocks[f"flags/{metric}/{system}"])
        for metric in ("REP", "DROP")
        for system in ("careful", "repeating", "dropping")
    }
    assert not counts["REP", "careful"] + counts["DROP", "careful"]
    assert much == (
        f"{counts['REP', 'repeating']} of 500 outputs of repeating repeat words, of careful none; "
        f"{counts['DROP', 'dropping']} of 500 outputs of dropping drop words, of careful none"
    )
    count, system, error = re.fullmatch(
        r"(\d+) outputs of (\w+) (.*) · see the worst →", why
    ).groups()  # type: ignore[union-attr]
    found = {
        what: int(number)
        for warning in compared["warnings"]
        for number, what in re.findall(rf"{system}: (\d+) of 500 outputs (.*) \(", warning)
    }
    assert system == repeating
    assert found[error] == int(count) == max(found.values())
    assert len(found) > 1


def test_segments_are_the_details_of_compare(page, folder, run_cli):
    run_cli("compare", *OPTIONS, *SYSTEMS, "--sentence-level", "-o", "details.jsonl", cwd=folder)
    _, *records = map(json.loads, (folder / "details.jsonl").read_text().splitlines())
    contents = page.blocks["contents"]
    segments = page.segments
    sides = {kind["key"]: kind["side"] for kind in contents["kinds"]}
    assert contents["segments"] == len(segments) == 500
    for record in records:
        number = contents["systems"].index(record["system"])
        index = record["segment"] - 1
        segment = segments[index]
        output = segment["outputs"][number]
        texts = [segment["source"], segment["references"][0], output["text"]]
        assert texts == [record[key] for key in ("source", "reference", "hypothesis")]
        marks = output["marks"]
        for metric, kind in (("DROP", "dropped"), ("REP", "repeated")):
            found = [spans_of(mark["spans"]) for mark in marks if mark["kind"] == kind]
            of_record = record["metrics"][metric]["marks"]
            ends = [(mark["start"], mark["end"]) for mark in of_record]
            assert [(spans[0][0], spans[-1][1]) for spans in found] == ends
        for mark in marks:
            text = {"source": segment["source"], "output": output["text"]}[sides[mark["kind"]]]
            words = [text[start:end] for start, end in spans_of(mark["spans"])]
            assert words == mark["text"].split()[-len(words) :]
        for metric, values in record["metrics"].items():
            assert page.blocks[f"score/{metric}/{record['system']}"][index] == values["score"]
        for metric, kind in (("DROP", "dropped"), ("REP", "repeated")):
            flags = page.blocks[f"flags/{metric}/{record['system']}"]
            assert flags[index] == any(m["kind"] == kind and not m["quiet"] for m in marks)


def test_entries_of_its_lists_are_links_to_segments(page):
    rows = [row for table in page.tables[2:] for row in table[1:]]
    links = [link for link in page.links if link.startswith("#found=")]
    assert len(links) == len(rows) > 12
    system, word, dropped, expected, share = rows[0]
    assert links[0] == f"#found=dropped-words&entry={quote(word)}&whose={system}"
    assert share == f"{100 * int(dropped) / int(expected):.2f}"


def test_the_page_has_a_strict_content_security_policy(page):
    (script,) = page.scripts
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{allowed}';" in page.policy
    assert "http" not in page.policy
    assert all(link.startswith("#") for link in page.links)


def test_how_it_was_measured(page, folder, compared):
    text = (folder / "report.html").read_text(encoding="utf-8")
    for score in compared["scores"]:
        assert score["signature"] in text
    for note in compared["notes"]:
        assert note in text
    assert "coverage-eval report --ref test.en" in text
    unknown = compared["model"]["unknown_source_tokens"]
    assert f"unknown source tokens: {100 * unknown:.1f}%" in text


def test_attention_is_that_of_a_converted_file(folder, run_cli):
    names = ("test.de", "test.en", "careful.en", "dropping.en")
    segments = {name: (folder / name).read_text().splitlines()[:20] for name in names}
    for name, lines in segments.items():
        (folder / f"small.{name}").write_text("".join(f"{text}\n" for text in lines))
    maps: list[Any] = []
    for source, output in zip(segments["test.de"], segments["careful.en"], strict=True):
        words = [f"▁{word}" for word in source.split()]
        rows = [[0.25] + [0.0] * (len(words) - 1) for _ in output.split()]
        maps.append({"attention": rows, "source": words, "hypothesis": output.split()})
    (folder / "careful.jsonl").write_text("".join(f"{json.dumps(x)}\n" for x in maps))
    bare = "".join(f"{json.dumps(x['attention'])}\n" for x in maps)
    (folder / "bare.jsonl").write_text(bare)
    texts = ("--ref", "small.test.en", "--src", "small.test.de", "--metrics", "rep")
    systems = ("a=small.careful.en", "b=small.dropping.en", "-o", "attention.html")
    line = ("report", *texts, *systems, "--attention")
    run_cli(*line, "a=careful.jsonl", cwd=folder)
    page = Page((folder / "attention.html").read_text(encoding="utf-8"))
    for segment in page.segments:
        own, none = segment["outputs"]
        assert own["attention"]["source"] == [f"▁{word}" for word in segment["source"].split()]
        assert own["attention"]["words"] == own["text"].split()
        assert [row[0] for row in own["attention"]["weights"]] == [25] * len(own["text"].split())
        assert none["attention"] is None
    refused = run_cli(*line, "a=bare.jsonl", cwd=folder, check=False)
    assert refused.returncode == 1
    assert "Type: coverage-eval attention convert bare.jsonl" in refused.stderr


def test_the_same_command_gives_the_same_file(folder, run_cli):
    for name in ("test.en", "test.de", "careful.en", "dropping.en"):
        lines = (folder / name).read_text().splitlines(keepends=True)[:60]
        (folder / f"sixty.{name}").write_text("".join(lines))
    texts = ("--ref", "sixty.test.en", "--src", "sixty.test.de", "--model", "model")
    command = ("report", *texts, "--metrics", "rep,drop,bleu", "sixty.careful.en")
    command = (*command, "sixty.dropping.en", "--resamples", 0, "-o", "again.html")
    pages = set()
    for jobs in ("1", "2"):
        run_cli(*command, "--jobs", jobs, cwd=folder)
        text = (folder / "again.html").read_text(encoding="utf-8")
        pages.add(text.replace(f"--jobs {jobs}", ""))
    assert len(pages) == 1
