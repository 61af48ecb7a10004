"""Segments with an error: a gate that closes at a share of them, and files to part them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from coverage_eval.cli.messages import say
from coverage_eval.cli.options import FiniteRange, OutputFile, click_options, options_as
from coverage_eval.data.dataset import Dataset, Row
from coverage_eval.data.files import Column, Text, check_readable_again, check_target
from coverage_eval.data.tables import ColumnFile, write_records
from coverage_eval.metrics.score import setting

CLOSED = 3
"""The exit status where a gate is closed."""

_MOST_NAMED = 20


@dataclass(frozen=True)
class SegmentGate:
    """What becomes of segments with an error, as the command line says it."""

    fail_above: float | None = setting(
        None,
        "End with exit status 3 if more than this percentage of the segments has an error; they "
        "are named.",
        metavar="PERCENT",
        type=FiniteRange(0, 100),
    )
    keep: str | None = setting(
        None,
        "Write the segments without an error to this file, with all columns of the input: JSON "
        "Lines, or by its ending TSV or CSV.",
        metavar="FILE",
        type=OutputFile(),
    )
    reject: str | None = setting(
        None, "Write those with an error to this file.", metavar="FILE", type=OutputFile()
    )

    @property
    def is_given(self) -> bool:
        """Whether anything is to be done."""
        return self.fail_above is not None or bool(self.keep or self.reject)

    def check(self, hyp: Text) -> None:
        """Refuse what cannot be done with this output, before any long work.

        Raises:
            click.UsageError: A file that is standard output, or rows of a table of systems.
            DataError: A file cannot be written, or the table cannot be read again.
        """
        for file in filter(None, (self.keep, self.reject)):
            if file == "-":
                raise click.UsageError("--keep and --reject write files, not standard output")
            if isinstance(hyp, Column):
                if not isinstance(hyp.columns, ColumnFile):
                    raise click.UsageError("--keep and --reject are not for --system-col")
                check_readable_again(hyp)
            check_target(file)

    def apply(
        self,
        dataset: Dataset,
        hyp: Text,
        bad: Sequence[bool],
        figures: Mapping[str, Sequence[float | None]],
    ) -> None:
        """Write the files, then end the run if too many segments have an error.

        Args:
            dataset: The texts.
            hyp: The output among them.
            bad: Whether each segment has an error.
            figures: Columns to be added to the rows, such as scores.
        """
        for file, wanted in ((self.keep, False), (self.reject, True)):
            if file is not None:
                rows = zip(_records(dataset, hyp), bad, *figures.values(), strict=True)
                write_records(
                    file,
                    (
                        {**dict(zip(figures, values, strict=True)), **record}
                        for record, is_bad, *values in rows
                        if bool(is_bad) == wanted
                    ),
                )
        found = [number for number, is_bad in enumerate(bad, start=1) if is_bad]
        share = 100 * len(found) / len(bad)
        if self.fail_above is not None and share > self.fail_above:
            close(
                f"{len(found)} of {len(bad)} segments ({share:.2f}%) have an error, more than "
                f"{self.fail_above:g}%",
                found,
            )


gate_options = options_as("gate", SegmentGate, click_options(SegmentGate, group="Output"))
"""Adds the options; the command receives them as one ``gate``."""


def close(reason: str, segments: Sequence[int]) -> None:
    """End the run with the status of a closed gate, and say which segments closed it."""
    more = f" and {len(segments) - _MOST_NAMED} more" if len(segments) > _MOST_NAMED else ""
    say(f"{reason}: segments {', '.join(map(str, segments[:_MOST_NAMED]))}{more}", "failed")
    click.get_current_context().exit(CLOSED)


def _records(dataset: Dataset, hyp: Text) -> Iterable[dict[str, Any]]:
    """Each segment's row of the input, with all its columns."""
    if isinstance(hyp, Column) and isinstance(hyp.columns, ColumnFile):
        return hyp.columns.records()
    return (_record(number, row) for number, row in enumerate(dataset.rows(), start=1))


def _record(number: int, row: Row) -> dict[str, Any]:
    """The texts of plain files as a row of a table."""
    references = ["reference", *(f"reference{n}" for n in range(2, len(row.references) + 1))]
    source = {} if row.source is None else {"source": row.source}
    texts = {"segment": number, **source, "hypothesis": row.hypotheses[0]}
    return texts | dict(zip(references, row.references, strict=False))
