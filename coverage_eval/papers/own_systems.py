"""The paper's claims on your own systems and seeds: ``coverage-eval audit claims``.

Each comparison that decides a claim is won, lost or tied in each seed. A two-sided sign test over
the seeds, in which ties are no evidence, says whether it is won or lost beyond chance.

- A claim is confirmed if all its comparisons are won: its p-value is the largest of theirs.
- It is contradicted if they are lost, or only one is: its p-value is Simes' (1986), which corrects
  for the number of comparisons.

Both are corrected by Holm for the claims that are tested. With few seeds, or if comparisons are
lost in some and won in others, the claim is not decidable.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, stdev

from coverage_eval.core.errors import DataError
from coverage_eval.core.files import PathLike, file_name
from coverage_eval.core.report import (
    HUMAN_FORMATS,
    NUMBER_FORMATS,
    ROW_FORMATS,
    SIGNIFICANT,
    Report,
    Table,
)
from coverage_eval.core.significance import holm
from coverage_eval.core.tables import TextTable
from coverage_eval.papers.audit_tables import SPARSE, claims_of_table1, claims_of_table2
from coverage_eval.papers.claims import OURS, Claim, Fact, Verdict
from coverage_eval.papers.printed import Key, PrintedCell, PrintedTable, is_number, load_table

_HINT = "Name the systems of yours that count as sparse models: --sparse SYSTEM."

DATASET = "your text"
"""The name of the data set in files without that column."""


def sign_test(won: int, lost: int) -> float:
    """Two-sided p-value of so many seeds for each side, if each were a coin."""
    from scipy.stats import binomtest  # slow to import

    return float(binomtest(won, won + lost).pvalue) if won + lost else 1.0


@dataclass(frozen=True)
class SeededFact:
    """One comparison of a claim, in all seeds.

    Attributes:
        facts: The comparison in each seed.
    """

    facts: Sequence[Fact]

    @property
    def what(self) -> str:
        """The name of the comparison."""
        return self.facts[0].what

    @property
    def metric(self) -> str:
        """The metric, with which the names of comparisons begin."""
        return self.what.replace(",", ":").partition(":")[0]

    @property
    def won(self) -> int:
        """Seeds in which it is as the claim says."""
        return sum(fact.holds is True for fact in self.facts)

    @property
    def lost(self) -> int:
        """Seeds in which it is the other way."""
        return sum(fact.holds is False for fact in self.facts)

    @cached_property
    def p(self) -> float:
        """p-value of the sign test; ties count for neither side."""
        return sign_test(self.won, self.lost)

    @property
    def size(self) -> tuple[float, float | None]:
        """The mean gain over seeds, and half its 95% interval by Student's t; None for one seed."""
        gains = [fact.gain for fact in self.facts if fact.gain is not None]
        if len(gains) < 2:
            return fmean(gains), None
        from scipy.stats import t  # slow to import

        error = stdev(gains) / len(gains) ** 0.5
        return fmean(gains), error * float(t.ppf(0.975, len(gains) - 1))

    @property
    def size_text(self) -> str:
        """The size, such as ``+1.00 ± 0.20``; a small one has more digits."""
        mean, half = self.size
        digits = 2 if abs(mean) >= 0.005 or not mean else 1 - math.floor(math.log10(abs(mean)))
        return f"{mean:+.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}")


@dataclass(frozen=True)
class SeededClaim:
    """One claim, checked on the figures of each seed.

    Attributes:
        claims: The claim with its facts, for each seed.
        p: p-value, corrected for all claims; None if the claim was not tested.
    """

    claims: Sequence[Claim]
    p: float | None = None

    @property
    def holds(self) -> int:
        """The number of seeds in which it holds, with or without exceptions."""
        return sum(claim.verdict is Verdict.CONFIRMED for claim in self.claims)

    @property
    def fails(self) -> int:
        """The number of seeds in which a comparison that decides it is lost."""
        return sum(claim.verdict is Verdict.CONTRADICTED for claim in self.claims)

    @cached_property
    def comparisons(self) -> list[SeededFact]:
        """Its comparisons, those that decide and the others."""
        facts = zip(*(claim.facts for claim in self.claims), strict=True)
        return [SeededFact(found) for found in facts if found[0].gain is not None]

    @property
    def decisive(self) -> list[SeededFact]:
        """The comparisons that decide; none if the claim cannot be tested on these figures."""
        return [item for item in self.comparisons if item.facts[0].decisive]

    @property
    def p_won(self) -> float:
        """p-value of "all comparisons are won"."""
        return max(item.p if item.won > item.lost else 1.0 for item in self.decisive)

    @property
    def p_lost(self) -> float:
        """p-value of "comparisons are lost", by Simes."""
        p_values = sorted(item.p if item.lost > item.won else 1.0 for item in self.decisive)
        return min(p * len(p_values) / rank for rank, p in enumerate(p_values, 1))

    @property
    def verdict(self) -> Verdict:
        """What the seeds say of it together."""
        if self.p is None:
            return self.claims[0].verdict
        if self.p >= SIGNIFICANT:
            return Verdict.UNDECIDED
        return Verdict.CONFIRMED if self.p_won < self.p_lost else Verdict.CONTRADICTED


def judge(by_seed: Sequence[Sequence[Claim]]) -> list[SeededClaim]:
    """Judge the claims of all seeds, which are the same claims in the same order."""
    rows = [SeededClaim(claims) for claims in zip(*by_seed, strict=True)]
    adjusted = iter(holm([min(row.p_won, row.p_lost) for row in rows if row.decisive]))
    return [replace(row, p=next(adjusted)) if row.decisive else row for row in rows]


Figures = dict[str, dict[Key, float]]
"""Seed → system, data set and metric → figure."""


def _read_figures(source: PathLike, by_seed: Figures) -> None:
    """Add the figures of a file: a seed, or with a column ``seed`` several.

    Raises:
        DataError: Columns are missing, a figure is not a number or comes twice.
    """
    metrics = {metric.lower(): metric for metric in load_table("table1").better}
    name, table = file_name(source), TextTable(source)
    names = table.names
    value = "value" if "value" in names else "score"
    if missing := {"system", "metric", value} - set(names):
        raise DataError(
            f"{name}: no column {sorted(missing)[0]!r}; the columns are system, metric "
            "and value or score, and perhaps dataset and seed"
        )
    optional = [column for column in ("dataset", "seed") if column in names]
    columns = ["system", "metric", value, *optional]
    rows = list(zip(*map(table.texts, columns), strict=True))
    if not rows:
        raise DataError(f"{name}: no figures; each line is like csparsemax,BLEU,29.85")
    for row in rows:
        cells = dict(zip(["system", "metric", "value", *optional], row, strict=True))
        metric = metrics.get(cells["metric"].lower(), cells["metric"])
        key = (cells["system"], cells.get("dataset", DATASET), metric)
        figures, shown = by_seed[cells.get("seed", name)], ",".join(key)
        if key in figures:
            raise DataError(f"{name}: {shown}: twice for seed {cells.get('seed', name)}")
        if not is_number(cells["value"]):
            raise DataError(f"{name}: {shown},{cells['value']}: not a number")
        figures[key] = float(cells["value"])


def _tables(by_seed: Figures) -> Iterator[PrintedTable]:
    """The figures of each seed, of the metrics that the claims are about.

    Raises:
        DataError: A seed lacks a figure that another one has, or a system one of another's.
    """
    better = load_table("table1").better
    keys = {key for figures in by_seed.values() for key in figures if key[2] in better}
    systems = dict.fromkeys(key[0] for one in by_seed.values() for key in one)
    columns = dict.fromkeys((d, m) for m in better for _, d, metric in sorted(keys)
                            if metric == m)  # fmt: skip
    for seed, figures in by_seed.items():
        keys_of_seed = [(system, *column) for system in systems for column in columns]
        for key in keys_of_seed:
            if key not in figures:
                raise DataError(f"seed {seed} has no figure for {','.join(key)}")
        cells = {key: PrintedCell(f"{figures[key]:.2f}", figures[key]) for key in keys_of_seed}
        yield PrintedTable("yours", tuple(systems), tuple(columns), cells, better, is_printed=False)


def judge_files(sources: Sequence[PathLike], sparse: Sequence[str] = ()) -> Report:
    """Judge the paper's claims on a user's figures.

    Args:
        sources: CSV files with the columns ``system``, ``metric``, ``value`` or ``score``, and
            perhaps ``dataset`` and ``seed``; without ``seed``, each file is a seed.
        sparse: The systems that count as sparse models, beside the paper's.

    Raises:
        DataError: A file has another form, or no system of that name.
    """
    by_seed: Figures = defaultdict(dict)
    for source in sources:
        _read_figures(source, by_seed)
    tables: dict[str, PrintedTable] = {}
    for seed, table in zip(by_seed, _tables(by_seed), strict=True):
        if table not in tables.values():  # figures that come again are not another training
            tables[seed] = table
    first = next(iter(tables.values()))
    for system in sparse:
        if system not in first.systems:
            raise DataError(f"--sparse {system}: no system has this name: "
                            f"{', '.join(first.systems)}")  # fmt: skip
    judged = judge([_claims(table, (*SPARSE, *sparse)) for table in tables.values()])
    notes = [_used(first)]
    if copies := len(by_seed) - len(tables):
        notes.append(f"{copies} of {len(by_seed)} seeds repeat the figures of another one, "
                     "and count with it as one seed.")  # fmt: skip
    return _report(judged, list(tables), notes)


def _used(table: PrintedTable) -> str:
    """How much of what the paper compares is there."""
    parts = [
        f"{there} of {len(printed.systems)} systems of Table {printed.name[-1]}"
        for printed in map(load_table, ("table1", "table2"))
        if (there := len({*printed.systems} & {*table.systems}))
    ]
    count = len(table.datasets)
    parts.append(f"{count} language pair{'s' * (count > 1)}")
    return f"Judged on {', '.join(parts)}: {', '.join(table.systems)}."


def _claims(table: PrintedTable, sparse: Sequence[str]) -> list[Claim]:
    """The claims of both tables; those of Table 2 if there is one of its systems."""
    of_second = set(load_table("table2").systems)
    first = tuple(system for system in table.systems if system not in of_second)
    claims = [*claims_of_table1(table.only(first), sparse)] if first else []
    if of_second & set(table.systems):
        claims += claims_of_table2(table)
    return claims


def _report(judged: Sequence[SeededClaim], seeds: Sequence[str], notes: Sequence[str]) -> Report:
    count = len(seeds)
    rows = []
    for number, row in enumerate(judged, 1):
        claim = row.claims[0]
        ties = count - row.holds - row.fails
        reason = claim.unchecked or ("" if row.decisive else claim.facts[0].what)
        rows.append((
            number,
            row.verdict.value,
            f"{row.holds} of {count}" + f", {ties} tied" * bool(ties) if row.decisive else "",
            None if row.p is None else f"{row.p:.3f}",
            ", ".join(f"{item.metric} {item.size_text}" for item in row.decisive),
            f"{claim.described}: {reason}".removesuffix(": "),
        ))  # fmt: skip
    tested = sum(row.p is not None for row in judged)
    notes = list(notes)
    if tested:
        enough = next(n for n in range(1, 99) if sign_test(n, 0) * tested < SIGNIFICANT)
        notes += [
            "Confirmed: each comparison that decides is won, p < .05; contradicted: one is lost. "
            "By a two-sided sign test over seeds, in which ties are no evidence, corrected for the "
            f"number of claims ({tested}, which takes at least {enough} seeds), and of lost "
            "comparisons.",
            "Size: how much better, the mean over seeds and half its 95% interval.",
        ]
    notes += [_HINT] * any("no sparse model" in row.claims[0].unchecked for row in judged)
    notes += [OURS] * any(row.claims[0].in_our_words for row in judged)
    overview = Table(("", "verdict", "holds in", "p", "size", "claim"), rows, notes=tuple(notes),
                     formats=HUMAN_FORMATS)  # fmt: skip
    compared = tuple(
        (number, comparison.what, comparison.size_text, comparison.won, comparison.lost,
         f"{comparison.p:.3f}", "" if comparison.facts[0].decisive else "exception")
        for number, row in enumerate(judged, 1)
        for comparison in row.comparisons
        if comparison.facts[0].decisive or comparison.lost > comparison.won
    )  # fmt: skip
    comparisons = Table(
        ("claim", "comparison", "size", "won", "lost", "p", ""), compared,
        "Comparisons that decide, and others that are lost in more seeds than won",
        notes=("p is not corrected here.",), formats=HUMAN_FORMATS,
    )  # fmt: skip
    records = tuple(
        (row.claims[0].text, row.verdict.value, row.p, seed, claim.verdict.value, fact.what,
         fact.computed or fact.printed, fact.outcome,
         {True: "yes", False: "no", None: "cannot tell"}[fact.holds])
        for row in judged
        for seed, claim in zip(seeds, row.claims, strict=True)
        for fact in claim.facts
    )  # fmt: skip
    header = ("claim", "verdict", "p", "seed", "in this seed", "fact", "yours", "outcome", "holds")
    counts = Table(("holds in",), tuple((row.holds,) for row in judged), formats=NUMBER_FORMATS)
    values = {
        "claims": [
            {"claim": row.claims[0].text, "in our words": row.claims[0].in_our_words,
             "verdict": row.verdict.value, "p": row.p, "holds in": row.holds,
             "fails in": row.fails, "seeds": count, "unchecked": row.claims[0].unchecked,
             "sizes": [{"comparison": item.what, "mean": item.size[0], "half_width": item.size[1]}
                       for item in row.decisive]}
            for row in judged
        ],
        "facts": Table(header, records),
    }  # fmt: skip
    shown = (overview, *[comparisons] * bool(compared), Table(header, records, formats=ROW_FORMATS))
    return Report((*shown, counts), values, "The paper's claims on your systems")
