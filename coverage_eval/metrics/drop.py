"""DROP-score: source words that the reference translates and the hypothesis does not.

Malaviya, Ferreira and Martins (ACL 2018), section 5: with C(x) the source positions aligned to some
word of x, the percentage of source words in C(reference) that are not in C(hypothesis); for a
corpus, sum over sum. What the percentage is of is a setting (``denominator``), because the paper's
text and its published script allow two readings. Of several references, only what all of them
translate is expected: C(reference) is the intersection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligned_rows import AlignedRow
from coverage_eval.data.rows import Row
from coverage_eval.errors import DataError
from coverage_eval.metrics.aligned import AlignedMetric
from coverage_eval.metrics.base import Evidence, Statistics, setting
from coverage_eval.metrics.sums import ratio_of_sums
from fast_align_wrapper.links import Links

DENOMINATORS = ("aligned", "source")
DEFAULT_DENOMINATOR = "aligned"

_EMPTY_LINE = -1
"""The position that an empty line of links stands for in the published script."""


@dataclass(frozen=True)
class DroppedWord:
    """Evidence of DROP: a source word that only the reference translates.

    Attributes:
        position: Its position in the source, from 0.
        word: The word; None if the source text is not known.
    """

    position: int
    word: str | None

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values; the position from 0."""
        return asdict(self)

    def __str__(self) -> str:
        place = self.position + 1
        return str(place) if self.word is None else f"{self.word} at {place}"


@dataclass(frozen=True)
class DROP(AlignedMetric[AlignedRow]):
    """DROP-score of hypotheses, by the links of one aligner.

    >>> from coverage_eval import Aligner
    >>> aligner = Aligner.from_links([[(0, 0), (1, 1)]], [[(0, 0)]])
    >>> metric = DROP(aligner)
    >>> float(metric.sentence_score("a", "a house", "ein haus"))
    50.0
    >>> print(*metric.evidence("a", "a house", "ein haus"))
    haus at 2

    Args:
        aligner: What links the source with reference and hypothesis.
        stopwords: Source words that are neither counted nor expected.
        denominator: ``"aligned"``: the percentage is of the source words aligned with the
            reference, as the authors' script has it; ``"source"``: of all source words.
        compat: ``"acl2018"`` reads files of links and counts an empty line of links as one aligned
            source word, as the published script does by accident; None counts it as none.

    Raises:
        ValueError: An unknown denominator or compatibility mode.
    """

    denominator: str = DEFAULT_DENOMINATOR
    compat: str | None = setting(
        None,
        "Treat lines of links as the paper's published script does.",
        choices=("acl2018",),
    )

    name: ClassVar[str] = "DROP"
    needs: ClassVar[frozenset[str]] = frozenset({"references", "links"})
    evidence_name: ClassVar[str | None] = "dropped"
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("dropped_words", "expected_words")
    undefined: ClassVar[str] = (
        "no source word is aligned with the reference, so nothing can have been dropped; "
        "check the links, or the model's language pair"
    )
    limits: ClassVar[str] = (
        "DROP rests on word links: a paraphrase that the aligner does not know looks like an "
        "omission, and a wrong link hides one. Only scores whose signatures name the same model "
        "and settings can be compared."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.denominator not in DENOMINATORS:
            raise ValueError(f"denominator must be one of {DENOMINATORS}, not {self.denominator!r}")
        if self.compat not in {None, "acl2018"}:
            raise ValueError(f"compat must be None or 'acl2018', not {self.compat!r}")

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings, then the metric's."""
        own = {"denom": self.denominator, "stop": self.stopwords, "compat": self.compat}
        return {**self.aligner.settings, **own}

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """100 · dropped words / expected words, 0 to 100."""
        return ratio_of_sums(summed)

    def observe(self, rows: Iterable[Row]) -> Iterator[AlignedRow]:
        """The rows' links."""
        return self.aligner.align(rows, compat=self.compat)

    def count_row(self, row: AlignedRow) -> list[tuple[float, float]]:
        """Dropped and expected words of each hypothesis.

        Raises:
            DataError: The source is needed and not known.
        """
        if row.source is None and (self.stopwords or self.denominator == "source"):
            raise DataError(
                "the source text is needed for stop words, or all source words as denominator; "
                "give it with --src"
            )
        covered = self.expected(row)
        total = len(covered)
        if self.denominator == "source" and row.source is not None:
            total = sum(word not in self.stopwords for word in row.source)
        return [
            (len(covered - self._positions(links, row.source)), total) for links in row.hypotheses
        ]

    def explain(self, observed: Iterable[AlignedRow]) -> Iterator[tuple[Evidence, ...]]:
        """The dropped source words of each segment, in the order of the source."""
        for row in observed:
            covered = self.expected(row)
            yield tuple(
                {"dropped": self._words(covered - self._positions(links, row.source), row.source)}
                for links in row.hypotheses
            )

    def expected(self, row: AlignedRow) -> set[int]:
        """C(reference): the source positions that count and that all references translate."""
        return reduce(set.intersection, (self._positions(r, row.source) for r in row.references))

    def _positions(self, links: Links, source: Sequence[str] | None) -> set[int]:
        """C(x): the source positions that count and are aligned to some word."""
        if not links and self.compat:
            return {_EMPTY_LINE}
        positions = {position for position, _ in links}
        if self.stopwords and source is not None:
            positions = {p for p in positions if source[p] not in self.stopwords}
        return positions

    @staticmethod
    def _words(positions: set[int], source: Sequence[str] | None) -> list[DroppedWord]:
        return [
            DroppedWord(position, None if source is None else source[position])
            for position in sorted(positions - {_EMPTY_LINE})
        ]
