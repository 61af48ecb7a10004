"""The score of one output by one metric: what the commands of metrics share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coverage_eval.cli.kept_rows import write_kept
from coverage_eval.cli.output import refuse_fatal, show, warn, with_findings
from coverage_eval.cli.output_options import ScoreOutputOptions
from coverage_eval.cli.score_report import score_report, segment_report, segment_table
from coverage_eval.core.batches import Texts
from coverage_eval.core.evaluation import Evaluation
from coverage_eval.core.features import Feature
from coverage_eval.core.files import Text
from coverage_eval.core.progress import progress_bar
from coverage_eval.outputs.output_errors import OutputErrors
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
        unaligned: Whether the output has other lines, and is cut first.
        jobs: Number of processes.
        keep: The file for segments without an error.
        reject: The file for segments with an error.
        strict: Whether warnings are errors.
        output: Where the score is printed, and how.
        **settings: The settings of the metric; others are ignored.
    """
    metric = make_metric(name, settings)
    features: list[Feature] = [OutputErrors(settings.get("aligner"))]
    if unaligned:
        from coverage_eval.documents.feature import Documents

        tokenize = settings.get("tokenize") or "none"
        features.insert(0, Documents(tokenize, settings.get("aligner"), jobs=jobs))
    texts = Texts({hyp.name: hyp}, ref, src)
    evaluation = Evaluation(texts, {name: metric}, features, jobs, keep_texts=output.by_segment)
    with progress_bar(f"computing {metric.name}") as progress:
        result = evaluation.run(progress)
    if output.by_segment:
        report = segment_report(
            result.score(name),
            segment_table(result),
            worst=output.worst,
            show_texts=not output.sentence_level,
        )
    else:
        report = score_report([result.score(name, resamples=output.resamples)])
    refuse_fatal(result.findings, strict=strict)
    show(with_findings(report, result.findings, result.features), output)
    warn(result.findings)
    if keep or reject:
        scores = result.segment_scores(name)
        reasons = [f"{metric.name}: {score:g}" if score else "" for score in scores]
        write_kept(result.texts or texts, reasons, {name: scores}, keep=keep, reject=reject)
