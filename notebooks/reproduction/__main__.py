"""Write the tables of the kept runs, and the page that quotes them: ``make figures``.

``tables/*.csv`` come from the folders of the runs, and ``README.md`` from ``page.md``, where
``{{TABLE / KEY / … / COLUMN / FORMAT}}`` stands for a cell of the one row that has all keys, and
``{{NAME}}`` for a whole table. A test checks that both are up to date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from score import FORMS, table_file
from systems import Settings, mean_and_half_width, ratio_of_turns

from coverage_eval.core.report import SIGNIFICANT
from coverage_eval.core.significance import holm
from coverage_eval.papers.audit_tables import SPARSE, claims_of_table1, claims_of_table2
from coverage_eval.papers.claims import Claim, Verdict
from coverage_eval.papers.own_systems import judge
from coverage_eval.papers.printed import PrintedCell, PrintedTable, load_table

sys.path.append(str(Path(__file__).parents[1]))
import filling

HERE = Path(__file__).parent
Row = dict[str, Any]

TABLES = {"table1": ("Table 1", claims_of_table1), "table2": ("Table 2", claims_of_table2)}
CORPORA = {
    "multi30k-de-en": "German–English",
    "small-ja-en": "Japanese–English",
    "multi30k-de-en-256": "German–English, 256 units",  # two systems only
}
DIGITS = {"digits": "100,000", "output_layer/softmax": "30,000", "output_layer/sparsemax": "30,000"}
"""Folder → training examples; the output layer is softmax's, unless the folder says otherwise."""

MIN_SEEDS = 3
"""With fewer seeds nothing is said to be beyond chance: the interval of two means little."""

PRIMARY = "equal"
"""The form whose claims decide; README.md says when it was chosen."""

ALL = "all"
METRICS = ["BLEU", "METEOR", "REP", "DROP"]
EXCHANGES = 200
"""Random exchanges of the systems' names in each seed, to see how often a claim holds by chance."""


@dataclass(frozen=True)
class Results:
    """The kept runs of a corpus that have a table."""

    table: str
    runs: Sequence[Path]

    def __post_init__(self) -> None:
        content = [json.loads((run / "manifest.json").read_text("utf-8")) for run in self.runs]
        settings = [Settings.read(run / "manifest.json") for run in self.runs]
        same = {replace(item, seed=0) for item in settings}
        corpora = {json.dumps(item["corpora"], sort_keys=True) for item in content}
        if len(same) > 1 or len(corpora) > 1 or len({s.seed for s in settings}) < len(settings):
            raise SystemExit(f"{self.runs[0]}: not the same experiment with different seeds")

    @property
    def labels(self) -> Row:
        """The first cells of each row."""
        corpus = CORPORA[self.runs[0].name.partition("-seed")[0]]
        return {"corpus": corpus, "table": TABLES[self.table][0]}

    def kept(self, form: str) -> pd.DataFrame:
        """Scores by system and metric, with a column for each run."""
        name = f"{table_file(self.table, form)}.csv"
        index = ["system", "metric"]
        return pd.concat(
            [pd.read_csv(run / name).set_index(index)["score"].round(4) for run in self.runs],
            axis=1, keys=[run.name for run in self.runs],
        )  # fmt: skip

    @cached_property
    def printed(self) -> PrintedTable:
        """The column of the printed table that these runs have, and the systems."""
        printed = load_table(self.table)
        dataset = Settings.read(self.runs[0] / "manifest.json").dataset
        columns = tuple(column for column in printed.columns if column[0] == dataset)
        cells = {key: cell for key, cell in printed.cells.items() if key[1] == dataset}
        trained = self.kept("").index.get_level_values("system")
        systems = [system for system in printed.systems if system in trained]
        return replace(printed, columns=columns, cells=cells).only(systems)

    @property
    def is_complete(self) -> bool:
        """Whether these runs have all printed systems, which the claims are about."""
        return self.printed.systems == load_table(self.table).systems

    def scores(self) -> Iterator[Row]:
        """Every score beside the printed one: the mean over seeds, and half its 95% interval."""
        for form, described in FORMS.items():
            for (system, metric), scores in self.kept(form).iterrows():
                cell = self.printed.cells.get((system, *self.printed.datasets, metric))
                mean, half = mean_and_half_width(scores)
                yield {
                    **self.labels, "form": described, "system": system, "metric": metric,
                    "printed": cell.text if cell else "", "mean": mean, "±": half,
                    "seeds": len(scores),
                }  # fmt: skip

    def differences(self) -> pd.DataFrame:
        """How much better each system is than each before it, and Student's t for no gain."""
        from scipy.stats import ttest_1samp

        found: list[Row] = []
        pairs = list(combinations(self.printed.systems, 2))
        for form, described in FORMS.items():
            kept = self.kept(form)
            for (dataset, metric), (other, first) in product(self.printed.columns, pairs):
                gain = partial(self.printed.improvement, metric)
                gains = gain(kept.loc[first, metric], kept.loc[other, metric])
                values = (self.printed.value(name, dataset, metric) for name in (first, other))
                mean, half = mean_and_half_width(gains)
                found.append({
                    **self.labels, "form": described, "systems": f"{first} against {other}",
                    "metric": metric, "printed": gain(*values), "gain": mean, "±": half,
                    "better in": (gains > 0).sum(), "seeds": len(gains),
                    "p": ttest_1samp(gains, 0.0).pvalue if len(gains) >= MIN_SEEDS else np.nan,
                })  # fmt: skip
        frame = pd.DataFrame(found)
        if len(self.runs) >= MIN_SEEDS:
            frame["p, Holm in form"] = frame.groupby("form")["p"].transform(holm)
            frame["p, Holm over all"] = holm(frame["p"])
        return frame

    def judge(self, figures: pd.Series) -> list[Claim]:
        """The paper's claims, on one run's figures by system and metric."""
        values = {key: float(figures[key[0], key[2]]) for key in self.printed.cells}
        cells = {key: PrintedCell(f"{value:.2f}", value) for key, value in values.items()}
        return list(TABLES[self.table][1](replace(self.printed, cells=cells, is_printed=False)))

    def claims(self) -> Iterator[Row]:
        """In how many seeds each claim of section 5 holds or fails, and what that says."""
        for form, described in FORMS.items():
            kept = self.kept(form)
            for number, found in enumerate(judge([self.judge(kept[run]) for run in kept]), 1):
                claims = found.claims
                held = [claim for claim in claims if claim.verdict is Verdict.CONFIRMED]
                yield {
                    **self.labels, "form": described, "claim": f"claim {number}",
                    "text": claims[0].described, "holds in": found.holds,
                    "fails in": found.fails, "seeds": len(claims),
                    "with exceptions": sum(bool(c.exceptions) for c in held), "p": found.p,
                    "verdict": found.verdict.value,
                    "outcome of one seed": claims[0].facts[0].outcome * (len(claims) == 1),
                }  # fmt: skip

    def beside_sparsemax(self) -> Iterator[Row]:
        """How much better the mean of the sparse models is than sparsemax alone."""
        for form, metric in product(FORMS, METRICS):
            scores = self.kept(form).xs(metric, level="metric")
            means = scores.loc[list(SPARSE)].mean()
            gains = self.printed.improvement(metric, means, scores.loc["sparsemax"])
            mean, half = mean_and_half_width(gains)
            yield {"form": FORMS[form], "metric": metric, "gain": mean, "±": half,
                   "better in": (gains > 0).sum(), "seeds": len(gains)}  # fmt: skip

    def exchanged(self) -> Iterator[Row]:
        """How often each claim holds at equal length if the systems' names are exchanged."""
        kept, rng = self.kept(PRIMARY), np.random.default_rng(0)
        systems = list(self.printed.systems)
        found = []
        for run, _ in product(kept, range(EXCHANGES)):
            names = dict(zip(systems, rng.permutation(systems)))
            claims = self.judge(kept[run].rename(names, level="system"))
            found.append([claim.verdict is Verdict.CONFIRMED for claim in claims])
        for number, share in enumerate(np.mean(found, axis=0)):
            yield {"claim": f"claim {number + 1}", "holds if exchanged": share}

    def orders(self) -> Iterator[Row]:
        """The rank correlation of the systems in two seeds."""
        for form, metric in product(FORMS, METRICS):
            found = self.kept(form).xs(metric, level="metric").corr("spearman")
            yield {"form": FORMS[form], "metric": metric, "rank correlation": found.iloc[0, -1]}

    def lengths(self) -> Iterator[Row]:
        """How much of the scores, as decoded, the number of words explains."""
        kept = self.kept("").loc[list(self.printed.systems)]
        for metric in METRICS:
            both = [kept.xs(name, level="metric").to_numpy() for name in ("length", metric)]
            means = [values.mean(axis=1, keepdims=True) for values in both]
            within = [values - mean for values, mean in zip(both, means)]
            for level, pair in (("within systems", within), ("between systems", means)):
                explained = np.corrcoef(*(x.ravel() for x in pair))[0, 1] ** 2
                yield {"level": level, "metric": metric, "R²": explained}


def counted(differences: pd.DataFrame) -> Iterator[Row]:
    """How many differences are beyond chance, in the printed direction and opposite to it."""
    tested = differences[differences["p"].notna()]
    for form, metric in product([*FORMS.values(), ALL], [*METRICS, ALL]):
        subset = tested[tested["form"].isin([form] if form != ALL else FORMS.values())]
        subset = subset[subset["metric"].isin([metric] if metric != ALL else METRICS)]
        found: Row = {"form": form, "metric": metric, "differences": len(subset)}
        for column in ("p", "p, Holm in form", "p, Holm over all"):
            sure = subset[subset[column] < SIGNIFICANT]
            direction = sure["gain"] * sure["printed"]
            found[f"{column}: as printed"] = (direction > 0).sum()
            found[f"{column}: opposite"] = (direction < 0).sum()
            found[f"{column}: COVPENALTY"] = sure["systems"].str.contains("COVPENALTY").sum()
        yield found


def best(scores: pd.DataFrame) -> pd.DataFrame:
    """The best of the printed systems in each form by each metric."""
    systems = [system for table in TABLES for system in load_table(table).systems]
    subset = scores[scores["metric"].isin(METRICS) & scores["system"].isin(systems)]
    labels = ["corpus", "table", "form", "metric"]
    gain = subset["mean"] * np.where(subset["metric"].isin(["REP", "DROP"]), -1, 1)
    best = gain.groupby([subset[label] for label in labels], sort=False).idxmax()
    return subset.loc[best, [*labels, "system", "mean"]]


LEARNING = (
    ("multi30k-de-en-seed*", "softmax", "sparsemax"),
    ("multi30k-de-en-seed*", "softmax", "constrained_sparsemax-predicted-c0.2"),
    ("multi30k-de-en-256-seed*", "softmax", "constrained_sparsemax-predicted-c0.2"),
    ("small-ja-en-seed*", "softmax", "sparsemax"),
    ("small-ja-en-seed*", "softmax", "constrained_sparsemax-predicted-c0.2"),
    ("thirteen_epochs/*-seed*", "softmax", "sparsemax"),
    ("thirteen_epochs/*-seed*", "softmax", "constrained_sparsemax-predicted-c0.2"),
)
"""Folders and two models whose perplexities are compared."""

RUNS = {
    "multi30k-de-en": "German–English, 128 units",
    "multi30k-de-en-256": "German–English, 256 units",
    "small-ja-en": "Japanese–English, 128 units",
    "thirteen_epochs": "German–English, 128 units, thirteen epochs",
}
SHORT = {"sparsemax": "sparsemax", "constrained_sparsemax-predicted-c0.2": "csparsemax"}


def learning() -> Iterator[Row]:
    """A model's validation perplexity over another's by epoch; above 1, the other is ahead."""
    for pattern, slow, fast in LEARNING:
        perplexities: dict[str, dict[str, list[float]]] = {slow: {}, fast: {}}
        for model, by_seed in perplexities.items():
            for path in sorted(HERE.glob(f"{pattern}/{model}.epochs.jsonl")):
                seed = path.parent.name.rpartition("-")[2]
                by_seed[seed] = pd.read_json(path, lines=True)["valid_perplexity"].to_list()
        seeds = perplexities[slow].keys() & perplexities[fast].keys()
        ratios = [np.divide(perplexities[slow][s], perplexities[fast][s]) for s in sorted(seeds)]
        for epoch, values in enumerate(zip(*ratios, strict=True), 1):
            yield {
                "runs": pattern.replace("-seed*", "").replace("/*", ""), "slower": slow,
                "faster": fast, "epoch": epoch, "ratio": np.mean(values), "lowest": min(values),
                "highest": max(values), "seeds": len(values),
            }  # fmt: skip


def digits() -> Iterator[Row]:
    """Madsen et al., sections 3.3 and 4: accuracies by attention and output layer."""
    for folder, examples in DIGITS.items():
        kept = pd.read_csv(HERE / folder / "digits.csv")
        logs = [
            pd.read_json(HERE / f"{folder}/{row.attention}/seed-{row.seed}/epochs.jsonl",
                         lines=True)["symbols"] for row in kept.itertuples()
        ]  # fmt: skip
        kept["fall"] = [0.0 - symbols.diff().min() for symbols in logs]
        kept["best"] = [symbols.max() for symbols in logs]
        ahead, ahead_at_best = (
            kept.pivot(index="seed", columns="attention", values=value).diff(axis=1)
            for value in ("symbols", "best")
        )
        for name, subset in kept.groupby("attention", sort=False):
            mean, half = mean_and_half_width(subset["symbols"])
            yield {
                "folder": folder, "examples": examples, "attention": name,
                "symbols right, %": mean, "±": half, "numbers right, %": subset["numbers"].mean(),
                "symbols right at the best step, %": subset["best"].mean(),
                "letters attended": subset["attended"].mean(),
                "smallest fall": subset["fall"].min(),
                "largest fall": subset["fall"].max(), "seeds": len(subset),
                "sparsemax ahead in": (ahead["sparsemax"] > 0).sum(),
                "ahead at the best step in": (ahead_at_best["sparsemax"] > 0).sum(),
            }  # fmt: skip


def planned() -> Row:
    """The verdict of ``thirteen_epochs/plan.md``."""
    table = pd.read_csv(HERE / "tables/by_epoch.csv", dtype={"epoch": str})
    subset = table[
        (table["systems"] == "sparsemax against softmax") & (table["metric"] == "BLEU")
        & (table["form"] == "with α from validation") & (table["test set"] == "both")
    ].set_index("epoch")  # fmt: skip
    deciding, seeds = subset.loc[["13", "kept"]], int(subset["seeds"].iloc[0])
    verdict = Verdict.UNDECIDED
    if seeds >= MIN_SEEDS:
        if (deciding["gain"] > deciding["±"]).all():
            verdict = Verdict.CONFIRMED
        elif (deciding["gain"] < -deciding["±"]).any():
            verdict = Verdict.CONTRADICTED
    return {"verdict": verdict.value + " yet" * (seeds < MIN_SEEDS), "seeds": seeds}


def validation() -> Iterator[Row]:
    """BLEU of the validation text by epoch, with the α chosen on it: sparsemax less softmax."""
    bleu: dict[str, dict[str, Any]] = {}
    for path in sorted(HERE.glob("thirteen_epochs/*-seed*/manifest.json")):
        system, _, seed = path.parent.name.partition("-seed")
        bleu.setdefault(seed, {})[system] = json.loads(path.read_text("utf-8"))["made"]
    for epoch in (5, 9, 13):
        gains = [
            made["sparsemax"][f"sparsemax, epoch {epoch}"]["valid BLEU"]
            - made["softmax"][f"softmax, epoch {epoch}"]["valid BLEU"]
            for made in bleu.values()
            if {"sparsemax", "softmax"} <= made.keys()
        ]
        by_seed = " and ".join(f"{gain:+.2f}" for gain in gains).replace("-", "−")
        yield {"epoch": epoch, "gain": np.mean(gains), "by seed": by_seed}


def output_layer() -> Row:
    """Madsen et al., section 4: symbols right with sparsemax in the output layer, less softmax.

    Each at the best validation step of its training.
    """
    best = [
        pd.Series([
            pd.read_json(path, lines=True)["symbols"].max()
            for path in sorted(HERE.glob(f"output_layer/{layer}/*/seed-*/epochs.jsonl"))
        ])
        for layer in ("sparsemax", "softmax")
    ]  # fmt: skip
    gains = np.subtract(*best)
    return {"trainings": len(gains), "at least as many in": (gains >= 0).sum(),
            "smallest gain": gains.min(), "largest gain": gains.max()}  # fmt: skip


def timing() -> Iterator[Row]:
    """Malaviya et al., section 5: a training step's seconds by those of softmax."""
    steps = pd.read_csv(HERE / "timing/training_step.csv")
    for (hidden, system), seconds in steps.groupby(["hidden", "system"], sort=False)["seconds"]:
        base = steps[(steps["hidden"] == hidden) & (steps["system"] == "softmax")]["seconds"]
        ratio, low, high = ratio_of_turns(seconds, base)
        yield {"hidden": hidden, "system": system, "ratio": ratio, "low": low, "high": high}


def tables() -> dict[str, pd.DataFrame]:
    """Name → every table that is made from the kept files."""
    found = [
        Results(table, runs)
        for corpus, table in product(CORPORA, TABLES)
        if (runs := sorted(path.parent for path in HERE.glob(f"{corpus}-seed*/{table}.csv")))
    ]
    complete = [results for results in found if results.is_complete]
    first, second = complete[:2]
    scores = pd.DataFrame([row for results in found for row in results.scores()])
    differences = pd.concat([results.differences() for results in found], ignore_index=True)
    produced: dict[str, Any] = {
        "scores": scores,
        "differences": differences,
        "claims": [row for results in complete for row in results.claims()],
        "exchanged": first.exchanged(),
        "counts": counted(differences),
        "best": best(scores[scores["corpus"].isin([r.labels["corpus"] for r in complete])]),
        "lengths": first.lengths(),
        "orders": second.orders(),
        "beside_sparsemax": first.beside_sparsemax(),
        "learning": learning(),
        "digits": digits(),
        "output_layer": [output_layer()],
        "planned": [planned()],
        "validation": validation(),
        "timing": timing(),
    }
    return {name: pd.DataFrame(rows) for name, rows in produced.items()}


def in_markdown(frame: pd.DataFrame) -> str:
    """A Markdown table without padding."""
    rows = [list(frame.columns), ["---"] * frame.shape[1], *frame.fillna("").to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def beside_print(scores: pd.DataFrame, title: str) -> str:
    """A table of the paper, and ours at equal length."""
    subset = scores[(scores["table"] == title) & (scores["form"] == FORMS[PRIMARY])]
    shown: dict[str, Any] = {"system": list(dict.fromkeys(subset["system"]))}
    for metric in METRICS:
        column = subset[subset["metric"] == metric]
        if column["printed"].any():
            shown[f"{metric}, printed"] = column["printed"].to_list()
        shown[metric] = [f"{m:.2f}±{h:.2f}" for m, h in zip(column["mean"], column["±"])]
    return in_markdown(pd.DataFrame(shown))


def blocks(produced: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """The tables of the page."""
    scores, claims, best = (
        produced[name][produced[name]["corpus"] == "German–English"]
        for name in ("scores", "claims", "best")
    )
    seeds = claims["holds in"].astype(str) + " of " + claims["seeds"].astype(str)
    primary = claims[claims["form"] == FORMS[PRIMARY]].set_index("text")
    counts = claims.assign(seeds=seeds).pivot(index="text", columns="form", values="seeds")
    counts = counts.loc[primary.index, list(FORMS.values())]
    counts["p"] = primary["p"].map("{:.3f}".format)
    counts["verdict"] = "**" + primary["verdict"] + "**"
    learnt = produced["learning"]
    names = learnt["runs"].map(RUNS) + ": softmax over " + learnt["faster"].map(SHORT)
    learnt = learnt.assign(runs=names, ratio=learnt["ratio"].map("{:.2f}".format))
    learnt = learnt.pivot(index="runs", columns="epoch", values="ratio").loc[names.unique()]
    first = best[best["table"] == "Table 1"].pivot(index="form", columns="metric", values="system")
    return {
        **{title: beside_print(scores, title) for title, _ in TABLES.values()},
        "claims": in_markdown(counts.rename_axis("claim: seeds in which it holds").reset_index()),
        "learning": in_markdown(learnt.reset_index()),
        "best": in_markdown(first.loc[list(FORMS.values()), METRICS].reset_index()),
    }


def fill(page: str, produced: Mapping[str, pd.DataFrame]) -> str:
    """``page.md`` with every ``{{…}}`` replaced; see :func:`filling.fill`."""
    return filling.fill(page, produced, HERE, **blocks(produced))


def contents(produced: Mapping[str, pd.DataFrame]) -> dict[Path, str]:
    """Every file that is made, with its text."""
    page = fill((HERE / "page.md").read_text(encoding="utf-8"), produced)
    texts = {
        name: frame.to_csv(index=False, float_format="%.6g") for name, frame in produced.items()
    }
    return {HERE / "README.md": page, **{HERE / f"tables/{n}.csv": t for n, t in texts.items()}}


def main() -> None:
    """Write all files."""
    for path, text in contents(tables()).items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
