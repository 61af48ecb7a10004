"""What a verdict is made from: scores, tests of all pairs of systems, and faults that need no test.

All pairs are tested by all columns that count, after Holm's correction over all of these tests. So
among equal systems a verdict claims a difference in 5 of 100 cases, whatever their order and
however the best one is picked, and its p-values are greater than those of the table. Resamples are
multiplied so that the smallest p-value stays below 0.05 for any number of tests.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from coverage_eval.core.errors import CheckId, Severity
from coverage_eval.core.metric import Formula, Measure, Metric, Statistics
from coverage_eval.core.report import SIGNIFICANT
from coverage_eval.core.result import Result
from coverage_eval.core.significance import (
    MAX_RESAMPLES,
    SignificanceTest,
    holm,
    min_resamples,
    pair_tests,
)
from coverage_eval.documents.feature import Documents
from coverage_eval.outputs.named import GUESSES, KINDS, NamedErrors, main_error

if TYPE_CHECKING:
    from coverage_eval.coverage.trust import Trust

MANY_OUTPUTS = 0.02
"""Share of outputs with a named error, or of missing lines, from which on few other errors are no
merit."""

MIN_OUTPUTS = 3
"""Fewer outputs with a named error are not many, however few segments there are."""

PADDING = frozenset({"loop", "preamble", "note"})
"""Named errors that add words, which the source's words may seem to be translated by."""

CERTAIN = tuple(kind for kind in KINDS if kind not in GUESSES)
"""Named errors that are no guesses."""

_TESTS_PER_FACTOR = 25
"""Tests for which the resamples asked for are enough: 1,000 for 25 give p-values from 0.025."""


class PairTest(NamedTuple):
    """Two systems by one metric.

    Attributes:
        metric: The metric's key.
        better: The system with the better score; any of the two if they are equal.
        worse: The other.
        p_value: The p-value of their test after Holm's correction.
    """

    metric: str
    better: str
    worse: str
    p_value: float


class LineFaults(NamedTuple):
    """Lines of documents that a system leaves out, and text that belongs to no line.

    Attributes:
        lines: Number of lines with words.
        missing: Number of them without a translation.
        ranges: The first and the last line of each missing passage, from 1.
        is_elsewhere: Whether the missing lines may stand at other places of the output.
        extra: The share of the output's words that belong to no line, 0 to 1.
    """

    lines: int
    missing: int
    ranges: Sequence[tuple[int, int]]
    is_elsewhere: bool
    extra: float

    @property
    def missing_share(self) -> float:
        """The share of lines without a translation, 0 to 1."""
        return self.missing / max(1, self.lines)


class BrokenOutputs(NamedTuple):
    """Outputs with errors that have a name.

    Attributes:
        kinds: The kinds of errors, of :data:`CERTAIN`; several if only all of them are many.
        outputs: Number of outputs.
    """

    kinds: Sequence[str]
    outputs: int


Fault: TypeAlias = LineFaults | BrokenOutputs | str
"""What is wrong with a system's text; a string is what a check of the texts saw."""


@dataclass(frozen=True)
class Facts:
    """What a verdict is made from.

    Attributes:
        systems: The systems, in the order of the table.
        metrics: The metrics that count in a verdict, by their keys, or their classes.
        scores: By metric, then system.
        tests: Tests of all pairs of systems; empty if nothing was tested.
        segments: Number of segments.
        referenced: Whether there are references.
        faults: What needs no test, by system.
        disqualified: Systems that say far less or more than the others: they do not compete.
        discounted: Further systems that are not recommended, and whose few errors are no merit.
        padding: Those of them whose few omissions are no merit either.
        resamples: How many resamples were asked for.
        min_resamples: How many must be asked for so that a test can show a difference; None if no
            number is enough.
        doubts: By its name, why a metric does not count on these texts.
    """

    systems: Sequence[str]
    metrics: Mapping[str, Metric | type[Metric]]
    scores: Mapping[str, Mapping[str, float]]
    tests: Sequence[PairTest]
    segments: int
    referenced: bool = True
    faults: Mapping[str, Sequence[Fault]] = field(default_factory=dict)
    disqualified: Set[str] = frozenset()
    discounted: Set[str] = frozenset()
    padding: Set[str] = frozenset()
    resamples: int = SignificanceTest.resamples
    min_resamples: int | None = 0
    doubts: Mapping[str, str] = field(default_factory=dict)

    def counts_errors(self, name: str) -> bool:
        """Whether a metric counts errors that an output avoids by saying less."""
        metric = self.metrics[name]
        is_quality = metric.higher_is_better or metric.measures == Measure.QUALITY
        return not (is_quality or metric.measures == Measure.OMISSIONS)

    def recommends(self, name: str) -> bool:
        """Whether a metric shows whether a translation is complete and right."""
        metric = self.metrics[name]
        # A reference shows more than omissions do.
        is_weak = self.referenced and metric.measures == Measure.OMISSIONS
        return metric.can_recommend and not is_weak

    def counts_in_verdict(self, test: PairTest) -> bool:
        """Whether a significant difference is a merit of the better system.

        Few errors are no merit of a system that says less, or whose outputs are broken. Omissions
        find these faults themselves, but not padding.
        """
        if self.metrics[test.metric].measures == Measure.OMISSIONS:
            return test.better not in {*self.disqualified, *self.padding}
        if self.counts_errors(test.metric):
            return test.better not in {*self.disqualified, *self.discounted, *self.far_worse}
        return True

    def rivals(self, system: str) -> set[str]:
        """The other systems that compete."""
        return {*self.systems} - {system} - self.disqualified

    @cached_property
    def significant(self) -> Sequence[PairTest]:
        """The tests that tell two systems apart."""
        return [test for test in self.tests if test.p_value < SIGNIFICANT]

    @cached_property
    def far_worse(self) -> set[str]:
        """The systems with significantly less than half of another's quality."""
        systems = set()
        for name, better, worse, _ in self.significant:
            high, low = self.scores[name][better], self.scores[name][worse]
            if self.metrics[name].measures == Measure.OMISSIONS:
                high, low = 100 - high, 100 - low  # the segments without an omission
            elif not self.metrics[name].higher_is_better:
                continue
            if 2 * low < high:
                systems.add(worse)
        return systems

    @cached_property
    def wins(self) -> Mapping[tuple[str, str], list[PairTest]]:
        """The significant tests that count, by the better and the worse system."""
        wins: dict[tuple[str, str], list[PairTest]] = defaultdict(list)
        for test in filter(self.counts_in_verdict, self.significant):
            wins[test.better, test.worse].append(test)
        return wins

    @cached_property
    def uncontested(self) -> Sequence[PairTest]:
        """The tests that count and that no test of the same kind of errors contradicts."""
        errors = {
            name: {kind.error for kind in metric.kinds} for name, metric in self.metrics.items()
        }
        return [
            test
            for (better, worse), tests in self.wins.items()
            for test in tests
            if all(
                errors[test.metric].isdisjoint(errors[other.metric])
                for other in self.wins.get((worse, better), ())
            )
        ]

    @cached_property
    def beaten(self) -> Sequence[str]:
        """Systems that another beats and that beat it by no column, most often beaten first."""
        losses = Counter(worse for better, worse in self.wins if (worse, better) not in self.wins)
        return sorted(losses, key=lambda system: (-losses[system], self.systems.index(system)))

    @cached_property
    def unbeaten(self) -> Sequence[str]:
        """The other systems, in the order of the table."""
        return [system for system in self.systems if system not in self.beaten]

    @cached_property
    def contenders(self) -> Sequence[str]:
        """Those of them that compete; all, if none does."""
        competing = [system for system in self.unbeaten if system not in self.disqualified]
        return competing or self.unbeaten

    @cached_property
    def best(self) -> tuple[str, Sequence[PairTest]]:
        """The first of the contenders, and the tests by which it is better than others."""
        best = self.contenders[0]
        return best, [test for tests in self.wins.values() for test in tests if test.better == best]


def collect_facts(
    result: Result,
    rows: Mapping[str, Mapping[str, Any]],
    test: SignificanceTest,
    trust: Mapping[str, Trust],
) -> Facts:
    """What the verdict of a comparison is made from.

    Args:
        result: What was measured.
        rows: Scores by system, then metric, as of
            :class:`~coverage_eval.comparison.table.Comparison`.
        test: How systems are tested.
        trust: How far metrics can be believed.
    """
    referenced = result.references > 0
    distrusted = [name for name, found in trust.items() if found.is_low]
    metrics = {
        name: metric
        for name, metric in result.metrics.items()
        if name not in distrusted and _decides(metric, referenced=referenced)
    }
    scores = {
        name: {system: row[name].score.score for system, row in rows.items()} for name in metrics
    }
    number = len(metrics) * math.comb(len(rows), 2)
    factor = max(1, math.ceil(number / _TESTS_PER_FACTOR))
    needed = min_resamples(number, SIGNIFICANT)
    resamples = min(factor * test.resamples, MAX_RESAMPLES)
    faults, disqualified, discounted, padding = _collect_faults(result)
    return Facts(
        systems=[*rows],
        metrics=metrics,
        scores=scores,
        tests=_test_all_pairs(result, scores, replace(test, resamples=resamples)),
        segments=result.segments,
        referenced=referenced,
        faults=faults,
        disqualified=disqualified,
        discounted=discounted,
        padding=padding,
        resamples=test.resamples,
        min_resamples=math.ceil(needed / factor) if needed <= MAX_RESAMPLES else None,
        doubts={result.metrics[name].name: trust[name].warning for name in distrusted},
    )


def _decides(metric: Metric, *, referenced: bool) -> bool:
    """Whether a metric counts in a verdict.

    Without references only quality and omissions do, because people's labels of WMT23 do not
    confirm what repeats less: a human translation does not.
    """
    if not metric.decides_verdicts or metric.higher_is_better is None:
        return False
    return referenced or metric.higher_is_better or metric.measures == Measure.OMISSIONS


def _test_all_pairs(
    result: Result, scores: Mapping[str, Mapping[str, float]], test: SignificanceTest
) -> list[PairTest]:
    """Tests of all pairs of systems by the metrics that have scores; none without resamples."""
    pairs = [*combinations(result.systems, 2)]
    if not (pairs and scores and test.resamples):
        return []
    columns = statistics_by_system(result, scores)
    tested = pair_tests(columns, pairs, test=test.test, resamples=test.resamples, seed=test.seed)
    p_values = holm([pair.p_value for column in tested for pair in column.values()])
    tests = []
    for (name, pair), p_value in zip(product(scores, pairs), p_values, strict=True):
        is_high = result.metrics[name].higher_is_better is True
        better, worse = sorted(pair, key=scores[name].__getitem__, reverse=is_high)
        tests.append(PairTest(name, better, worse, p_value))
    return tests


def unusable_systems(result: Result) -> list[str]:
    """The systems whose low scores mean nothing, such as those that say far too little."""
    texts = [item.texts for item in result.findings if item.severity == Severity.UNUSABLE]
    return list(dict.fromkeys(chain.from_iterable(texts)))


def statistics_by_system(
    result: Result, names: Iterable[str]
) -> list[tuple[Formula, dict[str, Statistics]]]:
    """Metrics, each with the statistics ``[segments, k]`` of every system."""
    return [
        (result.metrics[name], dict(zip(result.systems, result.statistics[name], strict=True)))
        for name in names
    ]


def _collect_faults(
    result: Result,
) -> tuple[Mapping[str, Sequence[Fault]], set[str], set[str], set[str]]:
    """What needs no test, by system; and who is disqualified, discounted, or padding."""
    disqualified, discounted, padding = set[str](), set[str](), set[str]()
    faults: dict[str, list[Fault]] = defaultdict(list)
    for finding in result.findings:
        if finding.severity == Severity.UNUSABLE or finding.check == CheckId.FAR_OUTPUT:
            for system, label in zip(finding.texts, finding.labels, strict=True):
                if system in {*result.systems} - disqualified:
                    faults[system].append(label)
                    disqualified.add(system)
    min_outputs = max(MIN_OUTPUTS, MANY_OUTPUTS * result.segments)
    for system in result.systems:
        if lines := line_faults(result, system):
            faults[system].append(lines)
        counts = {kind: len(found) for kind, found in certain_errors(result, system).items()}
        broken = [BrokenOutputs([kind], n) for kind, n in counts.items() if n >= min_outputs]
        if not broken and (total := sum(counts.values())) >= min_outputs:
            broken = [BrokenOutputs([*counts], total)]
        if broken:
            faults[system] += broken
        if broken or (lines and lines.missing_share > MANY_OUTPUTS):
            discounted.add(system)
        if any(counts.get(kind, 0) >= min_outputs for kind in PADDING):
            padding.add(system)
    return faults, disqualified, discounted, padding


def line_faults(result: Result, system: str) -> LineFaults | None:
    """The lines of documents that a system leaves out, and what it adds; None if there are few."""
    matched = result.of(Documents)
    if matched is None:
        return None
    documents = matched.by_output.get(system, ())
    lines = sum(sum(map(bool, document.source_words)) for document in documents)
    passages = [passage for document in documents for passage in document.passages]
    missing = sum(passage.last - passage.first + 1 for passage in passages)
    extra = sum(piece.words for document in documents for piece in document.extra)
    share = extra / max(1, sum(document.output_words for document in documents))
    if not missing and share <= MANY_OUTPUTS:
        return None
    # Lines in another order are missing in one place and extra in another.
    is_elsewhere = 2 * extra >= sum(passage.words for passage in passages)
    ranges = [(passage.first, passage.last) for passage in passages]
    return LineFaults(lines, missing, ranges, is_elsewhere, share)


def certain_errors(result: Result, system: str) -> dict[str, list[int]]:
    """The segments of a system, from 0, whose outputs are broken, by kind of :data:`CERTAIN`.

    Empty outputs of documents are missing lines.
    """
    found: dict[str, list[int]] = {kind: [] for kind in CERTAIN}
    named, are_documents = result.of(NamedErrors), result.of(Documents) is not None
    for segment, errors in named.by_system[system].items() if named else ():
        kind = main_error(errors).kind
        if kind in found and not (kind == "empty" and are_documents):
            found[kind].append(segment)
    return {kind: segments for kind, segments in found.items() if segments}
