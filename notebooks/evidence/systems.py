"""What a good REP or DROP is, and whether scores tell apart systems that differ little."""

from __future__ import annotations

from typing import Any

import pandas as pd
from corpora import Corpus, Translator
from scores import by

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Batch, Texts
from coverage_eval.core.metric import Metric
from coverage_eval.core.significance import pair_tests, sample_scores
from coverage_eval.coverage.drop import DROP, SoftDROP
from coverage_eval.repetition.rep import REP
from tests.planting import inject_lines

PERCENT = (0, 1, 2, 3, 5, 7.5, 10)


def _scored(aligner: ModelAligner) -> list[tuple[str, str, Metric]]:
    """Each score's name, the kind of error that it is of, and the score."""
    return [
        ("REP", "repetition-phrase", REP()),
        ("DROP", "omission-phrase", DROP(aligner)),
        ("DROP forward", "omission-phrase", DROP(by(aligner, "forward"))),
        ("soft DROP", "omission-phrase", SoftDROP(aligner)),
    ]


def what_is_good(aligner: ModelAligner, translator: Translator) -> pd.DataFrame:
    """Corpus scores by the share of words with an error, with intervals."""
    corpus = translator.corpus
    clean = translator.translate(1)
    repeated, *dropped = _scored(aligner)
    scored = [
        ("REP, words twice", "repetition-word", REP()),
        ("REP, phrases twice", *repeated[1:]),
        *dropped,
    ]
    rows: list[dict[str, Any]] = [{"words concerned": f"{p:g}%"} for p in PERCENT]
    for label, kind, metric in scored:
        systems = {f"{p:g}%": inject_lines(clean, kind, p / 100, seed=3) for p in PERCENT}
        statistics = _count(corpus, systems, metric)
        (sampled,) = sample_scores([(metric, statistics)], 1000, 1)
        for row, (name, counted) in zip(rows, statistics.items(), strict=True):
            interval = sampled[name].interval(1)
            row[label] = float(metric.formula(counted.sum(axis=0)))
            row |= {f"{label}, low": interval.low, f"{label}, high": interval.high}
    return pd.DataFrame(rows)


def _count(corpus: Corpus, systems: dict[str, list[str]], metric: Metric) -> dict[str, Any]:
    """Statistics of each system's segments."""
    sources, references = zip(*corpus.test, strict=True)
    texts = Texts.from_lists(systems, references, sources)
    counted = metric.fit(texts.sample).count(Batch(list(texts.rows())))
    return dict(zip(systems, counted, strict=True))


EQUALS = 10
"""Pairs of systems that differ only by chance."""


def equal_systems(aligner: ModelAligner, translator: Translator) -> pd.DataFrame:
    """How often a test finds a difference between two equally good systems."""
    corpus = translator.corpus
    rows = []
    systems = {str(seed): translator.translate(seed) for seed in range(100, 100 + 2 * EQUALS)}
    names = list(systems)
    for label, _, metric in _scored(aligner):
        statistics = _count(corpus, systems, metric)
        p_values = []
        for first, other in zip(names[::2], names[1::2], strict=True):
            both = {first: statistics[first], other: statistics[other]}
            pair = (other, first)
            (test,) = pair_tests([(metric, both)], [pair], test="randomization", resamples=999)
            p_values.append(test[pair].p_value)
        sure = sum(p < 0.05 for p in p_values)
        rows.append((label, EQUALS, sure, min(p_values)))
    return pd.DataFrame(rows, columns=["score", "pairs", "with p < .05", "smallest p"])
