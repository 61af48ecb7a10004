"""What commands print: findings, tables, scores and pictures."""

from __future__ import annotations

import os
import shutil
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any

import click

from coverage_eval.cli.messages import say
from coverage_eval.cli.options import FORCED, Output, ScoreOutput, checked_ending
from coverage_eval.cli.text_options import KEYS
from coverage_eval.comparison.evidence import output_words
from coverage_eval.comparison.segment_texts import repeated_phrases, segment_lines
from coverage_eval.data.files import atomic_path, write_lines
from coverage_eval.data.input_checks import Finding, Gravity
from coverage_eval.errors import DataError
from coverage_eval.metrics.measure import Result
from coverage_eval.metrics.omissions import Additions
from coverage_eval.metrics.profile import ROW, Profile
from coverage_eval.metrics.score import (
    Evidence,
    Formula,
    Score,
    Statistics,
    interval_ends,
    nan_to_none,
    plain_evidence,
)
from coverage_eval.metrics.significance import bootstrap_interval
from coverage_eval.tables.formats import render_lines
from coverage_eval.tables.table import Cell, LazyRows, Printable, ScoreCell, Table, escape_csv
from coverage_eval.tables.terminal import MOST_ROWS, print_on_terminal

if TYPE_CHECKING:
    from matplotlib.animation import Animation
    from matplotlib.figure import Figure

_HELD_IN_MEMORY = 1 << 24
"""Bytes of output; more than this is held on the disk until it is complete."""


def echo_findings(findings: Sequence[Finding], *, strict: bool = False) -> list[str]:
    """Print findings about the texts, the gravest first, and return their messages.

    Raises:
        DataError: A finding is more than a note, with ``strict``.
        click.exceptions.Exit: A finding makes scores meaningless, without ``--force``.
    """
    context = click.get_current_context(silent=True)
    forced = context is not None and context.meta.get(FORCED, False)
    if strict and (warnings := _warnings(findings)):
        raise DataError("; ".join(warnings))
    grave = [f.message for f in findings if f.gravity == Gravity.MEANINGLESS and not forced]
    if grave:
        say(f"{'; '.join(grave)}; a score would mean nothing (--force scores anyway)", "error")
    for finding in findings:
        if finding.message not in grave:
            say(finding.message, "note" if finding.gravity == Gravity.NOTE else "warning")
    if grave:
        raise click.exceptions.Exit(1)
    return [finding.message for finding in findings]


def warn(
    printable: Printable,
    findings: Sequence[Finding],
    unknown_words: Mapping[str, float] | None = None,
    *,
    strict: bool,
) -> Printable:
    """Print findings, and add the warnings and figures about the model to the data of JSON.

    Raises:
        DataError, click.exceptions.Exit: As :func:`echo_findings`.
    """
    echo_findings(findings, strict=strict)
    if not isinstance(printable.data, dict):
        return printable
    model = {"model": dict(unknown_words)} if unknown_words else {}
    data = {**printable.data, "warnings": _warnings(findings), **model}
    return replace(printable, data=data)


def _warnings(findings: Sequence[Finding]) -> list[str]:
    return [finding.message for finding in findings if finding.gravity < Gravity.NOTE]


def show(printable: Printable, output: Output) -> None:
    """Print in the format and to the file that the options name; with rich on a terminal."""
    context = click.get_current_context(silent=True)
    if keys := context and context.meta.get(KEYS):
        printable = _with_keys(printable, keys)
    rows = sum(len(table.rows) for table in printable.tables)
    if has_rich(output) and rows <= MOST_ROWS and not any(t.lines for t in printable.tables):
        # Rich's cells are escaped already, and its colours must not be.
        print_lines(_rich_lines(printable, output.width), as_is=True)
        return
    lines = render_lines(
        printable,
        output.output_format,
        width=output.width,
        columns=_terminal_columns(output.output),
        score_only=output.score_only,
    )
    print_lines(lines, output.output)
    is_file = output.output not in {None, "-"}
    if is_file and printable.signatures and output.output_format in {"csv", "jsonl"}:
        write_lines(f"{output.output}.signatures", printable.signatures)


def _with_keys(printable: Printable, keys: Mapping[str, Sequence[Any]]) -> Printable:
    """Add columns behind the number of each segment."""

    def widened(table: Table) -> Table:
        if table.header[:1] != ("segment",):
            return table

        def row(cells: tuple[Any, ...]) -> tuple[Cell, ...]:
            own = (_as_text(column[cells[0] - 1]) for column in keys.values())
            return cells[0], *own, *cells[1:]

        header = ("segment", *keys, *table.header[1:])
        return replace(table, header=header, rows=LazyRows(row, table.rows))

    def item(found: dict[str, Any]) -> dict[str, Any]:
        own = {name: column[found["segment"] - 1] for name, column in keys.items()}
        return {"segment": found["segment"], **own, **found}

    def filled(data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        scores = {"scores": list(map(filled, data["scores"]))} if "scores" in data else {}
        texts = {"sentences": LazyRows(item, data["sentences"])} if "sentences" in data else {}
        return {**data, **scores, **texts}

    return replace(
        printable,
        tables=tuple(map(widened, printable.tables)),
        records=printable.records and widened(printable.records),
        data=filled(printable.data),
    )


def has_rich(output: Output) -> bool:
    """Whether rich prints: text for a terminal that has colours."""
    is_text = output.output_format == "text" and not output.score_only and output.output is None
    return is_text and is_terminal() and os.environ.get("TERM", "dumb") not in {"dumb", "unknown"}


def _rich_lines(printable: Printable, digits: int) -> list[str]:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)  # it respects NO_COLOR
    with console.capture() as captured:
        print_on_terminal(printable, digits, console)
    return captured.get().split("\n")[:-1]


def _terminal_columns(output: str | None) -> int | None:
    """The width for text: the terminal's, or COLUMNS; None for files and pipes."""
    if output not in {None, "-"}:
        return None
    if os.environ.get("COLUMNS") or is_terminal():
        return shutil.get_terminal_size().columns
    return None


def is_terminal() -> bool:
    """Whether standard output is a terminal; after a shell's ``>&-`` there is none."""
    return sys.stdout is not None and sys.stdout.isatty()


def print_lines(lines: Iterable[str], output: str | None = None, *, as_is: bool = False) -> None:
    """Print lines, or write them to a file; print nothing if one of them cannot be made.

    Args:
        lines: Lines without their line ends, except in quoted cells of CSV.
        output: The file; None or ``-`` for standard output.
        as_is: The lines are text for other programs: print UTF-8, with control characters.

    Raises:
        DataError: Standard output is closed, or the lines cannot be written.
    """
    lines = lines if as_is else map(escape_csv, lines)
    if output is not None and output != "-":
        write_lines(output, lines)
        return
    if sys.stdout is None:  # a shell's >&-; click would print nothing
        raise DataError("standard output is closed; name a file with -o, or add > /dev/null")
    with SpooledTemporaryFile(_HELD_IN_MEMORY, "w+", encoding="utf-8", newline="\n") as held:
        held.writelines(f"{line}\n" for line in lines)
        held.seek(0)
        _copy_to_stdout(held, as_is=as_is)


def _copy_to_stdout(lines: Iterable[str], *, as_is: bool) -> None:
    try:
        sys.stdout.flush()
        if as_is and sys.stdout.encoding != "utf-8":
            sys.stdout.buffer.writelines(line.encode() for line in lines)
        else:
            sys.stdout.writelines(lines)
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # the reader has read enough
    except OSError as error:
        # At exit Python would try to write the rest and print a second error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise DataError(f"standard output: cannot be written: {error.strerror}") from error


def scores_table(scores: Sequence[Score]) -> Table:
    """One row per score; in text, one line ``signature = score``."""
    return Table(
        ("metric", "score", "segments"),
        tuple(
            (score.metric, ScoreCell(score.score, *interval_ends(score.interval)), score.segments)
            for score in scores
        ),
        signatures=tuple(str(score.signature) for score in scores),
        lines=True,
    )


def present_scores(scores: Sequence[Score]) -> Printable:
    """One or more corpus scores."""
    return Printable(
        (scores_table(scores),), data={"scores": [score.to_dict() for score in scores]}
    )


def present_result(
    result: Result, output: ScoreOutput, *, has_error: Sequence[bool] | None = None
) -> Printable:
    """The corpus score of one system by one metric, or its segment scores with their evidence.

    Args:
        result: What was measured, with evidence if segments are printed.
        output: What to print.
        has_error: As for :func:`present_segments`.
    """
    ((name, metric),) = result.metrics.items()
    score = result.score(name, resamples=output.resamples, seed=output.seed)
    if not output.sentence_level:
        return present_scores([score])

    def phrases(index: int) -> list[str]:
        found = result.evidence(name)[index][0].get("repetitions", ())
        return repeated_phrases(output_words(result, result.systems[0], index), found)

    def named(row: Sequence[Evidence]) -> Evidence:
        return {"added" if key == "spans" else key: cell for key, cell in row[0].items()}

    return present_segments(
        score,
        result.segment_scores(name),
        evidence=LazyRows(
            named if isinstance(metric, Additions) else itemgetter(0), result.evidence(name)
        ),
        output=output,
        has_error=has_error,
        texts=lambda index: list(segment_lines(result, [name], index)),
        phrases=phrases if metric.evidence_name == "repetitions" else None,
    )


def present_segments(
    corpus: Score,
    values: Sequence[float | None],
    *,
    evidence: Sequence[Evidence] | None = None,
    output: ScoreOutput | None = None,
    has_error: Sequence[bool] | None = None,
    texts: Callable[[int], Sequence[str]] | None = None,
    phrases: Callable[[int], Sequence[str]] | None = None,
) -> Printable:
    """Segment scores; segments count from 1, and an undefined score is empty (null in JSON).

    Args:
        corpus: The corpus score, whose signature the segments share.
        values: One score per segment, None where it is undefined.
        evidence: One mapping of further columns per segment, all with the same keys. A list of
            dataclasses is text in tables, with positions from 1, and objects in JSON, with
            positions from 0. Each format reads it again.
        output: Which segments to print; by default all.
        has_error: Which segments have an error, where lower is better; by default those that have
            evidence, or a score other than 0.
        texts: The lines that show a segment with its errors, for ``--show``.
        phrases: The first column of evidence in fewer words, for a terminal.
    """
    extra = LazyRows(lambda _: {}, values) if evidence is None else evidence
    shown: Sequence[int] = range(len(values))
    output = output or ScoreOutput(sentence_level=True)
    if output.wants_errors and not corpus.higher_is_better:
        flags = LazyRows(_has_error, values, extra) if has_error is None else has_error
        shown = array("q", (i for i, flag in enumerate(flags) if flag))
    shown = output.choose(shown, values, higher_is_better=corpus.higher_is_better)
    first = extra[0] if extra else {}
    columns = [key for key in first if key not in _JSON_ALONE]
    if first.get("probability", 0) is None:
        columns.remove("probability")

    def cells(index: int) -> tuple[Cell, ...]:
        found = extra[index]
        return index + 1, values[index], *(_as_text(found[name]) for name in columns)

    def plain(index: int) -> dict[str, Any]:
        return {"segment": index + 1, "score": values[index], **plain_evidence(extra[index])}

    signature = (str(corpus.signature),)
    records = Table(("segment", "score", *columns), LazyRows(cells, shown))
    seen = replace(records, signatures=signature)
    if phrases and has_rich(output):
        brief = LazyRows(lambda i: (i + 1, values[i], "; ".join(phrases(i)), *cells(i)[3:]), shown)
        seen = replace(seen, rows=brief)
    return Printable(
        _texts_of(corpus.metric, shown, values, texts) if output.show and texts else (seen,),
        records=records,
        data={"scores": [{**corpus.to_dict(), "sentences": LazyRows(plain, shown)}]},
        numbers=LazyRows(values.__getitem__, shown),
        signatures=signature,
    )


_JSON_ALONE = {"score", "losses"}
"""Evidence that tables do not show: they have the score already, and losses are one per word."""


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


def _has_error(value: float | None, evidence: Evidence) -> bool:
    return any(isinstance(cell, list) and cell for cell in evidence.values()) or bool(value)


def _as_text(cell: Any) -> Cell:
    """A list of evidence in one cell of a table."""
    return "; ".join(map(str, cell)) if isinstance(cell, list) else cell


def present_counted(
    counted: Sequence[tuple[Formula, Statistics]], output: ScoreOutput
) -> Printable:
    """Figures of one corpus; by segment, the first is the score and the others are evidence."""
    (formula, statistics), *others = counted
    if not (output.score_only or output.sentence_level):
        return present_scores([_corpus_score(*item, output) for item in counted])
    score = _corpus_score(formula, statistics, output)
    if not output.sentence_level:
        return present_scores([score])
    columns = {other.name: other.segment_scores(rows) for other, rows in others}
    evidence = LazyRows(lambda *row: dict(zip(columns, row, strict=True)), *columns.values())
    values = formula.segment_scores(statistics)
    return present_segments(score, values, evidence=evidence, output=output)


def _corpus_score(formula: Formula, statistics: Statistics, output: ScoreOutput) -> Score:
    interval = None
    if output.confidence:
        interval = bootstrap_interval(
            formula, statistics, resamples=output.bootstrap, seed=output.seed
        )
    return formula.score(statistics, interval=interval)


def present_profile(profile: Profile) -> Printable:
    """The corpus figures, one row each with its meaning."""
    table = Table(
        ROW,
        tuple(item.row for item in profile.figures),
        signatures=tuple(item.signature for item in profile.figures),
    )
    return Printable(
        (table,),
        data={"scores": [item.to_dict() for item in profile.figures]},
        numbers=tuple(item.score.score if item.score else None for item in profile.figures),
    )


def present_profile_segments(
    profile: Profile, output: ScoreOutput, texts: Callable[[int], Sequence[str]]
) -> Printable:
    """One row per segment with a column for each figure; JSON has the corpus figures, too.

    Segments count from 1, and an undefined value is empty (null in JSON). The worst segments are
    the worst by the first figure.

    Args:
        profile: The figures.
        output: Which segments to print.
        texts: The lines that show a segment with its errors, for ``--show``.
    """
    columns = [
        LazyRows(nan_to_none, item.metric.formula(item.statistics)) for item in profile.figures
    ]
    header = ("segment", *(item.figure.key for item in profile.figures))
    first, values = profile.figures[0], columns[0]
    higher_is_better = first.metric.higher_is_better
    shown: Sequence[int] = range(len(values))
    if output.wants_errors and not higher_is_better:
        shown = [i for i, value in enumerate(values) if value]
    shown = output.choose(shown, values, higher_is_better=higher_is_better)
    rows = LazyRows(lambda index: (index + 1, *(column[index] for column in columns)), shown)
    records = Table(header, rows)
    return Printable(
        _texts_of(first.figure.key, shown, values, texts) if output.show else (records,),
        records=records,
        data={
            "scores": [item.to_dict() for item in profile.figures],
            "sentences": LazyRows(lambda row: dict(zip(header, row, strict=True)), rows),
        },
    )


# Ending → metadata to leave out, so that the file does not depend on the date.
_DATES: dict[str, dict[str, None]] = {
    ".png": {},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def save_histograms(
    panels: Mapping[str, Any],
    path: str,
    *,
    means: Mapping[str, float] | None = None,
    unit: str = "segments",
) -> None:
    """Draw histograms as :func:`coverage_eval.plotting.score_histograms` does."""
    from coverage_eval.plotting.canvas import figure_of
    from coverage_eval.plotting.scores import score_histograms

    save_figure(figure_of(score_histograms(panels, means=means, unit=unit)[0]), path)


def save_figure(
    figure: Figure, path: str | os.PathLike[str], *, dpi: int = 150, tight: bool = False
) -> None:
    """Write a figure as PNG, SVG or PDF, by the file name's ending.

    Args:
        figure: The figure.
        path: The file.
        dpi: Dots per inch of PNG.
        tight: Cut off empty margins.

    Raises:
        DataError: Another ending, or the folder cannot be written to.
    """
    import matplotlib as mpl

    from coverage_eval.plotting.fonts import quiet_missing_glyphs

    ending = checked_ending(path)
    # Without a salt, SVG numbers its parts at random.
    reproducible = mpl.rc_context({"svg.hashsalt": "coverage-eval"})
    with atomic_path(path) as temporary, quiet_missing_glyphs(), reproducible:
        figure.savefig(
            temporary,
            format=ending[1:],
            dpi=dpi,
            metadata=_DATES[ending],
            bbox_inches="tight" if tight else None,
        )


def save_animation(animation: Animation, path: str | os.PathLike[str]) -> None:
    """Write an animation as GIF.

    Raises:
        DataError: Another ending, or the folder cannot be written to.
    """
    from coverage_eval.plotting.fonts import quiet_missing_glyphs

    checked_ending(path, (".gif",))
    with atomic_path(path) as temporary, quiet_missing_glyphs():
        animation.save(temporary, writer="pillow")
