"""What commands say of documents: what is missing, by size, and which of them lack too much."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from coverage_eval.cli.gate import CLOSED
from coverage_eval.cli.messages import say
from coverage_eval.cli.options import ScoreOutput
from coverage_eval.cli.output import print_lines
from coverage_eval.core.show.formats import FORMATS
from coverage_eval.core.show.table import Printable, Table

if TYPE_CHECKING:
    from coverage_eval.documents.cut_documents import CutDocument

MAX_LISTED = 5
"""Documents that a closed gate names."""


def with_passages(
    printed: Printable, documents: Sequence[CutDocument], output: ScoreOutput
) -> Printable:
    """Put missing lines, and text that belongs to none, before what is printed of segments."""
    if output.score_only or not FORMATS[output.output_format].several:
        return printed
    passages = [passage for one in documents for passage in one.passages]
    extra = [
        (one.document.name, piece)
        for one in documents
        for line in one.line_cuts()
        for piece in line.extra
    ]
    lost = Table(
        ("missing", "lines", "words"),
        tuple(
            (
                f"{passage.document}, {passage}" if len(documents) > 1 else str(passage),
                passage.last - passage.first + 1,
                passage.words,
            )
            for passage in passages
        ),
        "Lines without a translation" if passages else "No line is without a translation.",
    )
    more = Table(
        ("extra", "words", "text"),
        tuple(
            (
                f"{name}, {piece.place}" if len(documents) > 1 else piece.place,
                piece.words,
                piece.text,
            )
            for name, piece in extra
        ),
        "Text that belongs to no line",
    )
    data = {
        "passages": [passage.to_dict() for passage in passages],
        "additions": [{"document": name, **piece.to_dict()} for name, piece in extra],
        "documents": [
            {
                "document": one.document.name,
                "score": 100 * one.segmentation.score,
                "extra": 100 * one.segmentation.extra_share,
            }
            for one in documents
        ],
    }
    tables = (lost, more) if extra else (lost,)
    whole = {**printed.data, **data} if isinstance(printed.data, dict) else printed.data
    return replace(printed, tables=(*tables, *printed.tables), data=whole)


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
    shares = [
        one.segmentation.extra_share if additions else one.segmentation.score for one in documents
    ]
    bad = [100 * share > (fail_above or 0.0) for share in shares]
    for file, wanted in ((keep, False), (reject, True)):
        if file is not None:
            chosen = (one for one, is_bad in zip(documents, bad, strict=True) if is_bad == wanted)
            print_lines((json.dumps(_record(one), ensure_ascii=False) for one in chosen), file)
    if fail_above is not None and any(bad):
        named = [one.document.name for one, is_bad in zip(documents, bad, strict=True) if is_bad]
        listed = ", ".join(named[:MAX_LISTED]) + " …" * (len(named) > MAX_LISTED)
        has = f"have more than {fail_above:g}% of their words beside the source's lines"
        if not additions:
            has = f"lack more than {fail_above:g}% of the source's words"
        say(f"{len(named)} of {len(documents)} documents {has}: {listed}", "failed")
        click.get_current_context().exit(CLOSED)


def _record(one: CutDocument) -> dict[str, Any]:
    """A document for --keep and --reject."""
    return {
        "document": one.document.name,
        "score": 100 * one.segmentation.score,
        "extra": 100 * one.segmentation.extra_share,
        "missing": [passage.to_dict() for passage in one.passages],
        "source": "\n".join(one.document.source),
        "output": "\n".join(one.document.output),
    }
