"""Scores that single segments move, and scores that do not depend on any."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.data.files import CorpusWarning
from coverage_eval.metrics.outliers import MAX_OUTLIERS, find_outliers
from coverage_eval.metrics.rep import REP

WORDS = [
    "the",
    "old",
    "man",
    "sees",
    "a",
    "red",
    "house",
    "and",
    "a",
    "dog",
    "near",
    "the",
    "river",
    "before",
    "night",
]


def texts(segments: int = 60) -> tuple[list[str], list[str]]:
    """References, and outputs of which every fourth repeats two words."""
    random = np.random.default_rng(1)
    references = [" ".join(random.permutation(WORDS)) for _ in range(segments)]
    outputs = [
        f"{text} {' '.join(text.split()[-2:])}" if number % 4 == 0 else text
        for number, text in enumerate(references)
    ]
    return outputs, references


def score_without(outputs: list[str], references: list[str], *left_out: int) -> float:
    """The score of the other segments, counted anew."""
    rest = [n for n in range(len(outputs)) if n not in left_out]
    return REP().corpus_score([outputs[n] for n in rest], [references[n] for n in rest]).score


@pytest.mark.parametrize("times", [30, 1000])
def test_a_loop_is_named_with_the_score_without_it(times):
    outputs, references = texts()
    outputs[16] += " so it goes" * times
    found = find_outliers(REP(), REP().statistics(outputs, references))
    assert found is not None
    assert found.segments == (16,)
    assert found.score == pytest.approx(REP().corpus_score(outputs, references).score)
    assert found.without == pytest.approx(score_without(outputs, references, 16))
    said = f"segment 17, REP is {found.without:.2f} instead of {found.score:.2f}; look at it"
    with pytest.warns(CorpusWarning, match=said):
        ce.rep(outputs, references)


def test_several_segments_are_left_out_one_by_one():
    outputs, references = texts()
    for number, times in ((3, 500), (30, 100), (44, 900)):
        outputs[number] += " so it goes" * times
    found = find_outliers(REP(), REP().statistics(outputs, references))
    assert found is not None
    assert found.segments == (44, 3, 30)
    assert found.without == pytest.approx(score_without(outputs, references, 3, 30, 44))
    for number in range(10, 14):
        outputs[number] += " so it goes" * 700
    found = find_outliers(REP(), REP().statistics(outputs, references))
    assert found is None or len(found.segments) <= MAX_OUTLIERS


def test_usual_errors_and_few_errors_are_no_outliers():
    outputs, references = texts()
    assert find_outliers(REP(), REP().statistics(outputs, references)) is None
    few = [*references[:-3], *(f"{text} {text}" for text in references[-3:])]
    assert find_outliers(REP(), REP().statistics(few, references)) is None
    assert find_outliers(REP(), REP().statistics(references, references)) is None
    loop = [*references[:9], "so it goes " * 500]
    assert find_outliers(REP(), REP().statistics(loop, references[:10])) is None  # too short a text


def test_punctuation_is_named_where_it_is_much_of_rep():
    outputs, references = texts()
    quoted = [f'" {text} " , " he said , " and went .' for text in references]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ce.rep(outputs, references)
    found = ce.compare({"a": quoted}, references, metrics=["rep"]).measured.findings
    (said,) = (finding.message for finding in found if finding.check == "punctuation")
    whole, without = (
        ce.rep(quoted, references, leave_out_punctuation=left_out).score
        for left_out in (False, True)
    )
    assert said == (
        f'a: {100 * (1 - without / whole):.0f}% of its REP is punctuation (" ,): {without:.2f} '
        f"instead of {whole:.2f} with --leave-out-punctuation"
    )
    metric = REP(leave_out_punctuation=True)
    found = ce.compare({"a": quoted}, references, metrics=[metric]).measured.findings
    assert not [finding for finding in found if finding.check == "punctuation"]


@pytest.mark.parametrize("segments", [2000, 2445])
def test_a_note_on_punctuation_has_the_figures_of_the_score(segments):
    """Of more segments than a sample holds it has none."""
    hypotheses = ["a b , , , c"] * (segments // 2) + ["a a a b"] * (segments - segments // 2)
    references = ["a b , c"] * segments
    found = ce.compare({"a": hypotheses}, references, metrics=["rep"]).measured.findings
    (note,) = (finding.message for finding in found if finding.check == "punctuation")
    whole, without = (
        ce.rep(hypotheses, references, leave_out_punctuation=left_out).score
        for left_out in (False, True)
    )
    if segments == 2000:
        assert f": {without:.2f} instead of {whole:.2f} with --leave-out-punctuation" in note
    else:
        assert note == (
            "a: much of its REP is punctuation (,): look at it with --leave-out-punctuation"
        )
