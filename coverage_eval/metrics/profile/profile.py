"""All figures of one output in one pass over its segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coverage_eval.alignment.aligner import Aligner, check_aligner
from coverage_eval.data.batches import map_batches
from coverage_eval.data.rows import Row, make_text_rows, row_length
from coverage_eval.data.spool import Spool
from coverage_eval.metrics.aligned import AlignedMetric
from coverage_eval.metrics.base import Metric, Statistics
from coverage_eval.metrics.drop import DEFAULT_DENOMINATOR
from coverage_eval.metrics.profile.figures import FIGURES, Figure, select_figures
from coverage_eval.metrics.score import Score, interval_ends
from coverage_eval.metrics.significance import DEFAULT_SEED, bootstrap_interval
from coverage_eval.metrics.stopwords import StopWords
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    import pandas as pd


ROW = ("figure", "score", "low", "high", "better", "meaning")
"""What a row of a table of figures has."""


@dataclass(frozen=True)
class ProfiledFigure:
    """A figure and what it is for one output.

    Attributes:
        figure: Its name and meaning.
        metric: The metric with its settings.
        statistics: Of each segment, ``[segments, k]``.
        score: The corpus score; None where it is undefined.
    """

    figure: Figure
    metric: Metric[Any]
    statistics: Statistics
    score: Score | None

    @property
    def meaning(self) -> str:
        """What it tells, or why it is undefined."""
        return self.figure.meaning if self.score else f"undefined: {self.metric.undefined}"

    @property
    def signature(self) -> str:
        """What moved it."""
        return str(self.score.signature if self.score else self.metric.signature)

    @property
    def row(self) -> tuple[str, float | None, float | None, float | None, str, str]:
        """Its name, score, ends of the interval, better direction and meaning: :data:`ROW`."""
        score, interval = (self.score.score, self.score.interval) if self.score else (None, None)
        figure = self.figure
        return (figure.key, score, *interval_ends(interval), figure.better, self.meaning)

    def sentence_scores(self) -> list[float | None]:
        """One value a segment, None where it is undefined."""
        return self.metric.segment_scores(self.statistics)

    def to_dict(self) -> dict[str, Any]:
        """The figure as plain values: those of its score, with its name and meaning."""
        named = {"figure": self.figure.key, "better": self.figure.better, "meaning": self.meaning}
        if self.score is None:
            return {**named, "score": None, "signature": self.signature}
        return {**named, **self.score.to_dict()}


@dataclass(frozen=True)
class Profile:
    """The figures of one output, in the order of the registry."""

    figures: tuple[ProfiledFigure, ...]

    def __getitem__(self, key: str) -> ProfiledFigure:
        for item in self.figures:
            if item.figure.key == key:
                return item
        names = ", ".join(item.figure.key for item in self.figures)
        raise KeyError(f"no figure {key!r}; there are {names}")

    def __str__(self) -> str:
        """A line for each figure: its signature and score."""
        return "\n".join(
            f"{item.signature} undefined" if item.score is None else str(item.score)
            for item in self.figures
        )

    def to_frame(self) -> pd.DataFrame:
        """A row for each figure, by its name: score, interval, direction, meaning and signature.

        An undefined score is NaN, as are the ends of intervals that were not asked for.
        """
        import pandas as pd

        rows = [(*item.row, item.signature) for item in self.figures]
        frame = pd.DataFrame(rows, columns=[*ROW, "signature"]).set_index("figure")
        return frame.astype(dict.fromkeys(("score", "low", "high"), "float64"))

    def _repr_html_(self) -> str:
        frame = self.to_frame().dropna(axis="columns", how="all")
        table: str = frame.to_html(float_format=lambda value: f"{value:.2f}", na_rep="")
        return table


def profile(
    hypotheses: Sequence[Segment],
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
    aligner: Aligner | None = None,
    *,
    jobs: int = 1,
    resamples: int = 0,
    seed: int = DEFAULT_SEED,
    **options: Any,
) -> Profile:
    """Compute every cheap figure of one output that the given texts allow.

    >>> figures = profile(["a a b"], ["a b"], ["x y"])
    >>> float(figures["seq-rep-1"].score), float(figures["length-ratio"].score)
    (33.333333333333336, 1.5)

    Args:
        hypotheses: The system's segments, strings or lists of tokens.
        references: The reference's segments, or a list of several references.
        sources: The source's segments.
        aligner: What links them, for figures of uncovered source words.
        jobs: Number of processes; the result does not depend on it.
        resamples: Bootstrap resamples of intervals; 0 for none.
        seed: Their seed.
        **options: ``tokenize``, ``lowercase``, ``stopwords`` and ``denominator``, as
            :func:`make_figures` takes them.

    Raises:
        DataError: Unequal numbers of segments, or none at all.
    """
    rows = make_text_rows(hypotheses, references, sources)
    texts = {"references": rows[0].references, "sources": rows[0].source is not None}
    figures = make_figures({name for name, there in texts.items() if there}, aligner, **options)
    blocks = count_figures(figures, rows, aligner, jobs=jobs)
    return profile_counted(figures, blocks, len(rows[0].references), resamples, seed)


def make_figures(
    have: Set[str],
    aligner: Aligner | None = None,
    *,
    tokenize: str = "none",
    lowercase: bool = False,
    stopwords: StopWords | None = None,
    denominator: str = DEFAULT_DENOMINATOR,
) -> dict[str, Metric[Any]]:
    """The metrics of all figures that can be had, by the figures' names.

    Args:
        have: Which texts there are, of ``references`` and ``sources``.
        aligner: As in :func:`profile`.
        tokenize: The tokeniser of the figures of text.
        lowercase: Whether they lowercase the text first.
        stopwords: Source words that the figures of links leave out of account.
        denominator: What CDR is a percentage of, as in :class:`coverage_eval.DROP`.
    """
    words = {"tokenize": tokenize, "lowercase": lowercase}
    found = {figure.key: figure.make(**words) for figure in select_figures(have)}
    if aligner is None:
        return found
    check_aligner(aligner)
    linked = have | {"links"} if aligner.links_references else (have | {"links"}) - {"references"}
    settings = {"stopwords": stopwords or StopWords(), "denominator": denominator}
    for figure in select_figures(linked):
        if "links" in figure.needs:
            own = {key: value for key, value in settings.items() if key in figure.settings}
            found[figure.key] = figure.make(aligner, **own)
    return found


def count_figures(
    figures: Mapping[str, Metric[Any]],
    rows: Iterable[Row],
    aligner: Aligner | None = None,
    *,
    jobs: int = 1,
) -> list[Statistics]:
    """Statistics ``[segments, k]`` of each figure; without an aligner, rows are held nowhere.

    Args:
        figures: Of :func:`make_figures`.
        rows: The segments; there may be none.
        aligner: What links them.
        jobs: Number of processes; the result does not depend on it.
    """
    linked = [metric for metric in figures.values() if isinstance(metric, AlignedMetric)]
    of_text = [metric for metric in figures.values() if not isinstance(metric, AlignedMetric)]
    if aligner is not None:
        rows = Spool(rows)
    batches = list(map_batches(partial(_count, of_text), rows, weigh=row_length, jobs=jobs))
    if not batches:
        return [np.zeros((0, len(metric.statistic_names))) for metric in figures.values()]
    blocks = [np.concatenate(parts)[:, 0] for parts in zip(*batches, strict=True)]
    if aligner is None:
        return blocks
    if not aligner.links_references:
        rows = (row._replace(references=()) for row in rows)
    aligned = Spool(aligner.align(rows))  # one run for all figures of links
    return blocks + [metric.count(aligned)[0] for metric in linked]


def _count(metrics: Sequence[Any], rows: Sequence[Row]) -> list[Statistics]:
    """The statistics of each metric of text for a batch of rows."""
    return [metric.count_batch(rows) for metric in metrics]


def profile_counted(
    figures: Mapping[str, Metric[Any]],
    statistics: Iterable[Statistics],
    references: int,
    resamples: int = 0,
    seed: int = DEFAULT_SEED,
    *,
    segments: int | None = None,
) -> Profile:
    """The profile of what :func:`count_figures` counted; the rest as :func:`profile`.

    Args:
        figures: The figures.
        statistics: Of each segment, or their sums.
        references: Number of references.
        resamples: Bootstrap resamples of intervals; none of sums.
        seed: Their seed.
        segments: How many there are, where the statistics are already sums.
    """
    known = {figure.key: figure for figure in FIGURES}
    profiled = []
    for (key, metric), block in zip(figures.items(), statistics, strict=True):
        score = None
        if not np.isnan(metric.formula(block.sum(axis=0))):
            interval = None
            if resamples:
                interval = bootstrap_interval(metric, block, resamples=resamples, seed=seed)
            signed = references if "references" in metric.needs else 0
            score = metric.score(block, references=signed, interval=interval, segments=segments)
        profiled.append(ProfiledFigure(known[key], metric, block, score))
    return Profile(tuple(profiled))
