"""A report as LaTeX in booktabs style."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from coverage_eval.core.escapes import escape_controls
from coverage_eval.core.layout import cell_lines, column_alignment, legend
from coverage_eval.core.report import Cell, Report, ScoreCell, Style, Table

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": "{`}",
    '"': r"{\char34}",  # babel makes it active in some languages
    "×": r"$\times$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "α": r"$\alpha$", "β": r"$\beta$", "–": r"\textendash{}",
}  # fmt: skip


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, with control characters as ``\\x1b`` and without ligatures.

    Other unprintable characters become spaces.
    """
    visible = (c if c.isprintable() else " " for c in escape_controls(text))
    escaped = "".join(_SIGNS.get(c, c) for c in visible)
    return re.sub(r"([-'])(?=\1)", r"\1{}", escaped)


def latex(report: Report, style: Style) -> Iterator[str]:
    """Tables with a title or a caption as floats, others as bare tabulars.

    The notes and signatures of a bare tabular are comments.
    """
    yield r"% needs \usepackage{booktabs}"
    if report.title:
        yield f"% {escape_controls(report.title)}"
    shown = [table for table in report.tables if "latex" in table.formats]
    for table in shown:
        if not table.header:
            yield escape_latex(" ".join([table.title, *table.notes])) + r"\par"
        elif table.title or table.caption:
            yield from _float(table, style)
        else:
            yield from _tabular(table, style.digits)
            yield from (f"% {escape_controls(line)}" for line in (*table.notes, *table.signatures))


_COLUMN = 42
"""Characters that fit a column of a two-column page, 3.25 inches of 11 points."""


def _float(table: Table, style: Style) -> Iterator[str]:
    """A table with caption and label; a wide one spans both columns of a two-column page.

    Signatures are printed below, or comments.
    """
    digits = style.digits
    first = table.caption or f"{table.title}."
    caption = [first, *legend(table), *table.notes]
    name = re.sub("[^a-z0-9]+", "-", first.lower()).strip("-")
    environment = "table*" if _width(table, digits) > _COLUMN else "table"
    yield from (rf"\begin{{{environment}}}[t]", r"\centering")
    yield from _tabular(table, digits)
    yield rf"\caption{{{escape_latex(' '.join(caption))}}}"
    yield rf"\label{{tab:{name}}}"
    if not style.signatures:
        yield from (f"% {escape_controls(signature)}" for signature in table.signatures)
    elif table.signatures:
        yield r"\par\smallskip\raggedright\tiny\ttfamily"
        for signature in table.signatures:  # a line may end after each of its settings
            yield r"\textbar\allowbreak{}".join(map(escape_latex, signature.split("|"))) + r"\par"
    yield rf"\end{{{environment}}}"


def _width(table: Table, digits: int) -> int:
    """Characters in the widest lines of all columns, and between them."""
    widths = [
        max(len(table.header[i]), *(len(cell_lines(row[i], digits)[0]) for row in table.rows), 0)
        for i in table.shown_columns
    ]
    return sum(widths) + 2 * (len(widths) - 1)


def _tabular(table: Table, digits: int) -> Iterator[str]:
    columns = table.shown_columns
    yield rf"\begin{{tabular}}{{{''.join(column_alignment(table.traits[i])[0] for i in columns)}}}"
    # No space before the arrow that says which direction is better.
    header = [escape_latex(re.sub(" (?=[↑↓])", "", table.header[i])) for i in columns]
    yield from (r"\toprule", _row(header), r"\midrule")
    rows = [[_lines(row[i], digits) for i in columns] for row in table.rows]
    is_apart = any(len(lines) > 1 for cells in rows for lines in cells)
    for number, cells in enumerate(rows):
        if number and is_apart:
            yield r"\addlinespace"
        yield from map(_row, zip_longest(*cells, fillvalue=""))
    yield from (r"\bottomrule", r"\end{tabular}")


def _row(cells: Sequence[str]) -> str:
    r"""One row; LaTeX would take a leading star or bracket as an argument of the \\ before it."""
    return re.sub(r"^(?=[*\[])", "{}", " & ".join(cells)) + r" \\"


def _lines(cell: Cell, digits: int) -> list[str]:
    """A cell, then its interval in small print; a star stands for its p-value.

    The star takes no room, so that figures stay in their column.
    """
    first, *rest = cell_lines(cell, digits)
    if not isinstance(cell, ScoreCell):
        return [escape_latex(first)]
    best = rf"\textbf{{{first}}}" if cell.best else first
    star = r"\rlap{$^{*}$}" if cell.significant else ""
    interval = rest[:1] if cell.low is not None else []
    return [best + star, *(rf"{{\scriptsize {line.replace('–', '--')}}}" for line in interval)]
