"""METEOR 1.5 as a metric of this package: settings, signature, statistics, score, evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.dataset import Batch, Row, make_rows
from coverage_eval.metrics.measure import ONE_SYSTEM, Metric, one_segment
from coverage_eval.metrics.meteor.candidates import EXACT, MODULES
from coverage_eval.metrics.meteor.counting import (
    AlignedPair,
    MatchOptions,
    align_batch,
    count_batch,
    prepare_index,
)
from coverage_eval.metrics.meteor.counting import Row as MeteorRow
from coverage_eval.metrics.meteor.english import object_to_other_languages
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
from coverage_eval.metrics.score import Evidence, Statistics, setting
from fast_align_wrapper.text import Segment

VARIANTS = {"full": 4, "exact-stem": 2}
"""How many of the matchers each variant uses."""

BACKENDS = ("python", "java")

SCALES = (100, 1)


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

    def to_dict(self) -> dict[str, Any]:
        """The match as plain values; positions from 0."""
        return asdict(self)

    def __str__(self) -> str:
        """Both texts, the kind of match, and where either begins: for people, from 1."""
        places = f"{self.hypothesis_start + 1}-{self.reference_start + 1}"
        return f"{' '.join(self.hypothesis)} ~ {' '.join(self.reference)} ({self.kind}) {places}"


@dataclass(frozen=True)
class METEOR(Metric):
    """METEOR 1.5 for English, as ``meteor-1.5.jar HYP REF -l en`` scores, but from 0 to 100.

    >>> metric = METEOR()
    >>> round(float(metric.sentence_score("the cat sat on the mat", "a cat sits on the mat")), 2)
    48.98
    >>> print(metric.evidence("the cat sat on the mat", "a cat sits on the mat")[1])
    sat ~ sits (synonym) 3-3

    The corpus score is that of the summed statistics, not the mean of the segments' scores. A
    segment with an empty side scores 0, and its words count in the corpus. Of several references,
    the first that gives a segment its best score counts, as with the jar's ``-r``.

    Args:
        variant: ``"full"``, or ``"exact-stem"`` for Meteor without synonyms and paraphrases.
        norm: Tokenise, normalise punctuation and lowercase, as ``-norm`` does.
        lower: Lowercase, as ``-lower`` does; ``norm`` includes it.
        backend: ``"python"``, or ``"java"`` to have the statistics counted by the jar itself.
        scale: The score's upper end: 100, or 1 as the jar prints it.

    Raises:
        ValueError: A variant, backend or scale that there is not.
    """

    variant: str = setting(
        "full", "METEOR 1.5 with all of its matchers or only two.", choices=tuple(VARIANTS)
    )
    norm: bool = setting(False, "Tokenise, normalise punctuation and lowercase.")
    lower: bool = setting(False, "Lowercase both sides.")
    backend: str = setting(
        "python", "Count in Python, or by Meteor's own program as a cross-check.", choices=BACKENDS
    )
    scale: int = setting(100, "The score's upper end; 1 is the jar's own scale.", choices=SCALES)

    name: ClassVar[str] = "METEOR"
    evidence_name: ClassVar[str | None] = "inexact_matches"
    higher_is_better: ClassVar[bool] = True
    statistic_names: ClassVar[tuple[str, ...]] = FIELDS
    undefined: ClassVar[str] = "there are no segments"
    limits: ClassVar[str] = (
        "METEOR knows stems, synonyms and paraphrases of English, and nothing of what they leave "
        "out. It weighs recall, so that dropped words lower it, but does not tell them from "
        "other ones."
    )

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(f"unknown variant {self.variant!r}; one of {', '.join(VARIANTS)}")
        if self.backend not in BACKENDS:
            raise ValueError(f"unknown backend {self.backend!r}; one of {', '.join(BACKENDS)}")
        if self.scale not in SCALES:
            raise ValueError(f"scale must be one of {SCALES}, not {self.scale!r}")

    @property
    def eval_id(self) -> str:
        """Meteor's own name of its settings, as the jar prints it under "Eval ID"."""
        used = VARIANTS[self.variant]
        text = "norm" if self.norm else "lc_only" if self.lower else "no_norm"
        parameters = "_".join(str(value) for value in (ALPHA, BETA, GAMMA, DELTA))
        modules = "_".join(module[:2] for module in MODULES[:used])
        weights = "_".join(str(weight) for weight in MODULE_WEIGHTS[:used])
        return f"meteor-1.5-wo-en-{text}-{parameters}-{modules}-{weights}"

    def settings(self) -> Mapping[str, object]:
        """Meteor's Eval ID, and the versions of the packages that it takes words from.

        Raises:
            MissingDependencyError: The ``meteor`` extra is not installed.
        """
        jar_path()
        versions = {"data": f"pycocoevalcap-{package_version('pycocoevalcap')}"}
        if self.backend == "python":
            versions["stemmer"] = f"snowballstemmer-{package_version('snowballstemmer')}"
        return {"id": self.eval_id, "scale": int(self.scale), "backend": self.backend, **versions}

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """F-mean · (1 − fragmentation penalty), see :func:`score_parts`; never NaN."""
        return self.scale * score_parts(summed).score

    @property
    def options(self) -> MatchOptions:
        """What decides which words match."""
        return MatchOptions(tuple(range(VARIANTS[self.variant])), self.norm, self.lower)

    def prepare(self) -> None:
        """Make the index of paraphrases, so that not each process makes one."""
        prepare_index(self.options)

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """Statistics ``[systems, segments, 23]``, without the chunk of perfect segments."""
        counts = count_batch(_pairs(batch.rows), self.options, prepare_index(self.options))
        shaped = without_perfect_chunks(counts).reshape(len(batch), -1, len(FIELDS))
        return np.asarray(shaped.swapaxes(0, 1))

    def objection(self, rows: Sequence[Row]) -> str | None:
        """Against references that do not look English."""
        return object_to_other_languages(rows)

    def explain(self, batch: Batch) -> Iterator[tuple[Evidence, ...]]:
        """What each score is made of: precision, recall and penalty (0 to 1), inexact matches."""
        index = prepare_index(self.options)
        for row in batch.rows:
            pairs = align_batch(_pairs([row]), self.options, index)
            yield tuple(map(_explain_pair, pairs))

    def evidence(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> list[MeteorMatch]:
        """All matches of one segment with its best reference, in the order of the reference."""
        texts = one_segment(hypothesis, reference, source)
        rows = make_rows({ONE_SYSTEM: texts[0]}, *texts[1:])
        (pair,) = align_batch(_pairs(rows), self.options, prepare_index(self.options))
        return _matches(pair)


def _pairs(rows: Sequence[Row]) -> list[MeteorRow]:
    """Each hypothesis with its references, row by row."""
    return [(text, row.references) for row in rows for text in row.hypotheses]


def _explain_pair(pair: AlignedPair) -> Evidence:
    parts = score_parts(without_perfect_chunks(np.array([pair.counts])))
    return {
        "precision": float(parts.precision[0]),
        "recall": float(parts.recall[0]),
        "penalty": float(parts.penalty[0]),
        "inexact_matches": [m for m in _matches(pair) if m.kind != MODULES[EXACT]],
    }


def _matches(pair: AlignedPair) -> list[MeteorMatch]:
    found = []
    for position, (start, length, reference_length, module) in pair.matches:
        hypothesis = tuple(pair.hypothesis[start : start + length])
        reference = tuple(pair.reference[position : position + reference_length])
        found.append(MeteorMatch(MODULES[module], hypothesis, reference, start, position))
    return found
