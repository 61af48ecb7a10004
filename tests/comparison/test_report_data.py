"""The values and data of a report made in Python, and input that it refuses."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.comparison.report.examples import find_examples
from coverage_eval.comparison.report.html import ReportOptions, make_report, report_values
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.batches import Texts
from coverage_eval.outputs.output_errors import GUESSES, KINDS, OutputError, find_output_errors
from coverage_eval.repetition.rep import REP
from tests.comparison.systems import compare_statistics, read_blocks, spans_of
from tests.conftest import ROOT
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


def is_of_type(value: Any, hint: str, fields: dict[str, dict[str, str]]) -> bool:
    """Whether a value of JSON has a type of TypeScript."""
    if hint.endswith(" | null"):
        return value is None or is_of_type(value, hint.removesuffix(" | null"), fields)
    if hint.endswith("[]"):
        item = hint.removesuffix("[]").removeprefix("(").removesuffix(")")
        return isinstance(value, list) and all(is_of_type(each, item, fields) for each in value)
    if hint in fields:
        own = fields[hint]
        return value.keys() == own.keys() and all(
            is_of_type(value[name], own[name], fields) for name in own
        )
    return type(value) is {"number": int, "string": str, "boolean": bool}[hint]


def test_the_script_reads_the_fields_that_are_written():
    """Field by field, with their types."""
    frontend = ROOT / "coverage_eval" / "comparison" / "report" / "frontend"
    text = (frontend / "src" / "data.ts").read_text(encoding="utf-8")
    for name, meaning in re.findall(r"^export type (\w+) = (.*);$", text, re.MULTILINE):
        text = re.sub(rf"\b{name}\b", meaning, text)
    fields = {
        name: dict(re.findall(r"^  (\w+\??): (.*?);", body, re.MULTILINE))
        for name, body in re.findall(r"^export interface (\w+) {\n(.*?)^}", text, re.M | re.DOTALL)
    }
    maps = [AttentionMap(np.eye(2), ["a", "b"], ["c", "d"])] * 3
    report = make_report(comparison(), attention={"bad": maps})
    blocks = read_blocks(report.html)
    assert is_of_type(blocks["contents"], "Contents", fields)
    assert blocks["contents"]["metrics"]
    assert blocks["contents"]["kinds"]
    assert is_of_type(blocks["segments/0"], "Segment[]", fields)
    assert any(output["marks"] for output in blocks["segments/0"][0]["outputs"])


def test_marks_of_a_segment_by_hand():
    first, empty, third = read_blocks(make_report(comparison()).html)["segments/0"]
    assert (first["source"], first["sourceWords"]) == ("ein rotes haus", [0, 3, 1, 5, 1, 4])
    assert first["referenceLinks"] == [[0, 0, 1, 1, 2, 2]]
    good, bad = first["outputs"]
    assert (good["marks"], good["links"]) == ([], [0, 0, 1, 1, 2, 2])
    assert bad["links"] == [0, 0, 1, 1, 1, 2]
    assert bad["marks"] == [
        {"kind": "repeated", "spans": [6, 3], "text": "red red", "quiet": False},
        {"kind": "dropped", "spans": [10, 4], "text": "haus", "quiet": False},
    ]
    assert empty["source"] == ""
    blank = {"text": "", "words": [], "links": [], "marks": [], "attention": None}
    assert empty["outputs"][1] == blank
    (again,) = third["outputs"][1]["marks"]
    assert spans_of(again["spans"]) == [(8, 11), (12, 15)]


def test_a_report_of_too_many_outputs_says_which_segments_it_shows(monkeypatch):
    monkeypatch.setattr("coverage_eval.comparison.report.html.MAX_OUTPUTS", 4)
    page = make_report(comparison()).html
    assert "Only the first 2 of 3 segments can be read here, because a report holds 4" in page
    assert len(read_blocks(page)["segments/0"]) == 2
    monkeypatch.setattr("coverage_eval.comparison.report.html.MAX_OUTPUTS", 6)
    assert "Only the first" not in make_report(comparison()).html


def test_columns_have_a_value_for_each_segment():
    found = read_blocks(make_report(comparison(metrics=["rep", "drop", "bleu"])).html)
    assert found["flags/REP/bad"] == [True, False, True]
    assert found["flags/DROP/bad"] == [True, False, False]
    assert not any(found["flags/DROP/good"])
    assert "flags/BLEU/bad" not in found  # of a segment it says nothing
    assert found["score/DROP/bad"][1] is None
    values = report_values(comparison(), ReportOptions())
    assert values["deciding"].presentation.name == "REP"
    assert values["flagged"] == {"good": 0, "bad": 2}


def test_links_count_the_words_of_their_aligner_whatever_marks_count():
    """REP tokenises the text, but the links count words separated by spaces."""
    texts = {"a": ["a house house."]}
    aligner = ce.Aligner.from_links([[(0, 0)]], [[(0, 0)]])
    found = ce.compare(
        texts, ["a house."], ["ein haus."], aligner, metrics=["rep", "drop"], tokenize="13a",
        resamples=0,
    )  # fmt: skip
    (segment,) = read_blocks(make_report(found).html)["segments/0"]
    (output,) = segment["outputs"]
    assert spans_of(output["words"]) == [(0, 1), (2, 7), (8, 14)]
    assert output["links"] == [0, 0]
    assert [spans_of(m["spans"]) for m in output["marks"] if m["kind"] == "repeated"] == [[(8, 13)]]


def test_texts_are_shown_as_they_were_written():
    """REP counts tokens in lower case; the page and the cards show the user's own text."""
    texts = {"a": ["A House, a  house &amp; all."], "b": ["😀 a house. 😀 a house."]}
    made = ce.compare(
        texts, ["A House."], ["Ein Haus."], metrics=["rep"], tokenize="13a", lowercase=True,
        resamples=0,
    )  # fmt: skip
    report = make_report(made)
    (segment,) = read_blocks(report.html)["segments/0"]
    assert (segment["source"], segment["references"]) == ("Ein Haus.", ["A House."])
    for output, text in zip(segment["outputs"], texts.values(), strict=True):
        assert (output["text"], output["words"], output["links"]) == (text[0], None, None)
    first, second = ([spans_of(mark["spans"]) for mark in o["marks"]] for o in segment["outputs"])
    assert first == [[(9, 10), (12, 17)]]
    # JavaScript counts two units for a character beyond U+FFFF.
    assert second[1] == [(12, 14), (15, 16)]
    card = re.sub(r"\s+", " ", report.html)
    assert 'A House, <mark class="run repeated">a house</mark> &amp;amp; all.' in card


def test_a_report_needs_the_texts():
    made = compare_statistics({"rep": {"a": np.array([[0, 0, 3]])}}, {"rep": REP()})
    with pytest.raises(ValueError, match="this needs the texts, but there are only statistics"):
        make_report(made)


def test_names_are_bold_in_sentences_whatever_they_are():
    texts = [f"{ref} and a cat" for ref in REFERENCES * 20]
    systems = {
        "a": [*texts[:-1], f"{texts[-1]} x"],
        "better": [t.replace("and", "or") for t in texts],
    }
    made = ce.compare(systems, texts, metrics=["bleu"], resamples=100)
    (first,) = report_values(made, ReportOptions())["statements"]
    assert first.startswith("<b><bdi>a</bdi></b> has the better BLEU (9")
    page = make_report(made).html
    assert "<title>Coverage errors of a, better</title>" in page
    assert "p: against <b><bdi>a</bdi></b>." in page
    assert '<th scope="col">system</th><th scope="col" class="number">BLEU ↑</th>' in page


def test_names_and_words_are_escaped():
    texts = ['<b>"&', "</script>"]
    report = make_report(
        ce.compare({"<i>": texts}, texts, metrics=["rep"], resamples=0), title="<u>"
    )
    assert "<title>&lt;u&gt;</title>" in report.html
    assert not re.search(r'<(?:i|u)>|<b>"', report.html)
    assert report.html.count("</script>") == report.html.count("<script")


def test_examples_show_the_words_around_the_first_mark():
    source = [f"word{n:02}" for n in range(60)]
    links = [(n, n) for n in range(60)]
    for place, first, last in ((5, 0, 23), (30, 25, 47), (25, 20, 42), (55, 36, 59)):
        own = [link for link in links if link[0] != place]
        aligner = ce.Aligner.from_links([links], [[own]])
        text = " ".join(source)
        found = ce.compare({"a": [text]}, [text], [text], aligner, metrics=["drop"], resamples=0)
        shown = find_examples(found, 1)["a"].texts["source"]
        words = "".join(piece for piece, _ in shown).split()
        before, after = (["…"] if first else []), (["…"] if last < 59 else [])
        assert words == [*before, *source[first : last + 1], *after]
        assert [piece for piece in shown if piece[1]] == [(source[place], "dropped")]


def shown_words(example: Any, side: str) -> list[str]:
    return "".join(piece for piece, _ in example.texts[side]).split()


@pytest.mark.parametrize("metric", ["drop", "softdrop"])
def test_other_texts_are_shown_where_the_words_beside_an_omission_are_linked(metric):
    """By lengths, the output would be shown where it says something else."""
    first, last = ([f"{name}{n:02}" for n in range(60)] for name in ("word", "more"))
    source, output = " ".join(first + last), " ".join(last + first[:20] + first[24:])
    pairs = []
    for seed in range(400):
        few = Random(seed).sample(first + last, 12)
        pairs.append((" ".join(few), " ".join(few[6:] + few[:6])))
    with ce.Aligner.train_pairs(pairs) as aligner:
        found = ce.compare(
            {"a": [output]}, [source], [source], aligner, metrics=[metric], resamples=0
        )
        (example,) = find_examples(found, 1).values()
    for side in ("source", "reference", "output"):
        assert {"word19", "word24"} <= {*shown_words(example, side)}
    marked = [piece for piece, style in example.texts["source"] if style]
    assert "word20 word21 word22 word23" in marked


def test_a_source_is_shown_where_the_words_beside_a_repetition_are_linked():
    source = [f"word{n:02}" for n in range(60)]
    more = [f"more{n:02}" for n in range(70)]
    output = [*more, *source[:40], "word38", "word39", *source[40:]]
    places = [*range(70, 110), *range(112, 132)]
    links = [[(n, n) for n in range(60)]]
    aligner = ce.Aligner.from_links(links, [[*enumerate(places)]])
    texts = [" ".join(source)]
    found = ce.compare(
        {"a": [" ".join(output)]}, texts, texts, aligner, metrics=["rep", "drop"], resamples=0
    )
    (example,) = find_examples(found, 1).values()
    for side in ("source", "reference", "output"):
        assert {"word37", "word38", "word39", "word40"} <= {*shown_words(example, side)}


def test_an_example_has_the_error_as_runs_beside_what_proves_it():
    examples = find_examples(comparison(), 1)
    assert list(examples) == ["bad"]  # the other has no error
    found = examples["bad"]
    assert (found.segment, found.score) == (1, "REP 66.67")
    assert found.link == "sort=REP&whose=bad&segment=1"
    assert found.texts == {
        "source": [("ein rotes ", ""), ("haus", "dropped")],
        "reference": [("a red house", "")],
        "output": [("a red ", ""), ("red", "repeated")],
    }


def examples(systems: dict[str, list[str]], references: list[str]) -> dict[str, int]:
    """The segment, from 1, that shows the repetitions of each system best."""
    found = ce.compare(systems, references, metrics=["rep"], resamples=0)
    return {name: item.segment for name, item in find_examples(found, len(references)).items()}


def test_the_longest_run_comes_first_but_not_if_nearly_all_is_marked():
    texts = ["a b c d e f g h i j k l", "m n o p q r s t u v w x", "A B C D E F G H I J K L"]
    outputs = [f"{texts[0]} b a", f"{texts[1]} m n o", f"{texts[2]} A"]
    assert examples({"one": outputs}, texts) == {"one": 2}
    links = [[(n, n) for n in range(12)]] * 3
    own = [links[0][:8], links[0][:1], links[0][:10]]
    aligner = ce.Aligner.from_links(links, [own])
    found = ce.compare({"a": texts}, texts, texts, aligner, metrics=["drop"], resamples=0)
    assert find_examples(found, 3)["a"].segment == 1


def test_most_words_that_another_system_has_right_come_first():
    texts = ["a b c d e f g", "h i j k l m n", "o p q r s t u"]
    one = [f"{texts[0]} b c", f"{texts[1]} h i j", texts[2]]
    # Both repeat the phrase of the second segment: only the first proves anything against "one".
    both = {"one": one, "two": [texts[0], f"{texts[1]} h i j", texts[2]]}
    assert examples(both, texts) == {"one": 1, "two": 2}
    assert examples({"one": one}, texts) == {"one": 2}


def test_very_short_or_long_segments_are_shown_only_if_there_are_no_others():
    short, long = ["x y", "a b"], " ".join(f"word{n}" for n in range(60))
    assert examples({"one": ["x x x", "a b"]}, short) == {"one": 1}
    longer = [*short, long, "a man sells a red house"]
    outputs = ["x x x", "a b", f"{long} {long}", "a man sells sells a red house"]
    assert examples({"one": outputs}, longer) == {"one": 4}


def test_words_that_the_model_does_not_know_are_no_examples():
    pairs = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(400, seed=5)]
    sources, references = (
        [side for side in column if len(side.split()) > 6][:20]
        for column in zip(*pairs, strict=True)
    )
    with ce.Aligner.train_pairs(pairs) as aligner:
        made = ce.compare(
            {"a": [*references[:-1], "a"]}, [f"{line} unseen" for line in references],
            [f"{line} zzyx" for line in sources], aligner, metrics=["softdrop"], resamples=0,
        )  # fmt: skip
        assert find_examples(made, 20)["a"].segment == 20


def test_lost_coverage_of_half_is_marked():
    pairs = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(200, seed=5)]
    sources, references = map(list, zip(*pairs[:20], strict=True))
    outputs = [" ".join(line.split()[:-2]) for line in references]
    with ce.Aligner.train_pairs(pairs) as aligner:
        found = ce.compare(
            {"a": outputs}, references, sources, aligner, metrics=["softdrop"], resamples=0
        )
        evidence = [item.marks for item in found.result.explanations_of("softdrop", "a")]
        report = read_blocks(make_report(found).html)
    (kind,) = report["contents"]["kinds"]
    assert (kind["key"], kind["shown"]) == ("lost", True)  # there is no plainer mark
    marks = [segment["outputs"][0]["marks"] for segment in report["segments/0"]]
    assert marks == [
        [
            {
                "kind": "lost",
                "spans": [mark.spans[0][0], len(mark.text)],
                "text": mark.text,
                "quiet": not mark.text.isalnum(),
            }
            for mark in items
            if mark.amount >= 0.5
        ]
        for items in evidence
    ]
    assert sum(map(len, marks)) < sum(map(len, evidence))  # some words lose less


def test_warnings_notes_and_unknown_words_are_at_the_end(monkeypatch):
    references = [f"a house number {n}" for n in range(30)]
    made = ce.compare({"a": references, "b": [*references[1:], ""]}, references, metrics=["rep"])
    name = "coverage_eval.comparison.report.html.unknown_words_of_result"
    monkeypatch.setattr(name, lambda _: {"source_tokens": 0.125})
    topics = {heading: paragraphs for heading, paragraphs, _ in
              report_values(made, ReportOptions())["topics"]}  # fmt: skip
    assert topics["Warnings and notes"] == [item.message for item in made.result.findings]
    assert topics["Words that the aligner's model does not know"] == ["source tokens: 12.5%"]


def test_broken_outputs_are_listed():
    sources = ["ein rotes haus steht hier", "der hund schläft", "ich gehe an den strand"]
    outputs = ["ein rotes haus steht hier", "", "on the beach on the beach on the beach"]
    systems = {"a": outputs, "b": ["fine"] * 3}
    made = ce.compare(systems, ["a b"] * 3, sources, metrics=["rep"], resamples=0)
    errors = find_output_errors(Texts.from_lists(systems, ["a b"] * 3, sources))
    made = replace(made, result=replace(made.result, output_errors=errors))
    assert report_values(made, ReportOptions())["faults"] == [
        ("a", "1 of 3 outputs have no words where other texts have some", [2]),
        ("a", "1 of 3 outputs are the source itself, or have parts of it in its language", [1]),
        ("a", "1 of 3 outputs say the same words again and again", [3]),
    ]  # fmt: skip


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("certain", [kind for kind in KINDS if kind not in GUESSES])
def test_a_guess_hides_no_certain_error(guess, certain):
    made = ce.compare({"a": ["x y z"] * 9}, ["a b"] * 9, metrics=["rep"], resamples=0)
    errors = {"a": {4: [OutputError(guess), OutputError(certain)], 7: [OutputError(guess)]}}
    made = replace(made, result=replace(made.result, output_errors=errors))
    faults = report_values(made, ReportOptions())["faults"]
    assert ("a", f"1 of 9 outputs {KINDS[certain]}", [5]) in faults
    assert ("a", f"1 of 9 outputs {KINDS[guess]}", [8]) in faults


def test_as_many_guesses_as_complete_outputs_have_are_no_faults():
    made = ce.compare({"a": ["x y z"] * 100}, ["a b"] * 100, metrics=["rep"], resamples=0)
    guesses = {number: [OutputError("truncated")] for number in range(3)}
    for number in (2, 3):
        errors = {"a": dict(list(guesses.items())[:number])}
        found = replace(made, result=replace(made.result, output_errors=errors))
        assert len(report_values(found, ReportOptions())["faults"]) == number - 2


def test_lists_have_what_others_have_less_often_and_no_punctuation():
    systems = {"a": ["x , , y", "y y , ,"], "b": ["x", "y"]}
    sources, references = ["x , y", "y ,"], ["x , y", "y ,"]
    full = [[(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1)]]
    aligner = ce.Aligner.from_links(full, {"a": [[], []], "b": [[(0, 0)], [(0, 0)]]})
    found = ce.compare(systems, references, sources, aligner, metrics=["rep", "drop"], resamples=0)
    lists = report_values(found, ReportOptions())["lists"]
    assert [(table.name, [row[1] for row in table.rows]) for table, _ in lists] == [
        ("dropped-words", ["y", "x"]), ("repeated-ngrams", ["y y"]),
    ]  # fmt: skip
    assert lists[0][1][0] == "found=dropped-words&entry=y&whose=a"


def test_a_number_in_a_list_is_no_system_of_that_name():
    systems = {"2": ["a a a", "b b b"], "1": ["a", "b"]}
    page = make_report(ce.compare(systems, ["a", "b"], metrics=["rep"], resamples=0)).html
    (article,) = re.findall(r'<article id="about-repeated-ngrams".*?</article>', page, re.DOTALL)
    assert article.count('<i class="dot"') == article.count("<tr>") - 1  # one of each row's system
    assert "<bdi>2</bdi></td>" in article
