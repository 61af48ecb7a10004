"""A table of plain values as text, CSV, JSON, LaTeX or Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

__all__ = ["FORMATS", "render_json", "render_table"]

FORMATS = ("text", "json", "csv", "latex", "markdown")

_TABULATE = {"text": "simple", "latex": "latex_booktabs", "markdown": "github"}


def render_table(
    header: Sequence[str], rows: Sequence[Sequence[object]], output_format: str, *, width: int = 2
) -> str:
    """Render rows under a header, without a final line end.

    Numbers are rounded to ``width`` digits in the forms for people (text, LaTeX, Markdown) and
    written in full in those for programs (CSV, JSON). None is an empty cell, and null in JSON.

    Args:
        header: Names of the columns.
        rows: Cells: text, numbers or None.
        output_format: One of :data:`FORMATS`.
        width: Digits after the decimal point.
    """
    if output_format == "json":
        return render_json([dict(zip(header, row, strict=True)) for row in rows])
    if output_format == "csv":
        return _render_csv(header, rows)
    if output_format == "markdown":
        rows = [[c.replace("|", "\\|") if isinstance(c, str) else c for c in row] for row in rows]
    from tabulate import tabulate

    return tabulate(
        [list(row) for row in rows],
        headers=list(header),
        tablefmt=_TABULATE[output_format],
        floatfmt=f".{width}f",
        disable_numparse=_text_columns(rows),
    )


def render_json(value: Any) -> str:
    """JSON of plain values, in UTF-8 as it is; NaN is refused rather than written."""
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)


def _text_columns(rows: Sequence[Sequence[object]]) -> list[int]:
    """The columns with some text, shown as it is even where it looks like a number."""
    columns = enumerate(zip(*rows, strict=True))
    return [i for i, cells in columns if any(isinstance(cell, str) for cell in cells)]


def _render_csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_safe_cell(cell) for cell in row] for row in rows)
    return buffer.getvalue().removesuffix("\n")


def _safe_cell(cell: object) -> object:
    """Text of a corpus is data: a spreadsheet must not take it for a formula."""
    if isinstance(cell, str) and cell[:1] in {"=", "+", "-", "@", "\t", "\r"}:
        return f"'{cell}"
    return cell
