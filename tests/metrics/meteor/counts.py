"""The statistics of segments that tests write as tuples of texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from coverage_eval.data.dataset import Batch, Row
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.score import Statistics


def count(metric: Metric, segments: Iterable[Sequence[Any]]) -> Statistics:
    """Statistics ``[segments, k]`` of tuples of a hypothesis and its references."""
    rows = [Row((hypothesis,), tuple(references)) for hypothesis, *references in segments]
    return metric.count(Batch(rows))[0]
