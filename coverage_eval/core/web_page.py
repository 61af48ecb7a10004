"""A report as one plain HTML page: the tables that text has, without scripts or pictures."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib.resources import files

from coverage_eval.core.layout import cell_lines, column_alignment, legend
from coverage_eval.core.report import Report, Style, Table

_STYLE = "td,th{max-width:40rem;overflow-wrap:anywhere;white-space:normal}h2{font-size:1.1rem}"


def page_style() -> str:
    """The style sheet that all pages share."""
    return (files("coverage_eval.core") / "page.css").read_text("utf-8")


def html_page(report: Report, style: Style) -> Iterator[str]:
    """The lines of the page."""
    title = escape(report.title)
    yield f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{page_style()}{_STYLE}</style></head><body>"
    yield '<header class="top"><span class="wordmark"><span>coverage</span>-eval</span>'
    yield f"<h1>{title}</h1>"
    yield '<label class="scheme"><input type="checkbox" id="scheme">'
    yield '<span class="dark">dark</span><span class="light">light</span></label></header>'
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
