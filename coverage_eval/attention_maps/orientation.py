"""Orientation and EOS, settled by the shapes of the matrices against the texts, or refused.

A file has one orientation, so all its segments vote: a reading that any segment contradicts is
out. If none is left, or two, the file is refused with what was seen. Given the orientation, EOS is
never a guess: a matrix has as many rows as the text has words, or one more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coverage_eval.attention_maps.dumps import Layout, Orientation, RawMap
from coverage_eval.attention_maps.maps import AttentionMap, Level, Weights
from coverage_eval.attention_maps.subwords import schemes_of
from coverage_eval.errors import DataError
from coverage_eval.special_tokens import EOS_TOKENS


@dataclass(frozen=True)
class Texts:
    """The texts of the segments, as given by the user; None where not given."""

    sources: Sequence[Sequence[str]] | None = None
    hypotheses: Sequence[Sequence[str]] | None = None


def settle(
    name: str,
    raws: Sequence[RawMap],
    layout: Layout,
    texts: Texts,
    *,
    orientation: Orientation | None = None,
    level: Level | None = None,
) -> Iterator[AttentionMap]:
    """Turn what a file says into attention maps, made one after the other.

    Args:
        name: The file, for messages.
        raws: Its segments, which are gone through several times.
        layout: What is known of its format.
        texts: Token lists that the user gave; they take precedence over the file's own.
        orientation: What the user says; None to settle it.
        level: What the tokens are, if the user says so; else as the file says, else "bpe" if there
            are marks of subwords or no tokens at all.

    Raises:
        DataError: Unequal numbers of maps and texts; no reading or several fit the shapes.
    """
    for side, given in (("source", texts.sources), ("hypothesis", texts.hypotheses)):
        if given is not None and len(given) != len(raws):
            hint = f" ({layout.count_hint})" if layout.count_hint else ""
            raise DataError(
                f"{name}: {len(raws)} attention maps, but the {side} text has {len(given)} "
                f"segments{hint}"
            )
    allowed = (orientation,) if orientation else layout.orientations
    chosen = _orientation(name, _with_texts(raws, texts), layout, allowed)
    seen = level or _level_seen(_with_texts(raws, texts))
    return (
        _settle_one(raw, layout, chosen, level or raw.level or seen)
        for raw in _with_texts(raws, texts)
    )


def _level_seen(raws: Iterable[RawMap]) -> Level:
    """Subwords if there are any subword marks, or if nothing is known of the tokens."""
    tokens = {
        token for raw in raws for side in (raw.source, raw.hypothesis) for token in side or ()
    }
    return "bpe" if not tokens or schemes_of([tokens]) else "word"


def _with_texts(raws: Iterable[RawMap], texts: Texts) -> Iterator[RawMap]:
    """The segments with the user's tokens in place of the file's."""
    for i, raw in enumerate(raws):
        yield replace(
            raw,
            source=raw.source if texts.sources is None else tuple(texts.sources[i]),
            hypothesis=raw.hypothesis if texts.hypotheses is None else tuple(texts.hypotheses[i]),
        )


def _orientation(
    name: str, raws: Iterable[RawMap], layout: Layout, allowed: Sequence[Orientation]
) -> Orientation:
    """The one orientation that no segment contradicts."""
    left = list(allowed)
    first = None
    for raw in raws:
        if raw.matrix is None:
            continue
        first = first or raw
        fitting = [o for o in left if _fits(raw, layout, o)]
        if not fitting:
            raise DataError(_no_reading(raw, layout, left))
        left = fitting
    if first and len(left) > 1:
        raise DataError(_two_readings(name, first))
    return left[0]


def _fits(raw: RawMap, layout: Layout, orientation: Orientation) -> bool:
    assert raw.matrix is not None
    rows, columns = raw.matrix.shape
    if orientation == "source-target":
        rows, columns = columns, rows
    fits_target = _eos(rows, raw.hypothesis, layout.tgt_eos, raw.tgt_eos) is not None
    return fits_target and _eos(columns, raw.source, layout.src_eos, raw.src_eos) is not None


def _eos(
    size: int, tokens: Sequence[str] | None, known: bool | None, flag: bool | None
) -> bool | None:
    """Whether the last of ``size`` entries is EOS; None if this cannot be.

    Args:
        size: Number of rows or columns.
        tokens: The text, with or without EOS; None if unknown.
        known: What holds for the format, used if there is no text.
        flag: What the file says of this segment, which the text can only confirm.
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


def _settle_one(
    raw: RawMap, layout: Layout, orientation: Orientation, level: Level
) -> AttentionMap:
    if raw.matrix is None:
        return _from_links(raw, level)
    matrix = raw.matrix.T if orientation == "source-target" else raw.matrix
    rows, columns = matrix.shape
    try:
        return AttentionMap(
            weights=matrix,
            source=_labelled(raw.source, columns, layout.src_end),
            hypothesis=_labelled(raw.hypothesis, rows, "</s>"),
            tgt_eos=bool(_eos(rows, raw.hypothesis, layout.tgt_eos, raw.tgt_eos)),
            src_eos=bool(_eos(columns, raw.source, layout.src_eos, raw.src_eos)),
            level=level,
            hard=raw.hard,
        )
    except DataError as error:
        raise DataError(f"{raw.where}: {error}") from error


def _labelled(tokens: tuple[str, ...] | None, size: int, end: str) -> tuple[str, ...] | None:
    """One token an entry: the text's own end token if it has one, else the usual one."""
    if tokens is None or len(tokens) >= size:
        return tokens and tokens[:size]
    return (*tokens, end)


def _from_links(raw: RawMap, level: Level) -> AttentionMap:
    """Links as a matrix of zeros and ones, whose sizes only the texts can tell."""
    if raw.source is None or raw.hypothesis is None:
        side = "source" if raw.source is None else "hypothesis"
        raise DataError(
            f"{raw.where}: links do not tell how long the {side} is; give the {side} text"
        )
    columns, rows = _count_words(raw.source), _count_words(raw.hypothesis)
    weights = np.zeros((rows, columns))
    for source, target in raw.links or ():
        if source < columns and target < rows:
            weights[target, source] = 1.0
        elif not (raw.links_to_eos and source <= columns and target <= rows):
            raise DataError(
                f"{raw.where}: link {source}-{target} (source-target, from 0) is outside of "
                f"{columns} source and {rows} target tokens; give the texts that the toolkit saw"
            )
    return AttentionMap(
        weights, raw.source[:columns], raw.hypothesis[:rows], level=level, hard=True
    )


def _no_reading(raw: RawMap, layout: Layout, allowed: Sequence[Orientation]) -> str:
    assert raw.matrix is not None
    rows, columns = raw.matrix.shape
    seen = f"{raw.where}: a matrix of {rows} rows and {columns} columns"
    if raw.source is None or raw.hypothesis is None:
        unknown = " and ".join(
            side
            for side, tokens in (("source", raw.source), ("hypothesis", raw.hypothesis))
            if tokens is None
        )
        return f"{seen}, of which only the texts tell what is EOS; give the {unknown} text"
    return (
        f"{seen} does not belong to {_count_words(raw.hypothesis)} target and "
        f"{_count_words(raw.source)} source tokens, with or without EOS "
        f"({' or '.join(allowed)}); give the texts as the toolkit saw them, subwords included"
        + (f" ({layout.count_hint})" if layout.count_hint else "")
    )


def _two_readings(name: str, raw: RawMap) -> str:
    assert raw.matrix is not None
    rows, columns = raw.matrix.shape
    return (
        f"{name}: ambiguous: every matrix fits both target-source and source-target; the first "
        f"has {rows} rows and {columns} columns for {_length(raw.hypothesis)} target and "
        f"{_length(raw.source)} source tokens ({_sums(raw.matrix)}); say which orientation it is"
    )


def _length(tokens: Sequence[str] | None) -> str:
    return "unknown" if tokens is None else str(_count_words(tokens))


def _sums(matrix: Weights) -> str:
    """What the sums suggest: attention of one target word sums to 1."""
    by_row = bool(np.allclose(matrix.sum(axis=1), 1, atol=1e-3))
    by_column = bool(np.allclose(matrix.sum(axis=0), 1, atol=1e-3))
    if by_row and not by_column:
        return "each row sums to 1, as in target-source"
    if by_column and not by_row:
        return "each column sums to 1, as in source-target"
    return "the sums do not tell"
