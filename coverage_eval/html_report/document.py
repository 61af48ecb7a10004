"""What one HTML report says, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coverage_eval.tables.table import Table


@dataclass(frozen=True)
class ReportBreakdown:
    """A table of what goes wrong, each row of which leads to its segments.

    Attributes:
        table: The table; one of its columns is ``system``.
        entry: The column whose cells lead to segments.
        links: For each row the view of the segments it counts, the URL's fragment without ``#``;
            empty where there are none.
        measures: The columns that charts show; none for a list of words, which has no chart.
    """

    table: Table
    entry: str
    links: Sequence[str]
    measures: Sequence[str] = ()


@dataclass(frozen=True)
class Topic:
    """Paragraphs about how something was measured, under a heading.

    Attributes:
        heading: The heading.
        paragraphs: Text that wraps.
        lines: Text whose every character counts, such as a signature or a command.
    """

    heading: str
    paragraphs: Sequence[str] = ()
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Document:
    """One report.

    Attributes:
        title: Its title.
        verdict: What the scores say, in plain sentences.
        scores: The table of scores.
        breakdowns: What goes wrong.
        agreement: Labels against marks; None without labels.
        topics: How it was measured.
        notice: What the reader must know of what is not in the report, if anything is not.
        blocks: Names and plain values of the data that the script reads.
    """

    title: str
    verdict: Sequence[str]
    scores: Table
    breakdowns: Sequence[ReportBreakdown]
    agreement: Table | None
    topics: Sequence[Topic]
    notice: str
    blocks: Iterable[tuple[str, Any]]
