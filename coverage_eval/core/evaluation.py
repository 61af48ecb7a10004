"""What a user asked for, as one value; running it scores the texts.

Every command and every function of :mod:`coverage_eval` builds an :class:`Evaluation`, so checks
and figures are the same whichever way a score is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from coverage_eval.core.batches import RowSample, Texts
from coverage_eval.core.checks import combine_findings
from coverage_eval.core.counting import count_texts
from coverage_eval.core.features import Feature
from coverage_eval.core.metric import Metric
from coverage_eval.core.progress import Progress, no_progress, split_progress
from coverage_eval.core.result import Result
from coverage_eval.core.text_checks import TextChecks, look_for_missing_references
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.core.word_checks import find_unsegmented


@dataclass(frozen=True)
class Evaluation:
    """Texts, and how they are scored; :meth:`run` scores them.

    >>> from coverage_eval.repetition.rep import REP
    >>> texts = Texts.from_lists({"mine": ["a red red house"]}, ["a red house"])
    >>> Evaluation(texts, {"rep": REP()}).run().score("rep").score
    66.66666666666667

    Attributes:
        texts: The outputs of systems, with references, source and peers.
        metrics: The metrics by name, or a function that chooses them for a sample of the texts.
        features: What else looks at the texts, beside what the metrics need.
        jobs: Number of processes for metrics of text; the result does not depend on it.
        keep_texts: Whether to keep the texts, so that the result can explain scores.
    """

    texts: Texts
    metrics: Mapping[str, Metric] | Callable[[RowSample], Mapping[str, Metric]]
    features: Sequence[Feature] = ()
    jobs: int = 1
    keep_texts: bool = False

    def run(self, progress: Progress = no_progress) -> Result:
        """Prepare the texts, fit the metrics to a sample, count, and look for mistakes.

        Args:
            progress: Where to report the share of the work that is done.

        Raises:
            DataError: Unequal texts, links of other systems, or a metric lacks a text.
            TypeError: A metric needs texts that are not there.
            MissingDependencyError: A metric needs a package that is not installed.
            AlignerError: The aligner failed.
        """
        texts = self.texts
        for feature in self.features:
            if feature.prepares:
                preparing, progress = split_progress(progress, 1.0, 2.0)
                texts = feature.prepare(texts, preparing)
        sample = texts.sample
        metrics = self.metrics if isinstance(self.metrics, Mapping) else self.metrics(sample)
        # One feature of each kind: a metric's own knows more than a general one.
        by_kind: dict[type[Feature], Feature] = {type(item): item for item in self.features}
        for metric in metrics.values():
            metric.check_needs(texts.references or None, texts.source)
            by_kind |= {type(item): item for item in metric.features()}
        if not any(issubclass(kind, TextChecks) for kind in by_kind):
            by_kind[TextChecks] = TextChecks()
        features = tuple(by_kind.values())
        refused = find_unsegmented(sample, metrics)
        fitted = {name: metrics[name].fit(sample) for name in metrics if name not in refused}
        for feature in features:
            feature.fit(sample)
        result = count_texts(
            texts, fitted, features, jobs=self.jobs, keep_texts=self.keep_texts, progress=progress
        )
        counting = (item.tokenizer for item in metrics.values() if isinstance(item, TokenMetric))
        tokenizer = next(counting, None)
        findings = list(look_for_missing_references(sample))
        for feature in features:
            findings += feature.findings(sample, tokenizer)
        for fitted_metric in fitted.values():
            findings += fitted_metric.findings
        for of_metric in refused.values():
            findings += of_metric
        settings: dict[str, str] = {}
        for feature in features:
            settings |= feature.text_settings
        return replace(
            result,
            findings=combine_findings(findings, sample.source),
            text_settings=settings,
            refused={
                metrics[name]: "; ".join(item.message for item in combine_findings(of_metric))
                for name, of_metric in refused.items()
            },
        )
