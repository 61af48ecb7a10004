"""What commands print: findings, tables, scores and pictures."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from tempfile import SpooledTemporaryFile
from typing import Any

import click

from coverage_eval.cli.messages import ENCODING_FALLBACK, discard, say, tolerate_closed_pipe
from coverage_eval.cli.options import Output, ScoreOutput, signatures_file
from coverage_eval.comparison.evidence import segment_lines
from coverage_eval.core.errors import DataError, Finding, Severity
from coverage_eval.core.features import Feature
from coverage_eval.core.mark import MarkKind, list_findings, plain_columns
from coverage_eval.core.metric import Formula, Score, Statistics, interval_ends
from coverage_eval.core.result import Result
from coverage_eval.core.show import LazyRows, Printable, ScoreCell, Table, escape_csv, render_lines
from coverage_eval.core.significance import bootstrap_interval
from coverage_eval.core.writing import write_lines

CLOSED = 3
"""The exit status where a gate is closed."""

PIPE_COLUMNS = 120
"""Width of text in a pipe, where nothing says how wide the reader's window is."""

_MAX_WRAPPED = 2000
"""Rows in a pipe that are wrapped; longer tables are for programs, and keep one row a line."""

_HELD_IN_MEMORY = 1 << 24
"""Bytes of output; more than this is held on the disk until it is complete."""


def echo_findings(findings: Sequence[Finding], *, strict: bool = False) -> None:
    """Print warnings about the texts, the most serious first.

    Notes are not printed, because nothing needs to be done about them.

    Raises:
        DataError: There is a warning, with ``strict``.
        click.exceptions.Exit: A finding makes scores meaningless.
    """
    warnings = _messages(findings, Severity.FATAL, Severity.NOTE)
    if strict and warnings:
        raise DataError("; ".join(warnings))
    grave = _messages(findings, Severity.FATAL, Severity.UNUSABLE)
    if grave:
        say(f"{'; '.join(grave)}; a score would mean nothing", "error")
    for message in warnings[len(grave) :]:
        say(message, "warning")
    if grave:
        raise click.exceptions.Exit(1)


def warn(
    printable: Printable, findings: Sequence[Finding], features: Sequence[Feature], *, strict: bool
) -> Printable:
    """Print warnings, and add them, notes and figures about the model to the data of JSON.

    Raises:
        DataError, click.exceptions.Exit: As :func:`echo_findings`.
    """
    echo_findings(findings, strict=strict)
    if not isinstance(printable.data, dict):
        return printable
    data = {
        **printable.data,
        "warnings": _messages(findings, Severity.FATAL, Severity.NOTE),
    }
    for feature in features:
        data |= feature.details
    if notes := _messages(findings, Severity.NOTE):
        data["remarks"] = notes
    return replace(printable, data=data)


def _messages(findings: Sequence[Finding], least: Severity, below: float = math.inf) -> list[str]:
    """The messages of findings, the most serious first, from one severity to below another."""
    return [finding.message for finding in findings if least <= finding.severity < below]


def show(printable: Printable, output: Output, *, signed: bool = True) -> None:
    """Print in the format and to the file that the options name; with colours on a terminal.

    Args:
        printable: What is printed.
        output: The options.
        signed: Whether text on standard output has signatures; other formats and files have them.
    """
    is_text = output.output_format == "text"
    if is_text and output.score_only:
        print_lines(printable.figures(output.digits), output.output)
        return
    if is_text and not signed and output.output in {None, "-"}:
        tables = tuple(replace(table, signatures=()) for table in printable.tables)
        printable = replace(printable, tables=tables)
    columns = _columns(printable, output.output)
    console = None
    if _has_colours(output):
        from rich.console import Console

        # It respects NO_COLOR.
        console = Console(width=columns, highlight=False, markup=False, emoji=False)
    style = {"digits": output.digits, "columns": columns, "console": console}
    lines = render_lines(printable, output.output_format, **style)
    if console:  # its cells are escaped already, and its colours must not be
        print_lines(map(_spell, lines), as_is=True)
        return
    print_lines(lines, output.output)
    beside = signatures_file(output.output, output.output_format)
    if beside and printable.signatures:
        write_lines(beside, printable.signatures)


def _spell(text: str) -> str:
    """Text that standard output can show; words stand for other characters."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, ENCODING_FALLBACK).decode(encoding)


def _has_colours(output: Output) -> bool:
    """Whether text is for a terminal that has colours."""
    is_text = output.output_format == "text" and output.output is None
    return is_text and is_terminal() and os.environ.get("TERM", "dumb") not in {"dumb", "unknown"}


def _columns(printable: Printable, output: str | None) -> int | None:
    """The width for text: the terminal's, or COLUMNS, or that of a pipe; None for files."""
    if output not in {None, "-"}:
        return None
    if os.environ.get("COLUMNS") or is_terminal():
        return shutil.get_terminal_size().columns
    is_long = sum(len(table.rows) for table in printable.tables) > _MAX_WRAPPED
    return None if is_long else PIPE_COLUMNS


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def print_lines(lines: Iterable[str], output: str | None = None, *, as_is: bool = False) -> None:
    """Print lines, or write them to a file; print nothing if one of them cannot be made.

    Args:
        lines: Lines without their line ends, except in quoted cells of CSV.
        output: The file; None or ``-`` for standard output.
        as_is: The lines are text for other programs: print UTF-8, with control characters.

    Raises:
        DataError: The lines cannot be written.
    """
    lines = lines if as_is else map(escape_csv, lines)
    if output is not None and output != "-":
        write_lines(output, lines)
        return
    with SpooledTemporaryFile(_HELD_IN_MEMORY, "w+", encoding="utf-8", newline="\n") as held:
        held.writelines(f"{line}\n" for line in lines)
        held.seek(0)
        _copy_to_stdout(held, as_is=as_is)


def _copy_to_stdout(lines: Iterable[str], *, as_is: bool) -> None:
    try:
        with tolerate_closed_pipe(sys.stdout):
            sys.stdout.flush()
            if as_is and sys.stdout.encoding != "utf-8":
                sys.stdout.buffer.writelines(line.encode() for line in lines)
            else:
                sys.stdout.writelines(lines)
            sys.stdout.flush()
    except OSError as error:
        discard(sys.stdout)
        raise DataError(f"standard output: cannot be written: {error.strerror}") from error


def present_scores(scores: Sequence[Score]) -> Printable:
    """Corpus scores, a row each; in text, one line ``signature = score``."""
    rows = [
        (score.metric, ScoreCell(score.score, *interval_ends(score.interval)), score.segments)
        for score in scores
    ]
    signatures = tuple(str(score.signature) for score in scores)
    table = Table(("metric", "score", "segments"), rows, signatures=signatures, lines=True)
    return Printable((table,), data={"scores": [score.to_dict() for score in scores]})


def present_result(
    result: Result,
    output: ScoreOutput,
    *,
    has_error: Sequence[bool] | None = None,
    reasons: Sequence[str] | None = None,
) -> Printable:
    """The corpus score of one system by one metric, or its segment scores with their evidence.

    Args:
        result: What was measured, with evidence if segments are printed.
        output: What to print.
        has_error: As for :func:`present_segments`.
        reasons: Why each segment has an error, empty for those without; a column of segments.
    """
    ((name, metric),) = result.metrics.items()
    score = result.score(name, resamples=output.drawn)
    if not output.by_segment:
        return present_scores([score])
    columns = LazyRows(lambda row: row[0].columns, result.evidence(name))
    if reasons is not None:
        columns = LazyRows(lambda own, why: {**own, "reason": why}, columns, reasons)
    return present_segments(
        score,
        result.segment_scores(name),
        columns,
        output,
        has_error=has_error,
        texts=lambda index: list(segment_lines(result, name, index)),
        kinds=metric.kinds,
    )


def present_segments(
    corpus: Score,
    values: Sequence[float | None],
    evidence: Sequence[Mapping[str, Any]],
    output: ScoreOutput,
    *,
    has_error: Sequence[bool] | None = None,
    texts: Callable[[int], Sequence[str]] | None = None,
    kinds: Sequence[MarkKind] | None = None,
) -> Printable:
    """Segment scores; segments count from 1, and an undefined score is empty (null in JSON).

    Args:
        corpus: The corpus score, whose signature the segments share.
        values: One score per segment, None where it is undefined.
        evidence: One mapping of further columns per segment, all with the same keys. A list of
            findings is text in tables, with positions from 1, and objects in JSON, with positions
            from 0; a tuple is in JSON only. Each format reads it again.
        output: Which segments to print, and whether their texts.
        has_error: Which segments have an error, where lower is better; by default those that have
            evidence, or a score other than 0.
        texts: The lines that show a segment with its errors, for ``--worst``.
        kinds: The kinds of the marks in ``evidence``; None if it has no marks.
    """
    shown: Sequence[int] = range(len(values))
    if output.worst:
        sign = 1
        if corpus.higher_is_better is False:
            flags = LazyRows(_has_error, values, evidence) if has_error is None else has_error
            sign, shown = -1, [i for i, flag in enumerate(flags) if flag]
        order = sorted(shown, key=lambda i: (values[i] is None, sign * (values[i] or 0.0)))
        shown = order[: output.worst]
    hidden = {"score"} if kinds else {"score", "marks"}  # the score has a column already
    first = evidence[0] if evidence else {}
    columns = [k for k, cell in first.items() if k not in hidden and not isinstance(cell, tuple)]

    def cells(index: int) -> tuple[Any, ...]:
        row = (evidence[index][name] for name in columns)
        as_text = (list_findings(cell) if isinstance(cell, list) else cell for cell in row)
        return index + 1, values[index], *as_text

    def plain(index: int) -> dict[str, Any]:
        return {"segment": index + 1, "score": values[index], **plain_columns(evidence[index])}

    explained = {} if kinds is None else {"kinds": [kind.to_dict() for kind in kinds]}
    signatures = (str(corpus.signature),)
    records = Table(("segment", "score", *columns), LazyRows(cells, shown))
    return Printable(
        _texts_of(corpus.metric, shown, values, texts)
        if texts and not output.sentence_level
        else (replace(records, signatures=signatures),),
        records=records,
        data={"scores": [{**corpus.to_dict(), **explained, "sentences": LazyRows(plain, shown)}]},
        numbers=LazyRows(values.__getitem__, shown),
        signatures=signatures,
    )


def _texts_of(
    metric: str,
    shown: Sequence[int],
    values: Sequence[float | None],
    texts: Callable[[int], Sequence[str]],
) -> tuple[Table, ...]:
    """The texts of each segment, below its number and score."""
    if not shown:
        return (Table((), (), notes=("no segment has an error",)),)
    scores = {i: "undefined" if values[i] is None else f"{values[i]:.2f}" for i in shown}
    return tuple(
        Table((), (), notes=(f"segment {i + 1}  {metric} {scores[i]}", *texts(i))) for i in shown
    )


def _has_error(value: float | None, evidence: Mapping[str, Any]) -> bool:
    return any(isinstance(cell, list) and cell for cell in evidence.values()) or bool(value)


def present_counted(
    formulas: Sequence[Formula], statistics: Statistics, output: ScoreOutput
) -> Printable:
    """Figures of one corpus; by segment, the first is the score and the others are evidence."""
    formula, *others = formulas

    def score(figure: Formula) -> Score:
        drawn = output.drawn
        interval = bootstrap_interval(figure, statistics, resamples=drawn) if drawn else None
        return replace(figure.score(statistics), interval=interval)

    if not output.by_segment:
        return present_scores([*map(score, [formula] if output.score_only else formulas)])
    columns = {other.name: other.scores_of(statistics) for other in others}
    evidence = LazyRows(lambda *row: dict(zip(columns, row, strict=True)), *columns.values())
    return present_segments(score(formula), formula.scores_of(statistics), evidence, output)
