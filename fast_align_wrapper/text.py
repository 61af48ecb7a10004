"""Tokens of a segment, and pairs of segments as lines for the aligner.

In fast_align, ``|||`` and tabs are separators and ``<eps>`` is NULL, and the original also splits
saved parameters at all other ASCII white space. Tokens that contain such syntax are escaped, and
different tokens stay different, so links and parameters stay correct.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

Segment: TypeAlias = "str | Sequence[str]"
"""A segment as callers give it: text to be split at spaces and tabs, or a list of tokens."""

Pair: TypeAlias = "tuple[Segment, Segment] | tuple[Segment, ...]"
"""A source segment and its target segment; the second form is for tuples of any length."""

MAX_CELLS = 50_000_000
"""The most source × target words that a pair may have; all cells are held in memory."""

MARK = "␛"
"""The first character of every escaped token, and of no other token."""

_SYNTAX = {"", "|||", "<eps>"}
# Lone surrogates stand for bytes that were not UTF-8; they cannot be encoded.
_UNSAFE = re.compile(r"[\x00\t\n\v\f\r \ud800-\udfff]")
_UNSAFE_OR_BACKSLASH = re.compile(_UNSAFE.pattern.replace("[", r"[\\"))
# Searching for these characters is much faster than looking at each token.
_SUSPECT = re.compile(rf"[|<\x00\t\n\v\f\r\ud800-\udfff{MARK}]")
_ESCAPED = re.compile(r"\\([0-9a-f]+);")


def tokenize(segment: Segment) -> Sequence[str]:
    """Split a segment at runs of ASCII space and tab, as fast_align does.

    A list of tokens is returned unchanged. Other Unicode spaces (no-break, ideographic) and control
    characters are part of a token. A line end at the end of the segment is not.

    >>> tokenize("a  b\\tc ")
    ['a', 'b', 'c']
    >>> tokenize("")
    []
    >>> tokenize("a b\\n")
    ['a', 'b']
    """
    if not isinstance(segment, str):
        return segment
    if segment.endswith("\n"):
        segment = segment[:-1].removesuffix("\r")
    tokens = segment.replace("\t", " ").split(" ")
    return [token for token in tokens if token] if "" in tokens else tokens


class PreparedPair(NamedTuple):
    """A pair of segments, or several, ready for the aligner.

    Attributes:
        line: ``source ||| target`` as UTF-8 with a line end, a line for each pair; empty if a side
            has no tokens.
        source_length: Number of source tokens.
        target_length: Number of target tokens.
        is_oversize: Whether it has too many cells for memory.
    """

    line: bytes
    source_length: int
    target_length: int
    is_oversize: bool


def escape_token(token: str) -> str:
    r"""Write a token without syntax of the aligner; most tokens stay unchanged.

    Different tokens are written differently.

    >>> escape_token("word"), escape_token("|||"), escape_token("a b")
    ('word', '␛|||', '␛a\\20;b')
    """
    if token in _SYNTAX or token.startswith(MARK) or _UNSAFE.search(token):
        return MARK + _UNSAFE_OR_BACKSLASH.sub(lambda match: f"\\{ord(match[0]):x};", token)
    return token


def unescape_token(token: str) -> str:
    r"""The token that :func:`escape_token` wrote.

    >>> unescape_token("word"), unescape_token("␛|||"), unescape_token("␛a\\20;b")
    ('word', '|||', 'a b')
    """
    if not token.startswith(MARK):
        return token
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), token.removeprefix(MARK))


def _prepare(segment: Segment) -> tuple[str, int]:
    """A segment's tokens, escaped where needed and joined by single spaces, and their number."""
    if isinstance(segment, str) and _is_plain(segment):
        return segment, segment.count(" ") + 1
    tokens = tokenize(segment) if isinstance(segment, str) else segment
    text = " ".join(tokens)
    if _SUSPECT.search(text) or text.count(" ") != len(tokens) - 1 or "" in tokens:
        text = " ".join(map(escape_token, tokens))
    return text, len(tokens)


def _is_plain(text: str) -> bool:
    """Whether nothing needs escaping and tokens are separated by single spaces."""
    return "  " not in f" {text} " and not _SUSPECT.search(text)


def prepare_pair(number: int, pair: Pair) -> PreparedPair:
    """Prepare a pair of segments; errors name it by its number.

    Raises:
        TypeError: It is not a pair of two segments, strings or lists of strings.
    """
    if isinstance(pair, str) or len(pair) != 2:
        raise TypeError(f"pair {number}: {pair!r:.60} is not a pair (source, target)")
    try:
        source, source_length = _prepare(pair[0])
        target, target_length = _prepare(pair[1])
    except TypeError:
        raise TypeError(
            f"pair {number}: {pair!r:.60}: a side is neither a string nor a list of strings"
        ) from None
    cells = source_length * target_length
    line = f"{source} ||| {target}\n".encode() if cells else b""
    return PreparedPair(line, source_length, target_length, cells > MAX_CELLS)


def prepare_block(pairs: Sequence[Pair]) -> PreparedPair | None:
    """Prepare several pairs at once, which takes a fifth of the time; None unless all are plain.

    A plain segment is a string of tokens with single spaces between them, without the aligner's
    syntax. Others, and pairs that may be too long, need :func:`prepare_pair`.
    """
    if str in map(type, pairs):
        return None
    try:
        sources, targets = zip(*pairs, strict=True)
        texts = ["\n".join(side) for side in (sources, targets)]
        lines = "".join([f"{source} ||| {target}\n" for source, target in pairs])
    except (TypeError, ValueError):
        return None
    is_plain = all(
        text.count("\n") == len(pairs) - 1 and _is_plain(text.replace("\n", " ")) for text in texts
    )
    # A segment has no more words than characters.
    if not is_plain or max(map(len, sources)) * max(map(len, targets)) > MAX_CELLS:
        return None
    source_words, target_words = (text.count(" ") + len(pairs) for text in texts)
    return PreparedPair(lines.encode(), source_words, target_words, is_oversize=False)
