"""The gains of three new seeds by epoch, as planned in ``thirteen_epochs/plan.md``.

    python epochs.py thirteen_epochs/*-seed* --ref test_2016_flickr.en test_2017_flickr.en \\
      --output tables/by_epoch.csv

Each seed counts for a comparison if the trainings of both systems have ended. A gain is positive
where the first system is better. ``kept`` is the gain after the last epoch less half of that after
the first, the second part of the claim. Intervals are of the mean over seeds: by seeds (Student's
t), and by drawn segments, the same for all systems and seeds, which are kept.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from resample import resampled_scores
from score import BLEU_OF_PAPER, count, read_texts
from systems import mean_and_half_width

from coverage_eval.repetition.rep import REP

PAIRS = (("sparsemax", "softmax"), ("csparsemax", "softmax"), ("csparsemax", "sparsemax"))
FORMS = ("with α from validation", "as decoded")
METRICS = {"BLEU": BLEU_OF_PAPER, "REP": REP()}

Draws = Mapping[tuple[str, ...], NDArray[np.float64]]
"""Test set, metric, form, system, seed and epoch → the score, and those of the resamples."""


def score_draws(runs: Sequence[Path], references: Mapping[str, Sequence[str]]) -> Draws:
    """Every score, whole and resampled.

    Args:
        runs: Folders of ``train.py --decode-after``, named SYSTEM-seedN.
        references: Name of each test set → its references, in the order of the translations.
    """
    found = {}
    tables = {
        run: pd.read_csv(next(run.glob("*.by_epoch.csv.gz")), na_filter=False) for run in runs
    }
    first = 1
    for test, lines in references.items():
        outputs = {}
        for (run, table), form in product(tables.items(), FORMS):
            part = table[table["segment"].between(first, first + len(lines) - 1)]
            for epoch, texts in part.groupby("epoch")[form]:
                system, _, seed = run.name.partition("-seed")
                outputs["|".join((form, system, seed, str(epoch)))] = list(texts)
        counted = count(outputs, lines, None, METRICS)
        for name, metric in METRICS.items():
            for output, scores in zip(outputs, resampled_scores(counted, name, metric).T):
                found[(test, name, *output.split("|"))] = scores
        first += len(lines)
    return found


def rows(draws: Draws) -> Iterator[dict[str, object]]:
    """A row for each comparison, metric, form, test set and epoch."""
    tests, metrics, forms, _, _, epochs = (list(dict.fromkeys(x)) for x in zip(*draws))
    ended = {(system, seed) for *_, system, seed, _ in draws}
    for (one, other), name, form in product(PAIRS, metrics, forms):
        seeds = sorted(seed for system, seed in ended if system == one and (other, seed) in ended)
        if not seeds:
            continue
        sign = 1 if METRICS[name].presentation.higher_is_better else -1
        gains = {}
        for test, epoch in product(tests, epochs):
            by_seed = [
                draws[test, name, form, one, seed, epoch]
                - draws[test, name, form, other, seed, epoch]
                for seed in seeds
            ]
            gains[test, epoch] = sign * np.stack(by_seed)  # [seeds, 1 + draws]
        for epoch in epochs:
            gains["both", epoch] = np.mean([gains[test, epoch] for test in tests], axis=0)
        for test in ("both", *tests):
            gains[test, "kept"] = gains[test, epochs[-1]] - gains[test, epochs[0]] / 2
            for epoch in (*epochs, "kept"):
                array = gains[test, epoch]
                mean, half = mean_and_half_width(array[:, 0])
                low, high = np.quantile(array[:, 1:].mean(axis=0), (0.025, 0.975))
                yield {
                    "systems": f"{one} against {other}", "metric": name, "form": form,
                    "test set": test, "epoch": epoch, "gain": mean, "±": half,
                    "better in": (array[:, 0] > 0).sum(), "seeds": len(seeds),
                    "segments, low": low, "segments, high": high,
                    "by seed": " and ".join(f"{x:+.2f}" for x in array[:, 0]).replace("-", "−"),
                }  # fmt: skip


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--ref", type=Path, nargs="+", required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    runs = [run for run in sorted(arguments.runs) if (run / "manifest.json").exists()]
    texts = read_texts(runs[0], *arguments.ref)
    references = {path.stem: lines for path, lines in zip(arguments.ref, texts, strict=True)}
    table = pd.DataFrame(rows(score_draws(runs, references)))
    table.to_csv(arguments.output, index=False, float_format="%.4f")


if __name__ == "__main__":
    main()
