"""The Iris rows of Tables 2 and 3 of Madsen et al. 2017, run again.

The report fits both models with Adam but does not say for how many epochs (its timings, §3.2, are
of 100) nor in which batches. So each model is fitted twice: as the report most likely did, and to
the minimum of the convex problem it states (eq. 11), where no such choice is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention.losses import js_divergence
from coverage_eval.attention.regression import ProbabilisticRegression
from coverage_eval.papers.printed import Citation, load_table, mean_and_half_width, read_data
from coverage_eval.tables.table import Printable, Table

Array = NDArray[Any]
Activation = Literal["softmax", "sparsemax"]
Fitting = Literal["adam", "minimum"]

ACTIVATIONS: tuple[Activation, ...] = ("softmax", "sparsemax")
EPOCHS, BATCH = 100, 10
FITTINGS: dict[Fitting, str] = {"adam": f"Adam, {EPOCHS} epochs", "minimum": "minimum"}
TEST_PART, FOLDS = 10, 5  # 15 of 150 flowers for the test, the others in 5 folds

MEASURES = {
    "cv_js": "JS, 5-fold (Table 2)",
    "cv_js_interval": "its 95% interval, ±",
    "test_js": "JS, test (Table 3)",
    "test_error": "error rate, test, %",
}


@dataclass(frozen=True)
class IrisReproduction:
    """Printed figures beside ours.

    Attributes:
        printed: activation → measure → figure of the report.
        found: (activation, fitting) → measure → one value per split, ``[splits]``.
        citations: where the printed figures stand.
        splits: number of random splits into 135 and 15 flowers.
        seed: of the splits.
    """

    printed: dict[Activation, dict[str, float]]
    found: dict[tuple[Activation, Fitting], dict[str, Array]]
    citations: tuple[Citation, ...]
    splits: int
    seed: int

    header = (
        "activation", "measure", "printed", "Adam, 100 epochs", "Adam, ±", "minimum", "minimum, ±"
    )  # fmt: skip

    def rows(self) -> list[list[str | float]]:
        """One row per printed figure: it, and mean and standard deviation of ours over splits."""
        table: list[list[str | float]] = []
        for activation in ACTIVATIONS:
            for measure, name in MEASURES.items():
                row: list[str | float] = [activation, name, self.printed[activation][measure]]
                for fitting in FITTINGS:
                    values = self.found[activation, fitting][measure]
                    row += [float(values.mean()), float(values.std())]
                table.append(row)
        return table

    def present(self) -> Printable:
        """One row a printed figure, ours beside it; below, whether the printed order comes out."""
        rows = tuple(map(tuple, self.rows()))
        return Printable((Table(self.header, rows, notes=tuple(self.verdicts())),))

    def verdicts(self) -> list[str]:
        """In how many splits sparsemax is below softmax, as it is in the report."""
        lines = [f"Printed: {citation}: sparsemax below softmax." for citation in self.citations]
        for fitting, name in FITTINGS.items():
            for measure in ("cv_js", "test_js"):
                values = [self.found[activation, fitting][measure] for activation in ACTIVATIONS]
                below = int((values[1] < values[0]).sum())
                lines.append(
                    f"{name}, {MEASURES[measure]}: sparsemax below softmax in {below} of "
                    f"{self.splits} splits."
                )
        return lines


def load_iris() -> tuple[Array, Array]:
    """Fisher's flowers: ``[150, 4]`` measurements in cm and ``[150]`` names of species."""
    rows = read_data("iris")["rows"]
    return np.array([row[:-1] for row in rows]), np.array([row[-1] for row in rows])


def reproduce_iris(*, splits: int = 5, seed: int = 0) -> IrisReproduction:
    """Fit softmax and sparsemax regression on random stratified splits.

    Args:
        splits: number of splits into 135 training and 15 test flowers; the report has one.
        seed: of the splits.
    """
    x, y = load_iris()
    printed = {activation: _printed(activation) for activation in ACTIVATIONS}
    found: dict[tuple[Activation, Fitting], dict[str, Array]] = {}
    penalties = load_table("report_table2").cells
    for activation in ACTIVATIONS:
        penalty = penalties[activation, "Iris", "lambda"].value
        models: dict[Fitting, ProbabilisticRegression] = {
            "adam": ProbabilisticRegression(
                activation, regularization=penalty, solver="adam", max_iter=EPOCHS, batch_size=BATCH
            ),
            "minimum": ProbabilisticRegression(activation, regularization=penalty),
        }
        for fitting, model in models.items():
            results = [
                _evaluate(x, y, model, np.random.default_rng([seed, split]))
                for split in range(splits)
            ]
            found[activation, fitting] = {
                measure: np.array([result[measure] for result in results]) for measure in MEASURES
            }
    citations = tuple(load_table(name).citation for name in ("report_table2", "report_table3"))
    return IrisReproduction(printed, found, citations, splits, seed)


def _printed(activation: Activation) -> dict[str, float]:
    validation = load_table("report_table2").cells[activation, "Iris", "cross-validation JS"]
    test = load_table("report_table3").cells
    return {
        "cv_js": validation.value,
        "cv_js_interval": validation.half_width or 0.0,
        "test_js": test[activation, "Iris", "test JS"].value,
        "test_error": test[activation, "Iris", "error rate"].value,
    }


def _evaluate(
    x: Array, y: Array, model: ProbabilisticRegression, rng: np.random.Generator
) -> dict[str, float]:
    """All measures of one model on one split."""
    parts = _deal(y, TEST_PART, rng)
    train, test = np.flatnonzero(parts > 0), np.flatnonzero(parts == 0)
    folds = _deal(y[train], FOLDS, rng)
    divergences = []
    for fold in range(FOLDS):
        kept, held_out = train[folds != fold], train[folds == fold]
        model.fit(x[kept], y[kept])
        divergences.append(_divergence(model, x[held_out], y[held_out]))
    model.fit(x[train], y[train])
    mean, half_width = mean_and_half_width(divergences)
    assert half_width is not None
    return {
        "cv_js": mean,
        "cv_js_interval": half_width,
        "test_js": _divergence(model, x[test], y[test]),
        "test_error": 100 * float((model.predict(x[test]) != y[test]).mean()),
    }


def _deal(y: Array, parts: int, rng: np.random.Generator) -> Array:
    """A part for each input, 0 to parts − 1, at random; every class is spread evenly over them."""
    part = np.empty(len(y), dtype=np.intp)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        part[members] = np.arange(len(members)) % parts
    return part


def _divergence(model: ProbabilisticRegression, x: Array, y: Array) -> float:
    assert model.classes_ is not None
    target = (y[:, None] == model.classes_).astype(np.float64)
    return float(js_divergence(target, model.predict_proba(x)).mean())
