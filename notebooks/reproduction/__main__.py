"""Write what this folder's README says of the kept runs: ``make figures``.

Tables and conclusions stand between marks; a test checks that they are up to date. Every conclusion
is made for all forms of the translations and in both directions by the same code, so none can be
picked.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from pathlib import Path
from statistics import fmean

import numpy as np
from score import FORMS, table_file
from systems import Settings

from coverage_eval.metrics.significance import holm
from coverage_eval.papers.audit_tables import claims_of_table1, claims_of_table2
from coverage_eval.papers.claims import Verdict
from coverage_eval.papers.printed import (
    Key,
    PrintedCell,
    PrintedTable,
    load_table,
    mean_and_half_width,
)
from coverage_eval.tables.formats import render
from coverage_eval.tables.table import SIGNIFICANT, Printable, Table

HERE = Path(__file__).parent
BEGIN, END = "<!-- made by `make figures` -->\n", "<!-- end -->\n"

TABLES = {"table1": ("Table 1", claims_of_table1), "table2": ("Table 2", claims_of_table2)}
NAMES = {
    "multi30k-de-en": "German–English (Multi30k, test_2016_flickr)",
    "small-ja-en": "Japanese–English (small_parallel_enja)",
}
DIGITS = {
    "digits": ("5 to 20 digits", "100,000", "softmax"),
    "output_layer/softmax": ("2 to 6 digits", "30,000", "softmax"),
    "output_layer/sparsemax": ("2 to 6 digits", "30,000", "sparsemax"),
}
"""Folder → length of the numbers, training examples, transformation of the output layer."""

MIN_SEEDS = 3
"""With fewer seeds nothing is said to be beyond chance: the interval of two means little."""

PRIMARY = "equal"
"""The form whose claims decide. These runs had been looked at when it was chosen, because length
explains most of the other differences; later runs are judged by it from the start."""


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    return render(Printable((Table(tuple(header), tuple(map(tuple, rows))),)), "markdown") + "\n"


def spread(values: Sequence[float], sign: str = "", digits: int = 2) -> str:
    """The mean, and half its 95% interval if there are several values."""
    mean, half = mean_and_half_width(values)
    return f"{mean:{sign}.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class Effect:
    """How much better one system is than another: printed, and in each seed."""

    pair: tuple[str, str]
    metric: str
    printed: float
    gains: tuple[float, ...]

    @property
    def p_value(self) -> float:
        """Student's t for a mean gain of 0; equal gains, up to rounding, have no variance."""
        if max(self.gains) - min(self.gains) < 1e-9:
            return float(abs(self.gains[0]) < 1e-9)
        from scipy.stats import ttest_1samp

        return float(ttest_1samp(self.gains, 0.0).pvalue)


@dataclass(frozen=True)
class Results:
    """The kept runs of a corpus that have a table: for each form, the scores of each run."""

    table: str
    runs: Sequence[Path]

    def __post_init__(self) -> None:
        content = [json.loads((run / "manifest.json").read_text("utf-8")) for run in self.runs]
        settings = [Settings.read(run / "manifest.json") for run in self.runs]
        same = {replace(one, seed=0) for one in settings}
        corpora = {json.dumps(one["corpora"], sort_keys=True) for one in content}
        if len(same) > 1 or len(corpora) > 1 or len({s.seed for s in settings}) < len(settings):
            raise SystemExit(f"{self.runs[0]}: not the same experiment with different seeds")

    @property
    def dataset(self) -> str:
        """The column of the printed table."""
        return Settings.read(self.runs[0] / "manifest.json").dataset

    def kept(self, form: str) -> list[dict[tuple[str, str], float]]:
        """(system, metric) → score, for each run."""
        name = f"{table_file(self.table, form)}.csv"
        found = [_rows(run / name) for run in self.runs]
        return [{(r["system"], r["metric"]): float(r["score"]) for r in rows} for rows in found]

    def compared(self, form: str) -> tuple[PrintedTable, list[dict[Key, float]]]:
        """The part of the printed table that all runs have, and each run's scores for it."""
        scores = [
            {(s, self.dataset, m): round(score, 4) for (s, m), score in kept.items()}
            for kept in self.kept(form)
        ]
        printed = load_table(self.table)
        cells = {k: cell for k, cell in printed.cells.items() if all(k in own for own in scores)}
        systems = tuple(s for s in printed.systems if any(k[0] == s for k in cells))
        columns = tuple(c for c in printed.columns if any(k[1:] == c for k in cells))
        return replace(printed, systems=systems, columns=columns, cells=cells), scores

    def effects(self, form: str) -> Iterator[Effect]:
        """Every pair of systems by every metric."""
        printed, scores = self.compared(form)
        for dataset, metric in printed.columns:
            for pair in combinations(printed.systems, 2):
                one, other = keys = [(system, dataset, metric) for system in pair]
                if all(key in printed.cells for key in keys):
                    theirs = printed.improvement(metric, *(printed.value(*key) for key in keys))
                    gains = (printed.improvement(metric, own[one], own[other]) for own in scores)
                    yield Effect(pair, metric, theirs, tuple(gains))

    def scores(self, form: str) -> str:
        """Printed figures, and ours: mean and half the 95% interval over the seeds."""
        printed, kept = load_table(self.table), self.kept(form)
        metrics = list(dict.fromkeys(metric for _, metric in kept[0]))
        shown = [m for m in printed.metrics if (self.dataset, m) in printed.columns]
        header, rows = ["system"], []
        for metric in metrics:
            header += [f"{metric}, printed", f"{metric}, ours"] if metric in shown else [metric]
        for system in dict.fromkeys(system for system, _ in kept[0]):
            row = [system]
            for metric in metrics:
                if metric in shown:
                    cell = printed.cells.get((system, self.dataset, metric))
                    row.append(cell.text if cell else "")
                row.append(spread([own[system, metric] for own in kept]))
            rows.append(row)
        return markdown(header, rows)

    def beyond_chance(self) -> str:
        """Every pair that survives Holm's correction in a form, in all forms and over all."""
        known = {(f, e.pair, e.metric): e for f in FORMS for e in self.effects(f)}
        raw = {key: effect.p_value for key, effect in known.items()}
        overall = dict(zip(raw, holm(list(raw.values()))))
        by_form = {}
        for form in FORMS:
            own = {key: p for key, p in raw.items() if key[0] == form}
            by_form |= dict(zip(own, holm(list(own.values()))))
        sure = [key for key, p in by_form.items() if p < SIGNIFICANT]
        rows = []
        for pair, metric in dict.fromkeys(key[1:] for key in sure):
            row = [" against ".join(pair), metric, f"{known['', pair, metric].printed:+.2f}"]
            for form in FORMS:
                key = form, pair, metric
                stars = "*" * ((by_form[key] < SIGNIFICANT) + (overall[key] < SIGNIFICANT))
                row.append(f"{spread(known[key].gains, sign='+')}{stars}")
            rows.append(row)
        opposite = sum(fmean(known[key].gains) * known[key].printed < 0 for key in sure)
        tuned = sum("COVPENALTY" in " ".join(key[1]) for key in sure)
        note = (
            f"Positive: the first system is better. \\*: p < .05 after Holm's correction over the "
            f"{len(raw) // len(FORMS)} differences of the form; \\*\\*: over all {len(raw)} of all "
            f"forms ({sum(p < SIGNIFICANT for p in overall.values())} are). Of these {len(sure)} "
            f"findings, {opposite} are opposite to print, and {tuned} concern a system with "
            "COVPENALTY, whose length penalty was tuned.\n"
        )
        return f"{markdown(('systems', 'metric', 'printed', *FORMS.values()), rows)}\n{note}"

    def claims(self) -> str:
        """The claims of section 5 in each form: in how many seeds each holds, and how far."""
        held: dict[str, dict[str, int]] = {}
        shown: dict[str, list[str]] = {}
        for form in FORMS:
            printed, scores = self.compared(form)
            whole = load_table(self.table)
            if printed.systems != whole.systems or printed.metrics != whole.metrics:
                return "The runs lack systems or metrics of the claims.\n"

            def judge(
                figures: Mapping[Key, float], printed: PrintedTable = printed
            ) -> dict[str, Verdict]:
                cells = {k: PrintedCell(f"{figures[k]:.2f}", figures[k]) for k in printed.cells}
                found = TABLES[self.table][1](replace(printed, cells=cells))
                return {claim.text: claim.verdict for claim in found}

            by_seed = [judge(own) for own in scores]
            for text in by_seed[0]:
                verdicts = [own[text] for own in by_seed]
                number = len(verdicts) - verdicts.count(Verdict.FAILS)
                exceptions = verdicts.count(Verdict.EXCEPTIONS)
                held.setdefault(text, {})[form] = number
                shown.setdefault(text, []).append(
                    f"{number} of {len(verdicts)}"
                    + f", {exceptions} with exceptions" * bool(exceptions)
                )
        seeds = len(self.runs)
        p_values = [_sign_test(own[PRIMARY], seeds) for own in held.values()]
        rows = [
            [text, *shown[text], f"{'confirmed' if p < SIGNIFICANT else 'not decidable'} ({p:.2f})"]
            for text, p in zip(held, holm(p_values))
        ]
        return markdown(("claim: seeds in which it holds", *FORMS.values(), "verdict (p)"), rows)


def _sign_test(held: int, seeds: int) -> float:
    """Two-sided p-value of so many seeds, if each were a coin."""
    more = max(held, seeds - held)
    return min(1.0, 2 * sum(comb(seeds, k) for k in range(more, seeds + 1)) / 2**seeds)


def results() -> str:
    """All tables, in Markdown."""
    parts = []
    for corpus, named in NAMES.items():
        for table, (title, _) in TABLES.items():
            runs = sorted(path.parent for path in HERE.glob(f"{corpus}-seed*/{table}.csv"))
            if not runs:
                continue
            seeds = f"{len(runs)} seeds" if len(runs) > 1 else "one seed"
            parts += [f"### {named}, {title}, {seeds}\n"]
            own = Results(table, runs)
            for form, described in FORMS.items():
                parts += [f"**{title}, {described}.**\n", own.scores(form)]
            if len(runs) >= MIN_SEEDS:
                parts += ["**Differences that are beyond chance in some form.**\n"]
                parts += [own.beyond_chance()]
            parts += ["**The paper's claims.**\n", own.claims()]
    smaller = {
        "Additive against bilinear scores (Malaviya et al., footnote 2), softmax": _additive(),
        "Digits (Madsen et al., section 3.3; the output layer: section 4)": _digits(),
    }
    return "\n".join([*parts, *(f"### {title}\n\n{text}" for title, text in smaller.items())])


def _additive() -> str:
    """Every measure by scoring, and the gain of additive scores, seed by seed."""
    found: dict[str, dict[str, list[float]]] = {"bilinear": {}, "additive": {}}
    for scoring, measures in found.items():
        for folder in sorted((HERE / "footnote2").glob(f"{scoring}-seed*")):
            made = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["made"]
            perplexity = made["softmax"]["valid perplexity"]
            measures.setdefault("validation perplexity ↓", []).append(perplexity)
            for row in _rows(folder / "table1.csv"):
                if row["metric"] in {"BLEU", "METEOR", "REP", "DROP"}:
                    arrow = "↑" if row["metric"] in {"BLEU", "METEOR"} else "↓"
                    measures.setdefault(f"{row['metric']} {arrow}", []).append(float(row["score"]))
    one, other = found.values()
    rows = [
        (name, spread(own), spread(other[name]), spread(np.subtract(other[name], own), "+"))
        for name, own in one.items()
    ]
    return markdown(("measure", "bilinear", "additive", "additive less bilinear"), rows)


def _digits() -> str:
    """Means over seeds."""
    rows = []
    for folder, facts in DIGITS.items():
        kept = _rows(HERE / folder / "digits.csv")
        for attention in ("softmax", "sparsemax"):
            own = [row for row in kept if row["attention"] == attention]
            figures = [[float(row[n]) for row in own] for n in ("symbols", "numbers", "attended")]
            falls = [0.0]
            for path in (HERE / folder / attention).glob("seed-*/epochs.jsonl"):
                right = [json.loads(x)["symbols"] for x in path.read_text("utf-8").splitlines()]
                falls += [-float(change) for change in np.diff(right)]
            rows.append((
                *facts, attention, *(spread(values, digits=1) for values in figures[:2]),
                f"{np.mean(figures[2]):.1f}", f"{max(falls):.0f}", str(len(own)),
            ))  # fmt: skip
    header = (
        "numbers of", "examples", "output layer", "attention", "symbols right, %",
        "numbers right, %", "letters attended", "largest fall", "seeds",
    )  # fmt: skip
    return markdown(header, rows)


def with_results(readme: str) -> str:
    """The README with the tables made again."""
    before, after = readme.index(BEGIN) + len(BEGIN), readme.index(END)
    return f"{readme[:before]}\n{results()}\n{readme[after:]}"


def main() -> None:
    """Write the README."""
    path = HERE / "README.md"
    path.write_text(with_results(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
