"""Several systems on one test set: what each metric observes of them, counted once.

Only statistics grow in memory with the text; what was observed, and the evidence found in it, are
kept on the disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeVar

from coverage_eval.data.rows import Row
from coverage_eval.data.spool import Spool
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.metrics.base import Evidence, Metric, Statistics
from fast_align_wrapper.text import Segment

T = TypeVar("T")


@dataclass(frozen=True)
class TestSet:
    """A test set and the outputs of systems on it.

    Attributes:
        systems: The systems' names, in the order of each row's hypotheses.
        rows: The segments.
        tokens: How breakdowns cut references and hypotheses into words.
        source_tokens: How they cut sources.
    """

    __test__ = False  # not a test for pytest, whatever its name

    systems: tuple[str, ...]
    rows: Sequence[Row]
    tokens: Tokenizer = field(default_factory=Tokenizer)
    source_tokens: Tokenizer = field(default_factory=Tokenizer)

    @property
    def has_source(self) -> bool:
        """Whether the source text is there."""
        return bool(self.rows) and self.rows[0].source is not None

    def hypothesis(self, segment: int, system: str) -> Segment:
        """A system's translation of a segment, counted from 0."""
        return self.rows[segment].hypotheses[self.systems.index(system)]


@dataclass(frozen=True)
class Counted:
    """Statistics of all systems, with what they were counted from.

    Attributes:
        texts: The texts.
        metrics: The metrics by name.
        statistics: Statistics ``[segments, k]`` by metric, then system.
        observed: What each metric observed, row by row.
    """

    texts: TestSet
    metrics: Mapping[str, Metric[Any]]
    statistics: Mapping[str, Mapping[str, Statistics]]
    observed: Mapping[str, Sequence[Any]]
    _found: dict[str, Spool[Evidence]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def evidence(self, name: str, system: str) -> Iterator[Evidence]:
        """What the score of each segment of a system by a metric rests on; found once."""
        if name not in self._found:
            explained = self.metrics[name].explain(self.observed[name])
            self._found[name] = Spool(chain.from_iterable(explained))
        found, step = self._found[name], len(self.texts.systems)
        return (found[i] for i in range(self.texts.systems.index(system), len(found), step))

    def evidence_of(self, name: str, system: str, segment: int) -> Evidence:
        """The same of one segment, counted from 0."""
        (found,) = self.metrics[name].explain([self.observed[name][segment]])
        return found[self.texts.systems.index(system)]


def count_systems(
    texts: TestSet,
    metrics: Mapping[str, Metric[Any]],
    *,
    jobs: int = 1,
    progress: bool = False,
) -> Counted:
    """Count each metric's statistics for each system.

    Args:
        texts: The texts.
        metrics: Metrics by name; those of links hold their aligner.
        jobs: Processes for metrics of text.
        progress: Show a bar for each metric, where standard error is a terminal.

    Raises:
        DataError: A metric needs the source, and it is not there.
        AlignerError: The aligner failed.
    """
    statistics, observed = {}, {}
    for name, metric in metrics.items():
        seen = metric.observe(texts.rows)
        if seen is not texts.rows:
            seen = Spool(_with_bar(seen, len(texts.rows), f"{metric.name}: aligning", progress))
        counting = _with_bar(seen, len(seen), f"{metric.name}: counting", progress)
        blocks = metric.count_part(counting, len(texts.systems), jobs=jobs)
        observed[name] = seen
        statistics[name] = dict(zip(texts.systems, blocks, strict=True))
    return Counted(texts, metrics, statistics, observed)


def _with_bar(items: Iterable[T], total: int, what: str, progress: bool) -> Iterable[T]:
    """The same items, counted by a bar on a terminal."""
    if not progress:
        return items
    from tqdm import tqdm

    bar: Iterable[T] = tqdm(
        items, desc=what, total=total, unit=" segments", leave=False, disable=None
    )
    return bar
