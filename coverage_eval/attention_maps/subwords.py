"""Merge subwords into words: sum over source pieces, mean over target pieces.

So attention to a word is attention to all its pieces, and rows that sum to 1 still do. Unbabel's
postprocess_attention_bpe.py, stopes and SoftAlignments do the same. Two words are linked if any of
their pieces are. EOS rows and columns stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import starmap
from typing import Literal, TypeAlias

import numpy as np

from coverage_eval.attention_maps.maps import AttentionMap, Weights
from coverage_eval.core.errors import DataError
from coverage_eval.core.lists import DiskList

Scheme: TypeAlias = Literal["bpe", "sentencepiece", "byte-level", "wordpiece", "joiner", "none"]
_MARKS: dict[Scheme, str] = {
    "bpe": "@@", "sentencepiece": "▁", "byte-level": "Ġ", "wordpiece": "##", "joiner": "￭",
}  # fmt: skip
SCHEMES: tuple[Scheme, ...] = (*_MARKS, "none")
"""``@@`` ends a piece that another one continues; ``▁`` begins the first piece of a word; so does
``Ġ``, where all bytes are written as letters (GPT-2, BART); ``##`` begins a piece that continues a
word (BERT); ``￭`` (OpenNMT's joiner) is on the side where a piece is joined; ``none``: no
subwords."""

_BYTE_LEVEL_SHARE = 0.25
"""``Ġ`` is also a Maltese letter: it is a mark if at least this share of tokens begins with it."""


def schemes_of(texts: Iterable[Iterable[str]]) -> list[Scheme]:
    """The schemes whose marks occur in the tokens of a corpus."""
    tokens = {token for text in texts for token in text}
    marked = {scheme: sum(_is_marked(token, scheme) for token in tokens) for scheme in _MARKS}
    marked["byte-level"] *= marked["byte-level"] >= _BYTE_LEVEL_SHARE * len(tokens)
    return [scheme for scheme, count in marked.items() if count]


def _is_marked(token: str, scheme: Scheme) -> bool:
    mark = _MARKS[scheme]
    if scheme == "wordpiece":  # headings and numbers may begin with such characters, too
        return token.startswith(mark) and token.strip("#") != "" and not token.startswith("###")
    begins, ends = token.startswith(mark), token.endswith(mark)
    return (scheme != "bpe" and begins) or (scheme in {"bpe", "joiner"} and ends)


def recognise_scheme(texts: Iterable[Sequence[str]], side: str) -> Scheme:
    """Recognise the scheme of one side of a corpus by the marks in its tokens.

    Raises:
        DataError: Marks of two schemes occur.
    """
    schemes = schemes_of(texts)
    if len(schemes) > 1:
        marks = " and ".join(_MARKS[scheme] for scheme in schemes)
        raise DataError(
            f"the {side} has subword marks of several schemes ({marks}); name one of "
            f"{', '.join(SCHEMES)}"
        )
    return schemes[0] if schemes else "none"


def word_starts(tokens: Sequence[str], scheme: Scheme) -> list[int]:
    """Positions at which a word starts; the first token always starts one.

    >>> word_starts(["Net@@", "any@@", "ahu", "."], "bpe")
    [0, 3]
    >>> word_starts(["▁Hel", "lo", "▁world"], "sentencepiece")
    [0, 2]
    >>> word_starts(["Hel", "lo", "Ġworld"], "byte-level")
    [0, 2]
    >>> word_starts(["hel", "##lo", "world"], "wordpiece")
    [0, 2]
    >>> word_starts(["Hello", "￭,", "l￭", "'", "￭eau"], "joiner")
    [0, 2]
    """
    return [i for i in range(len(tokens)) if i == 0 or _starts(tokens[i - 1], tokens[i], scheme)]


def _starts(before: str, token: str, scheme: Scheme) -> bool:
    if scheme in {"sentencepiece", "byte-level"}:
        return _is_marked(token, scheme)
    if scheme in {"bpe", "wordpiece"}:  # the mark is at the break between two pieces
        return not _is_marked(before if scheme == "bpe" else token, scheme)
    return scheme == "none" or not (before.endswith("￭") or token.startswith("￭"))


def join_pieces(pieces: Sequence[str], scheme: Scheme) -> str:
    """Join the pieces of a word, without their marks."""
    if scheme == "none":
        return "".join(pieces)
    mark = _MARKS[scheme]
    if scheme == "bpe":
        return "".join(piece.removesuffix(mark) for piece in pieces)
    if scheme == "joiner":
        return "".join(piece.removeprefix(mark).removesuffix(mark) for piece in pieces)
    if scheme == "wordpiece":
        return pieces[0] + "".join(piece.removeprefix(mark) for piece in pieces[1:])
    word = "".join(pieces).removeprefix(mark)
    return _bytes_as_text(word) if scheme == "byte-level" else word


def join_words(pieces: Sequence[str], scheme: Scheme) -> str:
    """Join the pieces of a segment into words, without their marks.

    >>> join_words(["Net@@", "any@@", "ahu", "."], "bpe")
    'Netanyahu .'
    """
    starts = word_starts(pieces, scheme)
    return " ".join(_joined(pieces, starts, scheme))


@cache
def _bytes_of_letters() -> dict[str, int]:
    """GPT-2's letters for bytes: printable Latin-1 stays, the others get letters from 256 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}


def _bytes_as_text(letters: str) -> str:
    """Decode byte-level BPE; return other text unchanged."""
    table = _bytes_of_letters()
    if not all(letter in table for letter in letters):
        return letters
    return bytes(table[letter] for letter in letters).decode("utf-8", "replace")


def merge_subwords(
    maps: Sequence[AttentionMap],
    *,
    source_scheme: Scheme | None = None,
    target_scheme: Scheme | None = None,
) -> Sequence[AttentionMap]:
    """Merge the subwords of a corpus's maps into words.

    Args:
        maps: Maps with tokens on both sides; read several times.
        source_scheme: How source subwords are marked; by default recognised.
        target_scheme: How subwords of the hypotheses are marked; by default recognised.

    Returns:
        Maps of level "word", in a temporary file if they are many. A side without marks stays as
        it is.

    Raises:
        DataError: Tokens are unknown, or have the marks of two schemes.
    """
    sources = (item.source_words for item in maps)
    hypotheses = (item.hypothesis_words for item in maps)
    source_scheme = source_scheme or recognise_scheme(sources, "source")
    target_scheme = target_scheme or recognise_scheme(hypotheses, "hypothesis")

    def merge(number: int, item: AttentionMap) -> AttentionMap:
        try:
            return _merge(item, source_scheme, target_scheme)
        except DataError as error:
            raise DataError(f"segment {number}: {error}") from error

    return DiskList(starmap(merge, enumerate(maps, start=1)))


def _merge(item: AttentionMap, source_scheme: Scheme, target_scheme: Scheme) -> AttentionMap:
    if item.source is None or item.hypothesis is None:
        side = "source" if item.source is None else "hypothesis"
        raise DataError(f"subwords cannot be merged without the {side} text; give it")
    columns = _starts_with_eos(item.source, item.src_eos, source_scheme)
    rows = _starts_with_eos(item.hypothesis, item.tgt_eos, target_scheme)
    return replace(
        item,
        weights=_merge_weights(item.weights, rows, columns, any_piece=item.hard),
        source=_joined(item.source, columns, source_scheme),
        hypothesis=_joined(item.hypothesis, rows, target_scheme),
        level="word",
    )


def _starts_with_eos(tokens: Sequence[str], eos: bool, scheme: Scheme) -> list[int]:
    """Where words start; EOS counts as a separate word."""
    size = len(tokens) - eos
    return [*word_starts(tokens[:size], scheme), *([size] if eos else [])]


def _joined(tokens: Sequence[str], starts: Sequence[int], scheme: Scheme) -> tuple[str, ...]:
    ends = [*starts[1:], len(tokens)]
    pieces = [tokens[start:end] for start, end in zip(starts, ends, strict=False)]
    return tuple(join_pieces(some, scheme) for some in pieces)


def _merge_weights(
    weights: Weights, rows: Sequence[int], columns: Sequence[int], *, any_piece: bool
) -> Weights:
    """Sum over groups of columns, mean over groups of rows; a group starts at each position.

    With ``any_piece``, for links, take the maximum over both.
    """
    if not rows or not columns:
        return np.zeros((len(rows), len(columns)))
    joined = np.maximum if any_piece else np.add
    merged = joined.reduceat(joined.reduceat(weights, columns, axis=1), rows, axis=0)
    sizes = 1 if any_piece else np.diff([*rows, len(weights)])[:, np.newaxis]
    return np.asarray(merged / sizes)
