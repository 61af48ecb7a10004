"""A table of plain values as text, CSV, JSON, LaTeX or Markdown."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

__all__ = ["FORMATS", "escape_markdown", "render_json", "render_table"]

FORMATS = ("text", "json", "csv", "latex", "markdown")

_TABULATE = {"text": "simple", "latex": "latex_booktabs", "markdown": "github"}

_CONTROLS = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) != "\n"
}


def render_table(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    output_format: str,
    *,
    width: int = 2,
    markup: bool = False,
) -> str:
    """Render rows under a header, without a final line end.

    Numbers are rounded to ``width`` digits in the forms for people (text, LaTeX, Markdown) and
    written in full in those for programs (CSV, JSON). None is an empty cell, and null in JSON.

    Args:
        header: Names of the columns.
        rows: Cells: text, numbers or None.
        output_format: One of :data:`FORMATS`.
        width: Digits after the decimal point.
        markup: In Markdown, text is Markdown already, made with :func:`escape_markdown`.
    """
    if output_format == "json":
        return render_json([dict(zip(header, row, strict=True)) for row in rows])
    if output_format == "csv":
        return _render_csv(header, rows)
    plain = output_format != "markdown" or markup
    escape = _escape_controls if plain else escape_markdown
    rows = [[escape(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
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
    return "\n".join(_csv_line(row) for row in (header, *rows))


def _csv_line(row: Sequence[object]) -> str:
    """One record; csv quotes what its line end contains, and a lone carriage return needs that."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow([_safe_cell(cell) for cell in row])
    return buffer.getvalue().removesuffix("\r\n")


def _safe_cell(cell: object) -> object:
    """Text of a corpus is data: a spreadsheet must not take it for a formula."""
    if isinstance(cell, str) and cell[:1] in {"=", "+", "-", "@", "\t", "\r"}:
        return f"'{cell}"
    return cell


def _escape_controls(text: str) -> str:
    """Control characters as ``\\x1b``: they would break rows, or command a terminal."""
    return text.translate(_CONTROLS)


def escape_markdown(text: str) -> str:
    """Text without a meaning in Markdown or HTML; the bar is left to the table's own escaping."""
    return re.sub(r"([\\`*_<\[\]#&~])", r"\\\1", text.translate(_CONTROLS))
