"""What a command shows, as a value: tables, named values and signatures.

:mod:`coverage_eval.core.formats` makes text, Markdown, LaTeX, CSV, TSV, JSON and JSON Lines of it,
and of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

SIGNIFICANT = 0.05
"""Statements, gates and marks in tables claim a difference whose p-value is below this."""

HUMAN_FORMATS = frozenset({"text", "markdown", "latex"})
"""The formats that people read: they round numbers and leave out empty columns."""

ROW_FORMATS = frozenset({"csv", "tsv", "jsonl"})
"""The formats that are the rows of one table."""

NUMBER_FORMATS = frozenset({"numbers"})
"""What ``--score-only`` prints: numbers, one per line."""


def format_number(value: float, digits: int = 2) -> str:
    """A number with ``digits`` digits after the decimal point; zero never has a sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def digits_apart(value: float, others: Iterable[float], digits: int = 2) -> int:
    """How many digits, at least ``digits``, print a number otherwise than different ones."""
    others = [other for other in others if other != value]
    while digits < 12 and format_number(value, digits) in {
        format_number(other, digits) for other in others
    }:
        digits += 1
    return digits


def format_p(value: float) -> str:
    """A p-value as tables show it: ``p = 0.012``, ``p < 0.001``.

    One just below the level gets more digits, such as ``p = 0.0496``, so that its star is true.
    """
    if value < 0.0005:
        return "p < 0.001"
    digits = 3
    while value < SIGNIFICANT <= round(value, digits):
        digits += 1
    return f"p = {value:.{digits}f}"


@dataclass(frozen=True)
class ScoreCell:
    """A score as one cell of a table.

    Attributes:
        value: The score, in the unit that the table shows.
        low: Lower end of its confidence interval, if it has one.
        high: Upper end of the interval.
        p: p-value of the test against a baseline, if there was one.
        best: Whether no other row is better.
        better: Whether it is better than the baseline's; None if that is unknown.
        told_from: The scores of other systems that a test tells from it, and so do its digits.
    """

    value: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    best: bool = False
    better: bool | None = None
    told_from: tuple[float, ...] = ()

    def digits(self, digits: int = 2) -> int:
        """How many digits, at least ``digits``, tell it from scores that a test tells from it."""
        return digits_apart(self.value, self.told_from, digits)

    @property
    def printed(self) -> float:
        """The score as tables print it."""
        return round(self.value, self.digits())

    @property
    def significant(self) -> bool:
        """Whether the test found a difference from the baseline."""
        return self.p is not None and self.p < SIGNIFICANT

    def format(self, digits: int = 2) -> str:
        """The score and its interval on one line, such as ``3.37 [2.90, 3.81]``."""
        figure = format_number(self.value, digits)
        if self.low is None or self.high is None:
            return figure
        return f"{figure} [{format_number(self.low, digits)}, {format_number(self.high, digits)}]"

    def to_dict(self) -> dict[str, Any]:
        """The score as plain values."""
        names = ("value", "low", "high", "p", "best")
        return {name: getattr(self, name) for name in names}


Cell: TypeAlias = "str | int | float | ScoreCell | None"
"""None is an undefined figure: an empty cell, and null in JSON."""

ColumnTraits: TypeAlias = Set[str]
"""What a column has: ``text``, ``number``, ``score``, ``best``, and ``significant`` scores."""


@dataclass(frozen=True)
class Table:
    """Rows under a header, with the notes that a reader needs.

    Attributes:
        header: Names of the columns.
        rows: The cells of each row, one for each column. A table without columns has only a title
            and notes.
        title: What the table shows; printed above it.
        name: Its name in JSON, where there are several tables.
        notes: Sentences printed below it.
        signatures: The settings behind the scores: one signature for all rows, one for each row,
            or one for each column of scores.
        caption: The first sentence of its caption in LaTeX.
        as_score_lines: Whether text shows each row as one line: its signature and its score.
        formats: The formats that show the table.
        objects: The rows as JSON Lines has them, if they say more than the cells.
    """

    header: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    title: str = ""
    name: str = ""
    notes: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    caption: str = ""
    as_score_lines: bool = False
    formats: Set[str] = field(default=HUMAN_FORMATS | ROW_FORMATS | NUMBER_FORMATS, repr=False)
    objects: Sequence[Mapping[str, Any]] | None = field(default=None, repr=False)

    @cached_property
    def traits(self) -> Sequence[ColumnTraits]:
        """What each column has; nothing if all its cells are empty."""
        traits: list[set[str]] = [set() for _ in self.header]
        for row in self.rows:
            for kinds, cell in zip(traits, row, strict=True):
                if isinstance(cell, ScoreCell):
                    kinds |= {"number", "score"}
                    if cell.best:
                        kinds.add("best")
                    if cell.significant:
                        kinds.add("significant")
                elif cell is not None and cell != "":
                    kinds.add("text" if isinstance(cell, str) else "number")
        return traits

    @property
    def shown_columns(self) -> list[int]:
        """The columns that people see: all but empty ones."""
        return [i for i, kinds in enumerate(self.traits) if kinds or not self.rows]

    def record(self, row: Sequence[Cell]) -> dict[str, Any]:
        """A row by column name, as plain values."""
        return {
            name: cell.to_dict() if isinstance(cell, ScoreCell) else cell
            for name, cell in zip(self.header, row, strict=True)
        }

    def to_dict(self) -> dict[str, Any]:
        """The table as plain values; an empty name, notes and signatures are left out."""
        rows = [self.record(row) for row in self.rows]
        plain = {"name": self.name, "title": self.title, "rows": rows}
        plain |= {"notes": list(self.notes), "signatures": list(self.signatures)}
        return {key: value for key, value in plain.items() if value or key in {"title", "rows"}}

    def to_frame(self) -> pd.DataFrame:
        """The rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=pd.Index(self.header))

    def _repr_html_(self) -> str:
        """The table as a notebook shows it."""
        frame = self.to_frame().astype(object)
        rows: str = frame.to_html(index=False, na_rep="", float_format=format_number)
        from html import escape

        return f"<p><b>{escape(self.title)}</b></p>{rows}"


@dataclass(frozen=True)
class Report:
    """What a command shows.

    Attributes:
        tables: The tables in their order on a screen; each says which formats show it.
        values: What JSON has, by name: plain values, and tables, which stand for their rows. If
            there are none, JSON has the tables.
        title: The title of all tables together.
        signatures: The settings behind the scores, if they stand beside a file of rows.
    """

    tables: tuple[Table, ...]
    values: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    signatures: tuple[str, ...] = ()

    def with_values(self, **more: Any) -> Report:
        """The report with further values at the end of JSON."""
        return replace(self, values={**self.values, **more})


@dataclass(frozen=True)
class Style:
    """How a report is shown.

    Attributes:
        digits: Digits after the decimal point in the formats for people.
        width: Width that text must fit; None for lines of any length.
        signatures: Whether text has signatures, and LaTeX more than comments of them.
        as_is: Whether TSV has hidden characters as they are, for programs that read the texts.
        is_terminal: Whether a person reads it in a window, and no program.
        console: A :class:`rich.console.Console` that text is coloured for; None for no colours.
    """

    digits: int = 2
    width: int | None = None
    signatures: bool = True
    as_is: bool = False
    is_terminal: bool = False
    console: Any = None
