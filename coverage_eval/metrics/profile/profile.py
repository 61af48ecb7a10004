"""All figures of one output in one pass over its segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from coverage_eval.alignment.aligner import Aligner, check_aligner
from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Metric, Statistics
from coverage_eval.metrics.drop import DEFAULT_DENOMINATOR
from coverage_eval.metrics.profile.figures import Figure, select_figures
from coverage_eval.metrics.score import Score
from coverage_eval.metrics.significance import DEFAULT_SEED, bootstrap_interval
from coverage_eval.metrics.stopwords import StopWords
from coverage_eval.text.batches import map_batches
from coverage_eval.text.corpus import Segment
from coverage_eval.text.rows import Row, make_text_rows, row_length
from coverage_eval.text.spool import Spool

__all__ = ["Profile", "ProfiledFigure", "profile", "profile_rows"]


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

    def sentence_scores(self) -> list[float | None]:
        """One value a segment, None where it is undefined."""
        return self.metric.segment_scores(self.statistics)


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
            f"{item.metric.signature} undefined" if item.score is None else str(item.score)
            for item in self.figures
        )


def profile(
    hypotheses: Sequence[Segment],
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
    aligner: Aligner | None = None,
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
        **options: ``tokenize``, ``lowercase``, ``stopwords``, ``denominator``, ``jobs``,
            ``resamples`` and ``seed`` as in :func:`profile_rows`.

    Raises:
        DataError: Unequal numbers of segments, or none at all.
    """
    return profile_rows(make_text_rows(hypotheses, references, sources), aligner, **options)


def profile_rows(
    rows: Iterable[Row],
    aligner: Aligner | None = None,
    *,
    tokenize: str = "none",
    lowercase: bool = False,
    stopwords: StopWords | None = None,
    denominator: str = DEFAULT_DENOMINATOR,
    jobs: int = 1,
    resamples: int = 0,
    seed: int = DEFAULT_SEED,
) -> Profile:
    """As :func:`profile`, from a stream of rows.

    Args:
        rows: The segments, which are never held in memory.
        aligner: As in :func:`profile`.
        tokenize: The tokeniser of the figures of text.
        lowercase: Whether they lowercase the text first.
        stopwords: Source words that the figures of links leave out of account.
        denominator: What CDR is a percentage of, as in :class:`coverage_eval.DROP`.
        jobs: Number of processes; the result does not depend on it.
        resamples: Bootstrap resamples of intervals; 0 for none.
        seed: Their seed.
    """
    if aligner is not None:
        check_aligner(aligner)
    stream = iter(rows) if aligner is None else iter(rows := Spool(rows))
    first = next(stream, None)
    if first is None:
        raise DataError("no segments to profile")
    chosen = [
        (figure, figure.make(tokenize=tokenize, lowercase=lowercase))
        for figure in select_figures(_at_hand(first, None))
    ]
    batches = map_batches(
        partial(_count, [metric for _, metric in chosen]),
        chain([first], stream),
        weigh=row_length,
        jobs=jobs,
    )
    blocks = [np.concatenate(parts)[:, 0] for parts in zip(*batches, strict=True)]
    if aligner is not None:
        settings = {"stopwords": stopwords or StopWords(), "denominator": denominator}
        linked, statistics = _count_links(rows, aligner, first, settings)
        chosen += linked
        blocks += statistics
    references = len(first.references)
    return Profile(
        tuple(
            _profiled(figure, metric, block, references, resamples, seed)
            for (figure, metric), block in zip(chosen, blocks, strict=True)
        )
    )


def _at_hand(row: Row, aligner: Aligner | None) -> set[str]:
    have = {"references": row.references, "sources": row.source is not None, "links": aligner}
    return {name for name, there in have.items() if there}


def _count(metrics: Sequence[Any], rows: Sequence[Row]) -> list[Statistics]:
    """The statistics of each metric of text for a batch of rows."""
    return [metric.count_batch(rows) for metric in metrics]


def _count_links(
    rows: Iterable[Row], aligner: Aligner, first: Row, settings: Mapping[str, Any]
) -> tuple[list[tuple[Figure, Metric[Any]]], list[Statistics]]:
    """The figures of links, all counted from one run of the aligner."""
    if not aligner.links_references:
        rows = (row._replace(references=()) for row in rows)
        first = first._replace(references=())
    aligned = Spool(aligner.align(rows))
    figures = [f for f in select_figures(_at_hand(first, aligner)) if "links" in f.needs]
    chosen: list[tuple[Figure, Metric[Any]]] = [
        (f, f.make(aligner, **{k: v for k, v in settings.items() if k in f.settings}))
        for f in figures
    ]
    return chosen, [metric.count(aligned)[0] for _, metric in chosen]


def _profiled(
    figure: Figure,
    metric: Metric[Any],
    statistics: Statistics,
    references: int,
    resamples: int,
    seed: int,
) -> ProfiledFigure:
    if np.isnan(metric.formula(statistics.sum(axis=0))):
        return ProfiledFigure(figure, metric, statistics, None)
    interval = None
    if resamples:
        interval = bootstrap_interval(metric, statistics, resamples=resamples, seed=seed)
    signed = references if "references" in metric.needs else 0
    score = metric.score(statistics, references=signed, interval=interval)
    return ProfiledFigure(figure, metric, statistics, score)
