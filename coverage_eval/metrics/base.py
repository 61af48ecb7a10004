"""What all metrics share: scores that carry a signature, and statistics that are counted once.

A metric is a frozen dataclass of settings. Counting gives an array ``[segments, k]`` of sufficient
statistics; :meth:`Metric.score` is a function of their sum. Sentence scores, corpus scores,
confidence intervals, paired tests and shards all use these two, so they cannot disagree.
"""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError
from coverage_eval.text.batches import map_batches
from coverage_eval.text.corpus import Segment
from coverage_eval.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Interval", "Metric", "Score", "Signature", "TextMetric", "format_number"]

Statistics = NDArray[Any]
"""Sufficient statistics, ``[segments, k]`` or summed ``[..., k]``; integers or float64."""


def format_number(value: object) -> str:
    """A setting's value as it stands in a signature: ``2``, ``1.0``, ``none``, ``yes``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


@dataclass(frozen=True)
class Signature:
    """All that moves a score, in a fixed order.

    Attributes:
        metric: The metric's name, as ``REP``.
        settings: Pairs of name and value; the version comes last.
    """

    metric: str
    settings: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join([self.metric, *(f"{name}:{value}" for name, value in self.settings)])

    @classmethod
    def of(cls, metric: str, **settings: object) -> Signature:
        """Build a signature from settings; the package's version is added at the end."""
        pairs = [(name, format_number(value)) for name, value in settings.items()]
        return cls(metric, (*pairs, ("version", __version__)))


@dataclass(frozen=True)
class Interval:
    """A bootstrap confidence interval of a corpus score.

    Attributes:
        low: Lower end, in the score's unit.
        high: Upper end, in the score's unit.
        level: Confidence level, as 0.95.
        resamples: Number of bootstrap resamples.
        seed: Seed of the random numbers.
    """

    low: float
    high: float
    level: float
    resamples: int
    seed: int


@dataclass(frozen=True)
class Score:
    """A corpus score with all that is needed to report it.

    Attributes:
        metric: The metric's name.
        value: The score, in the metric's unit.
        signature: All that moved the score.
        segments: Number of segments, empty ones included.
        higher_is_better: The metric's better direction.
        statistics: The summed sufficient statistics by name.
        interval: Confidence interval, if one was asked for.
        system: Name of the system or file that was scored, if there is one.
    """

    metric: str
    value: float
    signature: Signature
    segments: int
    higher_is_better: bool
    statistics: dict[str, float] = field(default_factory=dict)
    interval: Interval | None = None
    system: str | None = None

    def format(self, width: int = 2, *, score_only: bool = False) -> str:
        """The score as one line, such as ``REP|n:2|… = 3.37 [2.90, 3.81]``.

        Args:
            width: Digits after the decimal point.
            score_only: Leave the signature out.
        """
        text = f"{self.value:.{width}f}"
        if self.interval is not None:
            text += f" [{self.interval.low:.{width}f}, {self.interval.high:.{width}f}]"
        return text if score_only else f"{self.signature} = {text}"

    def __str__(self) -> str:
        return self.format()

    def _repr_html_(self) -> str:
        arrow = "higher is better" if self.higher_is_better else "lower is better"
        value, _, interval = self.format(score_only=True).partition(" ")
        return (
            f"<div><b>{html.escape(self.metric)}</b> {value} {interval} "
            f"<small>({arrow}; {self.segments:,} segments)<br>"
            f"<code>{html.escape(str(self.signature))}</code></small></div>"
        )


@dataclass(frozen=True)
class Metric(ABC):
    """Settings of a metric, its formula over summed statistics, its signature."""

    name: ClassVar[str]
    higher_is_better: ClassVar[bool]
    statistic_names: ClassVar[tuple[str, ...]]
    undefined: ClassVar[str]
    """Why the corpus score does not exist when :meth:`score` gives NaN, and what to do."""

    @abstractmethod
    def score(self, summed: Statistics) -> NDArray[np.float64]:
        """The score of summed statistics.

        Args:
            summed: Statistics ``[..., k]``, each row a sum over segments.

        Returns:
            Scores ``[...]``; NaN where the score is undefined (an empty denominator).
        """

    def signature(self) -> Signature:
        """All that moves the score; by default every field of the dataclass."""
        settings = {item.name: getattr(self, item.name) for item in fields(self)}
        return Signature.of(self.name, **settings)

    def sentence_scores(self, statistics: Statistics) -> list[float | None]:
        """One score a segment, None where it is undefined; same unit as the corpus score."""
        return [None if np.isnan(value) else float(value) for value in self.score(statistics)]

    def corpus_score(
        self,
        statistics: Statistics,
        *,
        interval: Interval | None = None,
        system: str | None = None,
    ) -> Score:
        """The score of a corpus from the statistics of its segments ``[segments, k]``.

        Raises:
            DataError: The corpus score is undefined; the message says why.
        """
        summed = np.asarray(statistics).sum(axis=0)
        value = float(self.score(summed))
        if np.isnan(value):
            raise DataError(f"{self.name}: {self.undefined}")
        return Score(
            metric=self.name,
            value=value,
            signature=self.signature(),
            segments=len(statistics),
            higher_is_better=self.higher_is_better,
            statistics={k: v.item() for k, v in zip(self.statistic_names, summed, strict=True)},
            interval=interval,
            system=system,
        )


@dataclass(frozen=True)
class TextMetric(Metric):
    """A metric of texts that belong together line by line, such as hypothesis and reference."""

    columns: ClassVar[tuple[str, ...]] = ("hypotheses", "references")

    @abstractmethod
    def batch_statistics(self, rows: Sequence[tuple[Segment, ...]]) -> Statistics:
        """Statistics ``[len(rows), k]`` of some segments, each row with one text a column."""

    def statistics(self, *columns: Iterable[Segment], jobs: int = 1) -> Statistics:
        """Statistics ``[segments, k]`` of whole texts.

        Args:
            columns: One iterable of segments (strings or token lists) a column of the metric.
            jobs: Number of processes; the result does not depend on it.

        Raises:
            DataError: Unequal numbers of segments, or none at all.
            TypeError: A single string where a list of segments is meant.
        """
        if len(columns) != len(self.columns) or any(isinstance(c, str) for c in columns):
            wanted = " and ".join(self.columns)
            raise TypeError(f"{self.name} takes {wanted}, each a list of segments")
        return self.stream_statistics(_strict_rows(self.columns, columns), jobs=jobs)

    def stream_statistics(
        self, rows: Iterable[tuple[Segment, ...]], *, jobs: int = 1
    ) -> Statistics:
        """Statistics of a stream of rows, as ``read_parallel`` gives it.

        The text is not kept, so memory does not grow with it.
        """
        return np.concatenate(list(map_batches(self.batch_statistics, rows, jobs=jobs)))


def _strict_rows(
    names: Sequence[str], columns: Sequence[Iterable[Segment]]
) -> Iterator[tuple[Segment, ...]]:
    lists = [list(column) for column in columns]
    if len({len(items) for items in lists}) > 1:
        counts = ", ".join(f"{len(c)} {name}" for name, c in zip(names, lists, strict=True))
        raise DataError(f"unequal numbers of segments: {counts}")
    if not lists[0]:
        raise DataError("no segments to score")
    return zip(*lists, strict=True)
