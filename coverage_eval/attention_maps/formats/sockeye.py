"""Sockeye 1.x: alignment matrices, alignment links, and JSON with links.

``translation_with_alignment_matrix`` writes ``id ||| target ||| score ||| source ||| S ||| T``,
the matrix, a blank line. The code writes S rows of T values, its documentation says rows are
target: the shapes decide. ``translation_with_alignments`` writes ``hypothesis<TAB>i-j …``; JSON
output has a key ``alignments``, a list of ``[source, target]`` lists, per translation if n > 1.
Source: awslabs/sockeye at 1.18.115, sockeye/output_handler.py. Release 2.0 removed the matrices.
"""

from __future__ import annotations

import re
from typing import Any

from coverage_eval.attention_maps.formats.nematus import blocks
from coverage_eval.attention_maps.formats.parsing import (
    as_links,
    parse_integer,
    parse_links,
    parse_object,
    parse_rows,
    shown,
    split_fields,
)
from coverage_eval.attention_maps.formats.raw import (
    ORIENTATIONS,
    Dump,
    Format,
    Layout,
    RawMap,
    ReadOptions,
)
from coverage_eval.errors import DataError
from coverage_eval.text.corpus import tokenize

__all__ = ["JSON", "LINKS", "MATRIX"]

_LINKS = re.compile(r"(?:\d+-\d+(?: \d+-\d+)*)?", re.ASCII)
_PROBED = 50


def _recognise_matrix(dump: Dump) -> bool:
    fields = split_fields(dump.probe[0]) if dump.probe else []
    return len(fields) == 6 and all(field.strip().isdecimal() for field in fields[4:])


def _read_matrix(dump: Dump, _: ReadOptions) -> list[RawMap]:
    raws = []
    for number, header, rows in blocks(dump):
        where = dump.where(number)
        fields = split_fields(header)
        if len(fields) != 6:
            raise DataError(
                f"{where}: {shown(header)} is not a header of 6 fields 'id ||| target ||| score "
                "||| source ||| S ||| T'"
            )
        for count in fields[4:]:
            parse_integer(count.strip(), where)
        raws.append(
            RawMap(
                where,
                matrix=parse_rows([row.split() for row in rows], where),
                source=tuple(tokenize(fields[3])),
                hypothesis=tuple(tokenize(fields[1])),
            )
        )
    return raws


def _recognise_links(dump: Dump) -> bool:
    pairs = [line.rpartition("\t") for line in dump.probe[:_PROBED]]
    return (
        bool(pairs)
        and all(tab and _LINKS.fullmatch(links.strip()) for _, tab, links in pairs)
        and any(links.strip() for _, _, links in pairs)
    )


def _read_links(dump: Dump, _: ReadOptions) -> list[RawMap]:
    raws = []
    for number, line in enumerate(dump.lines, start=1):
        where = dump.where(number)
        text, tab, links = line.rpartition("\t")
        if not tab:
            raise DataError(f"{where}: {shown(line)} has no tab with links after it")
        tokens = tuple(tokenize(text))
        # A threshold on the attention of EOS gives links to it on either side.
        raws.append(
            RawMap(where, links=parse_links(links, where), hypothesis=tokens, links_to_eos=True)
        )
    return raws


def _recognise_json(dump: Dump) -> bool:
    return bool(dump.probe) and "alignments" in parse_object(dump.probe[0], dump.name)


def _read_json(dump: Dump, _: ReadOptions) -> list[RawMap]:
    raws = []
    for number, line in enumerate(dump.lines, start=1):
        where = dump.where(number)
        record = parse_object(line, where)
        if "alignments" not in record:
            raise DataError(
                f"{where}: no 'alignments'; Sockeye 1.x has them with --nbest-size over 1"
            )
        links = as_links(_best(record["alignments"]), where)
        raws.append(RawMap(where, links=links, hypothesis=_translation(record), links_to_eos=True))
    return raws


def _best(alignments: Any) -> Any:
    """The links of the best translation: the list itself, or its first if it has one each."""
    if isinstance(alignments, list) and alignments and isinstance(alignments[0], list):
        first = alignments[0]
        if not first or isinstance(first[0], list):
            return first
    return alignments


def _translation(record: dict[str, Any]) -> tuple[str, ...] | None:
    several = record.get("translations")
    text = several[0] if isinstance(several, list) and several else record.get("translation")
    return tuple(tokenize(text)) if isinstance(text, str) else None


MATRIX = Format(
    name="sockeye",
    title="Sockeye 1.x translation_with_alignment_matrix",
    layout=Layout(orientations=ORIENTATIONS),
    recognise=_recognise_matrix,
    read=_read_matrix,
)
LINKS = Format(
    name="sockeye-links",
    title="Sockeye 1.x translation_with_alignments",
    layout=Layout(),
    recognise=_recognise_links,
    read=_read_links,
)
JSON = Format(
    name="sockeye-json",
    title="Sockeye 1.x JSON n-best lists",
    layout=Layout(),
    recognise=_recognise_json,
    read=_read_json,
)
