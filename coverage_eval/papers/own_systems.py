"""The paper's claims on your own systems and seeds: ``coverage-eval audit claims``.

A claim is confirmed if it holds in so many seeds that a two-sided sign test, corrected by Holm for
the claims, gives p < .05, and contradicted if the claim with the systems' names exchanged does. The
test's null hypothesis is "holds in half of the trainings".
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import comb

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
from coverage_eval.papers.claims import OURS, Claim, Verdict
from coverage_eval.papers.printed import Key, PrintedCell, PrintedTable, load_table

_HINT = "Name the systems of yours that count as sparse models: --sparse SYSTEM."

DATASET = "your text"
"""The name of the data set in files without that column."""


def sign_test(more: int, seeds: int) -> float:
    """Two-sided p-value of so many seeds for one side, if each were a coin."""
    return min(1.0, 2 * sum(comb(seeds, k) for k in range(more, seeds + 1)) / (1 << seeds))


@dataclass(frozen=True)
class SeededClaim:
    """One claim, checked on the figures of each seed.

    Attributes:
        claims: The claim with its facts, for each seed.
        p: p-value of the sign test, corrected for all claims; None if the claim was not checked.
    """

    claims: Sequence[Claim]
    p: float | None

    @property
    def holds(self) -> int:
        """The number of seeds in which it holds, with or without exceptions."""
        return sum(claim.verdict is Verdict.CONFIRMED for claim in self.claims)

    @property
    def opposite(self) -> int:
        """The number of seeds in which the claim with exchanged names holds."""
        return sum(claim.verdict is not Verdict.UNCHECKED and claim.is_reversed
                   for claim in self.claims)  # fmt: skip

    @property
    def verdict(self) -> Verdict:
        """What the seeds say of it together."""
        if self.p is None:
            return Verdict.UNCHECKED
        if self.p >= SIGNIFICANT:
            return Verdict.UNDECIDED
        return Verdict.CONFIRMED if self.holds > self.opposite else Verdict.CONTRADICTED


def judge(by_seed: Sequence[Sequence[Claim]]) -> list[SeededClaim]:
    """Judge the claims of all seeds, which are the same claims in the same order."""
    rows = [SeededClaim(claims, None) for claims in zip(*by_seed, strict=True)]
    tested = [row for row in rows if row.claims[0].verdict is not Verdict.UNCHECKED]
    raw = [sign_test(max(row.holds, row.opposite), len(row.claims)) for row in tested]
    adjusted = iter(holm(raw))
    return [SeededClaim(row.claims, next(adjusted)) if row in tested else row for row in rows]


@dataclass
class OwnScores:
    """A user's figures by seed.

    Attributes:
        figures: Seed → system, data set and metric → figure.
    """

    figures: dict[str, dict[Key, float]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, source: PathLike) -> None:
        """Read a file: a seed, or with a column ``seed`` several.

        Raises:
            DataError: Columns are missing, a figure is not a number or comes twice.
        """
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
            key = (cells["system"], cells.get("dataset", DATASET), cells["metric"])
            figures, shown = self.figures[cells.get("seed", name)], ",".join(key)
            if key in figures:
                raise DataError(f"{name}: {shown}: twice for seed {cells.get('seed', name)}")
            try:
                figures[key] = float(cells["value"])
            except ValueError:
                figures[key] = math.nan
            if not math.isfinite(figures[key]):
                raise DataError(f"{name}: {shown},{cells['value']}: not a number")

    def tables(self) -> Iterator[PrintedTable]:
        """The figures of each seed, of the metrics that the claims are about.

        Raises:
            DataError: A seed lacks a figure that another one has, or a system one of another's.
        """
        better = load_table("table1").better
        keys = {key for figures in self.figures.values() for key in figures if key[2] in better}
        systems = dict.fromkeys(key[0] for one in self.figures.values() for key in one)
        columns = dict.fromkeys((d, m) for m in better for _, d, metric in sorted(keys)
                                if metric == m)  # fmt: skip
        for seed, figures in self.figures.items():
            keys_of_seed = [(system, *column) for system in systems for column in columns]
            for key in keys_of_seed:
                if key not in figures:
                    raise DataError(f"seed {seed} has no figure for {','.join(key)}")
            cells = {key: PrintedCell(f"{figures[key]:.2f}", figures[key]) for key in keys_of_seed}
            yield PrintedTable(
                "yours", tuple(systems), tuple(columns), cells, better, is_printed=False
            )


def judge_files(sources: Sequence[PathLike], sparse: Sequence[str] = ()) -> Report:
    """Judge the paper's claims on a user's figures.

    Args:
        sources: CSV files with the columns ``system``, ``metric``, ``value`` or ``score``, and
            perhaps ``dataset`` and ``seed``; without ``seed``, each file is a seed.
        sparse: The systems that count as sparse models, beside the paper's.

    Raises:
        DataError: A file has another form, or no system of that name.
    """
    scores = OwnScores()
    for source in sources:
        scores.add(source)
    tables = list(scores.tables())
    for system in sparse:
        if system not in tables[0].systems:
            raise DataError(f"--sparse {system}: no system has this name: "
                            f"{', '.join(tables[0].systems)}")  # fmt: skip
    names = (*SPARSE, *sparse)
    return _report(judge([_claims(table, names) for table in tables]), list(scores.figures))


def _claims(table: PrintedTable, sparse: Sequence[str]) -> list[Claim]:
    """The claims of both tables; those of Table 2 if there is one of its systems."""
    of_second = set(load_table("table2").systems)
    first = tuple(system for system in table.systems if system not in of_second)
    claims = [*claims_of_table1(table.only(first), sparse)] if first else []
    if of_second & set(table.systems):
        claims += claims_of_table2(table)
    return claims


def _report(judged: Sequence[SeededClaim], seeds: Sequence[str]) -> Report:
    count = len(seeds)
    rows = tuple(
        (
            row.verdict.value,
            f"{row.holds} of {count}" if row.p is not None else "",
            None if row.p is None else f"{row.p:.3f}",
            f"{row.claims[0].described}: {row.claims[0].unchecked}".removesuffix(": "),
        )
        for row in judged
    )
    tested = sum(row.p is not None for row in judged)
    enough = next(n for n in range(1, 99) if sign_test(n, n) * max(tested, 1) < SIGNIFICANT)
    notes = [
        "A claim is confirmed or contradicted if p < .05: a two-sided sign test over seeds, "
        f"corrected by Holm for the {tested} tested, which takes at least {enough} seeds.",
        *[_HINT] * any("no sparse model" in row.claims[0].unchecked for row in judged),
        *[OURS] * any(row.claims[0].in_our_words for row in judged),
    ]
    overview = Table(("verdict", "holds in", "p", "claim"), rows, notes=tuple(notes),
                     formats=HUMAN_FORMATS)  # fmt: skip
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
             "opposite in": row.opposite, "seeds": count, "unchecked": row.claims[0].unchecked}
            for row in judged
        ],
        "facts": Table(header, records),
    }  # fmt: skip
    return Report((overview, Table(header, records, formats=ROW_FORMATS), counts), values,
                  "The paper's claims on your systems")  # fmt: skip
