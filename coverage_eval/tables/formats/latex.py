"""Tables as LaTeX (booktabs); a comparison looks like Table 1 of Malaviya et al. (2018)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coverage_eval.tables.formats.cells import (
    ColumnContent,
    cell_lines,
    escape_controls,
    notes_with_mark,
    survey,
    without_empty_columns,
)
from coverage_eval.tables.printout import Printout, Style
from coverage_eval.tables.table import Cell, Measured, Named, Table

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": "{`}",
    '"': r"{\char34}",  # babel makes it active in some languages
    "×": r"$\times$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "α": r"$\alpha$", "β": r"$\beta$",
}  # fmt: skip


def render(printout: Printout, style: Style) -> Iterator[str]:
    """Floats for tables with a title or a caption, bare tabulars for others, one after the other.

    What stands below a bare tabular in other formats, notes and signatures, are comments.
    """
    yield r"% needs \usepackage{booktabs}"
    if printout.title:
        yield _comment(printout.title)
    for table in printout.tables:
        yield from _table(*without_empty_columns(table, survey(table)), style.digits)


def escape_latex(text: str) -> str:
    """Text as LaTeX prints it: control characters as ``\\x1b``, and nothing is a ligature.

    What else cannot be printed becomes a space.
    """
    visible = "".join(c if c.isprintable() else " " for c in escape_controls(text))
    escaped = "".join(_ESCAPES.get(c, c) for c in visible)
    return re.sub(r"([-'])(?=\1)", r"\1{}", escaped)


def _table(table: Table, columns: list[ColumnContent], digits: int) -> Iterator[str]:
    if not table.header:
        return iter([escape_latex(" ".join([table.title, *table.notes])) + r"\par"])
    return (_float if table.title or table.caption else _bare)(table, columns, digits)


def _bare(table: Table, columns: list[ColumnContent], digits: int) -> Iterator[str]:
    yield from _tabular(table, columns, digits)
    yield from map(_comment, (*table.notes, *table.signatures))


def _comment(text: str) -> str:
    return f"% {escape_controls(text)}"


def _float(table: Table, columns: list[ColumnContent], digits: int) -> Iterator[str]:
    notes = notes_with_mark(table, columns, "Best figures in bold.")
    first = table.caption or f"{table.title}."
    yield from (r"\begin{table}[t]", r"\centering")
    yield from _tabular(table, columns, digits)
    yield rf"\caption{{{escape_latex(' '.join([first, *notes]))}}}"
    if table.signatures:
        yield r"\par\smallskip\raggedright\tiny\ttfamily"
        yield from (rf"{_breakable(signature)}\par" for signature in table.signatures)
    yield r"\end{table}"


def _breakable(signature: str) -> str:
    """A signature that may be broken into lines after each of its settings."""
    return r"\textbar\allowbreak{}".join(map(escape_latex, signature.split("|")))


def _tabular(table: Table, columns: list[ColumnContent], digits: int) -> Iterator[str]:
    aligned = [column.side[0] for column in columns]
    # An arrow says which direction of a metric is better: no space before it.
    header = [escape_latex(re.sub(" (?=[↑↓])", "", name)) for name in table.header]
    yield from (rf"\begin{{tabular}}{{{''.join(aligned)}}}", r"\toprule", _row(header), r"\midrule")
    apart = any(column.intervals for column in columns)
    for number, row in enumerate(table.rows):
        if number and apart:
            yield r"\addlinespace"
        yield from _rows(row, digits)
    yield from (r"\bottomrule", r"\end{tabular}")


def _rows(row: Sequence[Cell], digits: int) -> Iterator[str]:
    """A row, and below it in small print the intervals, and then the p-values."""
    cells = [_lines(cell, digits) for cell in row]
    yield _row([lines[0] for lines in cells])
    for level in range(1, max(map(len, cells))):
        small = [lines[level] if level < len(lines) else "" for lines in cells]
        yield _row([rf"{{\scriptsize {text}}}" if text else "" for text in small])


def _row(cells: Sequence[str]) -> str:
    r"""One row; a star or a bracket at its start would belong to the \\ before it."""
    line = " & ".join(cells) + r" \\"
    return f"{{}}{line}" if line[:1] in {"*", "["} else line


def _lines(cell: Cell, digits: int) -> list[str]:
    lines = cell_lines(cell, digits)
    if isinstance(cell, Named):  # a remark would cost a line; the caption names the baseline
        return [escape_latex(lines[0])]
    if not isinstance(cell, Measured):
        return [escape_latex(line) for line in lines]
    first = rf"\textbf{{{lines[0]}}}" if cell.best else lines[0]
    return [first, *(re.sub(r"^p (.) (.*)", r"$p\1\2$", line) for line in lines[1:])]
