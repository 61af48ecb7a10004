"""Tests of all pairs of systems by all metrics, with one correction over all of them.

So among equal systems a comparison claims a difference in 3 of 100 cases at most, whatever their
order and however the best one is picked, and table, verdict and gate have the same p-value for a
difference. Resamples are multiplied so that the smallest p-value stays decisive for any number of
tests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from coverage_eval.core.metric import Formula
from coverage_eval.core.report import DECISIVE
from coverage_eval.core.result import Result
from coverage_eval.core.significance import (
    MAX_RESAMPLES,
    Resampled,
    SignificanceTest,
    Systems,
    holm,
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
        number: The number of tests, all metrics together.
        resamples: The number of resamples of each; of many tests more than were asked for.
        min_resamples: How many must be asked for so that a test can show a difference; None if no
            number is enough.
        by_metric: By metric, then the two systems; empty if no resamples were asked for.
    """

    number: int
    resamples: int
    min_resamples: int | None
    by_metric: Mapping[str, Mapping[frozenset[str], PValues]]


def make_tests(
    result: Result,
    test: SignificanceTest,
    metrics: Sequence[tuple[Formula, Systems]],
    sampled: Sequence[Mapping[str, Resampled]] | None,
) -> PairTests:
    """Test all pairs of systems by all metrics.

    Args:
        result: The result of the evaluation.
        test: How systems are tested.
        metrics: Its metrics, each with the statistics ``[segments, k]`` of every system.
        sampled: Bootstrap scores of the same metrics, if they are known.
    """
    pairs = [*combinations(result.systems, 2)]
    number = len(pairs) * len(result.metrics)
    factor = max(1, math.ceil(number / _TESTS_PER_FACTOR))
    # The smallest p-value is 1 / (resamples + 1), times the number of tests after the correction.
    needed = math.floor(number / DECISIVE)
    tests = PairTests(
        number,
        resamples=min(factor * test.resamples, MAX_RESAMPLES),
        min_resamples=math.ceil(needed / factor) if needed <= MAX_RESAMPLES else None,
        by_metric={},
    )
    if not (number and test.resamples):
        return tests
    tested = pair_tests(
        metrics,
        pairs,
        test=test.test,
        resamples=tests.resamples,
        seed=test.seed,
        sampled=sampled if factor == 1 else None,
    )
    p_values = [
        1.0 if abs(found.difference) < metric.min_difference else found.p_value
        for metric, column in zip(result.metrics.values(), tested, strict=True)
        for found in column.values()
    ]
    both = map(PValues, p_values, holm(p_values))
    by_pair = {
        name: {frozenset(pair): next(both) for pair in column}
        for name, column in zip(result.metrics, tested, strict=True)
    }
    return tests._replace(by_metric=by_pair)
