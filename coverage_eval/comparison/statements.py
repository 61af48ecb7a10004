"""What the tests of a comparison tell apart: a statement for each column that has a direction.

A statement says of one system which others are significantly better or worse, and nothing else: of
a score of errors it names the system with most of them, of a score of quality the best one and
those that no test tells from it, as in the clusters of the WMT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any, NamedTuple

from coverage_eval.comparison.evidence import flags_segments
from coverage_eval.comparison.pairs import PairTests, systems_as_references
from coverage_eval.core.metric import Metric
from coverage_eval.core.report import SIGNIFICANT, digits_apart, format_number, format_p
from coverage_eval.core.result import Result
from coverage_eval.core.tokenizers import Segment, segment_text

MAX_LINES = 4
"""Lines of statements; more sentences share lines."""

USUAL_LENGTHS = (0.9, 1.1)
"""Lengths, as a share of the others', of which nothing is said."""

Namer = Callable[[str], str]


class Statement(NamedTuple):
    """What the tests by one metric tell apart.

    Each system of ``better`` is significantly better than each of ``worse``; one of the two has a
    single system. No test tells further systems from that one.

    Attributes:
        metric: The metric's key.
        better: The better systems; of a score of quality the best one.
        worse: The worse systems; of a score of errors the one with most errors.
        p_value: The largest p-value of these tests after the correction.
    """

    metric: str
    better: Sequence[str]
    worse: Sequence[str]
    p_value: float


@dataclass(frozen=True)
class Statements:
    """What a comparison shows.

    Attributes:
        metrics: The metrics that have a direction, by their keys; those of errors first.
        scores: By metric, then system.
        systems: The systems that are compared: those that are no reference and whose scores mean
            something.
        statements: One for each metric by which a test tells two systems apart.
        obstacle: Why no test could have told systems apart; empty if one could.
        tests: The tests of all pairs.
        segments: Number of segments.
        has_figures: Whether sentences about quality have their figures inside.
    """

    metrics: Mapping[str, Metric]
    scores: Mapping[str, Mapping[str, float]]
    systems: Sequence[str]
    statements: Sequence[Statement]
    obstacle: str
    tests: PairTests
    segments: int
    has_figures: bool = True

    @property
    def deciding(self) -> Statement | None:
        """The statement of most pairs of systems; of equal ones that of errors in segments."""
        return max(
            self.statements,
            key=lambda item: (
                len(item.better) * len(item.worse),
                bool(self.metrics[item.metric].presentation.more_errors),
                flags_segments(self.metrics[item.metric]),
            ),
            default=None,
        )

    def to_dicts(self) -> list[dict[str, Any]]:
        """The statements as plain values."""
        return [
            {
                "metric": self.metrics[item.metric].presentation.name,
                "systems": {"better": [*item.better], "worse": [*item.worse]},
                "p_value": item.p_value,
            }
            for item in self.statements
        ]

    def write(self, name: Namer = str) -> tuple[str, ...]:
        """The statements in at most four lines.

        Args:
            name: What sentences call a system; by default its own name.
        """
        if len(self.scores) == 0:
            return ("No score here says which system is better.",)
        if len(self.systems) < 2:
            figures = [self._figure(key, system) for system in self.systems for key in self.metrics]
            if not figures:
                return ("There is nothing to compare.",)
            return (f"{name(self.systems[0])}: {', '.join(figures)}.",)
        if self.obstacle:
            return (self.obstacle,)
        errors = [
            item for item in self.statements if self.metrics[item.metric].presentation.more_errors
        ]
        quality = [item for item in self.statements if item not in errors]
        parts = [
            [self._write_errors(item, name) for item in errors],
            self._write_quality(quality, name),
        ]
        told = {item.metric for item in self.statements}
        equal = [key for key in self.metrics if key not in told]
        parts += [[self._write_equal(equal, name)] if equal else []]
        lines = [line for part in parts for line in part]
        return tuple(lines if len(lines) <= MAX_LINES else map(" ".join, filter(None, parts)))

    def _write_errors(self, item: Statement, name: Namer) -> str:
        """``a repeats more than b: REP 4.01 against 2.33 (p = 0.003).``."""
        (worst,) = item.worse
        than = self._list_others(worst, item.better, name)
        more = self.metrics[item.metric].presentation.more_errors
        figures, _, p_value = self._against(item).rpartition(", ")
        label = self._label(item.metric)
        return f"{name(worst)} {more} than {than}: {label} {figures} ({p_value})."

    def _write_quality(self, items: Sequence[Statement], name: Namer) -> list[str]:
        """The statements about quality; columns that say the same of systems share a sentence."""
        groups: dict[tuple[Any, ...], list[Statement]] = {}
        for item in items:
            is_best = self._ranked(item.metric, self.systems)[0] == item.better[0]
            form = (self._is_cluster(item), "" if is_best else item.metric)
            groups.setdefault((*item.better, *item.worse, *form), []).append(item)
        if len(self.systems) == 2 and groups:
            clauses: list[str] = []
            for group in groups.values():
                verb = "" if clauses else "has "
                better = f"{verb}the better {self._with_figures(group)}"
                clauses.append(f"{name(group[0].better[0])} {better}")
            return [f"{', '.join(clauses)}."]
        return [f"{self._write_best(group, name)}." for group in groups.values()]

    def _write_best(self, group: Sequence[Statement], name: Namer) -> str:
        """Which of several systems are best by columns that say the same."""
        item, system = group[0], group[0].better[0]
        labels = _join(self._label(each.metric) for each in group)
        ranked = self._ranked(item.metric, self.systems)
        rest = [other for other in ranked if other not in (system, *item.worse)]
        if not rest:
            return f"{name(system)} has the best {self._with_figures(group)}"
        if ranked[0] != system:
            than = self._list_others(system, item.worse, name)
            return f"{name(system)} has a better {labels} than {than}{self._in_brackets(item)}"
        if self._is_cluster(item):
            alike = _join(map(name, [system, *rest]))
            return f"{alike} have the best {labels}; no test tells them apart"
        if len(item.worse) < len(rest):
            worse = f"only {_join(map(name, item.worse))} {'is' if len(item.worse) == 1 else 'are'}"
            return f"{name(system)} has the best {labels}; {worse} significantly worse"
        alike = _join(map(name, rest))
        return f"{name(system)} has the best {labels}; no test tells {alike} from it"

    def _with_figures(self, group: Sequence[Statement]) -> str:
        """Columns with their figures: ``BLEU (30.01 against 28.20, p = 0.003)``."""
        return _join(f"{self._label(each.metric)}{self._in_brackets(each)}" for each in group)

    def _in_brackets(self, item: Statement) -> str:
        return f" ({self._against(item)})" if self.has_figures else ""

    def _is_cluster(self, item: Statement) -> bool:
        """Whether the best systems are the first ones of the table, all of them alike."""
        ranked = self._ranked(item.metric, self.systems)
        size = len(self.systems) - len(item.worse)
        by_pair = self.tests.by_metric[item.metric]
        return {*ranked[size:]} == {*item.worse} and all(
            by_pair[frozenset(pair)].adjusted >= SIGNIFICANT
            for pair in combinations(ranked[:size], 2)
        )

    def _ranked(self, key: str, systems: Iterable[str]) -> list[str]:
        return best_first(self.metrics[key], self.scores[key], systems)

    def _write_equal(self, keys: Sequence[str], name: Namer) -> str:
        """By which columns no test tells systems apart; if by none, what could have been shown."""
        who = "them" if self.statements else _join(map(name, self.systems))
        if len(self.systems) > 2:
            who = f"any two of the {len(self.systems)} systems"
        sentence = f"No test tells {who} apart by {_join(map(self._label, keys))}"
        if self.statements or not self.tests.detectable:
            return f"{sentence}."
        shown = [f"{self._label(key)} {self.tests.detectable[key]:.2g}" for key in keys]
        could = f"{self.segments:,} segments can show differences from about {_join(shown)} on"
        return f"{sentence}; {could}."

    def _list_others(self, system: str, others: Sequence[str], name: Namer) -> str:
        """With which others a system is compared, all of them named or counted."""
        rest = [other for other in self.systems if other not in (system, *others)]
        if len(others) > 2 and len(rest) < len(others):
            each = f"each of the other {len(others) + len(rest)}"
            return f"{each} but {_join(map(name, rest))}" if rest else each
        return _join(map(name, others))

    def _against(self, item: Statement) -> str:
        """The figures and the p-value: ``30.01 against 28.20, p = 0.003``."""
        _, others, figure, span = self.figures(item)
        are_all = len(others) > 1 and len(others) == len(self.systems) - 1
        p_value = format_p(item.p_value)
        return (
            f"{figure}{', the others' if are_all else ' against'} {span}, "
            f"{p_value.replace('=', '≤') if len(others) > 1 else p_value}"
        )

    def figures(self, item: Statement) -> tuple[str, Sequence[str], str, str]:
        """The single system of a statement, the others, its score, and from where to where theirs.

        The scores have the digits that tell them apart.
        """
        is_worst = bool(self.metrics[item.metric].presentation.more_errors)
        (system,), others = (item.worse, item.better) if is_worst else (item.better, item.worse)
        scores = self.scores[item.metric]
        ends = [choose(scores[other] for other in others) for choose in (min, max)]
        digits = digits_apart(scores[system], ends)
        span = " to ".join(dict.fromkeys(format_number(end, digits) for end in ends))
        return system, others, format_number(scores[system], digits), span

    def _figure(self, key: str, system: str) -> str:
        return f"{self._label(key)} {format_number(self.scores[key][system])}"

    def _label(self, key: str) -> str:
        return self.metrics[key].presentation.name


def make_statements(result: Result, tests: PairTests) -> Statements:
    """State what tests tell apart; no order of systems or metrics changes it.

    Args:
        result: The result of the evaluation.
        tests: The tests of all pairs by all columns.
    """
    left_out = {*systems_as_references(result), *unusable_systems(result)}
    systems = [system for system in result.systems if system not in left_out]
    directed = {
        k: m for k, m in result.metrics.items() if m.presentation.higher_is_better is not None
    }
    metrics = dict(sorted(directed.items(), key=lambda item: not item[1].presentation.more_errors))
    scores = {key: {s: result.score(key, s).score for s in systems} for key in metrics}
    found = []
    for key, metric in metrics.items() if tests.by_metric else ():
        ranked = best_first(metric, scores[key], systems)
        told = {pair for pair, test in tests.by_metric[key].items() if test.adjusted < SIGNIFICANT}
        for system in ranked[::-1] if metric.presentation.more_errors else ranked:
            at = ranked.index(system)
            others = ranked[:at] if metric.presentation.more_errors else ranked[at + 1 :]
            others = [other for other in others if frozenset((system, other)) in told]
            if others:
                p_values = (tests.by_metric[key][frozenset((system, o))].adjusted for o in others)
                sides = (
                    (others, [system]) if metric.presentation.more_errors else ([system], others)
                )
                found.append(Statement(key, *sides, max(p_values)))
                break
    return Statements(
        metrics, scores, systems, found, _obstacle(result.segments, tests), tests, result.segments
    )


def best_first(metric: Metric, scores: Mapping[str, float], systems: Iterable[str]) -> list[str]:
    """Systems by their scores; those with equal scores by their names."""
    sign = -1 if metric.presentation.higher_is_better else 1
    return sorted(systems, key=lambda system: (sign * scores[system], system))


def _obstacle(segments: int, tests: PairTests) -> str:
    """Why no test could show a difference; empty if one could."""
    if tests.number and not tests.by_metric:
        return "Nothing was tested, because no resamples were drawn."
    # If all segments tell two systems apart, half of all exchanges but one have smaller
    # differences.
    best = min(1.0, tests.number * 2.0 ** (1 - segments))
    if best < SIGNIFICANT:
        return ""
    corrected = f" in {tests.number:,} tests" if tests.number > 1 else ""
    return (
        f"{segments} segments are too few to show a difference: p is at best {best:.2g}{corrected}."
    )


_UNUSABLE = {"too-short", "foreign-output"}
"""Kinds of findings in a text whose low scores mean nothing."""


def unusable_systems(result: Result) -> list[str]:
    """The systems whose low scores mean nothing, such as those that say far too little."""
    found = (item.texts for item in result.findings if item.kind in _UNUSABLE)
    return list(dict.fromkeys(text for texts in found for text in texts))


def remarks(result: Result) -> Iterator[str]:
    """What else is wrong with systems: one that is a reference, or of another length."""
    if result.texts is None or len(result.systems) < 2:
        return
    references = systems_as_references(result)
    for system, reference in sorted(references.items()):
        yield f"{system} is the same text as {reference}; no statement is about it."
    sample = result.texts.sample
    of = f" in a sample of {len(sample.rows):,}" if sample.size > len(sample.rows) else ""
    lengths = dict.fromkeys(result.systems, 0)
    whole = 0.0
    for row in sample.rows:
        for system, text in zip(result.systems, row.hypotheses, strict=True):
            lengths[system] += _letters(text)
        given = [*map(_letters, row.nonblank_references)]
        whole += sum(given) / max(1, len(given))
    for length, system in sorted((length, system) for system, length in lengths.items()):
        others = [other for name, other in lengths.items() if name != system]
        expected, whom = (
            (whole, "the references") if sample.references else (median(others), "the others")
        )
        ratio = length / expected if expected else 1.0
        if system not in references and not USUAL_LENGTHS[0] <= ratio <= USUAL_LENGTHS[1]:
            yield f"{system} has {format_number(ratio)} times the length of {whom}{of}."


def _letters(text: Segment) -> int:
    return len("".join(segment_text(text).split()))


def _join(names: Iterable[str]) -> str:
    """Names with commas and an "and"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
