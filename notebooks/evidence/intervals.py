"""How often 95% intervals of kept outputs hold the score: percentiles, and with one more error.

Segments of a kept output are drawn with replacement, so the score of all of them is the true one.
Some are drawn from outputs that have had most of their errors taken out, because intervals fail
where errors are rare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from corpora import Corpus, train
from peers import RUNS
from people import LABELLED

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count
from coverage_eval.core.metric import Metric, Statistics
from coverage_eval.core.significance import Resampled, sample_scores
from coverage_eval.core.texts import read_segments
from coverage_eval.coverage.drop import DROP, SoftDROP
from coverage_eval.coverage.omissions import Omissions
from coverage_eval.quality.sacre import BLEU, CHRF
from coverage_eval.repetition.rep import REP

RUN = RUNS / "multi30k-de-en-seed1"
OUTPUTS = ("softmax", "constrained_sparsemax-guided-c0")

SIZES = (20, 50, 200)
SAMPLES = 1000
RESAMPLES = 500

ERRORS_KEPT = (1.0, 0.1)
"""Shares of the segments with an error that keep it."""


class Population(NamedTuple):
    """Segments to draw from.

    Attributes:
        text: The output.
        score: What is scored.
        metric: The formula.
        statistics: The statistics of the segments, ``[segments, k]``.
    """

    text: str
    score: str
    metric: Metric
    statistics: Statistics


def intervals_table(data: Path, captions: Corpus) -> pd.DataFrame:
    """Coverage in percent and mean width at each size, by population."""
    samples = 20 if captions.is_trial else SAMPLES
    with train(captions.training) as aligner:
        rows = [_row(one, samples) for one in populations(data, captions, aligner)]
    return pd.DataFrame(rows)


def least_held(table: pd.DataFrame) -> pd.DataFrame:
    """The least share of intervals that hold the score, over outputs and sizes."""
    is_quality = table["score"].isin(["BLEU", "chrF"])
    least = {
        f"least {name}": table.filter(regex=f", {name}, holds")
        .min(axis=1)
        .groupby(is_quality)
        .min()
        for name in ("percentile", "printed")
    }
    found = pd.DataFrame(least)
    found.insert(0, "scores", ["errors", "BLEU, chrF"])
    return found


def populations(data: Path, captions: Corpus, aligner: ModelAligner) -> Iterator[Population]:
    """Every score of the kept outputs, and those of WMT23 that need no model, if it is there."""
    of_aligner: dict[str, Metric] = {"DROP": DROP(aligner), "soft DROP": SoftDROP(aligner)}
    omissions = Omissions(aligner, referenced=False)
    of_text: dict[str, Metric] = {"REP": REP(), "BLEU": BLEU(), "chrF": CHRF()}
    for name in OUTPUTS:
        output = list(read_segments(RUN / f"{name}.test.hyp.gz"))
        pairs = captions.test[: len(output)]
        sources, references = (list(side) for side in zip(*pairs, strict=True))
        texts = Texts.from_lists({name: output[: len(pairs)]}, references, sources)
        yield from _of_texts(name, texts, {**of_text, **of_aligner})
        alone = Texts.from_lists({name: output[: len(pairs)]}, None, sources)
        result = count(alone, {"": omissions})
        yield from _with_rarer_errors(name, "omissions", omissions, result.statistics_of(""))
    file = data / LABELLED / "outputs.tsv"
    if file.exists():
        found = pd.read_csv(file, sep="\t", quoting=3, keep_default_na=False)
        found = found[found["system"] != "refA"]
        texts = Texts.from_lists({"": list(found["output"])}, list(found["reference"]))
        yield from _of_texts("WMT23, eight systems", texts, of_text)


def _of_texts(text: str, texts: Texts, metrics: Mapping[str, Metric]) -> Iterator[Population]:
    result = count(texts, metrics)
    for score, metric in metrics.items():
        yield from _with_rarer_errors(text, score, metric, result.statistics_of(score))


def _with_rarer_errors(
    text: str, score: str, metric: Metric, statistics: Statistics
) -> Iterator[Population]:
    """The population and, for a score of errors, those with fewer; denominators stay."""
    for kept in ERRORS_KEPT if metric.one_more_error is not None else ERRORS_KEPT[:1]:
        left = np.array(statistics, dtype=np.float64)
        spared = np.random.default_rng(0).random(len(left)) >= kept
        left[spared, :-1] = 0
        of_errors = text if kept == 1 else f"{text}, nine in ten errors taken out"
        yield Population(of_errors, score, metric, left)


def _row(population: Population, samples: int) -> dict[str, object]:
    """The score, and the coverage and width of both intervals at each size."""
    text, score, metric, statistics = population
    true = float(metric.formula(statistics.sum(axis=0)))
    row: dict[str, object] = {"output": text, "score": score, "of all segments": true}
    for size in SIZES:
        generator = np.random.default_rng(size)
        drawn = []
        for seed in range(samples):
            chosen = statistics[generator.integers(len(statistics), size=size)]
            (found,) = sample_scores([(metric, {"": chosen})], RESAMPLES, seed)
            drawn.append(found[""])
        row |= _held(drawn, true, size)
    return row


def _held(drawn: Sequence[Resampled], true: float, size: int) -> dict[str, float]:
    """The share of intervals that hold the true value, and their mean width."""
    found: dict[str, float] = {}
    for name, made in (
        ("percentile", [Resampled(one.lower, one.lower) for one in drawn]),
        ("printed", drawn),
    ):
        ends = np.array([(end.low, end.high) for end in (one.interval(0) for one in made)])
        held = (ends[:, 0] <= true) & (true <= ends[:, 1])
        found[f"{size} segments, {name}, holds %"] = 100 * held.mean()
        found[f"{size} segments, {name}, width"] = float((ends[:, 1] - ends[:, 0]).mean())
    return found
