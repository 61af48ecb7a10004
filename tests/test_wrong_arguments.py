"""Calls with a mistake give no plausible number; their errors say what is expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import coverage_eval as ce
from coverage_eval.core.errors import DataError
from coverage_eval.core.metric import setting
from coverage_eval.repetition.rep import REP

HYPS, REFS = ["a red red house", "the dog the dog"], ["a red house", "the dog sleeps"]
LINKS = ce.Aligner.from_links([[(0, 0)], [(0, 0)]], [[(0, 0)], []])


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (pd.Series(HYPS), pd.DataFrame({"a": REFS, "b": REFS}), "list of segments, not DataFrame"),
        (None, REFS, "the hypothesis is a list of segments, not NoneType"),
        (HYPS, [REFS, None], "reference 2 is a list of segments, not NoneType"),
    ],
)
def test_texts_must_be_lists_of_segments(hypotheses, references, message):
    with pytest.raises(TypeError, match=message):
        ce.rep(hypotheses, references)


def test_tokens_may_hold_spaces():
    tokens = [["10 000", "houses"], ["20 000"]]
    assert float(ce.rep(tokens, tokens)) == 0


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: ce.rep(HYPS, REFS, tok="13a"), TypeError, "unexpected keyword argument 'tok'"),
        (lambda: ce.bleu(HYPS, REFS, smooth="foo"), ValueError, "smooth must be one of exp, "),
        (lambda: ce.rep(HYPS, REFS, w1="1"), TypeError, "w1 must be a number, not '1'"),
        (lambda: ce.rep(HYPS, REFS, jobs=-1), ValueError, "jobs must be at least 1, not -1"),
        (lambda: ce.rep(HYPS, REFS, resamples="9"), TypeError, "resamples must be a whole .* '9'"),
        (lambda: ce.drop(HYPS, REFS, None, "model"), TypeError, "aligner must come from .*'model'"),
        (lambda: ce.DROP(LINKS, stopwords={"der"}), TypeError, "stopwords must come from"),
        (lambda: ce.StopWords.of("der die"), TypeError, "a list of words, not a single string"),
    ],
)
def test_errors_name_the_wrong_option(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize(
    ("systems", "options", "kind", "message"),
    [
        ([HYPS, REFS], {}, TypeError, "systems must map names .* not list"),
        ({"a": HYPS}, {"metrics": [ce.REP]}, TypeError, "an object such as REP"),
        ({"x\ud800": HYPS}, {}, DataError, r"the name of a system: x\\ud800 has half a character"),
        ({"a": HYPS}, {"references": None, "metrics": "rep"}, TypeError, "REP needs references"),
    ],
)
def test_wrong_arguments_of_compare_are_refused(systems, options, kind, message):
    with pytest.raises(kind, match=message):
        ce.compare(systems, **{"references": REFS, "resamples": 0} | options)


def test_a_string_is_not_taken_for_a_list_of_words():
    weights = [[1.0, 0.0], [0.0, 1.0]]
    for texts in (("ab", ["x", "y"]), (["a", "b"], "xy")):
        with pytest.raises(TypeError, match="must be a list of words, not a string"):
            ce.plotting.attention_heatmap(weights, *texts)
        with pytest.raises(DataError, match="is a list of tokens, not a single string"):
            ce.attention_maps.AttentionMap(np.array(weights), *texts)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Own(REP):
    """A user's metric, whose settings have no upper end."""

    times: int = setting(2, "Count from this number on.", min=1)
    share: float = setting(0.5, "Count from this share on.", min=0)


@pytest.mark.parametrize("wrong", [{"times": 0}, {"share": -0.1}, {"share": float("nan")}])
def test_a_setting_may_have_no_upper_end(wrong):
    assert Own(times=10**9, share=1e9).times == 10**9
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be "):
        Own(**wrong)
