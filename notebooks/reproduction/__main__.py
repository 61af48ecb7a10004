"""Write the tables in this folder's README from the kept runs: ``make figures``.

They stand between two marks; a test checks that they are up to date.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from coverage_eval.papers.claims import Verdict
from coverage_eval.papers.printed import load_table, mean_and_half_width
from coverage_eval.papers.reproduction.run_audit import LEAST_SEEDS, comparison_claims
from coverage_eval.papers.reproduction.run_folder import RunFolder
from coverage_eval.papers.reproduction.run_results import FORMS, table_file
from coverage_eval.tables.formats import render
from coverage_eval.tables.table import SIGNIFICANT, Printable, Table

HERE = Path(__file__).parent
BEGIN, END = "<!-- made by `make figures` -->\n", "<!-- end -->\n"

TABLES = {"table1": "Table 1", "table2": "Table 2"}
NAMES = {
    "multi30k-de-en": "German–English (Multi30k, test_2016_flickr)",
    "small-ja-en": "Japanese–English (small_parallel_enja)",
}


def runs_by_corpus() -> dict[str, list[RunFolder]]:
    """The kept runs of each corpus, by seed."""
    found: dict[str, list[RunFolder]] = {}
    for path in sorted(HERE.glob("*-seed*/table1.csv")):
        name = path.parent.name.rpartition("-seed")[0]
        found.setdefault(name, []).append(RunFolder.existing(path.parent))
    return found


def results() -> str:
    """All tables, in Markdown."""
    parts = []
    for corpus, runs in runs_by_corpus().items():
        for table, named in TABLES.items():
            own = [run for run in runs if (run.path / f"{table}.csv").exists()]
            if not own:
                continue
            seeds = f"{len(own)} seeds" if len(own) > 1 else "one seed"
            parts += [f"### {NAMES[corpus]}, {named}, {seeds}\n"]
            for form, described in FORMS.items():
                parts += [f"**{named}, {described}.**\n", _scores(own, table, form)]
            parts += ["**Directions.**\n", _directions(own, table)]
            parts += ["**The paper's claims.**\n", _claims(own, table)]
    return "\n".join(parts)


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return render(Printable((Table(tuple(header), tuple(map(tuple, rows))),)), "markdown") + "\n"


def _kept(run: RunFolder, name: str) -> dict[tuple[str, str], float]:
    with (run.path / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {(r["system"], r["metric"]): float(r["score"]) for r in csv.DictReader(file)}


def _scores(runs: Sequence[RunFolder], table: str, form: str) -> str:
    """Printed figures, and ours: mean and half the 95% interval over the seeds."""
    printed, dataset = load_table(table), runs[0].settings.dataset
    scores = [_kept(run, table_file(table, form)) for run in runs]
    metrics = list(dict.fromkeys(metric for _, metric in scores[0]))
    shown = [m for m in printed.metrics if (dataset, m) in printed.columns]
    header = ["system"]
    for metric in metrics:
        header += [f"{metric}, printed", f"{metric}, ours"] if metric in shown else [metric]
    rows = []
    for system in dict.fromkeys(system for system, _ in scores[0]):
        row = [system]
        for metric in metrics:
            if metric in shown:
                cell = printed.cells.get((system, dataset, metric))
                row.append(cell.text if cell else "")
            row.append(_spread([kept[system, metric] for kept in scores]))
        rows.append(row)
    return _markdown(header, rows)


def _spread(values: Sequence[float]) -> str:
    mean, half = mean_and_half_width(values)
    return f"{mean:.2f}" + ("" if half is None else f" ± {half:.2f}")


def _directions(runs: Sequence[RunFolder], table: str) -> str:
    """In how many pairs of systems the better one is the same as in print."""
    rows = []
    claims = [c for c in comparison_claims(runs, table) if "of two systems" in c.text]
    for claim in claims:
        form, _, rest = claim.text.rpartition(": ")
        metric = rest.split("better ")[1].split(" ")[0]
        beyond = [f for f in claim.facts if f.outcome.endswith("beyond chance")]
        agreeing = sum(fact.holds for fact in beyond)
        decided = f"{agreeing} as printed, {len(beyond) - agreeing} opposite"
        few = len(runs) < LEAST_SEEDS
        rows.append([
            form or FORMS[""], metric, f"{sum(f.holds for f in claim.facts)} of {len(claim.facts)}",
            f"not decidable with {len(runs)} seed{'s' * (len(runs) > 1)}" if few else decided,
        ])  # fmt: skip
    notes = {
        claim.text.rpartition(": ")[0] or FORMS[""]: claim.note.partition("is better. ")[2]
        for claim in claims
    }
    header = ("translations", "metric", "printed direction, by the mean", "beyond chance (Holm)")
    listed = "\n".join(f"- {form[0].upper()}{form[1:]}: {note}" for form, note in notes.items())
    return f"{_markdown(header, rows)}\n{listed}\n"


def _claims(runs: Sequence[RunFolder], table: str) -> str:
    """The claims of section 5: in how many of our seeds each holds, and what that decides."""
    rows = []
    seeds = len(runs)
    by_seed = [list(_claims_over(run, table)) for run in runs]
    for found in zip(*by_seed, strict=True):
        verdicts = [verdict for _, verdict in found]
        held = seeds - verdicts.count(Verdict.FAILS)
        exceptions = verdicts.count(Verdict.EXCEPTIONS)
        verdict = "not decidable"
        if not held and seeds >= LEAST_SEEDS:
            verdict = "not confirmed"
        elif held == seeds and 2 ** (1 - seeds) < SIGNIFICANT:  # the sign test, two-sided
            verdict = "confirmed"
        shown = f"{held} of {seeds}" + f", {exceptions} with exceptions" * bool(exceptions)
        rows.append([found[0][0], shown, verdict])
    return _markdown(("claim", "seeds in which it holds", "verdict"), rows)


def _claims_over(run: RunFolder, table: str) -> Iterator[tuple[str, Verdict]]:
    for claim in comparison_claims([run], table):
        text = claim.text.partition("over our figures: ")[2]
        if text:
            yield text, claim.verdict


def with_results(readme: str) -> str:
    """The README with the tables made again.

    Raises:
        ValueError: It lacks the marks.
    """
    before, after = readme.index(BEGIN) + len(BEGIN), readme.index(END)
    return f"{readme[:before]}\n{results()}\n{readme[after:]}"


def main() -> None:
    """Write the README."""
    path = HERE / "README.md"
    path.write_text(with_results(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
