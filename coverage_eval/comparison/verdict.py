"""Which system to take: the rules of the verdict that the table, the report, JSON and Python print.

:func:`decide` reads from the top: the first rule that applies makes the verdict, which is as
certain as the tests behind it. :mod:`coverage_eval.comparison.facts` has what it is made from, and
:mod:`coverage_eval.comparison.sentences` its words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple, TypeAlias

from coverage_eval.comparison.facts import Facts, Obstacle, PairTest

MAX_NAMED = 3
"""Systems that a sentence names; of more it gives the number."""

Template: TypeAlias = Obstacle | Literal[
    "one-system", "no-metric", "no-merit", "padding", "contradicted", "no-difference", "unsure",
    "disagree", "figures", "errors", "take", "better", "also-better", "worse", "avoid", "equal",
]  # fmt: skip
"""The sentences of a verdict; :mod:`coverage_eval.comparison.sentences` has their words."""


class Reason(NamedTuple):
    """A sentence of a verdict.

    Attributes:
        template: Which sentence.
        systems: The systems that it lists.
        tests: The tests behind it.
    """

    template: Template
    systems: Sequence[str] = ()
    tests: Sequence[PairTest] = ()


@dataclass(frozen=True)
class ComparisonVerdict:
    """What a comparison shows.

    Attributes:
        kind: ``take``; ``fewer-errors`` or ``more-errors`` (by metrics of errors alone, or of a
            system that many of its outputs forbid to take);
            ``disagree``; ``avoid``; ``no-difference``; ``untested`` (no test was made, or none
            could have found a difference); ``none`` (one system, or no column tells which is
            better).
        systems: The systems that it is about: to take, to avoid, or those that the scores
            disagree about.
        reasons: What it says, the headline first.
    """

    kind: str
    systems: Sequence[str]
    reasons: Sequence[Reason]


Rule: TypeAlias = Callable[[Facts], ComparisonVerdict | None]


def decide(facts: Facts) -> ComparisonVerdict:
    """The verdict of the first of :data:`RULES` that applies."""
    return next(filter(None, (rule(facts) for rule in RULES)))


def one_system(facts: Facts) -> ComparisonVerdict | None:
    """A single system has nothing to be compared with."""
    if len(facts.systems) > 1:
        return None
    return ComparisonVerdict("none", facts.systems, [Reason("one-system", facts.systems)])


def no_metric(facts: Facts) -> ComparisonVerdict | None:
    """Columns that only hint prefer no system."""
    return None if facts.metrics else ComparisonVerdict("none", (), [Reason("no-metric")])


def untested(facts: Facts) -> ComparisonVerdict | None:
    """No difference is claimed to be missing where no test could have found one."""
    if facts.wins or facts.obstacle is None:
        return None
    return ComparisonVerdict("untested", (), [Reason(facts.obstacle)])


def no_merit(facts: Facts) -> ComparisonVerdict | None:
    """Few errors of a system that says less, or whose outputs are broken, are no merit.

    Neither are words that mean nothing.
    """
    if facts.wins or not facts.significant:
        return None
    if any(test[:3] in facts.contradicted for test in facts.significant):
        return ComparisonVerdict("no-difference", (), [Reason("contradicted")])
    if padded := [test for test in facts.significant if test[:3] in facts.explained]:
        return ComparisonVerdict("no-difference", (), [Reason("padding", tests=padded[:1])])
    winners = [*dict.fromkeys(test.better for test in facts.significant)]
    return ComparisonVerdict("no-difference", (), [Reason("no-merit", winners)])


def no_difference(facts: Facts) -> ComparisonVerdict | None:
    """No test tells two systems apart, though it could have."""
    if facts.wins:
        return None
    reason = Reason("unsure", tests=facts.unsure[:1]) if facts.unsure else Reason("no-difference")
    return ComparisonVerdict("no-difference", (), [reason])


def disagree(facts: Facts) -> ComparisonVerdict | None:
    """Columns that prefer different systems leave the choice to the reader.

    Further systems that others beat may still be avoided.
    """
    if (contradiction := _find_contradiction(facts)) is None:
        return None
    # The metric of errors comes first, as in "sys1 repeats less, sys2 has a better BLEU".
    tests = sorted(contradiction, key=lambda test: not facts.counts_errors(test.metric))
    reasons = [Reason("disagree", tests=tests), Reason("figures", tests=tests)]
    if errors := _agreeing_errors(facts, tests):
        reasons.append(Reason("errors", tests=errors))
    known = {system for test in tests for system in (test.better, test.worse)}
    rest = [system for system in facts.beaten if system not in known]
    if rest and len(rest) < len(facts.systems) - 2:
        reasons.append(_avoid(facts, rest))
    return ComparisonVerdict("disagree", [*dict.fromkeys(test.better for test in tests)], reasons)


def take(facts: Facts) -> ComparisonVerdict | None:
    """A system is taken if metrics that may recommend one prefer it to each of its rivals.

    Its own outputs must be whole. The second reason is another one, if the first does not hold
    against all others; else each of them is named with its errors, the worst one first.
    """
    best, won = facts.best
    recommending = {test.worse for test in won if facts.recommends(test.metric)}
    is_whole = best not in {*facts.disqualified, *facts.discounted}
    if not (is_whole and recommending and facts.rivals(best) <= recommending):
        return None
    columns = _by_metric(facts, won)
    columns.sort(key=lambda tests: not facts.recommends(tests[0].metric))
    first, *more = _needed(columns)
    reasons = [Reason("take", tests=first)]
    if len({test.worse for test in won}) > len(first):
        reasons += [Reason("also-better", tests=tests) for tests in more[:1]]
    else:
        reasons += [Reason("worse", tests=tests) for tests in _errors_of_each(facts, first)]
    return ComparisonVerdict("take", [best], reasons)


def fewer_errors(facts: Facts) -> ComparisonVerdict | None:
    """A system that beats each of its rivals by errors alone, or is not whole, is only praised."""
    best, won = facts.best
    if not won or not facts.rivals(best) <= {test.worse for test in won}:
        return None
    first, *more = _needed(_by_metric(facts, won))
    reasons = [Reason("better", tests=first)]
    reasons += [Reason("also-better", tests=tests) for tests in more[:1]]
    return ComparisonVerdict("fewer-errors", [best], reasons)


def more_errors(facts: Facts) -> ComparisonVerdict | None:
    """Metrics of errors alone do not say whom to avoid, only who makes most errors."""
    if any(map(facts.recommends, facts.metrics)):
        return None
    tests = _most_frequent(facts.uncontested)
    return ComparisonVerdict("more-errors", [tests[0].worse], [Reason("worse", tests=tests)])


def avoid(facts: Facts) -> ComparisonVerdict:
    """Some systems are worse than another one, and the rest cannot be told apart."""
    reasons = [_avoid(facts, facts.beaten)]
    if len(facts.contenders) > 1:
        are_listed = len(facts.contenders) <= MAX_NAMED < len(facts.beaten)
        reasons.append(Reason("equal", facts.contenders if are_listed else ()))
    return ComparisonVerdict("avoid", facts.beaten, reasons)


RULES: Sequence[Rule] = (
    one_system,
    no_metric,
    # No difference counts:
    untested,
    no_merit,
    no_difference,
    # Some do:
    disagree,
    take,
    fewer_errors,
    more_errors,
    avoid,
)
"""The rules, in the order in which they are tried; the last one always applies."""


def _find_contradiction(facts: Facts) -> tuple[PairTest, PairTest] | None:
    """Two tests that contradict each other: of two systems, or of three in a circle.

    Those of systems that others beat by all columns do not matter, unless they contradict that a
    system is best.
    """
    wins, unbeaten = facts.wins, facts.unbeaten
    for first, second in [*product(unbeaten, unbeaten), *product(unbeaten, facts.beaten)]:
        if (first, second) in wins and (second, first) in wins:
            return wins[second, first][0], wins[first, second][0]
    if unbeaten:
        return None
    tests = [test for won in wins.values() for test in won]
    circles = (
        (won, lost)
        for won, lost in product(tests, tests)
        if won.better == lost.worse and won.metric != lost.metric
    )
    return next(circles, None)


def _agreeing_errors(facts: Facts, tests: Sequence[PairTest]) -> Sequence[PairTest]:
    """The tests of errors of the two systems that metrics of quality disagree about.

    There are none if such tests disagree, too.
    """
    if any(facts.counts_errors(test.metric) for test in tests):
        return ()
    pairs = {(test.better, test.worse) for test in tests}
    pairs |= {(worse, better) for better, worse in pairs}
    errors = [
        test
        for pair in sorted(pairs)
        for test in facts.wins.get(pair, ())
        if facts.counts_errors(test.metric)
    ]
    return errors if len({test.worse for test in errors}) == 1 else ()


def _by_metric(facts: Facts, won: Sequence[PairTest]) -> list[list[PairTest]]:
    """A system's tests by metric: the reason that holds for most others first, then quality."""
    names = sorted(facts.metrics, key=facts.counts_errors)
    columns = ([test for test in won if test.metric == name] for name in names)
    return sorted(filter(None, columns), key=len, reverse=True)


def _needed(columns: Sequence[list[PairTest]]) -> list[list[PairTest]]:
    """The first column, and those that say something of systems of which it says nothing.

    If it says something of all others, so do all columns.
    """
    first, *more = columns
    missed = {test.worse for tests in columns for test in tests} - {test.worse for test in first}
    if missed:
        more = [tests for tests in more if not missed.isdisjoint(test.worse for test in tests)]
    return [first, *more]


def _errors_of_each(facts: Facts, won: Sequence[PairTest]) -> Iterator[Sequence[PairTest]]:
    """The clearest errors of each beaten system that has some, from the worst score on."""
    name = won[0].metric
    sign = 1 if facts.metrics[name].higher_is_better else -1
    beaten = [system for system in facts.systems if any(test.worse == system for test in won)]
    for system in sorted(beaten, key=lambda system: sign * facts.scores[name][system]):
        lost = [test for test in facts.uncontested if test.worse == system]
        if errors := [test for test in lost if facts.counts_errors(test.metric)]:
            yield _most_frequent(errors)


def _avoid(facts: Facts, systems: Sequence[str]) -> Reason:
    """Whom to avoid: of one system all tests that show it, of several one of each that is named."""
    columns = [
        _most_frequent([test for test in facts.uncontested if test.worse == system])
        for system in systems[:MAX_NAMED]
    ]
    tests = columns[0] if len(systems) == 1 else [first for first, *_ in columns]
    return Reason("avoid", systems, tests)


def _most_frequent(tests: Sequence[PairTest]) -> list[PairTest]:
    """The tests by one metric that most systems win against one system."""
    ((name, system), _), *_ = Counter((test.metric, test.worse) for test in tests).most_common(1)
    return [test for test in tests if (test.metric, test.worse) == (name, system)]
