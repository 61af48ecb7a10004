"""Segments as bytes that no aligner can mistake for syntax.

fast_align takes ``|||`` and tabs for separators and ``<eps>`` for its NULL word, and the original
reads its parameters back at every kind of ASCII white space. Tokens that would be mistaken are
written otherwise, different tokens always differently, so links and parameters are unharmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from coverage_eval.errors import DataError
from coverage_eval.text.corpus import Segment, tokenize

__all__ = ["MAX_CELLS", "PreparedPair", "escape_token", "prepare_pairs"]

MAX_CELLS = 50_000_000
"""Most source × target words of a pair for which all cells are held at once."""

MARK = "␛"
"""Begins every escaped token, and no other."""

_TAKEN = {"", "|||", "<eps>"}
# Lone surrogates stand for bytes that were no UTF-8; they cannot be encoded.
_UNSAFE = re.compile(r"[\x00\t\n\v\f\r \ud800-\udfff]")
_UNSAFE_OR_BACKSLASH = re.compile(_UNSAFE.pattern.replace("[", r"[\\"))
# One set of characters is searched for much faster than the few tokens that matter.
_SUSPECT = re.compile(rf"[|<\x00\t\n\v\f\r\ud800-\udfff{MARK}]")


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
    r"""Write a token so that it cannot be mistaken for syntax; most tokens stay as they are.

    The mapping is injective.

    >>> escape_token("word"), escape_token("|||"), escape_token("a b")
    ('word', '␛|||', '␛a\\20;b')
    """
    if token in _TAKEN or token.startswith(MARK) or _UNSAFE.search(token):
        return MARK + _UNSAFE_OR_BACKSLASH.sub(lambda found: f"\\{ord(found[0]):x};", token)
    return token


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
    """Whether nothing needs escaping and single spaces stand between tokens only."""
    edges = {text[:1], text[-1:]}
    return not edges & {"", " "} and "  " not in text and not _SUSPECT.search(text)


def prepare_pairs(sources: Iterable[Segment], targets: Iterable[Segment]) -> Iterator[PreparedPair]:
    """Prepare parallel segments, strings or token lists, one by one.

    Raises:
        DataError: There are more of one than of the other (both counts).
        TypeError: A single string where segments are meant.
    """
    if isinstance(sources, (str, bytes)) or isinstance(targets, (str, bytes)):
        raise TypeError("sources and targets are each a list of segments, not a single string")
    counts = [0, 0]
    for source, target in zip_longest(sources, targets):
        counts[0] += source is not None
        counts[1] += target is not None
        if source is None or target is None:
            continue
        source_text, source_length = _prepare(source)
        target_text, target_length = _prepare(target)
        line = b""
        if source_length and target_length:
            line = f"{source_text} ||| {target_text}\n".encode()
        yield PreparedPair(line, source_length, target_length)
    if counts[0] != counts[1]:
        raise DataError(f"unequal numbers of segments: {counts[0]} sources and {counts[1]} targets")
