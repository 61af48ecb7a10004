"""Resampling of a comparison: 1,000 resamples of 8 systems × 6,750 segments × 4 metrics.

Run by ``make bench`` or ``python tests/bench/bench_compare.py``. The texts come from the small
grammar. DROP's statistics are random, so no aligner is needed, and chrF replaces METEOR if its
extra is not installed. The baseline is sacreBLEU's paired test of BLEU.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from sacrebleu.metrics.bleu import BLEU as SacreBLEU  # noqa: E402
from sacrebleu.significance import PairedTest  # noqa: E402

from coverage_eval.alignment.aligner import Aligner  # noqa: E402
from coverage_eval.metrics.drop import DROP  # noqa: E402
from coverage_eval.metrics.measure import Metric  # noqa: E402
from coverage_eval.metrics.planting import inject_lines  # noqa: E402
from coverage_eval.metrics.registry import default_metrics, make_metric  # noqa: E402
from coverage_eval.metrics.score import Statistics  # noqa: E402
from coverage_eval.metrics.significance import SignificanceTest  # noqa: E402
from tests.comparison.systems import compare_statistics  # noqa: E402
from tests.grammar import generate  # noqa: E402

SYSTEMS, SEGMENTS, RESAMPLES = 8, 6750, 1000
TIMES = 5  # copies of each counted segment
T = TypeVar("T")


def timed(action: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def make_systems(references: list[str]) -> dict[str, list[str]]:
    systems = {}
    for number in range(SYSTEMS):
        shorter = inject_lines(references, "omission-word", 0.01 * number, number)
        systems[f"system {number}"] = inject_lines(shorter, "repetition-phrase", 0.04, number)
    return systems


def count(
    metrics: dict[str, Metric], systems: dict[str, list[str]], references: list[str]
) -> dict[str, dict[str, Statistics]]:
    generator = np.random.default_rng(1)
    expected = generator.integers(5, 30, size=SEGMENTS)
    statistics = {}
    for name, metric in metrics.items():
        statistics[name] = {
            system: np.tile(metric.statistics(texts, references), (TIMES, 1))
            if isinstance(metric, Metric)
            else np.stack([generator.binomial(expected, 0.05), expected], axis=1)
            for system, texts in systems.items()
        }
    return statistics


def main() -> None:
    """Print the time of intervals and tests, and of sacreBLEU's test in the same run."""
    references = [" ".join(pair.target) for pair in generate(SEGMENTS // TIMES, seed=1)]
    systems = make_systems(references)
    names, missing = default_metrics(aligned=False)
    columns = ("chrf" if missing else "meteor", *(name for name in names if name != "meteor"))
    metrics: dict[str, Metric] = {name: make_metric(name, {}) for name in columns}
    metrics["drop"] = DROP(Aligner.from_links([], []))
    counting, statistics = timed(lambda: count(metrics, systems, references))
    size = (
        f"{SYSTEMS} systems × {SEGMENTS} segments × {len(metrics)} metrics ({', '.join(metrics)})"
    )
    print(f"{size}; counting a fifth of it, once: {counting:.2f} s")
    for test in ("bootstrap", "randomization"):
        runs = [
            timed(lambda t=test: compare_statistics(statistics, metrics, SignificanceTest(t)))[0]
            for _ in range(3)
        ]
        print(f"{RESAMPLES} resamples, intervals and {test}: {min(runs):.2f} s, fastest of 3")
    bleu = {"bleu": metrics["bleu"]}
    ours, _ = timed(lambda: compare_statistics(statistics, bleu, SignificanceTest("bootstrap")))
    many, few = (
        sacrebleu_seconds(systems, references * TIMES, samples) for samples in (RESAMPLES, 1)
    )
    print(
        f"BLEU alone, bootstrap: ours {ours:.2f} s, sacreBLEU {many - few:.2f} s without its ",
        end="",
    )
    print(f"counting ({few:.2f} s): {(many - few) / ours:.1f} × the time of ours")


def sacrebleu_seconds(systems: dict[str, list[str]], references: list[str], samples: int) -> float:
    metric = SacreBLEU(references=[references], force=True)
    test = PairedTest(
        [(name, texts * TIMES) for name, texts in systems.items()],
        {"BLEU": metric},
        None,
        "bs",
        samples,
    )
    return timed(test)[0]


if __name__ == "__main__":
    main()
