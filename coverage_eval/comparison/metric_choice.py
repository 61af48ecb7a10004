"""Which columns a comparison has, and the tokeniser of those that count words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coverage_eval.align.aligner import Aligner, ModelAligner, aligner_of, check_aligner
from coverage_eval.align.settings import AlignerSettings
from coverage_eval.core.batches import Row, RowSample, Texts
from coverage_eval.core.checks import SampledText
from coverage_eval.core.errors import CheckId, Finding, Severity
from coverage_eval.core.evaluation import Evaluation
from coverage_eval.core.features import Feature
from coverage_eval.core.metric import Metric
from coverage_eval.core.progress import Progress, no_progress
from coverage_eval.core.result import Result
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.core.tokenizers import Tokenizer
from coverage_eval.core.word_checks import why_untokenised
from coverage_eval.outputs.output_errors import OutputErrors
from coverage_eval.registry import default_metrics, make_metric, metric_class


class MetricChoice(Feature):
    """Chooses the metrics of a comparison, and says what it left out.

    Args:
        texts: The texts.
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
        documents: Cuts outputs of other lines than their source, if they have other lines.

    Attributes:
        source_tokenizer: The tokeniser that counts a source's words; :meth:`choose` sets it.

    Raises:
        TypeError: A metric that is neither name nor object, or something else than an aligner.
        ValueError: An unknown metric, two metrics with one name, or none at all.
        MissingDependencyError: A metric needs a package that is not installed.
    """

    def __init__(
        self,
        texts: Texts,
        aligner: Aligner | AlignerSettings | None = None,
        metrics: Sequence[str | Metric] | None = None,
        *,
        others: Mapping[str, Metric] = {},
        tokenize: str | None = None,
        lowercase: bool = False,
        documents: Sequence[Feature] = (),
    ) -> None:
        if aligner is not None and not isinstance(aligner, AlignerSettings):
            check_aligner(aligner)
        self._texts = texts
        self._aligner = aligner
        self._others = others
        self._tokenize = tokenize
        self._lowercase = lowercase
        self._documents = documents
        self._is_raw = False
        self._output_errors = OutputErrors()
        self._notes: list[str] = []
        self.source_tokenizer = Tokenizer()
        self._is_default = metrics is None
        if metrics is None:
            self.metrics: list[str | Metric] = self._default_metrics()
        else:
            self.metrics = [metrics] if isinstance(metrics, str) else list(metrics)
        # A missing package is reported before a text is read.
        for metric in self.metrics:
            if isinstance(metric, str) and not needs_links(metric):
                self._make(metric, None, tokenize)
        if not (self.metrics or others):
            raise ValueError("no metric to compare by")

    def _default_metrics(self) -> list[str | Metric]:
        """The columns of the paper's Table 1 that the texts and the aligner allow."""
        aligner = self._aligner
        if isinstance(aligner, AlignerSettings):
            has_coverages = aligner.model is not None
            has_links = has_coverages or bool(aligner.ref_links or aligner.links)
        else:
            has_links, has_coverages = aligner is not None, isinstance(aligner, ModelAligner)
        has_references = bool(self._texts.references)
        names, missing = default_metrics(
            has_links=has_links,
            has_coverages=has_coverages,
            has_references=has_references,
            has_several_outputs=len(self._texts.systems) + len(self._texts.peers) > 1,
            are_documents=bool(self._documents),
        )
        if missing:
            self._notes.append(f"no METEOR in the table: {missing}")
        if self._texts.source is not None and not any(map(needs_links, names)):
            without = "DROP or soft DROP" if has_references else "omissions or additions"
            self._notes.append(
                f"no {without} in the table: they need a model, such as 'align train SRC TGT "
                "--prepare-for omissions -o MODEL' makes"
            )
        return list(names)

    def evaluate(
        self, *, jobs: int = 1, keep_texts: bool = True, progress: Progress = no_progress
    ) -> Result:
        """Score the texts by the chosen metrics, and look for output errors.

        Args:
            jobs: Number of processes for metrics of text.
            keep_texts: Whether to keep the texts, so that the result can explain scores.
            progress: Where to report the share of the work that is done.

        Raises:
            DataError, TypeError, ValueError, AlignerError: As
                :meth:`coverage_eval.core.evaluation.Evaluation.run` and :meth:`choose`.
        """
        features = [*self._documents, self, self._output_errors]
        evaluation = Evaluation(self._texts, self.choose, features, jobs, keep_texts)
        return evaluation.run(progress)

    def choose(self, sample: RowSample) -> dict[str, Metric]:
        """The metrics by name, for a sample of the texts.

        Raises:
            ValueError: Two metrics with one name, or DROP without an aligner.
            AlignerError: The aligner failed.
        """
        self._is_raw = self._tokenize != "none" and is_untokenised(sample.rows)
        aligner = self._aligner if any(map(needs_links, self.metrics)) else None
        if isinstance(aligner, AlignerSettings):
            aligner = aligner.make()
        tokenize = self._tokenize or (default_tokenizer(aligner) if self._is_raw else "none")
        names, chosen = [], []
        for item in self.metrics:
            metric = self._make(item, aligner, tokenize)
            if self._is_default and not needs_links(metric):
                found = metric.fit(sample).findings
                unfit = [finding for finding in found if finding.check != CheckId.UNTOKENISED]
                if unfit:  # such as METEOR of German
                    self._notes.append(f"no {metric.name} in the table: {unfit[0].message}")
                    continue
            names.append(item if isinstance(item, str) else item.name.lower())
            chosen.append(metric)
        names += self._others
        if len(set(names)) < len(names):
            raise ValueError(
                f"two metrics have one name: {', '.join(names)}; compare by them one after the "
                "other"
            )
        done = []
        if self._is_raw and self._tokenize is None and tokenize != "none":
            done += [f"REP tokenises them with {tokenize}"]
        if self._is_raw and any(getattr(item, "norm", False) for item in chosen):
            done += ["METEOR normalises them"]
        if done:
            note = f"the texts are not tokenised: {', and '.join(done)}"
            self._notes.append(f"{note} (--tokenize none turns this off)")
        self._output_errors.aligner = aligner or aligner_of([*chosen, *self._others.values()])
        tokenizer = Tokenizer(tokenize, self._lowercase)
        self.source_tokenizer = aligner.source_tokenizer if aligner else tokenizer
        return dict(zip(names, [*chosen, *self._others.values()], strict=True))

    def _make(self, metric: str | Metric, aligner: Aligner | None, tokenize: str | None) -> Metric:
        if isinstance(metric, Metric):
            return metric
        tokenizer = Tokenizer(tokenize or "none", self._lowercase)
        source_tokenizer = aligner.source_tokenizer if aligner else tokenizer
        settings: dict[str, Any] = {"aligner": aligner, "source_tokenizer": source_tokenizer}
        # Only the user's choice is for BLEU and TER, too.
        settings |= {"tokenize": self._tokenize, "norm": self._is_raw}
        if issubclass(metric_class(metric), TokenMetric):
            settings |= {"tokenize": tokenize, "lowercase": self._lowercase}
        return make_metric(metric, settings)

    def findings(self, sample: RowSample, tokenizer: Tokenizer | None) -> Iterable[Finding]:  # noqa: ARG002
        """Notes of metrics that are left out because they do not fit the texts."""
        return [Finding(note, Severity.NOTE) for note in self._notes]


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
