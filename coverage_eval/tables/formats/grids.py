"""What text and Markdown share: paragraphs, and grids by tabulate, of tables of any length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from coverage_eval.tables.formats.cells import text_width

_TOGETHER = 4096
"""Rows that tabulate gets at once, of each of which it makes several copies."""

_ABOVE = 2
"""Lines of a grid above its rows: the names of columns, and what is below them."""

Row = Sequence[str]


def paragraphs(parts: Iterable[Iterable[str]]) -> Iterator[str]:
    """The lines of parts, each apart from the next by an empty line."""
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield from part


def grid_lines(
    header: Sequence[str],
    rows: Sequence[Row],
    form: str,
    sides: Sequence[str],
    widths: Sequence[int] | None = None,
) -> Iterator[str]:
    """The lines of a table of text.

    Args:
        header: Names of the columns, each on one line.
        rows: Cells, gone through twice if there are very many.
        form: One of tabulate's, with two lines above the rows and none below.
        sides: ``left`` or ``right`` for each column.
        widths: Widths to which the columns are wrapped; None for lines of any length.
    """
    from tabulate import tabulate

    def grid(part: Sequence[Row]) -> list[str]:
        return tabulate(
            part,
            headers=header,
            tablefmt=form,
            disable_numparse=True,
            colalign=sides if part else None,
            maxcolwidths=widths,
        ).split("\n")

    if len(rows) <= _TOGETHER or widths is not None:
        yield from grid(list(rows))
        return
    # All parts are as wide as the widest cells, which are the last rows of each and left out.
    # tabulate counts characters, or columns where it finds a library that knows them.
    widest = [_widest(rows, measure) for measure in (len, text_width)]
    for first in range(0, len(rows), _TOGETHER):
        lines = grid([*rows[first : first + _TOGETHER], *widest])
        yield from lines[_ABOVE if first else 0 : -len(widest)]


def _widest(rows: Sequence[Row], measure: Callable[[str], int]) -> Row:
    """A row of the widest line of each column."""
    found = list(rows[0])
    widths = [0] * len(found)
    for row in rows:
        for column, cell in enumerate(row):
            for line in cell.split("\n"):
                if measure(line) > widths[column]:
                    found[column], widths[column] = line, measure(line)
    return found
