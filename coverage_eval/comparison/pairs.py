"""Tests of all pairs of systems by all columns, with one correction over all of them.

So among equal systems a comparison claims a difference in 3 of 100 cases at most, whatever their
order and however the best one is picked, and table, verdict and gate have the same p-value for a
difference. Resamples are multiplied so that the smallest p-value stays decisive for any number of
tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from coverage_eval.core.metric import Formula, Statistics
from coverage_eval.core.report import DECISIVE
from coverage_eval.core.result import Result
from coverage_eval.core.significance import (
    MAX_RESAMPLES,
    Resampled,
    SignificanceTest,
    holm,
    min_resamples,
    pair_tests,
)

_TESTS_PER_FACTOR = 25
"""Tests for which the resamples asked for are enough: 1,000 for 25 give p-values from 0.025."""


class PValues(NamedTuple):
    """The p-value of a test of two systems, and the one after Holm's correction over all tests."""

    p_value: float
    adjusted: float


class PairTests(NamedTuple):
    """Tests of all pairs of systems.

    Attributes:
        number: The number of tests, all columns together.
        factor: How many times the resamples asked for are drawn, if there are so many.
        columns: By metric, then the two systems; empty if no resamples were asked for.
    """

    number: int
    factor: int
    columns: Mapping[str, Mapping[frozenset[str], PValues]]

    def drawn(self, resamples: int) -> int:
        """How many resamples are drawn where so many were asked for."""
        return min(self.factor * resamples, MAX_RESAMPLES)

    def min_resamples(self) -> int | None:
        """How many must be asked for so that a test can show a difference.

        None if no number is enough.
        """
        needed = min_resamples(self.number, DECISIVE)
        return math.ceil(needed / self.factor) if needed <= MAX_RESAMPLES else None


def make_tests(
    result: Result, test: SignificanceTest, sampled: Sequence[Mapping[str, Resampled]] | None
) -> PairTests:
    """Test all pairs of systems by all metrics.

    Args:
        result: What was measured.
        test: How systems are tested.
        sampled: Bootstrap scores of the same metrics, if they are known.
    """
    pairs = [*combinations(result.systems, 2)]
    number = len(pairs) * len(result.metrics)
    tests = PairTests(number, max(1, math.ceil(number / _TESTS_PER_FACTOR)), {})
    if not (number and test.resamples):
        return tests
    tested = pair_tests(
        statistics_by_system(result, result.metrics),
        pairs,
        test=test.test,
        resamples=tests.drawn(test.resamples),
        seed=test.seed,
        sampled=sampled if tests.factor == 1 else None,
    )
    p_values = [
        1.0 if _is_small(result, name, pair) else found.p_value
        for name, column in zip(result.metrics, tested, strict=True)
        for pair, found in column.items()
    ]
    both = map(PValues, p_values, holm(p_values))
    columns = {
        name: {frozenset(pair): next(both) for pair in column}
        for name, column in zip(result.metrics, tested, strict=True)
    }
    return tests._replace(columns=columns)


def _is_small(result: Result, name: str, pair: Iterable[str]) -> bool:
    """Whether the scores of two systems differ by less than tells anything."""
    metric = result.metrics[name]
    sums = [result.statistics_of(name, system).sum(axis=0) for system in pair]
    one, other = (float(metric.formula(summed)) for summed in sums)
    return abs(one - other) < metric.min_difference


def statistics_by_system(
    result: Result, names: Iterable[str]
) -> list[tuple[Formula, dict[str, Statistics]]]:
    """Metrics, each with the statistics ``[segments, k]`` of every system."""
    return [
        (result.metrics[name], dict(zip(result.systems, result.statistics[name], strict=True)))
        for name in names
    ]
