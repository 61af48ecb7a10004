"""Segments and documents with an error: files to split them, and a gate that closes."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from coverage_eval.cli.messages import say
from coverage_eval.cli.options import Percentage, ScoreOutput, options_as
from coverage_eval.cli.output import print_lines
from coverage_eval.core.dataset import Dataset, Row
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Column, Text, check_columns, source_name
from coverage_eval.core.metric import output_file_setting, setting
from coverage_eval.core.show.formats import OF_ONE_TABLE
from coverage_eval.core.show.table import Printable, Table, format_p
from coverage_eval.core.text import TextTable, free_names, write_records
from coverage_eval.coverage.null_scores import judge_flags
from coverage_eval.outputs.named import GUESSES, NamedError

if TYPE_CHECKING:
    from coverage_eval.documents.cut_documents import CutDocument

CLOSED = 3
"""The exit status where a gate is closed."""

_MAX_NAMED = 20

MAX_LISTED = 5
"""Documents that a closed gate names."""


@dataclass(frozen=True)
class SegmentGate:
    """What to do with segments that have an error, and with the run if there are many."""

    keep: str | None = output_file_setting(
        "Write the segments without an error to this file, with all columns of the input: TSV or "
        "CSV by its ending, else JSON Lines."
    )
    reject: str | None = output_file_setting(
        "Write the segments with an error to this file, with the reason in a column 'reason'."
    )

    fail_above: float | None = setting(
        None,
        "End with exit status 3 if significantly more segments have an error than if this "
        "percentage of them had one, or if more have one that is no guess; and name them.",
        metavar="PERCENT",
        type=Percentage(0, 100),
    )

    @property
    def is_given(self) -> bool:
        """Whether something was asked for."""
        return self.fail_above is not None or bool(self.keep or self.reject)

    def check(self, hyp: Text, *, is_cut: bool = False) -> None:
        """Refuse what cannot work with this output, before any long work.

        Args:
            hyp: The output.
            is_cut: Whether its lines will be cut, so they are no rows of its table.

        Raises:
            click.UsageError: A file is standard output.
            DataError: The table cannot be read again.
        """
        for file in filter(None, (self.keep, self.reject)):
            if file == "-":
                raise click.UsageError("--keep and --reject write files, not standard output")
            if isinstance(hyp, Column) and isinstance(hyp.columns, TextTable) and not is_cut:
                names = hyp.columns.names()
                check_columns(source_name(hyp.columns.source), names, names)

    def write(
        self,
        dataset: Dataset,
        reasons: Sequence[str],
        figures: Mapping[str, Sequence[float | None]],
        everything: str | None = None,
    ) -> None:
        """Write the files.

        Args:
            dataset: The texts, of one system.
            reasons: Why each segment has an error; empty for those without.
            figures: Columns to add to the rows, such as scores; a column of the input with such a
                name gets another one.
            everything: A file for all segments, with the reasons.
        """
        (hyp,) = dataset.given.systems.values()
        with_reasons = {"reason": reasons, **figures}
        for file, wanted, columns in (
            (self.keep, (False,), figures),
            (self.reject, (True,), with_reasons),
            (everything, (False, True), with_reasons),
        ):
            if file is None:
                continue
            names, rows = _records(dataset, hyp)
            free = free_names(names, columns)
            chosen = (
                {name: column[number] for name, column in columns.items()}
                | {free.get(name, name): cell for name, cell in row.items()}
                for number, row in _numbered(rows, len(reasons), source_name(hyp))
                if bool(reasons[number]) in wanted
            )
            if changed := write_records(file, [*columns, *free.values()], chosen):
                say(
                    f"{file}: {changed} cells that a spreadsheet would run as formulas have an "
                    "apostrophe before them; .tsv and .jsonl have every text as it is",
                    "warning",
                )

    def judge(
        self,
        flagged: Sequence[bool],
        named: Mapping[int, Sequence[NamedError]],
        chances: Sequence[float],
        false_alarms: float,
        error: str,
    ) -> None:
        """End the run if too many segments have an error.

        Args:
            flagged: Whether each segment is flagged.
            named: The errors of whole outputs that have a name, by segment from 0.
            chances: The chance of each segment to be flagged by mistake.
            false_alarms: The share of complete translations that are flagged by mistake.
            error: What the flags are of, such as ``omission``.
        """
        if self.fail_above is None:
            return
        bad = [number for number, flag in enumerate(flagged) if flag or number in named]
        certain = {n for n, own in named.items() if any(one.kind not in GUESSES for one in own)}
        counted = [
            0.0 if number in certain else chances[number] if flagged[number] else 1.0
            for number in bad
        ]
        complete = math.prod(1 - rate for rate in (false_alarms, *GUESSES.values()))
        test = judge_flags(len(flagged), counted, 1 - complete, self.fail_above / 100)
        kinds = Counter({error: sum(flagged)})
        kinds.update(errors[0].kind for errors in named.values())
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        said = (
            f"{len(bad)} of {len(flagged)} segments have an error{f' ({listed})' if listed else ''}"
            f"; {test.expected:.1f} would be expected if {self.fail_above:g}% had one, with false "
            f"alarms ({format_p(test.p_value)})"
        )
        if test.is_above:
            more = f" and {len(bad) - _MAX_NAMED} more" if len(bad) > _MAX_NAMED else ""
            numbers = ", ".join(str(number + 1) for number in bad[:_MAX_NAMED])
            say(f"{said}: segments {numbers}{more}", "failed")
            click.get_current_context().exit(CLOSED)
        say(said)


def rows_file(hyp: Text, output: ScoreOutput) -> str | None:
    """The file that gets every row of the output's table with its verdict, if one was asked for.

    It is JSON Lines of --sentence-level, where the output is a column.
    """
    is_row = isinstance(hyp, Column) and isinstance(hyp.columns, TextTable)
    is_jsonl = output.output_format == "jsonl" and output.output != "-"
    wanted = output.sentence_level and output.worst is None and is_jsonl
    return output.output if is_row and wanted else None


filter_options = options_as("gate", SegmentGate, without={"fail_above"}, group="Output")
"""Adds the options of files; the command receives them as one ``gate``."""

gate_options = options_as("gate", SegmentGate, group="Output")
"""Adds them, and the gate for flags, some of which are false alarms."""


def _records(dataset: Dataset, hyp: Text) -> tuple[list[str], Iterable[dict[str, Any]]]:
    """The names of the input's columns, and each segment's row; plain files make rows of texts."""
    if isinstance(hyp, Column) and isinstance(hyp.columns, TextTable):
        return hyp.columns.all_names(), hyp.columns.records()
    first = next(iter(dataset.rows()))
    references = [f"reference{n if n > 1 else ''}" for n in range(1, len(first.references) + 1)]
    names = ["segment", *([] if first.source is None else ["source"]), "hypothesis", *references]

    def texts(number: int, row: Row) -> list[Any]:
        source = [] if row.source is None else [row.source]
        return [number, *source, row.hypotheses[0], *row.references]

    rows = enumerate(dataset.rows(), start=1)
    return names, (dict(zip(names, texts(*row), strict=True)) for row in rows)


def _numbered(
    records: Iterable[dict[str, Any]], count: int, name: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The input's rows, numbered from 0; it was read before, and had so many.

    Raises:
        DataError: The input has another number of rows now.
    """
    now = 0
    for now, record in enumerate(records, start=1):
        if now <= count:
            yield now - 1, record
    if now != count:
        raise DataError(
            f"{name}: changed while it was read: {count} segments were scored, and now there are "
            f"{now}"
        )


def gate_documents(
    documents: Sequence[CutDocument],
    fail_above: float | None,
    keep: str | None,
    reject: str | None,
    *,
    additions: bool = False,
) -> None:
    """Write the documents that lack too much, and the others; then end the run if there are any.

    Args:
        documents: The documents.
        fail_above: The percentage of the source's words that may be in missing lines.
        keep: The file for good documents, as JSON Lines; None for none.
        reject: The file for the others.
        additions: Judge by the percentage of output words that belong to no line instead.
    """
    figure = "extra" if additions else "score"
    records = [_record(cut) for cut in documents]
    bad = [record for record in records if record[figure] > (fail_above or 0.0)]
    for file, is_bad in ((keep, False), (reject, True)):
        if file is not None:
            chosen = (record for record in records if (record in bad) == is_bad)
            print_lines((json.dumps(record, ensure_ascii=False) for record in chosen), file)
    if fail_above is not None and bad:
        names = [record["document"] for record in bad]
        listed = ", ".join(names[:MAX_LISTED]) + " …" * (len(bad) > MAX_LISTED)
        has = f"lack more than {fail_above:g}% of the source's words"
        if additions:
            has = f"have more than {fail_above:g}% of their words beside the source's lines"
        say(f"{len(bad)} of {len(documents)} documents {has}: {listed}", "failed")
        click.get_current_context().exit(CLOSED)


def _record(cut: CutDocument) -> dict[str, Any]:
    """A document for --keep and --reject."""
    return {
        **document_figures(cut),
        "missing": [passage.to_dict() for passage in cut.passages],
        "source": "\n".join(cut.document.source),
        "output": "\n".join(cut.document.output),
    }


def document_figures(cut: CutDocument) -> dict[str, Any]:
    """A document's name, and its percentages of missing source words and of extra words."""
    segmentation = cut.segmentation
    return {
        "document": cut.document.name,
        "score": 100 * segmentation.score,
        "extra": 100 * segmentation.extra_share,
    }


def with_passages(
    printed: Printable, documents: Sequence[CutDocument], output: ScoreOutput
) -> Printable:
    """Put missing lines, and text that belongs to none, before what is printed of segments."""
    if output.score_only or output.output_format in OF_ONE_TABLE:
        return printed
    passages = [passage for cut in documents for passage in cut.passages]
    extra = [
        (cut.document.name, piece)
        for cut in documents
        for line in cut.line_cuts()
        for piece in line.extra
    ]

    def place(document: str, where: object) -> str:
        return f"{document}, {where}" if len(documents) > 1 else str(where)

    lost = Table(
        ("missing", "lines", "words"),
        [(place(item.document, item), item.last - item.first + 1, item.words) for item in passages],
        "Lines without a translation" if passages else "No line is without a translation.",
    )
    more = Table(
        ("extra", "words", "text"),
        [(place(name, piece.place), piece.words, piece.text) for name, piece in extra],
        "Text that belongs to no line",
    )
    data = {
        **printed.data,
        "passages": [passage.to_dict() for passage in passages],
        "additions": [{"document": name, **piece.to_dict()} for name, piece in extra],
        "documents": [document_figures(cut) for cut in documents],
    }
    tables = (lost, *([more] if extra else []), *printed.tables)
    return replace(printed, tables=tables, data=data)
