"""Scores of a corpus, with checks of its texts, and of a segment.

The methods of a metric and the functions of :mod:`coverage_eval.api` call these functions. A metric
knows neither the loop that counts it nor the checks that look at its texts, so it calls them by
name (:data:`coverage_eval.core.metric.SCORING`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from coverage_eval.checks.check import check
from coverage_eval.core.batches import ONE_SYSTEM, Texts
from coverage_eval.core.counting import count, count_fitted
from coverage_eval.core.errors import Finding, warn_of
from coverage_eval.core.mark import Explanation
from coverage_eval.core.metric import Metric
from coverage_eval.core.result import Result
from coverage_eval.core.score import Score
from coverage_eval.core.significance import DEFAULT_SEED
from coverage_eval.core.tokenizers import Segment


class Scoring(TypedDict, total=False):
    """What all ways to score a text take besides the settings of a metric, by keyword.

    Attributes:
        jobs: Number of processes; by default 1.
        resamples: Bootstrap resamples of a 95% interval; by default 0 for none.
        seed: Their seed.
        unaligned: Whether hypotheses are a document of other lines, a text or its lines, to be cut
            first by the lines of the sources, or of the first reference where there are no links;
            see :func:`coverage_eval.segment`.
    """

    jobs: int
    resamples: int
    seed: int
    unaligned: bool


def score_corpus(
    metric: Metric,
    hypotheses: Sequence[Segment],
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
    peers: Sequence[Sequence[Segment]] = (),
    *,
    jobs: int = 1,
    resamples: int = 0,
    seed: int = DEFAULT_SEED,
    unaligned: bool = False,
) -> Score:
    """The score of a corpus, with warnings if its texts look wrong.

    Args and errors are those of :meth:`coverage_eval.core.metric.Metric.corpus_score`.
    """
    texts = Texts.from_lists(
        {ONE_SYSTEM: hypotheses}, references, sources, peers, unaligned=unaligned
    )
    known: list[Finding] = []
    if unaligned:
        from coverage_eval.documents.cut_documents import cut, document_findings

        aligner = getattr(metric, "aligner", None)
        texts = cut(texts, getattr(metric, "tokenize", "none"), aligner, jobs=jobs)
        known += document_findings(texts)
    result = count(texts, {metric.presentation.name: metric}, jobs=jobs)
    warn_of(check(texts.sample, [metric], known=known), stacklevel=3)
    return result.score(metric.presentation.name, resamples=resamples, seed=seed)


def score_segment(metric: Metric, *segment: Any) -> Score:
    """The score of a hypothesis, its references and its source, as a corpus of one segment."""
    return _count_segment(metric, *segment).score(metric.presentation.name)


def explain_segment(metric: Metric, *segment: Any) -> Explanation:
    """Why a hypothesis has its score."""
    (found,) = _count_segment(metric, *segment, keep_texts=True).explanations_of(
        metric.presentation.name
    )
    return found


def _count_segment(metric: Metric, *segment: Any, keep_texts: bool = False) -> Result:
    texts = Texts.from_segment(*segment)
    metric.check_needs(texts.references or None, texts.source)
    return count_fitted(
        texts, {metric.presentation.name: metric.fit(texts.sample)}, keep_texts=keep_texts
    )
