"""A score with all that is needed to report it: signature, size, direction, interval."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from coverage_eval.version import __version__

if TYPE_CHECKING:
    import pandas as pd


def _format_setting(value: object) -> str:
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
        pairs = [(name, _format_setting(value)) for name, value in settings.items()]
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


def interval_ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Lower and upper end of an interval; None for both where there is none."""
    return (interval.low, interval.high) if interval else (None, None)


@dataclass(frozen=True)
class Score:
    """A corpus score with all that is needed to report it.

    >>> import coverage_eval as ce
    >>> score = ce.rep(["a red red house"], ["a red house"])
    >>> float(score), score.signature.metric, score.segments
    (66.66666666666667, 'REP', 1)

    Attributes:
        metric: The metric's name.
        score: The score, in the metric's unit.
        signature: All that moved the score.
        segments: Number of segments, empty ones included.
        higher_is_better: The metric's better direction.
        statistics: The summed sufficient statistics by name.
        interval: Confidence interval, if one was asked for.
        system: Name of the system or file that was scored, if there is one.
    """

    metric: str
    score: float
    signature: Signature
    segments: int
    higher_is_better: bool
    statistics: dict[str, float] = field(default_factory=dict)
    interval: Interval | None = None
    system: str | None = None

    def __float__(self) -> float:
        return self.score

    def format(self, width: int = 2, *, score_only: bool = False) -> str:
        """The score as one line, such as ``REP|n:2|… = 3.37 [2.90, 3.81]``.

        Args:
            width: Digits after the decimal point.
            score_only: Leave the signature out.
        """
        text = f"{self.score:.{width}f}"
        if self.interval is not None:
            text += f" [{self.interval.low:.{width}f}, {self.interval.high:.{width}f}]"
        return text if score_only else f"{self.signature} = {text}"

    def __str__(self) -> str:
        return self.format()

    def __format__(self, spec: str) -> str:
        """The number in a format such as ``.2f``; without one, as :meth:`format`."""
        return format(self.score, spec) if spec else str(self)

    def to_dict(self) -> dict[str, Any]:
        """The score as plain values: the one JSON schema for one or many systems."""
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

    def to_frame(self) -> pd.DataFrame:
        """The score as a data frame of one row."""
        import pandas as pd

        low, high = interval_ends(self.interval)
        row = {
            "system": self.system,
            "metric": self.metric,
            "score": self.score,
            "low": low,
            "high": high,
            "segments": self.segments,
            "signature": str(self.signature),
        }
        return pd.DataFrame([row])

    def _repr_html_(self) -> str:
        arrow = "higher is better" if self.higher_is_better else "lower is better"
        value, _, interval = self.format(score_only=True).partition(" ")
        return (
            f"<div><b>{html.escape(self.metric)}</b> {value} {interval} "
            f"<small>({arrow}; {self.segments:,} segments)<br>"
            f"<code>{html.escape(str(self.signature))}</code></small></div>"
        )
