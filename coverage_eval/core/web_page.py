"""A report as one plain HTML page: the tables that text has, without scripts or pictures."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from coverage_eval.core.layout import cell_lines, column_alignment, legend
from coverage_eval.core.report import Report, Style, Table

_STYLE = (
    "body{font:15px/1.45 sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.25rem .7rem;text-align:left;"
    "vertical-align:top;border-bottom:1px solid #ccc}.right{text-align:right}h2{margin-top:2.5rem}"
)


def html_page(report: Report, style: Style) -> Iterator[str]:
    """The lines of the page."""
    title = escape(report.title)
    yield f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    yield f"<style>{_STYLE}</style></head><body>"
    yield f"<h1>{title}</h1>"
    shown = [table for table in report.tables if "text" in table.formats]
    for table in shown:
        if table.title:
            yield f"<h2>{escape(table.title)}</h2>"
        if table.header:
            yield from _rows(table, style)
        for note in [*legend(table, bold=False), *table.notes, *table.signatures]:
            yield f"<p>{escape(note)}</p>"
    yield "</body></html>"


def _rows(table: Table, style: Style) -> Iterator[str]:
    """The header and the rows, without empty columns."""
    columns = table.shown_columns
    sides = [column_alignment(table.traits[i]) for i in columns]
    names = [
        f'<th class="{s}">{escape(table.header[i])}</th>'
        for s, i in zip(sides, columns, strict=True)
    ]
    yield f"<table><thead><tr>{''.join(names)}</tr></thead><tbody>"
    for row in table.rows:
        cells = ("<br>".join(map(escape, cell_lines(row[i], style.digits))) for i in columns)
        shown = (f'<td class="{s}">{cell}</td>' for s, cell in zip(sides, cells, strict=True))
        yield f"<tr>{''.join(shown)}</tr>"
    yield "</tbody></table>"
