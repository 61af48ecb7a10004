"""The result of an evaluation: counts, and the scores and explanations that follow from them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from coverage_eval.core.batches import Batch, Request, Row, Texts
from coverage_eval.core.errors import DataError, Finding
from coverage_eval.core.lists import DiskList, LazyRows
from coverage_eval.core.mark import Explanation
from coverage_eval.core.metric import FittedMetric, Floats, Metric, Statistics
from coverage_eval.core.score import Score
from coverage_eval.core.significance import DEFAULT_SEED, bootstrap_interval


@dataclass(frozen=True, eq=False)
class Result:
    """The counts of a test set; scores, tests, tables and reports are functions of them.

    Attributes:
        metrics: The metrics by name.
        fitted: What counted them, by the same names.
        systems: Names of the systems.
        statistics: By metric, ``[systems, segments, k]``.
        segments: Number of segments.
        num_references: Number of references.
        kept: The batches, if texts are kept.
        findings: What checks of the texts found, where the caller ran them.
        texts: The texts that were scored, such as outputs that were cut by their source's lines.
        output_errors: The errors of outputs by system and index, where the caller looked at all.
        direct_scores: By metric, scores of segments ``[systems, segments]`` that are no formula of
            statistics.
        starts: The first segment of each kept batch.
        refused: Metrics that were not counted, because these texts are not split into words, each
            with what to do.
    """

    metrics: Mapping[str, Metric]
    fitted: Mapping[str, FittedMetric]
    systems: tuple[str, ...]
    statistics: Mapping[str, Statistics]
    segments: int
    num_references: int = 0
    kept: Sequence[Batch] = ()
    findings: Sequence[Finding] = ()
    texts: Texts | None = None
    output_errors: Mapping[str, Mapping[int, Sequence[Any]]] = field(default_factory=dict)
    direct_scores: Mapping[str, Floats] = field(default_factory=dict)
    starts: Sequence[int] = ()
    refused: Mapping[Metric, str] = field(default_factory=dict)
    _of_key: dict[Hashable, tuple[DiskList[Any], dict[int, int]]] = field(
        default_factory=dict, init=False, repr=False
    )

    def score(
        self, name: str, system: str | None = None, *, resamples: int = 0, seed: int = DEFAULT_SEED
    ) -> Score:
        """The corpus score of a system by a metric.

        Args:
            name: The metric.
            system: The system, to be named in the score; by default the first.
            resamples: Bootstrap resamples of a 95% interval; 0 for no interval.
            seed: Their seed.

        Raises:
            DataError: The score is undefined; the message says why.
        """
        self.require_scores()
        metric, statistics = self.metrics[name], self.statistics_of(name, system)
        signature = self.fitted[name].signature_for(references=self.num_references)
        if self.texts and self.texts.settings:
            signature = signature.with_settings(self.texts.settings)
        interval = None
        if resamples:
            interval = bootstrap_interval(metric, statistics, resamples=resamples, seed=seed)
        score = metric.score(statistics, signature)
        return replace(
            score,
            system=system,
            segments=self.segments,
            interval=interval,
            segment_scores=partial(self.segment_scores, name, system),
        )

    def require_scores(self) -> None:
        """Raise :class:`DataError` if every metric was refused; the message says what to do."""
        if self.refused and not self.metrics:
            raise DataError(
                "; ".join(f"{m.presentation.name}: {why}" for m, why in self.refused.items())
            )

    def segment_scores(self, name: str, system: str | None = None) -> list[float | None]:
        """The scores of a system's segments by a metric; None where they are undefined."""
        if name in self.direct_scores:
            index = 0 if system is None else self.systems.index(system)
            return list(self.direct_scores[name][index].tolist())
        return self.metrics[name].scores_of(self.statistics_of(name, system))

    def explanations(self, name: str) -> Sequence[Sequence[Explanation]]:
        """Why segments have their scores, by segment, then system; computed on demand.

        Only what is looked at is read, so that looking at every system's segments takes time in
        proportion to them.

        Raises:
            ValueError: The texts were not kept.
        """
        explain, width = self.fitted[name].explain, len(self.systems)
        explanations = self._of_texts(
            name, lambda batch: chain.from_iterable(explain(batch)), width
        )
        return LazyRows(
            lambda first: LazyRows(explanations.__getitem__, range(first, first + width)),
            range(0, len(explanations), width),
        )

    def explanations_of(self, name: str, system: str | None = None) -> Iterator[Explanation]:
        """The explanations of one system's segments."""
        index = 0 if system is None else self.systems.index(system)
        return (of_systems[index] for of_systems in self.explanations(name))

    def answers(self, request: Request) -> Sequence[Any]:
        """An aligner's answers for each segment, such as links."""
        return self._of_texts(request.key, lambda batch: batch.get(request))

    @property
    def rows(self) -> Sequence[Row]:
        """The texts, segment by segment."""
        return self._of_texts(("rows",), lambda batch: batch.rows)

    @property
    def has_source(self) -> bool:
        """Whether the texts were kept and have a source."""
        return bool(self.kept) and self.rows[0].source is not None

    def _of_texts(
        self, key: Hashable, compute: Callable[[Batch], Iterable[Any]], width: int = 1
    ) -> Sequence[Any]:
        """What is computed from the texts, from each batch once, when it is first looked at.

        Args:
            key: Says what is computed.
            compute: Computes the items of a batch.
            width: Their number for each segment.
        """
        if not self.kept:
            raise ValueError("this needs the texts, but there are only statistics")
        items, firsts = self._of_key.setdefault(key, (DiskList(), {}))

        def find(index: int) -> Any:
            number = bisect_right(self.starts, index // width) - 1
            if number not in firsts:
                firsts[number] = len(items)
                for item in compute(self.kept[number]):
                    items.append(item)
            return items[firsts[number] + index - width * self.starts[number]]

        return LazyRows(find, range(width * self.segments))

    def statistics_of(self, name: str, system: str | None = None) -> Statistics:
        """Statistics ``[segments, k]`` of a system by a metric; by default of the first system."""
        index = 0 if system is None else self.systems.index(system)
        return np.asarray(self.statistics[name][index])
