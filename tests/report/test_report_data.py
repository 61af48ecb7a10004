"""The data of a report made in Python, and input that it refuses."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.comparison.comparison import Comparison
from coverage_eval.data.dataset import Batch
from coverage_eval.metrics.mark import Explanation, Mark, MarkKind
from coverage_eval.metrics.measure import Result
from coverage_eval.metrics.rep import REP
from coverage_eval.report import html
from coverage_eval.report.html import make_report
from coverage_eval.report.segments import ReportOptions, pack_attention
from tests.comparison.systems import compare_statistics
from tests.grammar import generate

SOURCES = ["ein rotes haus", "", "der hund"]
REFERENCES = ["a red house", "nothing", "the dog"]
SYSTEMS = {"good": REFERENCES, "bad": ["a red red", "", "the dog the dog"]}
LINKS = [[(0, 0), (1, 1), (2, 2)], [], [(0, 0), (1, 1)]]
BAD_LINKS = [[(0, 0), (1, 1), (1, 2)], [], [(0, 0), (1, 1)]]


def comparison(**options: Any) -> Comparison:
    aligner = ce.Aligner.from_links(LINKS, {"good": LINKS, "bad": BAD_LINKS})
    options = {"metrics": ["rep", "drop"], "resamples": 0, **options}
    return ce.compare(SYSTEMS, REFERENCES, SOURCES, aligner, **options)


def blocks(report: Any) -> dict[str, Any]:
    found = re.findall(r'<script type="[^"]*" data-block="([^"]*)">([^<]*)</script>', report.html)
    return {name: json.loads(gzip.decompress(base64.b64decode(text))) for name, text in found}


def keys(found: dict[str, Any]) -> list[str]:
    """The keys of the kinds of marks."""
    return [kind["key"] for kind in found["contents"]["kinds"]]


@dataclass(frozen=True)
class Spotter(ce.REP):
    """Marks of another metric: by system and segment, runs of source words."""

    spots: Any = ()

    kinds: ClassVar[tuple[MarkKind, ...]] = (
        MarkKind(
            "left out", "source", "suspected", "suspected omission", "suspected omissions",
            "source word that seems to be left out", "omission", amount="strength",
        ),
    )  # fmt: skip

    def explain(self, batch: Batch) -> Any:
        """The given marks."""
        for found in self.spots:
            yield tuple(
                Explanation(tuple(Mark("source", at, "left out", "x", 2.104) for at in own))
                for own in found
            )


def spotted(made: Comparison, *spots: Any) -> Result:
    """The result with a metric that marks some words, by segment and system."""
    result = made.measured
    statistics = result.statistics | {"spots": result.statistics["rep"]}
    metrics = result.metrics | {"spots": Spotter(spots=spots)}
    return replace(result, metrics=metrics, statistics=statistics)


def test_marks_of_a_segment_by_hand():
    first, empty, third = blocks(make_report(comparison()))["segments/0"]
    assert first["source"] == ["ein", "rotes", "haus"]
    assert first["referenceLinks"] == [[0, 0, 1, 1, 2, 2]]
    good, bad = first["outputs"]
    assert (good["marks"], good["links"]) == ([], [0, 0, 1, 1, 2, 2])
    assert bad["links"] == [0, 0, 1, 1, 1, 2]
    assert bad["marks"] == [
        {"kind": "repeated", "side": "output", "positions": [2], "text": "red red", "amount": 2.0,
         "first": 1},
        {"kind": "dropped", "side": "source", "positions": [2], "text": "haus", "amount": 1.0},
    ]  # fmt: skip
    assert empty["source"] == []
    assert empty["outputs"][1] == {"words": [], "links": [], "marks": []}
    (again,) = third["outputs"][1]["marks"]
    assert (again["positions"], again["first"]) == ([2, 3], 0)


def test_columns_have_a_value_for_each_segment():
    found = blocks(make_report(comparison()))
    assert found["count/repeated/bad"] == [1, 0, 1]
    assert found["count/dropped/bad"] == [1, 0, 0]
    assert "count/dropped/good" not in found
    assert found["score/DROP/bad"][1] is None


def test_links_are_left_out_if_the_aligner_tokenises_differently():
    """REP tokenises the text, but the links count words separated by spaces."""
    texts = {"a": ["a house."]}
    aligner = ce.Aligner.from_links([[(0, 0)]], [[(0, 0)]])
    found = ce.compare(
        texts, ["a house."], ["ein haus."], aligner, metrics=["rep", "drop"], tokenize="13a",
        resamples=0,
    )  # fmt: skip
    ((segment,),) = [blocks(make_report(found))["segments/0"]]
    assert segment["outputs"][0]["words"] == ["a", "house", "."]
    assert segment["outputs"][0]["links"] is None


def test_texts_are_shown_as_they_were_written():
    """Marks count tokens in lower case; the page and the cards show the user's own text."""
    texts = {"a": ["A House, a  house &amp; all."], "b": ["a house ."]}
    made = ce.compare(
        texts, ["A House."], ["Ein Haus."], metrics=["rep"], tokenize="13a", lowercase=True,
        resamples=0,
    )  # fmt: skip
    report = make_report(made)
    (segment,) = blocks(report)["segments/0"]
    first, second = segment["outputs"]
    assert first["words"] == ["A", "House", ",", "a", "house", "&", "all", "."]
    assert first["pieces"] == ["A ", "House", ", ", "a  ", "house ", "&amp; ", "all", "."]
    assert [mark["positions"] for mark in first["marks"]] == [[3, 4]]
    assert "pieces" not in second
    assert segment["sourcePieces"] == ["Ein ", "Haus", "."]
    assert segment["referencePieces"] == [["A ", "House", "."]]
    card = re.sub(r"\s+", " ", report.html)
    assert 'A House, <mark class="word repeated">a house</mark> &amp;amp; all.' in card


def test_suspected_spans_are_marks():
    made = comparison()
    report = make_report(made, marked=spotted(made, ([], [(1, 2)]), ([], []), ([], [])))
    found = blocks(report)
    assert keys(found) == ["repeated", "dropped", "suspected"]
    good, bad = found["segments/0"][0]["outputs"]
    assert bad["marks"][-1] == {
        "kind": "suspected", "side": "source", "positions": [1, 2], "text": "x", "amount": 2.1,
    }  # fmt: skip
    suspected = found["contents"]["kinds"][2]
    assert suspected["metrics"] == ["DROP"]  # the column with the same error
    assert "REP, marked only" in report.html
    assert "score/spots/bad" not in found
    assert found["count/suspected/bad"] == [1, 0, 0]
    assert good["marks"] == []


def test_a_report_needs_the_texts():
    made = compare_statistics({"rep": {"a": np.array([[0, 0, 3]])}}, {"rep": REP()})
    with pytest.raises(ValueError, match="this needs the texts, but there are only statistics"):
        make_report(made)


def test_the_limit_of_segments_is_stated(monkeypatch):
    monkeypatch.setattr(html, "MAX_OUTPUTS", 4)
    report = make_report(comparison())
    assert (
        "Only the first 2 of 3 segments can be read here, because a report holds 4 outputs."
        in report.html
    )
    found = blocks(report)
    assert found["contents"]["segments"] == len(found["segments/0"]) == 2
    assert len(found["score/REP/bad"]) == len(found["count/repeated/bad"]) == 2


def test_empty_segments_and_unknown_words_are_counted_and_columns_of_numbers_are_marked():
    page = make_report(comparison(), model={"source_tokens": 0.125}).html
    assert "<title>Coverage errors of good, bad</title>" in page
    assert ">1 in the source, 1 in bad; they are scored like all others." in page
    assert "<p>source tokens: 12.5%</p>" in page
    assert '<th scope="col">system</th><th scope="col" class="number">REP ↓</th>' in page


def test_names_and_words_are_escaped():
    texts = ['<b>"&', "</script>"]
    report = make_report(
        ce.compare({"<i>": texts}, texts, metrics=["rep"], resamples=0), title="<u>"
    )
    assert "<title>&lt;u&gt;</title>" in report.html
    assert not re.search(r"<(?:b|i|u)>", report.html)
    assert report.html.count("</script>") == report.html.count("<script")


def test_text_with_lone_surrogates_can_be_saved(tmp_path):
    texts = ["a \ud800 b"]
    report = make_report(ce.compare({"a": texts}, texts, metrics=["rep"], resamples=0))
    report.save(tmp_path / "x")
    size = (tmp_path / "x").stat().st_size
    assert size > 10_000
    assert repr(report) == f"<Report, {size / 1e6:.1f} MB of HTML>"


def test_attention_weights_are_in_hundredths():
    weights = AttentionMap(np.array([[0.254, 0.746]]), source=("a", "b"), hypothesis=("c",))
    assert pack_attention(weights)["weights"] == [[25, 75]]


def test_cards_show_the_words_around_the_first_mark():
    source = [f"w{n}" for n in range(60)]
    links = [(n, n) for n in range(60)]
    for place, first, last in ((5, 0, 39), (30, 20, 59), (25, 15, 54), (55, 20, 59)):
        own = [link for link in links if link[0] != place]
        aligner = ce.Aligner.from_links([links], [[own]])
        text = " ".join(source)
        found = ce.compare({"a": [text]}, [text], [text], aligner, metrics=["drop"], resamples=0)
        (card,) = html.make_document(found, ReportOptions()).cards
        words = [word for phrase, *_ in card.worst[0].source for word in phrase.split()]
        before, after = (["…"] if first else []), (["…"] if last < 59 else [])
        assert words == [*before, *source[first : last + 1], *after]
        marked = [(word, mark) for word, mark, _ in card.worst[0].source if mark]
        assert marked == [(source[place], "dropped")]


@pytest.mark.parametrize(
    ("metrics", "question"),
    [
        (["rep", "drop"], "What is repeated and dropped?"),
        (["rep"], "What is repeated?"),
        (["drop"], "What is dropped?"),
        (["chrf"], "Which texts are hard?"),
    ],
)
def test_the_headings_name_what_the_metrics_find(metrics, question):
    assert html.make_document(comparison(metrics=metrics), ReportOptions()).question == question


def test_a_card_has_the_segments_that_show_its_errors():
    made = comparison()
    marked = spotted(made, ([], [(0,)]), ([], []), ([], []))
    good, bad = html.make_document(made, ReportOptions(marked=marked)).cards
    assert good.worst == []  # no segment has an error
    first, third = bad.worst
    assert (first.number, first.score) == (1, "REP 66.67")
    assert first.link == "sort=REP&whose=bad&descending=yes&segment=1"
    assert first.source == [
        ("ein", "suspected", " "), ("rotes", "", " "), ("haus", "dropped", " ")
    ]  # fmt: skip
    assert first.output == [("a red", "", " "), ("red", "repeated", " ")]
    assert third.number == 3
    assert third.output == [("the dog", "", " "), ("the dog", "repeated", " ")]


def test_without_metrics_of_errors_cards_show_the_worst_segments_by_the_first_metric():
    texts = ["a b c d", "m n o p q", "x y z u", "r s t v w"]
    outputs = {"a": [texts[0], "x", "x", "x"], "b": ["x", *texts[1:]]}
    found = ce.compare(outputs, texts, metrics=["chrf", "bleu"], resamples=0)
    document = html.make_document(found, ReportOptions())
    for card in document.cards:
        scores = found.measured.segment_scores("chrf", card.name)
        worst = sorted(range(4), key=lambda number: scores[number] or 0)[:3]
        assert [segment.number for segment in card.worst] == [number + 1 for number in worst]
        assert {segment.score.split()[0] for segment in card.worst} == {"chrF2"}
    contents = dict(document.blocks)["contents"]
    assert contents["worst"] == {"metric": "chrF2", "system": "a"}


def test_lost_coverage_of_a_tenth_is_marked_and_of_half_on_cards():
    pairs = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(200, seed=5)]
    sources, references = map(list, zip(*pairs[:20], strict=True))
    outputs = [" ".join(line.split()[:-2]) for line in references]
    with ce.Aligner.train_pairs(pairs) as aligner:
        found = ce.compare(
            {"a": outputs}, references, sources, aligner, metrics=["softdrop"], resamples=0
        )
        evidence = [item.marks for item in found.measured.evidence_of("softdrop", "a")]
        report = blocks(make_report(found))
        (card,) = html.make_document(found, ReportOptions()).cards
    assert keys(report) == ["lost"]
    assert report["contents"]["kinds"][0]["shown"]  # there is no plainer mark
    marks = [segment["outputs"][0]["marks"] for segment in report["segments/0"]]
    assert marks == [
        [
            {
                "kind": "lost",
                "side": "source",
                "positions": list(mark.positions),
                "text": mark.text,
                "amount": round(mark.amount, 2),
            }
            for mark in items
            if mark.amount >= 0.1
        ]
        for items in evidence
    ]
    assert sum(map(len, marks)) < sum(map(len, evidence))  # some words lose less
    for segment in card.worst:
        words = sources[segment.number - 1].split()
        lost = {m.positions[0] for m in evidence[segment.number - 1] if m.amount >= 0.5}
        shown = [(word, kind) for text, kind, _ in segment.source for word in text.split()]
        assert shown == [(word, "lost" * (n in lost)) for n, word in enumerate(words)]


def test_warnings_and_notes_are_at_the_end():
    references = [f"a house number {n}" for n in range(30)]
    made = ce.compare({"a": references, "b": [*references[1:], ""]}, references, metrics=["rep"])
    document = html.make_document(made, ReportOptions())
    (topic,) = (one for one in document.topics if one.heading == "Warnings and notes")
    assert topic.paragraphs == [finding.message for finding in made.measured.findings]
    assert document.verdict == made.verdict


def test_lists_of_words_come_first_and_punctuation_apart():
    systems = {"a": ["x , , y", "y y , ,"], "b": ["x", "y"]}
    sources, references = ["x , y", "y ,"], ["x , y", "y ,"]
    full = [[(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1)]]
    aligner = ce.Aligner.from_links(full, {"a": [[], []], "b": [[(0, 0)], [(0, 0)]]})
    found = ce.compare(systems, references, sources, aligner, metrics=["rep", "drop"], resamples=0)
    document = html.make_document(found, ReportOptions())
    assert [(item.table.name, item.folded) for item in document.lists] == [
        ("dropped-words", False), ("repeated-ngrams", False),
        ("dropped-words-punctuation", True), ("repeated-ngrams-punctuation", True),
    ]  # fmt: skip
    assert [card.is_baseline for card in document.cards] == [True, False]
