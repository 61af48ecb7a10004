"""Regression on Iris by λ, and on Iris and like it by the number of examples.

``python notebooks/reproduction/regression/measure.py`` writes ``penalties.csv`` and ``sizes.csv``
beside this file. Madsen et al. (2017) say that sparsemax is better "for all parameter choices"
(section 3.1), and that varying the size of a data set could show whether Iris is special because it
is small (section 4). The larger data set has normal features with the means and covariances of
Iris's species; each of its splits is drawn anew, with 500 test examples.

100 epochs on fewer examples are also fewer steps of Adam, so every size is fitted a second time
with about as many steps as 135 examples take.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from coverage_eval.papers.printed import mean_and_half_width
from coverage_eval.papers.reproduction.multilabel import LabelledData
from coverage_eval.papers.reproduction.sparsemax_regression import (
    ACTIVATIONS,
    EPOCHS,
    FITTINGS,
    RegressionSettings,
    cross_validate_regularizers,
    iris_data,
    reproduce_regression,
)

HERE = Path(__file__).parent
SIZES, LARGER = (15, 30, 60, 135), (15, 135, 540)
SPLITS = 10


def like_iris(examples: int, seed: int) -> LabelledData:
    """Equally many examples of each species, or one more."""
    iris, rng = iris_data(), np.random.default_rng(seed)
    species = np.arange(examples) % len(iris.classes)
    features = np.empty((examples, iris.features.shape[1]))
    for number in range(len(iris.classes)):
        own = iris.features[iris.labels[:, number]]
        drawn = rng.multivariate_normal(
            own.mean(axis=0), np.cov(own.T), size=(species == number).sum()
        )
        features[species == number] = drawn
    return LabelledData("Iris-like", features, np.eye(3, dtype=bool)[species], iris.classes)


def by_size() -> Iterable[tuple[object, ...]]:
    """The test divergence of softmax less that of sparsemax, over splits."""
    for name, sizes in (("Iris", SIZES), ("like Iris", LARGER)):
        for size in sizes:
            for epochs in dict.fromkeys((EPOCHS, round(EPOCHS * 135 / size))):
                results = []
                for split in range(SPLITS):
                    iris = name == "Iris"
                    parts = () if iris else (like_iris(size, split), like_iris(500, SPLITS + split))
                    settings = RegressionSettings(1, split, epochs, examples=size if iris else None)
                    results.append(reproduce_regression(*parts, settings=settings))
                for fitting in FITTINGS:
                    if fitting == "minimum" and epochs != EPOCHS:
                        continue  # the same again
                    soft, sparse = (
                        np.array([result.found[key, fitting]["test_js"][0] for result in results])
                        for key in ACTIVATIONS
                    )
                    gain, half = mean_and_half_width(soft - sparse)
                    yield (
                        name, size, fitting, epochs if fitting == "adam" else "",
                        *(f"{value:.4f}" for value in (soft.mean(), sparse.mean(), gain, half)),
                        int((sparse < soft).sum()), SPLITS,
                    )  # fmt: skip


def by_penalty() -> Iterable[tuple[object, ...]]:
    """Figure 1 for Iris, after 100 epochs of Adam and at the minimum."""
    for fitting in FITTINGS:
        curves = cross_validate_regularizers(fitting=fitting)
        print(f"{fitting}: {curves.note()}")
        for name, means in curves.means.items():
            rows = zip(curves.penalties, means, curves.half_widths[name], strict=True)
            for penalty, mean, half in rows:
                yield fitting, name, f"{penalty:g}", f"{mean:.4f}", f"{half:.4f}"


def write(name: str, header: str, rows: Iterable[tuple[object, ...]]) -> None:
    """One file."""
    with (HERE / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split(", "))
        writer.writerows(rows)


if __name__ == "__main__":
    write("penalties.csv", "fitting, activation, lambda, JS, ±", by_penalty())
    write(
        "sizes.csv",
        "data, examples, fitting, epochs, softmax JS, sparsemax JS, gain, ±, splits below, splits",
        by_size(),
    )
