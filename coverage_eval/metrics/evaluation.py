"""What a user asked for, as one dataclass, and metrics that score lists of segments by it.

Every command and every function of :mod:`coverage_eval` builds an :class:`Evaluation`, so columns,
tokenisers, checks and figures are the same whichever way a score is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from coverage_eval.alignment.aligner import Aligner, ModelAligner, check_aligner
from coverage_eval.alignment.aligner_settings import AlignerSettings
from coverage_eval.data.dataset import Batch, Dataset
from coverage_eval.data.documents import DocumentSettings
from coverage_eval.data.input_checks import Finding, Gravity, warn_of
from coverage_eval.data.tokenizers import TOKENIZERS, Tokenizer
from coverage_eval.metrics.measure import Metric, Result, aligner_of, measure
from coverage_eval.metrics.named_errors import KINDS, NamedSegments
from coverage_eval.metrics.named_findings import find_named, named_findings
from coverage_eval.metrics.registry import default_metrics, make_metric, metric_class
from coverage_eval.metrics.score import Score, Statistics
from coverage_eval.metrics.significance import DEFAULT_SEED
from coverage_eval.metrics.text_checks import LOOKED_AT, check_inputs, fit_words
from coverage_eval.metrics.witness_checks import find_far_outputs
from coverage_eval.settings import setting
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    from coverage_eval.alignment.cut_documents import MatchedTexts

ONE_SYSTEM = "the hypothesis"
"""The name of the output in messages if only one system is scored."""


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
        metrics: Names of ``coverage_eval.metrics.registry.METRICS``, or metrics with settings, in
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
            source; see :mod:`coverage_eval.metrics.named_errors`.
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
        from coverage_eval.alignment.cut_documents import match_lines

        aligner = self.aligner or aligner_of(self.others.values())
        return match_lines(
            self.texts, self.documents, aligner, jobs=self.jobs, progress=self.progress
        )

    @property
    def dataset(self) -> Dataset:
        """The texts line by line, cut if they are documents.

        Raises:
            DataError, TypeError, AlignerError: As
                :func:`~coverage_eval.alignment.cut_documents.match_lines`.
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
            tokenize, fitted = fit_words(texts.rows(), aligner)
            notes += fitted
        chosen = self._metrics(columns, aligner, tokenize)
        if texts.systems != (ONE_SYSTEM,):  # links and scores may be by name
            chosen = {name: one.for_systems(texts.systems) for name, one in chosen.items()}
        aligner = aligner or aligner_of(chosen.values())  # a metric may bring its own
        for metric in chosen.values():
            metric.check_needs(texts.references or None, texts.source)
        if any(metric.expects_others for metric in chosen.values()):
            far, said = find_far_outputs(texts, aligner)
            texts = texts.with_far(far) if far else texts
            notes += said
        result = measure(
            texts, chosen, jobs=self.jobs, evidence=self.evidence, progress=self.progress
        )
        tokens = self._tokenizer(tokenize)
        source_tokens = aligner.source_tokens if aligner else tokens
        named: NamedSegments = {}
        if self.named or any(metric.certain for metric in result.metrics.values()):
            named = find_named(self.dataset, aligner)
        result = replace(
            result,
            tokens=tokens,
            source_tokens=source_tokens,
            findings=notes,
            segmentation=cut.segmentation if cut else "",
            documents=cut.documents if cut else {},
        ).with_named(named)
        if not self.checks:
            return result
        kinds = [kind for kind in KINDS if not (cut and kind == "empty")]  # notes tell of lines
        known = [*notes, *named_findings(named, result.segments, kinds=kinds)]
        findings, unknown = check_inputs(texts, result.metrics.values(), known=known)
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
            rows = list(islice(self.dataset.rows(), LOOKED_AT))
            for name, metric in made.items():
                if said := metric.objection(rows):
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


@dataclass(frozen=True)
class TextMetric(Metric):
    """A metric that scores lists of segments by itself."""

    def corpus_score(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        peers: Sequence[Sequence[Segment]] = (),
        jobs: int = Evaluation.jobs,
        resamples: int = 0,
        seed: int = DEFAULT_SEED,
        checks: bool = False,
        unaligned: bool = False,
    ) -> Score:
        """Score a corpus.

        Args:
            hypotheses: The system's segments, strings or lists of tokens.
            references: The reference's segments, or a list of several references.
            sources: The source's segments, if the metric needs them.
            peers: Outputs of other systems, for metrics that compare with them.
            jobs: Number of processes; the result does not depend on it.
            resamples: Bootstrap resamples of a 95% interval; 0 for no interval.
            seed: Their seed.
            checks: Warn if texts look wrong, as the commands and :func:`coverage_eval.rep` do.
            unaligned: Whether hypotheses and peers are translations of one document with any lines,
                each a text or its lines, to be cut first by the lines of the sources with the
                metric's model, or of the first reference; see :func:`coverage_eval.segment`.

        Raises:
            DataError: Unequal numbers of segments, none at all, or an undefined score; an output of
                a document that is no translation of its source.
            TypeError: A single string in place of a list of segments.
        """
        texts = (hypotheses, references, sources, peers)
        result = self._run(texts, jobs, checks=checks, unaligned=unaligned)
        warn_of(result.findings, stacklevel=4)
        return result.score(self.name, resamples=resamples, seed=seed)

    def statistics(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        peers: Sequence[Sequence[Segment]] = (),
        jobs: int = Evaluation.jobs,
    ) -> Statistics:
        """Sufficient statistics ``[segments, k]`` of a corpus, which can be added up.

        :meth:`score` makes a score from them, and
        :func:`coverage_eval.metrics.significance.paired_test` tests differences with them.
        Arguments and errors are those of :meth:`corpus_score`.
        """
        result = self._run((hypotheses, references, sources, peers), jobs)
        return result.statistics_of(self.name)

    def sentence_scores(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        peers: Sequence[Sequence[Segment]] = (),
        jobs: int = Evaluation.jobs,
    ) -> list[float | None]:
        """The score of each segment, None where it is undefined; as :meth:`corpus_score`."""
        result = self._run((hypotheses, references, sources, peers), jobs)
        return result.segment_scores(self.name)

    def sentence_score(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> Score:
        """Score one segment, as a corpus of that segment.

        Args:
            hypothesis: A string or a list of tokens.
            reference: A reference of the same form, or a list of several references.
            source: The source segment, if the metric needs it.
        """
        return self.corpus_score(*one_segment(hypothesis, reference, source))

    def evidence(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> list[Any]:
        """The marks of one segment, such as repeated n-grams or dropped words."""
        texts = one_segment(hypothesis, reference, source)
        self.check_needs(*texts[1:])
        ((found,),) = self.explain(
            Batch(list(Dataset.of_lists({ONE_SYSTEM: texts[0]}, *texts[1:]).rows()))
        )
        return list(found.marks)

    def _run(
        self, texts: tuple[Any, ...], jobs: int, *, checks: bool = False, unaligned: bool = False
    ) -> Result:
        make = Dataset.of_documents if unaligned else Dataset.of_lists
        tokenize = getattr(self, "tokenize", None)
        return Evaluation(
            make({ONE_SYSTEM: texts[0]}, *texts[1:]),
            metrics=(),
            others={self.name: self},
            jobs=jobs,
            checks=checks,
            documents=DocumentSettings.of(tokenize) if unaligned else None,
        ).run()


def one_segment(
    hypothesis: Segment, reference: Any, source: Segment | None
) -> tuple[list[Segment], Any, list[Segment] | None]:
    """A segment's texts as a corpus of one; the reference may be a list of several."""
    if isinstance(reference, Iterator):  # it can be read only once
        reference = list(reference)
    several = isinstance(hypothesis, str) and not isinstance(reference, (str, type(None)))
    if not isinstance(hypothesis, str) and reference is not None and not isinstance(reference, str):
        several = any(not isinstance(item, str) for item in reference)
    if reference is not None:
        reference = [[one] for one in reference] if several else [reference]
    return [hypothesis], reference, None if source is None else [source]


@dataclass(frozen=True, kw_only=True)
class TokenMetric(TextMetric):
    """A metric of tokens, with a tokeniser.

    Args:
        tokenize: The tokeniser's name.
        lowercase: Whether to lowercase segments first.
    """

    tokenize: str = setting(
        "none", "Apply one of sacreBLEU's tokenisers to every side.", choices=TOKENIZERS
    )
    lowercase: bool = setting(False, "Lowercase every side.")

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.tokens  # an unknown tokeniser is refused before any text is read

    @cached_property
    def tokens(self) -> Tokenizer:
        """The tokeniser: from a segment to its tokens."""
        return Tokenizer(self.tokenize, self.lowercase)

    def settings(self) -> Mapping[str, object]:
        """All fields, with the tokeniser's last."""
        own = {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if item.name not in {"tokenize", "lowercase"}
        }
        return own | self.tokens.settings
