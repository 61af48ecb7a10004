"""Time of the transformations for PyTorch, forward and backward, and of whole training steps.

Run by ``make bench`` or ``python tests/bench/bench_torch.py``. Each figure has a baseline in the
same run: PyTorch's softmax, ``entmax.sparsemax``, our own function called row by row and, for one
bound for all positions, ``deepdow``'s allocators, whose values are also compared. The two packages
are used only if they are installed. If there is a GPU, it is measured too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import torch

from coverage_eval.torch import (
    BilinearScorer,
    ConstrainedAttention,
    constrained_softmax,
    constrained_sparsemax,
    softmax,
    sparsemax,
)

Tensor = torch.Tensor
SHAPES = [(640, 30), (64, 20, 30)]
DEVICES = ["cpu", *["cuda"] * torch.cuda.is_available()]
SENTENCES, WORDS = 64, 14
SIZES = [(128, 500), (256, 8000)]  # hidden, vocabulary


def seconds(work: Callable[[], object], device: str) -> float:
    """The least time of one call."""
    if device == "cpu":  # processor time, in one thread: other processes do not count
        start = time.process_time()
        work()
        return time.process_time() - start
    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def side_by_side(
    works: dict[str, Callable[[], object]], device: str, rounds: int
) -> dict[str, float]:
    """The least time of each, taken in turns, because a busy machine slows all of them."""
    for work in works.values():
        work()
    taken = [{name: seconds(work, device) for name, work in works.items()} for _ in range(rounds)]
    return {name: min(times[name] for times in taken) for name in works}


def problem(shape: tuple[int, ...], device: str) -> tuple[Tensor, Tensor, Tensor]:
    """Scores, credit as in decoding with a final sink, and a gradient for the attention."""
    generator = torch.Generator().manual_seed(0)
    z = 2 * torch.randn(shape, generator=generator)
    u = torch.randint(1, 4, shape, generator=generator) - 3 * torch.rand(shape, generator=generator)
    u[..., -1] = torch.inf
    d_alpha = torch.randn(shape, generator=generator)
    return z.to(device), u.clamp(min=0).to(device), d_alpha.to(device)


def forward_and_backward(function: Callable[..., Tensor], d_alpha: Tensor, *given: Tensor) -> None:
    leaves = [tensor.detach().requires_grad_() for tensor in given]
    function(*leaves).backward(d_alpha)


def row_by_row(function: Callable[..., Tensor], *given: Tensor) -> Tensor:
    rows = zip(*(tensor.flatten(0, -2) for tensor in given), strict=True)
    return torch.stack([function(*row) for row in rows]).view_as(given[0])


def installed(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        print(f"{package} is not installed: no comparison with it")
        return None


def transformations(shape: tuple[int, ...], device: str) -> None:
    z, u, d_alpha = problem(shape, device)
    calls: dict[str, tuple[Any, ...]] = {
        "softmax": (softmax, d_alpha, z),
        "sparsemax": (sparsemax, d_alpha, z),
        "constrained_softmax": (constrained_softmax, d_alpha, z, u),
        "constrained_sparsemax": (constrained_sparsemax, d_alpha, z, u),
    }
    if entmax := installed("entmax"):
        calls["entmax.sparsemax"] = (partial(entmax.sparsemax, dim=-1), d_alpha, z)
    works = {name: partial(forward_and_backward, *call) for name, call in calls.items()}
    times = side_by_side(works, device, rounds=40)
    for name in list(calls)[2:4]:
        function, *rest = calls[name]
        works = {name: partial(forward_and_backward, partial(row_by_row, function), *rest)}
        times[f"{name}, row by row"] = side_by_side(works, device, rounds=2)[name]
    print(f"\nforward and backward, {' x '.join(map(str, shape))}, {device}")
    for name, taken in times.items():
        print(f"  {name:<36} {1e3 * taken:9.2f} ms {taken / times['softmax']:9.1f} x softmax")


def against_deepdow(rows: int = 64, positions: int = 30, bound: float = 0.2) -> None:
    """One bound for all positions, as in deepdow, which runs a convex solver for each row."""
    layers = installed("deepdow.layers")
    if layers is None:
        return
    z, _, d_alpha = problem((rows, positions), "cpu")
    z, d_alpha = z.double(), d_alpha.double()
    print(f"\none bound of {bound} for all positions, {rows} x {positions}, cpu")
    soft = partial(layers.SoftmaxAllocator, formulation="variational", n_assets=positions)
    sparse = partial(layers.SparsemaxAllocator, positions)
    for name, ours, allocator in (
        ("softmax", constrained_softmax, soft),
        ("sparsemax", constrained_sparsemax, sparse),
    ):
        solver = allocator(max_weight=bound).double()
        # By default their solver stops early, and may exceed bounds by a hundredth.
        exact = solver.layer(z, solver_args={"eps": 1e-10})[0]
        difference = (exact - ours(z, bound)).abs().max().item()
        assert difference < 1e-6
        works = {
            "ours": partial(forward_and_backward, lambda z, f=ours: f(z, bound), d_alpha, z),
            "theirs": partial(forward_and_backward, solver, d_alpha, z),
        }
        times = side_by_side(works, "cpu", rounds=3)
        print(
            f"  constrained_{name:<10} {1e3 * times['ours']:.2f} ms, deepdow "
            f"{1e3 * times['theirs']:.1f} ms, {times['theirs'] / times['ours']:.0f} times ours; "
            f"values differ by {difference:.1e} if their solver runs to the end"
        )


class Decoder(torch.nn.Module):
    """A layer of LSTM cells, bilinear attention, and word scores for the whole batch."""

    def __init__(self, transformation: str, hidden: int, vocabulary: int) -> None:
        super().__init__()
        self.cell = torch.nn.LSTMCell(2 * hidden, hidden)
        scorer = BilinearScorer(hidden, hidden)
        self.attention = ConstrainedAttention(scorer, transformation, sink=True)
        self.out = torch.nn.Linear(2 * hidden, hidden)
        self.generator = torch.nn.Linear(hidden, vocabulary)

    def forward(self, words: Tensor, memory: Tensor) -> Tensor:
        bounded = self.attention.transformation.startswith("constrained")
        source = self.attention.source(memory, fertilities=1.5 if bounded else None)
        cumulative, fed, state = self.attention.start(source), torch.zeros_like(words[0]), None
        outputs = []
        for word in words:
            state = self.cell(torch.cat([word, fed], -1), state)
            context, _, cumulative = self.attention(state[0], source, cumulative)
            fed = torch.tanh(self.out(torch.cat([context, state[0]], -1)))
            outputs.append(fed)
        return self.generator(torch.stack(outputs))


def training_steps(device: str, hidden: int, vocabulary: int, rounds: int) -> None:
    torch.manual_seed(0)
    words = torch.randn(WORDS, SENTENCES, hidden, device=device)
    memory = torch.randn(SENTENCES, WORDS, hidden, device=device)
    gold = torch.randint(vocabulary, (WORDS, SENTENCES), device=device)
    works = {}
    for name in ("softmax", "sparsemax", "csoftmax", "csparsemax"):
        decoder = Decoder(name, hidden, vocabulary).to(device)
        optimizer = torch.optim.SGD(decoder.parameters(), lr=0.1)

        def step(decoder: Decoder = decoder, optimizer: torch.optim.SGD = optimizer) -> None:
            optimizer.zero_grad()
            logits = decoder(words, memory)
            torch.nn.functional.cross_entropy(logits.flatten(0, 1), gold.flatten()).backward()
            optimizer.step()

        works[name] = step
    times = side_by_side(works, device, rounds)
    print(
        f"\ntraining step of a decoder, {SENTENCES} sentences of {WORDS} words, hidden {hidden}, "
        f"vocabulary {vocabulary}, {device}"
    )
    for name, taken in times.items():
        ratio = taken / times["softmax"]
        print(f"  {name:<36} {1e3 * taken:9.1f} ms {ratio:9.2f} x softmax   (<= 1.15 wanted)")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for device in DEVICES:
        for shape in SHAPES:
            transformations(shape, device)
        for hidden, vocabulary in SIZES:
            # The fastest of many short steps shows what a step takes on an idle machine.
            training_steps(device, hidden, vocabulary, rounds=15 if vocabulary > 1000 else 60)
    against_deepdow()
