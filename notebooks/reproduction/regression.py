r"""Softmax and sparsemax regression: Tables 2 and 3 and Figure 1 of Madsen et al. 2017.

    python notebooks/reproduction/regression.py --splits 20           # Iris
    python notebooks/reproduction/regression.py --data scene-train.arff --test scene-test.arff
    python notebooks/reproduction/regression.py --sweeps FOLDER       # by batch, λ and size

Minimises :math:`\frac\lambda2 (\|W\|_F^2 + \|b\|^2) + \frac1N \sum_i L(W x_i + b; q_i)` (eq. 11),
with L the cross-entropy or the sparsemax loss. The report fits with Adam, but does not say for how
many epochs (its timings are for 100) or in which batches. So each model is fitted twice: as the
report most likely did, and to the minimum of the convex problem (L-BFGS).

Of the report's data sets Iris is in scikit-learn; the others are read from your copy, as LIBSVM's
files or as Mulan's .arff, whose last attributes are the labels (scene 6, emotions 6, cal500 174).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.io import arff
from scipy.optimize import minimize
from scipy.spatial.distance import jensenshannon
from sklearn.datasets import load_iris, load_svmlight_files
from sklearn.preprocessing import MultiLabelBinarizer
from systems import mean_and_half_width

from coverage_eval.attention import softmax, sparsemax
from coverage_eval.attention.losses import cross_entropy_and_gradient, sparsemax_loss_and_gradient
from coverage_eval.papers.printed import load_table

Array = NDArray[Any]
ACTIVATIONS = {
    "softmax": (softmax, cross_entropy_and_gradient),
    "sparsemax": (sparsemax, sparsemax_loss_and_gradient),
}
FITTINGS = ("adam", "minimum")
FULL_BATCH = "adam, full batch"
EPOCHS, BATCH, FOLDS, TEST_PART = 100, 10, 5, 10
LAMBDAS = tuple(10.0**power for power in range(-8, 2))  # as read from the axis of Figure 1
LABELS = {"scene": 6, "emotions": 6, "cal500": 174}
MEASURES = (
    ("report_table2", "cross-validation JS"),
    ("report_table3", "test JS"),
    ("report_table3", "error rate"),
)


@dataclass(frozen=True, eq=False)
class Data:
    """Examples: ``[N, F]`` features, ``[N, K]`` whether each has a label."""

    name: str
    features: Array
    labels: Array

    @property
    def targets(self) -> Array:
        """``[N, K]`` uniform over the labels of an example, or over all classes."""
        marks = np.where(self.labels.any(axis=1, keepdims=True), self.labels, True)
        return np.asarray(marks / marks.sum(axis=1, keepdims=True))

    @property
    def exclusive(self) -> bool:
        """Whether each example has exactly one class."""
        return bool((self.labels.sum(axis=1) == 1).all())

    def part(self, rows: Array) -> Data:
        """Some of the examples."""
        return Data(self.name, self.features[rows], self.labels[rows])

    def deal(self, parts: int, rng: np.random.Generator) -> Array:
        """A random part for each example; exclusive classes are spread evenly."""
        groups = self.labels.argmax(axis=1) if self.exclusive else np.zeros(len(self.labels))
        part = np.empty(len(groups), dtype=np.intp)
        for group in np.unique(groups):
            members = rng.permutation(np.flatnonzero(groups == group))
            part[members] = np.arange(len(members)) % parts
        return part


def iris() -> Data:
    """Fisher's flowers, with the two rows that differ from his paper in many copies."""
    features, species = load_iris(return_X_y=True)
    return Data("Iris", features, np.eye(3, dtype=bool)[species])


def read(*paths: Path) -> list[Data]:
    """A training set, and its test set if there are two paths."""
    name = paths[0].name.partition("-")[0].partition(".")[0]
    if paths[0].suffix == ".arff":
        tables = [np.array(arff.loadarff(path)[0].tolist(), dtype=np.float64) for path in paths]
        count = LABELS[name.lower()]
        return [Data(name, table[:, :-count], table[:, -count:] > 0) for table in tables]
    parts = load_svmlight_files(paths, multilabel=True)
    classes = MultiLabelBinarizer().fit(parts[1])
    return [
        Data(name, features.toarray(), classes.transform(labels).astype(bool))
        for features, labels in zip(parts[::2], parts[1::2])
    ]


def fit(data: Data, activation: str, penalty: float, fitting: str, epochs: int = EPOCHS) -> Array:
    """``[F + 1, K]`` weights; biases are regularised like them, so they are one more row."""
    loss = ACTIVATIONS[activation][1]
    design, targets = _with_bias(data.features), data.targets
    shape = design.shape[1], targets.shape[1]

    def objective(weights: Array, rows: Array) -> tuple[float, Array]:
        losses, slopes = loss(design[rows] @ weights, targets[rows])
        value = penalty / 2 * float((weights**2).sum()) + float(losses.mean())
        return value, design[rows].T @ slopes / len(rows) + penalty * weights

    everything = np.arange(len(design))
    if fitting == "minimum":

        def flat(values: Array) -> tuple[float, Array]:
            value, gradient = objective(values.reshape(shape), everything)
            return value, gradient.ravel()

        options = {"maxiter": 10_000, "maxfun": 20_000, "gtol": 1e-6, "ftol": 0.0, "maxcor": 30}
        start = np.zeros(shape[0] * shape[1])
        solution = minimize(flat, start, jac=True, method="L-BFGS-B", options=options)
        return np.asarray(solution.x.reshape(shape))
    # Adam with the constants of section 3.1.
    rate, decay_1, decay_2, epsilon = 0.001, 0.9, 0.999, 1e-8
    batch = len(design) if fitting == FULL_BATCH else BATCH
    rng, steps = np.random.default_rng(0), 0
    weights, first, second = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for _ in range(epochs):
        order = rng.permutation(len(design))
        for start in range(0, len(order), batch):
            _, gradient = objective(weights, order[start : start + batch])
            steps += 1
            first = decay_1 * first + (1 - decay_1) * gradient
            second = decay_2 * second + (1 - decay_2) * gradient**2
            scale = np.sqrt(second / (1 - decay_2**steps)) + epsilon
            weights = weights - rate * first / (1 - decay_1**steps) / scale
    return weights


def _with_bias(features: Array) -> Array:
    return np.hstack([features, np.ones((len(features), 1))])


def predict(weights: Array, data: Data, activation: str) -> Array:
    """``[N, K]`` distributions."""
    return np.asarray(ACTIVATIONS[activation][0](_with_bias(data.features) @ weights))


def divergence(weights: Array, data: Data, activation: str) -> float:
    """Mean Jensen–Shannon divergence of targets and predictions."""
    distances = jensenshannon(data.targets, predict(weights, data, activation), axis=1)
    return float((distances**2).mean())


def cross_validate(
    data: Data, folds: Array, activation: str, penalty: float, fitting: str, epochs: int = EPOCHS
) -> tuple[float, float]:
    """The mean divergence on held-out folds, and half of its 95% interval."""
    found = []
    for fold in range(FOLDS):
        weights = fit(data.part(folds != fold), activation, penalty, fitting, epochs)
        found.append(divergence(weights, data.part(folds == fold), activation))
    mean, half = mean_and_half_width(found)
    return mean, half or 0.0


def measure(
    data: Data, test: Data | None, activation: str, penalty: float, fitting: str, split: list[int],
    examples: int | None = None, epochs: int = EPOCHS,
) -> dict[str, float]:  # fmt: skip
    """All measures of one model on one split; without a test set, a random tenth is it."""
    rng = np.random.default_rng(split)
    if test is None:
        parts = data.deal(TEST_PART, rng)
        data, test = data.part(parts > 0), data.part(parts == 0)
    if examples:
        data = data.part(rng.permutation(len(data.labels))[:examples])
    folds = data.deal(FOLDS, rng)
    measures = {"cv": cross_validate(data, folds, activation, penalty, fitting, epochs)[0]}
    weights = fit(data, activation, penalty, fitting, epochs)
    measures["test"] = divergence(weights, test, activation)
    if data.exclusive:
        wrong = predict(weights, test, activation).argmax(1) != test.labels.argmax(1)
        measures["error"] = 100 * float(wrong.mean())
    return measures


def by_penalty() -> Iterable[tuple[object, ...]]:
    """Figure 1 for Iris, after 100 epochs of Adam and at the minimum."""
    data = iris()
    folds = data.deal(FOLDS, np.random.default_rng(0))
    for fitting in FITTINGS:
        for name in ACTIVATIONS:
            for penalty in LAMBDAS:
                mean, half = cross_validate(data, folds, name, penalty, fitting)
                yield fitting, name, f"{penalty:g}", f"{mean:.4f}", f"{half:.4f}"


def by_batch(splits: int = 10) -> Iterable[tuple[object, ...]]:
    """Table 3 for Iris after 100 epochs: divergences and error rates, by the size of a batch."""
    penalty = load_table("report_table2").cells["softmax", "Iris", "lambda"].value
    for fitting in ("adam", FULL_BATCH):
        found = {
            name: pd.DataFrame(
                measure(iris(), None, name, penalty, fitting, [split, 0], 135)
                for split in range(splits)
            )
            for name in ACTIVATIONS
        }
        means = [found[name][key].mean() for key in ("test", "error") for name in ACTIVATIONS]
        same = found["softmax"]["error"] == found["sparsemax"]["error"]
        yield fitting, *(f"{mean:.4f}" for mean in means), int(same.sum()), splits


def like_iris(examples: int, seed: int) -> Data:
    """Normal features with the means and covariances of Iris's species."""
    data, rng = iris(), np.random.default_rng(seed)
    species = np.arange(examples) % 3
    features = np.empty((examples, data.features.shape[1]))
    for number in range(3):
        subset = data.features[data.labels[:, number]]
        features[species == number] = rng.multivariate_normal(
            subset.mean(axis=0), np.cov(subset.T), size=(species == number).sum()
        )
    return Data("like Iris", features, np.eye(3, dtype=bool)[species])


def by_size(splits: int = 10) -> Iterable[tuple[object, ...]]:
    """The test divergence of softmax less that of sparsemax (section 4).

    100 epochs on fewer examples are also fewer steps of Adam, so every size is fitted a second time
    with about as many steps as 135 examples take.
    """
    penalty = load_table("report_table2").cells["softmax", "Iris", "lambda"].value
    for name, sizes in (("Iris", (15, 30, 60, 135)), ("like Iris", (15, 135, 540))):
        for size in sizes:
            fittings = [("adam", EPOCHS), ("minimum", 0), ("adam", round(EPOCHS * 135 / size))]
            for fitting, epochs in dict.fromkeys(fittings):
                found: dict[str, list[float]] = {activation: [] for activation in ACTIVATIONS}
                for split in range(splits):
                    training, test, count = iris(), None, size
                    if name != "Iris":
                        training, test, count = (
                            like_iris(size, split),
                            like_iris(500, splits + split),
                            0,
                        )
                    for activation, values in found.items():
                        result = measure(
                            training, test, activation, penalty, fitting, [split, 0], count, epochs
                        )
                        values.append(result["test"])
                soft, sparse = map(np.array, found.values())
                gain, half = mean_and_half_width(soft - sparse)
                yield (
                    name, size, fitting, epochs or "",
                    *(f"{value:.4f}" for value in (soft.mean(), sparse.mean(), gain, half)),
                    int((sparse < soft).sum()), splits,
                )  # fmt: skip


def main() -> None:
    """Print our figures beside the printed ones, or write the sweeps."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="training set; default: Iris")
    parser.add_argument("--test", type=Path, help="its test set; default: a random tenth")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sweeps", type=Path, metavar="FOLDER", help="write sweeps over Iris")
    arguments = parser.parse_args()
    if arguments.sweeps:
        penalties = ["fitting", "activation", "lambda", "JS", "±"]
        sizes = ["data", "examples", "fitting", "epochs", "softmax JS", "sparsemax JS", "gain", "±",
                 "splits below", "splits"]  # fmt: skip
        batches = ["fitting", "softmax JS", "sparsemax JS", "softmax error", "sparsemax error",
                   "same error in", "splits"]  # fmt: skip
        for name, rows, columns in (
            ("batches", by_batch, batches),
            ("penalties", by_penalty, penalties),
            ("sizes", by_size, sizes),
        ):
            pd.DataFrame(rows(), columns=columns).to_csv(
                arguments.sweeps / f"{name}.csv", index=False
            )
        return
    read_in = read(*filter(None, (arguments.data, arguments.test))) if arguments.data else [iris()]
    data, test = [*read_in, None][:2]
    table = load_table("report_table2")
    known = next((name for name in table.datasets if name.lower() == data.name.lower()), None)
    found = []
    for activation, fitting, split in product(ACTIVATIONS, FITTINGS, range(arguments.splits)):
        penalty = table.cells[activation, known, "lambda"].value if known else LAMBDAS[0]
        values = measure(data, test, activation, penalty, fitting, [0, split])
        found.append({"activation": activation, "fitting": fitting, **values})
    means = pd.DataFrame(found).groupby(["activation", "fitting"]).agg(["mean", "std"])
    print(means.round(3).T.to_string())
    for (source, metric), activation in product(MEASURES, ACTIVATIONS):
        if cell := load_table(source).cells.get((activation, str(known), metric)):
            print(f"printed: {metric}, {activation}: {cell.text}")


if __name__ == "__main__":
    main()
