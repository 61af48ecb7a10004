"""Which system to take: every pair of systems tested, ranks, and what speaks for and against."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coverage_eval.comparison.comparison import Comparison
from coverage_eval.metrics.significance import holm, paired_tests
from coverage_eval.tables.table import SIGNIFICANT


class TestedPair(NamedTuple):
    """Two systems by one metric.

    Attributes:
        metric: The metric's key among the comparison's metrics.
        better: The system with the better score; the first of the two if they are equal.
        worse: The other.
        p: The p-value of their test, after Holm's correction over all pairs of the metric.
    """

    metric: str
    better: str
    worse: str
    p: float

    @property
    def significant(self) -> bool:
        """Whether the test tells them apart."""
        return self.p < SIGNIFICANT


class Ranks(NamedTuple):
    """The places that a system can have: the first if no other is significantly better."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}–{self.last}"


@dataclass(frozen=True)
class SystemRanking:
    """All pairs of systems, and the system that they speak for.

    Attributes:
        comparison: The systems.
        systems: Those that are ranked, in their order: all but the nearly empty ones.
        metrics: Keys of the metrics that have a better side; those of errors first.
        pairs: Every pair by every metric; empty if nothing was tested.
        chosen: The system with the most significant wins, less its losses: first by metrics of
            errors, then by all metrics. Among equals the one with the best places of its scores.
        equals: The systems that no test tells apart from it.
    """

    comparison: Comparison
    systems: Sequence[str]
    metrics: Sequence[str]
    pairs: Sequence[TestedPair]
    chosen: str
    equals: Sequence[str]

    def ranks(self, metric: str, system: str) -> Ranks | None:
        """The places of a system by a metric; None if nothing was tested."""
        if not self.pairs or system not in self.systems:
            return None
        found = [pair for pair in self.pairs if pair.metric == metric and pair.significant]
        losses = sum(pair.worse == system for pair in found)
        wins = sum(pair.better == system for pair in found)
        return Ranks(1 + losses, len(self.systems) - wins)

    def beaten(self, metric: str) -> list[TestedPair]:
        """The pairs in which the chosen system is significantly better."""
        return self._significant(metric, self.chosen, "better")

    def beating(self, metric: str) -> list[TestedPair]:
        """The pairs in which the chosen system is significantly worse."""
        return self._significant(metric, self.chosen, "worse")

    def _significant(self, metric: str, system: str, side: str) -> list[TestedPair]:
        return [
            pair
            for pair in self.pairs
            if pair.metric == metric and pair.significant and getattr(pair, side) == system
        ]


def is_of_errors(comparison: Comparison, name: str) -> bool:
    """Whether a metric counts errors: lower is better, and it has no points like BLEU."""
    metric = comparison.metrics[name]
    return metric.higher_is_better is False and not metric.in_points


def rank_systems(comparison: Comparison, doubtful: Collection[str] = ()) -> SystemRanking | None:
    """Test every pair of systems, as the comparison tests them against its baseline.

    Args:
        comparison: The systems.
        doubtful: Keys of metrics that have no say.

    Returns:
        The ranking; None if fewer than two systems say anything, or no metric has a better side.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    systems = [system for system in comparison.rows if system not in comparison.silent]
    metrics = [
        name
        for name, metric in comparison.metrics.items()
        if metric.higher_is_better is not None and metric.decides and name not in doubtful
    ]
    metrics.sort(key=lambda name: not is_of_errors(comparison, name))
    if len(systems) < 2 or not metrics:
        return None
    pairs = _test_pairs(comparison, systems, metrics) if comparison.test.resamples else []
    of_errors = {name for name in metrics if is_of_errors(comparison, name)}

    def merit(system: str) -> tuple[int, int, int]:
        won = [p.metric for p in pairs if p.significant and p.better == system]
        lost = [p.metric for p in pairs if p.significant and p.worse == system]
        net = len(won) - len(lost)
        among_errors = sum(m in of_errors for m in won) - sum(m in of_errors for m in lost)
        return among_errors, net, -sum(places[name][system] for name in metrics)

    places = {name: _places(comparison, name, systems) for name in metrics}
    chosen = max(systems, key=merit)
    apart = {pair.worse for pair in pairs if pair.significant and pair.better == chosen}
    apart |= {pair.better for pair in pairs if pair.significant and pair.worse == chosen}
    equals = [system for system in systems if system != chosen and system not in apart]
    return SystemRanking(comparison, systems, metrics, pairs, chosen, equals)


def _places(comparison: Comparison, name: str, systems: Sequence[str]) -> Mapping[str, int]:
    """The place of each system by its score, from 0; equal scores share one."""
    sign = -1 if comparison.metrics[name].higher_is_better else 1
    values = {system: sign * comparison.rows[system][name].score.score for system in systems}
    return {system: sum(v < values[system] for v in values.values()) for system in systems}


def _test_pairs(
    comparison: Comparison, systems: Sequence[str], metrics: Sequence[str]
) -> list[TestedPair]:
    how, result = comparison.test, comparison.measured
    statistics = {
        name: dict(zip(result.systems, result.statistics[name], strict=True)) for name in metrics
    }
    found: dict[str, list[TestedPair]] = {name: [] for name in metrics}
    for number, first in enumerate(systems[:-1]):
        rest = systems[number:]
        columns = [
            (comparison.metrics[name], {system: statistics[name][system] for system in rest})
            for name in metrics
        ]
        tests = paired_tests(columns, first, test=how.test, resamples=how.resamples, seed=how.seed)
        for name, of_metric in zip(metrics, tests, strict=True):
            sign = 1 if comparison.metrics[name].higher_is_better else -1
            for system, test in of_metric.items():
                ordered = (system, first) if sign * test.difference > 0 else (first, system)
                found[name].append(TestedPair(name, *ordered, test.p_value))
    return [
        pair._replace(p=p)
        for pairs in found.values()
        for pair, p in zip(pairs, holm([pair.p for pair in pairs]), strict=True)
    ]
