"""The texts of a sample, split into words, for checks and for metrics that adapt to texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeAlias

from coverage_eval.core.batches import BLOCK_ROWS, RowSample
from coverage_eval.core.tokenizers import Segment

TokenizedText: TypeAlias = Sequence[Sequence[str]]
"""A text: the tokens of each segment."""

TokenizerFunction: TypeAlias = Callable[[Segment], Sequence[str]]
"""Splits a segment into tokens."""

MIN_SEGMENTS = 20
"""With fewer segments, shares mean little."""

MISALIGNED_LINES = frozenset({"shifted", "reordered", "out-of-step"})
"""Line N of a text does not belong to line N of another."""

SIGNS_OF_WRONG_FILE = MISALIGNED_LINES | {"unknown-words", "other-words"}
"""What is found, too, in a text that is not the one that was meant, or has other words."""


class SampledText:
    """A text of a sample, with counts that several checks need.

    Attributes:
        name: The name of its system or file.
        rows: The tokens of each segment.
        counts: How often each token occurs.
        token_count: Number of tokens.
        has_enough: Whether enough segments have tokens for shares to mean something.
    """

    def __init__(self, name: str, rows: TokenizedText) -> None:
        self.name = name
        self.rows = rows
        self.counts = Counter(chain.from_iterable(rows))
        self.token_count = self.counts.total()
        self.has_enough = sum(map(bool, rows)) >= MIN_SEGMENTS

    @cached_property
    def bytes(self) -> int:
        """Its length without spaces, in UTF-8."""
        return sum(n * len(token.encode(errors="replace")) for token, n in self.counts.items())

    @cached_property
    def words(self) -> list[frozenset[str]]:
        """The words of each segment in lower case, without punctuation."""
        lowered = {token: token.lower() for token in self.counts if any(map(str.isalnum, token))}
        return [frozenset(lowered[token] for token in row if token in lowered) for row in self.rows]


@dataclass(frozen=True)
class SampledTexts:
    """Rows of parallel texts, in blocks of neighbouring lines.

    Attributes:
        hypotheses: The text of each system.
        references: The text of each reference.
        source: The source; None if there is none.
        lines: The number of each row's line in the whole text, from 1.
        has_tokenizer: Whether the option ``--tokenize`` would split them in another way.
        size: Number of lines of the whole texts.
        read: Gives some lines of the whole texts by their numbers, split alike; None if there are
            no others.
    """

    hypotheses: Sequence[SampledText] = ()
    references: Sequence[SampledText] = ()
    source: SampledText | None = None
    lines: Sequence[int] = ()
    has_tokenizer: bool = False
    size: int = 0
    read: Callable[[Sequence[range]], SampledTexts] | None = None

    @classmethod
    def tokenize(
        cls, sample: RowSample, tokenizer: TokenizerFunction, source_tokenizer: TokenizerFunction
    ) -> SampledTexts:
        """Tokenise the rows of a sample.

        Args:
            sample: The texts. Peers are checked like hypotheses, and a file that is named as a
                reference twice is one text.
            tokenizer: Splits a hypothesis or a reference into words.
            source_tokenizer: Splits a source into words.
        """
        rows = sample.rows
        hypotheses = [
            SampledText(name, [tokenizer((*row.hypotheses, *row.peers)[index]) for row in rows])
            for index, name in enumerate((*sample.systems, *sample.peers))
        ]
        references = {
            name: SampledText(name, [tokenizer(row.references[index]) for row in rows])
            for index, name in enumerate(sample.references)
        }
        source = None
        if sample.source is not None:
            source = SampledText(
                sample.source, [source_tokenizer(row.source or "") for row in rows]
            )

        def read(lines: Sequence[range]) -> SampledTexts:
            return cls.tokenize(sample.read(lines), tokenizer, source_tokenizer)

        return cls(
            hypotheses, [*references.values()], source, sample.lines, size=sample.size, read=read
        )

    @cached_property
    def all(self) -> list[SampledText]:
        """All texts: hypotheses, references, source."""
        return [*self.hypotheses, *self.references, *([self.source] if self.source else [])]

    @property
    def targets(self) -> Sequence[SampledText]:
        """The texts to compare with the source: the first reference, or else all outputs."""
        return self.references[:1] or self.hypotheses

    @cached_property
    def last_lines(self) -> list[SampledTexts]:
        """The last lines of the texts, if the sample lacks them."""
        if not self.lines or self.read is None or self.lines[-1] == self.size:
            return []
        return [self.read([range(self.size - BLOCK_ROWS + 1, self.size + 1)])]


def percent(share: float) -> str:
    """A share, 0 to 1, in percent; small ones with a decimal."""
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f}%"


def quote_token(token: str) -> str:
    """A token for a message, printable and short."""
    text = "".join(c if c.isprintable() else "?" for c in token)
    return f"'{text[:24]}…'" if len(text) > 24 else f"'{text}'"
