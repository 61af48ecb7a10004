"""All figures of one output in one pass over its segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Score, Statistics
from coverage_eval.metrics.profile.figures import Figure, select_figures
from coverage_eval.metrics.significance import bootstrap_interval
from coverage_eval.text.batches import map_batches

__all__ = ["Profile", "ProfiledFigure", "profile", "profile_rows"]


@dataclass(frozen=True)
class ProfiledFigure:
    """A figure and what it is for one output.

    Attributes:
        figure: Its metric and meaning.
        statistics: Of each segment, ``[segments, k]``.
        score: The corpus score; None where it is undefined.
    """

    figure: Figure
    statistics: Statistics
    score: Score | None

    def sentence_scores(self) -> list[float | None]:
        """One value a segment, None where it is undefined."""
        return self.figure.metric.sentence_scores(self.statistics)


@dataclass(frozen=True)
class Profile:
    """The figures of one output, in the order of the registry."""

    figures: tuple[ProfiledFigure, ...]

    def __getitem__(self, key: str) -> ProfiledFigure:
        return next(item for item in self.figures if item.figure.key == key)


def profile(jobs: int = 1, tok: str = "none", **columns: Iterable[Any]) -> Profile:
    """Compute every figure that some columns allow.

    Args:
        jobs: Number of processes; the result does not depend on it.
        tok: The tokeniser that was applied to the text, for the signatures.
        **columns: One value a segment: texts (``hypotheses``, ``sources``, ``references``) and
            links (``hypothesis_links``, ``reference_links``: pairs of source and target position).

    Raises:
        DataError: Unequal numbers of segments, or none at all.
        TypeError: A column that no figure uses, or no ``hypotheses``.
    """
    known = {name for figure in select_figures(_ALL) for name in figure.metric.columns}
    if "hypotheses" not in columns or not known >= set(columns):
        raise TypeError(f"profile takes hypotheses and any of {sorted(known)}, not {list(columns)}")
    lists = {name: list(values) for name, values in columns.items()}
    if len({len(values) for values in lists.values()}) > 1:
        counts = ", ".join(f"{len(values)} {name}" for name, values in lists.items())
        raise DataError(f"unequal numbers of segments: {counts}")
    return profile_rows(tuple(lists), zip(*lists.values(), strict=True), jobs=jobs, tok=tok)


_ALL = ("hypotheses", "references", "sources", "hypothesis_links", "reference_links")


def profile_rows(
    columns: Sequence[str],
    rows: Iterable[tuple[Any, ...]],
    *,
    jobs: int = 1,
    tok: str = "none",
    confidence: tuple[int, int] | None = None,
) -> Profile:
    """As :func:`profile`, from a stream of rows with one value for each of ``columns``.

    Args:
        columns: Names of the columns.
        rows: The segments.
        jobs: Number of processes.
        tok: The tokeniser that was applied, for the signatures.
        confidence: Resamples and seed of bootstrap intervals, None for none.
    """
    figures = select_figures(columns, tok=tok)
    count = partial(_count, figures, tuple(columns))
    batches = list(map_batches(count, rows, jobs=jobs))
    if not batches:
        raise DataError("no segments to profile")
    blocks = [np.concatenate(parts) for parts in zip(*batches, strict=True)]
    pairs = zip(figures, blocks, strict=True)
    return Profile(tuple(_profiled(figure, block, confidence) for figure, block in pairs))


def _count(
    figures: Sequence[Figure], columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]
) -> list[Statistics]:
    """The statistics of each figure for a batch of rows."""
    values = dict(zip(columns, zip(*rows, strict=True), strict=True))
    return [
        figure.metric.batch_statistics(
            list(zip(*(values[name] for name in figure.metric.columns), strict=True))
        )
        for figure in figures
    ]


def _profiled(
    figure: Figure, statistics: Statistics, confidence: tuple[int, int] | None
) -> ProfiledFigure:
    if np.isnan(figure.metric.score(statistics.sum(axis=0))):
        return ProfiledFigure(figure, statistics, None)
    interval = None
    if confidence is not None:
        resamples, seed = confidence
        interval = bootstrap_interval(figure.metric, statistics, resamples=resamples, seed=seed)
    score = figure.metric.corpus_score(statistics, interval=interval)
    return ProfiledFigure(figure, statistics, score)
