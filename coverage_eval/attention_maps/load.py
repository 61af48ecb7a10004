"""Load attention maps of any known format; the format is recognised by content or named.

A toolkit's own file has a known orientation; for bare arrays, the user says it. EOS follows from
the texts: a matrix has as many rows as the text has words, or one more.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from coverage_eval.attention_maps.dumps import (
    ORIENTATIONS,
    Dump,
    DumpFormat,
    Layout,
    Orientation,
    RawMap,
    ReadOptions,
    shown,
)
from coverage_eval.attention_maps.formats import FORMATS
from coverage_eval.attention_maps.maps import (
    AttentionMap,
    Head,
    Level,
    UnclearMapsError,
    check_size,
    named_choice,
)
from coverage_eval.attention_maps.subwords import schemes_of
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import STDIN, CorpusWarning
from coverage_eval.core.machine import DiskList
from coverage_eval.core.tokenizers import EOS_TOKENS
from fast_align_wrapper.text import Segment, tokenize

_TEXTS = "--src SRC --hyp HYP"
"""Options for the texts as a toolkit saw them."""

_BARE = f"--orientation {ORIENTATIONS[0]} {_TEXTS}"
"""What bare arrays leave open."""

_FAR = 0.5
"""Row sums stay closer to 1 than this even where a toolkit leaves out the source's EOS."""


def load(path: str | Path, **options: Any) -> list[AttentionMap]:
    """Read the attention maps of a file into memory.

    Arguments, errors and warnings are those of :func:`load_spooled`.

    Returns:
        One map per segment, target × source.
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
    right_to_left: bool = False,
    layer: int | None = None,
    head: Head | None = None,
) -> DiskList[AttentionMap]:
    """Read the attention maps of a file that need not fit in memory.

    Args:
        path: The file; text formats may be ``.gz`` or, if the format is named, ``-``.
        sources: Source segments as the toolkit saw them, subwords included; text or tokens.
            Optional if the file has tokens.
        hypotheses: Hypothesis segments, likewise.
        input_format: One of :data:`~coverage_eval.attention_maps.FORMATS`; by default recognised.
        orientation: ``target-source`` or ``source-target``; needed for bare arrays.
        level: "bpe" or "word"; by default what the file says, or the marks in its tokens.
        right_to_left: Whether a Marian model wrote right to left; rows are put in reading order.
        layer: Which layer of arrays ``[layers, heads, T, S]``, an index from 0, or −1 for the
            last; optional if there is only one.
        head: Which head of such arrays or of ``[heads, T, S]``, likewise, or "mean".

    Returns:
        One map per segment, target × source, kept on disk.

    Raises:
        DataError: Not recognised, damaged, or ambiguous; the message says what was seen. Also if a
            layer or head is chosen for a format with one matrix per segment.

    Warns:
        CorpusWarning: Every weight of the file is 0, or rows do not sum to 1.
    """
    dump = Dump(path)
    if input_format is not None and input_format not in FORMATS:
        raise DataError(f"attention format {input_format!r} is not one of {', '.join(FORMATS)}")
    chosen = FORMATS[input_format] if input_format else recognise(dump)
    if not chosen.several_heads and (layer, head) != (None, None):
        raise DataError(
            f"{dump.name}: {chosen.title} has one matrix per segment; leave --layer and --head out"
        )
    try:
        raws = DiskList(chosen.read(dump, ReadOptions(right_to_left, layer, head)))
    except UnclearMapsError as error:
        if orientation is None and len(chosen.layout.orientations) > 1:  # asked for next
            raise UnclearMapsError(str(error), f"{error.options} {_BARE}") from None
        raise
    if not raws:
        raise DataError(f"{dump.name}: no attention found (read as {chosen.title})")
    settled = to_canonical(
        dump.name,
        raws,
        chosen.layout,
        sources=None if sources is None else [tokenize(text) for text in sources],
        hypotheses=None if hypotheses is None else [tokenize(text) for text in hypotheses],
        orientation=orientation,
        level=level,
    )
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
            "they were truncated, or the orientation is wrong; be careful with their scores",
            stacklevel=4,
        )
    return maps


def recognise(dump: Dump) -> DumpFormat:
    """The format of a file, recognised by its content.

    Raises:
        DataError: None is recognised, or the file cannot be read.
    """
    if str(dump.path) == STDIN:
        raise UnclearMapsError(
            f"standard input: name its format, one of {', '.join(FORMATS)}", "--input-format NAME"
        )
    for item in FORMATS.values():
        if item.binary and _is(item, dump):
            return item
    first = next(iter(dump.probe), None)  # an unreadable file ends here, with its reason
    if first is None:
        raise DataError(f"{dump.name}: no segments: the file is empty")
    for item in FORMATS.values():
        if not item.binary and _is(item, dump):
            return item
    raise UnclearMapsError(
        f"{dump.name}: attention format not recognised (it begins {shown(first)}); "
        f"name it, one of {', '.join(FORMATS)}",
        "--input-format NAME",
    )


def _is(item: DumpFormat, dump: Dump) -> bool:
    try:
        return item.recognise(dump)
    except DataError:
        return False


def to_canonical(
    name: str,
    raws: Sequence[RawMap],
    layout: Layout,
    *,
    sources: Sequence[Sequence[str]] | None = None,
    hypotheses: Sequence[Sequence[str]] | None = None,
    orientation: Orientation | None = None,
    level: Level | None = None,
) -> Iterator[AttentionMap]:
    """Turn raw maps into attention maps, each computed when it is asked for.

    Args:
        name: The file, for messages.
        raws: Its segments, which are read several times.
        layout: What is known about its format.
        sources: The user's token lists; they override the file's.
        hypotheses: Likewise.
        orientation: The user's choice; None for that of the format.
        level: The user's choice; by default as the file says, else "bpe" if there are subword marks
            or no tokens at all.

    Raises:
        DataError: Unequal numbers of maps and texts, or or shapes that do not fit.
    """
    for side, given in (("source", sources), ("hypothesis", hypotheses)):
        if given is not None and len(given) != len(raws):
            hint = f" ({layout.count_hint})" if layout.count_hint else ""
            raise DataError(
                f"{name}: {len(raws)} attention maps, but the {side} text has {len(given)} "
                f"segments{hint}"
            )

    def segments() -> Iterator[RawMap]:  # with the user's tokens in place of the file's
        for i, raw in enumerate(raws):
            yield replace(
                raw,
                source=raw.source if sources is None else tuple(sources[i]),
                hypothesis=raw.hypothesis if hypotheses is None else tuple(hypotheses[i]),
            )

    if orientation is None and len(layout.orientations) > 1:
        raise UnclearMapsError(
            f"{name}: bare arrays do not say what their rows are: give the orientation, "
            f"{' or '.join(layout.orientations)} (--orientation)",
            _BARE,
        )
    chosen = orientation or layout.orientations[0]
    tokens: set[str] = set()
    for raw in segments():
        tokens.update(raw.source or (), raw.hypothesis or ())
        if raw.matrix is not None and not _fits(raw, layout, chosen):
            raise UnclearMapsError(_no_reading(raw, layout, chosen), _TEXTS)
    seen: Level = "bpe" if not tokens or schemes_of([tokens]) else "word"
    return (_canonical(raw, layout, chosen, level or raw.level or seen) for raw in segments())


def _fits(raw: RawMap, layout: Layout, orientation: Orientation) -> bool:
    assert raw.matrix is not None
    rows, columns = raw.matrix.shape
    if orientation == "source-target":
        rows, columns = columns, rows
    fits_target = _last_is_eos(rows, raw.hypothesis, layout.tgt_eos, raw.tgt_eos) is not None
    return (
        fits_target and _last_is_eos(columns, raw.source, layout.src_eos, raw.src_eos) is not None
    )


def _last_is_eos(
    size: int, tokens: Sequence[str] | None, known: bool | None, flag: bool | None
) -> bool | None:
    """Whether the last of ``size`` entries is EOS; None if the size does not fit the text.

    Args:
        size: Number of rows or columns.
        tokens: The text, with or without EOS; None if unknown.
        known: What holds for the format, used if there is no text.
        flag: What the file says about this segment; the text can only confirm it.
    """
    if flag is not None:
        lengths = {size} if tokens is None else {len(tokens), _count_words(tokens) + flag}
        return flag if size in lengths and size >= flag else None
    if tokens is None:
        return known if known is None or size >= known else None
    extra = size - _count_words(tokens)
    return bool(extra) if extra in {0, 1} else None


def _count_words(tokens: Sequence[str]) -> int:
    return len(tokens) - bool(tokens and tokens[-1] in EOS_TOKENS)


def _canonical(raw: RawMap, layout: Layout, orientation: Orientation, level: Level) -> AttentionMap:
    if raw.matrix is None:
        return _from_links(raw, level)
    matrix = raw.matrix.T if orientation == "source-target" else raw.matrix
    rows, columns = matrix.shape
    try:
        return AttentionMap(
            weights=matrix,
            source=_labelled(raw.source, columns, layout.src_end),
            hypothesis=_labelled(raw.hypothesis, rows, "</s>"),
            tgt_eos=bool(_last_is_eos(rows, raw.hypothesis, layout.tgt_eos, raw.tgt_eos)),
            src_eos=bool(_last_is_eos(columns, raw.source, layout.src_eos, raw.src_eos)),
            level=level,
            hard=raw.hard,
            chosen=raw.chosen,
        )
    except DataError as error:
        raise DataError(f"{raw.where}: {error}") from error


def _labelled(tokens: tuple[str, ...] | None, size: int, end: str) -> tuple[str, ...] | None:
    """One token per entry; a missing end token is added."""
    if tokens is None or len(tokens) >= size:
        return tokens and tokens[:size]
    return (*tokens, end)


def _from_links(raw: RawMap, level: Level) -> AttentionMap:
    """Links as a matrix of zeros and ones, sized by the texts."""
    if raw.source is None or raw.hypothesis is None:
        side = "source" if raw.source is None else "hypothesis"
        raise UnclearMapsError(
            f"{raw.where}: links do not say how long the {side} is; give the {side} text", _TEXTS
        )
    columns, rows = _count_words(raw.source), _count_words(raw.hypothesis)
    check_size(rows, columns, raw.where)
    weights = np.zeros((rows, columns))
    for source, target in raw.links or ():
        if source < columns and target < rows:
            weights[target, source] = 1.0
        elif not (raw.links_to_eos and source <= columns and target <= rows):
            raise DataError(
                f"{raw.where}: link {source}-{target} (source-target, from 0) is outside of "
                f"{columns} source and {rows} target tokens; give the texts that the toolkit saw"
            )
    try:
        return AttentionMap(
            weights, raw.source[:columns], raw.hypothesis[:rows], level=level, hard=True
        )
    except DataError as error:
        raise DataError(f"{raw.where}: {error}") from error


def _no_reading(raw: RawMap, layout: Layout, orientation: Orientation) -> str:
    assert raw.matrix is not None
    rows, columns = raw.matrix.shape
    seen = f"{raw.where}: a matrix of {rows} rows and {columns} columns"
    if raw.source is None or raw.hypothesis is None:
        unknown = " and ".join(
            side
            for side, tokens in (("source", raw.source), ("hypothesis", raw.hypothesis))
            if tokens is None
        )
        return f"{seen}; only the texts can say which of them are EOS; give the {unknown} text"
    return (
        f"{seen} does not fit {_count_words(raw.hypothesis)} target and "
        f"{_count_words(raw.source)} source tokens, with or without EOS "
        f"({orientation}); give the texts as the toolkit saw them, subwords included"
        + (f" ({layout.count_hint})" if layout.count_hint else "")
    )


def warn_of_row_sums(
    name: str, maps: Iterable[AttentionMap], advice: str, stacklevel: int = 3
) -> None:
    """Warn if rows of weights are far from summing to 1. EOS rows and links are not checked.

    Args:
        name: Where the maps come from.
        maps: The maps of all segments.
        advice: A possible reason, and what to do.
        stacklevel: As for :func:`warnings.warn`.

    Warns:
        CorpusWarning: There are such rows; the message gives their number and the first one.
    """
    rows = far = 0
    first = ""
    for segment, item in enumerate(maps, start=1):
        sums = item.row_sums[: len(item.hypothesis_words)]
        rows += len(sums)
        wrong = np.flatnonzero(np.abs(sums - 1.0) > _FAR)
        if len(wrong) and not item.hard:
            first = first or f"segment {segment}, row {wrong[0] + 1}: {sums[wrong[0]]:.2f}"
            far += len(wrong)
    if far:
        message = (
            f"{name}: {far} of {rows} rows of attention are far from summing to 1 ({first}); "
            f"{advice}"
        )
        warnings.warn(message, CorpusWarning, stacklevel=stacklevel)
