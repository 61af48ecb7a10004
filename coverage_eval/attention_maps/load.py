"""Loading attention maps of any known format, recognised by its content or named."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from coverage_eval.attention_maps.dumps import Dump, DumpFormat, Orientation, ReadOptions
from coverage_eval.attention_maps.formats import FORMATS
from coverage_eval.attention_maps.heads import Head, named_choice
from coverage_eval.attention_maps.maps import AttentionMap, Level
from coverage_eval.attention_maps.orientation import Texts, settle
from coverage_eval.attention_maps.parsing import shown
from coverage_eval.attention_maps.row_sums import warn_of_row_sums
from coverage_eval.data.disk_list import DiskList
from coverage_eval.data.files import STDIN, CorpusWarning
from coverage_eval.errors import DataError
from fast_align_wrapper.text import Segment, tokenize


def load(path: str | Path, **options: Any) -> list[AttentionMap]:
    """Read the attention maps of a file into memory; arguments and errors of :func:`load_spooled`.

    Returns:
        One map a segment, in the canonical form target × source.
    """
    return list(load_spooled(path, **options))


def load_spooled(
    path: str | Path,
    *,
    sources: Iterable[Segment] | None = None,
    hypotheses: Iterable[Segment] | None = None,
    input_format: str | None = None,
    orientation: Orientation | None = None,
    level: Level | None = None,
    side: Literal["pred", "gold"] = "pred",
    right_to_left: bool = False,
    layer: int | None = None,
    head: Head | None = None,
) -> DiskList[AttentionMap]:
    """Read the attention maps of a file, which may be more than memory holds.

    Args:
        path: The dump; text formats may be ``.gz`` or, if the format is named, ``-``.
        sources: Source segments as the toolkit saw them, subwords included; text or tokens. Where
            the file has tokens of its own, they may be left out.
        hypotheses: Hypothesis segments, likewise.
        input_format: One of :data:`~coverage_eval.attention_maps.FORMATS`; by default it is
            recognised.
        orientation: ``target-source`` or ``source-target``; by default settled by the shapes.
        level: "bpe" or "word"; by default what the file says, or the marks in its tokens.
        side: Which maps of an OpenNMT-py pickle; the authors' "gold" is without fertilities.
        right_to_left: A Marian model that wrote right to left; rows are put in reading order.
        layer: Which layer of arrays ``[layers, heads, T, S]``, an index from 0, or −1 for the
            last; may be left out if there is one.
        head: Which head of these and of ``[heads, T, S]``, likewise, or "mean".

    Returns:
        One map a segment, in the canonical form target × source.

    Raises:
        DataError: Not recognised, damaged, or ambiguous; the message says what was seen. Also if a
            layer or head is chosen of a format that has one matrix a segment.

    Warns:
        CorpusWarning: Every weight of the file is 0, or rows do not sum to 1.
    """
    dump = Dump(path)
    chosen = recognise(dump) if input_format is None else _named(input_format)
    if not chosen.several_heads and (layer, head) != (None, None):
        raise DataError(
            f"{dump.name}: {chosen.title} has one matrix a segment; leave --layer and --head out"
        )
    raws = DiskList(chosen.read(dump, ReadOptions(side, right_to_left, layer, head)))
    if not raws:
        raise DataError(f"{dump.name}: no attention found (read as {chosen.title})")
    texts = Texts(_tokens(sources), _tokens(hypotheses))
    settled = settle(dump.name, raws, chosen.layout, texts, orientation=orientation, level=level)
    if choice := named_choice(layer, head):
        settled = (replace(item, chosen=choice) for item in settled)
    maps = DiskList(settled)
    if not any(item.hard or item.weights.any() for item in maps):
        message = (
            f"{dump.name}: every weight is 0; the model kept no attention "
            "(Sockeye's Transformers write zeros)"
        )
        warnings.warn(message, CorpusWarning, stacklevel=3)
    elif chosen.layout.whole_rows:
        warn_of_row_sums(
            dump.name,
            maps,
            "they were cut, or the orientation is another; score them with care",
            stacklevel=4,
        )
    return maps


def recognise(dump: Dump) -> DumpFormat:
    """The format of a file by its content.

    Raises:
        DataError: None is recognised, or the file cannot be read.
    """
    if str(dump.path) == STDIN:
        raise DataError(f"standard input: name its format, one of {', '.join(FORMATS)}")
    for item in FORMATS.values():
        if item.binary and _is(item, dump):
            return item
    first = next(iter(dump.probe), None)  # an unreadable file ends here, with its reason
    if first is None:
        raise DataError(f"{dump.name}: no segments: the file is empty")
    for item in FORMATS.values():
        if not item.binary and _is(item, dump):
            return item
    raise DataError(
        f"{dump.name}: attention format not recognised (it begins {shown(first)}); "
        f"name it, one of {', '.join(FORMATS)}"
    )


def _is(item: DumpFormat, dump: Dump) -> bool:
    try:
        return item.recognise(dump)
    except DataError:
        return False


def _named(name: str) -> DumpFormat:
    try:
        return FORMATS[name]
    except KeyError:
        message = f"attention format {name!r} is none of {', '.join(FORMATS)}"
        raise DataError(message) from None


def _tokens(segments: Iterable[Segment] | None) -> list[Sequence[str]] | None:
    return None if segments is None else [tokenize(segment) for segment in segments]
