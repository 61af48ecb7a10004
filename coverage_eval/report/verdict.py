"""The report's first screen: which system, why, how sure, what speaks against it, and the ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from coverage_eval.comparison.comparison import Comparison
from coverage_eval.comparison.presentation import better_phrase
from coverage_eval.comparison.ranking import SystemRanking, TestedPair, is_of_errors, rank_systems
from coverage_eval.comparison.trust import Trust, doubtful_metrics
from coverage_eval.data.input_checks import Gravity
from coverage_eval.data.sample import MIN_SEGMENTS
from coverage_eval.metrics.named_errors import KINDS
from coverage_eval.report.page import Answer, AnswerRow, Standing
from coverage_eval.tables.table import format_figure, format_p

NAMED = 3
"""Systems that a sentence names; of more it gives the number."""


def make_verdict(comparison: Comparison, trust: Mapping[str, Trust] | None = None) -> Answer:
    """Say which system to take.

    Args:
        comparison: The systems.
        trust: How far metrics can be believed on these texts, by their keys. Those that find too
            little come last in the table and have no say.
    """
    trust = {name: one for name, one in (trust or {}).items() if name in comparison.metrics}
    doubtful = doubtful_metrics(trust)
    ranking = rank_systems(comparison, doubtful)
    names = sorted(
        comparison.metrics,
        key=lambda name: (name in doubtful, not is_of_errors(comparison, name)),
    )
    rows = [
        AnswerRow(
            system,
            _remark(comparison, system),
            bool(ranking and ranking.pairs and system == ranking.chosen),
            [
                _standing(comparison, ranking, name, system, is_doubtful=name in doubtful)
                for name in names
            ],
        )
        for system in comparison.rows
    ]
    metrics = [comparison.metrics[name].name for name in names]
    grey = [comparison.metrics[name].name for name in names if name in doubtful]
    is_told = ranking is not None and any(pair.significant for pair in ranking.pairs)
    chosen = ranking.chosen if ranking and is_told else None
    caveats = [*_doubts(comparison, trust), *_caveats(comparison, chosen)]
    answer = partial(Answer, metrics=metrics, rows=rows, doubtful=grey)
    if ranking is None:
        headline = f"{', '.join(comparison.rows)}: one system, so nothing to compare"
        if len(comparison.rows) > 1:
            headline = "No verdict: no score here can tell which system is better"
        return answer(headline, "", "", [], caveats)
    if not ranking.pairs:
        sure = "Nothing was tested (--resamples 0), so chance may explain every difference."
        return answer("No verdict without a test", "", sure, [], caveats)
    if not is_told:
        count = len(ranking.systems)
        headline = f"No difference between the {_number(count)} systems is significant"
        sure = f"In {comparison.segments:,} segments, these differences may be chance."
        return answer(headline, "", sure, [], caveats)
    against = [*_objections(ranking), *caveats]
    why = list(_reasons(ranking))
    return answer(_headline(ranking), ranking.chosen, _how_sure(ranking), why, against)


def _remark(comparison: Comparison, system: str) -> str:
    if system in comparison.silent:
        return "nearly empty"
    return "baseline" if system == comparison.baseline and comparison.others else ""


def _standing(
    comparison: Comparison,
    ranking: SystemRanking | None,
    name: str,
    system: str,
    *,
    is_doubtful: bool,
) -> Standing:
    metric, value = comparison.metrics[name], comparison.rows[system][name].score.score
    has_better = metric.higher_is_better is not None and not is_doubtful
    has_place = has_better and len(comparison.rows) > 1
    place = None
    if has_place:
        values = [cells[name].score.score for cells in comparison.rows.values()]
        low, high = min(values), max(values)
        place = (value - low) / (high - low) if high > low else 1.0
        place = place if metric.higher_is_better else 1.0 - place if high > low else 1.0
    ranks = ranking.ranks(name, system) if ranking and has_better else None
    return Standing(
        metric.name,
        value,
        shown_score(comparison, name, system),
        str(ranks or ""),
        place,
        bool(ranks and ranks.first == 1),
    )


def shown_score(comparison: Comparison, name: str, system: str) -> str:
    """A score as people read it: a share of segments as ``57 of 104``."""
    value = comparison.rows[system][name].score.score
    wording = comparison.metrics[name].wording
    if wording and wording.means.endswith(" segments"):
        return f"{round(value * comparison.segments / 100):,} of {comparison.segments:,}"
    return format_figure(value)


def _headline(ranking: SystemRanking) -> str:
    if not ranking.equals:
        return f"Take {ranking.chosen}"
    return f"Take {ranking.chosen}; {_listed(ranking.equals)} may be as good"


def _how_sure(ranking: SystemRanking) -> str:
    others = len(ranking.systems) - 1
    if not ranking.equals:
        if any(ranking.beating(name) for name in ranking.metrics):
            return "The scores disagree: it is significantly better by some, and worse by others."
        said = {1: "The other system is", 2: "Both others are"}.get(
            others, f"All {_number(others)} others are"
        )
        return f"{said} significantly worse by at least one score, and not better by any."
    told = f"{_listed(ranking.equals, 8)} {'is' if len(ranking.equals) == 1 else 'are'}"
    return f"Not sure: {told} not significantly different from it by any score."


def _reasons(ranking: SystemRanking) -> Iterator[str]:
    """One for each metric by which the chosen system is significantly better than another."""
    for name in ranking.metrics:
        pairs = ranking.beaten(name)
        if not pairs:
            continue
        others = [pair.worse for pair in pairs]
        all_others = len(pairs) == len(ranking.systems) - 1
        than = "" if all_others and len(pairs) == 1 else f" than {_listed(others)}"
        if all_others and len(pairs) > NAMED:
            than = f" than all {_number(len(pairs))} others"
        does = _capital(better_phrase(ranking.comparison, name))
        yield f"{does}{than} ({_figures(ranking, name, others, pairs)})."


def _objections(ranking: SystemRanking) -> Iterator[str]:
    """By which scores another system is significantly better, and which only look better."""
    comparison = ranking.comparison
    for name in ranking.metrics:
        if pairs := ranking.beating(name):
            others = [pair.better for pair in pairs]
            figures = _figures(ranking, name, others, pairs)
            who = _listed(others) if len(others) == 1 else f"Each of {_listed(others)}"
            yield f"{who} {better_phrase(comparison, name)} ({figures})."
    seeming = []
    for name in ranking.metrics:
        own = comparison.rows[ranking.chosen][name].score.score
        sign = 1 if comparison.metrics[name].higher_is_better else -1
        beating = {pair.better for pair in ranking.beating(name)}
        better = [
            system
            for system in ranking.systems
            if sign * (comparison.rows[system][name].score.score - own) > 0
            and system not in beating
        ]
        if better:
            metric = comparison.metrics[name].name
            seeming.append(f"{metric} of {_listed(better)}")
    if seeming:
        yield f"Better, but not significantly: {'; '.join(seeming)}."


def _doubts(comparison: Comparison, trust: Mapping[str, Trust]) -> Iterator[str]:
    """Which metrics have no say, and why."""
    for name, one in trust.items():
        if one.is_low:
            said = str(one).removeprefix("on your text: ")
            yield f"{comparison.metrics[name].name} is grey and has no say: {said}."


def _caveats(comparison: Comparison, chosen: str | None) -> Iterator[str]:
    if silent := comparison.silent:
        yield f"{_listed(silent)} says so little that its low scores of errors mean nothing."
    if comparison.segments < MIN_SEGMENTS:
        yield f"There are only {comparison.segments} segments."
    if not any(is_of_errors(comparison, name) for name in comparison.metrics):
        yield "No score here finds single errors."
    warnings = [  # but broken outputs of the others, which speak for this system
        one
        for one in comparison.measured.findings
        if one.gravity < Gravity.NOTE and (chosen in {None, one.text} or one.check not in KINDS)
    ]
    own = [one.message for one in warnings if one.text and one.text == chosen][:NAMED]
    yield from (f"{said}." for said in own)
    if rest := len(warnings) - len(own):
        more = "more " if own else ""
        noun = "warning" if rest == 1 else "warnings"
        yield f"{_capital(_number(rest))} {more}{noun} about the texts: see the end of this page."


def _figures(
    ranking: SystemRanking, name: str, others: Sequence[str], pairs: Sequence[TestedPair]
) -> str:
    """The scores of both sides and the greatest p: ``REP 2.33 against 4.01, p = 0.012``."""
    comparison = ranking.comparison
    own = shown_score(comparison, name, ranking.chosen)
    values = sorted(others, key=lambda system: comparison.rows[system][name].score.score)
    first, last = (shown_score(comparison, name, values[place]) for place in (0, -1))
    against = first if len(values) == 1 or first == last else f"{first} to {last}"
    greatest = max(pair.p for pair in pairs)
    p = format_p(greatest)
    if len(pairs) > 1:
        p = p.replace("=", "≤")
    return f"{comparison.metrics[name].name} {own} against {against}, {p}"


def _listed(names: Sequence[str], most: int = NAMED) -> str:
    if len(names) > most:
        return f"{_number(len(names))} others"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
