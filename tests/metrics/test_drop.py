"""DROP and soft DROP against their definitions, the script's treatment of empty lines, evidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.errors import DataError
from coverage_eval.metrics.drop import DROP, AlignedSegment, AlignmentSettings, DroppedWord
from coverage_eval.metrics.soft_drop import CoveredSegment, SoftDROP, coverage
from coverage_eval.metrics.stopwords import StopWords
from tests.metrics import oracles

LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=6)
ROWS = st.lists(st.tuples(LINKS, LINKS), min_size=1, max_size=6)
SOURCE = "v w x y z"


@given(ROWS)
def test_agrees_with_the_definition(
    rows: list[tuple[set[tuple[int, int]], set[tuple[int, int]]]],
) -> None:
    ref, hyp = zip(*rows, strict=True)
    metric = DROP()
    statistics = metric.statistics(ref, hyp)
    if not any(ref):
        with pytest.raises(DataError, match="no source word is aligned with the reference"):
            metric.corpus_score(statistics)
        return
    assert metric.corpus_score(statistics).value == oracles.drop(ref, hyp)
    evidence = [len(metric.evidence(AlignedSegment(SOURCE, *row))) for row in rows]
    assert evidence == statistics[:, 0].tolist()


@given(ROWS)
def test_compat_agrees_with_the_script(
    rows: list[tuple[set[tuple[int, int]], set[tuple[int, int]]]],
) -> None:
    ref, hyp = zip(*rows, strict=True)
    lines = [
        [" ".join(f"{i}-{j}" for i, j in sorted(links)) for links in column]
        for column in (ref, hyp)
    ]
    metric = DROP(compat="acl2018")
    value = metric.corpus_score(metric.statistics(ref, hyp)).value
    assert value == pytest.approx(oracles.drop_script(*lines))


def test_the_measured_case_of_an_empty_line() -> None:
    """Half of two words dropped and an empty pair: 50 %, and 33.33 % by the script."""
    ref, hyp = [{(0, 0), (1, 1)}, set()], [{(0, 0)}, set()]
    for compat, expected in ((None, 50.0), ("acl2018", 100 / 3)):
        metric = DROP(compat=compat)
        assert metric.corpus_score(metric.statistics(ref, hyp)).value == pytest.approx(expected)


def test_undefined_segments_are_none() -> None:
    metric = DROP()
    statistics = metric.statistics([set(), {(0, 0)}], [{(0, 0)}, set()])
    assert metric.sentence_scores(statistics) == [None, 100.0]


def test_all_source_words_as_denominator() -> None:
    metric = DROP(denominator="source")
    statistics = metric.statistics([{(0, 0), (1, 0)}], [{(0, 0)}], [SOURCE])
    assert metric.corpus_score(statistics).value == 100 / 5


def test_stop_words_are_neither_dropped_nor_expected() -> None:
    stop = StopWords.of(["w", " ", "nothing"])
    ref, hyp = [{(0, 0), (1, 0), (2, 0)}], [{(0, 0)}]
    for denominator, expected in (("aligned", 2), ("source", 4)):
        metric = DROP(denominator=denominator, stopwords=stop)
        assert metric.statistics(ref, hyp, [SOURCE]).tolist() == [[1, expected]]
    assert metric.evidence(AlignedSegment(SOURCE, ref[0], hyp[0])) == [DroppedWord(2, "x")]
    assert "|stop:2-" in str(metric.signature())


def test_the_sink_does_not_count() -> None:
    metric = DROP(alignment=AlignmentSettings(sink=True))
    assert metric.statistics([{(0, 0), (5, 1)}], [set()], [SOURCE]).tolist() == [[1, 1]]


@pytest.mark.parametrize(
    "metric",
    [
        DROP(denominator="source"),
        DROP(stopwords=StopWords.of(["a"])),
        DROP(alignment=AlignmentSettings(sink=True)),
    ],
)
def test_sources_are_asked_for_where_they_are_needed(metric: DROP) -> None:
    with pytest.raises(DataError, match="source text is needed"):
        metric.statistics([{(0, 0)}], [set()])


@pytest.mark.parametrize("settings", [{"denominator": "target"}, {"compat": "acl2019"}])
def test_settings(settings: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must be"):
        DROP(**settings)  # type: ignore[arg-type]


class TestSoft:
    def test_by_hand(self) -> None:
        ref = coverage(np.array([[0.9, 0.1, 0.0], [0.6, 0.3, 0.0]]))
        hyp = coverage(np.array([[0.5, 0.5, 0.0]]))
        assert ref.tolist() == [1.0, 0.4, 0.0]
        metric = SoftDROP()
        statistics = metric.statistics([ref], [hyp], ["x y z"])
        assert statistics.tolist() == [[0.5, 1.4]]
        assert metric.corpus_score(statistics).value == pytest.approx(100 * 0.5 / 1.4)
        (lost,) = metric.evidence(CoveredSegment("x y z", ref, hyp))
        assert (lost.position, lost.word, lost.lost) == (0, "x", 0.5)

    def test_an_empty_text_covers_nothing(self) -> None:
        assert coverage(np.zeros((0, 3))).tolist() == [0, 0, 0]

    @given(st.integers(1, 5), st.integers(0, 4), st.integers(0, 2**32 - 1))
    def test_between_0_and_100(self, words: int, length: int, seed: int) -> None:
        generator = np.random.default_rng(seed)
        ref, hyp = (coverage(generator.random((n, words))) for n in (length + 1, length))
        metric = SoftDROP()
        value = metric.corpus_score(metric.statistics([ref], [hyp], ["w " * words])).value
        assert 0 <= value <= 100
        same = metric.statistics([ref], [ref], ["w " * words])
        assert metric.corpus_score(same).value == 0

    def test_sink_and_stop_words_are_left_out(self) -> None:
        metric = SoftDROP(StopWords.of(["y"]), AlignmentSettings(sink=True))
        ref, hyp = np.array([1.0, 1.0, 1.0]), np.array([0.25, 0.0, 0.0])
        assert metric.statistics([ref], [hyp], ["x y"]).tolist() == [[0.75, 1.0]]
        assert [item.word for item in metric.evidence(CoveredSegment("x y", ref, hyp))] == ["x"]

    def test_no_coverage_at_all(self) -> None:
        metric = SoftDROP()
        with pytest.raises(DataError, match="covers no source word"):
            metric.corpus_score(metric.statistics([np.zeros(1)], [np.zeros(1)], ["x"]))
