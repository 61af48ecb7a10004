"""Write what this folder's README says of the kept runs: ``make figures``.

Tables and conclusions stand between marks; a test checks that they are up to date. Every
conclusion is made for all forms of the translations and in both directions by the same code, so
none can be picked.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import combinations, permutations
from math import comb
from pathlib import Path
from statistics import fmean

import numpy as np
import pandas as pd
from small_runs import markdown, spread, tables

from coverage_eval.attention_maps import load
from coverage_eval.attention_maps.scores import support_size
from coverage_eval.metrics.significance import holm
from coverage_eval.papers.claims import Verdict
from coverage_eval.papers.printed import load_table
from coverage_eval.papers.reproduction.run_audit import (
    MIN_SEEDS,
    Effect,
    comparison_claims,
    effects_of,
    scores_by_form,
)
from coverage_eval.papers.reproduction.run_folder import RunFolder
from coverage_eval.papers.reproduction.run_results import FORMS, table_file
from coverage_eval.tables.table import SIGNIFICANT

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
            parts += [_conclusions(own, table)]
            if len(own) < MIN_SEEDS <= len(runs):
                parts += ["**Systems against seeds.**\n", _ranges(own, table, runs)]
    parts += [_sparsity(), tables()]
    return "\n".join(parts)


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
            row.append(spread([kept[system, metric] for kept in scores]))
        rows.append(row)
    return markdown(header, rows)


PRIMARY = "equal"
"""The form whose claims decide. These runs had been looked at when it was chosen, because length
explains most of the other differences; later runs are judged by it from the start."""


def _conclusions(runs: Sequence[RunFolder], table: str) -> str:
    """What the runs show, for each form alike."""
    seeds = len(runs)
    found = {
        form: (printed, scores, effects_of(printed, scores))
        for form, (printed, scores) in scores_by_form(runs, table).items()
    }
    parts = ["**Best system of each column, by our mean.**\n", _best(found)]
    parts += ["**Directions of differences.**\n", _directions(found)]
    if seeds >= MIN_SEEDS:
        everything = [(form, effect) for form, (*_, effects) in found.items() for effect in effects]
        parts += ["**Differences that are beyond chance in some form.**\n", _beyond(everything)]
    parts += ["**The paper's claims.**\n", _claims(runs, table)]
    return "\n".join(parts)


def _best(found: dict[str, tuple]) -> str:
    """The best mean of every metric in every form, and what is printed."""
    printed = next(iter(found.values()))[0]
    rows = []
    for dataset, metric in printed.columns:
        sign = {"higher": 1, "lower": -1}[printed.better[metric]]
        theirs = max(printed.systems, key=lambda s: sign * printed.value(s, dataset, metric))
        row = [metric, theirs]
        for scores in (scores for _, scores, _ in found.values()):
            means = {s: fmean(o[s, dataset, metric] for o in scores) for s in printed.systems}
            best = max(means, key=lambda system: sign * means[system])
            row.append(f"{best} ({means[best]:.2f})")
        rows.append(row)
    return markdown(("metric", "printed", *(FORMS[form] for form in found)), rows)


def _directions(found: dict[str, tuple]) -> str:
    """In how many pairs the better system is the printed one, beside exchanged systems."""
    rows = []
    for form, (printed, scores, effects) in found.items():
        for dataset, metric in printed.columns:
            own = [effect for effect in effects if effect.metric == metric]
            same = sum(fmean(effect.gains) * effect.printed > 0 for effect in own)
            means = [fmean(o[s, dataset, metric] for o in scores) for s in printed.systems]
            theirs = [printed.value(s, dataset, metric) for s in printed.systems]
            row = [FORMS[form], metric, f"{same} of {len(own)}", f"{_chance(means, theirs):.2f}"]
            raw = [effect for effect in own if (effect.p_value or 1) < SIGNIFICANT]
            sure = [effect for effect in raw if (effect.adjusted or 1) < SIGNIFICANT]
            few = len(scores) < MIN_SEEDS
            row += ["too few seeds"] * 2 if few else [_both_ways(raw), _both_ways(sure)]
            rows.append(row)
    header = (
        "translations", "metric", "printed direction, by the mean", "p by exchanged systems",
        "p < .05 each: as printed, opposite", "after Holm: as printed, opposite",
    )  # fmt: skip
    return markdown(header, rows)


def _ranges(few: Sequence[RunFolder], table: str, runs: Sequence[RunFolder]) -> str:
    """How far the systems of one seed lie apart, beside how far seeds of one system do."""
    rows = []
    for form, described in FORMS.items():
        own = [_kept(run, table_file(table, form)) for run in few]
        seeds = [_kept(other, table_file("table1", form)) for other in runs]
        systems = list(dict.fromkeys(system for system, _ in own[0]))
        for metric in dict.fromkeys(metric for _, metric in own[0]):
            values = pd.DataFrame([[kept[s, metric] for s in systems] for kept in own]).T
            spans = [
                max(kept[key] for kept in seeds) - min(kept[key] for kept in seeds)
                for key in seeds[0]
                if key[1] == metric
            ]
            if metric in {"length", "BP"} or not spans:
                continue
            row = [", ".join(f"{span:.2f}" for span in values.max() - values.min())]
            if len(few) > 1:
                row.append(f"{values.rank().corr().iloc[0, 1]:+.2f}")
            row.append(f"{min(spans):.2f} to {max(spans):.2f}")
            rows.append([described, metric, *row])
    header = ["translations", "metric", f"range over {TABLES[table]}'s {len(systems)} systems"]
    if len(few) > 1:
        header[-1] += ", each seed"
        header.append("rank correlation of the two seeds' systems")
    return markdown((*header, f"range over {len(runs)} seeds of each system of Table 1"), rows)


def _both_ways(effects: Sequence[Effect]) -> str:
    opposite = sum(fmean(effect.gains) * effect.printed < 0 for effect in effects)
    return f"{len(effects) - opposite}, {opposite}"


def _chance(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """How often our means, given to the systems in any order, agree in as many pairs as now."""
    orders = np.array(list(permutations(range(len(ours)))))
    one, other = np.array(list(combinations(range(len(ours)), 2))).T
    values = np.asarray(ours)[orders]
    differences = (values[:, one] - values[:, other]) * np.subtract(
        *np.asarray(theirs)[[one, other]]
    )
    agreeing = (differences > 0).sum(axis=1)
    return float((agreeing >= agreeing[0]).mean())  # the first order is the systems' own


def _beyond(everything: Sequence[tuple[str, Effect]]) -> str:
    """Every pair that survives Holm's correction in a form, in all forms and over all of them."""
    overall = dict(
        zip(
            [(form, effect.pair, effect.metric) for form, effect in everything],
            holm([1.0 if e.p_value is None else e.p_value for _, e in everything]),
            strict=True,
        )
    )
    forms = list(dict.fromkeys(form for form, _ in everything))
    known = {(form, e.pair, e.metric): e for form, e in everything}
    sure = [e for _, e in everything if e.adjusted is not None and e.adjusted < SIGNIFICANT]
    rows = []
    for pair, metric in dict.fromkeys((effect.pair, effect.metric) for effect in sure):
        row = [" against ".join(pair), metric, f"{known[forms[0], pair, metric].printed:+.2f}"]
        for form in forms:
            effect = known[form, pair, metric]
            star = "*" * (effect.adjusted < SIGNIFICANT)
            star += "*" * (overall[form, pair, metric] < SIGNIFICANT)
            row.append(f"{spread(effect.gains, sign='+')}{star}")
        rows.append(row)
    tuned = sum("COVPENALTY" in " ".join(effect.pair) for effect in sure)
    note = (
        f"Positive: the first system is better. \\*: p < .05 after Holm's correction over the "
        f"{len(everything) // len(forms)} differences of the form; \\*\\*: over all "
        f"{len(everything)} of all forms ({sum(p < SIGNIFICANT for p in overall.values())} are). "
        f"{tuned} of these {len(sure)} findings concern a system with COVPENALTY, whose length "
        "penalty was tuned.\n"
    )
    table = markdown(("systems", "metric", "printed", *(FORMS[form] for form in forms)), rows)
    return f"{table}\n{note}"


def _claims(runs: Sequence[RunFolder], table: str) -> str:
    """The claims of section 5 in each form: in how many seeds each holds, and how far."""
    seeds = len(runs)
    by_seed = [_claims_over(run, table) for run in runs]
    on_means = _claims_over(runs, table)
    texts = list(dict.fromkeys(text for _, text in on_means))
    forms = list(dict.fromkeys(form for form, _ in on_means))
    rows, signs = [], {}
    for text in texts:
        row = [text]
        for form in forms:
            verdicts = [claims[form, text].verdict for claims in by_seed]
            held = seeds - verdicts.count(Verdict.FAILS)
            exceptions = verdicts.count(Verdict.EXCEPTIONS)
            first = on_means[form, text].facts[0]
            shown = f"{held} of {seeds}" + f", {exceptions} with exceptions" * bool(exceptions)
            row.append(f"{shown}; {first.what}: {first.outcome}")
            signs[form, text] = _sign_test(held, seeds)
        rows.append(row)
    corrected = dict(zip(texts, holm([signs[PRIMARY, text] for text in texts]), strict=True))
    for row in rows:
        p = corrected[row[0]]
        row.append(f"{'confirmed' if p < SIGNIFICANT else 'not decidable'} (p = {p:.2f})")
    return markdown(("claim", *(FORMS[form] for form in forms), "verdict"), rows)


def _sign_test(held: int, seeds: int) -> float:
    """Two-sided p-value of so many seeds, if each were a coin."""
    more = max(held, seeds - held)
    return min(1.0, 2 * sum(comb(seeds, k) for k in range(more, seeds + 1)) / 2**seeds)


def _claims_over(runs: RunFolder | Sequence[RunFolder], table: str) -> dict:
    found = {}
    for claim in comparison_claims([runs] if isinstance(runs, RunFolder) else runs, table):
        before, over, text = claim.text.partition("over our figures: ")
        if over:
            described = before.removesuffix(": ") or FORMS[""]
            form = next(name for name, words in FORMS.items() if words == described)
            found[form, text] = claim
    return found


def _sparsity() -> str:
    """Sparsity and coverage of attention of two trained models to our own twelve sentences."""
    rows = []
    for system in ("softmax", "csparsemax"):
        maps = [item.weights for item in load(HERE / "own_sentences" / f"{system}.jsonl")]
        received = [attention.sum(axis=0)[:-1] for attention in maps]  # without the sink
        words = sum(map(len, received))
        rows.append([
            system,
            f"{fmean(map(support_size, maps)):.2f} of {fmean(a.shape[1] for a in maps):.1f}",
            f"{max(float(total.max()) for total in received):.2f}",
            *(f"{sum(int(is_so(total).sum()) for total in received)} of {words}"
              for is_so in (lambda total: total > 1.5, lambda total: total < 0.2)),
        ])  # fmt: skip
    header = (
        "system", "pieces attended to in a step, mean", "most that a piece receives in all",
        "pieces that receive more than 1.5", "pieces that receive less than 0.2",
    )  # fmt: skip
    title = "**Sparsity, and what a piece receives, in our own sentences.**"
    return f"{title}\n\n{markdown(header, rows)}"


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
