"""Segments with an error: a gate that fails above a share of them, and files to split them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from coverage_eval.cli.messages import say
from coverage_eval.cli.options import (
    FiniteRange,
    Percentage,
    click_options,
    options_as,
    output_file_setting,
)
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.files import Column, Text, check_readable_again, check_target
from coverage_eval.data.tables import ColumnFile, write_records
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.score import setting

CLOSED = 3
"""The exit status where a gate is closed."""

_MOST_NAMED = 20


@dataclass(frozen=True)
class SegmentGate:
    """What to do with segments that have an error."""

    fail_above: float | None = setting(
        None,
        "End with exit status 3 if more than this percentage of the segments have an error, and "
        "name these segments.",
        metavar="PERCENT",
        type=Percentage(0, 100),
    )
    keep: str | None = output_file_setting(
        "Write the segments without an error to this file, with all columns of the input: TSV or "
        "CSV by its ending, else JSON Lines."
    )
    reject: str | None = output_file_setting("Write the segments with an error to this file.")

    @property
    def is_given(self) -> bool:
        """Whether a gate or a file was asked for."""
        return self.fail_above is not None or bool(self.keep or self.reject)

    def check(self, hyp: Text) -> None:
        """Refuse what cannot work with this output, before any long work.

        Raises:
            click.UsageError: A file is standard output, or the output is of a table of systems.
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
            figures: Columns to add to the rows, such as scores.
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


@dataclass(frozen=True)
class ScoreGate(SegmentGate):
    """A gate for scores: a segment has an error if its score is worse than a threshold."""

    threshold: float | None = setting(
        None,
        "For --fail-above, --keep and --reject: a segment has an error if its score is worse than "
        "this.  [default: 0]",
        type=FiniteRange(),
    )

    def check_threshold(self, kind: type[Metric]) -> None:
        """Raise a usage error where a threshold is needed and there is none."""
        if self.is_given and self.threshold is None and kind.higher_is_better:
            raise click.UsageError(
                f"give --threshold: no score of {kind.name} is bad for every text"
            )

    def is_bad(self, score: float | None, kind: type[Metric]) -> bool:
        """Whether a segment's score is worse than the threshold; an undefined score is not."""
        sign = -1 if kind.higher_is_better else 1
        return score is not None and sign * score > sign * (self.threshold or 0.0)


gate_options = options_as("gate", SegmentGate, click_options(SegmentGate, group="Output"))
"""Adds the options; the command receives them as one ``gate``."""

score_gate_options = options_as("gate", ScoreGate, click_options(ScoreGate, group="Output"))
"""The same with ``--threshold``."""


def close(reason: str, segments: Sequence[int]) -> None:
    """Say which segments closed the gate, and end the run with exit status 3."""
    more = f" and {len(segments) - _MOST_NAMED} more" if len(segments) > _MOST_NAMED else ""
    say(f"{reason}: segments {', '.join(map(str, segments[:_MOST_NAMED]))}{more}", "failed")
    click.get_current_context().exit(CLOSED)


def _records(dataset: Dataset, hyp: Text) -> Iterable[dict[str, Any]]:
    """Each segment's row of the input, with all its columns; plain files make rows of texts."""
    if isinstance(hyp, Column) and isinstance(hyp.columns, ColumnFile):
        return hyp.columns.records()
    return (
        {
            "segment": number,
            **({} if row.source is None else {"source": row.source}),
            "hypothesis": row.hypotheses[0],
            **{f"reference{n if n > 1 else ''}": text for n, text in enumerate(row.references, 1)},
        }
        for number, row in enumerate(dataset.rows(), start=1)
    )
