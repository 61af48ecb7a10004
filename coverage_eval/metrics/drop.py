"""DROP-score: source words that the reference translates and the hypothesis does not.

Malaviya, Ferreira and Martins (ACL 2018), section 5: with C(x) the source positions aligned to some
word of x, the percentage of source words in C(reference) that are not in C(hypothesis); for a
corpus, sum over sum. The denominator is a setting, because the paper's text and its published
script differ. With several references, C(reference) is the intersection: only the words that all of
them translate are expected. Soft DROP does the same with probabilities.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, reduce
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import AlignedRow, Aligner, CoveredRow, check_aligner
from coverage_eval.data.dataset import Batch, Request
from coverage_eval.data.files import CorpusWarning, Source, read_segments, source_name
from coverage_eval.errors import DataError
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.score import Evidence, Statistics, ratio_of_sums, setting
from fast_align_wrapper.links import Links
from fast_align_wrapper.text import tokenize

Floats = NDArray[np.float64]

DENOMINATORS = ("aligned", "source")
DEFAULT_DENOMINATOR = "aligned"

_EMPTY_LINE = -1
"""The source position that an empty line of links gives in the published script."""


@dataclass(frozen=True)
class StopWords:
    """A set of words, named in signatures by its size and hash; compared as written.

    >>> words = StopWords.of(["the", "a"])
    >>> "the" in words, "The" in words
    (True, False)

    Attributes:
        words: The words.

    Raises:
        TypeError: A single string, whose letters would be the words.
    """

    words: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if isinstance(self.words, str):
            raise TypeError("stop words are a list of words, not a single string; split it first")
        object.__setattr__(self, "words", frozenset(self.words))

    @classmethod
    def read(cls, path: Source) -> StopWords:
        """Read one word per line; surrounding white space and empty lines are ignored.

        Raises:
            DataError: As :func:`coverage_eval.data.files.read_segments`; a line has several words.

        Warns:
            CorpusWarning: There are no words.
        """
        words = cls.of(_one_per_line(path))
        if not words:
            message = f"{source_name(path)}: no stop words: the file is empty"
            warnings.warn(message, CorpusWarning, stacklevel=2)
        return words

    @classmethod
    def of(cls, words: Iterable[str]) -> StopWords:
        """The words as a set, without white space around them."""
        if isinstance(words, str):
            return cls(words)  # type: ignore[arg-type]  # which says what is wrong
        return cls(frozenset(word.strip(" \t") for word in words) - {""})

    @cached_property
    def _digest(self) -> str:
        return sha256("\n".join(sorted(self.words)).encode()).hexdigest()[:8]

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __bool__(self) -> bool:
        return bool(self.words)

    def __str__(self) -> str:
        return f"{len(self.words)}-{self._digest}" if self.words else "none"


def _one_per_line(path: Source) -> Iterator[str]:
    for number, line in enumerate(read_segments(path), start=1):
        if len(tokenize(line)) > 1:
            raise DataError(
                f"{source_name(path)}: line {number}: a list of stop words has one word per line"
            )
        yield line


@dataclass(frozen=True)
class AlignedMetric(Metric):
    """A metric of the links between source, reference and hypothesis.

    Args:
        aligner: What makes the links or coverages, and signs them.
        stopwords: Source words that are neither counted nor expected.

    Raises:
        TypeError: ``aligner`` is not an :class:`~coverage_eval.Aligner`, or ``stopwords`` not a
            :class:`~coverage_eval.StopWords`.

    Warns:
        CorpusWarning: The source is lowercased, and some stop words are not.
    """

    aligner: Aligner
    stopwords: StopWords = field(default_factory=StopWords)

    def __post_init__(self) -> None:
        check_aligner(self.aligner)
        # A string's letters, or a set's order, would be signed without an error.
        if not isinstance(self.stopwords, StopWords):
            raise TypeError(
                "stopwords must come from StopWords.of(words) or StopWords.read(file), not "
                f"{self.stopwords!r:.40}"
            )
        cased = sorted(word for word in self.stopwords.words if word != word.lower())
        if cased and self.aligner.source_tokens.lowercase:
            warnings.warn(
                f"stop words are compared as written, and the source is lowercased: "
                f"{cased[0]!r} is never found ({len(cased)} such stop words)",
                CorpusWarning,
                stacklevel=3,
            )

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings, then the metric's fields, with the stop words last."""
        names = [item.name for item in fields(self) if item.name not in {"aligner", "stopwords"}]
        own = {name: getattr(self, name) for name in names}
        return {**self.aligner.settings, **own, "stop": self.stopwords}

    def for_systems(self, systems: Sequence[str]) -> AlignedMetric:
        """The metric with links in the order of the systems."""
        return replace(self, aligner=self.aligner.for_systems(systems))


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
class DROP(AlignedMetric):
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
        denominator: ``"aligned"`` for a percentage of the source words aligned with the reference,
            as in the authors' script; ``"source"`` for a percentage of all source words.
        compat: ``"acl2018"`` reads files of links and counts an empty line of links as one aligned
            source word, as the published script does by accident; None counts no word.

    Raises:
        ValueError: An unknown denominator or compatibility mode.
    """

    denominator: str = DEFAULT_DENOMINATOR
    compat: str | None = setting(
        None,
        "Treat blank lines of links as the paper's published script does.",
        flag="--paper",
        old=("--compat",),
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

    def requests(self) -> Sequence[Request]:
        """The links between source, references and hypotheses."""
        return (self.aligner.links(compat=self.compat),)

    def count(self, batch: Batch) -> Statistics:
        """Dropped and expected words of each segment ``[systems, segments, 2]``.

        Raises:
            DataError: The source is needed and not known.
        """
        counts = [self._count_row(row) for row in batch.get(*self.requests())]
        return np.array(counts, dtype=np.int64).swapaxes(0, 1)

    def _count_row(self, row: AlignedRow) -> list[tuple[int, int]]:
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

    def explain(self, batch: Batch) -> Iterator[tuple[Evidence, ...]]:
        """The dropped source words of each segment, in the order of the source."""
        for row in batch.get(*self.requests()):
            covered = self.expected(row)
            yield tuple(
                {"dropped": self._words(covered - self._positions(links, row.source), row.source)}
                for links in row.hypotheses
            )

    def expected(self, row: AlignedRow) -> set[int]:
        """C(reference): positions of source words that count and that all references translate."""
        return reduce(set.intersection, (self._positions(r, row.source) for r in row.references))

    def _positions(self, links: Links, source: Sequence[str] | None) -> set[int]:
        """C(x): positions of source words that count and are aligned to some word."""
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


@dataclass(frozen=True)
class LostCoverage:
    """Evidence of soft DROP: a source word that the hypothesis covers less than the reference.

    Attributes:
        position: Its position in the source, from 0.
        word: The word.
        reference: Its coverage by the reference, 0 to 1; the smallest of several.
        hypothesis: Its coverage by the hypothesis, 0 to 1.
    """

    position: int
    word: str
    reference: float
    hypothesis: float

    @property
    def lost(self) -> float:
        """The coverage lost, above 0."""
        return self.reference - self.hypothesis

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values; the position from 0."""
        return asdict(self) | {"loss": self.lost}

    def __str__(self) -> str:
        return f"{self.word} at {self.position + 1}: {self.reference:.2f} to {self.hypothesis:.2f}"


@dataclass(frozen=True)
class SoftDROP(AlignedMetric):
    """Soft DROP: how much coverage of the source a hypothesis loses against the reference.

    DROP asks whether a source word is linked at all; soft DROP asks how much. The coverage of
    source word i by a text is cov_i = min(1, Σ_j p(a_j = i)), the posteriors of the frozen forward
    alignment model summed over the text's words, and

        soft DROP = 100 · Σ_i max(0, cov_i(reference) − cov_i(hypothesis)) / Σ_i cov_i(reference),

    for a corpus, sum over sum. With several references, the smallest coverage is expected. This is
    the project's own metric; the papers have only the hard form.

    >>> from coverage_eval import Aligner
    >>> pairs = ["ein haus", "das haus", "ein hund"] * 20, ["a house", "the house", "a dog"] * 20
    >>> with Aligner.train(*pairs) as aligner:
    ...     worst, *_ = SoftDROP(aligner).evidence("a", "a house", "ein haus")
    >>> print(worst)
    haus at 2: 0.93 to 0.00

    Args:
        aligner: The aligner; it must have a model or soft links.
        stopwords: Source words that are neither counted nor expected.
    """

    name: ClassVar[str] = "SoftDROP"
    needs: ClassVar[frozenset[str]] = frozenset({"references", "sources", "coverages"})
    evidence_name: ClassVar[str | None] = "lost"
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("lost_coverage", "expected_coverage")
    statistic_type: ClassVar[type[np.generic]] = np.float64
    undefined: ClassVar[str] = (
        "the reference covers no source word at all, so no coverage can have been lost; "
        "check the files, or the model's language pair"
    )
    limits: ClassVar[str] = (
        "Soft DROP rests on a model's probabilities: what the model does not know looks half "
        "lost, even in a good translation. It shows how much coverage is lost, not that a "
        "certain word is."
    )

    def settings(self) -> Mapping[str, object]:
        """The aligner's settings without the symmetrisation, then the metric's."""
        aligner = {k: v for k, v in self.aligner.settings.items() if k != "sym"}
        return {**aligner, "dir": "forward", "stop": self.stopwords}

    def formula(self, summed: Statistics) -> Floats:
        """100 · lost coverage / expected coverage, 0 to 100."""
        lost, expected = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            # In this order, rounding never gives more than 100.
            return np.where(expected > 0, 100.0 * (lost / expected), np.nan)

    def requests(self) -> Sequence[Request]:
        """Coverages of the source by references and hypotheses."""
        return (self.aligner.coverages(),)

    def count(self, batch: Batch) -> Statistics:
        """Lost and expected coverage of each segment ``[systems, segments, 2]``."""
        return np.array(list(map(self._count_row, batch.get(*self.requests())))).swapaxes(0, 1)

    def _count_row(self, row: CoveredRow) -> list[tuple[float, float]]:
        counted = np.array([word not in self.stopwords for word in row.source], dtype=bool)
        expected = np.minimum.reduce(row.references)[counted]
        return [
            (float(np.maximum(0.0, expected - covered[counted]).sum()), float(expected.sum()))
            for covered in row.hypotheses
        ]

    def explain(self, batch: Batch) -> Iterator[tuple[Evidence, ...]]:
        """The source words of each segment that lose coverage, greatest loss first."""
        for row in batch.get(*self.requests()):
            expected = np.minimum.reduce(row.references)
            yield tuple({"lost": self._words(row, expected, item)} for item in row.hypotheses)

    def _words(self, row: CoveredRow, expected: Floats, covered: Floats) -> list[LostCoverage]:
        words = [
            LostCoverage(position, word, float(expected[position]), float(covered[position]))
            for position, word in enumerate(row.source)
            if expected[position] > covered[position] and word not in self.stopwords
        ]
        return sorted(words, key=lambda item: (-item.lost, item.position))
