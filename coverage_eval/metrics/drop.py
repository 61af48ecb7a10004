"""DROP-score: source words that the reference translates and the hypothesis does not.

Malaviya, Ferreira and Martins (ACL 2018), section 5: with C(x) the source positions aligned to some
word of x, the percentage of source words in C(reference) that are not in C(hypothesis); for a
corpus, sum over sum. What the percentage is of is a setting (``denominator``), because the paper's
text and its published script allow two readings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Metric, Signature, Statistics
from coverage_eval.metrics.stopwords import StopWords
from coverage_eval.text.corpus import Segment, tokenize

__all__ = ["DENOMINATORS", "DROP", "AlignedSegment", "AlignmentSettings", "DroppedWord"]

Links: TypeAlias = "Collection[tuple[int, int]]"
"""Links of one segment: pairs of source and target position, from 0."""

DENOMINATORS = ("aligned", "source")

_EMPTY_LINE = -1
"""The position that an empty line of links stands for in the published script."""


@dataclass(frozen=True)
class AlignmentSettings:
    """Where links or posteriors came from: what moves a score without being the metric's own.

    Attributes:
        aligner: Name and version of the aligner, or ``given`` for links from files.
        model: The model's hash, or ``none``.
        symmetrize: How both directions were joined, or ``given``.
        sink: Whether ``<SINK>`` was appended to each source.
        tok: The tokeniser that was applied to all sides.
    """

    aligner: str = "given"
    model: str = "none"
    symmetrize: str = "given"
    sink: bool = False
    tok: str = "none"


@dataclass(frozen=True)
class AlignedSegment:
    """A source segment with its links, which is all that DROP looks at.

    Attributes:
        source: The source segment; None if it is not known.
        reference_links: Links of source and reference.
        hypothesis_links: Links of source and hypothesis.
    """

    source: Segment | None
    reference_links: Links
    hypothesis_links: Links


@dataclass(frozen=True)
class DroppedWord:
    """Evidence of DROP: a source word that only the reference translates.

    Attributes:
        position: Its position in the source, from 0.
        word: The word; None if the source text is not known.
    """

    position: int
    word: str | None

    def __str__(self) -> str:
        """The word and its position: for people, from 1."""
        place = str(self.position + 1)
        return place if self.word is None else f"{self.word} at {place}"


@dataclass(frozen=True)
class DROP(Metric):
    """DROP-score of hypotheses, from links of the source with the reference and the hypothesis.

    Both sets of links must come from one aligner, applied in one way: by one frozen model.

    Args:
        denominator: ``"aligned"``: the percentage is of the source words aligned with the
            reference, as the authors' script has it; ``"source"``: of all source words.
        stopwords: Source words that are neither counted nor expected; needs the sources.
        compat: ``"acl2018"`` counts an empty line of links as one aligned source word, as the
            published script does by accident; None counts it as none.
        alignment: Where the links came from, for the signature.

    Raises:
        ValueError: An unknown denominator or compatibility mode.
    """

    denominator: str = "aligned"
    stopwords: StopWords = field(default_factory=StopWords)
    compat: str | None = None
    alignment: AlignmentSettings = field(default_factory=AlignmentSettings)

    name: ClassVar[str] = "DROP"
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("dropped_words", "expected_words")
    undefined: ClassVar[str] = (
        "no source word is aligned with the reference, so nothing can have been dropped; "
        "check the links, or the model's language pair"
    )

    def __post_init__(self) -> None:
        if self.denominator not in DENOMINATORS:
            raise ValueError(f"denominator must be one of {DENOMINATORS}, not {self.denominator!r}")
        if self.compat not in {None, "acl2018"}:
            raise ValueError(f"compat must be None or 'acl2018', not {self.compat!r}")

    def signature(self) -> Signature:
        """All settings of metric and alignment."""
        return Signature.of(
            self.name,
            aligner=self.alignment.aligner,
            model=self.alignment.model,
            sym=self.alignment.symmetrize,
            denom=self.denominator,
            stop=self.stopwords,
            sink=self.alignment.sink,
            tok=self.alignment.tok,
            compat=self.compat,
        )

    def score(self, summed: Statistics) -> NDArray[np.float64]:
        """100 · dropped words / expected words, 0 to 100."""
        dropped, expected = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(expected > 0, 100.0 * dropped / expected, np.nan)

    def statistics(
        self,
        reference_links: Iterable[Links],
        hypothesis_links: Iterable[Links],
        sources: Iterable[Segment] | None = None,
    ) -> NDArray[np.int64]:
        """Dropped and expected words of each segment, ``[segments, 2]``.

        Args:
            reference_links: Links of source and reference, one collection a segment.
            hypothesis_links: Links of source and hypothesis.
            sources: The source segments; needed for stop words, a sink and all source words as
                denominator.

        Raises:
            DataError: Unequal numbers of segments, none at all, or sources needed and not given.
        """
        if sources is None:
            pairs = zip(reference_links, hypothesis_links, strict=True)
            return self.stream_statistics(AlignedSegment(None, ref, hyp) for ref, hyp in pairs)
        rows = zip(sources, reference_links, hypothesis_links, strict=True)
        return self.stream_statistics(AlignedSegment(*row) for row in rows)

    def stream_statistics(self, segments: Iterable[AlignedSegment]) -> NDArray[np.int64]:
        """Dropped and expected words of a stream of segments; otherwise as :meth:`statistics`."""
        counts = [self._count(segment) for segment in segments]
        if not counts:
            raise DataError("no segments to score")
        return np.array(counts, dtype=np.int64)

    def _count(self, segment: AlignedSegment) -> tuple[int, int]:
        source = None if segment.source is None else tokenize(segment.source)
        if source is None and (
            self.stopwords or self.alignment.sink or self.denominator == "source"
        ):
            raise DataError(
                "the source text is needed for stop words, a sink, or all source words as "
                "denominator; give it with --src"
            )
        covered = self._positions(segment.reference_links, source)
        dropped = covered - self._positions(segment.hypothesis_links, source)
        return len(dropped), self._expected(covered, source)

    def evidence(self, segment: AlignedSegment) -> list[DroppedWord]:
        """The dropped source words of one segment, in the order of the source."""
        tokens = None if segment.source is None else tokenize(segment.source)
        covered = self._positions(segment.reference_links, tokens)
        dropped = covered - self._positions(segment.hypothesis_links, tokens)
        return [
            DroppedWord(position, None if tokens is None else tokens[position])
            for position in sorted(dropped)
            if position != _EMPTY_LINE
        ]

    def _positions(self, links: Links, source: Sequence[str] | None) -> set[int]:
        """C(x): the source positions that count and are aligned to some word."""
        if not links and self.compat:
            return {_EMPTY_LINE}
        positions = {position for position, _ in links}
        if self.alignment.sink and source is not None:
            positions.discard(len(source))
        if self.stopwords and source is not None:
            positions = {p for p in positions if source[p] not in self.stopwords}
        return positions

    def _expected(self, covered: set[int], source: Sequence[str] | None) -> int:
        if self.denominator == "aligned" or source is None:
            return len(covered)
        return sum(word not in self.stopwords for word in source)
