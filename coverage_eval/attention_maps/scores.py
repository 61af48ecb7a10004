"""All scores of a map by name, and tables of them: one row a segment, and the corpus."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np

from coverage_eval.attention_maps import coverage as cov
from coverage_eval.attention_maps import dispersion
from coverage_eval.attention_maps.gold import GoldAgreement
from coverage_eval.attention_maps.maps import AttentionMap, Weights
from coverage_eval.data.disk_list import DiskList
from coverage_eval.errors import DataError
from coverage_eval.metrics.score import Signature


@dataclass(frozen=True)
class ScoreSettings:
    """What moves the scores of maps.

    Attributes:
        over: A source word with more attention is over-attended.
        under: A source word with less attention is under-attended, and counts as ignored.
        with_eos: Keep EOS rows and columns; by default scores are of words alone.
    """

    over: float = 1.5
    under: float = 0.2
    with_eos: bool = False

    def weights(self, item: AttentionMap) -> Weights:
        """The part of a map that is scored, ``[T, S]``."""
        return item.weights if self.with_eos else item.word_weights

    def signature(
        self, level: str, links: str | None = None, chosen: Iterable[tuple[str, str]] = ()
    ) -> Signature:
        """All that moves the scores of maps of a level.

        Args:
            level: Of the maps.
            links: AER's rule, if it is there.
            chosen: The layer and head of the maps, as :attr:`AttentionMap.chosen`.
        """
        aer = {} if links is None else {"links": links}
        return Signature.of("attention", level=level, **dict(chosen), **asdict(self), **aer)


@dataclass(frozen=True)
class MapScore:
    """One score of a map.

    Attributes:
        summary: One line of help.
        function: From a map to the score; None where it does not apply.
        corpus: How segments make the corpus: the mean of those it applies to, or the sum.
        experimental: The formula is recalled from its paper and was not read again there.
    """

    summary: str
    function: Callable[[AttentionMap, ScoreSettings], float | None]
    corpus: Literal["mean", "sum"] = "mean"
    experimental: bool = False


@dataclass(frozen=True)
class SegmentScores:
    """The scores of one segment, with the coverage they come from.

    Attributes:
        values: Score by name, None where it does not apply.
        words: The source words scored.
        coverage: Attention that each of them gets in total.
        over: Positions from 0 of over-attended source words.
        under: Positions from 0 of under-attended source words.
    """

    values: Mapping[str, float | None]
    words: tuple[str, ...]
    coverage: tuple[float, ...]
    over: tuple[int, ...]
    under: tuple[int, ...]


def _of(function: Callable[[Weights], float]) -> Callable[[AttentionMap, ScoreSettings], float]:
    return lambda item, settings: function(settings.weights(item))


def _eos_attention(item: AttentionMap, _: ScoreSettings) -> float | None:
    if not item.src_eos:
        return None
    return cov.eos_attention(item.weights[: item.weights.shape[0] - item.tgt_eos, -1])


SCORES: dict[str, MapScore] = {
    "mean_coverage": MapScore("mean attention that a source word gets", _of(cov.mean_coverage)),
    "over_attended": MapScore(
        "source words with coverage above --over",
        lambda item, settings: cov.over_attended(settings.weights(item), settings.over),
        corpus="sum",
    ),
    "under_attended": MapScore(
        "source words with coverage below --under",
        lambda item, settings: cov.under_attended(settings.weights(item), settings.under),
        corpus="sum",
    ),
    "ignored_source": MapScore(
        "share of source words with coverage below --under",
        lambda item, settings: cov.ignored_source(settings.weights(item), settings.under),
        experimental=True,
    ),
    "cdp_paper": MapScore(
        "coverage deviation penalty as printed (Rikters and Fishel 2017)",
        _of(cov.cdp_paper),
        experimental=True,
    ),
    "cdp_code": MapScore(
        "coverage deviation penalty as their program computes it", _of(cov.cdp_code)
    ),
    "ap_in": MapScore("minus the mean entropy of source words", _of(dispersion.ap_in)),
    "ap_out": MapScore("minus the mean entropy of target words", _of(dispersion.ap_out)),
    "confidence": MapScore("from CDP (code), AP_in and AP_out", _of(dispersion.confidence)),
    "gnmt_penalty": MapScore(
        "coverage penalty of Wu et al. 2016, β = 0.2", _of(cov.gnmt_penalty), experimental=True
    ),
    "summary_penalty": MapScore("coverage above 1, summed (OpenNMT-py)", _of(cov.summary_penalty)),
    "truncated_coverage": MapScore(
        "Σ log max(coverage, 0.4), Li et al. 2018", _of(cov.truncated_coverage), experimental=True
    ),
    "eos_attention": MapScore(
        "mean attention to the source's EOS", _eos_attention, experimental=True
    ),
    "undertranslated_max": MapScore(
        "share of source words with no weight of 0.01", _of(cov.undertranslated_max)
    ),
    "undertranslated_sum": MapScore(
        "share of source words with coverage below 0.1", _of(cov.undertranslated_sum)
    ),
    "wass_to_unif": MapScore("distance of the mean row from uniform", _of(dispersion.wass_to_unif)),
    "zeros": MapScore("share of weights that are 0", _of(dispersion.zeros)),
    "support_size": MapScore(
        "source words with weight, per target word", _of(dispersion.support_size)
    ),
}


def score_maps(
    maps: Sequence[AttentionMap],
    names: Sequence[str] = tuple(SCORES),
    settings: ScoreSettings | None = None,
) -> list[SegmentScores]:
    """Score every segment.

    Args:
        maps: One a segment.
        names: Of :data:`SCORES`.
        settings: What counts as over- and under-attended, and whether EOS counts.

    Raises:
        DataError: A name is unknown.
    """
    return list(_scores(maps, names, settings or ScoreSettings()))


def _scores(
    maps: Iterable[AttentionMap], names: Sequence[str], settings: ScoreSettings
) -> Iterator[SegmentScores]:
    if unknown := [name for name in names if name not in SCORES]:
        raise DataError(f"score {unknown[0]!r} is none of {', '.join(SCORES)}")
    return (_score(item, names, settings) for item in maps)


def _score(item: AttentionMap, names: Sequence[str], settings: ScoreSettings) -> SegmentScores:
    values = cov.coverage(settings.weights(item))
    words = item.source_words
    if settings.with_eos and item.src_eos:
        words = (*words, item.source[-1] if item.source else "</s>")
    return SegmentScores(
        values={name: SCORES[name].function(item, settings) for name in names},
        words=words,
        coverage=tuple(values.tolist()),
        over=tuple(np.flatnonzero(values > settings.over).tolist()),
        under=tuple(np.flatnonzero(values < settings.under).tolist()),
    )


def score_corpus(segments: Sequence[SegmentScores]) -> dict[str, float | None]:
    """Each score of the corpus: the mean over the segments it applies to, or a sum of counts."""
    if not segments:
        return {}
    names = tuple(segments[0].values)
    cells = (value for segment in segments for value in segment.values.values())
    plain = (math.nan if value is None else value for value in cells)
    table = np.fromiter(plain, np.float64).reshape(-1, len(names))
    return {name: _over_corpus(name, table[:, i]) for i, name in enumerate(names)}


def _over_corpus(name: str, values: Weights) -> float | None:
    """One score of the corpus from those of the segments, NaN where it does not apply."""
    present = values[~np.isnan(values)]
    if not present.size:
        return None
    total = float(np.sum(present))
    return total / len(present) if SCORES[name].corpus == "mean" else total


@dataclass(frozen=True)
class ScoreTable:
    """All scores of a corpus.

    Attributes:
        segments: One item a segment, kept on the disk.
        corpus: Score by name, None where it applies to no segment.
        signature: All that moved the scores.
    """

    segments: Sequence[SegmentScores]
    corpus: dict[str, float | None]
    signature: Signature


def score_table(
    maps: Sequence[AttentionMap],
    names: Sequence[str] = tuple(SCORES),
    settings: ScoreSettings | None = None,
    agreement: GoldAgreement | None = None,
) -> ScoreTable:
    """Score every segment and the corpus.

    Args:
        maps: One a segment.
        names: Of :data:`SCORES`.
        settings: What counts as over- and under-attended, and whether EOS counts.
        agreement: With gold links: adds AER and SAER, in per cent.

    Raises:
        DataError: A name is unknown.
    """
    settings = settings or ScoreSettings()
    segments = DiskList(_scores(maps, names, settings))
    corpus = score_corpus(segments)
    if agreement is not None:
        added = _gold_scores(agreement)
        for name, (_, total) in added.items():
            corpus[name] = total
        segments = DiskList(
            replace(item, values={**item.values, **{n: v[0][i] for n, v in added.items()}})
            for i, item in enumerate(segments)
        )
    level = maps[0].level if maps else "bpe"
    rule = None if agreement is None else agreement.rule
    chosen = maps[0].chosen if maps else ()
    return ScoreTable(segments, corpus, settings.signature(level, rule, chosen))


def _gold_scores(agreement: GoldAgreement) -> dict[str, tuple[list[float | None], float | None]]:
    """AER and SAER of the segments, and of the sums over the corpus."""
    scores = {}
    for metric, statistics in agreement.figures()[:2]:
        total = metric.segment_scores(statistics.sum(axis=0, keepdims=True))[0]
        scores[metric.name.lower()] = (metric.segment_scores(statistics), total)
    return scores
