"""What a verdict is made from: scores, tests of all pairs of systems, and faults that need no test.

Systems are in an order of their own, from the best scores to the worst, so that neither the order
in which they were given nor their names decide anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import chain, combinations
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from coverage_eval.comparison.padding import padding_explains
from coverage_eval.core.metric import Measure, Metric
from coverage_eval.core.report import DECISIVE, SIGNIFICANT
from coverage_eval.core.result import Result
from coverage_eval.core.significance import SignificanceTest
from coverage_eval.outputs.output_errors import GUESSES, KINDS, main_error

if TYPE_CHECKING:
    from coverage_eval.comparison.pairs import PairTests
    from coverage_eval.coverage.trust import Trust

MANY_OUTPUTS = 0.02
"""Share of outputs with an output error, or of missing lines, from which on few other errors are no
merit."""

PADDING = frozenset({"loop", "preamble", "note", "special-token"})
"""Output errors that add words, which the source's words may seem to be translated by."""

CERTAIN = tuple(kind for kind in KINDS if kind not in GUESSES)
"""Output errors that are no guesses."""


class PairTest(NamedTuple):
    """Two systems by one metric.

    Attributes:
        metric: The metric's key.
        better: The system with the better score; any of the two if they are equal.
        worse: The other.
        p_value: The p-value of their test after the correction, as the table has it.
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
    """Outputs with output errors.

    Attributes:
        kinds: The kinds of errors, of :data:`CERTAIN`; several if only all of them are many.
        outputs: Number of outputs.
    """

    kinds: Sequence[str]
    outputs: int


Obstacle: TypeAlias = Literal["no-resamples", "few-segments", "many-tests", "few-resamples"]
"""Why no test can show a difference."""

Fault: TypeAlias = LineFaults | BrokenOutputs | str
"""What is wrong with a system's text; a string is what a check of the texts saw."""


@dataclass(frozen=True)
class Facts:
    """What a verdict is made from.

    Attributes:
        systems: The systems, those with the best scores first; none that is a reference itself.
        metrics: The metrics that count in a verdict, by their keys, or their classes.
        scores: By metric, then system.
        significant: The tests of pairs of systems by these metrics that tell the two apart.
        marked: Further ones that tables mark, and that are not sure enough for a verdict.
        all_tests: The number of tests by all columns, for which p-values are corrected.
        segments: Number of segments.
        referenced: Whether there are references.
        faults: What needs no test, by system.
        disqualified: Systems that say far less or more than the others: they do not compete.
        discounted: Further systems that are not recommended, and whose few errors are no merit.
        padding: Those of them whose few omissions are no merit either.
        confirmed: Differences that a column of hints speaks for, and its name.
        contradicted: Differences that such a column speaks against, so that they count for nothing.
        explained: Differences in quality that more words give, whatever they mean.
        resamples: How many resamples were asked for.
        min_resamples: How many must be asked for so that a test can show a difference; None if no
            number is enough.
        doubts: By their keys, why metrics by which no systems differ say little of these texts.
    """

    systems: Sequence[str]
    metrics: Mapping[str, Metric | type[Metric]]
    scores: Mapping[str, Mapping[str, float]]
    significant: Sequence[PairTest]
    marked: Sequence[PairTest]
    segments: int
    all_tests: int = 1
    referenced: bool = True
    faults: Mapping[str, Sequence[Fault]] = field(default_factory=dict)
    disqualified: Set[str] = frozenset()
    discounted: Set[str] = frozenset()
    padding: Set[str] = frozenset()
    confirmed: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    contradicted: Set[tuple[str, str, str]] = frozenset()
    explained: Set[tuple[str, str, str]] = frozenset()
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
        find these faults themselves, but not padding. More words are no merit by themselves, and
        what a hint contradicts is none.
        """
        if test[:3] in {*self.explained, *self.contradicted}:
            return False
        if self.metrics[test.metric].measures == Measure.OMISSIONS:
            return test.better not in {*self.disqualified, *self.padding}
        if self.counts_errors(test.metric):
            return test.better not in {*self.disqualified, *self.discounted, *self.far_worse}
        return True

    def rivals(self, system: str) -> set[str]:
        """The other systems that compete."""
        return {*self.systems} - {system} - self.disqualified

    @property
    def best_p(self) -> float:
        """The smallest p-value that so many segments allow, corrected.

        If all segments tell two systems apart, half of all exchanges but one have smaller
        differences.
        """
        return float(min(1.0, self.all_tests * 2.0 ** (1 - self.segments)))

    @property
    def obstacle(self) -> Obstacle | None:
        """Why no test could have shown a difference; None if one could have."""
        if self.resamples == 0:
            return "no-resamples"
        if self.best_p >= DECISIVE:
            return "few-segments"
        if self.min_resamples is None:
            return "many-tests"
        return "few-resamples" if self.resamples < self.min_resamples else None

    @cached_property
    def unsure(self) -> Sequence[PairTest]:
        """The marked tests that would count if they were sure enough; surest first."""
        return sorted(filter(self.counts_in_verdict, self.marked), key=lambda test: test.p_value)

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
        worst_first = sorted(losses, key=self.systems.index, reverse=True)
        return sorted(worst_first, key=losses.__getitem__, reverse=True)

    @cached_property
    def unbeaten(self) -> Sequence[str]:
        """The other systems, the best first."""
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
    result: Result, test: SignificanceTest, tested: PairTests, trust: Mapping[str, Trust]
) -> Facts:
    """What the verdict of a comparison is made from.

    Args:
        result: The result of the evaluation.
        test: How systems are tested.
        tested: The tests of all pairs by all columns.
        trust: How far metrics can be believed.
    """
    referenced = result.num_references > 0
    metrics = {
        name: metric
        for name, metric in result.metrics.items()
        if _decides(metric, referenced=referenced)
    }
    scores = {
        name: {system: result.score(name, system).score for system in result.systems}
        for name in metrics
    }
    ranked = _best_first(result, metrics, scores)
    # A reference is the best of all by its own scores, and no system.
    same = (item.texts for item in result.findings if item.kind == "same-as-reference")
    references = set(chain.from_iterable(same))
    systems = [system for system in ranked if system not in references] or ranked
    tests = []
    for name, metric in metrics.items():
        is_reversed = metric.higher_is_better is True
        for pair in combinations(systems, 2) if tested.by_metric else ():
            better, worse = sorted(pair, key=scores[name].__getitem__, reverse=is_reversed)
            p_value = tested.by_metric[name][frozenset(pair)].adjusted
            tests.append(PairTest(name, better, worse, p_value))
    significant = [test for test in tests if test.p_value < DECISIVE]
    faults, disqualified, discounted, padding = _collect_faults(result)
    confirmed, contradicted = _compare_hints(result, significant, tested)
    return Facts(
        systems=systems,
        metrics=metrics,
        scores=scores,
        significant=significant,
        marked=[test for test in tests if DECISIVE <= test.p_value < SIGNIFICANT],
        segments=result.segments,
        all_tests=tested.number,
        referenced=referenced,
        faults={system: faults[system] for system in ranked if system in faults},
        disqualified=disqualified,
        discounted=discounted,
        padding=padding,
        confirmed=confirmed,
        contradicted=contradicted,
        explained=padding_explains(result, [t[:3] for t in significant], test, tested.resamples),
        resamples=test.resamples,
        min_resamples=tested.min_resamples,
        doubts={
            name: found.warning
            for name, found in trust.items()
            if found.is_low and name in {*metrics} - {test.metric for test in significant}
        },
    )


def _compare_hints(
    result: Result, significant: Sequence[PairTest], tested: PairTests
) -> tuple[dict[tuple[str, str, str], str], set[tuple[str, str, str]]]:
    """Significant differences that significant hints speak for, with the hint, and against."""
    confirmed: dict[tuple[str, str, str], str] = {}
    contradicted = set[tuple[str, str, str]]()
    for name, hint in result.metrics.items():
        for test in significant:
            pair = (test.better, test.worse)
            p_value = tested.by_metric[name][frozenset(pair)].adjusted
            if hint.confirms != result.metrics[test.metric].measures or p_value >= DECISIVE:
                continue
            better, worse = (result.score(name, system).score for system in pair)
            if (better > worse) == (hint.higher_is_better is True):
                confirmed[test[:3]] = hint.name
            else:
                contradicted.add(test[:3])
    return confirmed, contradicted


def _best_first(
    result: Result,
    metrics: Mapping[str, Metric],
    scores: Mapping[str, Mapping[str, float]],
) -> list[str]:
    """The systems by their scores, quality first; those with equal ones by what was counted.

    Only names tell equal outputs apart.
    """
    names = sorted(metrics, key=lambda name: metrics[name].higher_is_better is not True)
    signs = [-1 if metrics[name].higher_is_better else 1 for name in names]
    keyed = []
    for system in result.systems:
        own = [sign * scores[name][system] for sign, name in zip(signs, names, strict=True)]
        counted = (result.statistics_of(name, system).tobytes() for name in result.metrics)
        keyed.append((own, sha256(b"".join(counted)).hexdigest(), system))
    return [system for *_, system in sorted(keyed)]


def _decides(metric: Metric, *, referenced: bool) -> bool:
    """Whether a metric counts in a verdict.

    Without references only quality and omissions do, because people's labels of WMT23 do not
    confirm what repeats less: a human translation does not.
    """
    if not metric.decides_verdicts or metric.higher_is_better is None:
        return False
    return referenced or metric.higher_is_better or metric.measures == Measure.OMISSIONS


def unusable_systems(result: Result) -> list[str]:
    """The systems whose low scores mean nothing, such as those that say far too little."""
    texts = [item.texts for item in result.findings if item.kind in _UNUSABLE]
    return list(dict.fromkeys(chain.from_iterable(texts)))


_UNUSABLE = frozenset({"too-short", "foreign-output"})
_DISQUALIFYING = _UNUSABLE | {"outlier", "same-as-reference"}


def _collect_faults(
    result: Result,
) -> tuple[Mapping[str, Sequence[Fault]], set[str], set[str], set[str]]:
    """What needs no test, by system; and who is disqualified, discounted, or padding."""
    disqualified, discounted, padding = set[str](), set[str](), set[str]()
    faults: dict[str, list[Fault]] = defaultdict(list)
    for finding in result.findings:
        if finding.kind in _DISQUALIFYING:
            for system, label in zip(finding.texts, finding.labels, strict=True):
                if system in {*result.systems} - disqualified:
                    faults[system].append(label)
                    disqualified.add(system)
    min_outputs = max(1, MANY_OUTPUTS * result.segments)
    for system in result.systems:
        if lines := line_faults(result, system):
            faults[system].append(lines)
        counts = {kind: len(found) for kind, found in certain_errors(result, system).items()}
        broken = [BrokenOutputs([kind], n) for kind, n in counts.items() if n >= min_outputs]
        if not broken and (total := sum(counts.values())) >= min_outputs:
            broken = [BrokenOutputs([*counts], total)]
        if broken:
            faults[system] += broken
        if broken or (lines and lines.missing_share >= MANY_OUTPUTS):
            discounted.add(system)
        if any(counts.get(kind, 0) >= min_outputs for kind in PADDING):
            padding.add(system)
    return faults, disqualified, discounted, padding


def line_faults(result: Result, system: str) -> LineFaults | None:
    """The lines of documents that a system leaves out, and what it adds; None if there are few."""
    if result.texts is None or not result.texts.documents:
        return None
    documents = result.texts.documents.get(system, ())
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
    are_documents = bool(result.texts and result.texts.documents)
    for segment, errors in result.output_errors.get(system, {}).items():
        kind = main_error(errors).kind
        if kind in found and not (kind == "empty" and are_documents):
            found[kind].append(segment)
    return {kind: segments for kind, segments in found.items() if segments}
