"""A table as plain values: what every part of the toolkit makes, and a format prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Measured:
    """A measured score as one cell of a table.

    Attributes:
        value: The score, in the unit that the table shows.
        low: Lower end of its confidence interval, if it has one.
        high: Upper end of the same.
        p: p-value of the test against a baseline, if there was one.
        best: Whether no other row is better.
    """

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    best: bool = False

    def format(self, digits: int = 2) -> str:
        """The score and its interval on one line, such as ``3.37 [2.90, 3.81]``."""
        return " ".join([format_figure(self.value, digits), *self.interval(digits)])

    def interval(self, digits: int) -> list[str]:
        """``[low, high]`` as one string, or nothing if there is no interval."""
        if self.low is None or self.high is None:
            return []
        return [f"[{format_figure(self.low, digits)}, {format_figure(self.high, digits)}]"]


@dataclass(frozen=True)
class Named:
    """The name of a row with a remark, such as ``(baseline)``, that stands below it."""

    name: str
    remark: str


Cell: TypeAlias = "str | int | float | Measured | Named | None"
"""None is an undefined figure: an empty cell, and null in JSON."""


@dataclass(frozen=True)
class Table:
    """Rows under a header, with what must be known to read them.

    Attributes:
        header: Names of the columns.
        rows: Cells, as many in each row as there are columns. Very many rows are better
            :class:`~coverage_eval.tables.mapped.Mapped` than held in memory. A table may have no
            columns at all and say something in its title and notes alone.
        title: What the table shows; stands above it.
        name: Its name among several tables in JSON.
        notes: Sentences that stand below it.
        signatures: What moved the scores: one for all rows, one for each row, or one for each
            column of scores.
        caption: The first sentence of the caption that LaTeX gives to a table without a title.
        lines: Text shows each row as one line, its signature and its score.
    """

    header: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    title: str = ""
    name: str = ""
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    caption: str = ""
    lines: bool = False

    def to_frame(self) -> pd.DataFrame:
        """The rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=pd.Index(self.header))


def format_figure(value: float, digits: int = 2) -> str:
    """A number with so many digits after the decimal point; what rounds to zero has no sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def format_p(value: float) -> str:
    """A p-value as a table has it: ``p = 0.012``, ``p < 0.001``."""
    return "p < 0.001" if value < 0.0005 else f"p = {value:.3f}"
