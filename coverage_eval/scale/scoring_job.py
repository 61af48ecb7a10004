"""What is scored and how, in a form that travels to the workers of any engine."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.metrics.base import Formula
from coverage_eval.metrics.profile.profile import make_figures
from coverage_eval.metrics.registry import make_metric
from coverage_eval.omissions.finder import OmissionFinder
from coverage_eval.omissions.share import AdditionShare, OmissionShare
from coverage_eval.scale.batch_scorer import BatchScorer
from coverage_eval.scale.text_columns import BatchColumns

MakeFigures = Callable[["Aligner | None"], "Mapping[str, Formula]"]


def make_metrics(
    aligner: Aligner | None, *, metrics: Mapping[str, Mapping[str, Any]]
) -> dict[str, Formula]:
    """Metrics with their settings, by the names of :data:`coverage_eval.metrics.registry.METRICS`.

    Args:
        aligner: What links the texts, for metrics that need it.
        metrics: Settings by name.
    """
    return {
        name: make_metric(name, {"aligner": aligner, **settings})
        for name, settings in metrics.items()
    }


def make_profile(aligner: Aligner | None, **settings: Any) -> dict[str, Formula]:
    """The figures of :func:`coverage_eval.profile`, of the same settings."""
    return dict(make_figures(aligner=aligner, **settings))


def make_share(
    aligner: Aligner | None, *, additions: bool, referenced: bool, threshold: float | None
) -> dict[str, Formula]:
    """The share of segments with omissions, or with additions."""
    assert aligner is not None
    finder = OmissionFinder.of(aligner, "target" if additions else "source", referenced=referenced)
    share = (AdditionShare if additions else OmissionShare)(finder, threshold)
    return {share.name.lower(): share}


@dataclass(frozen=True)
class ScoringJob:
    """Texts, figures and how they are aligned; its parts can be pickled, and no model is in it.

    Args:
        columns: Where the texts are.
        make: Makes the figures of an aligner, or of None: a function of this module with its
            settings (:func:`functools.partial`).
        alignment: Options of :meth:`coverage_eval.Aligner.load`.
        evidence: Whether evidence is kept.
    """

    columns: BatchColumns
    make: MakeFigures
    alignment: Mapping[str, Any] = field(default_factory=dict)
    evidence: bool = True

    def aligner(self, model: str | None, **options: Any) -> ModelAligner | None:
        """The aligner of a model file, with the job's options and others."""
        return None if model is None else Aligner.load(model, **self.alignment, **options)

    def scorer(self, model: str | None = None, **options: Any) -> BatchScorer:
        """What scores batches, with an aligner of its own.

        Args:
            model: The model's file on this machine.
            **options: Further options of :meth:`coverage_eval.Aligner.load`.
        """
        figures = self.make(self.aligner(model, **options))
        return BatchScorer(self.columns, figures, self.evidence)


@lru_cache(maxsize=2)
def worker_scorer(pickled: bytes, model: str | None) -> BatchScorer:
    """The scorer of a job in a worker process, with one model for all its tasks.

    Args:
        pickled: The job, pickled by the driver of the same program.
        model: As for :meth:`ScoringJob.scorer`.
    """
    job: ScoringJob = pickle.loads(pickled)  # noqa: S301 (from our own driver)
    return job.scorer(model, threads=1)
