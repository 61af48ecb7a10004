"""Nematus (Theano) ``-a``: a header line, a matrix, a blank line; also its JSON form.

The header is ``id ||| target ||| 0 ||| source ||| S+1 T``; the rows are target × source, both with
EOS. The two counts are ignored, because other writers of this format fill them differently. Source:
EdinburghNLP/nematus at wmt17.v0.4, nematus/translate.py; M4t1ss/SoftAlignments recommends the
format for interchange.

The JSON form has one list per segment, without separators between them. Each list holds
``[target token, source token, "weight", sentence, rank]`` row by row; both sides end in ``</s>``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from coverage_eval.attention_maps.dumps import (
    Dump,
    DumpFormat,
    Layout,
    RawMap,
    ReadOptions,
    parse_integer,
    parse_rows,
    shown,
    split_fields,
    tokens_of,
)
from coverage_eval.data.json_objects import not_json
from coverage_eval.errors import DataError


def is_header(dump: Dump, fields: int) -> bool:
    """Whether a file begins with a header that has this many fields and ends in two counts."""
    found = split_fields(dump.probe[0]) if dump.probe else []
    counts = " ".join(found[4:]).split()
    return (
        len(found) == fields
        and len(counts) == 2
        and all(count.isascii() and count.isdecimal() for count in counts)
    )


def read_blocks(dump: Dump, fields: int, counts: str) -> Iterator[RawMap]:
    """Read the segments of a file in which each header is followed by the rows of a matrix.

    Args:
        dump: The file.
        fields: Number of fields of a header; the second is the target text, the fourth the source.
        counts: Its last fields, for messages.

    Raises:
        DataError: Another header, a count that is not a number, or rows that are not a matrix.
    """
    for where, header, rows in _blocks(dump):
        found = split_fields(header)
        if len(found) != fields:
            raise DataError(
                f"{where}: {shown(header)} is not a header of {fields} fields 'id ||| target ||| "
                f"score ||| source ||| {counts}'"
            )
        for count in " ".join(found[4:]).split():
            parse_integer(count, where)
        yield RawMap(
            where,
            matrix=parse_rows([row.split() for row in rows], where),
            source=tokens_of(found[3]),
            hypothesis=tokens_of(found[1]),
        )


def _blocks(dump: Dump) -> Iterator[tuple[str, str, list[str]]]:
    """Place, header and matrix rows of each block; a blank line ends one.

    Some writers omit the rows of a segment without tokens, so extra blank lines are skipped.
    """
    start, header, rows = "", "", list[str]()
    for where, line in dump.places:
        if not start:
            if line.strip():
                start, header, rows = where, line, []
        elif line.strip():
            rows.append(line)
        else:
            yield start, header, rows
            start = ""
    if start:
        yield start, header, rows


def _recognise_json(dump: Dump) -> bool:
    first = dump.probe[0].lstrip() if dump.probe else ""
    if not first.startswith("[["):
        return False
    links, _ = _decode(first, 0, dump.name)
    return bool(links) and _is_link(links[0])


def _decode(text: str, start: int, where: str) -> tuple[list[Any], int]:
    """The JSON list at a position of a text, and the position after it."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise not_json(error, where) from error
    if not isinstance(value, list):
        raise DataError(f"{where}: JSON, but not a list of links")
    return value, end


def _read_json(dump: Dump, _: ReadOptions) -> list[RawMap]:
    text = "\n".join(dump.lines).strip()
    raws: list[RawMap] = []
    place = 0
    seen = None
    while place < len(text):
        where = f"{dump.name}: list {len(raws) + 1}"
        links, place = _decode(text, place, where)
        while place < len(text) and text[place].isspace():
            place += 1
        raw, sentence = _from_links(links, where)
        if sentence != seen:  # other translations of an n-best list have the same number
            raws.append(raw)
        seen = sentence
    return raws


def _from_links(links: list[Any], where: str) -> tuple[RawMap, object]:
    """The matrix of one list, and its sentence number; the first row ends at the source's EOS."""
    if not links or not all(_is_link(link) for link in links):
        raise DataError(f'{where}: not links of the form ["tgt", "src", "weight", 0, 0]')
    source = [link[1] for link in links]
    columns = source.index("</s>") + 1 if "</s>" in source else len(links)
    if len(links) % columns or source != source[:columns] * (len(links) // columns):
        raise DataError(
            f"{where}: {len(links)} links do not fill a matrix of {columns} source tokens"
        )
    cells = parse_rows([[str(link[2]) for link in links]], where)
    raw = RawMap(
        where,
        matrix=np.reshape(cells, (-1, columns)),
        source=tuple(source[:columns]),
        hypothesis=tuple(link[0] for link in links[::columns]),
    )
    return raw, links[0][3]


def _is_link(link: object) -> bool:
    return (
        isinstance(link, list)
        and len(link) == 5
        and isinstance(link[0], str)
        and isinstance(link[1], str)
        and isinstance(link[2], str | int | float)
    )


_BOTH_EOS = Layout(tgt_eos=True, src_eos=True)

FORMATS = (
    DumpFormat(
        "nematus",
        "Nematus -a (matrices)",
        lambda dump: is_header(dump, 5),
        lambda dump, _: read_blocks(dump, 5, "S T"),
        _BOTH_EOS,
    ),
    DumpFormat("nematus-json", "Nematus JSON links", _recognise_json, _read_json, _BOTH_EOS),
)
