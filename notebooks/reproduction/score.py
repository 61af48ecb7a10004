"""Score the translations of a run: Table 1 or 2, beside the printed figures.

    python notebooks/reproduction/score.py RUN            # writes RUN/table1.csv and so on again
    python notebooks/reproduction/score.py RUN --check --ref test.en --src test.de \\
      --model words.model --valid-ref val.en              # recomputes what a kept run says

The length of a system's translations affects BLEU, REP and DROP. So each system's n-best lists of
the test set are ranked again by log P / lp: once with α = 1 for all systems, and once with an α for
each system that brings its number of words nearest to that of the references. This does not tune
towards a score: the references contribute nothing but their length. BLEU is lowercased and does not
tokenise, as in the authors' scripts; METEOR, REP and DROP have their defaults.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from systems import TABLES, System

from coverage_eval.align.aligner import Aligner
from coverage_eval.comparison.compare import compare
from coverage_eval.comparison.table import comparison_report
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count_fitted
from coverage_eval.core.formats import render
from coverage_eval.core.metric import Metric, Presentation, Statistics
from coverage_eval.core.result import Result
from coverage_eval.core.texts import read_segments
from coverage_eval.core.tokenizers import tokenize
from coverage_eval.papers.printed import load_table
from coverage_eval.quality.sacre import BLEU
from coverage_eval.registry import default_metrics, make_metric

FORMS = {
    "": "as decoded",
    "normalized": "with α = 1",
    "equal": "at equal length",
}
"""Ending of a table's file → the translations that it scores.

α is the weight of the length penalty: 1 for every system, or for each the one that brings its
number of words nearest to that of the references.
"""

BLEU_OF_PAPER = BLEU(tokenize="none", lowercase=True)
ALPHAS = [step / 10 for step in range(31)]
"""The weights of the length penalty that are tried for equal length."""


@dataclass(frozen=True)
class RelativeLength(BLEU):
    """Words of the translations per word of the references, as BLEU counts them."""

    presentation: ClassVar[Presentation] = replace(BLEU.presentation, name="length")

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """Σ |hypothesis| / Σ |reference|."""
        return np.asarray(summed[..., 0] / summed[..., 1], dtype=np.float64)


@dataclass(frozen=True)
class BrevityPenalty(BLEU):
    """BLEU's factor for translations that are too short, 0 to 1."""

    presentation: ClassVar[Presentation] = replace(BLEU.presentation, name="BP")

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """exp(min(0, 1 − Σ |reference| / Σ |hypothesis|))."""
        with np.errstate(divide="ignore"):  # translations without any word: 0
            return np.asarray(np.exp(np.minimum(0.0, 1 - summed[..., 1] / summed[..., 0])))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines; with .gz packed without date and name, so that equal lines give equal bytes."""
    data = "".join(f"{line}\n" for line in lines).encode()
    if path.suffix != ".gz":
        path.write_bytes(data)
        return
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
        packed.write(data)


def file_hash(path: str | Path) -> str:
    """SHA-256."""
    return sha256(Path(path).read_bytes()).hexdigest()


def at_equal_length(candidates: Any, beta: float, references: Sequence[str]) -> list[str]:
    """What the α chooses whose number of words is nearest to the references'."""
    wanted = sum(len(tokenize(line)) for line in references)
    texts: list[list[str]] = [candidates.choose(alpha, beta) for alpha in ALPHAS]
    return min(texts, key=lambda lines: abs(sum(len(tokenize(x)) for x in lines) - wanted))


def hypotheses_of(run: Path, systems: Sequence[System], form: str = "") -> dict[str, list[str]]:
    """Name of each finished system → its translations of the test set."""
    found = {}
    for system in systems:
        files = {system.name: f"test.{form}.hyp.gz" if form else "test.hyp.gz"}
        if not form:
            files[f"{system.name}, rescoring"] = "test.rescored.hyp.gz"
        for name, file in files.items():
            path = run / f"{system.file}.{file}"
            if path.exists():
                found[name] = list(read_segments(path))
    return found


def table_file(table: str, form: str) -> str:
    """The name of a table's files, without their endings."""
    return f"{table}.{form}" if form else table


def table_metrics(aligner: Aligner | None) -> list[Metric]:
    """The metrics of Table 1, and the translations' length; no DROP without an aligner."""
    names, _ = default_metrics(
        has_links=aligner is not None,
        has_coverages=False,
        has_references=True,
        has_several_outputs=True,
    )
    bleu: dict[str, Any] = {"tokenize": "none", "lowercase": True}
    computed = [
        make_metric(n, {"aligner": aligner, **(bleu if n == "bleu" else {})}) for n in names
    ]
    return [*computed, RelativeLength(**bleu), BrevityPenalty(**bleu)]


def score_run(run: Path, table: str) -> str:
    """Write ``TABLE.csv`` and ``TABLE.scores.csv`` of each form; return the first as text."""
    sources, references = (list(read_segments(run / f"private/test.{s}")) for s in ("src", "ref"))
    dataset = json.loads((run / "manifest.json").read_text("utf-8"))["settings"]["dataset"]
    printed, shown = load_table(table).cells, ""
    with Aligner.load(run / "private" / "words.model") as aligner:
        for form in FORMS:
            hypotheses = hypotheses_of(run, TABLES[table], form)
            comparison = compare(
                hypotheses, references, sources, aligner, metrics=table_metrics(aligner)
            )
            result = comparison_report(comparison)
            name = table_file(table, form)
            write_lines(run / f"{name}.csv", [render(result, "csv", digits=6)])
            rows = [
                f"{system},{dataset},{cell.score.metric},{round(cell.score.score, 4)}"
                for system, cells in comparison.rows.items()
                for cell in cells.values()
                if (system, dataset, cell.score.metric) in printed
            ]
            write_lines(run / f"{name}.scores.csv", ["system,dataset,metric,value", *rows])
            shown = shown or render(result, "text", digits=2)
    return shown


def read_texts(run: Path, *paths: Path) -> list[list[str]]:
    """The lines of the texts that a kept run used.

    Raises:
        SystemExit: A text is not one of them.
    """
    kept = str(json.loads((run / "manifest.json").read_text("utf-8"))["corpora"])
    for path in paths:
        if file_hash(path) not in kept:
            raise SystemExit(f"{path}: is not the text that {run} was made with")
    return [list(read_segments(path)) for path in paths]


def count(
    outputs: Mapping[str, Sequence[str]], references: Sequence[str],
    sources: Sequence[str] | None, metrics: Mapping[str, Metric],
) -> Result:  # fmt: skip
    """The statistics of all outputs by all metrics."""
    texts = Texts.from_lists(outputs, [references], sources)
    return count_fitted(texts, {name: metric.fit(texts.sample) for name, metric in metrics.items()})


def check_run(
    run: Path, *, ref: Path, src: Path, model: Path | None = None, valid_ref: Path | None = None
) -> Iterator[tuple[str, float, float | None]]:
    """Recompute a kept run's scores from its translations.

    Yields:
        What it is, the kept value and ours: None without METEOR's data or DROP's word aligner.

    Raises:
        SystemExit: A text is not the one that the run used.
    """
    manifest = json.loads((run / "manifest.json").read_text("utf-8"))
    if valid_ref:
        (references,) = read_texts(run, valid_ref)
        for path in sorted(run.glob("*.valid.hyp.gz")):
            name, lines = path.name.partition(".")[0], list(read_segments(path))
            bleu = BLEU_OF_PAPER.corpus_score(lines, [references[: len(lines)]])
            yield f"{name}: valid BLEU", manifest["made"][name]["valid BLEU"], float(bleu)
    sources, references = read_texts(run, src, ref)
    kept: list[pd.DataFrame] = []
    outputs: dict[str, list[str]] = {}
    for table, form in product(TABLES, FORMS):
        path = run / f"{table_file(table, form)}.csv"
        if path.exists():
            found = hypotheses_of(run, TABLES[table], form)
            outputs |= {f"{path.stem}: {name}": lines for name, lines in found.items()}
            kept.append(pd.read_csv(path).assign(table=path.stem))
    with Aligner.load(model) if model else nullcontext() as aligner:
        metrics = {metric.presentation.name: metric for metric in table_metrics(aligner)}
        counted = count(outputs, references, sources, metrics)
    for row in pd.concat(kept).itertuples():
        name, ours = f"{row.table}: {row.system}", None
        if row.metric in metrics:
            ours = metrics[row.metric].score(counted.statistics_of(row.metric, name)).score
        yield f"{name}: {row.metric}", row.score, ours


def main() -> None:
    """Score a run, or check a kept one."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--check", action="store_true", help="recompute the kept scores")
    for name in ("ref", "src", "model", "valid-ref"):
        parser.add_argument(f"--{name}", type=Path)
    arguments = parser.parse_args()
    if not arguments.check:
        for table in TABLES:
            if hypotheses_of(arguments.run, TABLES[table]):
                print(score_run(arguments.run, table))
        return
    texts = {name: getattr(arguments, name) for name in ("ref", "src", "model", "valid_ref")}
    found: dict[str, int] = {"confirmed": 0, "contradicted": 0, "not checked": 0}
    for what, kept, ours in check_run(arguments.run, **texts):
        same = ours is not None and abs(kept - ours) <= 1e-4
        found["not checked" if ours is None else "confirmed" if same else "contradicted"] += 1
        if ours is not None and not same:
            print(f"{what}: kept {kept:.4f}, ours {ours:.4f}")
    print("scores to four digits:", ", ".join(f"{n} {verdict}" for verdict, n in found.items()))
    if found["contradicted"] or not found["confirmed"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
