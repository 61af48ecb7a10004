"""The log of OpenNMT-py 3 and Eole with ``--attn_debug`` or ``--align_debug``.

A table a segment: a header of source tokens, then a row a target token, in columns of 11
characters. Tokens are cut (source at 7 characters, target at 10) and may contain spaces, so only
the numbers are read from the table, and the tokens come from the texts, or from the lines ``SENT``
and ``PRED`` that ``--verbose`` adds. A row's largest weight is filled up with asterisks.
``--attn_debug`` has a row for ``</s>``, ``--align_debug`` has not; the source has none.
Source: OpenNMT/OpenNMT-py, report_matrix.
"""

from __future__ import annotations

import ast
import re
import warnings

from coverage_eval.attention_maps.formats.parsing import parse_rows
from coverage_eval.attention_maps.formats.raw import Dump, Format, Layout, RawMap, ReadOptions
from coverage_eval.errors import DataError
from coverage_eval.text.corpus import tokenize

__all__ = ["FORMAT"]

_WIDTH = 11  # of the row's label and of each cell, the space after it included
_CELL = re.compile(r" *\**\d{1,2}\.\d{7} ?", re.ASCII)
_SENTENCE = re.compile(r"(?:^|[\s\]])SENT \d+: (.*)$")
_PREDICTION = re.compile(r"(?:^|[\s\]])PRED \d+: (.*)$")


def _row(line: str) -> list[str] | None:
    """The weights of a table's row as text; None if the line is none."""
    body = line[_WIDTH:].rstrip(" ")
    if not body:
        return None
    cells = [body[i : i + _WIDTH] for i in range(0, len(body), _WIDTH)]
    if not all(_CELL.fullmatch(cell) for cell in cells):
        return None
    return [cell.strip(" *") for cell in cells]


def _recognise(dump: Dump) -> bool:
    return any(_row(line) is not None for line in dump.probe)


def _read(dump: Dump, _: ReadOptions) -> list[RawMap]:
    raws: list[RawMap] = []
    rows: list[list[str]] = []
    start, last = 0, ""
    source: tuple[str, ...] | None = None
    hypothesis: tuple[str, ...] | None = None
    for number, line in enumerate([*dump.lines, ""], start=1):
        row = _row(line)
        if row is not None:
            start = start if rows else number
            rows.append(row)
            last = line[:_WIDTH].strip()
            continue
        if rows:
            raws.append(_table(dump, start, rows, last, source, hypothesis))
            rows, source, hypothesis = [], None, None
        if match := _SENTENCE.search(line):
            source = _listed(match[1])
        elif match := _PREDICTION.search(line):
            hypothesis = tuple(tokenize(match[1]))
    if not raws:
        raise DataError(f"{dump.name}: no table of attention in this log")
    return raws


def _table(
    dump: Dump,
    start: int,
    rows: list[list[str]],
    last: str,
    source: tuple[str, ...] | None,
    hypothesis: tuple[str, ...] | None,
) -> RawMap:
    where = dump.where(start)
    matrix = parse_rows(rows, where)
    tgt_eos = last == "</s>"
    fits = hypothesis is not None and len(hypothesis) + tgt_eos == len(matrix)
    return RawMap(
        where,
        matrix=matrix,
        source=source if source is not None and len(source) == matrix.shape[1] else None,
        hypothesis=hypothesis if fits else None,
        tgt_eos=tgt_eos,
    )


def _listed(text: str) -> tuple[str, ...] | None:
    """The tokens of a line SENT, a list as Python prints it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on odd escapes
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return tuple(value) if isinstance(value, list) and all(type(t) is str for t in value) else None


FORMAT = Format(
    name="opennmt-log",
    title="OpenNMT-py / Eole --attn_debug or --align_debug (log)",
    layout=Layout(src_eos=False, src_end="<SINK>"),
    recognise=_recognise,
    read=_read,
)
