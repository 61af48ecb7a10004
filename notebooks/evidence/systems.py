"""What a good REP or DROP is, and whether scores tell apart systems that differ little."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from corpora import Corpus, Translator
from scores import by

from coverage_eval.alignment.aligner import ModelAligner
from coverage_eval.data.dataset import Batch, make_rows
from coverage_eval.metrics.drop import DROP, SoftDROP
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.planting import inject_lines
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.significance import paired_test, percentile_interval, sample_scores
from coverage_eval.tables.table import Cell, ScoreCell, Table

PERCENT = (0, 1, 2, 3, 5, 7.5, 10)


def _scored(aligner: ModelAligner) -> list[tuple[str, str, Metric]]:
    """Each score's name, the kind of error that it is of, and the score."""
    return [
        ("REP", "repetition-phrase", REP()),
        ("DROP", "omission-phrase", DROP(aligner)),
        ("DROP forward", "omission-phrase", DROP(by(aligner, "forward"))),
        ("soft DROP", "omission-phrase", SoftDROP(aligner)),
    ]


def what_is_good(aligner: ModelAligner, translator: Translator) -> Table:
    """Corpus scores by the share of words with an error, with intervals."""
    corpus = translator.corpus
    clean = translator.translate(1)
    repeated, *dropped = _scored(aligner)
    scored = [
        ("REP, words twice", "repetition-word", REP()),
        ("REP, phrases twice", *repeated[1:]),
        *dropped,
    ]
    columns = []
    for _, kind, metric in scored:
        systems = {f"{p:g}%": inject_lines(clean, kind, p / 100, seed=3) for p in PERCENT}
        columns.append(_corpus_scores(corpus, systems, metric))
    rows = zip((f"{p:g}%" for p in PERCENT), *columns, strict=True)
    return Table(
        ("words concerned", *(name for name, _, _ in scored)),
        tuple(rows),
        f"What a good score is: corpus scores by share of words with an error, {corpus.name}",
        notes=(f"[low, high]: 95% interval for test sets of {len(clean):,} segments (bootstrap).",),
    )


def _corpus_scores(corpus: Corpus, systems: dict[str, list[str]], metric: Metric) -> list[Cell]:
    statistics = _count(corpus, systems, metric)
    (sampled,) = sample_scores([(metric, statistics)], 1000, 1)
    cells: list[Cell] = []
    for name, counted in statistics.items():
        interval = percentile_interval(sampled[name], seed=1)
        score = float(metric.formula(counted.sum(axis=0)))
        cells.append(ScoreCell(score, interval.low, interval.high))
    return cells


def _count(corpus: Corpus, systems: dict[str, list[str]], metric: Metric) -> dict[str, Any]:
    """Statistics of each system's segments."""
    sources, references = zip(*corpus.test, strict=True)
    rows = make_rows(systems, references, sources)
    return dict(zip(systems, metric.count(Batch(rows)), strict=True))


def eight_systems(aligner: ModelAligner, translator: Translator) -> Table:
    """Eight systems: two without errors, three that drop and three that repeat ever more words.

    Each is a different translator. The p-value is for the difference from the row above.
    """
    corpus = translator.corpus
    clean = {name: translator.translate(seed) for seed, name in enumerate(("one", "another"), 11)}
    rows: list[tuple[Cell, ...]] = []
    for label, kind, metric in _scored(aligner):
        systems = dict(clean)
        for seed, percent in enumerate((1, 2, 5), 13 if "rep" in kind else 16):
            name = f"{percent}% {'twice' if 'rep' in kind else 'left out'}"
            systems[name] = inject_lines(translator.translate(seed), kind, percent / 100, seed)
        rows += _ladder(label, _count(corpus, systems, metric), metric)
    return Table(
        ("score", "system", "value", "p against the row above"),
        tuple(rows),
        f"Eight systems, each with a different translator, {corpus.name}",
        notes=("p: approximate randomisation, two-sided, 10,000 trials.",),
    )


EQUALS = 10
"""Pairs of systems that differ only by chance."""


def equal_systems(aligner: ModelAligner, translator: Translator) -> Table:
    """How often a test finds a difference between two equally good systems."""
    corpus = translator.corpus
    rows: list[tuple[Cell, ...]] = []
    systems = {str(seed): translator.translate(seed) for seed in range(100, 100 + 2 * EQUALS)}
    names = list(systems)
    for label, _, metric in _scored(aligner):
        statistics = _count(corpus, systems, metric)
        p_values = []
        for one, other in zip(names[::2], names[1::2], strict=True):
            both = {one: statistics[one], other: statistics[other]}
            test = paired_test(metric, both, one, test="randomization", resamples=999)
            p_values.append(test[other].p_value)
        rows.append((label, EQUALS, sum(p < 0.05 for p in p_values), min(p_values)))
    return Table(
        ("score", "pairs", "with p < .05", "smallest p"),
        tuple(rows),
        f"Equally good systems: differences found by chance, {corpus.name}",
        notes=("p: approximate randomisation, two-sided, 1,000 trials. By chance, one pair in 20 "
               "has p < .05.",),
    )  # fmt: skip


def _ladder(label: str, statistics: dict[str, Any], metric: Metric) -> list[tuple[Cell, ...]]:
    names = list(statistics)
    values = {name: float(metric.formula(item.sum(axis=0))) for name, item in statistics.items()}
    rows: list[tuple[Cell, ...]] = [(label, names[0], values[names[0]], None)]
    for above, name in pairwise(names):
        both = {key: statistics[key] for key in (above, name)}
        test = paired_test(metric, both, above, test="randomization", resamples=9999)
        rows.append((label, name, values[name], f"{test[name].p_value:.4f}"))
    return rows
