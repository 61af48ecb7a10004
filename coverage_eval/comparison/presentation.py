"""A comparison beside its table: plain sentences, segments, and all evidence."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple, TextIO

from coverage_eval.comparison.comparison import ComparedScore, Comparison
from coverage_eval.comparison.evidence import output_words, positions_on, source_words
from coverage_eval.comparison.segment_texts import segment_lines
from coverage_eval.metrics.measure import Metric
from coverage_eval.tables.table import (
    SIGNIFICANT,
    Cell,
    LazyRows,
    Printable,
    Table,
    escape_json,
    format_figure,
    format_p,
)
from coverage_eval.version import __version__


def present_comparison_segments(
    comparison: Comparison,
    worst: int | None = None,
    *,
    texts: bool = False,
    regressions: bool = False,
) -> Printable:
    """A row for each segment and system, with a column for each metric.

    Args:
        comparison: The systems.
        worst: How many rows to show, the worst by the first metric; None for all.
        texts: Print the texts, with errors in brackets, instead of rows.
        regressions: With ``worst``, show the segments that are worse than the baseline's by most.
    """
    header, found = comparison.segment_rows()
    rows: Sequence[tuple[Cell, ...]] = found
    if worst is not None:
        first = next(iter(comparison.metrics.values()))
        sign = -1 if first.higher_is_better is False else 1
        defined = [row for row in found if isinstance(row[2], float)]
        if regressions:
            before = {row[0]: row[2] for row in defined if row[1] == comparison.baseline}
            header = (*header, f"{first.name} of {comparison.baseline}")
            defined = [(*row, before[row[0]]) for row in defined if row[0] in before]

        def rank(row: tuple[Cell, ...]) -> float:
            return sign * (float(str(row[2])) - (float(str(row[-1])) if regressions else 0.0))

        shown = [row for row in defined if not regressions or rank(row) < 0]
        rows = sorted(shown, key=rank)[:worst]
    signatures = comparison.signatures

    def plain(row: tuple[Cell, ...]) -> dict[str, Cell]:
        return dict(zip(header, row, strict=True))

    table = Table(header, rows)
    return Printable(
        tuple(_texts_of(comparison, header, row, regressions) for row in rows)
        if texts
        else (table,),
        records=table,
        data={"signatures": signatures, "sentences": LazyRows(plain, rows)},
        signatures=tuple(signatures.values()),
    )


def _texts_of(
    comparison: Comparison, header: Sequence[str], row: tuple[Cell, ...], beside: bool
) -> Table:
    """One system's row with its texts below it, and the baseline's output if ``beside``."""
    segment, system, *scores = row
    shown = (
        f"{name} {format_figure(value) if isinstance(value, float) else 'undefined'}"
        for name, value in zip(header[2:], scores, strict=True)
    )
    result = comparison.measured
    index, place = int(str(segment)) - 1, result.systems.index(str(system))
    names = [name for name, metric in comparison.metrics.items() if metric.kinds]
    baseline = result.systems.index(comparison.baseline) if beside else None
    lines = segment_lines(result, names, index, place, baseline)
    return Table((), (), notes=(f"segment {segment}  {system}  {', '.join(shown)}", *lines))


_SMALL = 0.5
"""A significant difference below one word, segment or point in 200 is called small."""


class VerdictSentence(NamedTuple):
    """A sentence of the verdict.

    Attributes:
        size: ``real``, ``small``, ``doubtful`` if the metric finds little on these texts, ``none``,
            or ``untested`` where nothing was tested.
        metric: The metric's name.
        system: The system that differs from the baseline or does not; empty for several.
        text: The sentence.
    """

    size: str
    metric: str
    system: str
    text: str


def plain_verdict(comparison: Comparison, doubtful: Collection[str] = ()) -> list[str]:
    """The sentences of :func:`find_differences`; small and doubtful differences are called so."""
    prefix = {
        "small": "Significant, but small: ",
        "doubtful": "Significant, but by a score that finds little on this text: ",
    }
    found = find_differences(comparison, doubtful)
    return [prefix.get(item.size, "") + item.text for item in found]


def find_differences(
    comparison: Comparison, doubtful: Collection[str] = ()
) -> list[VerdictSentence]:
    """Which differences from the baseline are significant, which of these are small, and the rest.

    A difference is significant at p < 0.05, corrected as in the table. Metrics of errors come
    first, and for each metric the largest difference; sentences also give the number of words or
    segments in 100. A single system gets one sentence, with its scores.

    Args:
        comparison: The systems.
        doubtful: Names of the metrics that find little on these texts.
    """
    if not comparison.others:
        return [_alone(comparison)]
    order = ("real", "untested", "small", "doubtful", "none")
    found = [
        VerdictSentence(
            "real", "", system, f"{system} is so short that its low scores of errors mean nothing."
        )
        for system in comparison.silent
    ]
    found += [item for name in _metric_order(comparison) for item in _of_metric(comparison, name)]
    found = [
        item._replace(size="doubtful")
        if item.metric in doubtful and item.size in {"real", "small"}
        else item
        for item in found
    ]
    return sorted(found, key=lambda item: order.index(item.size))


def _metric_order(comparison: Comparison) -> list[str]:
    """Metrics of errors first, otherwise in their order."""
    metrics = comparison.metrics
    return sorted(metrics, key=lambda name: metrics[name].wording is None)


def error_share(comparison: Comparison, name: str, system: str) -> float | None:
    """Errors in 100 words or segments, or points of 100; None for other metrics.

    REP weighs repetitions and divides by the reference, so repeated words of the output count.
    """
    metric, result = comparison.metrics[name], comparison.measured
    if metric.wording is None and not metric.in_points:
        return None
    if metric.wording is None or not metric.wording.of_marked_words:
        return comparison.rows[system][name].score.score
    if not result.kept:
        return None
    marked = words = 0
    for index, found in enumerate(result.evidence_of(name, system)):
        words += len(output_words(result, system, index))
        marked += len(positions_on("output", found.marks))
    return 100.0 * marked / words if words else 0.0


def share_in_words(comparison: Comparison, name: str, system: str) -> str | None:
    """The share of errors as words, such as ``5.20 in 100 output words``."""
    wording = comparison.metrics[name].wording
    share = error_share(comparison, name, system) if wording else None
    return None if wording is None or share is None else wording.means.format(format_figure(share))


def _alone(comparison: Comparison) -> VerdictSentence:
    ((system, cells),) = comparison.rows.items()
    figures = []
    for name in _metric_order(comparison):
        share = share_in_words(comparison, name, system)
        figure = f"{cells[name].score.metric} {_formatted(cells[name])}"
        figures.append(f"{figure} ({share})" if share else figure)
    return VerdictSentence("untested", "", system, f"{system} has {', '.join(figures)}.")


def _of_metric(comparison: Comparison, name: str) -> Iterator[VerdictSentence]:
    """The sentences of a metric: one for each system, or one if no system differs."""
    metric, baseline = comparison.metrics[name], comparison.baseline
    cells = {
        system: comparison.rows[system][name]
        for system in comparison.others
        if comparison.rows[system][name].merit
    }
    if not cells:
        return
    systems = sorted(cells, key=lambda system: -abs(cells[system].difference or 0))
    base = _formatted(comparison.rows[baseline][name])
    same = [system for system in systems if not _differs(cells[system])]
    for system in systems:
        if system not in same:
            yield _difference(comparison, name, system)
    words = metric.wording
    if len(same) == len(systems) and (words or len(systems) > 1) and comparison.test.resamples:
        listed = ", ".join(
            f"{system} {_formatted(cells[system])} ({_tested(cells[system])})" for system in same
        )
        does = words.either if words else f"has a significantly different {metric.name}"
        text = f"No system {does} than {baseline}: {metric.name} {listed}, {baseline} {base}."
        if not words:
            text = text.replace(f" than {baseline}:", ":", 1)
        yield VerdictSentence("none", metric.name, same[0] if len(same) == 1 else "", text)
        return
    subject = words.subject if words else metric.name
    for system in same:
        named = f"{metric.name} " if words else ""
        figures = f"{named}{_formatted(cells[system])} against {base}"
        text = (
            f"{system} and {baseline} do not differ significantly in {subject} "
            f"({figures}, {_tested(cells[system])})."
        )
        if cells[system].adjusted is None:
            text = f"{system} and {baseline} do not differ in {subject} ({figures})."
        yield VerdictSentence("none", metric.name, system, text)


def _difference(comparison: Comparison, name: str, system: str) -> VerdictSentence:
    metric, baseline = comparison.metrics[name], comparison.baseline
    cell, base = (comparison.rows[who][name] for who in (system, baseline))
    figures = f"{_formatted(cell)} against {_formatted(base)}, {_tested(cell)}"
    named = f"{metric.name} " if metric.wording else ""
    text = f"{system} {_relation(metric, cell)} than {baseline} ({named}{figures})"
    ours, theirs = (error_share(comparison, name, who) for who in (system, baseline))
    size = "real" if cell.adjusted is not None else "untested"
    if ours is not None and theirs is not None:
        if size == "real" and abs(ours - theirs) < _SMALL:
            size = "small"
        if words := metric.wording:
            percent = "%" if "%" in words.means else ""
            meaning = words.means.format(format_figure(ours))
            text += f": {meaning}, against {format_figure(theirs)}{percent}"
    return VerdictSentence(size, metric.name, system, f"{text}.")


def better_phrase(comparison: Comparison, name: str) -> str:
    """What the better of two systems does by a metric: ``repeats less``, ``has a better BLEU``."""
    metric = comparison.metrics[name]
    return metric.wording.less if metric.wording else f"has a better {metric.name}"


def _tested(cell: ComparedScore) -> str:
    return "not tested" if cell.adjusted is None else format_p(cell.adjusted)


def _differs(cell: ComparedScore) -> bool:
    if cell.adjusted is None:
        return bool(cell.difference)
    return cell.adjusted < SIGNIFICANT


def _relation(metric: Metric, cell: ComparedScore) -> str:
    assert cell.difference is not None  # it is not the baseline
    words = metric.wording
    if words:
        return words.more if cell.difference > 0 else words.less
    if metric.higher_is_better is None:
        return f"has a {'higher' if cell.difference > 0 else 'lower'} {metric.name}"
    better = (cell.difference > 0) == metric.higher_is_better
    return f"has a {'better' if better else 'worse'} {metric.name}"


def _formatted(cell: ComparedScore) -> str:
    return format_figure(cell.score.score)


Record = dict[str, Any]


def write_details(comparison: Comparison, file: TextIO) -> None:
    """Write :func:`evidence_records` as JSON Lines."""
    for record in evidence_records(comparison):
        file.write(escape_json(json.dumps(record, ensure_ascii=False, allow_nan=False)) + "\n")


def evidence_records(comparison: Comparison) -> Iterator[Record]:
    """One record that describes the comparison, then one for each system and segment.

    ``kind`` tells them apart. A segment's record has its number from 1, its texts in the tokens
    that marks count, and by metric the score (None where it is undefined), the statistics by
    name, the probability of an error if there is one, the marks
    (:meth:`~coverage_eval.metrics.mark.Mark.to_dict`) and what else explains the score. Positions
    of words count from 0. The first record says what each kind of mark is.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    result = comparison.measured
    yield {
        "kind": "comparison",
        "version": __version__,
        "segments": comparison.segments,
        "systems": list(comparison.rows),
        "baseline": comparison.baseline,
        "signatures": comparison.signatures,
        "kinds": {
            metric.name: [kind.to_dict() for kind in metric.kinds]
            for metric in comparison.metrics.values()
        },
    }
    labels = [metric.name for metric in comparison.metrics.values()]
    for system in result.systems:
        columns = [_column(comparison, name, system) for name in comparison.metrics]
        for number, (row, *cells) in enumerate(zip(result.rows, *columns, strict=True), start=1):
            source = source_words(result, number - 1)
            references = [" ".join(result.tokens(reference)) for reference in row.references]
            yield {
                "kind": "segment",
                "segment": number,
                "system": system,
                "source": None if source is None else " ".join(source),
                "reference": references[0] if len(references) == 1 else references,
                "hypothesis": " ".join(output_words(result, system, number - 1)),
                "metrics": dict(zip(labels, cells, strict=True)),
            }


def _column(comparison: Comparison, name: str, system: str) -> Iterator[Record]:
    """Score, statistics and evidence of each segment of a system by one metric."""
    result, metric = comparison.measured, comparison.metrics[name]
    statistics = result.statistics_of(name, system)
    scores = result.segment_scores(name, system)
    rows = zip(scores, statistics, result.evidence_of(name, system), strict=True)
    for score, values, found in rows:
        counts = dict(zip(metric.statistic_names, values.tolist(), strict=True))
        yield {"score": score, "statistics": counts} | found.to_dict()
