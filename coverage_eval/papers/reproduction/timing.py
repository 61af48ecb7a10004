"""Table 4 of Madsen et al. 2017 again: how much more sparsemax costs than softmax.

Both losses, forward and backward, are timed on random scores with several numbers of classes, and,
as in the table, in 100 epochs of regression on data sets, each epoch one step on all examples.
Seconds depend on the machine; only the ratio of the two losses can be compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention.losses import cross_entropy_and_gradient, sparsemax_loss_and_gradient
from coverage_eval.metrics.score import Signature
from coverage_eval.papers.printed import load_table, mean_and_half_width
from coverage_eval.papers.reproduction.multilabel import LabelledData
from coverage_eval.tables.table import Printable, Table

Array = NDArray[Any]
Work = Callable[[], object]

CLASSES = (3, 6, 10, 174, 1000)
"""The numbers of classes of the report's data sets, and 1,000."""
LOSSES = ("softmax", "sparsemax")
GPU = "PyTorch, GPU"
EPOCHS, RATE = 100, 0.01
_RESAMPLES = 10_000


@dataclass(frozen=True)
class Timing:
    """The time that one implementation takes.

    Attributes:
        data: ``random``, or the data set.
        examples: Rows.
        classes: Columns.
        implementation: NumPy, PyTorch, or PyTorch on a GPU.
        seconds: Loss → seconds of each repetition.
    """

    data: str
    examples: int
    classes: int
    implementation: str
    seconds: dict[str, Array]

    @property
    def ratio(self) -> tuple[float, float, float]:
        """Sparsemax over softmax, with its interval (:func:`ratio_of_turns`)."""
        return ratio_of_turns(self.seconds["sparsemax"], self.seconds["softmax"])


@dataclass(frozen=True)
class TimingReproduction:
    """All timings.

    Attributes:
        timings: One for each data set and implementation.
        repeats: Turns, each with one measurement of both losses.
    """

    timings: tuple[Timing, ...]
    repeats: int

    header = (
        "data", "examples", "classes", "implementation", "softmax, ms", "softmax, ±",
        "sparsemax, ms", "sparsemax, ±", "ratio", "low", "high", "printed ratio, CPU",
    )  # fmt: skip

    def rows(self) -> list[list[str | int | float | None]]:
        """A row per timing: mean, half the 95% interval, and the ratio with its interval."""
        table = load_table("report_table4")
        printed = {
            dataset.lower(): table.value("sparsemax TF CPU", dataset, "seconds")
            / table.value("softmax TF", dataset, "seconds")
            for dataset in table.datasets
        }
        return [
            [
                timing.data,
                timing.examples,
                timing.classes,
                timing.implementation,
                *mean_and_half_width(1e3 * timing.seconds["softmax"]),
                *mean_and_half_width(1e3 * timing.seconds["sparsemax"]),
                *timing.ratio,
                printed.get(timing.data.lower()),
            ]
            for timing in self.timings
        ]

    def signatures(self) -> list[str]:
        """A signature for each row: the data, versions and threads."""
        signed = []
        for timing in self.timings:
            versions: dict[str, object] = {"numpy": version("numpy")}
            if timing.implementation.startswith("PyTorch"):
                import torch

                versions = {"torch": version("torch"), "threads": torch.get_num_threads()}
            signature = Signature.of(
                "timing",
                data=timing.data,
                examples=timing.examples,
                classes=timing.classes,
                **versions,
                repeats=self.repeats,
            )
            signed.append(str(signature))
        return signed

    def present(self) -> Printable:
        """One row for each data set and implementation."""
        rows = tuple(map(tuple, self.rows()))
        notes, signatures = tuple(self.notes()), tuple(self.signatures())
        return Printable((Table(self.header, rows, notes=notes, signatures=signatures),))

    def notes(self) -> list[str]:
        """How to read the figures."""
        citation = load_table("report_table4").citation
        return [
            "random: one evaluation of the loss and its gradient for the scores. Data sets: "
            f"{EPOCHS} epochs of regression, each one step on all examples.",
            "Milliseconds of processor time, summed over threads; on a GPU, wall-clock time. ±: "
            f"half the 95% interval over {self.repeats} turns.",
            "Ratio: sparsemax over softmax within a turn, median over turns; low and high: its 95% "
            "bootstrap interval.",
            f"Printed ratio, CPU: sparsemax TF CPU over softmax TF in {citation}.",
        ]


def ratio_of_turns(seconds: ArrayLike, base: ArrayLike) -> tuple[float, float, float]:
    """How many times as long one thing takes as another that was measured in the same turns.

    >>> ratio_of_turns([2.0, 2.2, 6.0], [1.0, 1.0, 2.0])
    (2.2, 2.0, 3.0)

    Args:
        seconds: ``[turns]`` seconds of the one.
        base: ``[turns]`` seconds of the other.

    Returns:
        The median of the turns' ratios, and both ends of its 95% bootstrap interval over turns.
    """
    ratios = np.asarray(seconds, dtype=np.float64) / np.asarray(base, dtype=np.float64)
    drawn = np.random.default_rng(0).choice(ratios, (_RESAMPLES, len(ratios)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    return float(np.median(ratios)), float(low), float(high)


def reproduce_timing(
    *,
    classes: Sequence[int] = CLASSES,
    examples: int = 1000,
    data: Sequence[LabelledData] = (),
    repeats: int = 5,
) -> TimingReproduction:
    """Measure both losses in NumPy, and in PyTorch if it is installed.

    Args:
        classes: Numbers of classes of random scores.
        examples: Rows of random scores.
        data: Data sets.
        repeats: Repetitions of each measurement.
    """
    timings = []
    for number in classes:
        rng = np.random.default_rng(number)
        scores = rng.normal(size=(examples, number))
        targets = np.eye(number)[rng.integers(number, size=examples)]
        works = _works(lambda loss, *arrays: loss(*arrays), _evaluate_in_torch, scores, targets)
        for name, by_loss in works.items():
            seconds = _measure(by_loss, repeats, _clock(name))
            timings.append(Timing("random", examples, number, name, seconds))
    for item in data:
        works = _works(fit_in_numpy, fit_in_torch, item.features, item.targets)
        for name, by_loss in works.items():
            seconds = _measure(by_loss, repeats, _clock(name))
            timings.append(Timing(item.name, len(item.labels), len(item.classes), name, seconds))
    return TimingReproduction(tuple(timings), repeats)


def _works(
    in_numpy: Callable[..., object], in_torch: Callable[..., object], one: Array, targets: Array
) -> dict[str, dict[str, Work]]:
    """Implementation → loss → the timed call."""
    losses = dict(
        zip(LOSSES, (cross_entropy_and_gradient, sparsemax_loss_and_gradient), strict=True)
    )
    works: dict[str, dict[str, Work]] = {
        "NumPy": {name: partial(in_numpy, loss, one, targets) for name, loss in losses.items()}
    }
    if find_spec("torch") is None:
        return works
    import torch

    from coverage_eval.torch import sparsemax_loss

    cross_entropy = partial(torch.nn.functional.cross_entropy, reduction="none")
    for device in ("cpu", *["cuda"] * torch.cuda.is_available()):
        tensors = [torch.tensor(a, dtype=torch.float32, device=device) for a in (one, targets)]
        works["PyTorch, CPU" if device == "cpu" else GPU] = {
            name: partial(in_torch, loss, *tensors)
            for name, loss in zip(LOSSES, (cross_entropy, sparsemax_loss), strict=True)
        }
    return works


def _evaluate_in_torch(loss: Callable[..., Any], scores: Any, targets: Any) -> object:
    z = scores.detach().requires_grad_()
    loss(z, targets).sum().backward()
    return float(z.grad[0, 0])  # waits for the device


def fit_in_numpy(loss: Callable[..., Any], x: Array, targets: Array) -> object:
    """The weights ``[features, classes]`` after some epochs of gradient descent."""
    weight = np.zeros((x.shape[1], targets.shape[1]))
    for _ in range(EPOCHS):
        _, gradient = loss(x @ weight, targets)
        weight -= RATE / len(x) * (x.T @ gradient)
    return weight


def fit_in_torch(loss: Callable[..., Any], x: Any, targets: Any) -> object:
    """The same weights, by PyTorch."""
    weight = x.new_zeros(x.shape[1], targets.shape[1]).requires_grad_()
    for _ in range(EPOCHS):
        loss(x @ weight, targets).mean().backward()
        weight.data -= RATE * weight.grad
        weight.grad = None
    return float(weight.detach()[0, 0])


def _measure(works: dict[str, Work], repeats: int, clock: Callable[[], float]) -> dict[str, Array]:
    """Seconds of each, measured in turns, so that a busy machine slows all; short calls repeat."""
    calls = {}
    for name, work in works.items():
        work()
        start = clock()
        work()
        calls[name] = max(1, int(0.02 / max(clock() - start, 1e-7)))
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            start = clock()
            for _ in range(calls[name]):
                work()
            seconds[name].append((clock() - start) / calls[name])
    return {name: np.array(values) for name, values in seconds.items()}


def _clock(implementation: str) -> Callable[[], float]:
    """Processor time, which other processes do not add to; on a GPU, wall-clock time."""
    return time.perf_counter if implementation == GPU else time.process_time
