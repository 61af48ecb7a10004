"""Tables 2 and 3 and Figure 1 of Madsen et al. 2017 again: softmax and sparsemax regression.

Fisher's Iris is in this package. Users have the report's other data sets, in their published
formats (:mod:`coverage_eval.papers.reproduction.multilabel`).

The report fits both models with Adam, but does not say for how many epochs (its timings, §3.2, are
for 100) or in which batches. So each model is fitted twice: as the report most likely did, and to
the minimum of its convex problem (eq. 11), which leaves no such choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention.losses import js_divergence
from coverage_eval.errors import DataError
from coverage_eval.papers.printed import Citation, load_table, mean_and_half_width, read_data
from coverage_eval.papers.reproduction.multilabel import LabelledData
from coverage_eval.papers.reproduction.probabilistic_regression import ProbabilisticRegression
from coverage_eval.settings import setting
from coverage_eval.tables.table import Printable, Table

Array = NDArray[Any]
Activation = Literal["softmax", "sparsemax"]
Fitting = Literal["adam", "minimum"]

ACTIVATIONS: tuple[Activation, ...] = ("softmax", "sparsemax")
FITTINGS: tuple[Fitting, ...] = ("adam", "minimum")
EPOCHS, BATCH = 100, 10
LAMBDAS = tuple(10.0**power for power in range(-8, 2))
"""The regularizers of Figure 1, as read from its axis."""
TEST_PART, FOLDS = 10, 5
"""Without a test set, a tenth of the examples is the test set; the others are in five folds."""

MEASURES = {
    "cv_js": "JS, 5-fold (Table 2)",
    "cv_js_interval": "its 95% interval, ±",
    "test_js": "JS, test (Table 3)",
    "test_error": "error rate, test, %",
}


@dataclass(frozen=True)
class RegressionSettings:
    """How models are fitted and data are split.

    Attributes:
        splits: Random splits into training and test, if there is no test set.
        seed: Seed of splits and folds.
        epochs: Epochs of Adam.
        batch: Inputs per step of Adam.
        examples: Training examples, drawn anew for each split; None for all.
    """

    splits: int = setting(5, "Number of random splits; the report has one.", min=1)
    seed: int = setting(0, "Seed of splits and folds.", min=0)
    epochs: int = setting(EPOCHS, "Number of epochs of Adam.", min=1)
    batch: int = setting(BATCH, "Number of examples per step of Adam.", min=1)
    examples: int | None = setting(
        None, "Train on this many examples, drawn at random.  [default: all]", min=2 * FOLDS
    )

    def model(self, activation: Activation, fitting: Fitting, penalty: float) -> Any:
        """An unfitted regression."""
        if fitting == "minimum":
            return ProbabilisticRegression(activation, regularization=penalty)
        return ProbabilisticRegression(
            activation, regularization=penalty, solver="adam", max_iter=self.epochs,
            batch_size=self.batch,
        )  # fmt: skip


@dataclass(frozen=True)
class RegressionReproduction:
    """Printed figures beside ours.

    Attributes:
        data: Name of the data set.
        penalties: λ of each activation.
        printed: Activation → measure → the report's figure; empty if it lacks the data set.
        found: (activation, fitting) → measure → one value per split, ``[splits]``.
        citations: The places of the printed figures.
        settings: The settings of ours.
    """

    data: str
    penalties: Mapping[Activation, float]
    printed: Mapping[Activation, Mapping[str, float]]
    found: Mapping[tuple[Activation, Fitting], Mapping[str, Array]]
    citations: tuple[Citation, ...]
    settings: RegressionSettings

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        adam = f"Adam, {self.settings.epochs} epochs"
        return ("activation", "measure", "printed", adam, "Adam, ±", "minimum", "minimum, ±")

    def rows(self) -> list[list[str | float | None]]:
        """A row per measure: the printed figure; mean and deviation of ours over splits."""
        table: list[list[str | float | None]] = []
        for activation in ACTIVATIONS:
            for measure in self.found[activation, "adam"]:
                printed = self.printed.get(activation, {}).get(measure)
                row: list[str | float | None] = [activation, MEASURES[measure], printed]
                for fitting in FITTINGS:
                    values = self.found[activation, fitting][measure]
                    row += [float(values.mean()), float(values.std())]
                table.append(row)
        return table

    def present(self, curves: RegularizerCurves | None = None) -> Printable:
        """The rows, and below them whether ours have the printed order; what the curves show."""
        rows = tuple(map(tuple, self.rows()))
        notes = [*self.notes(), *([curves.note()] if curves else [])]
        return Printable((Table(self.header, rows, notes=tuple(notes)),))

    def notes(self) -> list[str]:
        """The regularizers, and the number of splits in which sparsemax is below softmax."""
        weights = ", ".join(f"{penalty:g} with {name}" for name, penalty in self.penalties.items())
        origin = "as printed" if self.printed else "chosen by 5-fold cross-validation"
        lines = [f"{self.data}: λ = {weights}, {origin}."]
        if self.settings.examples:
            lines.append(f"Trained on {self.settings.examples} examples, drawn for each split.")
        lines += [f"Printed: {citation}." for citation in self.citations]
        fittings = zip((self.header[3], "minimum"), FITTINGS, strict=True)
        for shown, fitting in fittings:
            for measure in ("cv_js", "test_js"):
                values = [self.found[activation, fitting][measure] for activation in ACTIVATIONS]
                below = int((values[1] < values[0]).sum())
                lines.append(
                    f"{shown}, {MEASURES[measure]}: sparsemax below softmax in {below} of "
                    f"{len(values[0])} splits."
                )
        return lines


@dataclass(frozen=True)
class RegularizerCurves:
    """Figure 1: the divergence for each regularizer, by 5-fold cross-validation.

    Attributes:
        data: Name of the data set.
        penalties: ``[L]`` values of λ.
        means: Activation → ``[L]`` mean of the folds.
        half_widths: Activation → ``[L]`` half of the 95% interval.
    """

    data: str
    penalties: Array
    means: Mapping[str, Array]
    half_widths: Mapping[str, Array]

    def note(self) -> str:
        """The best λ of each, and for how many sparsemax's interval is below softmax's."""
        best = ", ".join(
            f"{self.penalties[means.argmin()]:g} with {name}" for name, means in self.means.items()
        )
        low = self.means["softmax"] - self.half_widths["softmax"]
        high = self.means["sparsemax"] + self.half_widths["sparsemax"]
        return (
            f"Figure 1: lowest divergence at λ = {best}; the 95% interval of sparsemax is below "
            f"that of softmax for {int((high < low).sum())} of {len(self.penalties)} λ."
        )


def load_iris() -> tuple[Array, Array]:
    """Fisher's flowers: ``[150, 4]`` measurements in cm and ``[150]`` names of species."""
    rows = read_data("iris")["rows"]
    return np.array([row[:-1] for row in rows]), np.array([row[-1] for row in rows])


def iris_data() -> LabelledData:
    """Fisher's flowers as a data set of one label each."""
    features, species = load_iris()
    classes = tuple(map(str, np.unique(species)))
    return LabelledData("Iris", features, species[:, None] == np.array(classes), classes)


def reproduce_regression(
    data: LabelledData | None = None,
    test: LabelledData | None = None,
    settings: RegressionSettings | None = None,
) -> RegressionReproduction:
    """Fit softmax and sparsemax regression, and measure both by cross-validation and on a test set.

    For a data set of the report, recognised by the beginning of its name, λ is the printed one;
    for others, the one with the lowest divergence in cross-validation of the data, at the minimum.

    Args:
        data: The training part of a data set; Iris for None.
        test: Its test set; None for random parts of the data, stratified if every example has
            exactly one class.
        settings: How models are fitted and data are split.

    Raises:
        DataError: The test set has other classes or features, or there are too few examples.
    """
    data, settings = data or iris_data(), settings or RegressionSettings()
    if len(data.labels) < 2 * FOLDS:
        raise DataError(f"{data.name}: {len(data.labels)} examples are too few for {FOLDS} folds")
    if settings.examples and settings.examples > len(data.labels):
        raise DataError(f"{data.name}: has {len(data.labels)} examples, not {settings.examples}")
    if test is not None:
        test = _in_step(test, data)
    dataset = _dataset_of_report(data.name)
    printed = {name: _printed(name, dataset) for name in ACTIVATIONS} if dataset else {}
    if dataset:
        cells = load_table("report_table2").cells
        penalties = {name: cells[name, dataset, "lambda"].value for name in ACTIVATIONS}
    else:
        curves = cross_validate_regularizers(data, settings, fitting="minimum")
        penalties = {
            name: float(curves.penalties[curves.means[name].argmin()]) for name in ACTIVATIONS
        }
    found: dict[tuple[Activation, Fitting], dict[str, Array]] = {}
    for activation in ACTIVATIONS:
        for fitting in FITTINGS:
            results = [
                _evaluate(data, test, settings, activation, fitting, penalties[activation], split)
                for split in range(settings.splits)
            ]
            found[activation, fitting] = {
                measure: np.array([result[measure] for result in results]) for measure in results[0]
            }
    names = ("report_table2", "report_table3") if dataset else ()
    citations = tuple(load_table(name).citation for name in names)
    return RegressionReproduction(data.name, penalties, printed, found, citations, settings)


def cross_validate_regularizers(
    data: LabelledData | None = None,
    settings: RegressionSettings | None = None,
    *,
    fitting: Fitting = "adam",
    penalties: Sequence[float] = LAMBDAS,
) -> RegularizerCurves:
    """Cross-validate both models for each regularizer, as in Figure 1.

    Args:
        data: A data set; Iris for None.
        settings: How models are fitted and data are split.
        fitting: ``"adam"``, as in the report, or ``"minimum"``.
        penalties: Values of λ.
    """
    data, settings = data or iris_data(), settings or RegressionSettings()
    folds = _deal(data, FOLDS, np.random.default_rng(settings.seed))
    means: dict[str, Array] = {}
    half_widths: dict[str, Array] = {}
    for activation in ACTIVATIONS:
        points = [
            _cross_validate(data, folds, settings.model(activation, fitting, penalty))
            for penalty in penalties
        ]
        means[activation], half_widths[activation] = np.array(points).T
    return RegularizerCurves(data.name, np.array(penalties), means, half_widths)


def _dataset_of_report(name: str) -> str | None:
    """The report's data set that a file's name begins with; MNIST's files are named by part."""
    lowered = name.lower()
    if lowered.startswith(("train-images", "t10k-images")):
        return "MNIST"
    known = load_table("report_table2").datasets
    return next((dataset for dataset in known if lowered.startswith(dataset.lower())), None)


def _printed(activation: Activation, dataset: str) -> dict[str, float]:
    validation = load_table("report_table2").cells[activation, dataset, "cross-validation JS"]
    test = load_table("report_table3").cells
    found = {"cv_js": validation.value, "cv_js_interval": validation.half_width or 0.0}
    for measure, metric in (("test_js", "test JS"), ("test_error", "error rate")):
        if (activation, dataset, metric) in test:
            found[measure] = test[activation, dataset, metric].value
    return found


def _in_step(test: LabelledData, data: LabelledData) -> LabelledData:
    """The test set with the classes and features of the training set.

    A sparse file may lack the last features, or a class.
    """
    unknown = [name for name in test.classes if name not in data.classes]
    width = data.features.shape[1]
    if unknown or test.features.shape[1] > width:
        what = f"class '{unknown[0]}'" if unknown else f"{test.features.shape[1]} features"
        raise DataError(f"{test.name}: has {what}, which {data.name} lacks")
    features = np.zeros((len(test.labels), width))
    features[:, : test.features.shape[1]] = test.features
    labels = np.zeros((len(test.labels), len(data.classes)), dtype=np.bool_)
    labels[:, [data.classes.index(name) for name in test.classes]] = test.labels
    return LabelledData(test.name, features, labels, data.classes)


def _evaluate(
    data: LabelledData, test: LabelledData | None, settings: RegressionSettings,
    activation: Activation, fitting: Fitting, penalty: float, split: int,
) -> dict[str, float]:  # fmt: skip
    """All measures of one model on one split."""
    rng = np.random.default_rng([settings.seed, split])
    if test is None:
        parts = _deal(data, TEST_PART, rng)
        data, test = _part(data, parts > 0), _part(data, parts == 0)
    if settings.examples:
        drawn = rng.permutation(len(data.labels))[: settings.examples]
        data = _part(data, drawn)
    model = settings.model(activation, fitting, penalty)
    mean, half_width = _cross_validate(data, _deal(data, FOLDS, rng), model)
    model.fit(data.features, data.targets)
    measures = {
        "cv_js": mean,
        "cv_js_interval": half_width,
        "test_js": _divergence(model, test),
    }
    if _exclusive(data):
        wrong = model.predict(test.features) != test.labels.argmax(axis=1)
        measures["test_error"] = 100 * float(wrong.mean())
    return measures


def _cross_validate(data: LabelledData, folds: Array, model: Any) -> tuple[float, float]:
    """The mean divergence on held-out folds, and half of its 95% interval."""
    divergences = []
    for fold in range(FOLDS):
        kept = _part(data, folds != fold)
        model.fit(kept.features, kept.targets)
        divergences.append(_divergence(model, _part(data, folds == fold)))
    mean, half_width = mean_and_half_width(divergences)
    return mean, half_width or 0.0


def _part(data: LabelledData, rows: Array) -> LabelledData:
    return LabelledData(data.name, data.features[rows], data.labels[rows], data.classes)


def _exclusive(data: LabelledData) -> bool:
    """Whether each example has exactly one class."""
    return bool((data.labels.sum(axis=1) == 1).all())


def _deal(data: LabelledData, parts: int, rng: np.random.Generator) -> Array:
    """A random part for each input, 0 to parts − 1.

    If every example has exactly one class, classes are spread evenly, as in the report.
    """
    groups = data.labels.argmax(axis=1) if _exclusive(data) else np.zeros(len(data.labels))
    part = np.empty(len(groups), dtype=np.intp)
    for group in np.unique(groups):
        members = rng.permutation(np.flatnonzero(groups == group))
        part[members] = np.arange(len(members)) % parts
    return part


def _divergence(model: Any, data: LabelledData) -> float:
    return float(js_divergence(data.targets, model.predict_proba(data.features)).mean())
