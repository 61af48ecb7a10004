"""Marks are characters of the text as it was written, whatever metric made them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import coverage_eval as ce
from coverage_eval.comparison.evidence import bracketed, segment_lines, spans_on, styled_runs
from coverage_eval.comparison.report.html import make_report
from coverage_eval.comparison.segments import evidence_records
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.mark import Mark, MarkKind
from coverage_eval.core.tokenizers import segment_text
from coverage_eval.registry import METRICS, make_metric, metric_class
from tests.comparison.systems import read_blocks
from tests.conftest import RunCli
from tests.grammar import generate

MARKING = [name for name in METRICS if metric_class(name).presentation.kinds]
OF_DOCUMENTS = [name for name in MARKING if "documents" in metric_class(name).needs]
OF_LINES = [name for name in MARKING if name not in OF_DOCUMENTS]

ODD = [
    "&amp;",
    "&quot;",
    "&amp;lt;",
    "e\u0301",
    "é,",
    "ﬀ",
    "😀",
    "猫。",
    "3.5",
    "-",
    "<skipped>",
]
SPACES = [" ", " ", "  ", "\t", " \u3000 ", " \xa0"]


def write(words: list[str], generator: Random) -> str:
    """A text that tokenisers rewrite, with words left out, said twice, and odd ones between."""
    text = ""
    for word in words:
        if generator.random() < 0.15:
            continue
        written = word.capitalize() if generator.random() < 0.2 else word
        for _ in range(1 + (generator.random() < 0.1)):
            text += written + generator.choice(SPACES)
        if generator.random() < 0.15:
            text += generator.choice(ODD) + generator.choice(["", *SPACES])
    return text


def texts(lines: int) -> tuple[list[str], list[str], list[str], list[str]]:
    """Sources, references, and outputs of two systems."""
    generator = Random(7)
    pairs = generate(lines, seed=7)
    sources = [write([*pair.source], generator) for pair in pairs]
    columns = [[write([*pair.target], generator) for pair in pairs] for _ in range(3)]
    return (sources, *columns)  # type: ignore[return-value]


def each_mark(comparison: Comparison) -> Iterator[tuple[str, Mark, str]]:
    """Every mark of every metric: the metric, the mark, and the text that it is in."""
    result = comparison.result
    for name in result.metrics:
        for row, of_systems in zip(result.rows, result.explanations(name), strict=True):
            for output, explanation in zip(row.hypotheses, of_systems, strict=True):
                for mark in explanation.marks:
                    side = row.source if mark.side == "source" else output
                    yield name, mark, segment_text(side or "")


def check_marks(comparison: Comparison) -> set[str]:
    """Every mark shows what stands at its characters; the metrics that have marks."""
    found = set()
    for name, mark, text in each_mark(comparison):
        if mark.kind in {"added passage", "repeated passage"}:  # beside the segment
            assert not mark.spans
        else:
            found.add(name)
            assert list(mark.spans) == sorted(mark.spans) != []
            assert all(0 <= start <= end <= len(text) for start, end in mark.spans)
            assert mark.text == text[mark.spans[0][0] : mark.spans[-1][1]]
        if mark.first:
            assert list(mark.first) == sorted(mark.first)
            first, again = (
                [text[slice(*span)].lower() for span in spans] for spans in (mark.first, mark.spans)
            )
            assert first == again
    _, *records = evidence_records(comparison)
    for record in records:
        for values in record["metrics"].values():
            for mark in values["marks"]:
                text = record["source" if mark["side"] == "source" else "hypothesis"]
                if mark["start"] is not None:
                    assert text[mark["start"] : mark["end"]] == mark["text"]
    return found


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenize", ["none", "13a", "intl", "zh", "char"])
def test_every_mark_shows_what_stands_at_its_characters(tokenize, lowercase):
    """The model and REP split texts by different rules, so no viewer could guess them."""
    sources, references, one, other = texts(60)
    by_model = "13a" if tokenize == "none" else "none"
    with ce.Aligner.train(sources * 4, references * 4, tokenize=by_model) as aligner:
        comparison = ce.compare(
            {"one": one, "other": other}, references, sources, aligner, metrics=OF_LINES,
            tokenize=tokenize, lowercase=lowercase, resamples=0,
        )  # fmt: skip
        assert check_marks(comparison) == {*OF_LINES}
        result = comparison.result
        for name in result.metrics:
            (_, *_) = segment_lines(result, name, 0)
        comparison.break_down()
        shown = read_blocks(make_report(comparison).html)["segments/0"]
        assert [segment["source"] for segment in shown] == sources


def test_marks_of_documents_show_what_stands_at_their_characters():
    sources, references, one, _ = texts(60)
    with ce.Aligner.train(sources * 4, references * 4, tokenize="13a") as aligner:
        output = [*one[:20], "A note of nobody about nothing at all.", *one[26:]]
        comparison = ce.compare(
            {"one": output}, sources=sources, aligner=aligner, metrics=[*OF_DOCUMENTS, "omissions"],
            unaligned=True, resamples=0,
        )  # fmt: skip
        assert check_marks(comparison) >= {"missing-lines", "omissions"}


def test_a_segment_of_tokens_is_their_text_with_spaces():
    found = ce.REP().evidence(["a", "red", "red", "house"], ["a", "red", "house"])
    assert [(mark.spans, mark.text) for mark in found] == [(((6, 9),), "red")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """Raw text, and a model whose tokeniser is 13a."""
    path = tmp_path_factory.mktemp("raw")
    names = ("s", "r", "a", "b")
    for name, lines in zip(names, texts(60), strict=True):
        (path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    run_cli("align", "train", "s", "r", "--tokenize", "13a", "-o", "M", cwd=path)
    return path


def test_the_tokeniser_of_one_metric_says_nothing_of_another_s_marks(folder, run_cli):
    """The model splits texts with 13a, REP at spaces; the viewer believed one of them."""
    line = ("compare", "--src", "s", "--model", "M", "a", "b", "-m", "additions,rep-letters-no-ref")
    shown = run_cli(*line, "--tokenize", "none", "--worst", 2, cwd=folder).stdout
    assert "[" in shown
    run_cli(*line, "--tokenize", "none", "--sentence-level", "-o", "all.jsonl", cwd=folder)
    _, *records = map(json.loads, (folder / "all.jsonl").read_text(encoding="utf-8").splitlines())
    written = {
        name: (folder / name).read_text(encoding="utf-8").split("\n") for name in ("a", "b", "s")
    }
    ends = []
    for record in records:
        assert record["hypothesis"] == written[record["system"]][record["segment"] - 1]
        assert record["source"] == written["s"][record["segment"] - 1]
        for values in record["metrics"].values():
            ends += [(mark["end"], len(record["hypothesis"])) for mark in values["marks"]]
    assert ends
    assert all(end <= length for end, length in ends)


@pytest.mark.parametrize("name", [name for name in MARKING if name.startswith("rep")])
def test_a_repetition_says_what_it_was_compared_with(name):
    """Where there is no reference, nothing is said of one."""
    metric = make_metric(name, {})
    told = {"references": "reference", "sources": "source"}
    (compared,) = [told[need] for need in metric.needs] or [""]
    marks = metric.evidence("a red red red", "a", "ein")
    assert {mark.detail.get("reference", mark.detail.get("source")) for mark in marks} == (
        {0} if compared else {None}
    )
    said = re.findall(r"\(\dx(?:, 0x in the (\w+))?\)", " ".join(map(str, marks)))
    assert set(said) == {compared}
    made = ce.compare({"a": ["red red"]}, ["a"], ["ein"], metrics=[metric], resamples=0)
    (table,) = made.break_down(["repeated-ngrams"])
    beyond = f" beyond the {compared}" if compared else ""
    assert table.title == f"N-grams repeated most often{beyond}"


def test_words_that_overlap_are_one_run():
    """One metric splits off a full stop, and another does not."""
    text = "a house. yes"
    assert bracketed(text, [(2, 7), (2, 8), (0, 1)]) == "[a house.] yes"
    kind = MarkKind("x", "output", "plain", "", "", "", "addition", "plain")
    hint = MarkKind("y", "output", "hint", "", "", "", "addition", "hint", error_threshold=1.0)
    marks = [
        (hint, Mark("output", ((2, 8), (9, 12)), "y")), (kind, Mark("output", ((2, 7),), "x")),
    ]  # fmt: skip
    assert list(styled_runs(text, marks, "output")) == [((2, 7), "plain"), ((9, 12), "hint")]
    assert spans_on("source", [mark for _, mark in marks]) == set()
