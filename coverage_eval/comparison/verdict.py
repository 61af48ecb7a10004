"""Which system to take: the one verdict that the table, the report, JSON and Python print.

The headline is as certain as the tests below it:

- *Take X* needs BLEU, chrF or METEOR among the columns, or omissions where there is no reference;
  by one of these each other system is significantly worse, and X is by no column worse than any.
- With metrics of errors alone: *X repeats less than Y*, or *Z repeats words, more than X and Y*.
- Where one column prefers X and another one Y: *The scores disagree*.
- Where some are significantly worse than another and the rest cannot be told apart: *Avoid Z*.
- Otherwise *No difference that these texts can show*, unless no difference could have been found.

Columns that only hint (length ratio, additions) have no say, nor have those that find too little on
the text at hand; without references none has but quality and omissions, because people's labels of
WMT23 do not confirm what repeats less: a human translation does not. Facts that need no test come
first: what says far less or more than others, which lines are missing, and outputs that are empty,
copies, refusals, loops or have words that no source explains. Their systems are never taken; they,
and those with less than half of another's quality, have no merit in few errors.

All pairs of systems are tested by all columns that have a say, after Holm's correction over all of
these tests, so that among equal systems a verdict claims a difference in 5 of 100 cases, whatever
their order and however the best one is picked. So its p-values are greater than those of the table.
Resamples are multiplied so that the smallest one stays below 0.05 for any number of tests.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

from coverage_eval.core.checks import percent
from coverage_eval.core.errors import CheckId, Severity
from coverage_eval.core.measure import Result
from coverage_eval.core.metric import Formula, Measure, Metric, Statistics
from coverage_eval.core.show import SIGNIFICANT, format_figure, format_p
from coverage_eval.core.significance import SignificanceTest, holm, min_resamples, pair_tests
from coverage_eval.outputs.named import KINDS, main_error

if TYPE_CHECKING:
    from coverage_eval.coverage.trust import Trust

LINES = 3
"""Sentences of a verdict, at most."""

NAMED = 3
"""Systems that a sentence names; of more it gives the number."""

MANY = 0.02
"""Share of outputs with a named error, or of missing lines, from which on few other errors are no
merit."""

PADDED = ("loop", "preamble", "note")
"""Named errors that add words, which the source's words may seem to be translated by."""

CERTAIN = ("empty", "copy", "refusal", "wrong-language", *PADDED)
"""Named errors that are no guesses."""

_SHOWN = 9
"""Passages that a sentence lists."""

_UNMULTIPLIED = 25
"""Tests that the given number of resamples serves; 1,000 for 25 give 0.025 at least."""


@dataclass(frozen=True)
class ComparisonVerdict:
    """What a comparison shows, in at most three sentences; the first one is the headline.

    Attributes:
        kind: ``take``; ``fewer-errors`` or ``more-errors`` (by metrics of errors alone, or of a
            system that many of its outputs forbid to take);
            ``disagree``; ``avoid``; ``no-difference``; ``untested`` (no test was made, or none
            could have found a difference); ``none`` (one system, or no column tells which is
            better).
        systems: The systems that it is about: to take, to avoid, or those that the scores
            disagree about.
        sentences: The sentences.
    """

    kind: str
    systems: tuple[str, ...]
    sentences: tuple[str, ...]


class PairTest(NamedTuple):
    """Two systems by one metric.

    Attributes:
        metric: The metric's key.
        better: The system with the better score; any of the two if they are equal.
        worse: The other.
        p: The corrected p-value of their test.
    """

    metric: str
    better: str
    worse: str
    p: float


@dataclass(frozen=True)
class Situation:
    """What a verdict is made from.

    Attributes:
        scores: By metric, then system. Only metrics that have a say.
        metrics: The metrics by the same keys, or their classes.
        tests: Tests of pairs of systems; empty if nothing was tested.
        segments: Number of segments.
        referenced: Whether there are references.
        facts: What needs no test, by system: sentences that begin with its name and go on so.
        silent: Systems that say far less or more than the others, as a fact tells: they do not
            compete.
        hollow: Further systems that are not taken, and whose few errors are no merit.
        padded: Those of them whose few omissions are no merit either.
        limit: Why no test could have found a difference; empty if it could.
        remarks: What else to say if there is room.
    """

    systems: Sequence[str]
    metrics: Mapping[str, Metric | type[Metric]]
    scores: Mapping[str, Mapping[str, float]]
    tests: Sequence[PairTest]
    segments: int
    referenced: bool = True
    facts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    silent: Set[str] = frozenset()
    hollow: Set[str] = frozenset()
    padded: Set[str] = frozenset()
    limit: str = ""
    remarks: Sequence[str] = ()

    def called(self, name: Callable[[str], str]) -> Situation:
        """The same with other names of the systems."""
        return replace(
            self,
            systems=[*map(name, self.systems)],
            scores={
                metric: {name(system): score for system, score in scores.items()}
                for metric, scores in self.scores.items()
            },
            tests=[t._replace(better=name(t.better), worse=name(t.worse)) for t in self.tests],
            facts={name(system): facts for system, facts in self.facts.items()},
            silent={*map(name, self.silent)},
            hollow={*map(name, self.hollow)},
            padded={*map(name, self.padded)},
        )

    def counts_errors(self, metric: str) -> bool:
        """Whether a metric counts errors that an output avoids by saying less."""
        kind = self.metrics[metric]
        is_quality = kind.higher_is_better or kind.measures == Measure.QUALITY
        return not (is_quality or self.is_of_omissions(metric))

    def is_of_omissions(self, metric: str) -> bool:
        """Whether a metric counts segments in which something is left out."""
        return self.metrics[metric].measures == Measure.OMISSIONS

    def proves(self, metric: str) -> bool:
        """Whether a metric shows whether a translation is complete and right."""
        kind = self.metrics[metric]
        return kind.can_recommend and not (self.is_of_omissions(metric) and self.referenced)

    @cached_property
    def significant(self) -> Sequence[PairTest]:
        """The tests that tell two systems apart."""
        return [test for test in self.tests if test.p < SIGNIFICANT]

    @cached_property
    def without_merit(self) -> Sequence[PairTest]:
        """Significant tests of errors that the better system owes to saying less, or to padding."""
        hollow = {*self.silent, *self.hollow, *self._broken()}
        padded = {*self.silent, *self.padded}
        return [
            test
            for test in self.significant
            if (self.counts_errors(test.metric) and test.better in hollow)
            or (self.is_of_omissions(test.metric) and test.better in padded)
        ]

    def _broken(self) -> Iterator[str]:
        """Systems with significantly less than half of another's quality."""
        for test in self.significant:
            better, worse = (self.scores[test.metric][system] for system in test[1:3])
            if self.is_of_omissions(test.metric):
                better, worse = 100 - better, 100 - worse
            elif not self.metrics[test.metric].higher_is_better:
                continue
            if 2 * worse < better:
                yield test.worse

    @cached_property
    def wins(self) -> Mapping[tuple[str, str], list[PairTest]]:
        """The significant tests with merit, by the better and the worse system."""
        wins: dict[tuple[str, str], list[PairTest]] = defaultdict(list)
        for test in self.significant:
            if test not in self.without_merit:
                wins[test.better, test.worse].append(test)
        return wins

    @cached_property
    def uncontested(self) -> Sequence[PairTest]:
        """The tests with merit that none of the same kind of errors contradicts."""

        def errors(test: PairTest) -> set[str]:
            return {kind.error for kind in self.metrics[test.metric].kinds}

        return [
            test
            for (better, worse), tests in self.wins.items()
            for test in tests
            if not any(errors(test) & errors(other) for other in self.wins.get((worse, better), ()))
        ]

    @cached_property
    def beaten(self) -> Sequence[str]:
        """Systems that another beats and that beat it by no column, most often beaten first."""
        losses = Counter(worse for better, worse in self.wins if (worse, better) not in self.wins)
        return sorted(losses, key=lambda system: (-losses[system], self.systems.index(system)))


def describe(
    result: Result,
    cells: Mapping[str, Mapping[str, Any]],
    test: SignificanceTest,
    trust: Mapping[str, Trust],
) -> Situation:
    """What the verdict of a comparison is made from.

    Args:
        result: What was measured.
        cells: By system, then metric, as of :class:`~coverage_eval.comparison.table.Comparison`.
        test: How.
        trust: How far metrics can be believed.
    """
    doubtful = doubtful_metrics(trust)
    metrics = {
        name: metric
        for name, metric in result.metrics.items()
        if metric.higher_is_better is not None and metric.decides_verdicts and name not in doubtful
        if result.references or metric.higher_is_better or metric.measures == Measure.OMISSIONS
    }
    scores = {
        name: {system: row[name].score.score for system, row in cells.items()} for name in metrics
    }

    def ordered(name: str, pair: tuple[str, str], p: float) -> PairTest:
        is_high = metrics[name].higher_is_better is True
        better, worse = sorted(pair, key=scores[name].__getitem__, reverse=is_high)
        return PairTest(name, better, worse, p)

    pairs = [*combinations(cells, 2)]
    size = len(pairs) * len(metrics)
    factor = max(1, -(-size // _UNMULTIPLIED))
    tests = []
    if size and test.resamples:
        columns, resamples = statistics_by_system(result, metrics), factor * test.resamples
        tested = pair_tests(columns, pairs, test=test.test, resamples=resamples, seed=test.seed)
        adjusted = holm([own.p_value for column in tested for own in column.values()])
        tests = [
            ordered(*what, p) for what, p in zip(product(metrics, pairs), adjusted, strict=True)
        ]
    facts, silent, hollow, padded = _facts(result)
    return Situation(
        [*cells],
        metrics,
        scores,
        tests,
        result.segments,
        bool(result.references),
        facts,
        silent,
        hollow,
        padded,
        _limit(size, factor, test.resamples, result.segments),
        [
            f"{result.metrics[name].name} has no say: {trust[name].doubt}."
            for name in result.metrics
            if name in doubtful
        ],
    )


def doubtful_metrics(gauged: Mapping[str, Trust]) -> set[str]:
    """The names of the metrics that find too little on a text for a verdict to rest on them."""
    return {name for name, trust in gauged.items() if trust.is_low}


def statistics_by_system(
    result: Result, names: Iterable[str]
) -> list[tuple[Formula, dict[str, Statistics]]]:
    """Metrics, each with the statistics ``[segments, k]`` of every system."""
    return [
        (result.metrics[name], dict(zip(result.systems, result.statistics[name], strict=True)))
        for name in names
    ]


def _limit(tests: int, factor: int, drawn: int, segments: int) -> str:
    """Why no test could have found a difference; empty if it could."""
    if not drawn:
        return "Nothing was tested, because no resamples were drawn."
    least = -(-min_resamples(tests, SIGNIFICANT) // factor)
    if drawn < least:
        return f"{drawn} resamples cannot show a difference: draw {least} or more (--resamples)."
    if tests * 2.0 ** (1 - segments) >= SIGNIFICANT:
        return f"{segments} segments are too few to show a difference."
    return ""


def missing_lines(result: Result, system: str) -> tuple[float, str]:
    """The share of lines of documents that a system leaves out, 0 to 1; which, and what it adds."""
    documents = result.computed.get("documents", {}).get(system, ())
    lines = sum(sum(map(bool, cut.source_words)) for cut in documents)
    passages = [passage for cut in documents for passage in cut.passages]
    missing = sum(passage.last - passage.first + 1 for passage in passages)
    extra = sum(piece.words for cut in documents for piece in cut.extra)
    share = extra / max(1, sum(cut.output_words for cut in documents))
    said = [f"has {percent(share)} of its words in no line"] if share > MANY else []
    if missing:
        listed = [
            str(p.first) if p.first == p.last else f"{p.first}–{p.last}" for p in passages[:_SHOWN]
        ]
        listed += ["…"] * (len(passages) > _SHOWN)
        # Lines in another order are missing in one place and extra in another.
        is_elsewhere = 2 * extra >= sum(passage.words for passage in passages)
        where = ", or has them elsewhere" if is_elsewhere else ""
        said.append(f"lacks {missing:,} of {lines:,} lines{where}: {', '.join(listed)}")
    return missing / max(1, lines), " and ".join(said)


def certain_errors(result: Result, system: str) -> dict[str, list[int]]:
    """The segments of a system, from 0, whose outputs are broken, by kind of :data:`CERTAIN`.

    Empty outputs of documents are missing lines.
    """
    found: dict[str, list[int]] = {kind: [] for kind in CERTAIN}
    documents = result.computed.get("documents", {})
    for segment, errors in result.computed.get("named errors", {}).get(system, {}).items():
        kind = main_error(errors).kind
        if kind in found and not (kind == "empty" and system in documents):
            found[kind].append(segment)
    return {kind: segments for kind, segments in found.items() if segments}


def _facts(result: Result) -> tuple[dict[str, list[str]], set[str], set[str], set[str]]:
    """What needs no test, by system; and who says too little or too much, is hollow, or padded."""
    silent, hollow, padded = (set[str]() for _ in range(3))
    facts: dict[str, list[str]] = defaultdict(list)
    for finding in result.findings:
        if finding.severity == Severity.UNUSABLE or finding.check == CheckId.FAR_OUTPUT:
            for system, said in zip(finding.texts, finding.labels, strict=True):
                if system in {*result.systems} - silent:
                    facts[system].append(f"{' ' if said.startswith('has ') else ': '}{said}")
                    silent.add(system)
    for system in result.systems:
        share, said = missing_lines(result, system)
        if said:
            facts[system].append(f" {said}")
        least = max(NAMED, MANY * result.segments)
        counts = {kind: len(found) for kind, found in certain_errors(result, system).items()}
        many = {KINDS[kind]: count for kind, count in counts.items() if count >= least}
        if not many and (total := sum(counts.values())) >= least:
            many = {f"are broken ({', '.join(counts)})": total}
        facts[system] += [f": {n:,} of {result.segments:,} outputs {do}" for do, n in many.items()]
        if many or share > MANY:
            hollow.add(system)
        if any(counts.get(kind, 0) >= least for kind in PADDED):
            padded.add(system)
    return {system: said for system, said in facts.items() if said}, silent, hollow, padded


def decide(situation: Situation) -> ComparisonVerdict:
    """The verdict by the rules above."""
    kind, systems, told = _decide(situation)
    order = sorted(situation.facts, key=lambda system: system not in systems)

    def fact(system: str) -> str:
        first, *more = situation.facts[system]
        return system + ", and ".join([first, *(said.lstrip(": ") for said in more)])

    facts = "; ".join(map(fact, order[:NAMED]))
    if rest := order[NAMED:]:
        facts += f"; {_listed(rest, most=1)} {'has' if len(rest) == 1 else 'have'} such faults"
    sentences = [f"{facts}.", *told] if facts else told
    return ComparisonVerdict(kind, tuple(systems), tuple([*sentences, *situation.remarks][:LINES]))


_Decision = tuple[str, Sequence[str], list[str]]


def _decide(situation: Situation) -> _Decision:
    if found := _nothing_to_say(situation) or _contradiction(situation):
        return found
    beaten, wins = situation.beaten, situation.wins
    tops = [system for system in situation.systems if system not in beaten]
    tops = [system for system in tops if system not in situation.silent] or tops
    best = tops[0]
    won = [test for tests in wins.values() for test in tests if test.better == best]
    if won and _competitors(situation, best) <= {test.worse for test in won}:
        return _preference(situation, best, won)
    if not any(map(situation.proves, situation.metrics)):
        system, excess = _excess(situation, situation.uncontested)
        return "more-errors", [system], [f"{system} {excess}."]
    rest = _listed(tops) if len(tops) <= NAMED < len(beaten) else "the others"
    told = [_avoidance(situation, beaten)]
    if len(tops) > 1:
        told.append(f"No test tells {rest} apart.")
    return "avoid", beaten, told


def _nothing_to_say(situation: Situation) -> _Decision | None:
    """The decision where no test tells two systems apart; None if one does."""
    if len(situation.systems) < 2:
        figures = ", ".join(
            _figure(situation, name, situation.systems[0]) for name in situation.metrics
        )
        alone = f"{situation.systems[0]}: {figures or 'one system, so nothing to compare'}."
        return "none", situation.systems, [alone]
    if not situation.metrics:
        return "none", [], ["No verdict: no score here can tell which system is better."]
    if situation.wins:
        return None
    if situation.limit or not situation.tests:
        return "untested", [], [situation.limit or "Nothing was tested."]
    hollow = list(dict.fromkeys(test.better for test in situation.without_merit))
    if hollow:
        told = f"Fewer errors of {_listed(hollow)} are no merit."
    else:
        other = " other" if situation.facts else ""
        about = " in omissions" if all(map(situation.is_of_omissions, situation.metrics)) else ""
        told = f"No{other} difference{about} that these texts can show."
    return "no-difference", [], [told]


def _contradiction(situation: Situation) -> _Decision | None:
    """The decision where two tests contradict each other: of two systems, or of three in a circle.

    Those of systems that others beat by all columns do not matter, unless they contradict that a
    system is best.
    """
    wins, beaten = situation.wins, situation.beaten
    tops = [system for system in situation.systems if system not in beaten]
    for first, second in [*product(tops, tops), *product(tops, beaten)]:
        if (first, second) in wins and (second, first) in wins:
            return _disagreement(situation, wins[second, first][0], wins[first, second][0])
    told = [test for won in wins.values() for test in won]
    for won, lost in product(told, told) if not tops else ():
        if won.better == lost.worse and won.metric != lost.metric:
            return _disagreement(situation, won, lost)
    return None


def _disagreement(situation: Situation, first: PairTest, second: PairTest) -> _Decision:
    # The metric of errors first, as in "sys1 repeats less, sys2 has a better BLEU".
    if not situation.counts_errors(first.metric) and situation.counts_errors(second.metric):
        first, second = second, first
    are_two = {*first[1:3]} == {*second[1:3]}
    said = [
        f"{test.better} {_better(situation, test.metric)}{'' if are_two else f' than {test.worse}'}"
        for test in (first, second)
    ]
    figures = (_figures(situation, test.metric, test.better, [test]) for test in (first, second))
    about = tuple(dict.fromkeys((first.better, second.better)))
    told = [f"The scores disagree: {', '.join(said)}.", f"{'; '.join(figures)}."]
    rest = [system for system in situation.beaten if system not in {*first[1:3], *second[1:3]}]
    if rest and len(rest) < len(situation.systems) - 2:
        told.append(_avoidance(situation, rest))
    return "disagree", about, told


def _preference(situation: Situation, best: str, won: Sequence[PairTest]) -> _Decision:
    """The decision for a system that is better than each other: the reason that holds for most.

    Then what else is needed to say so of all others, or another reason; of a system to take, which
    errors the worst of the others makes, or another one.
    """
    poorer = {test.worse for test in won if situation.proves(test.metric)}
    is_whole = best not in {*situation.silent, *situation.hollow}
    is_taken = is_whole and poorer and _competitors(situation, best) <= poorer
    names = sorted(situation.metrics, key=situation.counts_errors)  # quality first
    reasons = [tests for name in names if (tests := [test for test in won if test.metric == name])]
    reasons.sort(key=len, reverse=True)
    if is_taken:
        reasons.sort(key=lambda tests: not situation.proves(tests[0].metric))
    first, *more = reasons
    missed = {test.worse for test in won} - {test.worse for test in first}
    claim = _claim(situation, first)
    if missed:
        more = [tests for tests in more if missed & {test.worse for test in tests}]
    second = [f"It {_claim(situation, tests)}." for tests in more[:1]]
    if not is_taken:
        return "fewer-errors", [best], [f"{best} {claim}.", *second]
    if not missed:
        name = first[0].metric
        choose = min if situation.metrics[name].higher_is_better else max
        worst = choose((test.worse for test in first), key=situation.scores[name].__getitem__)
        errors = [test for test in situation.uncontested if situation.counts_errors(test.metric)]
        errors = [test for test in errors if test.worse == worst] or errors
        second = [f"{' '.join(_excess(situation, errors))}."] if errors else []
    return "take", [best], [f"Take {best}: it {claim}.", *second]


def _avoidance(situation: Situation, systems: Sequence[str]) -> str:
    """Whom to avoid, and why."""
    lost = {s: [t for t in situation.uncontested if t.worse == s] for s in systems}
    if len(systems) == 1:
        return f"Avoid {systems[0]}: it {_excess(situation, lost[systems[0]])[1]}."
    named = [
        f"{system} ({_figure(situation, _most(lost[system])[0].metric, system)})"
        for system in systems[:NAMED]
    ]
    if len(systems) > NAMED:
        named = [*named, f"{len(systems) - NAMED} more"]
    return f"Avoid {_listed(named, most=NAMED + 1)}."


def _most(tests: Sequence[PairTest]) -> list[PairTest]:
    """The tests by one metric that most systems win against one system."""
    ((name, system), _), *_ = Counter((test.metric, test.worse) for test in tests).most_common(1)
    return [test for test in tests if (test.metric, test.worse) == (name, system)]


def _excess(situation: Situation, tests: Sequence[PairTest]) -> tuple[str, str]:
    """The system that most others beat, and by what: ``repeats words, more than X (REP …)``."""
    lost = _most(tests)
    name, _, system, _ = lost[0]
    wording = situation.metrics[name].wording
    does = wording.does if wording else f"has a worse {situation.metrics[name].name}"
    if than := _than(situation, system, [test.better for test in lost]):
        does += f", more{than}" if wording else than
    return system, f"{does} ({_in_brackets(situation, system, lost)})"


def _competitors(situation: Situation, system: str) -> set[str]:
    """The other systems, but for those that say far less or more."""
    return {*situation.systems} - {system} - situation.silent


def _than(situation: Situation, system: str, others: Sequence[str]) -> str:
    """With which others a system is compared; empty if it is all that compete with it."""
    competitors = _competitors(situation, system)
    is_all = competitors and competitors <= {*others}
    return "" if is_all else f" than {_listed(others)}"


def _claim(situation: Situation, tests: Sequence[PairTest]) -> str:
    """What a system does better than others by one metric, and the figures."""
    name, system = tests[0].metric, tests[0].better
    than = _than(situation, system, [test.worse for test in tests])
    return f"{_better(situation, name)}{than} ({_in_brackets(situation, system, tests)})"


def _in_brackets(situation: Situation, system: str, tests: Sequence[PairTest]) -> str:
    """The figures behind a claim, as in "has a better BLEU (86.24 against 80.76)"."""
    name = tests[0].metric
    figures = _figures(situation, name, system, tests)
    if situation.metrics[name].wording:
        return figures
    return figures.removeprefix(f"{situation.metrics[name].name} ")


def _better(situation: Situation, metric: str) -> str:
    """What the better of two systems does: ``repeats less``, ``has a better BLEU``."""
    wording = situation.metrics[metric].wording
    return wording.less if wording else f"has a better {situation.metrics[metric].name}"


def _figures(situation: Situation, name: str, system: str, tests: Sequence[PairTest]) -> str:
    """Both sides' scores and the greatest p: ``REP 2.33 against 4.01 to 5.12, p ≤ 0.012``."""
    scores = situation.scores[name]
    others = {test.worse if test.better == system else test.better for test in tests}
    ends = [choose(others, key=scores.__getitem__) for choose in (min, max)]
    shown = dict.fromkeys(_value(situation, name, other).partition(" ")[0] for other in ends)
    p = format_p(max(test.p for test in tests))
    p = p.replace("=", "≤") if len(tests) > 1 else p
    return f"{_figure(situation, name, system)} against {' to '.join(shown)}, {p}"


def _figure(situation: Situation, name: str, system: str) -> str:
    """A score with its metric: ``REP 2.33``, or ``Omissions 57 of 104``."""
    return f"{situation.metrics[name].name} {_value(situation, name, system)}"


def _value(situation: Situation, name: str, system: str) -> str:
    """A score: ``2.33``, or ``57 of 104``."""
    wording, score = situation.metrics[name].wording, situation.scores[name][system]
    if wording is None or not wording.of_segments:
        return format_figure(score)
    return f"{round(score / 100 * situation.segments):,} of {situation.segments:,}"


def _listed(names: Collection[str], most: int = NAMED) -> str:
    *first, last = names
    if len(names) > most:
        return f"{len(names)} others"
    return f"{', '.join(first)} and {last}" if first else last
