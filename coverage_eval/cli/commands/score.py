"""The score of one output by one metric: what the commands of metrics share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coverage_eval.checks.check import check
from coverage_eval.checks.model import unknown_words_of
from coverage_eval.cli.kept_rows import error_reasons, write_kept
from coverage_eval.cli.output import refuse_fatal, show, warn, with_findings
from coverage_eval.cli.output_options import ScoreOutputOptions
from coverage_eval.cli.score_report import score_report, segment_report, segment_table
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count
from coverage_eval.core.errors import Finding
from coverage_eval.core.files import Text
from coverage_eval.core.progress import progress_bar
from coverage_eval.outputs.output_errors import find_output_errors
from coverage_eval.registry import make_metric


def score(
    name: str,
    *,
    hyp: Text,
    ref: Sequence[Text] = (),
    src: Text | None = None,
    unaligned: bool = False,
    jobs: int = 1,
    keep: str | None = None,
    reject: str | None = None,
    no_checks: bool = False,
    strict: bool,
    output: ScoreOutputOptions,
    **settings: Any,
) -> None:
    """Compute the score of an output, and print it.

    Args:
        name: One of :data:`coverage_eval.registry.METRICS`.
        hyp: The output.
        ref: The references.
        src: The source.
        unaligned: Whether the output's lines do not match the other texts', so that it is cut into
            lines first.
        jobs: Number of processes.
        keep: The file for segments without an error.
        reject: The file for segments with an error.
        no_checks: Whether to skip the checks of the texts.
        strict: Whether warnings are errors.
        output: Where the score is printed, and how.
        **settings: The settings of the metric; others are ignored.
    """
    metric, aligner = make_metric(name, settings), settings.get("aligner")
    texts = Texts({hyp.name: hyp}, ref, src)
    known: list[Finding] = []
    if unaligned:
        from coverage_eval.documents.cut_documents import cut, document_findings

        texts = cut(texts, settings.get("tokenize") or "none", aligner, jobs=jobs)
        known += document_findings(texts)
    with progress_bar(f"computing {metric.presentation.name}") as progress:
        result = count(
            texts, {name: metric}, jobs=jobs, keep_texts=output.by_segment, progress=progress
        )
    if output.by_segment:
        report = segment_report(
            result.score(name),
            segment_table(result),
            worst=output.worst,
            show_texts=not output.sentence_level,
            digits=output.digits,
        )
    else:
        report = score_report([result.score(name, resamples=output.resamples)])
    output_errors = None
    if keep or reject:  # they judge every output
        output_errors = find_output_errors(texts, aligner, jobs=jobs)
    findings = known
    if not no_checks:
        findings = check(texts.sample, [metric], known=known, output_errors=output_errors)
    refuse_fatal(findings, strict=strict)
    unknown_words = unknown_words_of(texts.sample, aligner) if aligner else None
    show(with_findings(report, findings, model=unknown_words), output)
    warn(findings)
    if keep or reject:
        scores = result.segment_scores(name)
        (errors,) = (output_errors or {}).values()
        reasons = error_reasons(metric.presentation.name, scores, errors)
        write_kept(texts, reasons, {name: scores}, keep=keep, reject=reject)
