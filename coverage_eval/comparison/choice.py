"""Which columns a comparison has, and the tokeniser of those that count words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from coverage_eval.align.aligner import Aligner, ModelAligner, check_aligner
from coverage_eval.align.settings import AlignerSettings
from coverage_eval.core.batches import Row, Texts
from coverage_eval.core.errors import Finding, Severity
from coverage_eval.core.metric import Metric
from coverage_eval.core.sampled_texts import SampledText
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.core.tokenizers import Tokenizer
from coverage_eval.core.word_splitting import why_untokenised
from coverage_eval.registry import default_metrics, make_metric, metric_class


class MetricChoice(NamedTuple):
    """The columns of a comparison.

    Attributes:
        metrics: The metrics by name.
        notes: Which metrics are left out, or how they split raw text.
    """

    metrics: dict[str, Metric]
    notes: list[Finding]


def choose_metrics(
    texts: Texts,
    aligner: Aligner | AlignerSettings | None = None,
    metrics: Sequence[str | Metric] | None = None,
    *,
    others: Mapping[str, Metric] = {},
    tokenize: str | None = None,
    lowercase: bool = False,
) -> MetricChoice:
    """Choose the metrics of a comparison, and make them.

    Args:
        texts: The texts, with the lines of their source.
        aligner: What links them, or the settings that make it; it is made only if a metric needs
            it.
        metrics: Names of ``coverage_eval.registry.METRICS`` (or one name), or metrics with
            settings, in the order of the columns; by default those that the texts and the aligner
            allow.
        others: Further metrics by name, such as scores of other programs.
        tokenize: The tokeniser of named metrics of words, BLEU and TER among them; None for the
            one that fits raw texts, as :func:`default_tokenizer` says, with METEOR's normalisation,
            and those of BLEU and TER.
        lowercase: Whether these metrics lowercase the text.

    Raises:
        TypeError: A metric that is neither name nor object, or something else than an aligner.
        ValueError: An unknown metric, two metrics with one name, DROP without an aligner, or no
            metric at all.
        MissingDependencyError: A metric needs a package that is not installed.
        AlignerError: The aligner failed.
    """
    if aligner is not None and not isinstance(aligner, AlignerSettings):
        check_aligner(aligner)
    notes: list[str] = []
    is_default = metrics is None
    if metrics is None:
        asked: list[str | Metric] = list(_default_names(texts, aligner, notes))
    else:
        asked = [metrics] if isinstance(metrics, str) else list(metrics)
    if not (asked or others):
        raise ValueError("no metric to compare by")
    settings: dict[str, Any] = {"tokenize": tokenize, "lowercase": lowercase, "raw": False}
    for metric in asked:  # a missing package is reported before a text is read
        if not needs_links(metric):
            _make(metric, None, tokenize, settings)
    if isinstance(aligner, AlignerSettings):
        aligner = aligner.make() if any(map(needs_links, asked)) else None
    settings["raw"] = tokenize != "none" and is_untokenised(texts.sample.rows)
    of_words = tokenize or (default_tokenizer(aligner) if settings["raw"] else "none")
    chosen: list[tuple[str, Metric]] = []
    for item in asked:
        metric = _make(item, aligner, of_words, settings)
        if is_default and not needs_links(metric):
            found = (item.message for item in metric.check(texts.sample) if item.kind == "unfit")
            if reason := next(found, ""):  # such as METEOR of German
                notes.append(f"no {metric.presentation.name} in the table: {reason}")
                continue
        chosen.append((item if isinstance(item, str) else item.presentation.name.lower(), metric))
    chosen += others.items()
    names = [name for name, _ in chosen]
    if len(set(names)) < len(names):
        raise ValueError(
            f"two metrics have one name: {', '.join(names)}; compare by them one after the other"
        )
    findings = [Finding(note, Severity.NOTE) for note in notes]
    of_rep = [
        m.presentation.name
        for _, m in chosen
        if isinstance(m, TokenMetric) and m.tokenize != "none"
    ]
    how = [f"tokenised with {of_words} for {', '.join(of_rep)}"] * (
        tokenize is None and bool(of_rep)
    )
    how += [
        f"normalised for {m.presentation.name}"
        for _, m in chosen
        if getattr(m, "norm", None) is True
    ]
    if settings["raw"] and how:
        note = f"the texts are not tokenised: {', '.join(how)} (--tokenize none turns this off)"
        findings.append(Finding(note, Severity.NOTE, kind="raw"))
    return MetricChoice(dict(chosen), findings)


def _default_names(
    texts: Texts, aligner: Aligner | AlignerSettings | None, notes: list[str]
) -> Sequence[str]:
    """The columns of the paper's Table 1 that the texts and the aligner allow."""
    if isinstance(aligner, AlignerSettings):
        has_coverages = aligner.model is not None
        has_links = has_coverages or bool(aligner.ref_links or aligner.links)
    else:
        has_links, has_coverages = aligner is not None, isinstance(aligner, ModelAligner)
    has_references = bool(texts.references)
    names, missing = default_metrics(
        has_links=has_links,
        has_coverages=has_coverages,
        has_references=has_references,
        has_several_outputs=len(texts.systems) + len(texts.peers) > 1,
        are_documents=bool(texts.documents),
    )
    if missing:
        notes.append(f"no METEOR in the table: {missing}")
    if texts.source is not None and not any(map(needs_links, names)):
        without = "DROP or soft DROP" if has_references else "omissions or additions"
        notes.append(
            f"no {without} in the table: they need a model, such as 'align train SRC TGT "
            "--prepare-for omissions -o MODEL' makes"
        )
    return names


def _make(
    metric: str | Metric, aligner: Aligner | None, of_words: str | None, asked: Mapping[str, Any]
) -> Metric:
    """A metric by its name, with what was asked for; a metric as it is.

    Args:
        metric: The name, or the metric.
        aligner: The aligner.
        of_words: The tokeniser of metrics that count words.
        asked: The user's ``tokenize`` and ``lowercase``, and whether the texts are ``raw``.
    """
    if isinstance(metric, Metric):
        return metric
    tokenizer = Tokenizer(of_words or "none", asked["lowercase"])
    source_tokenizer = aligner.source_tokenizer if aligner else tokenizer
    settings: dict[str, Any] = {"aligner": aligner, "source_tokenizer": source_tokenizer}
    # Only the user's choice is for BLEU and TER, too.
    settings |= {"tokenize": asked["tokenize"], "norm": asked["raw"]}
    if issubclass(metric_class(metric), TokenMetric):
        settings |= {"tokenize": of_words, "lowercase": asked["lowercase"]}
    return make_metric(metric, settings)


def needs_links(metric: str | Metric) -> bool:
    """Whether a metric needs an aligner.

    Raises:
        TypeError: It is neither a name nor a metric.
    """
    if not isinstance(metric, (str, Metric)):
        raise TypeError(
            f"a metric must be a name such as 'rep' or an object such as REP(), not {metric}"
        )
    needs = metric_class(metric).needs if isinstance(metric, str) else metric.needs
    return bool(needs & {"links", "coverages"})


def is_untokenised(rows: Sequence[Row]) -> bool:
    """Whether a hypothesis or a reference is raw text; twenty segments or more tell it."""
    columns = zip(*((*row.hypotheses, *row.references) for row in rows), strict=True)
    texts = (SampledText("", list(map(Tokenizer(), column))) for column in columns)
    return any(map(why_untokenised, texts))


def default_tokenizer(aligner: Aligner | None) -> str:
    """The tokeniser of REP for raw text where nobody chose one.

    It is that of the aligner's model; without a model, or with a model that names no tokeniser,
    ``13a``. Given links count words separated by spaces.
    """
    if aligner is None or (isinstance(aligner, ModelAligner) and aligner.tokenizer.name == "none"):
        return "13a"
    return aligner.tokenizer.name if isinstance(aligner, ModelAligner) else "none"
