"""This package's scores that can be computed for any text, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.metrics.evaluation import TokenMetric
from coverage_eval.metrics.figures import FIGURES
from coverage_eval.metrics.mark import Explanation
from coverage_eval.metrics.measure import Metric, Result
from coverage_eval.metrics.registry import METRICS, make_metric, metric_class
from coverage_eval.testbed.score_files import ScoreColumn, pointed_words

_FIGURES = {figure.key: figure for figure in FIGURES if figure.key.lower() not in METRICS}

_WITHOUT_REFERENCE = "omissions-no-ref"

COMPUTED = (*METRICS, *_FIGURES, _WITHOUT_REFERENCE)
"""Metrics, figures of the profile, and the finder of omissions without references."""


def default_scores(aligner: Aligner | None, *, peers: bool = False) -> list[str]:
    """The scores that can be computed with this aligner or without one, with or without peers."""
    names = ["rep", "rep-letters", "REP-letters-no-ref", "seq-rep-1"]
    if peers:
        names.insert(2, "rep-peers")
    if aligner is not None:
        names += ["drop", "uncovered-source"]
    if aligner is not None and aligner.covers:
        names += ["softdrop", "omissions", _WITHOUT_REFERENCE]
    return names


def make_scores(
    names: Sequence[str],
    aligner: Aligner | None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Metric]:
    """Make the scorers, with the aligner's tokeniser and case where they count words.

    Args:
        names: Some of :data:`COMPUTED`.
        aligner: The aligner that links texts; None if there is none.
        settings: Further settings, such as ``stopwords``, for the metrics that have them.

    Raises:
        ValueError: A score needs an aligner, and there is none.
    """
    tokens: Mapping[str, Any] = {}
    if aligner is not None:
        tokens = {"tokenize": aligner.tokens.name, "lowercase": aligner.tokens.lowercase}
    made: dict[str, Metric] = {}
    for name in names:
        if name == _WITHOUT_REFERENCE:
            if aligner is None or not aligner.covers:
                raise ValueError(f"{name} needs an aligner: a model")
            made[name] = make_metric("omissions", {"aligner": aligner, "referenced": False})
        elif name not in _FIGURES:
            words = tokens if issubclass(metric_class(name), TokenMetric) else {}
            made[name] = make_metric(name, {**(settings or {}), **words, "aligner": aligner})
        elif "links" not in _FIGURES[name].needs:
            made[name] = _FIGURES[name].make(**tokens)
        elif aligner is None:
            raise ValueError(f"{name} needs an aligner: a model or links")
        else:
            made[name] = _FIGURES[name].make(aligner)
    return made


def score_columns(result: Result) -> list[ScoreColumn]:
    """The scores of all segments and systems as columns, with the source words they point at."""
    columns = []
    keys = [(s, number) for s in result.systems for number in range(1, result.segments + 1)]
    for name, metric in result.metrics.items():
        scores: list[float | None] = []
        found: list[Explanation] = []
        for system in result.systems:
            scores += result.segment_scores(name, system)
            found += result.evidence_of(name, system)
        values = dict(zip(keys, scores, strict=True))
        words = None
        if any(kind.side == "source" for kind in metric.kinds):
            pointed = (pointed_words(one.marks) for one in found)
            words = dict(zip(keys, pointed, strict=True))
        low_is_bad = metric.higher_is_better is not False  # a low length ratio hints at omissions
        columns.append(ScoreColumn(name, name, values, low_is_bad, words=words))
        chances = [one.probability for one in found]
        if None not in chances:
            of_keys = dict(zip(keys, chances, strict=True))
            columns.append(ScoreColumn(f"P({name})", name, of_keys, probability=True))
    return columns
