"""Calls with a mistake give no plausible number; their errors say what is expected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import coverage_eval as ce
from coverage_eval.errors import DataError
from fast_align_wrapper import FastAlign

HYPS, REFS = ["a red red house", "the dog the dog"], ["a red house", "the dog sleeps"]
TOKENS = [line.split() for line in HYPS]
LINKS = ce.Aligner.from_links([[(0, 0)], [(0, 0)]], [[(0, 0)], []])


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (pd.Series(HYPS), pd.DataFrame({"a": REFS, "b": REFS}), "list of segments, not DataFrame"),
        ({"x y": 1, "z": 2}, REFS, "the hypothesis is a list of segments, not dict"),
        (HYPS, dict.fromkeys(REFS), "the reference is a list of segments, not dict"),
        (set(HYPS), REFS, "the hypothesis is a list of segments, not set"),
        ([line.encode() for line in HYPS], REFS, "segment 1 is neither .* tokens: bytes"),
        (None, REFS, "the hypothesis is a list of segments, not NoneType"),
        (HYPS, [REFS, None], "reference 2 is a list of segments, not NoneType"),
    ],
)
def test_texts_must_be_lists_of_segments(hypotheses, references, message):
    with pytest.raises(TypeError, match=message):
        ce.rep(hypotheses, references)


def test_two_references_of_strings_are_not_taken_for_one_of_tokens():
    with pytest.raises(DataError, match="the tokens of the reference hold spaces"):
        ce.rep(TOKENS, [REFS, REFS])
    with pytest.raises(DataError, match="the tokens of the reference hold spaces"):
        ce.REP().sentence_score(TOKENS[0], REFS)


def test_tokens_may_hold_spaces():
    tokens = [["10 000", "houses"], ["20 000"]]
    assert float(ce.rep(tokens, tokens)) == 0
    assert float(ce.rep([["many", "houses"], ["b"]], [["10 000", "big", "houses"], ["b"]])) == 0


def test_references_of_a_segment_may_be_an_iterator():
    metric = ce.REP()
    assert metric.sentence_score(["a", "a"], iter(["a", "b"])) == metric.sentence_score(
        ["a", "a"], ["a", "b"]
    )
    several = [["a"], ["a", "a"]]
    assert metric.sentence_score(["a", "a"], iter(several)) == metric.sentence_score(
        ["a", "a"], several
    )


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ce.rep(HYPS, REFS, tok="13a"), TypeError, "unexpected keyword argument 'tok'"),
        (lambda: ce.bleu(HYPS, REFS, smooth_method="exp"), TypeError, "argument 'smooth_method'"),
        (lambda: ce.bleu(HYPS, REFS, smooth="foo"), ValueError, "unknown smoothing 'foo'; one of"),
        (lambda: ce.rep(HYPS, REFS, n="2"), TypeError, "n must be a whole number, not '2'"),
        (lambda: ce.rep(HYPS, REFS, n=True), TypeError, "n must be a whole number, not True"),
        (lambda: ce.rep(HYPS, REFS, w1="1"), TypeError, "weights must be numbers: w1='1'"),
        (lambda: ce.rep(HYPS, REFS, jobs=-1), ValueError, "jobs must be at least 1, not -1"),
        (lambda: ce.rep(HYPS, REFS, resamples=-1), ValueError, "resamples must be from 1 to"),
        (lambda: ce.rep(HYPS, REFS, jobs=1.5), TypeError, "jobs must be a whole number, not 1.5"),
        (lambda: ce.rep(HYPS, REFS, resamples="9"), TypeError, "resamples must be a whole .* '9'"),
        (lambda: ce.rep(HYPS, REFS, resamples=9, seed=0.5), TypeError, "seed must be a whole"),
        (lambda: ce.rep(HYPS, REFS, resamples=9, seed=-1), ValueError, "seed must be at least 0"),
        (lambda: ce.drop(HYPS, REFS, None, "model"), TypeError, "aligner must come from .*'model'"),
        (lambda: ce.soft_drop(HYPS, REFS, REFS, None), TypeError, "aligner must come from"),
        (lambda: ce.DROP(LINKS, stopwords="der"), TypeError, "stopwords must come from"),
        (lambda: ce.DROP(LINKS, stopwords={"der", "die"}), TypeError, "stopwords must come from"),
    ],
)
def test_errors_name_the_wrong_option(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize(
    ("systems", "options", "kind", "message"),
    [
        ([HYPS, REFS], {}, TypeError, "systems must map names .* not list"),
        (pd.DataFrame({"a": HYPS}), {}, TypeError, "systems must map .* not DataFrame"),
        ({1: HYPS}, {}, TypeError, "the name of a system must be a string, not 1"),
        ({"a": HYPS}, {"metrics": [ce.REP]}, TypeError, "an object such as REP"),
        ({"a": HYPS}, {"resamples": 9.5}, TypeError, "resamples must be a whole number, not 9.5"),
        ({"a": HYPS}, {"seed": "1"}, TypeError, "seed must be a whole number, not '1'"),
        ({"a": HYPS}, {"jobs": 0}, ValueError, "jobs must be at least 1, not 0"),
        ({"a": HYPS}, {"references": None, "metrics": "rep"}, TypeError, "REP needs references"),
    ],
)
def test_wrong_arguments_of_compare_are_refused(systems, options, kind, message):
    with pytest.raises(kind, match=message):
        ce.compare(systems, **{"references": REFS, "resamples": 0} | options)


def test_a_single_metric_need_not_be_a_list():
    assert list(ce.compare({"a": HYPS}, REFS, metrics="rep", resamples=0).metrics) == ["rep"]


@pytest.mark.parametrize("segment", [None, 1, ["a", 1], b"a b"])
def test_segments_to_train_on_must_be_strings_or_lists_of_strings(segment):
    with pytest.raises(TypeError, match=r"pair 1: .* is neither a string nor a list of"):
        ce.Aligner.train([segment], ["a"])
    with pytest.raises(TypeError, match=r"pair 1: .* is neither a string nor a list of strings"):
        FastAlign.train([(segment, "a")])


def test_line_ends_do_not_change_a_trained_model():
    pairs = [("ein haus", "a house"), ("das haus", "the house")] * 20
    lines = [(f"{source}\n", f"{target}\n") for source, target in pairs]
    with FastAlign.train(pairs) as model, FastAlign.train(lines) as of_lines:
        assert of_lines.hash == model.hash
        assert list(of_lines.align(lines)) == list(model.align(pairs))


def test_a_string_is_not_taken_for_a_list_of_words():
    weights = [[1.0, 0.0], [0.0, 1.0]]
    for texts in (("ab", ["x", "y"]), (["a", "b"], "xy")):
        with pytest.raises(TypeError, match="must be a list of words, not a string"):
            ce.plotting.attention_heatmap(weights, *texts)
        with pytest.raises(DataError, match="is a list of tokens, not a single string"):
            ce.attention_maps.AttentionMap(np.array(weights), *texts)  # type: ignore[arg-type]


def test_a_breakdown_of_no_entries_is_refused():
    comparison = ce.compare({"a": HYPS, "b": REFS}, REFS, metrics="rep", resamples=0)
    for top in (0, -1):
        with pytest.raises(ValueError, match="top must be at least 1"):
            comparison.break_down(["repeated-ngrams"], top=top)


def test_equal_settings_have_equal_signatures():
    links: list[Any] = [[[(0, 0)]], [[(0, 0)]]]
    yes, one = (ce.Aligner.from_links(*links, sink=sink) for sink in (True, 1))  # type: ignore[arg-type]
    assert str(ce.DROP(one).signature) == str(ce.DROP(yes).signature)


def test_stop_words_are_a_list_whose_duplicates_do_not_count():
    for make in (ce.StopWords, ce.StopWords.of):
        with pytest.raises(TypeError, match="stop words are a list of words, not a single string"):
            make("der die")  # type: ignore[operator]
    assert str(ce.StopWords(["der", "der"])) == str(ce.StopWords.of(["der"]))  # type: ignore[arg-type]


@pytest.mark.parametrize("sources", ["a b", {"a": 1}, pd.DataFrame({"a": ["x"]}), None])
def test_texts_to_train_on_must_be_lists_of_segments(sources):
    with pytest.raises(TypeError, match="the source is a list of segments, not"):
        ce.Aligner.train(sources, ["a"])


def test_a_file_name_is_not_taken_for_an_aligner():
    with pytest.raises(TypeError, match=r"aligner must come from .*'model'"):
        ce.compare({"a": HYPS}, REFS, REFS, "model")  # type: ignore[arg-type]
