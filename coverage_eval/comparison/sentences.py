"""The words of a verdict: a template for each of its reasons, and for faults that need no test."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from coverage_eval.comparison.facts import (
    MANY_OUTPUTS,
    BrokenOutputs,
    Facts,
    Fault,
    LineFaults,
    Obstacle,
    PairTest,
)
from coverage_eval.comparison.verdict import MAX_NAMED, ComparisonVerdict, Reason, Template
from coverage_eval.core.metric import Measure
from coverage_eval.core.report import DECISIVE, format_number, format_p
from coverage_eval.core.sampled_texts import percent
from coverage_eval.outputs.output_errors import KINDS

MAX_SENTENCES = 3
"""Sentences of a verdict, at most."""

DIGITS, _MAX_DIGITS = 2, 12
"""Digits of a score after the decimal point, at least, and where more tell it from another."""

_MAX_PASSAGES = 9
"""Passages that a sentence lists."""

TEMPLATES: Mapping[Template, str] = {
    "one-system": "{the.systems}: {the.figures}.",
    "no-metric": "No verdict: no score here can tell which system is better.",
    "no-resamples": "Nothing was tested, because no resamples were drawn.",
    "few-resamples": "{facts.resamples} resamples cannot show a difference: draw "
    "{facts.min_resamples} or more (--resamples).",
    "many-tests": "{facts.all_tests:,} tests are too many to show a difference.",
    "few-segments": "{facts.segments} segments are too few to show a difference: p is at best "
    "{facts.best_p:.2g}{the.corrected}.",
    "padding": "{the.better} {the.merit}, but no more than its length alone, or words that most of "
    "its outputs share, can give.",
    "contradicted": "Omissions and lengths point to different systems, so neither is named.",
    "no-merit": "Fewer errors of {the.systems} are no merit.",
    "unsure": "{the.better} {the.merit}, which may be chance: a verdict asks for p < "
    "{the.level:g}.",
    "no-difference": "No{the.other} difference{the.in_omissions} that these texts can show.",
    "disagree": "The scores disagree: {the.preferences}.",
    "figures": "{the.opposed_figures}.",
    "errors": "{the.worse} {the.errors} more than {the.better}.",
    "take": "Take {the.better}: it {the.merit}.",
    "better": "{the.better} {the.merit}.",
    "also-better": "It {the.merit}.",
    "worse": "{the.worse} {the.weakness}.",
    "avoid": "Avoid {the.avoided}.",
    "equal": "No test tells {the.systems} apart.",
}
"""Each sentence; ``the`` are its :class:`Phrases`."""


def write_verdict(
    verdict: ComparisonVerdict, facts: Facts, name: Callable[[str], str] = str
) -> tuple[str, ...]:
    """A verdict in at most three sentences: faults, the headline and its reasons, then doubts.

    Args:
        verdict: The verdict.
        facts: What it was made from.
        name: What sentences call a system; by default its own name.
    """
    sentences = []
    if facts.faults:
        sentences.append(_write_faults(facts, verdict.systems, name))
    for reason in verdict.reasons:
        phrases = Phrases(facts, name, reason)
        sentences.append(TEMPLATES[reason.template].format(the=phrases, facts=facts))
    sentences += [
        f"{facts.metrics[metric].name} has no say: {why}." for metric, why in facts.doubts.items()
    ]
    return tuple(sentences[:MAX_SENTENCES])


def write_obstacle(obstacle: Obstacle, facts: Facts) -> str:
    """Why no test could show a difference."""
    return TEMPLATES[obstacle].format(the=Phrases(facts, str, Reason(obstacle)), facts=facts)


def _write_faults(facts: Facts, first: Sequence[str], name: Callable[[str], str]) -> str:
    """What is wrong with systems' texts, of some systems first."""
    systems = sorted(facts.faults, key=lambda system: system not in first)
    clauses = []
    for system in systems[:MAX_NAMED]:
        phrase, *more = (_fault_phrase(fault, facts.segments) for fault in facts.faults[system])
        clauses.append(name(system) + ", and ".join([phrase, *(m.lstrip(": ") for m in more)]))
    if rest := systems[MAX_NAMED:]:
        who = name(rest[0]) if len(rest) == 1 else f"{len(rest)} others"
        clauses.append(f"{who} {'has' if len(rest) == 1 else 'have'} such faults")
    return f"{'; '.join(clauses)}."


def _fault_phrase(fault: Fault, segments: int) -> str:
    """What follows a system's name: `` lacks 3 of 40 lines``, ``: 20 of 200 outputs …``."""
    if isinstance(fault, LineFaults):
        return f" {line_phrase(fault)}"
    if isinstance(fault, BrokenOutputs):
        return f": {output_phrase(fault, segments)}"
    return f" {fault}" if fault.startswith("has ") else f": {fault}"


def line_phrase(fault: LineFaults) -> str:
    """What a system does: ``lacks 3 of 40 lines: 5–6, 21``."""
    phrases = []
    if fault.extra > MANY_OUTPUTS:
        phrases.append(f"has {percent(fault.extra)} of its words in no line")
    if fault.missing:
        ranges = fault.ranges[:_MAX_PASSAGES]
        listed = [str(first) if first == last else f"{first}–{last}" for first, last in ranges]
        listed += ["…"] * (len(fault.ranges) > _MAX_PASSAGES)
        where = ", or has them elsewhere" if fault.is_elsewhere else ""
        phrases.append(
            f"lacks {fault.missing:,} of {fault.lines:,} lines{where}: {', '.join(listed)}"
        )
    return " and ".join(phrases)


def output_phrase(fault: BrokenOutputs, segments: int) -> str:
    """How many outputs have an error: ``20 of 200 outputs are refusals …``."""
    kinds = fault.kinds
    do = KINDS[kinds[0]] if len(kinds) == 1 else f"are broken ({', '.join(kinds)})"
    return f"{fault.outputs:,} of {segments:,} outputs {do}"


@dataclass(frozen=True)
class Phrases:
    """The parts of a sentence, which templates name; each is made when it is asked for.

    Args:
        facts: What the verdict was made from.
        name: What sentences call a system.
        reason: What the sentence says.
    """

    facts: Facts
    name: Callable[[str], str]
    reason: Reason
    level: ClassVar[float] = DECISIVE

    @property
    def systems(self) -> str:
        """The systems that the sentence lists."""
        return self._list(self.reason.systems) if self.reason.systems else "the others"

    @property
    def better(self) -> str:
        """The system that wins the tests."""
        return self.name(self.reason.tests[0].better)

    @property
    def worse(self) -> str:
        """The system that loses the tests."""
        return self.name(self.reason.tests[0].worse)

    @property
    def corrected(self) -> str:
        """For how many tests a p-value is corrected, if for several."""
        number = self.facts.all_tests
        return f" in {number:,} tests" if number > 1 else ""

    @property
    def other(self) -> str:
        """Whether a sentence before this one names faults."""
        return " other" if self.facts.faults else ""

    @property
    def in_omissions(self) -> str:
        """What was compared, if omissions are all."""
        measures = {metric.measures for metric in self.facts.metrics.values()}
        return " in omissions" if measures == {Measure.OMISSIONS} else ""

    @property
    def figures(self) -> str:
        """All scores of a single system."""
        figures = [self._figure(name, self.facts.systems[0]) for name in self.facts.metrics]
        return ", ".join(figures) or "one system, so nothing to compare"

    @property
    def merit(self) -> str:
        """What the system does better than others by one metric, and the figures."""
        tests = self.reason.tests
        than = self._than(tests[0].better, [test.worse for test in tests])
        return f"{self._does_better(tests[0])}{than} ({self._against(tests[0].better, tests)})"

    @property
    def weakness(self) -> str:
        """What the system does worse than others: ``repeats words, more than X (REP …)``."""
        tests = self.reason.tests
        system, metric = tests[0].worse, self.facts.metrics[tests[0].metric]
        than = self._than(system, [test.better for test in tests])
        if metric.wording is None:
            does = f"has a worse {metric.name}{than}"
        else:
            does = f"{metric.wording.does}{f', more{than}' if than else ''}"
        return f"{does} ({self._against(system, tests)})"

    @property
    def avoided(self) -> str:
        """Whom to avoid, and why."""
        tests, number = self.reason.tests, len(self.reason.systems)
        if number == 1:
            return f"{self.worse}: it {self.weakness}"
        named = [f"{self.name(t.worse)} ({self._figure(t.metric, t.worse)})" for t in tests]
        return _join([*named, f"{number - MAX_NAMED} more"] if number > MAX_NAMED else named)

    @property
    def preferences(self) -> str:
        """What the better system of each of two tests does, as in ``sys1 repeats less``."""
        first, second = self.reason.tests
        are_of_two = {first.better, first.worse} == {second.better, second.worse}
        return ", ".join(
            f"{self.name(test.better)} {self._does_better(test)}"
            f"{'' if are_of_two else f' than {self.name(test.worse)}'}"
            for test in (first, second)
        )

    @property
    def errors(self) -> str:
        """What the worse system does by several metrics: ``repeats words and drops words``."""
        kinds = (self.facts.metrics[test.metric] for test in self.reason.tests)
        return _join([k.wording.does if k.wording else f"has more {k.name}" for k in kinds])

    @property
    def opposed_figures(self) -> str:
        """The figures of two tests, with the names of their metrics."""
        pairs = (self._against(test.better, [test], labelled=True) for test in self.reason.tests)
        return "; ".join(pairs)

    def _does_better(self, test: PairTest) -> str:
        """What the better of two systems does: ``repeats less``, ``has a better BLEU``."""
        metric = self.facts.metrics[test.metric]
        return metric.wording.less if metric.wording else f"has a better {metric.name}"

    def _than(self, system: str, others: Sequence[str]) -> str:
        """With which others a system is compared; empty if it is all its rivals."""
        rivals = self.facts.rivals(system)
        return "" if rivals and rivals <= {*others} else f" than {self._list(others)}"

    def _against(self, system: str, tests: Sequence[PairTest], *, labelled: bool = False) -> str:
        """The scores of both sides and the greatest p: ``REP 2.33 against 4 to 5, p ≤ 0.012``.

        The name of a metric of quality stands before its figures only if that is asked for.
        """
        name, p_value = tests[0].metric, format_p(max(test.p_value for test in tests))
        metric, scores = self.facts.metrics[name], self.facts.scores[name]
        others = {test.worse if test.better == system else test.better for test in tests}
        ends = [choose(others, key=scores.__getitem__) for choose in (min, max)]
        digits = _digits_between(scores[system], *(scores[other] for other in ends))
        shown = dict.fromkeys(self._score(name, other, digits).partition(" ")[0] for other in ends)
        label = f"{metric.name} " if labelled or metric.wording else ""
        p_value = p_value.replace("=", "≤") if len(tests) > 1 else p_value
        score = self._score(name, system, digits)
        hints = {self.facts.confirmed.get(test[:3], "") for test in tests}
        agrees = "".join(f"; {hint} agrees" for hint in hints if hint and len(hints) == 1)
        return f"{label}{score} against {' to '.join(shown)}, {p_value}{agrees}"

    def _figure(self, name: str, system: str) -> str:
        """A score with its metric: ``REP 2.33``, or ``Omissions 57 of 104``."""
        return f"{self.facts.metrics[name].name} {self._score(name, system)}"

    def _score(self, name: str, system: str, digits: int = DIGITS) -> str:
        """A score: ``2.33``, ``57 of 104``, or ``3.21%`` if it is a mean probability."""
        wording, score = self.facts.metrics[name].wording, self.facts.scores[name][system]
        if wording is None or not wording.of_segments:
            return format_number(score, digits)
        segments = self.facts.segments
        count = score / 100 * segments
        if not math.isclose(count, round(count), abs_tol=1e-6):
            return f"{format_number(score, digits)}%"
        return f"{round(count):,} of {segments:,}"

    def _list(self, systems: Sequence[str]) -> str:
        """The names of systems; of many, their number."""
        many = len(systems) > MAX_NAMED
        return f"{len(systems)} others" if many else _join(map(self.name, systems))


def _digits_between(score: float, *others: float) -> int:
    """How many digits tell a score from others, at least :data:`DIGITS`."""
    digits = DIGITS
    while digits < _MAX_DIGITS and any(
        other != score and format_number(other, digits) == format_number(score, digits)
        for other in others
    ):
        digits += 1
    return digits


def _join(names: Iterable[str]) -> str:
    """Names with commas and an "and"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
