"""What all metrics share: observe texts, count them once, and a formula over what was counted.

A metric is a frozen dataclass of settings. It *observes* rows of a test set (a metric of links has
them aligned), *counts* sufficient statistics ``[systems, segments, k]``, and has a *formula* of
their sum. Sentence scores, corpus scores, confidence intervals, paired tests and shards all use
the same three, so they cannot disagree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.batches import map_batches
from coverage_eval.data.rows import Row, make_text_rows, row_length
from coverage_eval.data.tokenizers import TOKENIZERS, Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.metrics.score import Interval, Score, Signature
from coverage_eval.metrics.significance import DEFAULT_SEED, bootstrap_interval
from fast_align_wrapper.text import Segment

Statistics = NDArray[Any]
"""Sufficient statistics, ``[segments, k]`` or summed ``[..., k]``; integers or float64."""

Observed = TypeVar("Observed")

Evidence = Mapping[str, Any]
"""What a score of one segment rests on: lists of findings, or numbers, by the name of a column."""


def setting(default: Any, help: str, **metadata: Any) -> Any:  # noqa: A002 (click's word)
    """A field of a metric that the command line offers as an option.

    Args:
        default: Its default value.
        help: The option's help.
        **metadata: ``flag`` (another name for the option), ``choices``, ``least`` and ``most``
            (of a number).
    """
    return field(default=default, metadata={"help": help, **metadata})


def plain_evidence(evidence: Evidence) -> dict[str, Any]:
    """Evidence as JSON has it: each finding by its ``to_dict``."""
    return {
        name: [item.to_dict() for item in value] if isinstance(value, list) else value
        for name, value in evidence.items()
    }


def known_score(value: float) -> float | None:
    """A result of a formula as a plain number; None where it is undefined."""
    return None if np.isnan(value) else float(value)


@dataclass(frozen=True)
class Formula(ABC):
    """Settings of a figure, its formula over summed statistics, its signature."""

    name: ClassVar[str]
    higher_is_better: ClassVar[bool]
    statistic_names: ClassVar[tuple[str, ...]]
    statistic_type: ClassVar[type[np.generic]] = np.int64
    """Of what type the statistics are: counts, or float64."""
    undefined: ClassVar[str]
    """Why the corpus score does not exist when :meth:`formula` gives NaN, and what to do."""
    limits: ClassVar[str] = ""
    """What the figure does not tell, in two sentences."""

    @abstractmethod
    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """The score of summed statistics.

        Args:
            summed: Statistics ``[..., k]``, each row a sum over segments.

        Returns:
            Scores ``[...]``; NaN where the score is undefined (an empty denominator).
        """

    def settings(self) -> Mapping[str, object]:
        """What the signature says of the settings; by default every field of the dataclass."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @property
    def signature(self) -> Signature:
        """All settings that move the score; a :class:`Score` adds what the texts add."""
        return self.sign(references=0)

    def sign(self, *, references: int) -> Signature:
        """The signature of a score.

        Args:
            references: Number of references it was computed with; 0 if it takes none.
        """
        counted = {"refs": references} if references else {}
        return Signature.of(self.name, **counted, **self.settings())

    def segment_scores(self, statistics: Statistics) -> list[float | None]:
        """One score a segment, None where it is undefined; same unit as the corpus score."""
        return list(map(known_score, self.formula(statistics)))

    def score(
        self,
        statistics: Statistics,
        *,
        references: int = 0,
        interval: Interval | None = None,
        system: str | None = None,
        segments: int | None = None,
    ) -> Score:
        """The score of a corpus from the statistics of its segments ``[segments, k]``.

        Args:
            statistics: The statistics.
            references: Number of references.
            interval: Of the score, where there is one.
            system: Whose score it is.
            segments: How many there are, where the statistics are already sums.

        Raises:
            DataError: The corpus score is undefined; the message says why.
        """
        summed = np.asarray(statistics).sum(axis=0)
        value = float(self.formula(summed))
        if np.isnan(value):
            raise DataError(f"{self.name}: {self.undefined}")
        return Score(
            metric=self.name,
            score=value,
            signature=self.sign(references=references),
            segments=len(statistics) if segments is None else segments,
            higher_is_better=self.higher_is_better,
            statistics={k: v.item() for k, v in zip(self.statistic_names, summed, strict=True)},
            interval=interval,
            system=system,
        )


@dataclass(frozen=True)
class Metric(Formula, Generic[Observed]):
    """A figure of a test set: hypotheses with references, sources, links, or some of these."""

    needs: ClassVar[frozenset[str]] = frozenset({"references"})
    """Which of ``references``, ``sources``, ``links`` and ``coverages`` it looks at."""
    evidence_name: ClassVar[str | None] = None
    """What its evidence is called, such as ``dropped``; None if it has none."""

    @abstractmethod
    def observe(self, rows: Iterable[Row]) -> Iterable[Observed]:
        """What the metric looks at, row by row, such as links of the texts; read lazily."""

    @abstractmethod
    def count(self, observed: Iterable[Observed], *, jobs: int = 1) -> Statistics:
        """Statistics ``[systems, segments, k]`` of what was observed.

        Args:
            observed: What :meth:`observe` gave; never held in memory as a whole.
            jobs: Number of processes; the result does not depend on it.

        Raises:
            DataError: There is no segment.
        """

    def count_part(
        self, observed: Iterable[Observed], systems: int, *, jobs: int = 1
    ) -> Statistics:
        """As :meth:`count`, of a part of a test set, which may have no segment.

        Args:
            observed: What :meth:`observe` gave.
            systems: Number of hypotheses of each row.
            jobs: As in :meth:`count`.
        """
        stream = iter(observed)
        first = next(stream, None)
        if first is None:
            return np.zeros((systems, 0, len(self.statistic_names)), self.statistic_type)
        return self.count(chain([first], stream), jobs=jobs)

    def explain(self, observed: Iterable[Observed]) -> Iterator[tuple[Evidence, ...]]:
        """Evidence of each row, one mapping a hypothesis; by default there is none."""
        for row in observed:
            yield tuple({} for _ in row.hypotheses)  # type: ignore[attr-defined]

    def objection(self, rows: Sequence[Row]) -> str | None:  # noqa: ARG002 (for subclasses)
        """Why the metric does not fit such texts, as of another language; by default it fits all.

        Args:
            rows: Segments of the test set, some of them or all.
        """
        return None

    def corpus_score(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        jobs: int = 1,
        resamples: int = 0,
        seed: int = DEFAULT_SEED,
    ) -> Score:
        """Score a corpus.

        Args:
            hypotheses: The system's segments, strings or lists of tokens.
            references: The reference's segments, or a list of several references.
            sources: The source's segments, where the metric needs them.
            jobs: Number of processes; the result does not depend on it.
            resamples: Bootstrap resamples of a 95 % interval; 0 for no interval.
            seed: Their seed.

        Raises:
            DataError: Unequal numbers of segments, none at all, or an undefined score.
            TypeError: A single string where a list of segments is meant.
        """
        rows = self._rows(hypotheses, references, sources)
        (statistics,) = self.count(self.observe(rows), jobs=jobs)
        interval = None
        if resamples:
            interval = bootstrap_interval(self, statistics, resamples=resamples, seed=seed)
        return self.score(statistics, references=len(rows[0].references), interval=interval)

    def statistics(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        jobs: int = 1,
    ) -> Statistics:
        """Sufficient statistics ``[segments, k]`` of a corpus, which add up over its parts.

        :meth:`score` makes a score of them, and
        :func:`coverage_eval.metrics.significance.paired_test` tests differences by them. Arguments
        and errors are those of :meth:`corpus_score`.
        """
        rows = self._rows(hypotheses, references, sources)
        return np.asarray(self.count(self.observe(rows), jobs=jobs)[0])

    def sentence_scores(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        jobs: int = 1,
    ) -> list[float | None]:
        """The score of each segment, None where it is undefined; as :meth:`corpus_score`."""
        return self.segment_scores(self.statistics(hypotheses, references, sources, jobs=jobs))

    def sentence_score(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> Score:
        """Score one segment, as a corpus of that segment.

        Args:
            hypothesis: A string or a list of tokens.
            reference: A segment like it, or a list of several references.
            source: The source segment, where the metric needs it.
        """
        return self.corpus_score(*one_segment(hypothesis, reference, source))

    def evidence(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> list[Any]:
        """What the score of one segment rests on, such as repeated n-grams or dropped words."""
        rows = self._rows(*one_segment(hypothesis, reference, source))
        ((found,),) = self.explain(self.observe(rows))
        items: list[Any] = found[self.evidence_name] if self.evidence_name else []
        return items

    def check_needs(self, references: object, sources: object) -> None:
        """Raise :class:`TypeError` if texts that the metric needs are None."""
        for name, texts in (("references", references), ("sources", sources)):
            if texts is None and name in self.needs:
                raise TypeError(f"{self.name} needs {name}")

    def _rows(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None,
        sources: Sequence[Segment] | None,
    ) -> list[Row]:
        self.check_needs(references, sources)
        return make_text_rows(hypotheses, references, sources)


def one_segment(
    hypothesis: Segment, reference: Any, source: Segment | None
) -> tuple[list[Segment], Any, list[Segment] | None]:
    """A segment's texts as a corpus of one; the reference may be a list of several."""
    if isinstance(reference, Iterator):  # which can be looked at only once
        reference = list(reference)
    several = isinstance(hypothesis, str) and not isinstance(reference, (str, type(None)))
    if not isinstance(hypothesis, str) and reference is not None and not isinstance(reference, str):
        several = any(not isinstance(item, str) for item in reference)
    if reference is not None:
        reference = [[one] for one in reference] if several else [reference]
    return [hypothesis], reference, None if source is None else [source]


@dataclass(frozen=True)
class TextMetric(Metric[Row]):
    """A metric of texts alone, counted batch by batch."""

    batch_segments: ClassVar[int] = 4096

    def observe(self, rows: Iterable[Row]) -> Iterable[Row]:
        """The rows themselves."""
        return rows

    @abstractmethod
    def count_batch(self, rows: Sequence[Row]) -> Statistics:
        """Statistics ``[len(rows), systems, k]`` of some rows."""

    def count(self, observed: Iterable[Row], *, jobs: int = 1) -> Statistics:
        """Statistics ``[systems, segments, k]``; see :meth:`Metric.count`."""
        batches = map_batches(
            self.count_batch, observed, weigh=row_length, jobs=jobs, size=self.batch_segments
        )
        blocks = list(batches)
        if not blocks:
            raise DataError("no segments to score")
        return np.concatenate(blocks).swapaxes(0, 1)


@dataclass(frozen=True, kw_only=True)
class TokenMetric(TextMetric):
    """A metric of tokens, which holds its tokeniser and applies it.

    Args:
        tokenize: The tokeniser's name.
        lowercase: Whether segments are lowercased first.
    """

    tokenize: str = setting(
        "none", "Apply one of sacreBLEU's tokenisers to every side.", choices=TOKENIZERS
    )
    lowercase: bool = setting(False, "Lowercase every side.")

    def __post_init__(self) -> None:
        _ = self.tokens  # an unknown tokeniser is refused before any text is read

    @cached_property
    def tokens(self) -> Tokenizer:
        """The tokeniser: from a segment to its tokens."""
        return Tokenizer(self.tokenize, self.lowercase)

    def settings(self) -> Mapping[str, object]:
        """All fields, those of the tokeniser last."""
        own = {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if item.name not in {"tokenize", "lowercase"}
        }
        return own | self.tokens.settings
