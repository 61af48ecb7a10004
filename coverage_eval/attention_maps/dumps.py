"""Attention as toolkits write it, and how it becomes maps.

A reader of a format yields raw maps: what the file says, before orientation and EOS are known. A
toolkit's own file has a known orientation; for bare arrays, the user says it. EOS follows from the
texts: a matrix has as many rows as the text has words, or one more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from coverage_eval.attention_maps.maps import (
    AttentionMap,
    Head,
    Level,
    UnclearMapsError,
    Weights,
    check_size,
    choose_head,
    without_padding,
)
from coverage_eval.attention_maps.subwords import schemes_of
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import FileText, file_name
from coverage_eval.core.tokenizers import EOS_TOKENS, PAD_TOKENS, Segment, tokenize
from fast_align_wrapper.links import Link

Orientation: TypeAlias = Literal["target-source", "source-target"]
ORIENTATIONS: tuple[Orientation, ...] = ("target-source", "source-target")

TEXTS = "--src SRC --hyp HYP"
"""Options for the texts as a toolkit saw them."""

_PROBED_LINES = 5000  # a log may have thousands of lines before its first attention


@dataclass(frozen=True)
class RawMap:
    """One segment of a toolkit's file: a matrix, or links without sizes.

    Attributes:
        where: The file and where in it, for messages.
        matrix: Weights in the orientation of the file; None if the file has links.
        links: Pairs (source, target) from 0; None if the file has a matrix.
        source: Source tokens of the file, with or without EOS; None if it has none.
        hypothesis: Target tokens of the file, with or without EOS; None if it has none.
        links_to_eos: Whether a link just past the last word means EOS, to be dropped, rather than
            an error.
        tgt_eos: Whether the last row is EOS; None if only the text can tell.
        src_eos: Whether the last column is EOS; None if only the text can tell.
        level: What the file says about its tokens; None if nothing.
        hard: Whether the matrix holds links, 0 or 1.
        stacked: Whether it is one of a stack of equal shapes, so that short ones are padded.
        chosen: The layer and head that it was chosen from, as in :class:`~.maps.AttentionMap`.
    """

    where: str
    matrix: Weights | None = None
    links: Sequence[Link] = ()
    source: Sequence[str] | None = None
    hypothesis: Sequence[str] | None = None
    links_to_eos: bool = False
    tgt_eos: bool | None = None
    src_eos: bool | None = None
    level: Level | None = None
    hard: bool = False
    stacked: bool = False
    chosen: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Dump:
    """A file with attention, and what only the user can know about it.

    Attributes:
        path: The file.
        layer: Which layer of arrays ``[layers, heads, T, S]``, from 0, or −1 for the last.
        head: Which head of arrays with several, from 0, or −1 for the last, or "mean".
    """

    path: str | Path
    layer: int | None = None
    head: Head | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return file_name(self.path)

    def matrix(self, array: Any, where: str) -> Weights:
        """The chosen matrix of an array; as :func:`~.maps.choose_head`."""
        return choose_head(array, where, self.layer, self.head)

    @cached_property
    def file(self) -> FileText:
        """The file as lines."""
        return FileText(self.path)

    @property
    def lines(self) -> Iterator[tuple[str, str]]:
        """Where each line is, for messages, and the line; ``.gz`` and ``.zst`` are unpacked.

        Raises:
            DataError: Missing, damaged, not UTF-8.
        """
        lines = enumerate(self.file, start=1)
        return ((f"{self.name}: line {number}", line) for number, line in lines)

    @cached_property
    def probe(self) -> list[str]:
        """The first lines that are not blank, used to recognise the format."""
        return [line for _, line in islice(self.lines, _PROBED_LINES) if line.strip()]


@dataclass(frozen=True)
class DumpFormat:
    """A file format: its name, how to recognise and read it, and what it leaves open.

    Attributes:
        name: As ``--input-format`` takes it.
        title: What people call it: the toolkit and the option that writes it.
        recognise: Whether a file has this format; may raise DataError for "no".
        read: The segments in order.
        bare: Whether only the user knows if rows are target or source words.
        several_heads: Whether it can hold several layers and heads, so the user must choose.
        count_hint: Why there may be more or fewer maps than segments.
    """

    name: str
    title: str
    recognise: Callable[[Dump], bool]
    read: Callable[[Dump], Iterable[RawMap]]
    bare: bool = False
    several_heads: bool = False
    count_hint: str = ""


def quoted(text: str, limit: int = 60) -> str:
    """Quote text from a file for a message: on one line, escaped and shortened."""
    return repr(text if len(text) <= limit else text[:limit] + "…")


def to_canonical(
    name: str,
    raws: Sequence[RawMap],
    sources: Iterable[Segment] | None = None,
    hypotheses: Iterable[Segment] | None = None,
    orientation: Orientation = ORIENTATIONS[0],
    choice: tuple[tuple[str, str], ...] = (),
    count_hint: str = "",
) -> Iterator[AttentionMap]:
    """Turn raw maps into attention maps, each computed when it is asked for.

    Args:
        name: The file, for messages.
        raws: Its segments, which are read twice.
        sources: The user's segments; they override the file's.
        hypotheses: The user's segments; they override the file's.
        orientation: What rows and columns are.
        choice: The layer and head that the user chose.
        count_hint: Why there may be more or fewer maps than segments.

    Raises:
        DataError: Unequal numbers of maps and texts, or shapes that do not fit.
    """
    hint = f" ({count_hint})" if count_hint else ""
    texts: dict[str, Any] = {}
    for side, segments in (("source", sources), ("hypothesis", hypotheses)):
        if segments is None:
            continue
        texts[side] = [tokenize(segment) for segment in segments]
        if len(texts[side]) != len(raws):
            raise DataError(
                f"{name}: {len(raws)} attention maps, but the {side} text has "
                f"{len(texts[side])} segments{hint}"
            )

    tokens: set[str] = set()
    for number, raw in enumerate(raws):
        known = {"source": raw.source, "hypothesis": raw.hypothesis}
        known |= {side: segments[number] for side, segments in texts.items()}
        for words in known.values():
            tokens.update(words or ())
    level: Level = "bpe" if not tokens or schemes_of([tokens]) else "word"
    for number, unchanged in enumerate(raws):
        changes = {side: segments[number] for side, segments in texts.items()}
        if unchanged.matrix is not None and orientation == "source-target":
            changes["matrix"] = unchanged.matrix.T
        raw = replace(unchanged, chosen=choice or unchanged.chosen, **changes)
        try:
            if raw.matrix is None:
                yield _from_links(raw, level)
            else:
                yield _from_matrix(raw, raw.matrix, level)
        except UnclearMapsError as error:
            raise UnclearMapsError(f"{raw.where}: {error}{hint}", error.options) from error
        except DataError as error:
            raise DataError(f"{raw.where}: {error}") from error


def _from_matrix(raw: RawMap, matrix: Weights, level: Level) -> AttentionMap:
    """A matrix target × source with its tokens; the texts show where EOS is."""
    for axis, (side, flag) in enumerate((("hypothesis", "tgt_eos"), ("source", "src_eos"))):
        tokens = getattr(raw, side)
        if tokens is not None and not PAD_TOKENS.isdisjoint(tokens):
            matrix, words = without_padding(matrix, tokens, axis)
            changes: dict[str, Any] = {side: words, flag: None}
            raw = replace(raw, **changes)
    matrix = _without_empty_rows(matrix, raw.hypothesis, raw.stacked)
    matrix = _without_empty_rows(matrix.T, raw.source, raw.stacked).T
    rows, columns = matrix.shape
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
                "give the texts as the toolkit saw them, subwords included, and of a padded batch "
                "its masks (source_mask= and hypothesis_mask=), or <pad> for each padding"
            )
        raise UnclearMapsError(
            f"a matrix of {rows} target rows and {columns} source columns{problem}", TEXTS
        )
    return AttentionMap(
        weights=matrix,
        source=_labelled(raw.source, columns),
        hypothesis=_labelled(raw.hypothesis, rows),
        tgt_eos=tgt_eos,
        src_eos=src_eos,
        level=raw.level or level,
        hard=raw.hard,
        chosen=raw.chosen,
    )


def _without_empty_rows(matrix: Weights, tokens: Sequence[str] | None, stacked: bool) -> Weights:
    """A matrix without the rows behind its text that are all zero or NaN.

    Args:
        matrix: The matrix; for its columns, transposed.
        tokens: The text of its rows; None if unknown.
        stacked: Whether even a single row behind the words may be padding instead of EOS.
    """
    if tokens is None or len(matrix) <= _count_words(tokens) + (not stacked):
        return matrix
    used = np.flatnonzero((np.nan_to_num(matrix) != 0).any(axis=1))
    return matrix[: max(_count_words(tokens), used[-1] + 1 if len(used) else 0)]


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
            f"links do not say how long the {side} is; give the {side} text", TEXTS
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
