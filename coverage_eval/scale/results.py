"""What a command counted of a test set or of a shard, from which all that it prints is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coverage_eval.data.input_checks import Finding
from coverage_eval.data.spool import Spool
from coverage_eval.metrics.base import Formula, Statistics


@dataclass(frozen=True, eq=False)
class Results:
    """Statistics, and what else is known of each segment and of the whole.

    Attributes:
        formulas: The figures by name.
        statistics: Of each figure, ``[systems, segments, k]``.
        records: By name, one object a segment, such as its evidence.
        facts: What is true of all segments, such as names of systems, and how to print.
        findings: What looked wrong about the texts.
        figures: How well the aligner's model knows the texts, by name.
    """

    formulas: Mapping[str, Formula]
    statistics: Mapping[str, Statistics]
    records: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    figures: Mapping[str, float] = field(default_factory=dict)

    @property
    def segments(self) -> int:
        """Number of segments."""
        return int(next(iter(self.statistics.values())).shape[1])


def join_results(parts: Sequence[Results]) -> Results:
    """Put the segments of shards 1/n to n/n back into the order of the text.

    Args:
        parts: The results of all shards in their order, alike but for the segments.
    """
    first = parts[0]
    statistics = {name: _interleave([p.statistics[name] for p in parts]) for name in first.formulas}
    records = {name: _in_turns([part.records[name] for part in parts]) for name in first.records}
    return replace(first, statistics=statistics, records=records)


def _interleave(blocks: Sequence[Statistics]) -> Statistics:
    """Statistics ``[systems, segments, k]`` of the whole; an empty shard has no say in the type."""
    systems, _, k = blocks[0].shape
    total = sum(block.shape[1] for block in blocks)
    kind = np.result_type(*(block for block in blocks if block.shape[1]))
    found = np.empty((systems, total, k), dtype=kind)
    for number, block in enumerate(blocks):
        found[:, number :: len(blocks)] = block
    return found


def _in_turns(lists: Sequence[Sequence[Any]]) -> Spool[Any]:
    total, shards = sum(map(len, lists)), len(lists)
    return Spool(lists[number % shards][number // shards] for number in range(total))
