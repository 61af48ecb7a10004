"""Sockeye 1.x: alignment matrices, alignment links, and JSON with links.

``translation_with_alignment_matrix`` writes ``id ||| target ||| score ||| source ||| S ||| T``,
the matrix, a blank line. The code writes S rows of T values, but its documentation says that rows
are the target, so the shapes decide. ``translation_with_alignments`` writes ``hypothesis<TAB>i-j
…``. JSON output has a key ``alignments``, a list of ``[source, target]`` lists, or one such list
per translation if n > 1.
Source: awslabs/sockeye at 1.18.115, sockeye/output_handler.py. Release 2.0 removed the matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from coverage_eval.attention_maps.dumps import (
    ORIENTATIONS,
    Dump,
    DumpFormat,
    Layout,
    RawMap,
    ReadOptions,
    are_links,
    parse_links,
    shown,
    tokens_of,
)
from coverage_eval.attention_maps.formats.nematus import is_header, read_blocks
from coverage_eval.data.json_objects import parse_object
from coverage_eval.errors import DataError
from fast_align_wrapper.links import Link


def _recognise_links(dump: Dump) -> bool:
    pairs = (line.rpartition("\t") for line in dump.sample)
    return are_links(links if tab else None for _, tab, links in pairs)


def _read_links(dump: Dump, _: ReadOptions) -> Iterator[RawMap]:
    for where, line in dump.places:
        text, tab, links = line.rpartition("\t")
        if not tab:
            raise DataError(f"{where}: {shown(line)} has no tab with links after it")
        # Thresholding the EOS row and column gives links to EOS on either side.
        parsed = parse_links(links, where)
        yield RawMap(where, links=parsed, hypothesis=tokens_of(text), links_to_eos=True)


def _recognise_json(dump: Dump) -> bool:
    return bool(dump.probe) and "alignments" in parse_object(dump.probe[0], dump.name)


def _read_json(dump: Dump, _: ReadOptions) -> Iterator[RawMap]:
    for where, line in dump.places:
        record = parse_object(line, where)
        if "alignments" not in record:
            raise DataError(
                f"{where}: no 'alignments'; Sockeye 1.x has them with --nbest-size over 1"
            )
        several = record.get("translations")
        text = several[0] if isinstance(several, list) and several else record.get("translation")
        tokens = tokens_of(text) if isinstance(text, str) else None
        links = _best_links(record["alignments"], where)
        yield RawMap(where, links=links, hypothesis=tokens, links_to_eos=True)


def _best_links(alignments: Any, where: str) -> list[Link]:
    """The links of the best translation: the list itself, or the first of a list per translation.

    Raises:
        DataError: Not a list of pairs of numbers from 0.
    """
    if isinstance(alignments, list) and alignments and isinstance(alignments[0], list):
        first = alignments[0]
        if not first or isinstance(first[0], list):
            alignments = first
    if not isinstance(alignments, list):
        raise DataError(f"{where}: links are not a list of pairs")
    pairs = []
    for item in alignments:
        pair = item[:2] if isinstance(item, list) else None
        if not pair or len(pair) < 2 or not all(type(n) is int and 0 <= n < 10**9 for n in pair):
            raise DataError(f"{where}: {shown(str(item))} is not a link, a pair of numbers from 0")
        pairs.append((pair[0], pair[1]))
    return pairs


FORMATS = (
    DumpFormat("sockeye-json", "Sockeye 1.x JSON n-best lists", _recognise_json, _read_json),
    DumpFormat(
        "sockeye",
        "Sockeye 1.x translation_with_alignment_matrix",
        lambda dump: is_header(dump, 6),
        lambda dump, _: read_blocks(dump, 6, "S ||| T"),
        Layout(orientations=ORIENTATIONS),
    ),
    DumpFormat(
        "sockeye-links",
        "Sockeye 1.x translation_with_alignments",
        _recognise_links,
        _read_links,
    ),
)
