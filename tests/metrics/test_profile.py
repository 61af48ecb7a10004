"""A whole profile: which figures it has, and properties that all of them share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.errors import DataError
from coverage_eval.metrics.figures import FIGURES
from coverage_eval.metrics.named_errors import OF_PAIRS
from coverage_eval.metrics.named_figures import NAMED_FIGURES
from coverage_eval.metrics.profile import Profile, profile

RANDOM = random.Random(3)
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "then", "it", "left"]
HYPOTHESES = [" ".join(RANDOM.choices(WORDS, k=RANDOM.randrange(3, 14))) for _ in range(60)]
SOURCES = [" ".join(RANDOM.choices(WORDS, k=RANDOM.randrange(3, 14))) for _ in range(60)]
LINKS = [
    sorted({(RANDOM.randrange(3), RANDOM.randrange(3)) for _ in range(RANDOM.randrange(4))})
    for _ in range(60)
]
COLUMNS: list[list[Any]] = [HYPOTHESES, SOURCES, SOURCES, LINKS[::-1], LINKS]


def profile_of(columns: Sequence[Sequence[Any]], **options: Any) -> Profile:
    """The profile of hypotheses, references, sources, links of references and of hypotheses."""
    *texts, reference_links, hypothesis_links = columns
    aligner = Aligner.from_links(reference_links, hypothesis_links)
    return profile(*texts, aligner, **options)


FULL = profile_of(COLUMNS)


def test_keys_are_unique_and_every_figure_is_there():
    keys = [figure.key for figure in (*FIGURES, *NAMED_FIGURES)]
    assert len(set(keys)) == len(keys)
    assert [item.figure.key for item in FULL.figures] == keys


def test_signatures_tell_all_figures_apart_and_name_the_tokenizer():
    chosen = profile_of(COLUMNS, tokenize="13a").figures
    signatures = [str(item.metric.signature) for item in chosen if "links" not in item.figure.needs]
    assert len(set(signatures)) == len(signatures) == len(FIGURES) + len(NAMED_FIGURES) - 1
    of_words = [one for one in signatures if not one.startswith("named-error|kind:")]
    assert len(of_words) == len(FIGURES) - 1
    assert all("|tok:13a|" in f"{signature}|" for signature in of_words)


def test_figures_depend_on_the_texts_given():
    alone = {item.figure.key for item in profile(["a b"]).figures}
    assert {"seq-rep-1", "REP-letters-no-ref"} <= alone
    assert not alone & {"REP", "REP-src", "REP-letters", "TNG", "uncovered-source", "length-ratio"}
    with_source = {f.figure.key for f in profile(["a"], sources=["b"]).figures}
    assert with_source - alone == {"REP-src", "TNG", "length-ratio"} | OF_PAIRS


def test_text_or_tokens_order_and_processes_do_not_matter():
    tokens = [[text.split() for text in column] for column in COLUMNS[:3]] + COLUMNS[3:]
    order = RANDOM.sample(range(60), 60)
    shuffled = [[values[i] for i in order] for values in COLUMNS]
    for other in (profile_of(tokens), profile_of(shuffled), profile_of(COLUMNS, jobs=2)):
        for ours, theirs in zip(FULL.figures, other.figures, strict=True):
            assert ours.score is not None
            assert theirs.score is not None
            assert ours.score.score == pytest.approx(theirs.score.score, rel=1e-12)


def test_statistics_of_parts_add_up():
    cuts = (slice(0, 25), slice(25, 60))
    halves = [profile_of([values[part] for values in COLUMNS]) for part in cuts]
    for whole, *parts in zip(FULL.figures, *(half.figures for half in halves), strict=True):
        joined = np.concatenate([part.statistics for part in parts])
        assert np.array_equal(joined, whole.statistics)


def test_a_segment_scores_as_a_corpus_of_one():
    for number in range(5):
        single = profile_of([values[number : number + 1] for values in COLUMNS])
        for whole, item in zip(FULL.figures, single.figures, strict=True):
            expected = None if item.score is None else item.score.score
            assert whole.sentence_scores()[number] == expected


def test_undefined_figures_have_no_score():
    result = profile(["", ""], sources=["", ""])
    assert result["length-ratio"].score is None
    assert result["rep-2"].score is None
    assert result["seq-rep-4"].score is not None
    assert result["seq-rep-4"].score.score == 0
    lines = str(result).splitlines()
    assert f"{result['rep-2'].signature} undefined" in lines
    assert str(result["seq-rep-4"].score) in lines


def test_bad_texts_are_refused():
    with pytest.raises(DataError, match="the hypothesis has 1, the source has 2"):
        profile(["a"], sources=["a", "b"])
    with pytest.raises(DataError, match="no segments"):
        profile([])
    with pytest.raises(TypeError, match="not a single string"):
        profile("a b")
