"""Tokens of a segment, and pairs of segments as bytes without the aligner's syntax.

fast_align treats ``|||`` and tabs as separators and ``<eps>`` for its NULL word, and the original
reads its parameters back at every kind of ASCII white space. Tokens that contain syntax are
escaped, different tokens always differently, so links and parameters stay right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

Segment: TypeAlias = "str | Sequence[str]"
"""A segment as a caller may give it: text to be split at spaces and tabs, or its tokens."""

Pair: TypeAlias = "tuple[Segment, Segment] | tuple[Segment, ...]"
"""A source segment and its target segment; the second form is for rows of unstated length."""

MAX_CELLS = 50_000_000
"""Most source × target words of a pair for which all cells are held at once."""

MARK = "␛"
"""The first character of every escaped token, and of no other."""

_TAKEN = {"", "|||", "<eps>"}
# Lone surrogates represent bytes that were not UTF-8; they cannot be encoded.
_UNSAFE = re.compile(r"[\x00\t\n\v\f\r \ud800-\udfff]")
_UNSAFE_OR_BACKSLASH = re.compile(_UNSAFE.pattern.replace("[", r"[\\"))
# One set of characters is searched for much faster than the few tokens that matter.
_SUSPECT = re.compile(rf"[|<\x00\t\n\v\f\r\ud800-\udfff{MARK}]")
_ESCAPED = re.compile(r"\\([0-9a-f]+);")


def without_line_end(text: str) -> str:
    """The text of a line without the ``\\n`` or ``\\r\\n`` at its end, if there is one."""
    return text[:-1].removesuffix("\r") if text.endswith("\n") else text


def tokenize(segment: Segment) -> Sequence[str]:
    """Split a segment at runs of ASCII space and tab; tokens are returned as they are.

    Other Unicode spaces (no-break, ideographic) and control characters are part of a token, but
    not the line end of a line that was read from a file as it is.

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
        segment = without_line_end(segment)
    tokens = segment.replace("\t", " ").split(" ")
    return tokens if all(tokens) else [token for token in tokens if token]


class PreparedPair(NamedTuple):
    """A pair of segments, ready for the aligner.

    Attributes:
        line: ``source ||| target`` as UTF-8 with a line end; empty if a side has no token.
        source_length: Number of source tokens.
        target_length: Number of target tokens.
    """

    line: bytes
    source_length: int
    target_length: int

    @property
    def is_oversize(self) -> bool:
        """Whether its cells are too many to be held in memory."""
        return self.source_length * self.target_length > MAX_CELLS


def escape_token(token: str) -> str:
    r"""Write a token without syntax; most tokens stay unchanged.

    The mapping is injective.

    >>> escape_token("word"), escape_token("|||"), escape_token("a b")
    ('word', '␛|||', '␛a\\20;b')
    """
    if token in _TAKEN or token.startswith(MARK) or _UNSAFE.search(token):
        return MARK + _UNSAFE_OR_BACKSLASH.sub(lambda found: f"\\{ord(found[0]):x};", token)
    return token


def unescape_token(token: str) -> str:
    r"""The token that :func:`escape_token` has written.

    >>> unescape_token("word"), unescape_token("␛|||"), unescape_token("␛a\\20;b")
    ('word', '|||', 'a b')
    """
    if not token.startswith(MARK):
        return token
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), token.removeprefix(MARK))


def _prepare(segment: Segment) -> tuple[str, int]:
    """A segment's tokens, escaped where needed and joined by single spaces, and their number."""
    if isinstance(segment, str) and _is_plain(segment):
        return segment, segment.count(" ") + 1
    tokens = tokenize(segment)
    text = " ".join(tokens)
    if _SUSPECT.search(text) or text.count(" ") != len(tokens) - 1 or "" in tokens:
        text = " ".join(map(escape_token, tokens))
    return text, len(tokens)


def _is_plain(text: str) -> bool:
    """Whether nothing needs escaping and tokens are separated by single spaces."""
    edges = {text[:1], text[-1:]}
    return not edges & {"", " "} and "  " not in text and not _SUSPECT.search(text)


def prepare_pairs(pairs: Iterable[Pair]) -> Iterator[PreparedPair]:
    """Prepare pairs of segments, one by one.

    Raises:
        TypeError: An item is no pair of a source and a target, strings or lists of strings.
    """
    for number, pair in enumerate(pairs, start=1):
        if isinstance(pair, str) or len(pair) != 2:
            raise TypeError(f"pair {number}: {pair!r:.60} is not a pair (source, target)")
        try:
            source, source_length = _prepare(pair[0])
            target, target_length = _prepare(pair[1])
        except TypeError:
            raise TypeError(
                f"pair {number}: {pair!r:.60}: a side is neither a string nor a list of strings"
            ) from None
        line = b""
        if source_length and target_length:
            line = f"{source} ||| {target}\n".encode()
        yield PreparedPair(line, source_length, target_length)
