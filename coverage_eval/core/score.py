"""A score, with its signature and its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from coverage_eval.core.report import ScoreCell
from coverage_eval.version import __version__

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Signature:
    """Every setting that affects a score, in a fixed order.

    Attributes:
        metric: The metric's name, such as ``REP``.
        settings: Pairs of name and value; the version comes last.
    """

    metric: str
    settings: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join([self.metric, *(f"{name}:{value}" for name, value in self.settings)])

    @classmethod
    def of(cls, metric: str, **settings: object) -> Signature:
        """Build a signature from settings; the package's version is added at the end.

        >>> str(Signature.of("M", n=2, weight=1.0, stop=None, lower=True)).rpartition("|")[0]
        'M|n:2|weight:1.0|stop:none|lower:yes'
        """
        pairs = []
        for name, value in settings.items():
            if isinstance(value, bool):
                pairs.append((name, "yes" if value else "no"))
            else:
                pairs.append((name, "none" if value is None else str(value)))
        return cls(metric, (*pairs, ("version", __version__)))

    def with_settings(self, more: Mapping[str, str]) -> Signature:
        """The signature with more settings before the version, such as how outputs were cut."""
        *others, version = self.settings
        return Signature(self.metric, (*others, *more.items(), version))


@dataclass(frozen=True)
class Interval:
    """A bootstrap confidence interval of a corpus score.

    Attributes:
        low: Lower end, in the score's unit.
        high: Upper end, in the score's unit.
        level: Confidence level, such as 0.95.
        resamples: Number of bootstrap resamples.
        seed: Seed of the random numbers.
        method: ``"percentile"``, or ``"percentile, one more error"``, whose upper end allows for
            errors that the sample has not (:func:`coverage_eval.core.significance.sample_scores`).
    """

    low: float
    high: float
    level: float
    resamples: int
    seed: int
    method: str


def interval_ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """The lower and upper end of an interval; both None if there is no interval."""
    return (interval.low, interval.high) if interval else (None, None)


@dataclass(frozen=True, repr=False)
class Score:
    """A corpus score with everything needed to report it.

    >>> import coverage_eval as ce
    >>> score = ce.rep(["a red red house"], ["a red house"])
    >>> float(score), score.signature.metric, score.segments
    (66.66666666666667, 'REP', 1)

    Attributes:
        metric: The metric's name.
        score: The score, in the metric's unit.
        signature: Every setting that affected the score.
        segments: Number of segments, empty ones included.
        higher_is_better: Whether a higher score is better; None if neither direction is.
        statistics: The summed sufficient statistics by name.
        interval: Confidence interval, if one was asked for.
        system: Name of the scored system or file, if it has one.
        segment_scores: A function that gives the score of each segment, None for an undefined one;
            None if they are unknown.
    """

    metric: str
    score: float
    signature: Signature
    segments: int
    higher_is_better: bool | None
    statistics: dict[str, float] = field(default_factory=dict)
    interval: Interval | None = None
    system: str | None = None
    segment_scores: Callable[[], Sequence[float | None]] | None = field(
        default=None, repr=False, compare=False
    )

    def __float__(self) -> float:
        return self.score

    def __str__(self) -> str:
        """The score as one line, such as ``REP|n:2|… = 3.37 [2.90, 3.81]``."""
        return f"{self.signature} = {ScoreCell(self.score, *interval_ends(self.interval)).format()}"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        """The number in a format such as ``.2f``; without one, the line."""
        return format(self.score, spec) if spec else str(self)

    def to_dict(self) -> dict[str, Any]:
        """The score as plain values, with the same keys in every JSON output."""
        return {
            "metric": self.metric,
            "system": self.system,
            "score": self.score,
            "signature": str(self.signature),
            "segments": self.segments,
            "higher_is_better": self.higher_is_better,
            "statistics": self.statistics,
            "confidence": None if self.interval is None else asdict(self.interval),
        }

    def to_frame(self, what: str = "corpus") -> pd.DataFrame:
        """The score as a data frame.

        Args:
            what: ``"corpus"`` for one row; ``"segments"`` for one row per segment, numbered from 1,
                with NaN for undefined scores.

        Raises:
            ValueError: ``what`` is neither, or the scores of segments are unknown.
        """
        import pandas as pd

        if what == "segments":
            if self.segment_scores is None:
                raise ValueError("computed from sums, so there are no scores of segments")
            scores = np.array(self.segment_scores(), dtype=np.float64)  # NaN for None
            return pd.DataFrame({"segment": np.arange(1, len(scores) + 1), "score": scores})
        if what != "corpus":
            raise ValueError(f"what is 'corpus' or 'segments', not {what!r}")
        low, high = interval_ends(self.interval)
        columns = ["system", "metric", "score", "low", "high", "segments", "signature"]
        return pd.DataFrame([self.to_dict() | {"low": low, "high": high}], columns=columns)
