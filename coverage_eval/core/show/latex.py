"""Tables as LaTeX (booktabs); a comparison looks like Table 1 of Malaviya et al. (2018)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coverage_eval.core.show.table import (
    Cell,
    ColumnContent,
    Printable,
    RowLabel,
    ScoreCell,
    Style,
    Table,
    cell_lines,
    escape_controls,
    notes_with_marks,
    without_empty_columns,
)

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "`": "{`}",
    '"': r"{\char34}",  # babel makes it active in some languages
    "×": r"$\times$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "α": r"$\alpha$", "β": r"$\beta$",
}  # fmt: skip


def render_latex(printable: Printable, style: Style) -> Iterator[str]:
    """Tables with a title or a caption as floats, others as bare tabulars.

    The notes and signatures of a bare tabular are comments.
    """
    yield r"% needs \usepackage{booktabs}"
    if printable.title:
        yield _comment(printable.title)
    for table in printable.tables:
        yield from _table(table, style.digits)


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, with control characters as ``\\x1b`` and without ligatures.

    Other unprintable characters become spaces.
    """
    visible = "".join(c if c.isprintable() else " " for c in escape_controls(text))
    escaped = "".join(_ESCAPES.get(c, c) for c in visible)
    return re.sub(r"([-'])(?=\1)", r"\1{}", escaped)


def _comment(text: str) -> str:
    return f"% {escape_controls(text)}"


def _table(table: Table, digits: int) -> Iterator[str]:
    table, columns = without_empty_columns(table)
    if not table.header:
        yield escape_latex(" ".join([table.title, *table.notes])) + r"\par"
        return
    if not (table.title or table.caption):
        yield from _tabular(table, columns, digits)
        yield from map(_comment, (*table.notes, *table.signatures))
        return
    notes = notes_with_marks(table, columns, star=False)
    first = table.caption or f"{table.title}."
    yield from (r"\begin{table}[t]", r"\centering")
    yield from _tabular(table, columns, digits)
    yield rf"\caption{{{escape_latex(' '.join([first, *notes]))}}}"
    if table.signatures:
        yield r"\par\smallskip\raggedright\tiny\ttfamily"
        for signature in table.signatures:  # a line may end after each of its settings
            yield r"\textbar\allowbreak{}".join(map(escape_latex, signature.split("|"))) + r"\par"
    yield r"\end{table}"


def _tabular(table: Table, columns: Sequence[ColumnContent], digits: int) -> Iterator[str]:
    aligned = [column.side[0] for column in columns]
    # No space before the arrow that says which direction is better.
    header = [escape_latex(re.sub(" (?=[↑↓])", "", name)) for name in table.header]
    yield from (rf"\begin{{tabular}}{{{''.join(aligned)}}}", r"\toprule", _row(header), r"\midrule")
    apart = any(column.intervals for column in columns)
    for number, row in enumerate(table.rows):
        if number and apart:
            yield r"\addlinespace"
        cells = [_lines(cell, digits) for cell in row]
        yield _row([lines[0] for lines in cells])
        for level in range(1, max(map(len, cells))):  # intervals, then p-values
            small = [lines[level] if level < len(lines) else "" for lines in cells]
            yield _row([rf"{{\scriptsize {text}}}" if text else "" for text in small])
    yield from (r"\bottomrule", r"\end{tabular}")


def _row(cells: Sequence[str]) -> str:
    r"""One row; LaTeX would take a leading star or bracket as an argument of the \\ before it."""
    line = " & ".join(cells) + r" \\"
    return f"{{}}{line}" if line[:1] in {"*", "["} else line


def _lines(cell: Cell, digits: int) -> list[str]:
    lines = cell_lines(cell, digits)
    if isinstance(cell, RowLabel):  # without the remark: the caption names the baseline
        return [escape_latex(lines[0])]
    if not isinstance(cell, ScoreCell):
        return [escape_latex(line) for line in lines]
    first = rf"\textbf{{{lines[0]}}}" if cell.best else lines[0]
    return [first, *(re.sub(r"^p (.) (.*)", r"$p\1\2$", line) for line in lines[1:])]
