"""The words of a text, each with its characters, and what stands before it.

A tokeniser gives words; what is cut is the user's own text. So each token is found again in the
text, and what separates two words (a comma, a sentence's end, a line's end) is read from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import chain, compress, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.tokenizers import UNSPACED_CHARACTER, Segment, Tokenizer

if TYPE_CHECKING:
    from scipy import sparse

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

SENTENCE_ENDS = frozenset(".!?;…。！？；｡؟؛۔।॥։።᙮‥‼⁇⁈⁉")
CLAUSE_ENDS = frozenset(",:，、：،–—")
CLOSERS = frozenset("\"'»«”’“)]}』」〉》】）］*_`")
"""Quotation marks, brackets and marks of emphasis belong to the sentence before them."""

_UNSPACED = re.compile(UNSPACED_CHARACTER)

MARKUP = re.compile(r"[#*_`~|>=+<-]+")
"""A token of such characters only is markup: a heading, a list, a rule, code or a table."""


class Boundary(IntEnum):
    """What stands before a word, from nothing to an empty line."""

    NONE = 0
    CLAUSE = 1
    BREAK = 2
    """A line's end inside a sentence, where most lines end with one."""
    SENTENCE = 3
    LINE = 4
    PARAGRAPH = 5


@dataclass(frozen=True)
class OutputWords:
    """The words of a text.

    Attributes:
        text: The text, with ``\\n`` between its lines.
        tokens: Its tokens, as a model knows them.
        starts: Position of each token's first character in the text, from 0, ``[tokens]``.
        boundaries: What stands before each token, one of :class:`Boundary`, ``[tokens]``.
        is_word: Whether a token is more than markup, ``[tokens]``.
    """

    text: str
    tokens: Sequence[str]
    starts: Integers
    boundaries: Integers
    is_word: Flags

    @classmethod
    def read(cls, text: str, tokenizer: Tokenizer) -> OutputWords:
        """Tokenise a text line by line, and find the tokens' characters.

        Args:
            text: The text, with any line ends.
            tokenizer: The tokeniser of the model.
        """
        written: list[str] = []
        starts: list[int] = []
        offset = 0
        for line in text.split("\n"):
            starts += (offset + start for start, _ in tokenizer.whole.locate(line).spans)
            written += tokenizer.whole(line)
            offset += len(line) + 1
        return cls(
            text,
            [known_form(token, tokenizer) for token in written],
            np.array(starts, np.int64),
            np.array(_boundaries(text, written, starts, tokenizer.name == "char"), np.int64),
            np.array([not MARKUP.fullmatch(token) for token in written], bool),
        )

    @cached_property
    def types(self) -> dict[str, int]:
        """The distinct tokens, numbered from 0."""
        return {token: number for number, token in enumerate(dict.fromkeys(self.tokens))}


class SourceWords(NamedTuple):
    """The words of a source.

    Attributes:
        types: The distinct words.
        shares: The share of each of them in each line, sparse ``[lines, types]``, single precision.
        lengths: Number of words of each line; 0 if none has a letter or digit, ``[lines]``.
        multi_sentence: Whether a line has several sentences, ``[lines]``.
        different: Number of different lines that have words.
        rules: The tokens of lines without words, such as a rule or a code fence.
    """

    types: list[str]
    shares: sparse.csr_matrix
    lengths: Integers
    multi_sentence: Flags
    different: int
    rules: frozenset[str]

    @classmethod
    def read(cls, lines: Sequence[str], tokenizer: Tokenizer) -> SourceWords:
        """Tokenise the lines of a source."""
        from scipy import sparse

        cut = [[known_form(token, tokenizer) for token in tokenizer.whole(line)] for line in lines]
        has_words = [any(map(str.isalnum, "".join(line))) for line in cut]
        kept = [
            [token for token in line if not (is_text and MARKUP.fullmatch(token))]
            for line, is_text in zip(cut, has_words, strict=True)
        ]
        sizes = np.array(list(map(len, kept)), np.int64)
        types: dict[str, int] = {}
        kinds = [types.setdefault(token, len(types)) for token in chain.from_iterable(kept)]
        rows = np.repeat(np.arange(len(lines)), sizes)
        shares = (1 / sizes[rows]).astype(np.float32)
        return cls(
            list(types),
            sparse.csr_matrix((shares, (rows, kinds)), shape=(len(lines), len(types))),
            np.where(has_words, sizes, 0),
            np.array([any(t[-1:] in SENTENCE_ENDS for t in line[:-1]) for line in kept], bool),
            len(set(map(tuple, compress(kept, has_words)))),
            frozenset(chain.from_iterable(compress(kept, np.logical_not(has_words)))),
        )


def tokenizer_for(lines: Iterable[Segment], name: str) -> str:
    """The name of the tokeniser that finds words in a text.

    ``13a`` and ``intl`` look for spaces. Where most letters are of scripts without them, each
    character counts as a word in their place.
    """
    text = "".join(map("".join, lines)) if name in {"13a", "intl"} else ""
    unspaced = len(text) - len(_UNSPACED.sub("", text))
    return "char" if 2 * unspaced > sum(map(str.isalpha, text)) else name


def known_form(token: str, tokenizer: Tokenizer) -> str:
    """A token as the model knows it: without marks of emphasis, in its case, cut to its stem."""
    token = token.strip("*_`~#|>") or token
    token = token.lower() if tokenizer.lowercase else token
    return token[: tokenizer.stem] if tokenizer.stem else token


def _boundaries(
    text: str, tokens: Sequence[str], starts: Sequence[int], by_character: bool
) -> list[Boundary]:
    """What stands before each token; line ends count for nothing if the text is wrapped.

    Where characters are words, spaces part clauses.
    """
    endings = [Boundary.LINE, *map(_ending, tokens)]
    ends = [0, *starts]
    breaks = [text.count("\n", end, start) for end, start in pairwise(ends)]
    broken = [
        before >= Boundary.CLAUSE for before, lines in zip(endings, breaks, strict=False) if lines
    ]
    inside = endings.count(Boundary.SENTENCE) - sum(broken)
    cut = len(broken) - sum(broken)
    is_wrapped = 2 * cut > len(broken) and 2 * inside > cut
    boundaries = []
    before = Boundary.LINE
    for number, (token, start, lines) in enumerate(zip(tokens, starts, breaks, strict=True)):
        if lines > 1:
            before = Boundary.PARAGRAPH
        elif lines and not is_wrapped:
            is_whole = before == Boundary.SENTENCE or not number or tokens[number - 1][-1:] in ":："
            is_inside = 2 * cut < len(broken) and not is_whole
            before = Boundary.BREAK if is_inside else Boundary.LINE
        spaced = start > 0 and text[start - 1].isspace()
        if by_character and spaced and _UNSPACED.match(token):
            before = max(before, Boundary.CLAUSE)
        opens = spaced and text[start + len(token) : start + len(token) + 1].strip()
        # It belongs to the sentence that it closes.
        closes = number and not lines and not opens and all(map(CLOSERS.__contains__, token))
        boundaries.append(Boundary.NONE if closes else before)
        before = before if closes else endings[number + 1]
    return boundaries


def _ending(token: str) -> Boundary:
    """The boundary behind a token."""
    last = (token.rstrip("".join(CLOSERS)) or token)[-1]
    if last in SENTENCE_ENDS:
        return Boundary.SENTENCE
    return Boundary.CLAUSE if last in CLAUSE_ENDS else Boundary.NONE
