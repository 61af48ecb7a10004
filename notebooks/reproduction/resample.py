"""How far differences depend on the test set, beside the seeds: ``tables/resampling.csv``.

    python resample.py multi30k-de-en-seed* --ref test_2016_flickr.en \\
      --src test_2016_flickr.de --model words.model -o tables/resampling.csv

The segments of the test set are drawn with replacement, the same ones for all systems and seeds.
Each interval is of the mean over seeds: by seeds (Student's t, on the whole test set), by segments
(all seeds, drawn segments), and by both (drawn seeds, drawn segments).
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from score import FORMS, hypotheses_of, read_texts, table_metrics
from systems import TABLES, mean_and_half_width

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.data.dataset import Dataset, make_rows
from coverage_eval.metrics.measure import Metric, measure
from coverage_eval.papers.audit_tables import SPARSE
from coverage_eval.papers.printed import load_table

Floats = NDArray[np.float64]
DRAWS = 1000
COMPARED = ("csparsemax against sparsemax", "csparsemax against csoftmax",
            "csparsemax against softmax", "sparse models against others")  # fmt: skip


def drawn_scores(
    outputs: Mapping[str, Sequence[str]], references: Sequence[str], sources: Sequence[str],
    metrics: Mapping[str, Metric],
) -> dict[str, Floats]:  # fmt: skip
    """Metric → scores [1 + draws, systems]; the first are of the whole test set."""
    rows = make_rows(outputs, references, sources)
    dataset = Dataset(lambda: rows, list(outputs), ["the reference"], "the source")
    counted = measure(dataset, metrics)
    size = len(references)
    drawn = np.random.default_rng(0).multinomial(size, [1 / size] * size, DRAWS)
    weights = np.concatenate([np.ones((1, size)), drawn])
    found = {}
    for name, metric in metrics.items():
        summed = [weights @ counted.statistics_of(name, system) for system in outputs]
        found[name] = np.stack([metric.formula(own) for own in summed], axis=1)
    return found


def gains(scores: Floats, systems: Sequence[str], comparison: str, *, lower: bool) -> Floats:
    """How much better the first side is, for each draw."""
    groups = {"sparse models": SPARSE, "others": [s for s in systems if s not in SPARSE]}
    one, other = (
        scores[:, [systems.index(name) for name in groups.get(side, [side])]].mean(axis=1)
        for side in comparison.split(" against ")
    )
    return other - one if lower else one - other


def resampled(by_run: Sequence[Floats]) -> tuple[float, ...]:
    """The mean over runs, and its 95% intervals by seeds, by segments and by both."""
    array = np.stack(by_run)  # [runs, 1 + draws]
    mean, half = mean_and_half_width(array[:, 0])
    chosen = np.random.default_rng(1).integers(len(array), size=(len(array), DRAWS))
    both = array[chosen, np.arange(1, DRAWS + 1)].mean(axis=0)
    quantiles = [np.quantile(own, (0.025, 0.975)) for own in (array[:, 1:].mean(axis=0), both)]
    return (mean, mean - (half or 0), mean + (half or 0), *map(float, np.concatenate(quantiles)))


def rows(runs: Sequence[Path], ref: Path, src: Path, model: Path) -> Iterator[tuple[object, ...]]:
    """A row for each form, comparison and metric."""
    better = load_table("table1").better
    with Aligner.load(model) as aligner:
        metrics = {m.name: m for m in table_metrics(aligner) if m.name in better}
        for form, described in FORMS.items():
            by_run = []
            for run in runs:
                sources, references = read_texts(run, src, ref)
                found = hypotheses_of(run, TABLES["table1"], form)
                outputs = {s.name: found[s.name] for s in TABLES["table1"]}
                by_run.append(drawn_scores(outputs, references, sources, metrics))
            systems = list(outputs)
            for comparison in COMPARED:
                for metric in metrics:
                    own = [
                        gains(scores[metric], systems, comparison, lower=better[metric] == "lower")
                        for scores in by_run
                    ]
                    yield described, comparison, metric, *(f"{x:.4f}" for x in resampled(own))


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+")
    for name in ("--ref", "--src", "--model", "--output"):
        parser.add_argument(*(["-o"] if name == "--output" else []), name, type=Path, required=True)
    given = parser.parse_args()
    header = ["form", "systems", "metric", "gain", "seeds, low", "seeds, high", "segments, low",
              "segments, high", "both, low", "both, high"]  # fmt: skip
    with given.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([header, *rows(given.runs, given.ref, given.src, given.model)])


if __name__ == "__main__":
    main()
