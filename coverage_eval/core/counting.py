"""The one loop that counts metrics.

Every command and every function of :mod:`coverage_eval` scores by :func:`count`, so figures are the
same whichever way a score is asked for. Checks of the texts come after it
(:func:`coverage_eval.checks.check.check`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from coverage_eval.core.batches import Batch, Request, Texts, answer_ahead
from coverage_eval.core.errors import DataError, SegmentError, require_integer
from coverage_eval.core.lists import DiskList
from coverage_eval.core.metric import FittedMetric, Floats, Metric, Statistics
from coverage_eval.core.processes import started_processes
from coverage_eval.core.progress import Progress, no_progress
from coverage_eval.core.result import Result
from coverage_eval.core.word_splitting import find_unsegmented

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


def count(
    texts: Texts,
    metrics: Mapping[str, Metric],
    *,
    jobs: int = 1,
    keep_texts: bool = False,
    progress: Progress = no_progress,
) -> Result:
    """Fit metrics to a sample of the texts, and count them.

    >>> from coverage_eval.repetition.rep import REP
    >>> texts = Texts.from_lists({"mine": ["a red red house"]}, ["a red house"])
    >>> count(texts, {"rep": REP()}).score("rep").score
    66.66666666666667

    A metric of words is left out, and stands in ``refused``, if its tokeniser does not separate the
    words of these texts.

    Args:
        texts: The texts.
        metrics: The metrics by name.
        jobs: Number of processes for metrics of text; aligners have their own threads. The result
            does not depend on it.
        keep_texts: Keep the texts on disk, so the result can explain scores.
        progress: Where to report the share of segments that are counted.

    Raises:
        DataError: Unequal texts, no segment, links of other systems, or a metric lacks a text.
        TypeError: A metric needs texts that are not there, or ``jobs`` is not a whole number.
        ValueError: ``jobs`` is below 1.
        MissingDependencyError: A metric needs a package that is not installed.
        AlignerError: The aligner failed.
    """
    for metric in metrics.values():
        metric.check_needs(texts.references or None, texts.source)
    sample = texts.sample
    unsegmented = find_unsegmented(sample, metrics)
    fitted = {name: metrics[name].fit(sample) for name in metrics if name not in unsegmented}
    result = count_fitted(texts, fitted, jobs=jobs, keep_texts=keep_texts, progress=progress)
    reasons = {
        metrics[name]: "; ".join(finding.message for finding in findings)
        for name, findings in unsegmented.items()
    }
    return replace(result, refused=reasons)


def count_fitted(
    texts: Texts,
    fitted: Mapping[str, FittedMetric],
    *,
    jobs: int = 1,
    keep_texts: bool = False,
    progress: Progress = no_progress,
) -> Result:
    """Count metrics that are fitted to the texts, in one pass; arguments are as of :func:`count`.

    The texts are always kept for metrics with other scores of segments than a formula of
    statistics.
    """
    require_integer("jobs", jobs, 1)
    statistics: dict[str, list[Statistics]] = {name: [] for name in fitted}
    scores: dict[str, list[Floats]] = {
        name: [] for name, metric in fitted.items() if metric.has_segment_scores
    }
    kept: DiskList[Batch] | None = DiskList() if keep_texts or scores else None
    starts: list[int] = []
    segments = 0
    try:
        for batch, counts in count_batches(fitted, texts.batches(), jobs=jobs):
            for name, block in counts.items():
                statistics[name].append(block)
            for name, blocks in scores.items():
                blocks.append(fitted[name].segment_scores(batch))
            if kept is not None:
                kept.append(batch)
                starts.append(segments)
            segments += len(batch.rows)
            progress(segments / texts.sample.size)
    except SegmentError as error:
        name = list(texts.systems.values())[error.system].name
        line = segments + error.row + 1
        raise DataError(f"{name}: segment {line:,}: {error.message}") from None
    return Result(
        {name: metric.metric for name, metric in fitted.items()},
        fitted,
        tuple(texts.systems),
        {name: np.concatenate(blocks, axis=1) for name, blocks in statistics.items()},
        segments,
        len(texts.references),
        kept or (),
        texts=texts,
        direct_scores={name: np.concatenate(blocks, axis=1) for name, blocks in scores.items()},
        starts=starts,
    )


def count_batches(
    fitted: Mapping[str, FittedMetric],
    batches: Iterable[Batch],
    *,
    jobs: int = 1,
) -> Iterator[tuple[Batch, dict[str, Statistics]]]:
    """Yield each batch with the statistics of metrics that are fitted to its texts, by name.

    Args:
        fitted: The metrics; those that need links are counted here, while the aligner works ahead.
        batches: The segments, in order.
        jobs: As in :func:`count`.
    """
    requests: list[Request] = []
    text_metrics: dict[str, FittedMetric] = {}
    aligner_metrics: dict[str, FittedMetric] = {}
    for name, metric in fitted.items():
        needed = metric.requests()
        requests += needed
        (aligner_metrics if needed else text_metrics)[name] = metric
    answered = answer_ahead(batches, requests) if requests else batches
    for batch, counts in map_batches(
        partial(_count_batch, text_metrics), answered, jobs=jobs if text_metrics else 1
    ):
        yield batch, {**counts, **_count_batch(aligner_metrics, batch)}


def _count_batch(fitted: Mapping[str, FittedMetric], batch: Batch) -> dict[str, Statistics]:
    """The statistics of a batch by metric; none of an empty one, as a partition of Spark may be."""
    return {name: metric.count(batch) for name, metric in fitted.items() if batch.rows}


def map_batches(
    function: Callable[[Batch], T], batches: Iterable[Batch], *, jobs: int = 1
) -> Iterator[tuple[Batch, T]]:
    """Yield each batch with what a function of its rows gives, from several processes.

    Args:
        function: What is computed of the texts of a batch; it can be pickled if there are several
            processes.
        batches: The segments, in order.
        jobs: Number of processes; no more are started than there are batches.
    """
    batches = iter(batches)
    first = list(islice(batches, jobs)) if jobs > 1 else []
    batches = chain(first, batches)
    if len(first) < 2:
        for batch in batches:
            yield batch, function(batch)
        return
    with started_processes(len(first)) as pool:
        assert pool is not None
        pending: deque[tuple[Batch, Future[T]]] = deque()
        for batch in batches:
            pending.append((batch, pool.submit(function, Batch(batch.rows))))
            if len(pending) > 2 * len(first):
                done, future = pending.popleft()
                yield done, future.result()
        for done, future in pending:
            yield done, future.result()
