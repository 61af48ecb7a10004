"""Load attention maps of any known format; the format is recognised by content or named.

A toolkit's own file has a known orientation; for bare arrays, the user says it. EOS follows from
the texts: a matrix has as many rows as the text has words, or one more.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from coverage_eval.attention_maps.dumps import (
    ORIENTATIONS,
    Dump,
    DumpFormat,
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


def load(
    path: str | Path,
    *,
    sources: Iterable[Segment] | None = None,
    hypotheses: Iterable[Segment] | None = None,
    input_format: str | None = None,
    orientation: Orientation | None = None,
    right_to_left: bool = False,
    layer: int | None = None,
    head: Head | None = None,
) -> Sequence[AttentionMap]:
    """Read the attention maps of a file, which need not fit in memory.

    Args:
        path: The file; text formats may be ``.gz`` or, if the format is named, ``-``.
        sources: Source segments as the toolkit saw them, subwords included; text or tokens.
            Optional if the file has tokens.
        hypotheses: Hypothesis segments, likewise.
        input_format: One of :data:`~coverage_eval.attention_maps.FORMATS`; by default recognised.
        orientation: ``target-source`` or ``source-target``; needed for bare arrays.
        right_to_left: Whether a Marian model wrote right to left; rows are put in reading order.
        layer: Which layer of arrays ``[layers, heads, T, S]``, an index from 0, or −1 for the
            last; optional if there is only one.
        head: Which head of such arrays or of ``[heads, T, S]``, likewise, or "mean".

    Returns:
        One map per segment, target × source, in a temporary file if they are many.

    Raises:
        DataError: Not recognised, damaged, or ambiguous; the message says what was seen. Also if a
            layer or head is chosen for a format with one matrix per segment.

    Warns:
        CorpusWarning: Rows do not sum to 1.
    """
    dump = Dump(path)
    if input_format is not None and input_format not in FORMATS:
        raise DataError(f"attention format {input_format!r} is not one of {', '.join(FORMATS)}")
    chosen = FORMATS[input_format] if input_format else recognise(dump)
    if not chosen.several_heads and (layer, head) != (None, None):
        raise DataError(
            f"{dump.name}: {chosen.title} has one matrix per segment; leave --layer and --head out"
        )
    is_unclear = chosen.bare and orientation is None
    try:
        raws = DiskList(chosen.read(dump, ReadOptions(right_to_left, layer, head)))
    except UnclearMapsError as error:
        if is_unclear:  # asked for next
            raise UnclearMapsError(str(error), f"{error.options} {_BARE}") from None
        raise
    if not raws:
        raise DataError(f"{dump.name}: no attention found (read as {chosen.title})")
    maps = DiskList(
        to_canonical(
            dump.name,
            raws,
            sources=None if sources is None else [tokenize(text) for text in sources],
            hypotheses=None if hypotheses is None else [tokenize(text) for text in hypotheses],
            orientation=None if is_unclear else orientation or ORIENTATIONS[0],
            choice=named_choice(layer, head),
            count_hint=chosen.count_hint,
        )
    )
    warn_of_row_sums(
        dump.name,
        maps,
        "they were truncated, or the orientation is wrong; be careful with their scores",
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
        with suppress(DataError):
            if item.recognise(dump):
                return item
    first = next(iter(dump.probe), None)  # an unreadable file ends here, with its reason
    if first is None:
        raise DataError(f"{dump.name}: no segments: the file is empty")
    raise UnclearMapsError(
        f"{dump.name}: attention format not recognised (it begins {shown(first)}); "
        f"name it, one of {', '.join(FORMATS)}",
        "--input-format NAME",
    )


def to_canonical(
    name: str,
    raws: Sequence[RawMap],
    *,
    sources: Sequence[Sequence[str]] | None = None,
    hypotheses: Sequence[Sequence[str]] | None = None,
    orientation: Orientation | None = ORIENTATIONS[0],
    choice: tuple[tuple[str, str], ...] = (),
    count_hint: str = "",
) -> Iterator[AttentionMap]:
    """Turn raw maps into attention maps, each computed when it is asked for.

    Args:
        name: The file, for messages.
        raws: Its segments, which are read twice.
        sources: The user's token lists; they override the file's.
        hypotheses: Likewise.
        orientation: What rows and columns are; None if nobody knows.
        choice: The layer and head that the user chose.
        count_hint: Why there may be more or fewer maps than segments.

    Raises:
        DataError: Unequal numbers of maps and texts, or shapes that do not fit.
    """
    hint = f" ({count_hint})" if count_hint else ""
    for side, given in (("source", sources), ("hypothesis", hypotheses)):
        if given is not None and len(given) != len(raws):
            raise DataError(
                f"{name}: {len(raws)} attention maps, but the {side} text has {len(given)} "
                f"segments{hint}"
            )
    if orientation is None:
        raise UnclearMapsError(
            f"{name}: bare arrays do not say what their rows are: give the orientation, "
            f"{' or '.join(ORIENTATIONS)} (--orientation)",
            _BARE,
        )

    def segments() -> Iterator[RawMap]:  # with the user's tokens in place of the file's
        for i, raw in enumerate(raws):
            matrix = raw.matrix
            if matrix is not None and orientation == "source-target":
                matrix = matrix.T
            yield replace(
                raw,
                matrix=matrix,
                source=raw.source if sources is None else sources[i],
                hypothesis=raw.hypothesis if hypotheses is None else hypotheses[i],
                chosen=choice or raw.chosen,
            )

    tokens: set[str] = set()
    for raw in segments():
        tokens.update(raw.source or (), raw.hypothesis or ())
    level: Level = "bpe" if not tokens or schemes_of([tokens]) else "word"
    for raw in segments():
        try:
            yield _from_links(raw, level) if raw.matrix is None else _from_matrix(raw, level)
        except UnclearMapsError as error:  # noqa: PERF203 (names the segment)
            raise UnclearMapsError(f"{raw.where}: {error}{hint}", error.options) from error
        except DataError as error:
            raise DataError(f"{raw.where}: {error}") from error


def _from_matrix(raw: RawMap, level: Level) -> AttentionMap:
    """A matrix target × source with its tokens; the texts show where EOS is."""
    assert raw.matrix is not None
    rows, columns = raw.matrix.shape
    tgt_eos = _last_is_eos(rows, raw.hypothesis, raw.tgt_eos)
    src_eos = _last_is_eos(columns, raw.source, raw.src_eos)
    if tgt_eos is None or src_eos is None:
        sides = (("source", raw.source, src_eos), ("hypothesis", raw.hypothesis, tgt_eos))
        unknown = " and ".join(
            side for side, tokens, eos in sides if tokens is None and eos is None
        )
        if unknown:
            problem = f"; only the texts can say which of them are EOS; give the {unknown} text"
        else:
            problem = (
                f" does not fit {_count_words(raw.hypothesis)} target and "
                f"{_count_words(raw.source)} source tokens, with or without EOS; "
                "give the texts as the toolkit saw them, subwords included"
            )
        raise UnclearMapsError(
            f"a matrix of {rows} target rows and {columns} source columns{problem}", _TEXTS
        )
    return AttentionMap(
        weights=raw.matrix,
        source=_labelled(raw.source, columns),
        hypothesis=_labelled(raw.hypothesis, rows),
        tgt_eos=tgt_eos,
        src_eos=src_eos,
        level=raw.level or level,
        hard=raw.hard,
        chosen=raw.chosen,
    )


def _last_is_eos(size: int, tokens: Sequence[str] | None, flag: bool | None) -> bool | None:
    """Whether the last of ``size`` entries is EOS; None if only a text, or another one, can tell.

    Args:
        size: Number of rows or columns.
        tokens: The text, with or without EOS; None if unknown.
        flag: What the file says; the text can only confirm it.
    """
    words = _count_words(tokens)
    if flag is not None:
        fits = tokens is None or size in {len(tokens), words + flag}
        return flag if fits and size >= flag else None
    return {0: False, 1: True}.get(size - words) if tokens is not None else None


def _count_words(tokens: Sequence[str] | None) -> int:
    return len(tokens) - (tokens[-1] in EOS_TOKENS) if tokens else 0


def _labelled(tokens: Sequence[str] | None, size: int) -> tuple[str, ...] | None:
    """One token per entry; a missing end token is added."""
    if tokens is None:
        return None
    return (*tokens, "</s>") if len(tokens) < size else tuple(tokens[:size])


def _from_links(raw: RawMap, level: Level) -> AttentionMap:
    """Links as a matrix of zeros and ones, sized by the texts."""
    if raw.source is None or raw.hypothesis is None:
        side = "source" if raw.source is None else "hypothesis"
        raise UnclearMapsError(
            f"links do not say how long the {side} is; give the {side} text", _TEXTS
        )
    columns, rows = _count_words(raw.source), _count_words(raw.hypothesis)
    check_size(rows, columns)
    weights = np.zeros((rows, columns))
    for source, target in raw.links:
        if source < columns and target < rows:
            weights[target, source] = 1.0
        elif not (raw.links_to_eos and source <= columns and target <= rows):
            raise DataError(
                f"link {source}-{target} (source-target, from 0) is outside of "
                f"{columns} source and {rows} target tokens; give the texts that the toolkit saw"
            )
    return AttentionMap(
        weights, tuple(raw.source[:columns]), tuple(raw.hypothesis[:rows]), level=level, hard=True
    )


def warn_of_row_sums(name: str, maps: Iterable[AttentionMap], advice: str) -> None:
    """Warn if rows of weights are far from summing to 1. EOS rows and links are not checked.

    Args:
        name: Where the maps come from.
        maps: The maps of all segments.
        advice: A possible reason, and what to do.

    Warns:
        CorpusWarning: There are such rows; the message gives their number and the first one.
    """
    rows = far = 0
    first = ""
    for segment, item in enumerate(maps, start=1):
        sums = item.weights.sum(axis=1)[: len(item.hypothesis_words)]
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
        warnings.warn(message, CorpusWarning, stacklevel=3)
