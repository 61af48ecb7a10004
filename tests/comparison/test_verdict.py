"""The plain sentences of a comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.comparison.comparison import present_comparison
from coverage_eval.comparison.presentation import find_differences, plain_verdict
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.significance import SignificanceTest
from coverage_eval.tables.table import ScoreCell
from tests.comparison.systems import compare_statistics, damaged
from tests.grammar import generate

REFERENCES = [" ".join(pair.target) for pair in generate(60, seed=4)]


def verdict(systems: Mapping[str, Sequence[str]], **options: object) -> list[str]:
    metrics = options.pop("metrics", ["bleu", "rep"])
    return plain_verdict(ce.compare(systems, REFERENCES, metrics=metrics, **options))  # type: ignore[arg-type]


def test_real_differences_come_first_and_errors_before_other_metrics():
    systems = {
        "clean": REFERENCES,
        "same": REFERENCES,
        "again": damaged(REFERENCES, 1, repeated=0.3),
    }
    repeats, bleu, same_repeats, same_bleu = verdict(systems)
    assert repeats.startswith("again repeats more than clean (REP ")
    assert " against 0.00, p = 0.002): " in repeats
    assert repeats.endswith(" in 100 output words, against 0.00.")
    assert bleu.startswith("again has a worse BLEU than clean (")
    assert same_repeats == (
        "same and clean do not differ significantly in repetitions "
        "(REP 0.00 against 0.00, p = 1.000)."
    )
    assert same_bleu.startswith("same and clean do not differ significantly in BLEU (100.00 ")


def test_fewer_errors_than_the_baseline():
    systems = {"again": damaged(REFERENCES, 1, repeated=0.3), "clean": REFERENCES}
    repeats, bleu = verdict(systems)
    assert repeats.startswith("clean repeats less than again (REP 0.00 against ")
    assert bleu.startswith("clean has a better BLEU than again (100.00 against ")


def test_no_system_is_called_worse_without_a_significant_difference():
    """One repetition in 60 segments is not significant, however high the score."""
    texts = [*REFERENCES[:-1], f"{REFERENCES[-1]} {REFERENCES[-1]}"]
    (only,) = verdict({"clean": REFERENCES, "once": texts, "same": REFERENCES}, metrics=["rep"])
    assert re.fullmatch(
        r"No system repeats significantly more or less than clean: REP once \d+\.\d\d "
        r"\(p = \d\.\d+\), same 0\.00 \(p = 1\.000\), clean 0\.00\.",
        only,
    )


def test_a_small_difference_is_called_small():
    """Significant, but less than one word in 200."""
    references = ["a b c d e f g h i j " * 30] * 40
    systems = {"clean": references, "again": [f"{text}j" for text in references]}
    found = ce.compare(systems, references, metrics=["rep"])
    (only,) = plain_verdict(found)
    assert only == (
        "Significant, but small: again repeats more than clean (REP 0.67 against 0.00, "
        "p < 0.001): 0.33 in 100 output words, against 0.00."
    ).replace("p < 0.001", only.partition("0.00, ")[2].partition(")")[0])


def test_words_of_100_are_counted_in_the_output():
    """Three of eleven words are repeated; REP itself sums weights per word of the reference."""
    systems = {"clean": ["a b c d e f g h"], "again": ["a b c a b c d e f g h"]}
    found = ce.compare(systems, ["a b c d e f g h"], metrics=["rep"], resamples=0)
    assert plain_verdict(found) == [
        "again repeats more than clean (REP 25.00 against 0.00, not tested): "
        "27.27 in 100 output words, against 0.00."
    ]


def test_without_resamples_nothing_was_tested():
    systems = {"clean": REFERENCES, "again": damaged(REFERENCES, 1, repeated=0.3)}
    assert ", not tested)" in verdict(systems, resamples=0)[0]
    assert "p = " not in "".join(verdict(systems, resamples=0))
    assert verdict({"a": REFERENCES, "b": REFERENCES}, resamples=0)[0] == (
        "b and a do not differ in repetitions (REP 0.00 against 0.00)."
    )


def test_the_verdict_on_one_system_and_on_equal_systems():
    expected = "a has REP 0.00 (0.00 in 100 output words), BLEU 100.00."
    assert verdict({"a": REFERENCES}) == [expected]
    first = verdict({"a": REFERENCES, "b": REFERENCES})[0]
    assert first == (
        "No system repeats significantly more or less than a: REP b 0.00 (p = 1.000), a 0.00."
    )


def test_scores_and_differences_have_intervals_from_the_same_resamples():
    systems = {"clean": REFERENCES, "again": damaged(REFERENCES, 1, repeated=0.3)}
    cells = ce.compare(systems, REFERENCES, metrics=["rep"]).rows
    interval, alone = (
        cells["again"]["rep"].difference_interval,
        cells["again"]["rep"].score.interval,
    )
    assert interval is not None
    assert alone is not None
    # The clean system has no repetition in any resample, so the difference is the score.
    assert (interval.low, interval.high) == (alone.low, alone.high)
    assert cells["clean"]["rep"].difference_interval is None


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("drop", "drops more words"),
        ("softdrop", "loses"),
        ("omissions", "is flagged for omissions more often"),
    ],
)
def test_sentences_of_metrics_that_need_links(metric, words):
    pairs = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(400, seed=5)]
    aligner = ce.Aligner.train_pairs(pairs)
    sources, references = zip(*pairs[:60], strict=True)
    systems = {"all": references, "few": damaged(references, 2, omitted=0.4)}
    found = ce.compare(systems, references, sources, aligner, metrics=[metric])
    assert f"few {words}" in plain_verdict(found)[0]


@pytest.mark.parametrize(
    ("difference", "p", "size"),
    [
        (0.3, 0.01, "small"), (-0.3, 0.01, "small"), (0.5, 0.01, "real"), (0.6, 0.0499, "real"),
        (0.6, 0.05, "none"),
    ],
)  # fmt: skip
def test_a_difference_is_small_whatever_the_scores(difference, p, size):
    found = ce.compare({"a": REFERENCES, "b": REFERENCES}, REFERENCES, metrics=["bleu"])
    base, cell = (found.rows[name]["bleu"] for name in "ab")
    cells = {
        "a": {"bleu": replace(base, score=replace(base.score, score=40.0))},
        "b": {
            "bleu": replace(
                cell,
                score=replace(cell.score, score=40.0 + difference),
                difference=difference,
                adjusted=p,
            )
        },
    }
    found = replace(found, rows=cells)
    (sentence,) = find_differences(found)
    assert sentence.size == size
    worse = difference < 0
    if size != "none":
        assert f"b has a {'worse' if worse else 'better'} BLEU than a" in sentence.text
    cell = present_comparison(found).tables[0].rows[1][1]
    assert isinstance(cell, ScoreCell)
    assert cell.better is not worse


def test_metrics_without_a_better_direction_are_higher_or_lower():
    sources = ["a b c d"] * 20
    systems = {"a": ["x y z"] * 20, "long": ["x y z z"] * 20, "short": ["x y"] * 20}
    found = ce.compare(systems, None, sources, metrics=["length-ratio"], resamples=200)
    assert [(item.size, item.text.partition(" (")[0]) for item in find_differences(found)] == [
        ("real", "long has a higher length-ratio than a"),
        ("real", "short has a lower length-ratio than a"),
    ]


def test_one_sentence_says_that_no_system_differs():
    systems = dict.fromkeys("abc", REFERENCES)
    found = ce.compare(systems, REFERENCES, metrics=["bleu"], resamples=100)
    (only,) = find_differences(found)
    assert (only.size, only.system) == ("none", "")
    assert only.text == (
        "No system has a significantly different BLEU: BLEU b 100.00 (p = 1.000), "
        "c 100.00 (p = 1.000), a 100.00."
    )


def test_without_texts_sentences_have_no_number_of_words():
    statistics = {"rep": {"a": np.array([[0, 0, 9]]), "b": np.array([[1, 0, 9]])}}
    test = SignificanceTest(resamples=0)
    assert plain_verdict(compare_statistics(statistics, {"rep": REP()}, test)) == [
        "b repeats more than a (REP 11.11 against 0.00, not tested)."
    ]


def test_notes_recommend_a_metric_that_finds_more_omissions_than_drop():
    """Links joined as in the paper hide omissions, and the table says so."""
    pairs = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(400, seed=5)]
    sources, references = zip(*pairs[:60], strict=True)
    systems = {"all": references, "few": damaged(references, 2, omitted=0.4)}

    def printed(symmetrize: str, metrics: list[str] | None = None) -> str:
        aligner = ce.Aligner.train_pairs(pairs, symmetrize=symmetrize)
        return str(ce.compare(systems, references, sources, aligner, metrics=metrics, resamples=0))

    reason = "joining the links of both directions gives untranslated words a link to a wrong word"
    assert f"{reason}: add softdrop or omissions." in printed("grow-diag-final-and", ["drop"])
    assert "DROP misses" not in printed("forward", ["drop"])
    assert "DROP misses" not in printed("grow-diag-final-and", ["softdrop"])
    # Without a choice of metrics, a model gives soft DROP its column.
    table = printed("grow-diag-final-and")
    assert table.splitlines()[0].replace(" ↑", "").replace(" ↓", "").split()[-2:] == [
        "DROP",
        "SoftDROP",
    ]
    assert f"{reason}: read SoftDROP beside it." in table
