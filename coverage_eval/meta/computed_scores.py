"""The scores of this package that can be computed of any text, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.meta.ways_to_score import FinderScorer, MetricScorer, Scorer
from coverage_eval.metrics.base import TokenMetric
from coverage_eval.metrics.profile.figures import FIGURES
from coverage_eval.metrics.registry import METRICS, make_metric, metric_class
from coverage_eval.omissions.finder import OmissionFinder

_FIGURES = {figure.key: figure for figure in FIGURES if figure.key.lower() not in METRICS}

_FINDERS = {"omissions": True, "omissions-no-ref": False}
"""Name of the finder of omissions → whether it looks at references."""

COMPUTED = (*METRICS, *_FIGURES, *_FINDERS)
"""Metrics, figures of the profile, and the finder of omissions."""


def default_scores(aligner: Aligner | None) -> list[str]:
    """What is worth to be computed with that aligner, or without any."""
    names = ["rep", "rep-letters", "REP-letters-no-ref", "seq-rep-1"]
    if aligner is not None:
        names += ["drop", "uncovered-source"]
    if isinstance(aligner, ModelAligner):
        names += ["softdrop", *_FINDERS]
    return names


def make_scores(
    names: Sequence[str],
    aligner: Aligner | None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Scorer]:
    """Make what gives scores, with the aligner's words and case where it counts words.

    Args:
        names: Some of :data:`COMPUTED`.
        aligner: What links texts; None if there is none.
        settings: Further settings of metrics, such as ``stopwords``, for those that have them.

    Raises:
        ValueError: A score needs an aligner, and there is none.
    """
    cut: Mapping[str, Any] = {}
    if aligner is not None:
        cut = {"tokenize": aligner.tokens.name, "lowercase": aligner.tokens.lowercase}
    made: dict[str, Scorer] = {}
    for name in names:
        if name in _FINDERS:
            if not isinstance(aligner, ModelAligner):
                raise ValueError(f"{name} needs an aligner: a model")
            made[name] = FinderScorer(OmissionFinder.of(aligner, referenced=_FINDERS[name]))
        elif name not in _FIGURES:
            words = cut if issubclass(metric_class(name), TokenMetric) else {}
            made[name] = MetricScorer(
                make_metric(name, {**(settings or {}), **words, "aligner": aligner})
            )
        elif "links" not in _FIGURES[name].needs:
            made[name] = MetricScorer(_FIGURES[name].make(**cut))
        elif aligner is None:
            raise ValueError(f"{name} needs an aligner: a model or links")
        else:
            made[name] = MetricScorer(_FIGURES[name].make(aligner))
    return made
