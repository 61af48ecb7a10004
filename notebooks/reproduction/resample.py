"""How far differences depend on the test set, beside the seeds: ``tables/resampling.csv``.

    python resample.py multi30k-de-en-seed* --ref test_2016_flickr.en \\
      --src test_2016_flickr.de --model words.model --output tables/resampling.csv

The segments of the test set are drawn with replacement, the same ones for all systems and seeds.
Each interval is of the mean over seeds: by seeds (Student's t, on the whole test set), by segments
(all seeds, drawn segments), and by both (drawn seeds, drawn segments).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from score import FORMS, count, hypotheses_of, read_texts, table_metrics
from systems import TABLES, mean_and_half_width

from coverage_eval.align.aligner import Aligner
from coverage_eval.core.metric import Metric
from coverage_eval.core.result import Result
from coverage_eval.papers.audit_tables import SPARSE
from coverage_eval.papers.printed import load_table

Floats = NDArray[np.float64]
DRAWS = 1000
COMPARED = ("csparsemax against sparsemax", "csparsemax against csoftmax",
            "csparsemax against softmax", "sparse models against others")  # fmt: skip


def resampled_scores(counted: Result, name: str, metric: Metric) -> Floats:
    """Scores [1 + draws, systems]; the first are of the whole test set."""
    first, *others = (counted.statistics_of(name, system) for system in counted.systems)
    size = len(first)
    resamples = np.random.default_rng(0).multinomial(size, [1 / size] * size, DRAWS)
    weights = np.concatenate([np.ones((1, size)), resamples])
    return np.stack(
        [metric.formula(weights @ statistics) for statistics in (first, *others)], axis=1
    )


def gains(scores: Floats, systems: Sequence[str], comparison: str, *, lower: bool) -> Floats:
    """How much better the first side is, for each draw."""
    groups = {"sparse models": SPARSE, "others": [s for s in systems if s not in SPARSE]}
    first, other = (
        scores[:, [systems.index(name) for name in groups.get(side, [side])]].mean(axis=1)
        for side in comparison.split(" against ")
    )
    return other - first if lower else first - other


def resampled(by_run: Sequence[Floats]) -> tuple[float, ...]:
    """The mean over runs, and its 95% intervals by seeds, by segments and by both."""
    array = np.stack(by_run)  # [runs, 1 + draws]
    mean, half = mean_and_half_width(array[:, 0])
    chosen = np.random.default_rng(1).integers(len(array), size=(len(array), DRAWS))
    both = array[chosen, np.arange(1, DRAWS + 1)].mean(axis=0)
    quantiles = [np.quantile(some, (0.025, 0.975)) for some in (array[:, 1:].mean(axis=0), both)]
    return (mean, mean - (half or 0), mean + (half or 0), *map(float, np.concatenate(quantiles)))


def rows(runs: Sequence[Path], ref: Path, src: Path, model: Path) -> Iterator[tuple[object, ...]]:
    """A row for each form, comparison and metric."""
    better, systems = load_table("table1").better, [s.name for s in TABLES["table1"]]
    with Aligner.load(model) as aligner:
        metrics = {
            m.presentation.name: m for m in table_metrics(aligner) if m.presentation.name in better
        }
        for form, described in FORMS.items():
            counted = []
            for run in runs:
                sources, references = read_texts(run, src, ref)
                found = hypotheses_of(run, TABLES["table1"], form)
                outputs = {name: found[name] for name in systems}
                counted.append(count(outputs, references, sources, metrics))
            for name, metric in metrics.items():
                scores, lower = (
                    [resampled_scores(c, name, metric) for c in counted],
                    better[name] == "lower",
                )
                for comparison in COMPARED:
                    all_gains = [gains(table, systems, comparison, lower=lower) for table in scores]
                    yield described, comparison, name, *resampled(all_gains)


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+")
    for name in ("--ref", "--src", "--model", "--output"):
        parser.add_argument(name, type=Path, required=True)
    arguments = parser.parse_args()
    header = ["form", "systems", "metric", "gain", "seeds, low", "seeds, high", "segments, low",
              "segments, high", "both, low", "both, high"]  # fmt: skip
    found = rows(arguments.runs, arguments.ref, arguments.src, arguments.model)
    table = pd.DataFrame(found, columns=header)
    table.to_csv(arguments.output, index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
