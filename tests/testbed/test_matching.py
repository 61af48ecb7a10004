"""Files of scores, and how labels are matched with them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.metrics.significance import holm
from coverage_eval.testbed.detection import difference_p_value
from coverage_eval.testbed.labels import Judgement, Labels
from coverage_eval.testbed.matching import match
from coverage_eval.testbed.meta_evaluation import MetaSettings, evaluate_labelled, meta_evaluate
from coverage_eval.testbed.score_files import (
    ScoreColumn,
    choose_columns,
    common_tokenizer,
    read_scores,
    signed_tokenizer,
)


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="")
    return path


def labels(*marks: float, **more: Any) -> Labels:
    items = (Judgement(n, mark > 0, mark, source=n, line=n + 1) for n, mark in enumerate(marks, 1))
    return Labels("labels.tsv", tuple(items), **more)


def test_csv_of_this_package_and_of_others(tmp_path):
    path = write(
        tmp_path / "drop.csv",
        "segment,score,dropped,P(omission),chrF2",
        '1,0.0,"ein at 3; ""x"", at 4",0.25,50',
        "2,,,0.5,60",
    )
    score, chance, chrf = read_scores(path)
    assert (score.name, chance.name, chrf.name) == ("drop", "P(omission)", "chrF2")
    assert score.values == {("", 1): 0.0, ("", 2): None}
    assert (chance.probability, score.probability) == (True, False)
    assert (chrf.higher_is_better, score.higher_is_better) == (True, False)
    figures = write(
        tmp_path / "figures.csv", "segment,rep-4,distinct-2,length-ratio,TER", "1,1,1,1,1"
    )
    directions = {column.name: column.higher_is_better for column in read_scores(figures)}
    assert directions == {"rep-4": False, "distinct-2": True, "length-ratio": True, "TER": False}
    assert [c.name for c in read_scores(path, "A")] == ["A", "A.P(omission)", "A.chrF2"]
    tabs = write(tmp_path / "t.tsv", "system\tsegment\tx", "a\t1\t2", "b\t1\t3")
    (column,) = read_scores(tabs)
    assert column.values == {("a", 1): 2.0, ("b", 1): 3.0}
    assert column.by_system


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["score", "1"], "line 1: no column 'segment'"),
        (["segment,score", "1,nan"], "line 2, column 'score': 'nan' is not a finite number"),
        (["segment,score", "1,2", "2,-inf"], "line 3, column 'score': '-inf' is not a finite"),
        (["segment,score", "1,x"], "line 2, column 'score': 'x' is not a finite number"),
        (["segment,score", "1,2", "1,3"], "line 3: segment 1 occurs twice"),
        (["segment,score", "0,2"], "line 2: segment '0' is not a number from 1"),
        (["segment,score", "1"], "line 2: not as many fields as line 1"),
        (["segment,score", "1,2,3"], "line 2: not as many fields as line 1"),
        (["segment,words", "1,many"], "has no score of segments"),
        (["segment,p(error)", "1,1.5"], "column 'p\\(error\\)' is not a probability"),
        (["segment,score", "1,"], "column 'score' has no number"),
        (["segment,score", '1,"2'], "line 2: unexpected end of data"),
        (['{"scores": []}'], "has no scores of segments"),
        (["{"], "the file: not JSON"),
        ([], "line 1: no column 'segment'"),
    ],
)
def test_damaged_scores(tmp_path, lines, message):
    with pytest.raises(DataError, match=message):
        read_scores(write(tmp_path / "scores.csv", *lines))


SENTENCE = '{"scores": [{"kinds": [{"side": "source"}], "sentences": [%s]}]}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{" + '"a": [' * 100_000, "the file: not JSON"),
        ('{"scores": ' + "9" * 5000 + "}", "has no scores of segments"),
        ('{"scores": 1}', "has no scores of segments"),
        ('{"scores": [{"sentences": 1}]}', "sentence 1: JSON, but not an object"),
        (SENTENCE % "1", "sentence 1: JSON, but not an object"),
        (SENTENCE % '{"segment": "%s", "score": 1}' % ("9" * 5000), "is not a number from 1"),
        (SENTENCE % '{"segment": 1, "score": [1]}', "is not a finite number"),
        (SENTENCE % '{"segment": 1, "score": 1%s}' % ("0" * 400), "is not a finite number"),
        (SENTENCE % '{"segment": 1, "score": 1, "marks": [1]}', "segment 1: unreadable marks"),
        (SENTENCE % '{"segment": 1, "score": 1}', "segment 1: unreadable marks: 'marks'"),
        (
            SENTENCE % '{"segment": 1, "score": 1, "marks": [{"side": "source"}]}',
            "segment 1: unreadable marks: 'positions'",
        ),
        (
            SENTENCE
            % '{"segment": 1, "score": 1, "marks": [{"side": "source", "positions": [-1]}]}',
            "unreadable marks: positions are whole numbers from 0",
        ),
        (
            SENTENCE % '{"segment": 1, "score": 1, "marks": [{"side": "source", "positions": [1], '
            '"amount": 1e999}]}',
            "unreadable marks: the amount inf is not a finite number",
        ),
        ('{"scores": [{"kinds": [1], "sentences": [{"segment": 1}]}]}', "kinds: JSON, but not an"),
        ('{"kind": 1}\n[]', "line 2: JSON, but not an object"),
        ('{"kind": 1, "metrics": [1]}', "line 1: .metrics.: JSON, but not an object"),
        ('{"kind": 1, "metrics": {"REP": 1}}', "line 1: .REP.: JSON, but not an object"),
        ('{"kind": 1, "metrics": {"REP": {}}}', "line 1: segment None is not a number from 1"),
    ],
)
def test_damaged_json(tmp_path, text, message):
    with pytest.raises(DataError, match=message) as caught:
        read_scores(write(tmp_path / "scores.json", text))
    assert len(str(caught.value)) < 400


def test_json_scores_name_the_words(tmp_path):
    sentences = [
        {"segment": 1, "score": 5.0, "marks": [
            {"side": "source", "positions": [2, 3], "amount": 0.5},
            {"side": "output", "positions": [7]},
        ]},
        {"segment": 2, "score": None, "marks": []},
    ]  # fmt: skip
    score = {"system": None, "higher_is_better": False, "sentences": sentences}
    data = {"scores": [{"kinds": [{"side": "output"}, {"side": "source"}], **score}]}
    (column,) = read_scores(write(tmp_path / "soft.json", json.dumps(data, indent=1)))
    assert column.name == "soft"
    assert column.words == {("", 1): {2: 0.5, 3: 0.5}, ("", 2): {}}
    repeated = [{"segment": 1, "score": 1, "marks": [{"side": "output", "positions": [1]}]}]
    kinds = [{"side": "output"}]
    data = {"scores": [{"higher_is_better": True, "kinds": kinds, "sentences": repeated}]}
    (column,) = read_scores(write(tmp_path / "r.json", json.dumps(data)))
    assert column.words is None
    assert column.higher_is_better


def test_segments_without_a_label_have_no_error_where_only_errors_are_listed():
    column = ScoreColumn("one", "one.csv", {("", 1): 1.0, ("", 2): 2.0, ("", 3): 3.0})
    items = (Judgement(2, True, 2.5, source=2, line=2),)
    found = match(Labels("errors.tsv", items, complete=False), [column])
    assert [(i.segment, i.positive, i.grade) for i in found.judgements] == [
        (1, False, 0.0),
        (2, True, 2.5),
        (3, False, 0.0),
    ]


def test_words_of_sources_are_counted_where_the_labels_lack_them():
    column = ScoreColumn("one", "one.csv", {("", n): 1.0 for n in (1, 2, 3)})
    items = tuple(
        Judgement(n, False, 0.0, n, source_words=9 if n == 1 else None) for n in (1, 2, 3)
    )
    found = match(Labels("l", items), [column]).with_source_words(["a b", "c d e"], str.split)
    assert [item.source_words for item in found.judgements] == [9, 3, None]


def test_translations_with_an_undefined_score_are_left_out_for_all_scores():
    one = ScoreColumn("one", "one.csv", {("", 1): 1.0, ("", 2): None, ("", 3): 3.0})
    other = ScoreColumn("other", "o.csv", {("", 1): 1.0, ("", 2): 5.0, ("", 3): 2.0}, True)
    found = match(labels(0, 1, 1), [one, other])
    assert [item.segment for item in found.judgements] == [1, 3]
    assert found.notes == ("1 translations are left out, since one is undefined there.",)
    assert [score.name for score in found.scores] == ["one", "−other"]
    assert found.scores[1].suspicion.tolist() == [-1.0, -2.0]


def test_labels_without_scores_are_refused():
    column = ScoreColumn("x", "x.csv", {("", 1): 1.0})
    with pytest.raises(DataError, match=r"line 3: segment 2 has no score in x.csv, which has 1"):
        match(labels(0, 1), [column])


def test_labels_and_scores_of_several_systems():
    items = [
        Judgement(n, name == "b", float(name == "b"), name, source=n)
        for name in "abc"
        for n in (1, 2)
    ]
    several = Labels("mqm.tsv", tuple(items))
    named = ScoreColumn("x", "x.csv", {(s, n): float(n) for s in "abd" for n in (1, 2)})
    found = match(several, [named])
    assert [item.key for item in found.judgements] == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert found.notes == ("Labels of systems without scores are left out: c.",)
    bare = ScoreColumn("x", "x.csv", {("", n): float(n) for n in (1, 2)})
    with pytest.raises(DataError, match="has several translations of a segment"):
        match(several, [bare])
    strange = ScoreColumn("x", "x.csv", {("z", 1): 1.0})
    with pytest.raises(DataError, match="no system has labels here and scores in"):
        match(several, [strange])
    two = replace(named, values={key: v for key, v in named.values.items() if key[0] in "ab"})
    with pytest.raises(DataError, match="has several systems, but"):
        match(labels(0, 1), [two])


def test_columns_are_chosen_and_negated(tmp_path):
    one = ScoreColumn("one", "one.csv", {("", 1): 1.0})
    other = ScoreColumn("other", "o.csv", {("", 1): 2.0})
    chosen = choose_columns([one, other], ["other"], ["other"])
    assert [(c.name, c.higher_is_better) for c in chosen] == [("other", True)]
    with pytest.raises(DataError, match="there is no score 'two'; there are: one, other"):
        choose_columns([one, other], ["two"])
    with pytest.raises(DataError, match=r"o.csv: a score 'one' is also in one.csv"):
        choose_columns([one, ScoreColumn("one", "o.csv", {})])
    with pytest.raises(DataError, match="no scores, and no texts for baselines"):
        evaluate_labelled(labels(0, 1), [], "omission")
    texts = {
        name: write(tmp_path / name, "a b", "c d") for name in ("source", "hypothesis", "reference")
    }
    found = evaluate_labelled(
        labels(0, 1), [], "omission", **texts, settings=MetaSettings(resamples=0)
    )
    names = [score.name for score in found.scores]
    assert names == ["−hyp/src length", "source length", "−hyp/ref length", "−BLEU", "−chrF2"]


def test_a_reference_must_reach_the_last_labelled_segment(tmp_path):
    items = tuple(
        Judgement(n, n == 2, n - 1.0, source=n, source_text="a", target_text="a", line=n + 1)
        for n in (1, 2)
    )
    reference = write(tmp_path / "reference", "a", "b")
    how = MetaSettings(resamples=0)
    assert evaluate_labelled(Labels("l", items), [], "any", reference=reference, settings=how)
    write(reference, "a")
    message = "l: line 3: segment 2 is beyond the end of the reference, which has 1 lines"
    with pytest.raises(DataError, match=message):
        evaluate_labelled(Labels("l", items), [], "any", reference=reference)


def test_measures_of_words_equal_a_count_by_hand():
    """Three words are flagged, two of them rightly; four words are lost."""
    items = (
        Judgement(1, True, 1.0, source=1, words=frozenset({0, 1})),
        Judgement(2, True, 1.0, source=2, words=frozenset({2, 3})),
        Judgement(3, False, 0.0, source=3, words=frozenset()),
    )
    pointed = {("", 1): {0: 0.9, 2: 0.1}, ("", 2): {3: 0.4}, ("", 3): {}}
    column = ScoreColumn("x", "x", {("", n): float(3 - n) for n in (1, 2, 3)}, words=pointed)
    matched = match(Labels("l", items), [column])
    (unknown,) = meta_evaluate(matched, MetaSettings(resamples=0)).scores
    words = (unknown.word_precision, unknown.word_recall, unknown.word_auroc)
    assert words == (None, None, None)  # the sources' lengths are not known
    matched = matched.with_source_words(["a b c", "a b c d", "a"], Tokenizer())
    (found,) = meta_evaluate(matched, MetaSettings(resamples=0)).scores
    assert found.word_precision is not None
    assert found.word_recall is not None
    assert found.word_auroc is not None
    assert found.word_precision.value == pytest.approx(2 / 3)
    assert found.word_recall.value == pytest.approx(2 / 4)
    # Lost words have strengths .9 0 0 .4, others .1 0 0 0: of 16 pairs, 8 are won and 6 tied.
    assert found.word_auroc.value == pytest.approx((8 + 6 / 2) / 16)


def test_scores_are_tested_against_the_first():
    marks = [float(n % 3 == 0) for n in range(1, 41)]
    columns = [
        ScoreColumn(f"s{k}", "x", {("", n): m * k + n % 7 for n, m in enumerate(marks, 1)})
        for k in (1, 2, 4)
    ]
    first, *others = meta_evaluate(
        match(labels(*marks), columns), MetaSettings(resamples=200)
    ).scores
    assert (first.p_value, first.adjusted) == (None, None)
    assert first.figures["auroc"] is first.auroc
    assert not {"name", "p_value", "adjusted"} & set(first.figures)
    p_values = [difference_p_value(other.auroc, first.auroc) for other in others]
    assert [other.p_value for other in others] == p_values
    assert [other.adjusted for other in others] == holm([p for p in p_values if p is not None])
    assert [other.adjusted for other in others] != p_values


def test_grades_of_systems_correlate_if_there_are_three():
    items = tuple(
        Judgement(n, n < grade, grade, system, source=n)
        for system, grade in (("a", 1.0), ("b", 2.0), ("c", 4.0))
        for n in (1, 2, 3)
    )
    column = ScoreColumn("x", "x", {(i.system, i.segment): i.grade**2 for i in items})
    matched = match(Labels("l", items), [column])
    (found,) = meta_evaluate(matched, MetaSettings(resamples=0)).scores
    assert found.system_kendall == pytest.approx(1)
    assert found.system_pearson == pytest.approx(np.corrcoef([1, 2, 4], [1, 4, 16])[0, 1])
    two = tuple(item for item in items if item.system != "b")
    (found,) = meta_evaluate(match(Labels("l", two), [column]), MetaSettings(resamples=0)).scores
    assert (found.system_kendall, found.system_pearson) == (None, None)


@pytest.mark.parametrize("recall", [0, 1.01])
def test_a_recall_out_of_range_is_an_error(recall):
    assert MetaSettings(recall=1).recall == 1
    with pytest.raises(ValueError, match="recall must be above 0 and at most 1, not"):
        MetaSettings(recall=recall)


def test_tokenisers_of_words_come_from_the_signatures():
    def column(name: str, signature: str, words: object = ()) -> ScoreColumn:
        found = None if words is None else {("", 1): {}}
        cut = signed_tokenizer(signature)
        return ScoreColumn(name, name, {("", 1): 1.0}, words=found, source_tokens=cut)

    plain, cased = column("a", "DROP|case:mixed|tok:none"), column("b", "X|case:lc|tok:13a")
    assert common_tokenizer([plain, plain]) == Tokenizer()
    assert common_tokenizer([column("c", "BLEU|tok:13a", None), cased]) == Tokenizer("13a", True)
    assert common_tokenizer([column("d", "X|tok:unknown"), column("e", "")]) is None
    with pytest.raises(DataError, match="words of different tokenisers: a by none, b by 13a; "):
        common_tokenizer([plain, cased])


def test_a_position_past_the_end_means_another_tokeniser():
    item = Judgement(1, True, 1.0, source=1, words=frozenset({0}), source_words=2)
    clean = Judgement(2, False, 0.0, source=2, words=frozenset(), source_words=2)
    column = ScoreColumn(
        "x", "x", {("", 1): 1.0, ("", 2): 0.0}, words={("", 1): {2: 1}, ("", 2): {}}
    )
    with pytest.raises(
        DataError, match="a score or label names word 3, but the source has 2; name the tokeniser"
    ):
        meta_evaluate(match(Labels("l", (item, clean)), [column]), MetaSettings(resamples=0))


def test_a_rater_is_predicted_from_the_others():
    raters = [(True, True, True), (True, True, False), (False, False, False), (False, False, True)]
    items = tuple(
        Judgement(n, any(marks), sum(marks) / 3, source=n, raters=marks)
        for n, marks in enumerate(raters, 1)
    )
    column = ScoreColumn("x", "x", {("", n): float(-n) for n in range(1, 5)})
    found = meta_evaluate(match(Labels("l", items), [column]), MetaSettings(resamples=0))
    marks = [(mark, (sum(own) - mark) / 2, -n) for n, own in enumerate(raters) for mark in own]

    def area(position: int) -> float:
        wins = [
            (a[position] > b[position]) + (a[position] == b[position]) / 2
            for a in marks if a[0] for b in marks if not b[0]
        ]  # fmt: skip
        return sum(wins) / len(wins)

    assert found.ceiling is not None
    assert found.ceiling.value == pytest.approx(area(1))
    assert found.scores[0].one_rater is not None
    assert found.scores[0].one_rater.value == pytest.approx(area(2))
