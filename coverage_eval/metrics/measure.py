"""Metrics of a test set, and the one loop that counts them.

A metric is a frozen dataclass of settings. It *counts* sufficient statistics
``[systems, segments, k]`` of a batch, *explains* them by evidence, and has a *formula* of their
sum. Segment scores, corpus scores, intervals, paired tests and Spark all use the same counts and
the same formula, so they cannot disagree.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from coverage_eval.alignment.aligner import Aligner, GivenLinks, ModelAligner
from coverage_eval.alignment.alignment_checks import check_given_links, check_model
from coverage_eval.data.dataset import Batch, Dataset, Request, Row, answer_ahead
from coverage_eval.data.disk_list import DiskList
from coverage_eval.data.input_checks import (
    Finding,
    check_texts,
    check_tokenised,
    gravest_first,
    warn_of,
)
from coverage_eval.data.line_checks import check_lines, check_second_output
from coverage_eval.data.sample import Sample
from coverage_eval.data.tokenizers import TOKENIZERS, Tokenizer
from coverage_eval.errors import CoverageEvalError, DataError, require_integer
from coverage_eval.metrics.score import Evidence, Formula, Score, Signature, Statistics, setting
from coverage_eval.metrics.significance import DEFAULT_SEED, bootstrap_interval
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

ONE_SYSTEM = "the hypothesis"
"""The name of the output in messages if only one system is scored."""


@dataclass(frozen=True)
class Metric(Formula):
    """A score of hypotheses that may also need references, sources, links or coverages."""

    needs: ClassVar[frozenset[str]] = frozenset({"references"})
    """Which of ``references``, ``sources``, ``links`` and ``coverages`` it needs."""
    evidence_name: ClassVar[str | None] = None
    """The name of its evidence, such as ``dropped``; None if it has none."""
    scores_are_evidence: ClassVar[bool] = False
    """Whether a segment's score is the ``score`` of its evidence, not a formula of statistics."""

    def sign(self, *, references: int) -> Signature:
        """The signature of a score; references count only if the metric needs them."""
        return super().sign(references=references if "references" in self.needs else 0)

    @abstractmethod
    def count(self, batch: Batch) -> Statistics:
        """Statistics ``[systems, segments, k]`` of a batch."""

    def explain(self, batch: Batch) -> Iterable[tuple[Evidence, ...]]:
        """The evidence of each segment, one mapping per system; empty by default."""
        return [({},) * len(row.hypotheses) for row in batch.rows]

    def requests(self) -> Sequence[Request]:
        """What aligners must compute for every batch."""
        return ()

    def for_texts(self, *, systems: int, references: int, peers: int) -> Metric:  # noqa: ARG002
        """This metric for these numbers of texts; by default unchanged.

        Args:
            systems: Number of systems that are scored.
            references: Number of references.
            peers: Number of further systems' outputs.
        """
        return self

    @property
    def reads_untouched_text(self) -> bool:
        """Whether it tokenises text itself, so text should not be tokenised before."""
        return False

    @property
    def caveat(self) -> str | None:
        """What readers of its scores must know about its settings; None if nothing."""
        return None

    def prepare(self) -> None:
        """Prepare for counting, once, before processes start."""

    def for_systems(self, systems: Sequence[str]) -> Metric:  # noqa: ARG002 (for subclasses)
        """This metric with its links or scores in the order of the systems.

        Raises:
            DataError: It lacks the links or scores of a system.
        """
        return self

    def objection(self, rows: Sequence[Row]) -> str | None:  # noqa: ARG002 (for subclasses)
        """Why the metric does not fit these texts, such as their language; None if it fits.

        Args:
            rows: Some or all segments of the test set.
        """
        return None

    def corpus_score(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        peers: Sequence[Sequence[Segment]] = (),
        jobs: int = 1,
        resamples: int = 0,
        seed: int = DEFAULT_SEED,
        checks: bool = False,
    ) -> Score:
        """Score a corpus.

        Args:
            hypotheses: The system's segments, strings or lists of tokens.
            references: The reference's segments, or a list of several references.
            sources: The source's segments, if the metric needs them.
            peers: Outputs of other systems, for metrics that use them as witnesses.
            jobs: Number of processes; the result does not depend on it.
            resamples: Bootstrap resamples of a 95% interval; 0 for no interval.
            seed: Their seed.
            checks: Warn if texts look wrong, as the commands and :func:`coverage_eval.rep` do.

        Raises:
            DataError: Unequal numbers of segments, none at all, or an undefined score.
            TypeError: A single string in place of a list of segments.
        """
        result = self._measure(hypotheses, references, sources, peers, jobs, checks=checks)
        warn_of(result.findings, stacklevel=4)
        return result.score(self.name, resamples=resamples, seed=seed)

    def statistics(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        peers: Sequence[Sequence[Segment]] = (),
        jobs: int = 1,
    ) -> Statistics:
        """Sufficient statistics ``[segments, k]`` of a corpus, which can be added up.

        :meth:`score` makes a score from them, and
        :func:`coverage_eval.metrics.significance.paired_test` tests differences with them.
        Arguments and errors are those of :meth:`corpus_score`.
        """
        result = self._measure(hypotheses, references, sources, peers, jobs)
        return result.statistics_of(self.name)

    def sentence_scores(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        peers: Sequence[Sequence[Segment]] = (),
        jobs: int = 1,
    ) -> list[float | None]:
        """The score of each segment, None where it is undefined; as :meth:`corpus_score`."""
        return self._measure(hypotheses, references, sources, peers, jobs).segment_scores(self.name)

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
        """The evidence for the score of one segment, such as repeated n-grams or dropped words."""
        texts = one_segment(hypothesis, reference, source)
        self.check_needs(*texts[1:])
        ((found,),) = self.explain(
            Batch(list(Dataset.of_lists({ONE_SYSTEM: texts[0]}, *texts[1:]).rows()))
        )
        items: list[Any] = found[self.evidence_name] if self.evidence_name else []
        return items

    def check_needs(self, references: object, sources: object) -> None:
        """Raise :class:`TypeError` if texts that the metric needs are None."""
        for name, texts in (("references", references), ("sources", sources)):
            if texts is None and name in self.needs:
                raise TypeError(f"{self.name} needs {name}")

    def _measure(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None,
        sources: Sequence[Segment] | None,
        peers: Sequence[Sequence[Segment]],
        jobs: int,
        *,
        checks: bool = False,
    ) -> Result:
        self.check_needs(references, sources)
        dataset = Dataset.of_lists({ONE_SYSTEM: hypotheses}, references, sources, peers)
        return measure(dataset, {self.name: self}, jobs=jobs, checks=checks)


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
class TokenMetric(Metric):
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


@dataclass(frozen=True, eq=False)
class Result:
    """The counts of a test set; scores, tests, tables and reports are functions of them.

    Attributes:
        metrics: The metrics by name.
        systems: Names of the systems.
        statistics: By metric, ``[systems, segments, k]``, or sums ``[systems, 1, k]``.
        segments: Number of segments.
        references: Number of references.
        kept: The batches, if evidence was asked for.
        findings: What looks wrong with the texts.
        unknown_words: Shares of words that the aligner's model does not know, by name.
        tokens: The tokeniser of references and hypotheses in tables of words.
        source_tokens: The tokeniser of sources there.
    """

    metrics: Mapping[str, Metric]
    systems: tuple[str, ...]
    statistics: Mapping[str, Statistics]
    segments: int
    references: int = 0
    kept: Sequence[Batch] = ()
    findings: Sequence[Finding] = ()
    unknown_words: Mapping[str, float] = field(default_factory=dict)
    tokens: Tokenizer = field(default_factory=Tokenizer)
    source_tokens: Tokenizer = field(default_factory=Tokenizer)
    _found: dict[Hashable, DiskList[Any]] = field(default_factory=dict, init=False, repr=False)

    def score(
        self, name: str, system: str | None = None, *, resamples: int = 0, seed: int = DEFAULT_SEED
    ) -> Score:
        """The corpus score of a system by a metric.

        Args:
            name: The metric.
            system: The system, to be named in the score; by default the first.
            resamples: Bootstrap resamples of a 95% interval; 0 for no interval.
            seed: Their seed.

        Raises:
            DataError: The score is undefined; the message says why.
        """
        metric, statistics = self.metrics[name], self.statistics_of(name, system)
        interval = None
        if resamples:
            interval = bootstrap_interval(metric, statistics, resamples=resamples, seed=seed)
        score = metric.score(
            statistics,
            references=self.references,
            interval=interval,
            system=system,
            segments=self.segments,
        )
        if len(statistics) < self.segments:  # sums
            return score
        return replace(score, of_segments=partial(self.segment_scores, name, system))

    def segment_scores(self, name: str, system: str | None = None) -> list[float | None]:
        """The scores of a system's segments by a metric; None where they are undefined."""
        metric = self.metrics[name]
        if metric.scores_are_evidence:
            return [found["score"] for found in self.evidence_of(name, system)]
        return metric.segment_scores(self.statistics_of(name, system))

    def evidence(self, name: str) -> Sequence[tuple[Evidence, ...]]:
        """The evidence of a metric's scores, by segment, then system; computed on demand.

        Raises:
            ValueError: Evidence was not asked for when this was measured.
        """
        if name not in self._found:
            explained = map(self.metrics[name].explain, self._texts())
            self._found[name] = DiskList(chain.from_iterable(explained))
        return self._found[name]

    def evidence_of(self, name: str, system: str | None = None) -> Iterator[Evidence]:
        """The evidence of one system's segments."""
        index = self._index(system)
        return (found[index] for found in self.evidence(name))

    def answers(self, request: Request) -> Sequence[Any]:
        """An aligner's answers for each segment, such as links."""
        if request.key not in self._found:
            answered = (batch.get(request) for batch in self._texts())
            self._found[request.key] = DiskList(chain.from_iterable(answered))
        return self._found[request.key]

    @cached_property
    def rows(self) -> DiskList[Row]:
        """The texts, segment by segment."""
        return DiskList(row for batch in self._texts() for row in batch.rows)

    @property
    def has_source(self) -> bool:
        """Whether the texts were kept and have a source."""
        return bool(self.kept) and self.rows[0].source is not None

    def _texts(self) -> Sequence[Batch]:
        if not self.kept:
            raise ValueError("this needs the texts, but there are only statistics")
        return self.kept

    def _index(self, system: str | None) -> int:
        return 0 if system is None else self.systems.index(system)

    def statistics_of(self, name: str, system: str | None = None) -> Statistics:
        """Statistics ``[segments, k]`` of a system by a metric; by default of the first system."""
        found: Statistics = self.statistics[name][self._index(system)]
        return found

    def without(self, name: str) -> Result:
        """This result without one of its metrics."""
        metrics = {key: metric for key, metric in self.metrics.items() if key != name}
        return replace(
            self, metrics=metrics, statistics={key: self.statistics[key] for key in metrics}
        )

    @classmethod
    def join(cls, results: Sequence[Result]) -> Result:
        """Join the results of consecutive parts of a test set.

        Raises:
            ValueError: No part, or parts with different systems or metrics.
        """
        first, *others = results
        if any((r.systems, r.metrics) != (first.systems, first.metrics) for r in others):
            raise ValueError("these are results of other systems or metrics")
        return replace(
            first,
            statistics={
                name: np.concatenate([result.statistics[name] for result in results], axis=1)
                for name in first.metrics
            },
            segments=sum(result.segments for result in results),
            kept=DiskList(chain.from_iterable(result.kept for result in results)),
            findings=list(dict.fromkeys(f for result in results for f in result.findings)),
        )


def measure(
    dataset: Dataset,
    metrics: Mapping[str, Metric],
    *,
    jobs: int = 1,
    evidence: bool = False,
    checks: bool = False,
    progress: bool = False,
) -> Result:
    """Count all metrics of a test set in one pass; no other loop counts.

    Args:
        dataset: The texts.
        metrics: The metrics by name.
        jobs: Number of processes for metrics of text; aligners have their own threads. The result
            does not depend on it.
        evidence: Keep the texts on disk, so the result can give evidence; they are always kept for
            metrics whose evidence has the scores of segments.
        checks: Look for probable mistakes in the texts.
        progress: Show a progress bar if standard error is a terminal.

    Raises:
        DataError: There is no segment, or a metric lacks a text.
        AlignerError: The aligner failed.
        TypeError: ``jobs`` is not a whole number.
        ValueError: ``jobs`` is below 1.
    """
    require_integer("jobs", jobs, 1)
    sizes = {
        "systems": len(dataset.systems),
        "references": len(dataset.references),
        "peers": len(dataset.peers),
    }
    metrics = {name: metric.for_texts(**sizes) for name, metric in metrics.items()}
    for metric in metrics.values():
        metric.prepare()
    evidence = evidence or any(metric.scores_are_evidence for metric in metrics.values())
    requests = {name: metric.requests() for name, metric in metrics.items()}
    alone = {name: metric for name, metric in metrics.items() if not requests[name]}
    aligned = {name: metric for name, metric in metrics.items() if requests[name]}
    batches = dataset.batches()
    first = list(islice(batches, jobs))  # no more processes than batches
    kept: DiskList[Batch] = DiskList()
    blocks: dict[str, list[Statistics]] = {name: [] for name in metrics}
    with _processes(len(first) if alone else 1) as pool:
        batches = answer_ahead(chain(first, batches), chain.from_iterable(requests.values()))
        if progress:
            batches = _with_bar(batches)
        for batch, counts in _map(partial(count_batch, alone), batches, pool, jobs):
            for name, block in {**counts, **count_batch(aligned, batch)}.items():
                blocks[name].append(block)
            if evidence:
                kept.append(batch)
    if not any(block.size for found in blocks.values() for block in found):
        raise DataError("no segments to score")
    statistics = {name: np.concatenate(found, axis=1) for name, found in blocks.items()}
    segments = next(iter(statistics.values())).shape[1]
    references = len(dataset.references)
    result = Result(metrics, dataset.systems, statistics, segments, references, kept)
    if not checks:
        return result
    findings, unknown = check_inputs(dataset, metrics.values())
    return replace(result, findings=findings, unknown_words=unknown)


def count_batch(metrics: Mapping[str, Metric], batch: Batch) -> dict[str, Statistics]:
    """The statistics of a batch by metric; processes and Spark's workers run this."""
    return {name: metric.count(batch) for name, metric in metrics.items()}


@contextmanager
def _processes(count: int) -> Iterator[ProcessPoolExecutor | None]:
    """Started processes; None if one is enough."""
    if count <= 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children

    others = active_children()
    pool = ProcessPoolExecutor(count)
    try:
        # Fork all processes now: one forked later would hold the pipe to an aligner open, and the
        # aligner would never see the end of its text.
        pool.submit(int).result()
    except RuntimeError:  # a thread was refused, and the processes would wait for ever
        for process in set(active_children()).difference(others):
            process.kill()
        raise
    try:
        yield pool
    except BrokenProcessPool:
        raise CoverageEvalError(
            "a process of --jobs was killed (out of memory?); use fewer of them"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _map(
    function: Callable[[Batch], dict[str, Statistics]],
    batches: Iterable[Batch],
    pool: ProcessPoolExecutor | None,
    jobs: int,
) -> Iterator[tuple[Batch, dict[str, Statistics]]]:
    """Apply a function to each batch, in order."""
    if pool is None:
        yield from ((batch, function(batch)) for batch in batches)
        return
    pending: deque[tuple[Batch, Future[dict[str, Statistics]]]] = deque()
    for batch in batches:
        pending.append((batch, pool.submit(function, Batch(batch.rows))))
        if len(pending) > 2 * jobs:
            done, future = pending.popleft()
            yield done, future.result()
    while pending:
        done, future = pending.popleft()
        yield done, future.result()


def _with_bar(batches: Iterable[Batch]) -> Iterator[Batch]:
    from tqdm import tqdm

    with tqdm(desc="scoring", unit=" segments", leave=False, disable=None) as bar:
        for batch in batches:
            yield batch
            bar.update(len(batch))


_OF_WORDS = {"untokenised", "unsegmented"}
"""The checks for untokenised text."""


def check_inputs(
    dataset: Dataset,
    metrics: Iterable[Metric] = (),
    *,
    tokens: Tokenizer | None = None,
    aligner: Aligner | None = None,
) -> tuple[list[Finding], dict[str, float]]:
    """Find probable mistakes in texts that were read, and how well a model knows them.

    Args:
        dataset: The texts, read at least once.
        metrics: The metrics that score them.
        tokens: The tokeniser; by default that of the metrics, if they have one.
        aligner: The aligner; by default that of the metrics.

    Returns:
        The findings, gravest first, and figures of
        :func:`~coverage_eval.alignment.alignment_checks.check_model` if there is a model.

    Raises:
        AlignerError: The aligner failed.
    """
    metrics = list(metrics)
    aligners = [found for metric in metrics if (found := getattr(metric, "aligner", None))]
    aligner = aligner or next(iter(aligners), None)
    if tokens is None:
        cuts = [metric.tokens for metric in metrics if isinstance(metric, TokenMetric)]
        tokens = cuts[0] if cuts else aligner.tokens if aligner else None
    cut = tokens or Tokenizer("13a")
    source_tokens = cut
    if aligner:
        # Both sides are compared in the same case, whatever the model's case.
        source_tokens = replace(aligner.source_tokens, lowercase=cut.lowercase)
    sample = _sample(dataset, cut, source_tokens)
    findings = check_texts(sample) + check_lines(sample)
    if tokens is None:
        findings = [finding for finding in findings if finding.check not in _OF_WORDS]
    untouched = [metric.name for metric in metrics if metric.reads_untouched_text]
    if untouched:
        alone = len(untouched) == len(metrics)
        uncut = _sample(dataset, Tokenizer(), Tokenizer())
        findings += check_tokenised(uncut, untouched, alone=alone)
    caveats = dict.fromkeys(metric.caveat for metric in metrics)
    findings += [Finding("plain-model", said) for said in caveats if said]
    names = ", ".join(dataset.references)
    objections = dict.fromkeys(metric.objection(dataset.sampler.rows) for metric in metrics)
    findings += [Finding("metric-does-not-fit", f"{names}: {said}") for said in objections if said]
    if isinstance(aligner, GivenLinks):
        findings += check_given_links(aligner.columns)
    if not isinstance(aligner, ModelAligner) or dataset.source is None:
        return gravest_first(findings), {}
    sample = _sample(dataset, aligner.tokens, aligner.source_tokens)
    of_model, unknown = check_model(sample, aligner.model)
    return gravest_first([*findings, *of_model]), unknown


def second_outputs(dataset: Dataset) -> Iterator[Finding]:
    """Find outputs given as references, for a command that takes a list of files."""
    if len(dataset.references) > 1:
        tokens = Tokenizer("13a")
        yield from check_second_output(_sample(dataset, tokens, tokens))


def _sample(dataset: Dataset, tokens: Tokenizer, source_tokens: Tokenizer) -> Sample:
    return Sample.from_rows(
        dataset.sampler,
        hypotheses=dataset.systems,
        references=dataset.references,
        source=dataset.source,
        peers=dataset.peers,
        tokens=tokens,
        source_tokens=source_tokens,
    )
