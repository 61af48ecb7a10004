"""The claims of section 5 of Malaviya et al. (2018) over the printed figures of Table 1."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from coverage_eval.published.audits.facts import better
from coverage_eval.published.claims import Claim, Fact
from coverage_eval.published.tables import PrintedTable, load_table

SPARSE = ("sparsemax + COVPENALTY", "sparsemax + COVVECTOR", "csparsemax")
"""The text's "sparse models": csparsemax, and sparsemax combined with coverage models."""


def audit() -> tuple[Claim, ...]:
    """Recompute what section 5 says of Table 1."""
    return claims(load_table("table1"))


def claims(table: PrintedTable) -> tuple[Claim, ...]:
    """What section 5 says of Table 1, over figures of the same systems."""
    return (_quality(table), _coverage(table), _best(table))


def _quality(table: PrintedTable) -> Claim:
    others = [system for system in table.systems if system not in SPARSE]
    metrics = ("BLEU", "METEOR")
    facts = [_groups(table, metric, table.datasets, others, decisive=True) for metric in metrics]
    facts += [
        _groups(table, metric, (dataset,), others, decisive=False)
        for metric in metrics
        for dataset in table.datasets
    ]
    facts += [
        _averages(table, metric, system, other)
        for metric in metrics
        for system in SPARSE
        for other in others
    ]
    return Claim(
        "on average, the sparse models (csparsemax as well as sparsemax combined with coverage "
        "models) have higher scores on both BLEU and METEOR",
        "section 5, page 374",
        tuple(facts),
        "Read as the mean of the three sparse models against the mean of the other five, over all "
        "language pairs; single pairs and single systems are the exceptions.",
    )


def _groups(
    table: PrintedTable,
    metric: str,
    datasets: Iterable[str],
    others: Iterable[str],
    *,
    decisive: bool,
) -> Fact:
    datasets = list(datasets)
    ours, theirs = (
        fmean(table.value(system, dataset, metric) for system in group for dataset in datasets)
        for group in (SPARSE, list(others))
    )
    where = datasets[0] if len(datasets) == 1 else "all pairs"
    return better(
        table, metric, f"{metric}, {where}: sparse models, others", ours, theirs, decisive=decisive
    )


def _averages(table: PrintedTable, metric: str, system: str, other: str) -> Fact:
    ours, theirs = (
        fmean(table.value(name, dataset, metric) for dataset in table.datasets)
        for name in (system, other)
    )
    return better(
        table, metric, f"{metric}, all pairs: {system}, {other}", ours, theirs, decisive=False
    )


def _coverage(table: PrintedTable) -> Claim:
    metrics = ("REP", "DROP")
    singles = [
        better(
            table,
            metric,
            f"{metric}, {dataset}: {system}, {other}",
            table.value(system, dataset, metric),
            table.value(other, dataset, metric),
            decisive=False,
        )
        for metric in metrics
        for system in SPARSE
        for other in ("softmax", "csoftmax")
        for dataset in table.datasets
    ]
    return Claim(
        "generally, they also obtain better REP and DROP scores than csoftmax and softmax",
        "section 5, page 374",
        (*(_majority(metric, singles) for metric in metrics), *singles),
        "Read as: in most comparisons of one sparse model with one of the two on one pair.",
    )


def _majority(metric: str, facts: Iterable[Fact]) -> Fact:
    ours = [fact for fact in facts if fact.what.startswith(f"{metric}, ")]
    better = sum(fact.holds for fact in ours)
    return Fact(
        f"{metric}: comparisons that a sparse model wins",
        "generally",
        f"{better} of {len(ours)}",
        "most" if 2 * better > len(ours) else "not most",
        2 * better > len(ours),
    )


def _best(table: PrintedTable) -> Claim:
    facts = []
    for metric in ("REP", "DROP"):
        for dataset in table.datasets:
            ours = table.value("csparsemax", dataset, metric)
            for other in ("softmax", "csoftmax"):
                theirs = table.value(other, dataset, metric)
                what = f"{metric}, {dataset}: csparsemax, {other}"
                facts.append(better(table, metric, what, ours, theirs, decisive=True))
    return Claim(
        "csparsemax has better REP and DROP than csoftmax and softmax on every language pair",
        "Table 1, page 374; in our words",
        tuple(facts),
    )
