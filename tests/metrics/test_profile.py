"""A whole profile: which figures it has, and properties that all of them share."""

from __future__ import annotations

import random

import numpy as np
import pytest

from coverage_eval.errors import DataError
from coverage_eval.metrics.profile import FIGURES, profile, select_figures

RANDOM = random.Random(3)
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "then", "it", "left"]
HYPOTHESES = [" ".join(RANDOM.choices(WORDS, k=RANDOM.randrange(14))) for _ in range(60)]
SOURCES = [" ".join(RANDOM.choices(WORDS, k=RANDOM.randrange(14))) for _ in range(60)]
LINKS = [
    sorted({(RANDOM.randrange(3), RANDOM.randrange(3)) for _ in range(RANDOM.randrange(4))})
    for _ in range(60)
]
COLUMNS = {
    "hypotheses": HYPOTHESES,
    "references": SOURCES,
    "sources": SOURCES,
    "hypothesis_links": LINKS,
    "reference_links": LINKS[::-1],
}
FULL = profile(**COLUMNS)


def test_keys_are_unique_and_every_figure_is_there() -> None:
    keys = [figure.key for figure in FIGURES]
    assert len(set(keys)) == len(keys)
    assert [item.figure.key for item in FULL.figures] == keys


def test_signatures_tell_all_figures_apart_and_name_the_tokenizer() -> None:
    chosen = select_figures(COLUMNS, tok="13a")
    signatures = [str(figure.metric.signature()) for figure in chosen]
    assert len(set(signatures)) == len(signatures)
    assert all("|tok:13a|" in f"{signature}|" for signature in signatures)


def test_figures_follow_from_what_is_given() -> None:
    alone = {item.figure.key for item in profile(hypotheses=["a b"]).figures}
    assert "seq-rep-1" in alone
    assert not alone & {"REP", "REP-src", "TNG", "CDR", "uncovered-source", "length-ratio"}
    with_source = {f.figure.key for f in profile(hypotheses=["a"], sources=["b"]).figures}
    assert with_source - alone == {"REP-src", "TNG", "TNG-strict", "length-ratio"}


def test_text_or_tokens_order_and_processes_do_not_matter() -> None:
    tokens = {
        name: [c.split() for c in values] if isinstance(values[0], str) else values
        for name, values in COLUMNS.items()
    }
    order = RANDOM.sample(range(60), 60)
    shuffled = {name: [values[i] for i in order] for name, values in COLUMNS.items()}
    for other in (profile(**tokens), profile(**shuffled), profile(jobs=2, **COLUMNS)):
        for ours, theirs in zip(FULL.figures, other.figures, strict=True):
            assert ours.score is not None
            assert theirs.score is not None
            assert ours.score.value == pytest.approx(theirs.score.value, rel=1e-12)


def test_statistics_of_parts_add_up() -> None:
    halves = [profile(**{n: v[part] for n, v in COLUMNS.items()}) for part in PARTS]
    for whole, *parts in zip(FULL.figures, *(half.figures for half in halves), strict=True):
        joined = np.concatenate([part.statistics for part in parts])
        assert np.array_equal(joined, whole.statistics)


PARTS = (slice(0, 25), slice(25, 60))


def test_a_segment_scores_as_a_corpus_of_one() -> None:
    for number in range(5):
        single = profile(**{name: values[number : number + 1] for name, values in COLUMNS.items()})
        for whole, item in zip(FULL.figures, single.figures, strict=True):
            expected = None if item.score is None else item.score.value
            assert whole.sentence_scores()[number] == expected


def test_undefined_figures_have_no_score() -> None:
    result = profile(hypotheses=["", ""], sources=["", ""])
    assert result["length-ratio"].score is None
    assert result["rep-2"].score is None
    assert result["seq-rep-4"].score is not None
    assert result["seq-rep-4"].score.value == 0


def test_bad_columns_are_refused() -> None:
    with pytest.raises(DataError, match="1 hypotheses, 2 sources"):
        profile(hypotheses=["a"], sources=["a", "b"])
    with pytest.raises(DataError, match="no segments"):
        profile(hypotheses=[])
    with pytest.raises(TypeError, match="hypothesis_links"):
        profile(hypotheses=["a"], hypothesis_link=[[]])
    with pytest.raises(TypeError, match="hypotheses"):
        profile(sources=["a"])
