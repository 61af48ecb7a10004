"""The one loop that counts metrics, its result, and metrics that score lists of segments."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from coverage_eval.core.batches import (
    Batch,
    Request,
    Row,
    RowSample,
    Texts,
    answer_ahead,
)
from coverage_eval.core.errors import Finding, require_integer
from coverage_eval.core.machine import DiskList, Progress, counted, no_progress, started_processes
from coverage_eval.core.mark import Explanation
from coverage_eval.core.metric import Fitted, Floats, Metric, Score, Statistics, setting
from coverage_eval.core.show import LazyRows
from coverage_eval.core.significance import DEFAULT_SEED, bootstrap_interval
from coverage_eval.core.tokenizers import TOKENIZERS, Segment, Tokenizer

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor


def aligner_of(metrics: Iterable[Metric]) -> Any:
    """The aligner of the first metric that has one; None if none has."""
    return next(filter(None, (getattr(metric, "aligner", None) for metric in metrics)), None)


@dataclass(frozen=True, eq=False)
class Result:
    """The counts of a test set; scores, tests, tables and reports are functions of them.

    Attributes:
        metrics: The metrics by name.
        fitted: What counted them, by the same names.
        systems: Names of the systems.
        statistics: By metric, ``[systems, segments, k]``, or sums ``[systems, 1, k]``.
        segments: Number of segments.
        references: Number of references.
        kept: The batches, if evidence was asked for.
        findings: What looks wrong with the texts.
        computed: What features made of the texts, each under its own key.
        tokens: The tokeniser of references and hypotheses in tables of words.
        source_tokens: The tokeniser of sources there.
        signed: What signatures say of the texts, such as how outputs were cut.
        ranks: Scores of segments ``[systems, segments]`` that are no formula of statistics, by
            metric.
        starts: The first segment of each kept batch.
    """

    metrics: Mapping[str, Metric]
    fitted: Mapping[str, Fitted]
    systems: tuple[str, ...]
    statistics: Mapping[str, Statistics]
    segments: int
    references: int = 0
    kept: Sequence[Batch] = ()
    findings: Sequence[Finding] = ()
    computed: Mapping[str, Mapping[Any, Any]] = field(default_factory=dict)
    tokens: Tokenizer = field(default_factory=Tokenizer)
    source_tokens: Tokenizer = field(default_factory=Tokenizer)
    signed: Mapping[str, str] = field(default_factory=dict)
    ranks: Mapping[str, Floats] = field(default_factory=dict)
    starts: Sequence[int] = ()
    _of_key: dict[Hashable, tuple[DiskList[Any], dict[int, int]]] = field(
        default_factory=dict, init=False, repr=False
    )

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
        signature = self.fitted[name].sign(references=self.references)
        interval = None
        if resamples:
            interval = bootstrap_interval(metric, statistics, resamples=resamples, seed=seed)
        score = metric.score(statistics)
        are_sums = len(statistics) < self.segments
        return replace(
            score,
            system=system,
            segments=self.segments,
            interval=interval,
            signature=signature.with_settings(self.signed),
            of_segments=None if are_sums else partial(self.segment_scores, name, system),
        )

    def segment_scores(self, name: str, system: str | None = None) -> list[float | None]:
        """The scores of a system's segments by a metric; None where they are undefined."""
        if name in self.ranks:
            return list(self.ranks[name][self._index(system)].tolist())
        return self.metrics[name].scores_of(self.statistics_of(name, system))

    def evidence(self, name: str) -> Sequence[Sequence[Explanation]]:
        """Why segments have their scores, by segment, then system; computed on demand.

        Only what is looked at is read, so that looking at every system's segments takes time in
        proportion to them.

        Raises:
            ValueError: Evidence was not asked for when this was measured.
        """
        explain, width = self.fitted[name].explain, len(self.systems)
        explanations = self._of_texts(
            name, lambda batch: chain.from_iterable(explain(batch)), width
        )
        return LazyRows(
            lambda first: LazyRows(explanations.__getitem__, range(first, first + width)),
            range(0, len(explanations), width),
        )

    def evidence_of(self, name: str, system: str | None = None) -> Iterator[Explanation]:
        """The explanations of one system's segments."""
        index = self._index(system)
        return (of_systems[index] for of_systems in self.evidence(name))

    def answers(self, request: Request) -> Sequence[Any]:
        """An aligner's answers for each segment, such as links."""
        return self._of_texts(request.key, lambda batch: batch.get(request))

    @property
    def rows(self) -> Sequence[Row]:
        """The texts, segment by segment."""
        return self._of_texts(("rows",), lambda batch: batch.rows)

    @property
    def has_source(self) -> bool:
        """Whether the texts were kept and have a source."""
        return bool(self.kept) and self.rows[0].source is not None

    def _of_texts(
        self, key: Hashable, make: Callable[[Batch], Iterable[Any]], width: int = 1
    ) -> Sequence[Any]:
        """What is made of the texts, of each batch once, when it is first looked at.

        Args:
            key: Tells what is made.
            make: Makes the items of a batch.
            width: Their number for each segment.
        """
        if not self.kept:
            raise ValueError("this needs the texts, but there are only statistics")
        items, firsts = self._of_key.setdefault(key, (DiskList(), {}))

        def find(place: int) -> Any:
            number = bisect_right(self.starts, place // width) - 1
            if number not in firsts:
                firsts[number] = len(items)
                for item in make(self.kept[number]):
                    items.append(item)
            return items[firsts[number] + place - width * self.starts[number]]

        return LazyRows(find, range(width * self.segments))

    def _index(self, system: str | None) -> int:
        return 0 if system is None else self.systems.index(system)

    def statistics_of(self, name: str, system: str | None = None) -> Statistics:
        """Statistics ``[segments, k]`` of a system by a metric; by default of the first system."""
        return np.asarray(self.statistics[name][self._index(system)])


def measure(
    dataset: Texts,
    fitted: Mapping[str, Fitted],
    *,
    computed: Mapping[str, Request] = {},
    jobs: int = 1,
    evidence: bool = False,
    progress: Progress = no_progress,
) -> Result:
    """Count metrics that are fitted to a test set, in one pass; no other loop counts.

    Args:
        dataset: The texts.
        fitted: The metrics by name, fitted to a sample of the texts.
        computed: What else features make of every row. The result has it by the same key and the
            segment from 0, for segments where there was something.
        jobs: Number of processes for metrics of text; aligners have their own threads. The result
            does not depend on it.
        evidence: Keep the texts on disk, so the result can give evidence; they are always kept for
            metrics with other scores of segments than a formula of statistics.
        progress: Where to report the share of segments that are counted.

    Raises:
        DataError: There is no segment, or a metric lacks a text.
        AlignerError: The aligner failed.
        TypeError: ``jobs`` is not a whole number.
        ValueError: ``jobs`` is below 1.
    """
    require_integer("jobs", jobs, 1)
    kept: DiskList[Batch] = DiskList()
    starts: list[int] = []
    blocks: dict[str, list[Statistics]] = {name: [] for name in fitted}
    ranks: defaultdict[str, list[Floats]] = defaultdict(list)
    collected: dict[str, dict[int, Any]] = {key: {} for key in computed}
    segments = 0
    size = dataset.sample.size
    results = count_batches(fitted, dataset.batches(), also=computed.values(), jobs=jobs)
    for batch, counts in counted(results, progress, size, lambda result: len(result[0])):
        for name, block in counts.items():
            blocks[name].append(block)
        for key, request in computed.items():
            rows = enumerate(batch.get(request), start=segments)
            collected[key].update((number, answer) for number, answer in rows if any(answer))
        for name, metric in fitted.items():
            if (scores := metric.segment_scores(batch)) is not None:
                ranks[name].append(scores)
        if evidence or ranks:
            kept.append(batch)
            starts.append(segments)
        segments += len(batch)
    statistics = {name: np.concatenate(several, axis=1) for name, several in blocks.items()}
    return Result(
        {name: metric.metric for name, metric in fitted.items()}, fitted,
        tuple(dataset.systems), statistics, segments, len(dataset.references), kept,
        computed=collected,
        ranks={name: np.concatenate(several, axis=1) for name, several in ranks.items()},
        starts=starts,
    )  # fmt: skip


def count_batches(
    fitted: Mapping[str, Fitted],
    batches: Iterable[Batch],
    *,
    also: Iterable[Request] = (),
    jobs: int = 1,
) -> Iterator[tuple[Batch, dict[str, Statistics]]]:
    """Each batch with the statistics of metrics that are fitted to its texts, by name.

    Args:
        fitted: The metrics; those that need links are counted here, while the aligner works ahead.
        batches: The segments, in order.
        also: What else is asked of the batches.
        jobs: As in :func:`measure`.
    """
    requests = {name: metric.requests() for name, metric in fitted.items()}
    alone = {name: metric for name, metric in fitted.items() if not requests[name]}
    aligned = {name: metric for name, metric in fitted.items() if requests[name]}
    batches = iter(batches)
    first = list(islice(batches, jobs)) if jobs > 1 else []  # no more processes than batches
    with started_processes(len(first) if alone else 1) as pool:
        asked = chain(*requests.values(), also)
        batches = answer_ahead(chain(first, batches), asked)
        for batch, counts in _map(partial(count_batch, alone), batches, pool, jobs):
            yield batch, {**counts, **count_batch(aligned, batch)}


def count_batch(fitted: Mapping[str, Fitted], batch: Batch) -> dict[str, Statistics]:
    """The statistics of a batch by metric; none if it has no segments."""
    return {name: metric.count(batch) for name, metric in fitted.items()} if len(batch) else {}


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
    for done, future in pending:
        yield done, future.result()


@dataclass(frozen=True)
class TextMetric(Metric):
    """A metric that scores single segments by itself.

    :func:`coverage_eval.score` scores whole texts. It also looks for mistakes in them, for which a
    single segment is too short.
    """

    def sentence_score(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> Score:
        """Score one segment, as a corpus of that segment.

        Args:
            hypothesis: A string or a list of tokens.
            reference: A reference of the same form, or a list of several references.
            source: The source segment, if the metric needs it.
        """
        texts = Texts.from_segment(hypothesis, reference, source)
        return self._measure(texts).score(self.name)

    def evidence(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> list[Any]:
        """The marks of one segment, such as repeated n-grams or dropped words."""
        texts = Texts.from_segment(hypothesis, reference, source)
        (found,) = self._measure(texts, evidence=True).evidence_of(self.name)
        return list(found.marks)

    def _measure(self, texts: Texts, *, evidence: bool = False) -> Result:
        self.check_needs(texts.references or None, texts.source)
        return measure(texts, {self.name: self.fit(texts.sample)}, evidence=evidence)


@dataclass(frozen=True)
class FixedMetric(TextMetric, Fitted):
    """A metric that adapts to no text, so that its settings are all that it counts by."""

    @property
    def metric(self) -> Metric:  # type: ignore[override]  # the others keep it as an attribute
        """The metric itself."""
        return self

    def fit(self, sample: RowSample) -> Fitted:  # noqa: ARG002 (it adapts to no text)
        """The metric itself."""
        return self


@dataclass(frozen=True, kw_only=True)
class TokenMetric(FixedMetric):
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
        own = dict(super().settings())
        del own["tokenize"], own["lowercase"]
        return own | self.tokens.settings
