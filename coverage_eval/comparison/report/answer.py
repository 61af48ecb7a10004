"""The answer at the top of a report, in three lines: who, how much, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from coverage_eval.comparison.evidence import flagged_segments, flags_segments
from coverage_eval.comparison.statements import Statement, Statements
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.report import format_number
from coverage_eval.outputs.output_errors import KINDS, main_error

_DOES = {"omission": "drop words", "repetition": "repeat words", "addition": "add words"}
"""What outputs with an error do."""

_PROBABLY = {"omission": "probably lack something", "addition": "probably add something"}
"""The same of metrics that know how likely an error is."""


Flags = Mapping[str, Mapping[str, Sequence[bool]]]
"""By metric that flags segments, and system: whether each output is flagged."""


def find_flags(comparison: Comparison, function_words: Set[str]) -> Flags:
    """Which outputs metrics flag, where function words alone are no error."""
    return {
        name: {
            system: flagged_segments(comparison.result, name, system, function_words).tolist()
            for system in comparison.rows
        }
        for name, metric in comparison.metrics.items()
        if flags_segments(metric)
    }


def write_answer(
    comparison: Comparison, flags: Flags, worst: str, commonest: tuple[str, int] | None
) -> tuple[str, str, str]:
    """What a reader should know after ten seconds, in lines that call systems ``⟦0⟧``, ``⟦1⟧``.

    Args:
        comparison: The systems.
        flags: What is flagged.
        worst: The system that the page opens with.
        commonest: The entry of a list of errors that it has most often, and how often.

    Returns:
        What the tests tell apart best; by how many outputs, or by which scores; and what is wrong
        with the outputs of the worst system, which may be empty.
    """
    stated = comparison.statements
    names = {system: f"⟦{number}⟧" for number, system in enumerate(comparison.rows)}
    item = stated.deciding
    if len(comparison.rows) == 1:
        who, how_much = _of_one_system(comparison, flags)
    elif item is None:
        who, _, rest = " ".join(stated.write(names.__getitem__)).partition("; ")
        who = f"{who.removesuffix('.')}."
        how_much = f"{rest[:1].upper()}{rest[1:]}"
    elif not stated.metrics[item.metric].presentation.more_errors:
        metrics = {item.metric: stated.metrics[item.metric]}
        only = replace(stated, metrics=metrics, statements=[item], obstacle="", has_figures=False)
        (who,) = only.write(names.__getitem__)
        who, how_much = who.removesuffix("."), _scores(stated, item, names)
    else:
        who, how_much = _of_errors(comparison, flags, item, names)
    whose = f" of {names[worst]}" if len(names) > 1 else ""
    return who, how_much, _why(comparison, worst, whose, commonest)


def _of_one_system(comparison: Comparison, flags: Flags) -> tuple[str, str]:
    """What the outputs of a single system do, and its scores."""
    (system,) = comparison.rows
    does = {_does(comparison, name): sum(flags[name][system]) for name in reversed([*flags])}
    clauses = [f"{count:,} {what}" for what, count in sorted(does.items(), key=lambda i: -i[1])]
    scores = ", ".join(
        f"{comparison.metrics[name].presentation.name} {format_number(cell.score.score)}"
        for name, cell in comparison.rows[system].items()
    )
    if not clauses:
        return scores, ""
    first, *others = clauses
    count, _, what = first.partition(" ")
    return ", ".join([f"{count} of {comparison.segments:,} outputs {what}", *others]), scores


def _of_errors(
    comparison: Comparison, flags: Flags, item: Statement, names: Mapping[str, str]
) -> tuple[str, str]:
    """Who makes most errors; systems that each make most of another kind share the line."""
    stated = comparison.statements
    alone: dict[str, Statement] = {}
    for other in stated.statements:
        is_alone = len(other.better) == len(stated.systems) - 1
        if stated.metrics[other.metric].presentation.more_errors and is_alone:
            known = alone.get(other.worse[0])
            if known is None or not flags_segments(stated.metrics[known.metric]):
                alone[other.worse[0]] = other
    told = [*alone.values()] or [item]
    do = [f"{names[t.worse[0]]} {stated.metrics[t.metric].presentation.more_errors}" for t in told]
    if alone and len(stated.systems) > 2:
        who = f"{' and '.join(do)} than any other system"
    else:
        others = [", ".join(names[system] for system in t.better) for t in told]
        who = ", ".join(f"{d} than {other}" for d, other in zip(do, others, strict=True))
    return who, "; ".join(_amount(comparison, flags, t, names) for t in told)


def _amount(comparison: Comparison, flags: Flags, item: Statement, names: Mapping[str, str]) -> str:
    """How many outputs of the worst and of the best system have the error, or their scores."""
    stated, (worst,) = comparison.statements, item.worse
    if item.metric not in flags or "documents" in stated.metrics[item.metric].needs:
        return _scores(stated, item, names)
    best = min(item.better, key=lambda system: (stated.scores[item.metric][system], system))
    count, least = (sum(flags[item.metric][system]) for system in (worst, best))
    if count < 2 * least:  # Numbers of outputs do not say what the scores say.
        return _scores(stated, item, names)
    return (
        f"{count:,} of {comparison.segments:,} outputs of {names[worst]} "
        f"{_does(comparison, item.metric)}, of {names[best]} {f'{least:,}' if least else 'none'}"
    )


def _does(comparison: Comparison, name: str) -> str:
    """What the outputs that a metric flags do."""
    error = comparison.metrics[name].presentation.kinds[0].error
    if comparison.result.fitted[name].has_segment_scores:
        return _PROBABLY.get(error, _DOES[error])
    return _DOES[error]


def _scores(stated: Statements, item: Statement, names: Mapping[str, str]) -> str:
    """The scores of a statement: ``BLEU 30.01 of a, 28.20 of b``."""
    first, others, figure, span = stated.figures(item)
    whose = names[others[0]] if len(others) == 1 else f"the other {len(others)}"
    if len(others) < len(stated.systems) - 1 and len(others) > 1:
        whose = f"{len(others)} others"
    label = stated.metrics[item.metric].presentation.name
    return f"{label} {figure} of {names[first]}, {span} of {whose}"


def _why(comparison: Comparison, worst: str, name: str, commonest: tuple[str, int] | None) -> str:
    """The commonest error of whole outputs of a system, or the word that it has wrong most."""
    errors = comparison.result.output_errors.get(worst, {}).values()
    counts = Counter(main_error(found).kind for found in errors)
    if counts:
        kind, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        return f"{count:,} outputs{name} {KINDS[kind]}"
    if commonest and commonest[1] > 1:
        entry, count = commonest
        return f"“{entry}” {count:,} times{name}, more often than others"
    return ""
