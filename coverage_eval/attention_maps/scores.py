"""Scores of attention maps: coverage, dispersion and agreement with gold links, and their tables.

Each score of coverage or dispersion maps an array ``[T, S]``, usually without EOS row and column,
to one number. cov_j = Σ_i α_ij is the total attention that source word j gets. If the source is
empty (S = 0), penalties and shares are 0; if the hypothesis is (T = 0), every cov_j is 0. The
entropy of a row or column without weight counts as 0. No score is ever NaN or infinite.

Gold links give two percentages: AER, for a map's hard links, and SAER, for its weights:
SAER = 1 − (Σ α·S + Σ α·P) / (Σ α + |S|), with sure links S and possible links P ⊇ S. For weights of
zeros and ones SAER equals AER. Over a corpus, numerators and denominators are summed. Source:
Unbabel/sparse_constrained_attention, aer/compute_aer.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aer import AER, LINK_METRICS
from coverage_eval.align.gold_links import Gold
from coverage_eval.attention_maps.maps import AttentionMap, Weights, hard_links
from coverage_eval.core.errors import DataError
from coverage_eval.core.machine import DiskList
from coverage_eval.core.score import Formula, Signature, Statistics


@dataclass(frozen=True)
class ScoreSettings:
    """Settings of the scores.

    Attributes:
        over: A source word with more total attention is over-attended.
        under: A source word with less total attention is under-attended, and counts as ignored.
        with_eos: Whether to include EOS rows and columns.
    """

    over: float = 1.5
    under: float = 0.2
    with_eos: bool = False

    def weights(self, item: AttentionMap) -> Weights:
        """The part of a map that is scored, ``[T, S]``."""
        return item.weights if self.with_eos else item.word_weights


@dataclass(frozen=True)
class MapScore:
    """One score of a map.

    Attributes:
        summary: One line of help.
        function: Computes it from weights ``[T, S]``, and from the limit if there is one.
        limit: The setting of :class:`ScoreSettings` that is its limit; None for none.
        corpus: Whether a corpus gets the mean over the segments that have the score, or the sum.
    """

    summary: str
    function: Callable[..., float]
    limit: Literal["over", "under"] | None = None
    corpus: Literal["mean", "sum"] = "mean"

    def of(self, item: AttentionMap, settings: ScoreSettings) -> float | None:
        """The score of a map; None where it does not apply."""
        limits = [] if self.limit is None else [getattr(settings, self.limit)]
        return self.function(settings.weights(item), *limits)


SCORES: dict[str, MapScore] = {}
"""Every score by the name of its function."""

F = TypeVar("F", bound=Callable[..., float])


def _score(summary: str, **how: Any) -> Callable[[F], F]:
    """Make a function one of :data:`SCORES`."""

    def register(function: F) -> F:
        SCORES[function.__name__] = MapScore(summary, function, **how)
        return function

    return register


def coverage(attention: Weights) -> Weights:
    """Total attention that each source word gets, cov_j = Σ_i α_ij: ``[S]``, from 0 to T."""
    return np.asarray(attention.sum(axis=0))


@_score("mean attention that a source word gets")
def mean_coverage(attention: Weights) -> float:
    """Mean of cov_j over source words: ``src_sum_contr_mean`` of stopes (alti_metrics_utils.py)."""
    return float(coverage(attention).mean()) if attention.shape[1] else 0.0


@_score("source words with coverage above 1.5", limit="over", corpus="sum")
def over_attended(attention: Weights, over: float = 1.5) -> float:
    """Number of source words with cov_j > ``over``: possible repetitions."""
    return float(np.count_nonzero(coverage(attention) > over))


@_score("source words with coverage below 0.2", limit="under", corpus="sum")
def under_attended(attention: Weights, under: float = 0.2) -> float:
    """Number of source words with cov_j < ``under``: possible omissions."""
    return float(np.count_nonzero(coverage(attention) < under))


@_score("coverage deviation penalty as their program computes it")
def cdp_code(attention: Weights) -> float:
    """Coverage deviation penalty as computed: (1/S) Σ_j log(1 / (1 + |1 − cov_j|⁶)), at most 0.

    M4t1ss/SoftAlignments, softalignments/functions.py, ``getCP``.
    """
    return _mean(-np.log1p(np.abs(1 - coverage(attention)) ** 6))


@_score("minus the mean entropy of source words")
def ap_in(attention: Weights) -> float:
    """Absentmindedness of input words: as :func:`ap_out`, but of columns."""
    return 0.0 - _mean_entropy(attention.T)


@_score("minus the mean entropy of target words")
def ap_out(attention: Weights) -> float:
    """Absentmindedness of output words: minus the mean entropy of rows, in nats, at most 0.

    Rikters and Fishel (2017). Rows are normalised to sum to 1, as in SoftAlignments' ``getEnt``.
    That program transposes most toolkits' matrices first, so its APout may be our AP_in; their sum
    and the confidence are the same.
    """
    return 0.0 - _mean_entropy(attention)


@_score("from CDP (code), AP_in and AP_out")
def confidence(attention: Weights) -> float:
    """exp(−0.05 (CDP + AP_out + AP_in)²), from 0 to 1, with CDP as :func:`cdp_code`.

    Rikters and Fishel (2017); M4t1ss/SoftAlignments, softalignments/functions.py.
    """
    total = cdp_code(attention) + ap_out(attention) + ap_in(attention)
    return math.exp(-0.05 * total**2)


@_score("coverage above 1, summed (OpenNMT-py)")
def summary_penalty(attention: Weights, beta: float = 1.0) -> float:
    """β (Σ_j max(cov_j, 1) − S), over-attention only: ``summary`` of OpenNMT-py's penalties.py."""
    return beta * float(np.maximum(coverage(attention) - 1, 0).sum())


@_score("share of source words with no weight of 0.01")
def undertranslated_max(attention: Weights, limit: float = 0.01) -> float:
    """Share of source words with max_i α_ij < 0.01: ``src_max_contr_below_001`` of stopes."""
    rows, columns = attention.shape
    most = attention.max(axis=0) if rows else np.zeros(columns)
    return _share(most < limit)


@_score("share of source words with coverage below 0.1")
def undertranslated_sum(attention: Weights, limit: float = 0.1) -> float:
    """Share of source words with cov_j < 0.1: ``src_sum_contr_below_01`` of stopes."""
    return _share(coverage(attention) < limit)


@_score("distance of the mean row from uniform")
def wass_to_unif(attention: Weights) -> float:
    """Distance ½ Σ_j |m_j − 1/S| of the mean row m from the uniform distribution, from 0 to 1.

    Guerreiro et al. (2023); stopes, optimal_transport_scoring.py. m is normalised to sum to 1; the
    distance is 0 if there is no weight at all.
    """
    total = attention.sum()
    if total == 0:
        return 0.0
    mean_row = attention.sum(axis=0) / total
    return float(0.5 * np.abs(mean_row - 1 / attention.shape[1]).sum())


@_score("share of weights that are 0")
def zeros(attention: Weights) -> float:
    """Share of weights that are exactly 0, as sparsemax and constrained sparsemax produce."""
    return float(np.mean(attention == 0)) if attention.size else 0.0


@_score("source words with weight, per target word")
def support_size(attention: Weights) -> float:
    """Mean number of source words with a weight above 0 per target word, from 0 to S."""
    return float(np.count_nonzero(attention, axis=1).mean()) if attention.shape[0] else 0.0


def _mean(values: Weights) -> float:
    return _zero(float(values.mean())) if values.size else 0.0


def _share(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float:
    return float(flags.mean()) if flags.size else 0.0


def _zero(value: float) -> float:
    """Return 0.0 for −0.0, which would print as a penalty."""
    return value + 0.0


def _mean_entropy(rows: Weights) -> float:
    """Mean entropy of normalised rows; rows without weight count as 0."""
    if rows.size == 0:
        return 0.0
    sums = rows.sum(axis=1, keepdims=True)
    shares = np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0)
    logs = np.log(shares, out=np.zeros_like(rows), where=shares > 0)
    # Rounding can make the entropy of a single peak negative, or −0.0.
    return max(0.0, -float((shares * logs).sum()) / len(rows)) + 0.0


@dataclass(frozen=True)
class SAER(Formula):
    """Soft alignment error rate of attention, 0 (best) to 100.

    Args:
        chosen: The layer and head of the maps, as each map names them.
    """

    chosen: tuple[tuple[str, str], ...] = ()

    name: ClassVar[str] = "SAER"
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("weight_on_gold", "weight_and_sure_links")
    undefined: ClassVar[str] = "there is neither attention nor a sure gold link"

    def settings(self) -> dict[str, object]:
        """The choice of layer and head."""
        return dict(self.chosen)

    @staticmethod
    def count(rows: Iterable[tuple[Weights, Gold]]) -> Statistics:
        """Statistics ``[segments, 2]``: Σ α·S + Σ α·P, and Σ α + |S|.

        Args:
            rows: Each segment's weights ``[T, S]`` without EOS, and its gold links.

        Raises:
            DataError: A gold link is outside its map.
        """
        counts = []
        for attention, gold in rows:
            target_words, source_words = attention.shape
            sure = set(gold.sure)
            possible = sure.union(gold.possible)
            for source, target in possible:
                if source >= source_words or target >= target_words:
                    raise DataError(
                        f"gold link {source}-{target} (source-target, from 0) is outside "
                        f"attention with {source_words} source and {target_words} target words; "
                        "merge subwords, or check the gold"
                    )
            on_sure, on_possible = (sum(attention[t, s] for s, t in on) for on in (sure, possible))
            counts.append((float(on_sure + on_possible), float(attention.sum()) + len(sure)))
        return np.array(counts, dtype=np.float64).reshape(-1, 2)

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """SAER as a percentage; NaN where there is neither attention nor a sure link."""
        hit, total = np.moveaxis(np.asarray(summed, dtype=np.float64), -1, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(100 * (1 - hit / total), dtype=np.float64)


def compare_with_gold(
    maps: Sequence[AttentionMap], golds: Iterable[Gold], *, threshold: float | None = None
) -> list[tuple[Formula, Statistics]]:
    """Count how well maps agree with gold links.

    Args:
        maps: One per segment, at the level (subwords or words) of the gold links.
        golds: One per segment.
        threshold: For hard links; by default argmax.

    Returns:
        AER, SAER, precision, recall and F1, each with its statistics, one row per segment.

    Raises:
        DataError: Unequal numbers of segments, or a gold link outside its map; names the segment.
    """
    kept = list(golds)
    if len(kept) != len(maps):
        raise DataError(f"{len(maps)} attention maps, but gold links of {len(kept)} segments")
    weights = []
    for number, (item, gold) in enumerate(zip(maps, kept, strict=True), start=1):
        try:
            weights.append(SAER.count([(item.word_weights, gold)])[0])
        except DataError as error:  # noqa: PERF203 (names the segment)
            raise DataError(f"segment {number}: {error}") from error
    links = AER.count(
        (hard_links(item, threshold), gold) for item, gold in zip(maps, kept, strict=True)
    )
    chosen = maps[0].chosen
    made_by = (*chosen, ("links", "argmax" if threshold is None else f">{threshold}"))
    aer, *others = ((metric(made_by), links) for metric in LINK_METRICS)
    return [aer, (SAER(chosen), np.array(weights)), *others]


@dataclass(frozen=True)
class SegmentScores:
    """The scores of one segment and the coverage of its source words.

    Attributes:
        values: Score by name, None where it does not apply.
        words: The scored source words.
        coverage: Total attention that each of them gets.
        over: Positions from 0 of over-attended source words.
        under: Positions from 0 of under-attended source words.
    """

    values: Mapping[str, float | None]
    words: tuple[str, ...]
    coverage: tuple[float, ...]
    over: tuple[int, ...]
    under: tuple[int, ...]


def score_maps(
    maps: Sequence[AttentionMap],
    names: Sequence[str] = tuple(SCORES),
    settings: ScoreSettings | None = None,
) -> list[SegmentScores]:
    """Score every segment.

    Args:
        maps: One per segment.
        names: Names in :data:`SCORES`.
        settings: What counts as over- and under-attended, and whether EOS counts.

    Raises:
        DataError: A name is unknown.
    """
    return list(_scores(maps, names, settings or ScoreSettings()))


def _scores(
    maps: Iterable[AttentionMap], names: Sequence[str], settings: ScoreSettings
) -> Iterator[SegmentScores]:
    if unknown := [name for name in names if name not in SCORES]:
        raise DataError(f"score {unknown[0]!r} is not one of {', '.join(SCORES)}")

    def scored(item: AttentionMap) -> SegmentScores:
        values = coverage(settings.weights(item))
        words = item.source_words
        if settings.with_eos and item.src_eos:
            words = (*words, item.source[-1] if item.source else "</s>")
        return SegmentScores(
            values={name: SCORES[name].of(item, settings) for name in names},
            words=words,
            coverage=tuple(values.tolist()),
            over=tuple(np.flatnonzero(values > settings.over).tolist()),
            under=tuple(np.flatnonzero(values < settings.under).tolist()),
        )

    return map(scored, maps)


def score_corpus(segments: Sequence[SegmentScores]) -> dict[str, float | None]:
    """Each of :data:`SCORES` for a corpus: the mean over the segments that have it, or the sum."""
    if not segments:
        return {}
    names = [name for name in segments[0].values if name in SCORES]
    cells = (segment.values[name] for segment in segments for name in names)
    plain = (math.nan if value is None else value for value in cells)
    table = np.fromiter(plain, np.float64).reshape(-1, len(names))
    corpus: dict[str, float | None] = {}
    for name, column in zip(names, table.T, strict=True):
        present = column[~np.isnan(column)]
        divisor = len(present) if SCORES[name].corpus == "mean" else 1
        corpus[name] = float(np.sum(present)) / divisor if present.size else None
    return corpus


@dataclass(frozen=True)
class ScoreTable:
    """All scores of a corpus.

    Attributes:
        segments: One item per segment, kept on disk.
        corpus: Score by name, None where it applies to no segment.
        signature: Every setting that affects the scores.
    """

    segments: Sequence[SegmentScores]
    corpus: dict[str, float | None]
    signature: Signature


def score_table(
    maps: Sequence[AttentionMap],
    names: Sequence[str] = tuple(SCORES),
    settings: ScoreSettings | None = None,
) -> ScoreTable:
    """Score every segment and the corpus.

    Args:
        maps: One per segment.
        names: Names in :data:`SCORES`.
        settings: What counts as over- and under-attended, and whether EOS counts.

    Raises:
        DataError: A name is unknown.
    """
    settings = settings or ScoreSettings()
    segments = DiskList(_scores(maps, names, settings))
    chosen = dict(maps[0].chosen) if maps else {}
    level = maps[0].level if maps else "bpe"
    signature = Signature.of("attention", level=level, **chosen, **asdict(settings))
    return ScoreTable(segments, score_corpus(segments), signature)
