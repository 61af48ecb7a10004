"""What a user asked for, as one dataclass.

Every command and every function of :mod:`coverage_eval` builds an :class:`Evaluation`, so columns,
tokenisers, checks and figures are the same whichever way a score is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from coverage_eval.align.aligner import Aligner, AlignerSettings, ModelAligner, check_aligner
from coverage_eval.align.checks import check_inputs, fit_words
from coverage_eval.core.checks import Finding, Gravity
from coverage_eval.core.dataset import Dataset
from coverage_eval.core.mark import NamedSegments
from coverage_eval.core.measure import Metric, Result, aligner_of, measure
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.core.tokenizers import Tokenizer
from coverage_eval.documents.settings import DocumentSettings
from coverage_eval.outputs.findings import by_system, learn_named, named_findings
from coverage_eval.outputs.named import KINDS
from coverage_eval.registry import default_metrics, make_metric, metric_class

if TYPE_CHECKING:
    from coverage_eval.documents.cut_documents import MatchedTexts


@dataclass(frozen=True)
class Evaluation:
    """Texts, and how they are scored; :meth:`run` scores them.

    >>> texts = Dataset.of_lists({"mine": ["a red red house"]}, ["a red house"])
    >>> Evaluation(texts, metrics=["rep"]).run().score("rep").score
    66.66666666666667

    Attributes:
        texts: The outputs of systems, with references, source and peers, from lists or files.
        documents: How outputs are cut first by the lines of their source, or of the first reference
            without a model; None if lines match.
        aligner: What links the texts, or the settings that make it; it is made only if a metric
            needs it.
        metrics: Names of ``coverage_eval.registry.METRICS``, or metrics with settings, in
            the order of the columns; by default those that the texts and the aligner allow.
        others: Further metrics by name, such as scores of other programs.
        settings: Settings of all named metrics that have them, such as ``stopwords``.
        own_settings: Settings of single metrics by name.
        tokenize: The tokeniser of references and outputs for named metrics of words and for tables
            of words; None for the one that fits the texts, as :func:`fit_words` says.
        lowercase: Whether these metrics lowercase the text.
        jobs: Number of processes for metrics of text; the result does not depend on it.
        evidence: Whether to keep the texts, so the result can give evidence.
        checks: Whether to look for probable mistakes in the texts.
        named: Whether to look at every output for errors that have a name, such as copies of the
            source; see :mod:`coverage_eval.outputs.named`.
        progress: Whether to show a progress bar if standard error is a terminal.
    """

    texts: Dataset
    aligner: Aligner | AlignerSettings | None = None
    metrics: Sequence[str | Metric] | None = None
    others: Mapping[str, Metric] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    own_settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tokenize: str | None = "none"
    lowercase: bool = False
    jobs: int = 1
    evidence: bool = False
    checks: bool = True
    named: bool = False
    progress: bool = False
    documents: DocumentSettings | None = None

    @cached_property
    def _cut(self) -> MatchedTexts | None:
        """The texts with outputs cut by the lines of their source; None if lines match anyway."""
        if self.documents is None:
            return None
        from coverage_eval.documents.cut_documents import match_lines

        aligner = self.aligner or aligner_of(self.others.values())
        return match_lines(
            self.texts, self.documents, aligner, jobs=self.jobs, progress=self.progress
        )

    @property
    def dataset(self) -> Dataset:
        """The texts line by line, cut if they are documents.

        Raises:
            DataError, TypeError, AlignerError: As
                :func:`~coverage_eval.documents.cut_documents.match_lines`.
        """
        return self.texts if self._cut is None else self._cut.texts

    def run(self) -> Result:
        """Score the texts in one pass.

        Raises:
            DataError: Unequal texts, links of other systems, or a metric lacks a text; an output of
                documents is no translation of its source.
            TypeError: A metric that is neither name nor object, something else than an aligner, or
                a metric needs texts that are not there.
            ValueError: An unknown metric, two metrics with one name, or DROP without an aligner.
            MissingDependencyError: A metric needs a package that is not installed.
            AlignerError: The aligner failed.
        """
        columns, notes = self._columns()
        texts, cut = self.dataset, self._cut
        if cut is not None:
            notes = [*cut.findings(), *notes]
        aligner = self._make_aligner(columns)
        tokenize = self.tokenize
        if tokenize is None:
            tokenize, fitted = fit_words(texts.sample.rows, aligner)
            notes += fitted
        chosen = self._metrics(columns, aligner, tokenize)
        aligner = aligner or aligner_of(chosen.values())  # a metric may bring its own
        for metric in chosen.values():
            metric.check_needs(texts.references or None, texts.source)
        collected = []
        if self.named or any("named errors" in metric.needs for metric in chosen.values()):
            collected.append(learn_named(texts.sample, aligner).request)
        result = measure(
            texts,
            chosen,
            collected=collected,
            jobs=self.jobs,
            evidence=self.evidence,
            progress=self.progress,
        )
        tokens = self._tokenizer(tokenize)
        source_tokens = aligner.source_tokens if aligner else tokens
        named: NamedSegments = {}
        for found in result.collected.values():
            named = by_system(texts.systems, found)
        result = replace(
            result,
            tokens=tokens,
            source_tokens=source_tokens,
            findings=notes,
            segmentation=cut.segmentation if cut else "",
            documents=cut.documents if cut else {},
            named=named,
        )
        if not self.checks:
            return result
        kinds = [kind for kind in KINDS if not (cut and kind == "empty")]  # notes tell of lines
        known = [*notes, *named_findings(named, result.segments, kinds=kinds)]
        findings, unknown = check_inputs(texts.sample, result.metrics.values(), known=known)
        return replace(result, findings=findings, unknown_words=unknown)

    def column_names(self) -> tuple[list[str | Metric], str | None]:
        """The columns before any text is read, and why METEOR is not among them; None if it is."""
        if self.metrics is not None:
            return ([self.metrics] if isinstance(self.metrics, str) else list(self.metrics)), None
        aligner = self.aligner
        names, missing = default_metrics(
            aligns=isinstance(aligner, Aligner) or (aligner is not None and aligner.is_given),
            covers=isinstance(aligner, ModelAligner)
            or (isinstance(aligner, AlignerSettings) and aligner.model is not None),
            referenced=bool(self.texts.references),
            documents=self.documents is not None,
        )
        return list(names), missing

    def _columns(self) -> tuple[list[str | Metric], list[Finding]]:
        """The metrics, and notes of those that are left out because they do not fit the texts."""
        if self.aligner is not None and not isinstance(self.aligner, AlignerSettings):
            check_aligner(self.aligner)
        columns, missing = self.column_names()
        left_out = [f"no METEOR in the table: {missing}"] if missing else []
        if (
            self.metrics is None
            and self.texts.source is not None
            and not any(map(_needs_links, columns))
        ):
            without = "DROP or soft DROP" if self.texts.references else "omissions or additions"
            left_out.append(
                f"no {without} in the table: they need a model, such as 'align train SRC TGT "
                "--prepare-for omissions -o MODEL' makes"
            )
        # A missing package is reported before a text is read.
        alone = [one for one in columns if isinstance(one, str) and not _needs_links(one)]
        made = {name: self._make(name, None, self.tokenize) for name in alone}
        if self.metrics is None:
            for name, metric in made.items():
                if said := metric.objection(self.dataset.sample.rows):
                    columns.remove(name)
                    references = ", ".join(self.texts.references)
                    left_out.append(f"no {metric.name} in the table: {references}: {said}")
        if not (columns or self.others):
            raise ValueError("no metric to compare by")
        return columns, [Finding("left-out", said, gravity=Gravity.NOTE) for said in left_out]

    def _make_aligner(self, columns: Sequence[str | Metric]) -> Aligner | None:
        """The aligner, if a metric needs it."""
        if not any(map(_needs_links, columns)):
            return None
        if isinstance(self.aligner, AlignerSettings):
            return self.aligner.make()
        return self.aligner

    def _metrics(
        self, columns: Sequence[str | Metric], aligner: Aligner | None, tokenize: str
    ) -> dict[str, Metric]:
        """The metrics by name."""
        names = [one.name.lower() if isinstance(one, Metric) else one for one in columns]
        made = [self._make(one, aligner, tokenize) for one in columns]
        chosen = {**dict(zip(names, made, strict=True)), **self.others}
        if len(chosen) < len(names) + len(self.others):
            names += self.others
            raise ValueError(
                f"two metrics have one name: {', '.join(names)}; compare by them one after the "
                "other"
            )
        return chosen

    def _tokenizer(self, tokenize: str | None) -> Tokenizer:
        return Tokenizer(tokenize or "none", self.lowercase)

    def _make(self, metric: str | Metric, aligner: Aligner | None, tokenize: str | None) -> Metric:
        if isinstance(metric, Metric):
            return metric
        source_tokens = aligner.source_tokens if aligner else self._tokenizer(tokenize)
        settings = {**self.settings, "aligner": aligner, "source_tokens": source_tokens}
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
