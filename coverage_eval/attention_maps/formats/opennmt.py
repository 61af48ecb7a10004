"""OpenNMT-py and Eole: ``--attn_debug`` and ``--align_debug``, ``--report_align``.

``-dump_attn`` of the authors' fork writes a pickle, which is not read here, since a pickle can run
any program: ``notebooks/reproduction/dump_attn.py`` converts a trusted one to ``.npz``.

The log of OpenNMT-py 3 and Eole with ``--attn_debug`` or ``--align_debug`` has a table per segment:
a header of source tokens, then a row per target token, in columns of 11 characters. Tokens are
truncated (source to 7 characters, target to 10) and may contain spaces. Therefore only the numbers
are read from the table; the tokens come from the texts, or from the lines ``SENT`` and ``PRED``
that ``--verbose`` adds. A row's largest weight is padded with asterisks. ``--attn_debug`` has a row
for ``</s>``, ``--align_debug`` does not; the source never has one. Source: OpenNMT/OpenNMT-py,
report_matrix.

``--report_align`` prints ``hypothesis ||| i-j …`` without EOS, then the score after a tab.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from itertools import chain

from coverage_eval.attention_maps.dumps import (
    Dump,
    DumpFormat,
    Layout,
    RawMap,
    ReadOptions,
    are_links,
    parse_links,
    parse_rows,
    shown,
    split_fields,
    tokens_of,
)
from coverage_eval.core.errors import DataError
from coverage_eval.core.tokenizers import SINK

_WIDTH = 11  # of a table's label and of each cell, with the space after it
_CELL = re.compile(r" *\**\d{1,2}\.\d{7} ?", re.ASCII)
_SENTENCE = re.compile(r"(?:^|[\s\]])SENT \d+: (.*)$")
_PREDICTION = re.compile(r"(?:^|[\s\]])PRED \d+: (.*)$")
_SCORE = re.compile(r"\t-?[0-9.]+(?:e-?\d+)?\s*$", re.ASCII)


def _row(line: str) -> list[str] | None:
    """The weights of a table's row as text; None if the line is not a row."""
    body = line[_WIDTH:].rstrip(" ")
    cells = [body[i : i + _WIDTH] for i in range(0, len(body), _WIDTH)]
    if not cells or not all(_CELL.fullmatch(cell) for cell in cells):
        return None
    return [cell.strip(" *") for cell in cells]


def _recognise_log(dump: Dump) -> bool:
    return any(_row(line) is not None for line in dump.probe)


def _read_log(dump: Dump, _: ReadOptions) -> Iterator[RawMap]:
    rows: list[list[str]] = []
    start, last, found = 0, "", False
    source: tuple[str, ...] | None = None
    hypothesis: tuple[str, ...] | None = None
    for number, line in enumerate(chain(dump.lines, [""]), start=1):
        row = _row(line)
        if row is not None:
            start = start if rows else number
            rows.append(row)
            last = line[:_WIDTH].strip()
            continue
        if rows:
            where, tgt_eos, found = dump.where(start), last == "</s>", True
            matrix = parse_rows(rows, where)
            if source is not None and len(source) != matrix.shape[1]:
                source = None
            if hypothesis is not None and len(hypothesis) + tgt_eos != len(matrix):
                hypothesis = None
            yield RawMap(
                where, matrix=matrix, source=source, hypothesis=hypothesis, tgt_eos=tgt_eos
            )
            rows, source, hypothesis = [], None, None
        if match := _SENTENCE.search(line):
            source = _listed(match[1])
        elif match := _PREDICTION.search(line):
            hypothesis = tokens_of(match[1])
    if not found:
        raise DataError(f"{dump.name}: no table of attention in this log")


def _listed(text: str) -> tuple[str, ...] | None:
    """The tokens of a line SENT, which Python printed as a list."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of odd escapes
            value = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return tuple(value) if isinstance(value, list) and all(type(t) is str for t in value) else None


def _recognise_align(dump: Dump) -> bool:
    lines = (split_fields(_SCORE.sub("", line)) for line in dump.sample)
    return are_links(fields[-1] if len(fields) > 1 else None for fields in lines)


def _read_align(dump: Dump, _: ReadOptions) -> Iterator[RawMap]:
    for where, line in dump.places:
        fields = split_fields(_SCORE.sub("", line))
        if len(fields) < 2:
            raise DataError(f"{where}: {shown(line)} has no ' ||| ' with links after it")
        tokens = tokens_of(" ||| ".join(fields[:-1]))
        yield RawMap(where, links=parse_links(fields[-1], where), hypothesis=tokens)


FORMATS = (
    DumpFormat(
        "opennmt-log",
        "OpenNMT-py / Eole --attn_debug or --align_debug (log)",
        _recognise_log,
        _read_log,
        Layout(src_eos=False, src_end=SINK),
    ),
    DumpFormat("opennmt-align", "OpenNMT-py / Eole --report_align", _recognise_align, _read_align),
)
