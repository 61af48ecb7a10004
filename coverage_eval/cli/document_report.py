"""What ``omissions --unaligned`` shows of documents, and which of them it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from coverage_eval.cli.messages import say
from coverage_eval.cli.output import GATE_CLOSED_STATUS
from coverage_eval.core.formats import json_line
from coverage_eval.core.report import HUMAN_FORMATS, Report, Table
from coverage_eval.core.writing import write_together

if TYPE_CHECKING:
    from coverage_eval.documents.segmentation import Segmentation

MAX_LISTED = 5
"""Documents that a closed gate names."""


def gate_documents(
    documents: Sequence[Segmentation],
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
    good: list[dict[str, Any]] = []
    bad: list[dict[str, Any]] = []
    for record in map(_record, documents):
        (bad if record[figure] > (fail_above or 0.0) else good).append(record)
    files = ((keep, good), (reject, bad))
    write_together({file: map(json_line, records) for file, records in files if file is not None})
    if fail_above is not None and bad:
        names = [record["document"] for record in bad]
        listed = ", ".join(names[:MAX_LISTED]) + " …" * (len(bad) > MAX_LISTED)
        has = f"lack more than {fail_above:g}% of the source's words"
        if additions:
            has = f"have more than {fail_above:g}% of their words beside the source's lines"
        say(f"{len(bad)} of {len(documents)} documents {has}: {listed}", "failed")
        click.get_current_context().exit(GATE_CLOSED_STATUS)


def _record(cut: Segmentation) -> dict[str, Any]:
    """A document for --keep and --reject."""
    return {
        **document_figures(cut),
        "missing": [passage._asdict() for passage in cut.passages],
        "source": "\n".join(cut.source),
        "output": cut.output,
    }


def document_figures(cut: Segmentation) -> dict[str, Any]:
    """A document's name, and its percentages of missing source words and of extra words."""
    return {
        "document": cut.name,
        "score": 100 * cut.score,
        "extra": 100 * cut.extra_share,
    }


def with_passages(report: Report, documents: Sequence[Segmentation]) -> Report:
    """Put missing lines, and text that belongs to none, before what people see of segments."""
    passages = [passage for cut in documents for passage in cut.passages]
    extra = [
        (cut.name, piece)
        for cut in documents
        for line in cut.line_matches()
        for piece in line.extra
    ]

    def position(document: str, within: object) -> str:
        return f"{document}, {within}" if len(documents) > 1 else str(within)

    missing_lines = Table(
        ("missing", "lines", "words"),
        [(position(p.document, p), p.last - p.first + 1, p.words) for p in passages],
        "Lines without a translation" if passages else "No line is without a translation.",
        formats=HUMAN_FORMATS,
    )
    added_text = Table(
        ("extra", "words", "text"),
        [(position(name, piece.place), piece.words, piece.text) for name, piece in extra],
        "Text that belongs to no line",
        formats=HUMAN_FORMATS,
    )
    added = (added_text,) if extra else ()
    tables = (missing_lines, *added, *report.tables)
    return replace(report, tables=tables).with_values(
        passages=[passage._asdict() for passage in passages],
        additions=[{"document": name, **piece.to_dict()} for name, piece in extra],
        documents=[document_figures(cut) for cut in documents],
    )
