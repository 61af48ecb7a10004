"""DROP and soft DROP: their definitions, the authors' script, evidence and errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.align.aligner import Aligner
from coverage_eval.align.rows import AlignedRow, CoveredRow
from coverage_eval.api import soft_drop
from coverage_eval.core.batches import Batch, Row
from coverage_eval.core.errors import DataError
from coverage_eval.core.mark import Mark
from coverage_eval.core.tokenizers import StopWords
from coverage_eval.coverage.drop import DROP, FittedSoftDROP, SoftDROP
from coverage_eval.outputs.output_errors import OutputErrorFinder
from tests.repetition import oracles
from tests.rows import statistics_of

LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6)
ROWS = st.lists(st.tuples(LINKS, LINKS), min_size=1, max_size=6)
SOURCE = "v w x y z"
NOTHING = Aligner.from_links([], [])


def drop_of(
    ref: Sequence[Any], hyp: Sequence[Any], sources: list[str] | None = None, **settings: Any
) -> tuple[DROP, Any]:
    """DROP with links, and its statistics of one system."""
    sink = settings.pop("sink", False)
    metric = DROP(Aligner.from_links(list(ref), list(hyp), sink=sink), **settings)
    text = ["t t t t t"] * len(ref)
    return metric, statistics_of(metric, text, text, sources)


def found(metric: DROP, ref: Any, hyp: Any, source: str | None = SOURCE) -> tuple[Mark, ...]:
    """The marks of one segment."""
    row = AlignedRow(None if source is None else source.split(), (tuple(ref),), (tuple(hyp),))
    batch = Batch([Row(("",), source=source)])
    batch.computed[metric.requests()[0].key] = [row]
    ((evidence,),) = metric.explain(batch)
    return evidence.marks


@given(ROWS)
def test_agrees_with_the_definition(rows):
    ref, hyp = zip(*rows, strict=True)
    metric, statistics = drop_of(ref, hyp)
    if not any(ref):
        with pytest.raises(DataError, match="no source word is aligned with the reference"):
            metric.score(statistics)
        return
    assert metric.score(statistics).score == oracles.drop(ref, hyp)
    evidence = [len(found(metric, *row)) for row in rows]
    assert evidence == statistics[:, 0].tolist()


@given(ROWS)
def test_compat_agrees_with_the_script(rows):
    ref, hyp = zip(*rows, strict=True)
    lines = [
        [" ".join(f"{i}-{j}" for i, j in sorted(links)) for links in column]
        for column in (ref, hyp)
    ]
    metric, statistics = drop_of(ref, hyp, compat="acl2018")
    value = metric.score(statistics).score
    assert value == pytest.approx(oracles.drop_script(*lines))


def test_a_segment_without_expected_words_has_no_score():
    metric, statistics = drop_of([set(), {(0, 0)}], [{(0, 0)}, set()])
    assert metric.scores_of(statistics) == [None, 100.0]


def test_stop_words_are_not_counted_on_either_side():
    stop = StopWords.of(["w", " ", "nothing"])
    ref, hyp = [{(0, 0), (1, 0), (2, 0)}], [{(0, 0)}]
    for denominator, expected in (("aligned", 2), ("source", 4)):
        metric, statistics = drop_of(ref, hyp, [SOURCE], denominator=denominator, stopwords=stop)
        assert statistics.tolist() == [[1, expected]]
    assert found(metric, ref[0], hyp[0]) == (
        Mark("source", ((4, 5),), "dropped", "x", label="x at 3"),
    )
    assert re.search(r"\|stop:2-[0-9a-f]{8}\|", str(metric.get_signature()))


def test_only_words_that_all_references_translate_are_expected():
    aligner = Aligner.from_links([[{(0, 0), (1, 0)}], [{(0, 0), (2, 0)}]], [[set()], [{(1, 0)}]])
    row = Row(("a", "a"), ("a", "a"), SOURCE)
    metric = DROP(aligner)
    statistics = metric.count(Batch([row]))
    assert statistics.tolist() == [[[1, 1]], [[1, 1]]]
    assert "|refs:2|" in str(metric.signature_for(references=2))


def soft_of(
    ref: Sequence[Any], hyp: Any, source: str, stopwords: StopWords | None = None
) -> tuple[SoftDROP, list[float], tuple[Mark, ...]]:
    """Soft DROP of one segment by coverages: the metric, its statistics and its evidence."""
    metric = SoftDROP(NOTHING, stopwords or StopWords())
    row = CoveredRow(source.split(), tuple(map(np.asarray, ref)), (np.asarray(hyp),))
    batch = Batch([Row(("",), source=source)])
    fitted = FittedSoftDROP(metric, OutputErrorFinder.learn([]))
    for request, answer in zip(fitted.requests(), (row, [()]), strict=True):
        batch.computed[request.key] = [answer]
    statistics = fitted.count(batch)[0]
    ((evidence,),) = fitted.explain(batch)
    return metric, statistics[0].tolist(), evidence.marks


class TestSoft:
    def test_a_worked_example(self):
        metric, statistics, (lost,) = soft_of([[1.0, 0.4, 0.0]], [0.5, 0.5, 0.0], "x y z")
        assert statistics == [0.5, 1.4]
        assert float(metric.formula(np.array(statistics))) == pytest.approx(100 * 0.5 / 1.4)
        assert (lost.spans, lost.text, lost.amount) == (((0, 1),), "x", 0.5)
        assert str(lost) == "x at 1: 1.00 to 0.50"

    @given(st.integers(1, 5), st.integers(0, 4), st.integers(0, 2**32 - 1))
    def test_scores_are_from_0_to_100(self, words, length, seed):
        generator = np.random.default_rng(seed)
        ref, hyp = (
            np.minimum(1, generator.random((n, words)).sum(axis=0)) for n in (length + 1, length)
        )
        metric, statistics, _ = soft_of([ref], hyp, "w " * words)
        assert 0 <= float(metric.formula(np.array(statistics))) <= 100
        assert soft_of([ref], ref, "w " * words)[1][0] == 0

    def test_stop_words_are_left_out(self):
        _, statistics, lost = soft_of([[1.0, 1.0]], [0.25, 0.0], "x y", StopWords.of(["y"]))
        assert statistics == [0.75, 1.0]
        assert [mark.text for mark in lost] == ["x"]

    def test_the_smallest_coverage_of_several_references_is_expected(self):
        _, statistics, lost = soft_of([[1.0, 0.25], [0.5, 1.0]], [0.0, 0.25], "x y")
        assert statistics == [0.5, 0.75]
        assert [mark.detail["reference"] for mark in lost] == [0.5]


def test_a_copied_word_covers_nothing(demonstration):
    """The model knows the words of its source as such, so a copy once covered itself."""
    lines = [
        (demonstration / f"test.{side}").read_text().splitlines()[:90] for side in ("de", "en")
    ]
    sources, references = lines
    outputs = [s if n % 3 == 0 else r for n, (s, r) in enumerate(zip(*lines, strict=True))]
    with Aligner.load(demonstration / "model") as aligner:
        score = soft_drop(outputs, references, sources, aligner)
        shares = score.to_frame("segments")["score"].tolist()
        assert float(soft_drop(references, references, sources, aligner)) == 0
    copied = [n for n, share in enumerate(shares) if share > 80]
    assert all(n % 3 == 0 for n in copied)
    assert len(copied) >= 28  # but for a short one
    assert "|untranslated:lost|" in str(score)
