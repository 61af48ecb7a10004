"""Nematus (Theano) ``-a``: a header line, a matrix, a blank line; also its JSON form.

The header is ``id ||| target ||| 0 ||| source ||| S+1 T``, the last two numbers separated by a
space; the rows are target × source, both with EOS. The counts are not relied on: other writers
of this format fill them differently. Source: EdinburghNLP/nematus at wmt17.v0.4,
nematus/translate.py; M4t1ss/SoftAlignments recommends the format for interchange.

The JSON form is one list a segment, one after the other without separator, of
``[target token, source token, "weight", sentence, rank]`` row by row, both ends as ``</s>``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from coverage_eval.attention_maps.formats.parsing import (
    parse_integer,
    parse_rows,
    shown,
    split_fields,
)
from coverage_eval.attention_maps.formats.raw import Dump, Format, Layout, RawMap, ReadOptions
from coverage_eval.errors import DataError
from coverage_eval.text.corpus import tokenize

__all__ = ["FORMAT", "JSON", "blocks"]


def blocks(dump: Dump) -> Iterator[tuple[int, str, list[str]]]:
    """Line number, header and matrix rows of each block; a blank line ends one.

    Some writers leave the rows out of a segment without tokens, so a further blank line is skipped.
    """
    header, start, rows = "", 0, list[str]()
    for number, line in enumerate(dump.lines, start=1):
        if start == 0:
            if line.strip():
                header, start, rows = line, number, []
        elif line.strip():
            rows.append(line)
        else:
            yield start, header, rows
            start = 0
    if start:
        yield start, header, rows


def _recognise(dump: Dump) -> bool:
    fields = split_fields(dump.probe[0]) if dump.probe else []
    return len(fields) == 5 and len(fields[4].split()) == 2 and _all_digits(fields[4].split())


def _all_digits(texts: list[str]) -> bool:
    return all(text.isascii() and text.isdecimal() for text in texts)


def _read(dump: Dump, _: ReadOptions) -> list[RawMap]:
    raws = []
    for number, header, rows in blocks(dump):
        where = dump.where(number)
        fields = split_fields(header)
        if len(fields) != 5:
            raise DataError(
                f"{where}: {shown(header)} is not a header of 5 fields 'id ||| target ||| score "
                "||| source ||| S T'"
            )
        for count in fields[4].split():
            parse_integer(count, where)
        raws.append(
            RawMap(
                where,
                matrix=parse_rows([row.split() for row in rows], where),
                source=tuple(tokenize(fields[3])),
                hypothesis=tuple(tokenize(fields[1])),
            )
        )
    return raws


FORMAT = Format(
    name="nematus",
    title="Nematus -a (matrices)",
    layout=Layout(tgt_eos=True, src_eos=True),
    recognise=_recognise,
    read=_read,
)


def _recognise_json(dump: Dump) -> bool:
    first = dump.probe[0].lstrip() if dump.probe else ""
    if not first.startswith("[["):
        return False
    links, _ = _decode(first, 0, dump.name)
    return bool(links) and isinstance(links[0], list) and len(links[0]) == 5


def _decode(text: str, start: int, where: str) -> tuple[list[Any], int]:
    """The JSON list at a place of a text, and the place after it."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise DataError(f"{where}: not JSON: {reason}".replace("\n", " ")) from error
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
        if sentence != seen:  # further translations of an n-best list have the same number
            raws.append(raw)
        seen = sentence
    return raws


def _from_links(links: list[Any], where: str) -> tuple[RawMap, object]:
    """The matrix of one list, whose first row ends with the source's end."""
    if not links or not all(_is_link(link) for link in links):
        raise DataError(f'{where}: not links of the form ["tgt", "src", "weight", 0, 0]')
    source = [link[1] for link in links]
    columns = source.index("</s>") + 1 if "</s>" in source else len(links)
    if len(links) % columns or source != source[:columns] * (len(links) // columns):
        raise DataError(f"{where}: {len(links)} links are no matrix of {columns} source tokens")
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


JSON = Format(
    name="nematus-json",
    title="Nematus JSON links",
    layout=Layout(tgt_eos=True, src_eos=True),
    recognise=_recognise_json,
    read=_read_json,
)
