"""Figures of detection against brute force and scikit-learn, for any labels, scores and ties."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu
from sklearn import metrics as oracle

from coverage_eval.errors import DataError
from coverage_eval.meta.detection import (
    Ranking,
    auroc,
    average_precision,
    precision_at_recall,
    precision_recall_curve,
    roc_curve,
)
from coverage_eval.meta.within_source import compare_within_sources

Cases = tuple[NDArray[np.bool_], NDArray[np.float64]]


@st.composite
def cases(draw: st.DrawFn) -> Cases:
    """Labels of both kinds, and scores with many ties."""
    labels = draw(st.lists(st.booleans(), min_size=2, max_size=40).filter(lambda x: len({*x}) == 2))
    numbers = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e6, 1e6))
    scores = draw(st.lists(numbers, min_size=len(labels), max_size=len(labels)))
    return np.array(labels), np.array(scores)


@given(cases())
def test_auroc_is_the_share_of_pairs(case: Cases) -> None:
    labels, scores = case
    pairs = itertools.product(scores[labels], scores[~labels])
    won = [(a > b) + (a == b) / 2 for a, b in pairs]
    found = float(auroc(Ranking(labels, scores).detect()))
    assert found == pytest.approx(np.mean(won), abs=1e-12)
    assert found == pytest.approx(oracle.roc_auc_score(labels, scores), abs=1e-12)
    u = mannwhitneyu(scores[labels], scores[~labels]).statistic
    assert found == pytest.approx(u / len(won), abs=1e-12)


@given(cases())
def test_average_precision_is_scikit_learns(case: Cases) -> None:
    labels, scores = case
    found = average_precision(Ranking(labels, scores).detect())
    assert float(found) == pytest.approx(oracle.average_precision_score(labels, scores), abs=1e-12)


@given(cases(), st.floats(0.01, 1))
def test_precision_at_recall_is_the_best_that_finds_as_much(case: Cases, recall: float) -> None:
    labels, scores = case
    best = 0.0
    for threshold in scores:
        found = scores >= threshold
        if (found & labels).sum() >= recall * labels.sum() * (1 - 1e-12):
            best = max(best, (found & labels).sum() / found.sum())
    assert float(precision_at_recall(Ranking(labels, scores).detect(), recall)) == best


@given(cases())
def test_curves_are_scikit_learns(case: Cases) -> None:
    labels, scores = case
    found = Ranking(labels, scores).detect()
    theirs = oracle.roc_curve(labels, scores, drop_intermediate=False)[:2]
    np.testing.assert_allclose(roc_curve(found), theirs, atol=1e-12)
    precision, recall, _ = oracle.precision_recall_curve(labels, scores)
    ours = precision_recall_curve(found)
    np.testing.assert_allclose(ours, (recall[-2::-1], precision[-2::-1]), atol=1e-12)


@given(cases(), st.data())
def test_weights_count_as_repeated_segments(case: Cases, data: st.DataObject) -> None:
    labels, scores = case
    size = len(labels)
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
    times = np.repeat(np.arange(size), weights)
    found = Ranking(labels, scores).detect(weights[None])
    figures: list[Callable[[Any], Any]] = [
        auroc, average_precision, lambda d: precision_at_recall(d, 0.6)
    ]  # fmt: skip
    if len({*labels[times].tolist()}) < 2:
        assert np.isnan(auroc(found)).all()
        return
    again = Ranking(labels[times], scores[times]).detect()
    for figure in figures:
        assert float(figure(found)[0]) == pytest.approx(float(figure(again)), abs=1e-12)


@pytest.mark.parametrize(
    ("labels", "scores", "said"),
    [
        ([1, 1], [0, 1], "each says an error"),
        ([0, 0], [0, 1], "each says no error"),
        ([0, 1], [0, np.nan], "not a finite"),
        ([0, 1], [0], "labels for"),
    ],
)
def test_what_cannot_be_ranked(labels: list[int], scores: list[float], said: str) -> None:
    with pytest.raises(DataError, match=said):
        Ranking(labels, scores)


@given(cases(), st.data())
def test_within_sources_only_translations_of_one_source_meet(
    case: Cases, data: st.DataObject
) -> None:
    labels, scores = case
    size = len(labels)
    sources = np.array(data.draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)))
    won = pairs = 0.0
    for i, j in itertools.product(range(size), repeat=2):
        if sources[i] == sources[j] and labels[i] and not labels[j]:
            pairs += 1
            won += (scores[i] > scores[j]) + (scores[i] == scores[j]) / 2
    table = compare_within_sources(labels, scores, sources)
    assert table.shape == (sources.max() + 1, 2)
    assert table.sum(axis=0).tolist() == [won, pairs]


def test_pairs_of_one_source_are_counted_without_being_made() -> None:
    scores = np.arange(40_000.0)
    tracemalloc.start()
    try:
        ((won, pairs),) = compare_within_sources(scores % 2 > 0, scores, np.zeros(40_000, int))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert pairs == 20_000**2
    assert won == 20_000 * 20_001 / 2
    assert peak < 8 << 20
