"""A comparison as it is printed: a table, plain sentences, and all evidence."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from coverage_eval.comparison.comparison import Cell as Figure
from coverage_eval.comparison.comparison import Comparison
from coverage_eval.comparison.evidence import output_words, superfluous_words
from coverage_eval.comparison.segment_texts import segment_lines
from coverage_eval.data.files import write_lines
from coverage_eval.data.sample import FEWEST_SEGMENTS
from coverage_eval.data.wmt import SEGMENT_SCORES, score_lines, wmt_name
from coverage_eval.errors import DataError
from coverage_eval.metrics.given_scores import GivenScores
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.score import Interval, interval_ends, plain_evidence
from coverage_eval.tables.table import (
    SIGNIFICANT,
    Cell,
    LazyRows,
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
    "bootstrap": "sacreBLEU's paired bootstrap, with about 10% false positives at 0.05",
    "randomization": "approximate randomisation, two-sided",
}
_RECORDS = (
    "system", "metric", "score", "low", "high", "difference", "p", "p_holm", "best", "better",
    "baseline", "signature",
)  # fmt: skip


def present_comparison(comparison: Comparison, breakdowns: Sequence[Table] = ()) -> Printable:
    """The table with its notes and the metrics' signatures, and breakdowns.

    CSV is one table and has no breakdowns.
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


def present_comparison_segments(
    comparison: Comparison, worst: int | None = None, *, texts: bool = False
) -> Printable:
    """A row for each segment and system, with a column for each metric.

    Args:
        comparison: The systems.
        worst: How many rows to show, the worst by the first metric; None for all.
        texts: Print the texts, with errors in brackets, instead of rows.
    """
    header, found = comparison.segment_rows()
    rows: Sequence[tuple[Cell, ...]] = found
    if worst is not None:
        first = next(iter(comparison.metrics.values()))
        sign = 1 if first.higher_is_better else -1
        defined = [row for row in found if isinstance(row[2], float)]
        rows = sorted(defined, key=lambda row: sign * float(str(row[2])))[:worst]
    signatures = comparison.signatures

    def plain(row: tuple[Cell, ...]) -> dict[str, Cell]:
        return dict(zip(header, row, strict=True))

    table = Table(header, rows)
    return Printable(
        tuple(_texts_of(comparison, header, row) for row in rows) if texts else (table,),
        records=table,
        data={"signatures": signatures, "sentences": LazyRows(plain, rows)},
        signatures=tuple(signatures.values()),
    )


def _texts_of(comparison: Comparison, header: Sequence[str], row: tuple[Cell, ...]) -> Table:
    """One system's row with its texts below it."""
    segment, system, *scores = row
    shown = (
        f"{name} {format_figure(value) if isinstance(value, float) else 'undefined'}"
        for name, value in zip(header[2:], scores, strict=True)
    )
    result = comparison.measured
    index, place = int(str(segment)) - 1, result.systems.index(str(system))
    names = [name for name, metric in comparison.metrics.items() if metric.evidence_name]
    lines = segment_lines(result, names, index, place)
    return Table((), (), notes=(f"segment {segment}  {system}  {', '.join(shown)}", *lines))


def _main_table(comparison: Comparison) -> Table:
    metrics = comparison.metrics.values()
    arrows = [
        f"{metric.name} {'↑' if metric.higher_is_better else '↓'}"
        if metric.has_better
        else metric.name
        for metric in metrics
    ]
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
    better = (figure.difference > 0) == score.higher_is_better if figure.difference else None
    ends = interval_ends(score.interval)
    return ScoreCell(score.score, *ends, figure.adjusted, figure.best, better)


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
                "difference_interval": _ends(figure.difference_interval),
                "p_value": figure.p_value,
                "p_value_holm": figure.adjusted,
            }
            for _, figure in _figures(comparison)
        ],
    }


def _ends(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else {"low": interval.low, "high": interval.high}


def comparison_notes(comparison: Comparison) -> list[str]:
    """What a reader must know about the figures, a sentence each."""
    testing = comparison.testing
    advice = _drop_advice(comparison)
    if testing.resamples == 0:
        return [f"{comparison.segments:,} segments.", *advice]
    drawn = f"{testing.resamples:,} resamples, seed {testing.seed}"
    few = comparison.segments < FEWEST_SEGMENTS
    too_few = ": too few for intervals and tests to say much" if few else ""
    notes = [f"{comparison.segments:,} segments{too_few}."]
    notes.append(f"[low, high]: 95% interval (percentile bootstrap, {drawn}).")
    others = len(comparison.rows) - 1
    if others:
        what = f"{_TESTS[testing.test]}, {drawn}"
        correction = (
            f"Holm-corrected, in each metric, over the {others} systems compared with it"
            if others > 1
            else "one system, no correction"
        )
        notes.append(f"p: against {comparison.baseline} ({what}; {correction}).")
    return notes + advice


def _drop_advice(comparison: Comparison) -> list[str]:
    """Why DROP needs another metric beside it, if links are joined as in the paper."""
    metrics: Iterable[Any] = comparison.metrics.values()
    if not any(m.name == "DROP" and m.aligner.symmetrize.startswith("grow-diag") for m in metrics):
        return []
    names = {metric.name for metric in comparison.metrics.values()}
    better = [name for name in ("SoftDROP", "Omissions") if name in names]
    advice = f"read {' and '.join(better)} beside it" if better else "add softdrop or omissions"
    return [
        "DROP misses many omissions, because joining the links of both directions gives "
        f"untranslated words a link to a wrong word: {advice}."
    ]


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
    """Phrases for a metric of errors."""

    less: str
    more: str
    either: str
    subject: str
    meaning: str
    """The share in words; ``{}`` is a number of 100 words or segments."""


_REPEATS = _Words(
    "repeats less", "repeats more", "repeats significantly more or less", "repetitions",
    "{} in 100 output words",
)  # fmt: skip
_WORDS = {
    "REP": _REPEATS,
    "REP-letters": _REPEATS,
    "REP-peers": _REPEATS,
    "DROP": _Words(
        "drops fewer words", "drops more words", "drops significantly more or fewer words",
        "dropped words", "{} in 100 source words that the reference translates",
    ),
    "SoftDROP": _Words(
        "loses less of the source", "loses more of the source",
        "loses significantly more or less of the source", "lost coverage",
        "{}% of the expected coverage is lost",
    ),
    "Omissions": _Words(
        "leaves something out less often", "leaves something out more often",
        "leaves something out significantly more or less often", "omissions", "{} in 100 segments",
    ),
    "Additions": _Words(
        "adds something less often", "adds something more often",
        "adds something significantly more or less often", "additions", "{} in 100 segments",
    ),
}  # fmt: skip
"""By the name of the metric."""

_POINTS = ("BLEU", "chrF", "TER")
"""Metrics from 0 to 100; their points are compared with ``_SMALL``, too."""

_SMALL = 0.5
"""A significant difference below one word, segment or point in 200 is called small."""


class VerdictSentence(NamedTuple):
    """A sentence of the verdict.

    Attributes:
        size: ``real``, ``small``, ``none``, or ``untested`` where nothing was tested.
        metric: The metric's name.
        system: The system that differs from the baseline or does not; empty for several.
        text: The sentence.
    """

    size: str
    metric: str
    system: str
    text: str


def plain_verdict(comparison: Comparison) -> list[str]:
    """The sentences of :func:`find_differences`; small differences are called small."""
    prefix = {"small": "Significant, but small: "}
    return [prefix.get(item.size, "") + item.text for item in find_differences(comparison)]


def find_differences(comparison: Comparison) -> list[VerdictSentence]:
    """Which differences from the baseline are real, which are small, and which are not significant.

    A difference is real at p < 0.05, corrected as in the table. Metrics of errors come first,
    and for each metric the largest difference; sentences also give the number of words or segments
    in 100. A single system gets one sentence, with its scores.
    """
    if not comparison.others:
        return [_alone(comparison)]
    order = ("real", "untested", "small", "none")
    found = [
        VerdictSentence(
            "real", "", system, f"{system} is so short that its low scores of errors mean nothing."
        )
        for system in comparison.silent
    ]
    found += [item for name in _metric_order(comparison) for item in _of_metric(comparison, name)]
    return sorted(found, key=lambda item: order.index(item.size))


def _metric_order(comparison: Comparison) -> list[str]:
    """Metrics of errors first, otherwise in their order."""
    metrics = comparison.metrics
    return sorted(metrics, key=lambda name: metrics[name].name not in _WORDS)


def error_share(comparison: Comparison, name: str, system: str) -> float | None:
    """Errors in 100 words or segments, or points of 100; None for other metrics.

    REP weighs repetitions and divides by the reference, so repeated words of the output count.
    """
    metric, result = comparison.metrics[name], comparison.result
    if metric.name not in _WORDS and not metric.name.startswith(_POINTS):
        return None
    if metric.evidence_name != "repetitions":
        return comparison.rows[system][name].score.score
    if result is None or not result.kept:
        return None
    repeated = words = 0
    for index, found in enumerate(result.evidence_of(name, system)):
        words += len(output_words(result, system, index))
        spans = (span for item in found["repetitions"] for span in superfluous_words(item))
        repeated += len({position for span in spans for position in span})
    return 100.0 * repeated / words if words else 0.0


def share_in_words(comparison: Comparison, name: str, system: str) -> str | None:
    """The share of errors as words, such as ``5.20 in 100 output words``."""
    words = _WORDS.get(comparison.metrics[name].name)
    share = error_share(comparison, name, system) if words else None
    return None if words is None or share is None else words.meaning.format(format_figure(share))


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
    words = _WORDS.get(metric.name)
    if len(same) == len(systems) and (words or len(systems) > 1) and comparison.testing.resamples:
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
    named = f"{metric.name} " if metric.name in _WORDS else ""
    text = f"{system} {_relation(metric, cell)} than {baseline} ({named}{figures})"
    ours, theirs = (error_share(comparison, name, who) for who in (system, baseline))
    size = "real" if cell.adjusted is not None else "untested"
    if ours is not None and theirs is not None:
        if size == "real" and abs(ours - theirs) < _SMALL:
            size = "small"
        if words := _WORDS.get(metric.name):
            percent = "%" if "%" in words.meaning else ""
            meaning = words.meaning.format(format_figure(ours))
            text += f": {meaning}, against {format_figure(theirs)}{percent}"
    return VerdictSentence(size, metric.name, system, f"{text}.")


def _tested(cell: Figure) -> str:
    return "not tested" if cell.adjusted is None else format_p(cell.adjusted)


def _differs(cell: Figure) -> bool:
    if cell.adjusted is None:
        return bool(cell.difference)
    return cell.adjusted < SIGNIFICANT


def _relation(metric: Metric, cell: Figure) -> str:
    assert cell.difference is not None  # it is not the baseline
    words = _WORDS.get(metric.name)
    if words:
        return words.more if cell.difference > 0 else words.less
    if not metric.has_better:
        return f"has a {'higher' if cell.difference > 0 else 'lower'} {metric.name}"
    better = (cell.difference > 0) == metric.higher_is_better
    return f"has a {'better' if better else 'worse'} {metric.name}"


def _formatted(cell: Figure) -> str:
    return format_figure(cell.score.score)


NOTE = "coverage-eval.txt"
"""The file that describes the scores, beside them."""


def write_wmt(
    comparison: Comparison, folder: str | os.PathLike[str], references: Sequence[str]
) -> int:
    """Write scores in the format of the WMT metrics task, and a file that describes them.

    For each metric there are ``NAME-REF.seg.score`` and ``NAME-REF.sys.score``; REF names the
    references, or is ``src`` for a metric without references. Metrics of errors are negated,
    because the task expects higher to be better. The task allows no undefined scores of segments:
    they are written as 0. Scores of other programs are left out.

    Args:
        comparison: The systems.
        folder: Where to write; created if missing.
        references: The references' names, of letters, digits and ``_``.

    Returns:
        The number of undefined scores.

    Raises:
        DataError: A system's name has a space, or the files cannot be written.
        ValueError: The comparison was made from statistics alone.
    """
    spaced = [system for system in comparison.rows if len(system.split()) != 1]
    if spaced:
        raise DataError(
            f"the name {spaced[0]!r} has a space, which separates columns in the task's files"
        )
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

    ``kind`` tells them apart. A segment's record has its number from 1, its texts in the tokens of
    REP and DROP, and by metric the score (None where it is undefined), the statistics by
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
