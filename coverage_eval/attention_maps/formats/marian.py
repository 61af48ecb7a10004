"""Marian ``--alignment soft|hard|0.x``.

Marian prints ``hypothesis ||| alignment``, with ``||| WordScores= …`` after it on request, and in
an n-best list ``id ||| hypothesis ||| alignment ||| F0= … ||| score``. Soft is target × source,
rows separated by spaces and cells by commas, both with EOS; hard is ``i-j``, source-target, with
links to EOS. With built-in SentencePiece the printed text is detokenised, so it is used only if its
length fits. A right-to-left model reverses the words it prints but not the rows.
Source: marian-nmt/marian-dev, src/data/alignment.cpp and src/translator/output_printer.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from coverage_eval.attention_maps.dumps import (
    LINKS,
    Dump,
    DumpFormat,
    Layout,
    RawMap,
    ReadOptions,
    parse_integer,
    parse_links,
    parse_rows,
    split_fields,
    tokens_of,
)
from coverage_eval.core.errors import DataError

_NUMBER = r"[0-9.][0-9.eE+-]*"
_SOFT = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*(?: {_NUMBER}(?:,{_NUMBER})*)*", re.ASCII)


def _parts(line: str) -> tuple[str | None, str, str] | None:
    """Id (n-best lists only), hypothesis and alignment of a line."""
    fields = split_fields(line)
    if len(fields) >= 5 and fields[0].isdecimal() and "=" in fields[-2]:
        return fields[0], fields[1], fields[2].strip()
    if len(fields) > 2 and fields[-1].startswith("WordScores="):
        fields = fields[:-1]
    if len(fields) < 2:
        return None
    # A hypothesis may have triple pipes of its own.
    return None, " ||| ".join(fields[:-1]), fields[-1].strip()


def _recognise(dump: Dump) -> bool:
    alignments = [part[2] if (part := _parts(line)) else "no alignment" for line in dump.sample]
    return any(alignments) and all(
        LINKS.fullmatch(text) or _SOFT.fullmatch(text) for text in alignments
    )


def _read(dump: Dump, options: ReadOptions) -> Iterator[RawMap]:
    seen: set[str] = set()
    for where, line in dump.places:
        parts = _parts(line)
        if parts is None:
            raise DataError(f"{where}: no ' ||| ' with an alignment after it")
        identity, text, alignment = parts
        if identity is not None:
            if identity in seen:
                continue  # another translation of the same segment
            if parse_integer(identity, where) != len(seen):
                raise DataError(f"{where}: n-best id {identity} follows {len(seen) - 1}")
            seen.add(identity)
        tokens = tokens_of(text)
        size, flipped = len(tokens), options.right_to_left
        if LINKS.fullmatch(alignment):
            links = parse_links(alignment, where)
            if flipped:
                links = [(s, size - 1 - t if t < size else t) for s, t in links]
            yield RawMap(where, links=links, hypothesis=tokens, links_to_eos=True)
            continue
        matrix = parse_rows([row.split(",") for row in alignment.split()], where)
        if flipped:  # rows in reading order, EOS staying last
            matrix = np.concatenate([matrix[:-1][::-1], matrix[-1:]])
        fits = size + 1 == len(matrix)
        yield RawMap(where, matrix=matrix, hypothesis=tokens if fits else None)


FORMATS = (
    DumpFormat(
        "marian", "Marian --alignment", _recognise, _read, Layout(tgt_eos=True, src_eos=True)
    ),
)
