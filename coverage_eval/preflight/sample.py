"""What the checks look at: rows of texts that belong together, and what several checks count."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from statistics import fmean
from typing import TypeAlias

from coverage_eval.data.dataset import BLOCK_ROWS, Row, Sampler
from fast_align_wrapper.text import Segment, tokenize

Rows: TypeAlias = Sequence[Sequence[str]]
"""A text: the tokens of each segment."""

FEWEST_SEGMENTS = 20
"""On fewer segments a share says little."""


@dataclass(frozen=True)
class Sample:
    """Rows of texts that belong together line by line, in blocks of neighbouring lines.

    Attributes:
        hypotheses: Name of a system or file → tokens of each segment.
        references: Name → tokens of each segment; one entry a reference.
        sources: Name and tokens of each segment; None where there is no source.
        blocks: Index of the first row of each block, ascending from 0.
        lines: The line, counted from 1, of each block's first row in the whole text; may be empty.

    Raises:
        ValueError: The texts have unequal numbers of segments.
    """

    hypotheses: Mapping[str, Rows]
    references: Mapping[str, Rows]
    sources: tuple[str, Rows] | None
    blocks: Sequence[int] = (0,)
    lines: Sequence[int] = ()

    def __post_init__(self) -> None:
        counts = {text.name: len(text.rows) for text in self.texts}
        if len(set(counts.values())) > 1:
            raise ValueError(f"unequal numbers of segments: {counts}")

    @classmethod
    def from_rows(
        cls,
        sampler: Sampler[Row],
        *,
        hypotheses: Sequence[str] = (),
        references: Sequence[str] = (),
        source: str | None = None,
        tokens: Callable[[Segment], Sequence[str]] = tokenize,
        source_tokens: Callable[[Segment], Sequence[str]] = tokenize,
    ) -> Sample:
        """Name and cut the segments of the rows that a sampler kept.

        Args:
            sampler: What watched the rows.
            hypotheses: Names of their hypotheses.
            references: Names of their references.
            source: Name of their source; None where it is not looked at.
            tokens: Cuts a hypothesis or a reference into words; by default at white space.
            source_tokens: The same of a source.
        """
        rows = sampler.rows
        return cls(
            {n: [tokens(row.hypotheses[i]) for row in rows] for i, n in enumerate(hypotheses)},
            {n: [tokens(row.references[i]) for row in rows] for i, n in enumerate(references)},
            (source, [source_tokens(row.source or "") for row in rows]) if source else None,
            sampler.blocks,
            sampler.lines,
        )

    @cached_property
    def outputs(self) -> list[Text]:
        """The hypotheses."""
        return [Text(name, rows) for name, rows in self.hypotheses.items()]

    @cached_property
    def wanted(self) -> list[Text]:
        """The references."""
        return [Text(name, rows) for name, rows in self.references.items()]

    @cached_property
    def source_text(self) -> Text | None:
        """The source."""
        return Text(*self.sources) if self.sources else None

    @property
    def texts(self) -> list[Text]:
        """All texts: hypotheses, references, source."""
        return [*self.outputs, *self.wanted, *([self.source_text] if self.source_text else [])]

    @property
    def targets(self) -> list[Text]:
        """What should be a translation of the source: the first reference, or else all outputs."""
        return self.wanted[:1] or self.outputs

    @cached_property
    def pieces(self) -> list[range]:
        """Neighbouring rows, at most :data:`BLOCK_ROWS` and enough of them to compare shares."""
        count = len(self.texts[0].rows) if self.texts else 0
        ends = [*self.blocks[1:], count]
        pieces = [
            range(first, min(first + BLOCK_ROWS, end))
            for start, end in zip(self.blocks, ends, strict=True)
            for first in range(start, end, BLOCK_ROWS)
        ]
        return [piece for piece in pieces if len(piece) >= FEWEST_SEGMENTS]

    def line(self, row: int) -> int | None:
        """The line of a row in the whole text, counted from 1; None if it is not known."""
        block = sum(start <= row for start in self.blocks) - 1
        return self.lines[block] + row - self.blocks[block] if self.lines else None


@dataclass(frozen=True, eq=False)
class Text:
    """A text with its name, and what several checks count in it."""

    name: str
    rows: Rows

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each token occurs."""
        return Counter(chain.from_iterable(self.rows))

    @property
    def tokens(self) -> int:
        """Number of tokens."""
        return self.counts.total()

    @cached_property
    def words(self) -> list[frozenset[str]]:
        """The words of each segment in lower case, without punctuation."""
        lowered = {token: token.lower() for token in self.counts if any(map(str.isalnum, token))}
        return [frozenset(lowered[token] for token in row if token in lowered) for row in self.rows]

    @cached_property
    def case(self) -> tuple[int, float]:
        """Number of tokens that have case, and the share of them with a capital letter."""
        cased = {token: n for token, n in self.counts.items() if token.lower() != token.upper()}
        capital = sum(n for token, n in cased.items() if token != token.lower())
        total = sum(cased.values())
        return total, capital / max(total, 1)

    @cached_property
    def capital_starts(self) -> float:
        """Share of the segments that begin with a capital letter, of those that could."""
        starts = [row[0] for row in self.rows if row and row[0].lower() != row[0].upper()]
        if len(starts) < FEWEST_SEGMENTS:
            return math.nan
        return fmean(start != start.lower() for start in starts)

    @cached_property
    def key(self) -> tuple[tuple[str, ...], ...]:
        """Equal for equal texts."""
        return tuple(map(tuple, self.rows))

    @property
    def has_enough(self) -> bool:
        """Whether enough segments have words for a share to say something."""
        return sum(map(bool, self.rows)) >= FEWEST_SEGMENTS
