"""METEOR 1.5 as a metric of this package: settings, signature, statistics, score, evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.base import Signature, Statistics, TextMetric
from coverage_eval.metrics.meteor.candidates import EXACT, MODULES
from coverage_eval.metrics.meteor.counting import (
    AlignedPair,
    MatchOptions,
    Row,
    align_batch,
    count_batch,
    prepare_index,
)
from coverage_eval.metrics.meteor.java_backend import checked_statistics
from coverage_eval.metrics.meteor.resources import jar_path, package_version
from coverage_eval.metrics.meteor.statistics import (
    ALPHA,
    BETA,
    DELTA,
    FIELDS,
    GAMMA,
    MODULE_WEIGHTS,
    score_parts,
    without_perfect_chunks,
)
from coverage_eval.text.batches import batched, map_batches
from coverage_eval.text.corpus import Segment

__all__ = ["BACKENDS", "METEOR", "VARIANTS", "MeteorMatch"]

VARIANTS = {"full": 4, "exact-stem": 2}
"""How many of the matchers each variant uses."""

BACKENDS = ("python", "java")

_BATCH = 256


@dataclass(frozen=True)
class MeteorMatch:
    """Evidence of METEOR: words of the hypothesis matched with words of the reference.

    Attributes:
        kind: ``"exact"``, ``"stem"``, ``"synonym"`` or ``"paraphrase"``.
        hypothesis: The matched words of the hypothesis.
        reference: The matched words of the reference.
        hypothesis_start: Position of the first of them, token positions from 0.
        reference_start: The same in the reference.
    """

    kind: str
    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    hypothesis_start: int
    reference_start: int

    def __str__(self) -> str:
        """Both texts, the kind of match, and where either begins: for people, from 1."""
        places = f"{self.hypothesis_start + 1}-{self.reference_start + 1}"
        return f"{' '.join(self.hypothesis)} ~ {' '.join(self.reference)} ({self.kind}) {places}"


@dataclass(frozen=True)
class METEOR(TextMetric):
    """METEOR 1.5 for English, as ``meteor-1.5.jar HYP REF -l en`` scores (from 0 to 1).

    The corpus score is that of the summed statistics, not the mean of the segments' scores. A
    segment with an empty side scores 0, and its words count in the corpus.

    Args:
        variant: ``"full"``, or ``"exact-stem"`` for Meteor without synonyms and paraphrases.
        norm: Tokenise, normalise punctuation and lowercase, as ``-norm`` does.
        lower: Lowercase, as ``-lower`` does; ``norm`` includes it.
        backend: ``"python"``, or ``"java"`` to have the statistics counted by the jar itself.

    Raises:
        ValueError: A variant or backend of another name.
    """

    variant: str = "full"
    norm: bool = False
    lower: bool = False
    backend: str = "python"

    name: ClassVar[str] = "METEOR"
    higher_is_better: ClassVar[bool] = True
    statistic_names: ClassVar[tuple[str, ...]] = FIELDS
    undefined: ClassVar[str] = "there are no segments"

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(f"unknown variant {self.variant!r}; one of {', '.join(VARIANTS)}")
        if self.backend not in BACKENDS:
            raise ValueError(f"unknown backend {self.backend!r}; one of {', '.join(BACKENDS)}")

    @property
    def eval_id(self) -> str:
        """Meteor's own name of its settings, as the jar prints it under "Eval ID"."""
        used = VARIANTS[self.variant]
        text = "norm" if self.norm else "lc_only" if self.lower else "no_norm"
        parameters = "_".join(str(value) for value in (ALPHA, BETA, GAMMA, DELTA))
        modules = "_".join(module[:2] for module in MODULES[:used])
        weights = "_".join(str(weight) for weight in MODULE_WEIGHTS[:used])
        return f"meteor-1.5-wo-en-{text}-{parameters}-{modules}-{weights}"

    def signature(self) -> Signature:
        """Meteor's Eval ID, and the versions of the packages that it takes words from.

        Raises:
            MissingDependencyError: The ``meteor`` extra is not installed.
        """
        jar_path()
        versions = {"data": f"pycocoevalcap-{package_version('pycocoevalcap')}"}
        if self.backend == "python":
            versions["stemmer"] = f"snowballstemmer-{package_version('snowballstemmer')}"
        return Signature.of(self.name, id=self.eval_id, backend=self.backend, **versions)

    def score(self, summed: Statistics) -> NDArray[np.float64]:
        """F-mean * (1 - fragmentation penalty), see :func:`score_parts`; never NaN."""
        return score_parts(summed).score

    @property
    def options(self) -> MatchOptions:
        """What decides which words match."""
        return MatchOptions(tuple(range(VARIANTS[self.variant])), self.norm, self.lower)

    def batch_statistics(self, rows: Sequence[tuple[Segment, ...]]) -> NDArray[np.int64]:
        """The 23 statistics of each segment, without the chunk of perfect segments."""
        return self.stream_statistics(rows)

    def stream_statistics(
        self, rows: Iterable[tuple[Segment, ...]], *, jobs: int = 1
    ) -> NDArray[np.int64]:
        """Statistics of a stream of rows; the jar, being slow to start, gets it as a whole."""
        if self.backend == "java":
            counts = checked_statistics(list(map(_row, rows)), self.options)
        else:
            count = partial(count_batch, options=self.options, index=prepare_index(self.options))
            batches = map_batches(count, map(_row, rows), jobs=jobs, size=_BATCH)
            counts = np.concatenate(list(batches))
        return without_perfect_chunks(counts)

    def evidence(self, hypothesis: Segment, *references: Segment) -> list[MeteorMatch]:
        """The matches of one segment with its best reference, in the order of the reference."""
        rows = [(hypothesis, references)]
        (pair,) = align_batch(rows, self.options, prepare_index(self.options))
        return _matches(pair)

    def evidence_columns(
        self, rows: Sequence[tuple[Segment, ...]], statistics: Statistics
    ) -> Iterator[dict[str, Any]]:
        """What each segment's score is made of, for a table: its parts, and its inexact matches.

        Args:
            rows: Hypothesis and references of each segment.
            statistics: Their statistics.
        """
        parts = score_parts(statistics)
        columns = (parts.precision, parts.recall, parts.penalty)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        index = prepare_index(self.options)
        for batch in batched(map(_row, rows), _BATCH):
            for pair in align_batch(batch, self.options, index):
                precision, recall, penalty = next(numbers)
                yield {
                    "precision": precision,
                    "recall": recall,
                    "penalty": penalty,
                    "inexact_matches": [m for m in _matches(pair) if m.kind != MODULES[EXACT]],
                }


def _row(texts: tuple[Segment, ...]) -> Row:
    """A hypothesis and its references, from texts of which the first is the hypothesis."""
    return texts[0], texts[1:]


def _matches(pair: AlignedPair) -> list[MeteorMatch]:
    found = []
    for position, (start, length, reference_length, module) in pair.matches:
        hypothesis = tuple(pair.hypothesis[start : start + length])
        reference = tuple(pair.reference[position : position + reference_length])
        found.append(MeteorMatch(MODULES[module], hypothesis, reference, start, position))
    return found
