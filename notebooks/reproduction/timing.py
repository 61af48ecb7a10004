"""Seconds of softmax's and sparsemax's losses (Madsen et al. 2017, Table 4), and of training steps.

    OMP_NUM_THREADS=1 python notebooks/reproduction/timing.py -o timing --turns 20

Both losses, forward and backward, are timed on random scores with several numbers of classes, and,
as in the table, in 100 epochs of regression on Iris, each epoch one step on all examples. A
training step has a batch of 64 sentences of 14 pieces (Malaviya et al. 2018, section 5). Seconds
depend on the machine; only ratios within a turn can be compared.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from corpus import PieceText, Vocabulary, make_minibatches
from model import Translator, translation_loss
from numpy.typing import NDArray
from regression import iris
from systems import Settings, find_systems, ratio_of_turns

from coverage_eval.attention.losses import cross_entropy_and_gradient, sparsemax_loss_and_gradient
from coverage_eval.core.tokenizers import SINK
from coverage_eval.papers.printed import load_table
from coverage_eval.torch import sparsemax_loss

Array = NDArray[Any]
CLASSES = (3, 6, 10, 174, 1000)  # of the report's data sets, and 1,000
EPOCHS, RATE = 100, 0.01
# Hidden units, of which the paper's models have 500, and pieces of each vocabulary.
SIZES = ((256, 8000), (128, 500))
SENTENCES, PIECES = 64, 14
NUMPY_LOSSES = (cross_entropy_and_gradient, sparsemax_loss_and_gradient)
TORCH_LOSSES = (partial(torch.nn.functional.cross_entropy, reduction="none"), sparsemax_loss)


def in_turns(works: dict[str, Callable[[], object]], turns: int) -> dict[str, list[float]]:
    """Processor seconds of each; a busy machine slows all alike, and short calls repeat."""
    calls = {}
    for name, work in works.items():
        work()
        start = time.process_time()
        work()
        calls[name] = max(1, int(0.02 / max(time.process_time() - start, 1e-7)))
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(turns):
        for name, work in works.items():
            start = time.process_time()
            for _ in range(calls[name]):
                work()
            seconds[name].append((time.process_time() - start) / calls[name])
    return seconds


def _evaluate_in_torch(loss: Callable[..., Any], scores: Any, targets: Any) -> object:
    z = scores.detach().requires_grad_()
    loss(z, targets).sum().backward()
    return float(z.grad[0, 0])


def _fit_in_numpy(loss: Callable[..., Any], x: Array, targets: Array) -> object:
    weight = np.zeros((x.shape[1], targets.shape[1]))
    for _ in range(EPOCHS):
        _, gradient = loss(x @ weight, targets)
        weight -= RATE / len(x) * (x.T @ gradient)
    return weight


def _fit_in_torch(loss: Callable[..., Any], x: Any, targets: Any) -> object:
    weight = x.new_zeros(x.shape[1], targets.shape[1]).requires_grad_()
    for _ in range(EPOCHS):
        loss(x @ weight, targets).mean().backward()
        weight.data -= RATE * weight.grad
        weight.grad = None
    return float(weight.detach()[0, 0])


def losses(turns: int) -> Iterable[tuple[object, ...]]:
    """Milliseconds of both losses and their ratio, a row for each data set and library."""
    table = load_table("report_table4")
    seconds = [table.value(row, "Iris", "seconds") for row in ("sparsemax TF CPU", "softmax TF")]
    sets: list[tuple[str, Array, Array, Any, Any, object]] = []
    for classes in CLASSES:
        rng = np.random.default_rng(classes)
        scores, labels = rng.normal(size=(1000, classes)), rng.integers(classes, size=1000)
        in_numpy = lambda loss, *arrays: loss(*arrays)  # noqa: E731
        sets.append(("random", scores, np.eye(classes)[labels], in_numpy, _evaluate_in_torch, ""))
    printed = seconds[0] / seconds[1]
    flowers = iris()
    sets.append(("Iris", flowers.features, flowers.targets, _fit_in_numpy, _fit_in_torch, printed))
    for name, x, targets, in_numpy, in_torch, shown in sets:
        tensors = [torch.tensor(array, dtype=torch.float32) for array in (x, targets)]
        for library, call, both, arrays in (
            ("NumPy", in_numpy, NUMPY_LOSSES, (x, targets)),
            ("PyTorch, CPU", in_torch, TORCH_LOSSES, tensors),
        ):
            works = {
                loss: partial(call, function, *arrays)
                for loss, function in zip(("softmax", "sparsemax"), both)
            }
            found = in_turns(works, turns)
            ratio = ratio_of_turns(found["sparsemax"], found["softmax"])
            means = [1e3 * float(np.mean(times)) for times in found.values()]
            yield name, len(x), targets.shape[1], library, *means, *ratio, shown


def training_steps(turns: int) -> Iterable[tuple[object, ...]]:
    """Seconds of a step of each attention in each turn."""
    torch.set_num_threads(1)
    for hidden, pieces in SIZES:
        vocabulary = Vocabulary([SINK, *map(str, range(pieces - 5))])
        chosen = random.Random(0)  # noqa: S311
        sides = [
            [tuple(chosen.choices(vocabulary.pieces[5:], k=PIECES)) for _ in range(SENTENCES)]
            for _ in range(2)
        ]
        text = PieceText([(*source, SINK) for source in sides[0]], sides[1])
        bounds = np.random.default_rng(0).uniform(1, 3, (SENTENCES, PIECES))
        rows = [np.append(row, np.inf) for row in bounds]
        (batch,) = make_minibatches(text, vocabulary, vocabulary, rows, size=SENTENCES)
        settings = Settings(hidden, hidden, dropout=0.2)
        works = {}
        for system in find_systems("table1"):
            if system.penalized:
                continue  # the same model
            torch.manual_seed(0)
            model = Translator(settings, system, len(vocabulary), len(vocabulary))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

            def step(
                model: Translator = model, optimizer: Any = optimizer, batch: Any = batch
            ) -> None:
                loss, _ = translation_loss(model, batch)
                optimizer.zero_grad(set_to_none=True)
                (loss / SENTENCES).backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()

            works[system.name] = step
        for name, seconds in in_turns(works, turns).items():
            for turn, duration in enumerate(seconds, 1):
                yield hidden, pieces, name, turn, f"{duration:.6f}"


def main() -> None:
    """Write both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder")
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    header = ("data", "examples", "classes", "implementation", "softmax, ms", "sparsemax, ms",
              "ratio", "low", "high", "printed ratio, CPU")  # fmt: skip
    steps = ("hidden", "vocabulary", "system", "turn", "seconds")
    tables = {"timing": (header, losses), "training_step": (steps, training_steps)}
    for name, (columns, rows) in tables.items():
        table = pd.DataFrame(rows(arguments.turns), columns=columns)
        table.to_csv(arguments.output / f"{name}.csv", index=False)


if __name__ == "__main__":
    main()
