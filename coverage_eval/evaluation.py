"""What a user asked for, as one dataclass.

Every command and every function of :mod:`coverage_eval` builds an :class:`Evaluation`, so columns,
tokenisers, checks and figures are the same whichever way a score is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from coverage_eval.align.aligner import Aligner, AlignerSettings, ModelAligner, check_aligner
from coverage_eval.core.batches import Row, RowSample, Texts
from coverage_eval.core.checks import SampledText, combine_findings
from coverage_eval.core.errors import Finding, Severity
from coverage_eval.core.machine import Progress, counted, no_progress, parts
from coverage_eval.core.measure import Result, TokenMetric, aligner_of, measure
from coverage_eval.core.metric import Metric
from coverage_eval.core.text_checks import check_texts, why_untokenised
from coverage_eval.core.tokenizers import Tokenizer
from coverage_eval.outputs.named import KINDS, NAMED_ERRORS, by_system, learn_named, named_findings
from coverage_eval.registry import default_metrics, make_metric, metric_class

if TYPE_CHECKING:
    from coverage_eval.documents.cut_documents import MatchedTexts


@dataclass(frozen=True)
class Evaluation:
    """Texts, and how they are scored; :meth:`run` scores them.

    >>> texts = Texts.from_lists({"mine": ["a red red house"]}, ["a red house"])
    >>> Evaluation(texts, metrics=["rep"]).run().score("rep").score
    66.66666666666667

    Attributes:
        texts: The outputs of systems, with references, source and peers, from lists or files.
        documents: If outputs are cut first by the lines of their source, or of the first reference
            without a model: the tokeniser that finds the words of references; None if lines match.
        aligner: What links the texts, or the settings that make it; it is made only if a metric
            needs it.
        metrics: Names of ``coverage_eval.registry.METRICS``, or metrics with settings, in
            the order of the columns; by default those that the texts and the aligner allow.
        others: Further metrics by name, such as scores of other programs.
        own_settings: Settings of named metrics, by the metric's name.
        tokenize: The tokeniser of references and outputs for named metrics of words and for tables
            of words; None for the one that fits the texts, as :func:`fit_words` says.
        lowercase: Whether these metrics lowercase the text.
        jobs: Number of processes for metrics of text; the result does not depend on it.
        evidence: Whether to keep the texts, so the result can give evidence.
        named: Whether to look at every output for errors that have a name, such as copies of the
            source; see :mod:`coverage_eval.outputs.named`.
        progress: Where to report the share of the work that is done.
    """

    texts: Texts
    aligner: Aligner | AlignerSettings | None = None
    metrics: Sequence[str | Metric] | None = None
    others: Mapping[str, Metric] = field(default_factory=dict)
    own_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tokenize: str | None = "none"
    lowercase: bool = False
    jobs: int = 1
    evidence: bool = False
    named: bool = False
    progress: Progress = no_progress
    documents: str | None = None

    @cached_property
    def _cut(self) -> MatchedTexts | None:
        """The texts with outputs cut by the lines of their source; None if lines match anyway."""
        if self.documents is None:
            return None
        from coverage_eval.documents.cut_documents import match_lines

        aligner = self.aligner or aligner_of(self.others.values())
        return match_lines(
            self.texts, self.documents, aligner, jobs=self.jobs, progress=self._stages[0]
        )

    @property
    def _stages(self) -> list[Progress]:
        """The progress of cutting documents, of fitting metrics to a sample, and of counting."""
        return parts(self.progress, 0.0 if self.documents is None else 5.0, 1.0, 9.0)

    @property
    def dataset(self) -> Texts:
        """The texts line by line, cut if they are documents.

        Raises:
            DataError, TypeError, AlignerError: As
                :func:`~coverage_eval.documents.cut_documents.match_lines`.
        """
        return self.texts if self._cut is None else self._cut.texts

    def run(self) -> Result:
        """Choose the metrics, fit them to a sample of the texts, measure, and check the texts.

        Raises:
            DataError: Unequal texts, links of other systems, or a metric lacks a text; an output of
                documents is no translation of its source.
            TypeError: A metric that is neither name nor object, something else than an aligner, or
                a metric needs texts that are not there.
            ValueError: An unknown metric, two metrics with one name, or DROP without an aligner.
            MissingDependencyError: A metric needs a package that is not installed.
            AlignerError: The aligner failed.
        """
        columns, notes = self._choose()
        texts, cut = self.dataset, self._cut
        sample = texts.sample
        aligner = self._make_aligner(columns)
        tokenize = self.tokenize
        if tokenize is None:
            tokenize, said = fit_words(sample.rows, aligner)
            notes += said
        metrics = self._make_metrics(columns, aligner, tokenize)
        for metric in metrics.values():
            metric.check_needs(texts.references or None, texts.source)
        aligner = aligner or aligner_of(metrics.values())  # a metric may bring its own

        _, fitting, counting = self._stages
        shown = counted(metrics.items(), fitting, len(metrics))
        fitted = {name: metric.fit(sample) for name, metric in shown}
        needs_named_errors = self.named or any("named errors" in m.needs for m in metrics.values())
        result = measure(
            texts,
            fitted,
            computed={NAMED_ERRORS: learn_named(sample, aligner).request}
            if needs_named_errors
            else {},
            jobs=self.jobs,
            evidence=self.evidence,
            progress=counting,
        )
        known = [*(cut.findings() if cut else ()), *notes]
        named: Mapping[str, Any] = {}
        if needs_named_errors:
            named = by_system(tuple(texts.systems), result.computed[NAMED_ERRORS])
            # Documents' own notes tell of lines that are missing.
            kinds = [kind for kind in KINDS if not (cut and kind == "empty")]
            known += named_findings(named, result.segments, kinds)
        known += [finding for metric in fitted.values() for finding in metric.findings]
        found, unknown = self._check(sample, metrics.values())
        tokens = Tokenizer(tokenize, self.lowercase)
        documents = cut.documents if cut else {}
        return replace(
            result,
            tokens=tokens,
            source_tokens=aligner.source_tokens if aligner else tokens,
            findings=combine_findings([*known, *found], sample.source),
            computed={NAMED_ERRORS: named, "unknown words": unknown, "documents": documents},
            signed={"seg": cut.segmentation} if cut else {},
        )

    def _check(
        self, sample: RowSample, metrics: Collection[Metric]
    ) -> tuple[list[Finding], dict[str, float]]:
        """What looks wrong with the texts, and how well a model knows them."""
        words = next((metric.tokens for metric in metrics if hasattr(metric, "tokens")), None)
        aligner = aligner_of(metrics)
        if aligner is None:
            return check_texts(sample, words), {}
        from coverage_eval.align.checks import check_aligned

        return check_aligned(sample, aligner, words)

    def column_names(self) -> tuple[list[str | Metric], str | None]:
        """The columns before any text is read, and why METEOR is not among them; None if it is."""
        if self.metrics is not None:
            return ([self.metrics] if isinstance(self.metrics, str) else list(self.metrics)), None
        aligner, documents = self.aligner, self.documents is not None
        if isinstance(aligner, AlignerSettings):
            aligns, covers = aligner.is_given, aligner.model is not None
        else:
            aligns, covers = aligner is not None, isinstance(aligner, ModelAligner)
        referenced = bool(self.texts.references)
        names, missing = default_metrics(
            aligns=aligns, covers=covers, referenced=referenced, documents=documents
        )
        return list(names), missing

    def _choose(self) -> tuple[list[str | Metric], list[Finding]]:
        """The metrics, and notes of those that are left out because they do not fit the texts."""
        if self.aligner is not None and not isinstance(self.aligner, AlignerSettings):
            check_aligner(self.aligner)
        columns, missing = self.column_names()
        # A missing package is reported before a text is read.
        names = [name for name in columns if isinstance(name, str) and not _needs_links(name)]
        metrics = {name: self._make(name, None, self.tokenize) for name in names}
        left_out = [f"no METEOR in the table: {missing}"] if missing else []
        if self.metrics is None:
            if self.texts.source is not None and not any(map(_needs_links, columns)):
                without = "DROP or soft DROP" if self.texts.references else "omissions or additions"
                left_out.append(
                    f"no {without} in the table: they need a model, such as 'align train SRC TGT "
                    "--prepare-for omissions -o MODEL' makes"
                )
            for name, metric in metrics.items():
                if findings := metric.fit(self.dataset.sample).findings:
                    columns.remove(name)
                    left_out.append(f"no {metric.name} in the table: {findings[0].message}")
        if not (columns or self.others):
            raise ValueError("no metric to compare by")
        return columns, [Finding(message, Severity.NOTE) for message in left_out]

    def _make_aligner(self, columns: Sequence[str | Metric]) -> Aligner | None:
        """The aligner, if a metric needs it."""
        if not any(map(_needs_links, columns)):
            return None
        return self.aligner.make() if isinstance(self.aligner, AlignerSettings) else self.aligner

    def _make_metrics(
        self, columns: Sequence[str | Metric], aligner: Aligner | None, tokenize: str
    ) -> dict[str, Metric]:
        """The metrics by name."""
        names = [name if isinstance(name, str) else name.name.lower() for name in columns]
        names += self.others
        if len(set(names)) < len(names):
            raise ValueError(
                f"two metrics have one name: {', '.join(names)}; compare by them one after the "
                "other"
            )
        made = [self._make(column, aligner, tokenize) for column in columns]
        return dict(zip(names, [*made, *self.others.values()], strict=True))

    def _make(self, metric: str | Metric, aligner: Aligner | None, tokenize: str | None) -> Metric:
        if isinstance(metric, Metric):
            return metric
        tokens = Tokenizer(tokenize or "none", self.lowercase)
        source_tokens = aligner.source_tokens if aligner else tokens
        settings: dict[str, Any] = {"aligner": aligner, "source_tokens": source_tokens}
        # BLEU has its own tokeniser under the same name.
        if issubclass(_kind(metric), TokenMetric):
            settings |= {"tokenize": tokenize, "lowercase": self.lowercase}
        return make_metric(metric, settings | dict(self.own_settings.get(metric, {})))


def _kind(metric: str | Metric) -> type[Metric]:
    if not isinstance(metric, (str, Metric)):
        raise TypeError(
            f"a metric must be a name such as 'rep' or an object such as REP(), not {metric}"
        )
    return metric_class(metric) if isinstance(metric, str) else type(metric)


def _needs_links(metric: str | Metric) -> bool:
    return bool(_kind(metric).needs & {"links", "coverages"})


def fit_words(rows: Sequence[Row], aligner: Aligner | None) -> tuple[str, list[Finding]]:
    """The tokeniser of REP where nobody chose one.

    Tokenised text, and text of fewer than twenty segments, is split at spaces. Other text gets the
    tokeniser of the aligner's model; without a model, or with a model that names no tokeniser,
    ``13a``.

    Args:
        rows: The texts, some of them or all.
        aligner: What links them; given links count words separated by spaces.

    Returns:
        The tokeniser's name, and a note if text is tokenised.
    """
    none = Tokenizer()
    columns = zip(*((*row.hypotheses, *row.references) for row in rows), strict=True)
    sampled = (SampledText("", [none(segment) for segment in column]) for column in columns)
    is_raw = any(map(why_untokenised, sampled))
    if not is_raw or not isinstance(aligner, (ModelAligner, type(None))):
        return "none", []
    name = "13a" if aligner is None or aligner.tokens.name == "none" else aligner.tokens.name
    note = f"the texts are not tokenised: REP tokenises them with {name}"
    note += " (--tokenize none turns this off)"
    return name, [Finding(note, Severity.NOTE)]
