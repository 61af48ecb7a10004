"""The claims of section 5 of Malaviya et al. (2018) over the printed figures of Table 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

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
    sparse = _Group("sparse models", SPARSE)
    others = _Group("others", tuple(name for name in table.systems if name not in SPARSE))
    metrics, pairs = ("BLEU", "METEOR"), table.datasets
    overall = pairs[0] if len(pairs) == 1 else "all pairs"
    facts = [_compare(table, m, overall, pairs, sparse, others, decisive=True) for m in metrics]
    facts += [_compare(table, m, pair, (pair,), sparse, others) for m in metrics for pair in pairs]
    facts += [
        _compare(table, metric, "all pairs", pairs, _single(system), _single(other))
        for metric in metrics
        for system in sparse.systems
        for other in others.systems
    ]
    return Claim(
        "on average, the sparse models (csparsemax as well as sparsemax combined with coverage "
        "models) have higher scores on both BLEU and METEOR",
        "section 5, page 374",
        tuple(facts),
        "Read as the mean of the three sparse models against the mean of the other five, over all "
        "language pairs; single pairs and single systems are the exceptions.",
    )


class _Group(NamedTuple):
    """Systems that are spoken of by one name."""

    name: str
    systems: tuple[str, ...]


def _single(system: str) -> _Group:
    return _Group(system, (system,))


def _compare(
    table: PrintedTable,
    metric: str,
    where: str,
    datasets: Sequence[str],
    ours: _Group,
    theirs: _Group,
    *,
    decisive: bool = False,
) -> Fact:
    """The fact that the mean of some systems over data sets is better than that of others."""
    means = (
        fmean(
            table.value(system, dataset, metric) for system in group.systems for dataset in datasets
        )
        for group in (ours, theirs)
    )
    what = f"{metric}, {where}: {ours.name}, {theirs.name}"
    return better(table, metric, what, *means, decisive=decisive)


def _coverage(table: PrintedTable) -> Claim:
    metrics = ("REP", "DROP")
    singles = [
        _compare(table, metric, dataset, (dataset,), _single(system), _single(other))
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
    won = sum(fact.holds for fact in ours)
    most = 2 * won > len(ours)
    what = f"{metric}: comparisons that a sparse model wins"
    return Fact(what, "generally", f"{won} of {len(ours)}", "most" if most else "not most", most)


def _best(table: PrintedTable) -> Claim:
    ours = _single("csparsemax")
    facts = [
        _compare(table, metric, dataset, (dataset,), ours, _single(other), decisive=True)
        for metric in ("REP", "DROP")
        for dataset in table.datasets
        for other in ("softmax", "csoftmax")
    ]
    return Claim(
        "csparsemax has better REP and DROP than csoftmax and softmax on every language pair",
        "Table 1, page 374; in our words",
        tuple(facts),
    )
