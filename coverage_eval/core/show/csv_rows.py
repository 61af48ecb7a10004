"""Rows of CSV: the only function of this project that writes them, so that one rule holds.

The rule: a cell that a spreadsheet would run as a formula gets an apostrophe before it, and a cell
with a comma, a quotation mark or any line end, also a lone carriage return, is quoted. Numbers are
written as they are, and half a character, which UTF-8 cannot encode, as ``\\ud800``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable

_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212]")
"""The first characters of a formula: OWASP's list, with the full-width forms that programs for
Chinese and Japanese read, and the minus sign."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class _Echo:
    """A file that stores nothing: csv returns what ``write`` returns."""

    def write(self, text: str) -> str:
        return text


_WRITER = csv.writer(_Echo(), lineterminator="\r\n")  # quotes a lone carriage return, too


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run a cell with this text.

    >>> [text for text in ("-1.5", "- Yes.", "=A1", "\uff1dA1", "a=1") if is_formula(text)]
    ['- Yes.', '=A1', '\uff1dA1']
    """
    return _FORMULA.match(text) is not None and not _NUMBER.fullmatch(text)


def csv_record(cells: Iterable[object]) -> str:
    """One record of CSV, without its line end; None is an empty cell.

    >>> print(csv_record(["a", 1.5, None, "=A1", "b, c"]))
    a,1.5,,'=A1,"b, c"
    """
    safe = [
        cell
        if cell is None or isinstance(cell, (int, float))
        else f"'{cell}"
        if is_formula(str(cell))
        else str(cell)
        for cell in cells
    ]
    record: str = _WRITER.writerow(safe).removesuffix("\r\n")
    return record.encode("utf-8", "backslashreplace").decode()
