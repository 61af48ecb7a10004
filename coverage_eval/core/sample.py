"""A sample of a test set for the checks of input: blocks of neighbouring rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import TypeAlias

from coverage_eval.core.dataset import BLOCK_ROWS, RowSample
from fast_align_wrapper.text import Segment, tokenize

Rows: TypeAlias = Sequence[Sequence[str]]
"""A text: the tokens of each segment."""

MIN_SEGMENTS = 20
"""With fewer segments, shares mean little."""


@dataclass(frozen=True, eq=False)
class SampledText:
    """A text of a sample, with counts that several checks need.

    Attributes:
        name: The name of its system or file.
        rows: The tokens of each segment.
    """

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
    def bytes(self) -> int:
        """Its length without spaces, in UTF-8."""
        return sum(n * len(token.encode(errors="replace")) for token, n in self.counts.items())

    @cached_property
    def words(self) -> list[frozenset[str]]:
        """The words of each segment in lower case, without punctuation."""
        lowered = {token: token.lower() for token in self.counts if any(map(str.isalnum, token))}
        return [frozenset(lowered[token] for token in row if token in lowered) for row in self.rows]

    @cached_property
    def case(self) -> tuple[int, float]:
        """The number of tokens with case, and the share of these with a capital letter."""
        cased = {token: n for token, n in self.counts.items() if token.lower() != token.upper()}
        capital = sum(n for token, n in cased.items() if token != token.lower())
        total = sum(cased.values())
        return total, capital / max(total, 1)

    @cached_property
    def key(self) -> tuple[tuple[str, ...], ...]:
        """The tokens as a hashable value."""
        return tuple(map(tuple, self.rows))

    @property
    def has_enough(self) -> bool:
        """Whether enough segments have words for shares to mean something."""
        return sum(map(bool, self.rows)) >= MIN_SEGMENTS


@dataclass(frozen=True)
class Sample:
    """Rows of parallel texts, in blocks of neighbouring lines.

    Attributes:
        hypotheses: The text of each system.
        references: The text of each reference.
        source: The source; None if there is none.
        lines: The number of each row's line in the whole text, from 1; empty if it is all here.
    """

    hypotheses: Sequence[SampledText] = ()
    references: Sequence[SampledText] = ()
    source: SampledText | None = None
    lines: Sequence[int] = ()

    @classmethod
    def of(
        cls,
        taken: RowSample,
        tokens: Callable[[Segment], Sequence[str]] = tokenize,
        source_tokens: Callable[[Segment], Sequence[str]] = tokenize,
    ) -> Sample:
        """Tokenise the rows of a sample.

        Args:
            taken: The texts. Peers are checked like hypotheses, and a file
                that is named as a reference twice is one text.
            tokens: Splits a hypothesis or a reference into words; by default at spaces and tabs.
            source_tokens: Splits a source into words.
        """
        rows, source = taken.rows, taken.source

        def texts(kind: str, names: Sequence[str]) -> list[SampledText]:
            return [
                SampledText(name, [tokens(getattr(row, kind)[place]) for row in rows])
                for place, name in enumerate(names)
            ]

        sources = [source_tokens(row.source or "") for row in rows] if source else []
        return cls(
            [*texts("hypotheses", taken.systems), *texts("peers", taken.peers)],
            list({text.name: text for text in texts("references", taken.references)}.values()),
            SampledText(source, sources) if source else None,
            taken.lines,
        )

    @property
    def texts(self) -> list[SampledText]:
        """All texts: hypotheses, references, source."""
        return [*self.hypotheses, *self.references, *([self.source] if self.source else [])]

    @property
    def targets(self) -> Sequence[SampledText]:
        """The texts to compare with the source: the first reference, or else all outputs."""
        return self.references[:1] or self.hypotheses

    @cached_property
    def pieces(self) -> list[range]:
        """Ranges of neighbouring rows: at most :data:`BLOCK_ROWS`, and enough for shares."""
        count = len(self.texts[0].rows) if self.texts else 0
        gaps = [row for row, (a, b) in enumerate(pairwise(self.lines), start=1) if b > a + 1]
        pieces = [
            range(first, min(first + BLOCK_ROWS, end))
            for start, end in pairwise([0, *gaps, count])
            for first in range(start, end, BLOCK_ROWS)
        ]
        return [piece for piece in pieces if len(piece) >= MIN_SEGMENTS]

    def line(self, row: int) -> int | None:
        """The line number, from 1, of a row in the whole text; None if it is unknown."""
        return self.lines[row] if self.lines else None
