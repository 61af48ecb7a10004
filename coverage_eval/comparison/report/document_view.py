"""Documents to read: source and output side by side, with gaps where lines are missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from coverage_eval.comparison.report.page import render_page

if TYPE_CHECKING:
    from coverage_eval.documents.cut_documents import CutDocument


@dataclass(frozen=True)
class ViewedRow:
    """A source line and its translation, or text of the output that belongs to no line.

    Attributes:
        line: The number of the source line, from 1; None for text that belongs to no line.
        source: The source line; empty for such text.
        output: Its translation; empty if it is missing.
        kind: ``kept``, ``missing``, ``extra``, ``again`` or ``blank``.
        probability: The probability of that, 0 to 1.
        repeats: For repeated text, the line that it repeats.
    """

    line: int | None
    source: str
    output: str
    kind: str
    probability: float
    repeats: int | None = None


@dataclass(frozen=True)
class ViewedDocument:
    """A document.

    Attributes:
        name: Its name.
        summary: One sentence about it.
        rows: Its lines.
    """

    name: str
    summary: str
    rows: Sequence[ViewedRow]

    @classmethod
    def of(cls, cut: CutDocument) -> ViewedDocument:
        """A document that was cut."""
        rows: list[ViewedRow] = []
        for row in cut.segmentation.rows():
            line, repeats = cast("int | None", row["line"]), cast("int | None", row["repeats"])
            text = str(row["text"])
            if line is None:
                kind = "extra" if repeats is None else "again"
            elif text:
                kind = "kept"
            else:
                kind = "missing" if cut.segmentation.source_words[line - 1] else "blank"
            is_shown = line is None or (rows and rows[-1].line == line)
            rows.append(
                ViewedRow(
                    line,
                    "" if is_shown or line is None else cut.document.source[line - 1],
                    text,
                    kind,
                    float(cast("float", row["probability"])),
                    repeats,
                )
            )
        return cls(cut.document.name, cut.segmentation.summary(), rows)

    @property
    def stops(self) -> Iterator[tuple[int, ViewedRow]]:
        """The rows that a reader goes to, with their indices: the first of neighbouring ones."""
        before = ""
        for place, row in enumerate(self.rows):
            if row.kind not in {"kept", "blank", before}:
                yield place, row
            before = row.kind


def render_documents(documents: Sequence[ViewedDocument], title: str) -> str:
    """Make a page of documents: one HTML file that needs no network.

    The template escapes all text, and the page's own policy lets only its own script run.

    Args:
        documents: The documents.
        title: The page's title.
    """
    return render_page(
        "documents.html",
        "documents.js",
        ("document_table.css", "documents.css"),
        documents=documents,
        title=title,
    )
