"""The metrics by name, each with its line in the help.

A metric is one file and one entry here; it can then be a column of ``compare`` and, unless its
entry says otherwise, has its own command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from coverage_eval.core.errors import MissingDependencyError

if TYPE_CHECKING:
    from coverage_eval.core.metric import Metric


class MetricEntry(NamedTuple):
    """Where a metric is defined, and its command.

    Attributes:
        import_path: Its module in ``coverage_eval`` and its class there, as ``repetition.rep:REP``.
        summary: One line for ``--help``.
        command: Whether it has its own command.
    """

    import_path: str
    summary: str
    command: bool = True


_COLUMN = partial(MetricEntry, command=False)
"""A metric that has no command of its own."""

METRICS: Mapping[str, MetricEntry] = {
    "bleu": MetricEntry("quality.sacre:BLEU", "BLEU, by sacreBLEU."),
    "meteor": MetricEntry(
        "quality.meteor.metric:METEOR", "METEOR 1.5 for English, without Java."
    ),
    "meteor-nltk": _COLUMN(
        "quality.meteor.nltk_variant:NLTKMeteor", "NLTK's METEOR, which is another metric."),
    "chrf": _COLUMN("quality.sacre:CHRF", "chrF2, by sacreBLEU."),
    "ter": _COLUMN("quality.sacre:TER", "TER, by sacreBLEU."),
    "rep": MetricEntry(
        "repetition.rep:REP",
        "REP-score: words that the output repeats and the reference does not.",
    ),
    "rep-letters": _COLUMN(
        "repetition.rep:LetterREP",
        "REP in letters: n-grams of every length up to n, weighted by their letters."),
    "drop": MetricEntry(
        "coverage.drop:DROP",
        "DROP-score: source words that the reference translates and the output drops.",
    ),
    "softdrop": _COLUMN(
        "coverage.drop:SoftDROP", "Soft DROP: coverage lost under the model's posteriors."),
    "omissions": _COLUMN(
        "coverage.omissions:Omissions",
        "Segments with an omission, under the model's posteriors."),
    "additions": _COLUMN(
        "coverage.omissions:Additions",
        "Segments with words that have no source, without reference."),
    "shortfall": _COLUMN(
        "repetition.other_metrics:Shortfall", "How much shorter outputs are than the others', %."),
    "length-ratio": _COLUMN(
        "repetition.other_metrics:LengthRatio", "Words of the output per word of the source."),
    "rep-letters-no-ref": _COLUMN(
        "repetition.rep:LetterRepetition",
        "REP in letters without reference, per 100 output words."),
    "seq-rep-4": _COLUMN(
        "repetition.other_metrics:SeqRep", "Repeated 4-grams, % of each segment, mean."),
    "tng": _COLUMN(
        "repetition.other_metrics:TNG", "Segments whose top 4-gram beats the source's by 2, %."),
    "tail-loop": _COLUMN("repetition.other_metrics:TailLoop", "Segments with a loop, %."),
    "compression": _COLUMN(
        "repetition.other_metrics:CompressionRatio",
        "Bytes per compressed byte; loops shrink well."),
    "missing-lines": _COLUMN(
        "documents.metrics:MissingLines",
        "Source words in lines without a translation, of documents."),
    "extra-text": _COLUMN(
        "documents.metrics:ExtraText", "Output words that belong to no line, of documents."),
}  # fmt: skip


def metric_class(name: str) -> type[Metric]:
    """The class of a metric.

    Raises:
        ValueError: No metric has that name.
    """
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}; one of {', '.join(METRICS)}")
    module, _, class_name = METRICS[name].import_path.partition(":")
    found: type[Metric] = getattr(import_module(f"coverage_eval.{module}"), class_name)
    return found


def make_metric(name: str, settings: Mapping[str, Any]) -> Metric:
    """Make a metric from the settings that it has; others are ignored.

    Args:
        name: One of :data:`METRICS`.
        settings: Values by field name, such as ``aligner``; None stands for the default.

    Raises:
        ValueError: No metric has that name, a setting is out of range, or an aligner is missing.
        MissingDependencyError: A package that the metric needs is not installed.
    """
    kind = metric_class(name)
    known = {item.name for item in fields(kind)}
    chosen = {k: v for k, v in settings.items() if k in known and v is not None}
    if "aligner" in known and "aligner" not in chosen:
        raise ValueError(
            f"{kind.presentation.name} needs an aligner: the source text, and a model or links"
        )
    metric = kind(**chosen)
    metric.get_signature()  # report a missing package before any text is read
    return metric


def default_metrics(
    *,
    has_links: bool,
    has_coverages: bool,
    has_references: bool,
    has_several_outputs: bool,
    are_documents: bool = False,
) -> tuple[Sequence[str], str | None]:
    """The columns of the paper's Table 1 that the texts allow, with soft DROP beside DROP.

    Without references, other metrics take their place.

    Args:
        has_links: Whether there are links.
        has_coverages: Whether there are coverages.
        has_references: Whether there is a reference.
        has_several_outputs: Whether there are several outputs.
        are_documents: Whether the outputs are documents that are cut.

    Returns:
        Names of metrics, and why METEOR is missing, or None.
    """
    of_documents = ["missing-lines", "extra-text"] if are_documents else []
    if not has_references:
        found = ["omissions"] if has_coverages else []
        return [*found, "shortfall" if has_several_outputs else "length-ratio", *of_documents], None
    missing = None
    try:
        make_metric("meteor", {})
    except MissingDependencyError as error:
        missing = str(error)
    of_links = [*(["drop"] if has_links else []), *(["softdrop"] if has_coverages else [])]
    names = ["bleu", *([] if missing else ["meteor"]), "rep", *of_links, *of_documents]
    return names, missing
