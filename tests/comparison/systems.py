"""Outputs with known errors, and the data of a report, for tests of comparisons."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from coverage_eval.comparison.compare import compare_result
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.metric import Metric, Statistics
from coverage_eval.core.result import Result
from coverage_eval.core.significance import SignificanceTest
from tests.planting import inject_lines


def compare_statistics(
    statistics: Mapping[str, Mapping[str, Statistics]],
    metrics: Mapping[str, Metric],
    test: SignificanceTest | None = None,
) -> Comparison:
    """Systems without texts, by statistics ``[segments, k]`` by metric, then system."""
    systems = tuple(next(iter(statistics.values())))
    blocks = {name: np.stack([own[s] for s in systems]) for name, own in statistics.items()}
    segments = next(iter(blocks.values())).shape[1]
    return compare_result(
        Result(metrics, metrics, systems, blocks, segments, num_references=1), test
    )


def damaged(
    references: Sequence[str], seed: int, *, repeated: float = 0.0, omitted: float = 0.0
) -> list[str]:
    """References with words left out and phrases repeated, at these rates per word."""
    shorter = inject_lines(references, "omission-word", omitted, seed)
    return inject_lines(shorter, "repetition-phrase", repeated, seed)


def spans_of(steps: Sequence[int]) -> list[tuple[int, int]]:
    """The spans of a report's data, as its page reads them."""
    ends = list(accumulate(steps))
    return list(zip(ends[::2], ends[1::2], strict=True))


def read_blocks(page: str) -> dict[str, Any]:
    """The data in a report's page by its name, such as ``contents`` and ``segments/0``."""
    found = re.findall(r'<script type="[^"]*" data-block="([^"]*)">([^<]*)</script>', page)
    return {name: json.loads(gzip.decompress(base64.b64decode(text))) for name, text in found}
