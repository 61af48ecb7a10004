"""Marian ``--alignment soft|hard|0.x``, and OpenNMT-py / Eole ``--report_align``.

Marian prints ``hypothesis ||| alignment``, with ``||| WordScores= …`` after it on request, and in
an n-best list ``id ||| hypothesis ||| alignment ||| F0= … ||| score``. Soft is target × source,
rows separated by space and cells by comma, both with EOS; hard is ``i-j``, source-target, with
links to EOS. The printed text is detokenised where SentencePiece is internal, so it counts only
if its length fits. A right-to-left model reverses the words it prints but not the rows.
Source: marian-nmt/marian-dev, src/data/alignment.cpp and src/translator/output_printer.h.

``--report_align`` prints ``hypothesis ||| i-j …``, and the score after a tab; it has no EOS.
"""

from __future__ import annotations

import re

import numpy as np

from coverage_eval.attention_maps.formats.parsing import (
    parse_integer,
    parse_links,
    parse_rows,
    shown,
    split_fields,
)
from coverage_eval.attention_maps.formats.raw import Dump, Format, Layout, RawMap, ReadOptions
from coverage_eval.attention_maps.maps import Weights
from coverage_eval.errors import DataError
from coverage_eval.text.corpus import tokenize

__all__ = ["FORMAT", "OPENNMT_ALIGN"]

_NUMBER = r"[0-9.][0-9.eE+-]*"
_SOFT = re.compile(rf"{_NUMBER}(?:,{_NUMBER})*(?: {_NUMBER}(?:,{_NUMBER})*)*", re.ASCII)
_HARD = re.compile(r"(?:\d+-\d+(?: \d+-\d+)*)?", re.ASCII)
_SCORE = re.compile(r"\t-?[0-9.]+(?:e-?\d+)?\s*$", re.ASCII)
_PROBED = 50


def _parts(line: str) -> tuple[str | None, str, str] | None:
    """Id (n-best lists only), hypothesis and alignment of a line."""
    fields = split_fields(line)
    if len(fields) >= 5 and fields[0].isdecimal() and "=" in fields[-2]:
        return fields[0], " ||| ".join(fields[1:2]), fields[2].strip()
    if len(fields) > 2 and fields[-1].startswith("WordScores="):
        fields = fields[:-1]
    if len(fields) < 2:
        return None
    # A hypothesis may have triple pipes of its own.
    return None, " ||| ".join(fields[:-1]), fields[-1].strip()


def _recognise(dump: Dump) -> bool:
    parts = [_parts(line) for line in dump.probe[:_PROBED]]
    alignments = [part[2] for part in parts if part is not None]
    return (
        bool(parts)
        and len(alignments) == len(parts)
        and any(alignments)
        and all(_HARD.fullmatch(text) or _SOFT.fullmatch(text) for text in alignments)
    )


def _read(dump: Dump, options: ReadOptions) -> list[RawMap]:
    raws: list[RawMap] = []
    seen: set[str] = set()
    for number, line in enumerate(dump.lines, start=1):
        where = dump.where(number)
        parts = _parts(line)
        if parts is None:
            raise DataError(f"{where}: no ' ||| ' with an alignment after it")
        identity, text, alignment = parts
        if identity is not None:
            if identity in seen:
                continue  # a further translation of the same segment
            if parse_integer(identity, where) != len(seen):
                raise DataError(f"{where}: n-best id {identity} follows {len(seen) - 1}")
            seen.add(identity)
        raws.append(_segment(where, tuple(tokenize(text)), alignment, options.right_to_left))
    return raws


def _segment(where: str, tokens: tuple[str, ...], alignment: str, flipped: bool) -> RawMap:
    if _HARD.fullmatch(alignment):
        links = parse_links(alignment, where)
        if flipped:
            size = len(tokens)
            links = [(s, size - 1 - t if t < size else t) for s, t in links]
        return RawMap(where, links=links, hypothesis=tokens, links_to_eos=True)
    matrix = parse_rows([row.split(",") for row in alignment.split()], where)
    if flipped:
        matrix = _words_reversed(matrix)
    fits = len(tokens) + 1 == len(matrix)
    return RawMap(where, matrix=matrix, hypothesis=tokens if fits else None)


def _words_reversed(matrix: Weights) -> Weights:
    """Rows in reading order, EOS staying last."""
    return np.concatenate([matrix[:-1][::-1], matrix[-1:]])


def _recognise_align(dump: Dump) -> bool:
    lines = [_SCORE.sub("", line) for line in dump.probe[:_PROBED]]
    fields = [split_fields(line) for line in lines]
    return (
        bool(lines)
        and all(len(field) > 1 and _HARD.fullmatch(field[-1].strip()) for field in fields)
        and any(field[-1].strip() for field in fields)
    )


def _read_align(dump: Dump, _: ReadOptions) -> list[RawMap]:
    raws = []
    for number, line in enumerate(dump.lines, start=1):
        where = dump.where(number)
        fields = split_fields(_SCORE.sub("", line))
        if len(fields) < 2:
            raise DataError(f"{where}: {shown(line)} has no ' ||| ' with links after it")
        tokens = tuple(tokenize(" ||| ".join(fields[:-1])))
        raws.append(RawMap(where, links=parse_links(fields[-1], where), hypothesis=tokens))
    return raws


FORMAT = Format(
    name="marian",
    title="Marian --alignment",
    layout=Layout(tgt_eos=True, src_eos=True),
    recognise=_recognise,
    read=_read,
)
OPENNMT_ALIGN = Format(
    name="opennmt-align",
    title="OpenNMT-py / Eole --report_align",
    layout=Layout(),
    recognise=_recognise_align,
    read=_read_align,
)
