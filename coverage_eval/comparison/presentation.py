"""Systems compared, as they are printed: a table, plain sentences, and all evidence."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from coverage_eval.comparison.comparison import SIGNIFICANT, Comparison
from coverage_eval.comparison.comparison import Cell as Figure
from coverage_eval.data.files import write_lines
from coverage_eval.data.wmt import SEGMENT_SCORES, score_lines, wmt_name
from coverage_eval.errors import DataError
from coverage_eval.metrics.given_scores import GivenScores
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.score import interval_ends, plain_evidence
from coverage_eval.tables.table import (
    Cell,
    Printable,
    RowLabel,
    ScoreCell,
    Table,
    escape_json,
    format_figure,
    format_p,
    tables_as_dicts,
)
from coverage_eval.version import __version__

_TESTS = {
    "bootstrap": "sacreBLEU's paired bootstrap, with some 10 % false positives at 0.05",
    "randomization": "approximate randomisation, two-sided",
}
_RECORDS = (
    "system", "metric", "score", "low", "high", "difference", "p", "p_holm", "best", "better",
    "baseline", "signature",
)  # fmt: skip


def present_comparison(comparison: Comparison, breakdowns: Sequence[Table] = ()) -> Printable:
    """The table with its notes and the metrics' signatures, and breakdowns.

    CSV, being one table, has no place for breakdowns.
    """
    tables = {"breakdowns": tables_as_dicts(breakdowns)} if breakdowns else {}
    table = _main_table(comparison)
    cells = (cell for row in table.rows for cell in row)
    return Printable(
        (table, *breakdowns),
        records=None if breakdowns else Table(_RECORDS, tuple(_records(comparison))),
        data=comparison_as_dict(comparison) | tables,
        numbers=tuple(cell.value for cell in cells if isinstance(cell, ScoreCell)),
    )


def _main_table(comparison: Comparison) -> Table:
    metrics = comparison.metrics.values()
    arrows = [f"{metric.name} {'↑' if metric.higher_is_better else '↓'}" for metric in metrics]
    rows = tuple(
        (
            RowLabel(system, "(baseline)") if system == comparison.baseline else system,
            *map(_measured, figures.values()),
        )
        for system, figures in comparison.rows.items()
    )
    return Table(
        ("system", *arrows),
        rows,
        notes=tuple(comparison_notes(comparison)),
        signatures=tuple(comparison.signatures.values()),
        caption=f"{_listed([metric.name for metric in metrics])} scores.",
    )


def _measured(figure: Figure) -> ScoreCell:
    score = figure.score
    return ScoreCell(score.score, *interval_ends(score.interval), figure.adjusted, figure.best)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _figures(comparison: Comparison) -> Iterator[tuple[str, Figure]]:
    """System and figure of every cell."""
    for system, figures in comparison.rows.items():
        for figure in figures.values():
            yield system, figure


def comparison_as_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain values, its scores in the schema of single scores."""
    testing = comparison.testing
    return {
        "baseline": comparison.baseline,
        "segments": comparison.segments,
        "test": testing.test if testing.resamples else None,
        "resamples": testing.resamples,
        "seed": testing.seed,
        "notes": comparison_notes(comparison),
        "scores": [
            {
                **figure.score.to_dict(),
                "best": figure.best,
                "difference": figure.difference,
                "p_value": figure.p_value,
                "p_value_holm": figure.adjusted,
            }
            for _, figure in _figures(comparison)
        ],
    }


def comparison_notes(comparison: Comparison) -> list[str]:
    """What must be known to read the figures: one sentence a line."""
    testing = comparison.testing
    notes = [f"{comparison.segments:,} segments."]
    if testing.resamples == 0:
        return notes
    drawn = f"{testing.resamples:,} resamples, seed {testing.seed}"
    notes.append(f"[low, high]: 95 % interval (percentile bootstrap, {drawn}).")
    others = len(comparison.rows) - 1
    if others:
        what = f"{_TESTS[testing.test]}, {drawn}"
        correction = (
            f"Holm-corrected, in each metric, over the {others} systems compared with it"
            if others > 1
            else "one system, no correction"
        )
        notes.append(f"p: against {comparison.baseline} ({what}; {correction}).")
    return notes


def _records(comparison: Comparison) -> Iterator[tuple[Cell, ...]]:
    for system, figure in _figures(comparison):
        score = figure.score
        yield (
            system,
            score.metric,
            score.score,
            *interval_ends(score.interval),
            figure.difference,
            figure.p_value,
            figure.adjusted,
            "yes" if figure.best else "no",
            "higher" if score.higher_is_better else "lower",
            comparison.baseline,
            str(score.signature),
        )


class _Words(NamedTuple):
    """How a metric of errors is spoken of."""

    most: str
    less: str
    more: str
    subject: str


_REPEATS = _Words("repeats most", "repeats less", "repeats more", "repetitions")
_WORDS = {
    "REP": _REPEATS,
    "REP-letters": _REPEATS,
    "DROP": _Words("drops most words", "drops fewer words", "drops more words", "dropped words"),
    "SoftDROP": _Words(
        "loses most of the source", "loses less of the source", "loses more of the source",
        "lost coverage",
    ),
    "Omissions": _Words(
        "leaves something out most often", "leaves something out less often",
        "leaves something out more often", "omissions",
    ),
    "Additions": _Words(
        "adds something most often", "adds something less often", "adds something more often",
        "additions",
    ),
}  # fmt: skip
"""By the name of the metric."""


def plain_verdict(comparison: Comparison) -> list[str]:
    """Which system repeats or drops most, and for each other system what differs and what does not.

    A difference counts as one at p < 0.05, corrected as in the table; without resamples there is
    no test, and the sentences say so. Metrics of errors come before all others.
    """
    if not comparison.others:
        return [_alone(comparison)]
    worst = "; ".join(_worst(comparison, name, metric) for name, metric in _metrics(comparison))
    return [f"{worst}.", *(_against_baseline(comparison, system) for system in comparison.others)]


def _metrics(comparison: Comparison) -> list[tuple[str, Metric]]:
    """Metrics of errors first, otherwise in their order."""
    return sorted(comparison.metrics.items(), key=lambda item: item[1].name not in _WORDS)


def _alone(comparison: Comparison) -> str:
    ((system, cells),) = comparison.rows.items()
    figures = [f"{cells[name].score.metric} {_formatted(cells[name])}" for name in cells]
    return f"{system} has {', '.join(figures)}."


def _worst(comparison: Comparison, name: str, metric: Metric) -> str:
    scores = {system: cells[name] for system, cells in comparison.rows.items()}
    choose = min if metric.higher_is_better else max
    worst = choose(scores, key=lambda system: scores[system].score.score)
    figure = f"{metric.name} {_formatted(scores[worst])}"
    if len({_formatted(cell) for cell in scores.values()}) == 1:
        return f"all have {figure}"
    words = _WORDS.get(metric.name)
    return f"{worst} {words.most} ({figure})" if words else f"{worst} is worst by {figure}"


def _against_baseline(comparison: Comparison, system: str) -> str:
    """What a system does more or less than the baseline, then what does not differ."""
    baseline = comparison.baseline
    found, not_found = [], []
    for name, metric in _metrics(comparison):
        cell, base = comparison.rows[system][name], comparison.rows[baseline][name]
        figures = f"{_formatted(cell)} against {_formatted(base)}"
        if cell.adjusted is not None:
            figures += f", {format_p(cell.adjusted)}"
        if _differs(cell):
            found.append(f"{_relation(metric, cell)} than {baseline}: {figures}")
        else:
            not_found.append(f"{_subject(metric)} ({figures})")
    parts = list(_joined(system, baseline, found, not_found))
    if not comparison.testing.resamples:
        parts.append("nothing was tested")
    return f"{'; '.join(parts)}."


def _joined(system: str, baseline: str, found: list[str], not_found: list[str]) -> Iterator[str]:
    if found:
        yield f"{system} {'; '.join(found)}"
    if not_found:
        none = f"no real difference was found in {' and '.join(not_found)}"
        yield none if found else f"{system} and {baseline}: {none}"


def _differs(cell: Figure) -> bool:
    if cell.adjusted is None:
        return bool(cell.difference)
    return cell.adjusted < SIGNIFICANT


def _relation(metric: Metric, cell: Figure) -> str:
    assert cell.difference is not None  # it is not the baseline
    words = _WORDS.get(metric.name)
    if words:
        return words.more if cell.difference > 0 else words.less
    better = (cell.difference > 0) == metric.higher_is_better
    return f"has a {'better' if better else 'worse'} {metric.name}"


def _subject(metric: Metric) -> str:
    words = _WORDS.get(metric.name)
    return words.subject if words else metric.name


def _formatted(cell: Figure) -> str:
    return format_figure(cell.score.score)


NOTE = "coverage-eval.txt"
"""Beside files of scores, what they are."""


def write_wmt(
    comparison: Comparison, folder: str | os.PathLike[str], references: Sequence[str]
) -> int:
    """Write the metrics' scores as the WMT metrics task has them, and a note of what they are.

    For each metric, ``NAME-REF.seg.score`` and ``NAME-REF.sys.score``; REF names the references, or
    is ``src`` where the metric looks at none. Metrics of errors are negated, since the task takes
    higher for better. An undefined score of a segment, which the task does not allow, is 0: there
    was nothing to err about. Scores that another program gave are left out.

    Args:
        comparison: The systems.
        folder: Where to write; made if it is not there.
        references: The references' names, of letters, digits and ``_``.

    Returns:
        Number of undefined scores.

    Raises:
        DataError: A system's name has a space, or the files cannot be written.
        ValueError: The comparison was made from statistics alone.
    """
    spaced = [system for system in comparison.rows if len(system.split()) != 1]
    if spaced:
        raise DataError(f"the name {spaced[0]!r} has a space, and the task's files are split there")
    notes = []
    undefined = 0
    for name, metric in comparison.metrics.items():
        if isinstance(metric, GivenScores):
            continue
        sign = 1.0 if metric.higher_is_better else -1.0
        signature = comparison.signatures[metric.name]
        used = {"refs", "nrefs"} & {pair.partition(":")[0] for pair in signature.split("|")}
        label = re.sub(r"[^\w.]+", "_", metric.name)
        file = f"{label}-{'.'.join(references) if used else 'src'}"
        segments, whole = {}, {}
        for system, cells in comparison.rows.items():
            scores = comparison.measured.segment_scores(name, system)
            undefined += scores.count(None)
            # 0.0 is added so that no zero has a sign.
            segments[wmt_name(system)] = [sign * (score or 0.0) + 0.0 for score in scores]
            whole[wmt_name(system)] = [sign * cells[name].score.score + 0.0]
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_lines(Path(folder) / f"{file}{SEGMENT_SCORES}", score_lines(segments))
        write_lines(Path(folder) / f"{file}.sys.score", score_lines(whole))
        negated = "" if metric.higher_is_better else ", negated: higher is better"
        notes.append(f"{file}: {signature}{negated}")
    if undefined:
        notes.append(f"{undefined} undefined scores of segments are 0")
    write_lines(Path(folder) / NOTE, notes)
    return undefined


Record = dict[str, Any]


def write_details(comparison: Comparison, file: TextIO) -> None:
    """Write :func:`evidence_records` as JSON Lines."""
    for record in evidence_records(comparison):
        file.write(escape_json(json.dumps(record, ensure_ascii=False, allow_nan=False)) + "\n")


def evidence_records(comparison: Comparison) -> Iterator[Record]:
    """One record that describes the comparison, then one for each system and segment.

    ``kind`` tells them apart. A segment's record has its number from 1, its texts as REP and DROP
    cut them into words, and by metric the score (None where it is undefined), the statistics by
    name, and the evidence: ``repetitions`` of REP, ``dropped`` words of DROP, ``lost`` coverage of
    soft DROP, ``inexact_matches`` of METEOR and its parts. Positions of words count from 0.

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
    }
    labels = [metric.name for metric in comparison.metrics.values()]
    for index, system in enumerate(result.systems):
        columns = [_column(comparison, name, system) for name in comparison.metrics]
        for number, (row, *cells) in enumerate(zip(result.rows, *columns, strict=True), start=1):
            source = None if row.source is None else " ".join(result.source_tokens(row.source))
            references = [" ".join(result.tokens(reference)) for reference in row.references]
            yield {
                "kind": "segment",
                "segment": number,
                "system": system,
                "source": source,
                "reference": references[0] if len(references) == 1 else references,
                "hypothesis": " ".join(result.tokens(row.hypotheses[index])),
                "metrics": dict(zip(labels, cells, strict=True)),
            }


def _column(comparison: Comparison, name: str, system: str) -> Iterator[Record]:
    """Score, statistics and evidence of each segment of a system by one metric."""
    result, metric = comparison.measured, comparison.metrics[name]
    statistics = result.statistics_of(name, system)
    scores = result.segment_scores(name, system)
    rows = zip(scores, statistics, result.evidence_of(name, system), strict=True)
    for score, values, evidence in rows:
        counts = dict(zip(metric.statistic_names, values.tolist(), strict=True))
        yield {"score": score, "statistics": counts} | plain_evidence(evidence)
