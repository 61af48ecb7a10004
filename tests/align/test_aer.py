"""AER, precision, recall and F1: a worked example, an oracle, invariants and errors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.align.gold import AER, F1, Gold, Precision, Recall, aer
from coverage_eval.core.errors import DataError

positions = st.integers(0, 5)
link_sets = st.sets(st.tuples(positions, positions), max_size=10)
corpora = st.lists(st.tuples(link_sets, link_sets, link_sets), min_size=1, max_size=5)


def columns(corpus):
    return [list(column) for column in zip(*corpus, strict=True)]


def test_a_worked_example():
    # A has 4 links, 2 of them sure and 3 possible; 3 links are sure.
    links = [[(0, 0), (1, 1), (2, 2)], [(0, 1)]]
    sure = [[(0, 0), (1, 1), (3, 3)], []]
    possible = [[(0, 0)], [(0, 1)]]
    scores = aer(links, sure, possible)
    assert [score.score for score in scores] == pytest.approx(
        [100 * (1 - 5 / 7), 75, 200 / 3, 100 * 2 * 0.75 * (2 / 3) / (0.75 + 2 / 3)]
    )
    assert [score.metric for score in scores] == ["AER", "precision", "recall", "F1"]
    assert scores[0].statistics == {
        "links": 4, "sure_links": 3, "sure_links_found": 2, "possible_links_found": 3,
    }  # fmt: skip


@given(corpora)
def test_scores_agree_with_counting_link_by_link(corpus):
    a = s = both = likely = 0
    for links, sure, possible in corpus:
        for link in {*links, *sure, *possible}:
            a += link in links
            s += link in sure
            both += link in links and link in sure
            likely += link in links and (link in sure or link in possible)
    if not a or not s:
        return
    error, precision, recall, f1 = (score.score / 100 for score in aer(*columns(corpus)))
    assert error == pytest.approx(1 - (both + likely) / (a + s))
    assert precision == pytest.approx(likely / a)
    assert recall == pytest.approx(both / s)
    assert f1 * (precision + recall) == pytest.approx(2 * precision * recall)
    assert 0 <= error <= 1


def test_segments_with_a_denominator_of_0_have_no_score():
    rows = [([], Gold((), ())), ([(0, 0)], Gold((), ())), ([], Gold(((0, 0),), ()))]
    statistics = AER.count(rows)
    assert AER().segment_scores(statistics) == [None, 100, 100]
    assert Precision().segment_scores(statistics) == [None, 0, None]
    assert Recall().segment_scores(statistics) == [None, None, 0]
    assert F1().segment_scores(statistics) == [None, None, None]


def test_f1_is_0_if_no_gold_link_is_found():
    assert [score.score for score in aer([[(0, 0)]], [[(1, 1)]])] == [100, 0, 0, 0]


@pytest.mark.parametrize(
    ("links", "sure", "message"),
    [
        ([], [], "no pairs to compare: the files are empty"),
        ([[]], [[]], "AER: there are neither links nor sure gold links"),
        ([[]], [[(0, 0)]], "precision: there are no links"),
        ([[(0, 0)]], [[]], "recall: there are no sure gold links"),
    ],
)
def test_an_undefined_score_is_an_error_that_says_why(links, sure, message):
    with pytest.raises(DataError) as caught:
        aer(links, sure)
    assert str(caught.value) == message
