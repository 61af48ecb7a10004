"""What scores the segments of texts here, each in its own way, as columns of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from coverage_eval.metrics.base import Metric, plain_evidence
from coverage_eval.omissions.finder import FoundSegment, OmissionFinder
from coverage_eval.testbed.labels import Key
from coverage_eval.testbed.score_files import ScoreColumn, all_known, pointed_words
from coverage_eval.text.rows import Row


class Scorer(Protocol):
    """Makes scores of every segment of every system."""

    def columns(self, name: str, rows: Sequence[Row], systems: Sequence[str]) -> list[ScoreColumn]:
        """The scores.

        Args:
            name: What tables call them.
            rows: The segments, with a hypothesis of each system.
            systems: Their names.
        """


@dataclass(frozen=True)
class MetricScorer:
    """Scores by a metric, with the source words that its evidence names."""

    metric: Metric[Any]

    def columns(self, name: str, rows: Sequence[Row], systems: Sequence[str]) -> list[ScoreColumn]:
        """One column."""
        observed = list(self.metric.observe(rows))
        statistics = self.metric.count(observed)
        evidence = list(self.metric.explain(observed))
        values: dict[Key, float | None] = {}
        words: dict[Key, Mapping[int, float] | None] = {}
        for index, system in enumerate(systems):
            scores = self.metric.segment_scores(statistics[index])
            for number, (score, found) in enumerate(zip(scores, evidence, strict=True), start=1):
                values[system, number] = score
                words[system, number] = pointed_words(plain_evidence(found[index]))
        pointed = all_known(words)
        return [ScoreColumn(name, name, values, self.metric.higher_is_better, words=pointed)]


@dataclass(frozen=True)
class FinderScorer:
    """Scores by a finder of omissions, and its probabilities where it is calibrated."""

    finder: OmissionFinder

    def columns(self, name: str, rows: Sequence[Row], systems: Sequence[str]) -> list[ScoreColumn]:
        """The score, and the probability."""
        found: dict[Key, FoundSegment] = {}
        for index, system in enumerate(systems):
            own = (
                Row((row.hypotheses[index],), row.references if self.finder.referenced else (),
                    row.source)
                for row in rows
            )  # fmt: skip
            for number, segment in enumerate(self.finder.find(own), start=1):
                found[system, number] = segment
        scores = {key: segment.score for key, segment in found.items()}
        chances = {key: segment.probability for key, segment in found.items()}
        spans = {key: [span.to_dict() for span in item.spans] for key, item in found.items()}
        words = {key: pointed_words({"spans": own}) or {} for key, own in spans.items()}
        columns = [ScoreColumn(name, name, scores, words=words)]
        if None not in chances.values():
            columns.append(ScoreColumn(f"P({name})", name, chances, probability=True))
        return columns
