"""The one loop that counts metrics."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from coverage_eval.core.batches import Batch, Request, Texts, answer_ahead
from coverage_eval.core.errors import require_integer
from coverage_eval.core.features import Feature
from coverage_eval.core.lists import DiskList
from coverage_eval.core.metric import Fitted, Floats, Statistics
from coverage_eval.core.processes import started_processes
from coverage_eval.core.progress import Progress, no_progress
from coverage_eval.core.result import Result

if TYPE_CHECKING:
    from concurrent.futures import Future


def count_texts(
    texts: Texts,
    fitted: Mapping[str, Fitted],
    features: Sequence[Feature] = (),
    *,
    jobs: int = 1,
    keep_texts: bool = False,
    progress: Progress = no_progress,
) -> Result:
    """Count metrics that are fitted to a test set, in one pass; every evaluation counts here.

    Args:
        texts: The texts.
        fitted: The metrics by name, fitted to a sample of the texts.
        features: What else looks at every batch.
        jobs: Number of processes for metrics of text; aligners have their own threads. The result
            does not depend on it.
        keep_texts: Keep the texts on disk, so the result can explain scores; they are always kept
            for metrics with other scores of segments than a formula of statistics.
        progress: Where to report the share of segments that are counted.

    Raises:
        DataError: There is no segment, or a metric lacks a text.
        AlignerError: The aligner failed.
        TypeError: ``jobs`` is not a whole number.
        ValueError: ``jobs`` is below 1.
    """
    require_integer("jobs", jobs, 1)
    statistics: dict[str, list[Statistics]] = {name: [] for name in fitted}
    scores: dict[str, list[Floats]] = {
        name: [] for name, metric in fitted.items() if metric.has_segment_scores
    }
    kept: DiskList[Batch] | None = DiskList() if keep_texts or scores else None
    starts: list[int] = []
    segments = 0
    for batch, counts in count_batches(fitted, texts.batches(), jobs=jobs):
        for name, block in counts.items():
            statistics[name].append(block)
        for name, blocks in scores.items():
            blocks.append(fitted[name].segment_scores(batch))
        for feature in features:
            feature.collect(batch, segments)
        if kept is not None:
            kept.append(batch)
            starts.append(segments)
        segments += len(batch.rows)
        progress(segments / texts.sample.size)
    return Result(
        {name: metric.metric for name, metric in fitted.items()},
        fitted,
        tuple(texts.systems),
        {name: np.concatenate(blocks, axis=1) for name, blocks in statistics.items()},
        segments,
        len(texts.references),
        kept or (),
        texts=texts,
        features=features,
        direct_scores={name: np.concatenate(blocks, axis=1) for name, blocks in scores.items()},
        starts=starts,
    )


def count_batches(
    fitted: Mapping[str, Fitted],
    batches: Iterable[Batch],
    *,
    jobs: int = 1,
) -> Iterator[tuple[Batch, dict[str, Statistics]]]:
    """Yield each batch with the statistics of metrics that are fitted to its texts, by name.

    Args:
        fitted: The metrics; those that need links are counted here, while the aligner works ahead.
        batches: The segments, in order.
        jobs: As in :func:`count_texts`.
    """
    requests: list[Request] = []
    text_metrics: dict[str, Fitted] = {}
    aligner_metrics: dict[str, Fitted] = {}
    for name, metric in fitted.items():
        needed = metric.requests()
        requests += needed
        (aligner_metrics if needed else text_metrics)[name] = metric
    batches = iter(batches)
    # No more processes are started than there are batches.
    first = list(islice(batches, jobs)) if jobs > 1 and text_metrics else []
    batches = chain(first, batches)
    if len(first) > 1:
        yield from _count_in_processes(text_metrics, aligner_metrics, batches, requests, len(first))
        return
    for batch in answer_ahead(batches, requests) if requests else batches:
        # A partition of Spark may be empty.
        counts = {name: metric.count(batch) for name, metric in fitted.items() if batch.rows}
        yield batch, counts


def _count_batch(fitted: Mapping[str, Fitted], batch: Batch) -> dict[str, Statistics]:
    """The statistics of a batch by metric."""
    return {name: metric.count(batch) for name, metric in fitted.items()}


def _count_in_processes(
    text_metrics: Mapping[str, Fitted],
    aligner_metrics: Mapping[str, Fitted],
    batches: Iterable[Batch],
    requests: Sequence[Request],
    jobs: int,
) -> Iterator[tuple[Batch, dict[str, Statistics]]]:
    """As :func:`count_batches`, with metrics of text in other processes.

    Args:
        text_metrics: Metrics that need nothing but the texts.
        aligner_metrics: The others, which are counted here.
        batches: The segments, in order.
        requests: What is asked of the batches.
        jobs: Number of processes, at least two.
    """
    with started_processes(jobs) as pool:
        assert pool is not None
        pending: deque[tuple[Batch, Future[dict[str, Statistics]]]] = deque()
        for batch in answer_ahead(batches, requests):
            pending.append((batch, pool.submit(_count_batch, text_metrics, Batch(batch.rows))))
            if len(pending) > 2 * jobs:
                done, future = pending.popleft()
                yield done, {**future.result(), **_count_batch(aligner_metrics, done)}
        for done, future in pending:
            yield done, {**future.result(), **_count_batch(aligner_metrics, done)}
