"""Tests of all pairs of systems by all metrics, with one correction over all of them.

So table, statements and gate have the same p-value for a difference, whatever the order of the
systems. A test whose p-value is within its Monte-Carlo error of the level draws more, over the
segments in an order of their own, so that the order of the segments does not decide either.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from coverage_eval.core.metric import Floats, Formula
from coverage_eval.core.report import SIGNIFICANT
from coverage_eval.core.result import Result
from coverage_eval.core.significance import (
    MAX_RESAMPLES,
    Resampled,
    SignificanceTest,
    Systems,
    holm,
    pair_tests,
)
from coverage_eval.core.tokenizers import segment_text

_TESTS_PER_FACTOR = 25
"""Tests for which the resamples asked for are enough: 1,000 for 25 give p-values from 0.025."""

_ERRORS = 3.0
"""Standard errors between a p-value and the level beyond which nothing more is drawn."""

_MAX_MORE = 150_000
"""Resamples that a test draws more, at most."""

_MAX_DRAWN = 2**28
"""Segments that they draw together, at most: some seconds."""

Named = tuple[str, frozenset[str]]
"""A test: the metric, and the two systems."""


class PValues(NamedTuple):
    """The p-value of a test of two systems, and the one after Holm's correction over all tests."""

    p_value: float
    adjusted: float


@dataclass(frozen=True)
class PairTests:
    """Tests of all pairs of systems.

    Attributes:
        number: The number of tests, all metrics together, without those of copies of a reference.
        resamples: The number of resamples of each, at least; of many tests more than were asked
            for.
        by_metric: By metric, then the two systems; empty if no resamples were asked for. Holm's
            correction is of the p-values with all that was drawn, the first figure with what was
            asked for. Tests of copies of a reference are corrected apart.
        unsure: The tests that stay within their Monte-Carlo error of the level.
        detectable: By metric, how large a difference could have been shown.
    """

    number: int
    resamples: int
    by_metric: Mapping[str, Mapping[frozenset[str], PValues]]
    unsure: Sequence[Named] = ()
    detectable: Mapping[str, float] | None = None


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
    copies = systems_as_references(result)
    compared = [pair for pair in pairs if copies.keys().isdisjoint(pair)] or pairs
    number = len(compared) * len(result.metrics)
    factor = max(1, math.ceil(number / _TESTS_PER_FACTOR))
    resamples = min(factor * test.resamples, MAX_RESAMPLES)
    if not (number and test.resamples and sampled):
        return PairTests(number, resamples, {})
    tested = pair_tests(
        metrics,
        pairs,
        test=test.test,
        resamples=resamples,
        seed=test.seed,
        sampled=sampled if factor == 1 else None,
    )
    p_values: dict[Named, float] = {
        (name, frozenset(pair)): found.p_value
        for name, column in zip(result.metrics, tested, strict=True)
        for pair, found in column.items()
    }
    formulas = dict(zip(result.metrics, metrics, strict=True))
    by_metric: dict[str, dict[frozenset[str], PValues]] = {name: {} for name in result.metrics}
    unsure: list[Named] = []
    # Tests of a copy of a reference are corrected apart, so that it changes none of the others.
    for of_copies in (False, True):
        family = {
            key: value
            for key, value in p_values.items()
            if copies.keys().isdisjoint(key[1]) != of_copies
        }
        drawn, near = _draw_more(family, resamples, test, formulas)
        unsure += near
        for (name, pair), adjusted in zip(drawn, holm([*drawn.values()]), strict=True):
            by_metric[name][pair] = PValues(p_values[name, pair], adjusted)
    # Two-sided, as strict as the smallest of Holm's levels.
    width = NormalDist().inv_cdf(1 - SIGNIFICANT / number / 2)
    detectable = {
        name: width * float(max(np.nanstd((draws[a] - draws[b]).lower) for a, b in compared))
        for name, draws in zip(result.metrics, sampled, strict=True)
    }
    return PairTests(number, resamples, by_metric, unsure, detectable)


def systems_as_references(result: Result) -> dict[str, str]:
    """The systems that are a reference word for word, each with the reference's name."""
    if result.texts is None or not result.texts.references:
        return {}
    sample = result.texts.sample
    same = {(s, r): None for s in range(len(result.systems)) for r in range(len(sample.references))}
    for rows in (sample.rows, result.texts.rows()):  # Few are the same in a sample and differ.
        for row in rows:
            if not same:
                return {}
            for system, reference in [*same]:
                texts = (row.hypotheses[system], row.references[reference] or "")
                if len({segment_text(text) for text in texts}) > 1:
                    del same[system, reference]
    return {result.systems[system]: sample.references[reference] for system, reference in same}


def _draw_more(
    p_values: Mapping[Named, float],
    resamples: int,
    test: SignificanceTest,
    metrics: Mapping[str, tuple[Formula, Systems]],
) -> tuple[dict[Named, float], list[Named]]:
    """Draw until each p-value is on one side of the level, and name those that stay on it.

    What is drawn for a test does not depend on the order of systems or of segments.
    """
    found, drawn = dict(p_values), dict.fromkeys(p_values, resamples)
    as_large: dict[Named, int] = dict.fromkeys(p_values, 0)
    ordered: dict[str, Systems] = {}
    size, total = 10_000, 0
    while near := _near_level(found, drawn):
        segments = len(next(iter(metrics[near[0][0]][1].values())))
        if total + size > min(_MAX_MORE, _MAX_DRAWN // segments):
            return found, near
        for name in {name: None for name, _ in near}:
            formula, systems = metrics[name]
            ordered.setdefault(name, _in_own_order(systems))
            pairs = {(a, b): pair for of, pair in near if of == name for a, b in [sorted(pair)]}
            (column,) = pair_tests(
                [(formula, ordered[name])], [*pairs], test=test.test, resamples=size,
                seed=test.seed + total + 1,
            )  # fmt: skip
            for both, difference in column.items():
                key = (name, pairs[both])
                if not as_large[key]:
                    drawn[key] = 0  # The first draws were those of the segments' order.
                as_large[key] += round(difference.p_value * (size + 1)) - 1
                drawn[key] += size
                found[key] = (as_large[key] + 1) / (drawn[key] + 1)
        total, size = total + size, 2 * size
    return found, []


def _near_level(p_values: Mapping[Named, float], drawn: Mapping[Named, int]) -> list[Named]:
    """The tests of which more draws might change whether they are significant after Holm."""
    adjusted = dict(zip(p_values, holm([*p_values.values()]), strict=True))
    rejected = sum(value < SIGNIFICANT for value in adjusted.values())
    near = []
    for key, p_value in p_values.items():
        others = rejected - (adjusted[key] < SIGNIFICANT)  # Rejected before it.
        level = SIGNIFICANT / (len(p_values) - others)
        error = math.sqrt(level * (1 - level) / drawn[key])
        if p_value < 1 and abs(p_value - level) <= _ERRORS * error:
            near.append(key)
    return near


def _in_own_order(systems: Systems) -> dict[str, Floats]:
    """The statistics with their segments in an order that only their values decide."""
    arrays = {name: np.asarray(rows, dtype=np.float64) for name, rows in systems.items()}
    keys = {name: b"".join(sorted(row.tobytes() for row in rows)) for name, rows in arrays.items()}
    columns = np.hstack([arrays[name] for name in sorted(arrays, key=keys.__getitem__)])
    order = np.lexsort(columns.T)
    return {name: rows[order] for name, rows in arrays.items()}
