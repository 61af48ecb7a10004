"""Segments with an error: files to split them, and a gate that fails above a share of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from coverage_eval.cli.messages import say
from coverage_eval.cli.options import Percentage, ScoreOutput, options_as
from coverage_eval.core.dataset import Dataset, Row
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Column, Text, check_columns, source_name
from coverage_eval.core.mark import NamedError
from coverage_eval.core.settings import output_file_setting, setting
from coverage_eval.core.text import TextTable, free_names, write_records
from coverage_eval.coverage.null_scores import judge_flags
from coverage_eval.outputs.named import GUESSES

CLOSED = 3
"""The exit status where a gate is closed."""

_MAX_NAMED = 20


@dataclass(frozen=True)
class SegmentFilter:
    """What to do with segments that have an error."""

    keep: str | None = output_file_setting(
        "Write the segments without an error to this file, with all columns of the input: TSV or "
        "CSV by its ending, else JSON Lines."
    )
    reject: str | None = output_file_setting(
        "Write the segments with an error to this file, with the reason in a column 'reason'."
    )

    @property
    def is_given(self) -> bool:
        """Whether something was asked for."""
        return bool(self.keep or self.reject)

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
            figures: Columns to add to the rows, such as scores.
            everything: A file for all segments, with the reasons.
        """
        (hyp,) = dataset.given.systems.values()
        bad = [bool(reason) for reason in reasons]
        for file, wanted in ((self.keep, {False}), (self.reject, {True}), (everything, {*bad})):
            if file is None:
                continue
            columns: dict[str, Sequence[Any]] = {} if file == self.keep else {"reason": reasons}
            columns |= figures
            names, rows = _records(dataset, hyp)
            free = free_names(names, columns)
            for name in sorted(columns.keys() & free.keys()):
                say(f"{file}: the input's column {name!r} is {free[name]!r}, beside ours", "note")
            added = [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ]
            chosen = (
                ours | {free.get(name, name): cell for name, cell in record.items()}
                for ours, record, is_bad in _in_step(rows, added, bad, source_name(hyp))
                if is_bad in wanted
            )
            changed = write_records(file, [*columns, *free.values()], chosen)
            if changed:
                say(
                    f"{file}: {changed} cells that a spreadsheet would run as formulas have an "
                    "apostrophe before them; .tsv and .jsonl have every text as it is",
                    "warning",
                )


@dataclass(frozen=True)
class OmissionGate(SegmentFilter):
    """The same, and a gate for flags, some of which are false alarms."""

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
        kinds = Counter(errors[0].kind for errors in named.values())
        listed = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
        others = sum(not flagged[number] for number in named)
        more = f", {others} more have another error" if others else ""
        more += f" (by name: {listed})" if listed else ""
        bad = [number for number, one in enumerate(flagged) if one or number in named]
        certain = {n for n, own in named.items() if any(one.kind not in GUESSES for one in own)}
        counted = [
            0.0 if number in certain else chances[number] if flagged[number] else 1.0
            for number in bad
        ]
        complete = math.prod(1 - rate for rate in (false_alarms, *GUESSES.values()))
        test = judge_flags(len(flagged), counted, 1 - complete, self.fail_above / 100)
        count = sum(flagged)
        said = (
            f"{count} of {len(flagged)} segments ({100 * count / len(flagged):.2f}%) are flagged "
            f"for {error}s{more}; if {self.fail_above:g}% had an error, {test.expected:.1f} would "
            f"be expected, as {100 * false_alarms:g}% of complete translations are flagged, too, "
            f"and {100 * sum(GUESSES.values()):g}% look {', '.join(GUESSES)} "
            f"(p = {test.p_value:.3f}"
            + (f"; {test.certain} surely no false alarms)" if test.certain else ")")
        )
        if test.is_above:
            close(said, [number + 1 for number in bad])
        say(said)


def rows_file(hyp: Text, output: ScoreOutput) -> str | None:
    """The file that gets every row of the output's table with its verdict, if one was asked for.

    It is JSON Lines of --sentence-level, where the output is a column.
    """
    is_row = isinstance(hyp, Column) and isinstance(hyp.columns, TextTable)
    is_jsonl = output.output_format == "jsonl" and output.output != "-"
    wanted = output.sentence_level and output.worst is None and is_jsonl
    return output.output if is_row and wanted else None


filter_options = options_as("gate", SegmentFilter, group="Output")
"""Adds the options of files; the command receives them as one ``gate``."""

gate_options = options_as("gate", OmissionGate, group="Output")
"""The same with the gate."""


def close(reason: str, segments: Sequence[int]) -> None:
    """Say which segments closed the gate, and end the run with exit status 3."""
    more = f" and {len(segments) - _MAX_NAMED} more" if len(segments) > _MAX_NAMED else ""
    say(f"{reason}: segments {', '.join(map(str, segments[:_MAX_NAMED]))}{more}", "failed")
    click.get_current_context().exit(CLOSED)


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


def _in_step(
    records: Iterable[dict[str, Any]],
    ours: Sequence[dict[str, Any]],
    bad: Sequence[bool],
    name: str,
) -> Iterator[tuple[dict[str, Any], dict[str, Any], bool]]:
    """Our figures, the input's row and whether it is bad; the input was read before, for them.

    Raises:
        DataError: The input has another number of rows now.
    """
    count = 0
    for count, record in enumerate(records, start=1):
        if count <= len(bad):
            yield ours[count - 1], record, bad[count - 1]
    if count != len(bad):
        raise DataError(
            f"{name}: changed while it was read: {len(bad)} segments were scored, and now there "
            f"are {count}"
        )
