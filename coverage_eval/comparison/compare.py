"""Compare systems on one test set: scores, intervals, p-values against a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from coverage_eval.align.aligner import Aligner, aligner_of
from coverage_eval.checks.check import check
from coverage_eval.comparison.choice import MetricChoice, choose_metrics
from coverage_eval.comparison.pairs import PValues, make_tests
from coverage_eval.comparison.statements import unusable_systems
from coverage_eval.comparison.table import ComparedScore, Comparison
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count
from coverage_eval.core.errors import warn_of
from coverage_eval.core.metric import Metric
from coverage_eval.core.progress import Progress, no_progress
from coverage_eval.core.result import Result
from coverage_eval.core.significance import Resampled, SignificanceTest, sample_scores
from coverage_eval.core.tokenizers import Segment
from coverage_eval.outputs.output_errors import find_output_errors


def compare(
    systems: Mapping[str, Sequence[Segment]],
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
    aligner: Aligner | None = None,
    *,
    metrics: Sequence[str | Metric] | None = None,
    baseline: str | None = None,
    test: str = SignificanceTest.test,
    resamples: int = SignificanceTest.resamples,
    seed: int = SignificanceTest.seed,
    tokenize: str | None = None,
    lowercase: bool = False,
    jobs: int = 1,
    unaligned: bool = False,
) -> Comparison:
    """Compare systems on one test set.

    >>> references = ["a red house", "the dog sleeps"]
    >>> systems = {"good": references, "bad": ["a red red house", "the dog the dog"]}
    >>> comparison = compare(systems, references, metrics=["rep"])
    >>> [float(cells["rep"].score) for cells in comparison.rows.values()]
    [0.0, 50.0]

    Args:
        systems: Outputs by name, the order of the rows; strings or lists of tokens.
        references: Reference segments, or a list of several references; None to compare without.
        sources: Source segments, for DROP, soft DROP and all comparisons without references.
        aligner: What links them, for the same metrics.
        metrics: Names of ``coverage_eval.registry.METRICS`` (or one name), or metrics with
            settings, in the order of the columns; by default BLEU, METEOR if it fits the texts and
            its packages are installed, REP, DROP with an aligner and soft DROP with a model;
            without references, how much shorter outputs are, and omissions with a model.
        baseline: The system to test against; by default the first.
        test: ``"randomization"``, or sacreBLEU's ``"bootstrap"``.
        resamples: Resamples for intervals and test; 0 for neither.
        seed: Their seed.
        tokenize: The tokeniser of all metrics that have one, such as BLEU, TER and REP; an aligner
            has its own. By default, for REP, as
            :func:`coverage_eval.comparison.choice.default_tokenizer` says.
        lowercase: Whether REP lowercases the text.
        jobs: Processes for metrics of text.
        unaligned: Whether outputs are translations of one document with any lines, each a text or
            its lines, to be cut first by the lines of the sources, or without an aligner of the
            first reference; see :func:`coverage_eval.segment`.

    Raises:
        DataError: Unequal texts, links of other systems, or a metric's score is undefined; an
            output of a document that is no translation of its source.
        TypeError: Systems without names, a metric that is neither name nor object, or a metric
            needs texts that are None.
        ValueError: An unknown metric or baseline, two metrics with one name, or DROP without an
            aligner.
        MissingDependencyError: METEOR without its extra.
        AlignerError: The aligner failed.
    """
    if not isinstance(systems, Mapping):
        raise TypeError(
            "systems must map names to segments, such as {'mine': hypotheses}, not "
            f"{type(systems).__name__}"
        )
    how = SignificanceTest(test, resamples, seed, baseline)
    texts = Texts.from_lists(systems, references, sources, unaligned=unaligned)
    if unaligned:
        from coverage_eval.documents.cut_documents import cut  # it imports SciPy

        texts = cut(texts, tokenize or "none", aligner, jobs=jobs)
    choice = choose_metrics(texts, aligner, metrics, tokenize=tokenize, lowercase=lowercase)
    result = count_and_check(texts, choice, jobs=jobs)
    warn_of(result.findings)
    return compare_result(result, how)


def count_and_check(
    texts: Texts,
    choice: MetricChoice,
    *,
    jobs: int = 1,
    keep_texts: bool = True,
    every_output: bool = False,
    checks: bool = True,
    progress: Progress = no_progress,
) -> Result:
    """Score texts by the chosen metrics, then look for what is wrong with them.

    Args:
        texts: The texts.
        choice: The metrics.
        jobs: Number of processes for metrics of text.
        keep_texts: Whether to keep the texts, so that the result can explain scores.
        every_output: Whether to look at every output for errors, not only at a sample.
        checks: Whether to look for mistakes in the texts.
        progress: Where to report the share of the work that is done.

    Raises:
        DataError, TypeError, ValueError, AlignerError: As
            :func:`coverage_eval.core.counting.count`.
    """
    result = count(texts, choice.metrics, jobs=jobs, keep_texts=keep_texts, progress=progress)
    known, metrics = choice.notes, choice.metrics.values()
    if texts.documents:
        from coverage_eval.documents.cut_documents import document_findings

        known = [*document_findings(texts), *known]
    output_errors = None
    if every_output:
        output_errors = find_output_errors(texts, aligner_of(metrics), jobs=jobs)
    if checks:
        known = check(texts.sample, metrics, known=known, output_errors=output_errors)
    return replace(result, findings=known, output_errors=output_errors or {})


def compare_result(result: Result, test: SignificanceTest | None = None) -> Comparison:
    """Compare systems by the result of an evaluation, as :func:`compare` does.

    Intervals and bootstrap tests of all metrics come from the same resamples.

    Raises:
        ValueError: No metric, or an unknown baseline.
    """
    test, metrics, systems = test or SignificanceTest(), result.metrics, result.systems
    if not (metrics or result.refused):
        raise ValueError("no metric to compare by")
    baseline = systems[0] if test.baseline is None else test.baseline
    if baseline not in systems:
        raise ValueError(
            f"the baseline {baseline!r} is not one of the systems {', '.join(systems)}"
        )
    counted = [
        (metric, dict(zip(systems, result.statistics[name], strict=True)))
        for name, metric in metrics.items()
    ]
    sampled = None
    if test.resamples and counted:
        sampled = sample_scores(counted, test.resamples, test.seed)
    tests = make_tests(result, test, counted, sampled)
    cells = {
        name: _compare_scores(
            result, name, baseline, draws, tests.by_metric.get(name, {}), test.seed
        )
        for name, draws in zip(metrics, sampled or [{}] * len(counted), strict=True)
    }
    rows = {system: {name: cells[name][system] for name in metrics} for system in systems}
    return Comparison(rows, baseline, test, result, tests)


def _compare_scores(
    result: Result,
    name: str,
    baseline: str,
    sampled: Mapping[str, Resampled],
    tested: Mapping[frozenset[str], PValues],
    seed: int,
) -> dict[str, ComparedScore]:
    """One metric for all systems, with intervals and p-values if there are resamples."""
    scores = {system: result.score(name, system) for system in result.systems}
    higher_is_better = scores[baseline].higher_is_better
    # Few errors of an output that is nearly empty are no merit.
    unusable = unusable_systems(result) if higher_is_better is False else []
    best = None
    usable = [score.score for system, score in scores.items() if system not in unusable]
    if usable and len(scores) > 1 and higher_is_better is not None:
        best = max(usable) if higher_is_better else min(usable)
    cells = {}
    for system, score in scores.items():
        interval = sampled[system].interval(seed) if sampled else None
        is_best = score.score == best and system not in unusable
        cell = ComparedScore(replace(score, interval=interval), best=is_best)
        if system != baseline:
            difference = score.score - scores[baseline].score
            changes = (sampled[system] - sampled[baseline]).interval(seed) if sampled else None
            cell = replace(cell, difference=difference, difference_interval=changes)
            lower = system if difference < 0 else baseline
            if tested and not (difference and lower in unusable):
                cell = replace(cell, **tested[frozenset((system, baseline))]._asdict())
        cells[system] = cell
    return cells
