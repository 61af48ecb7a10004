"""Training: SGD with a halving rate, early stopping, and a state that survives a kill.

The run's seed, the epoch and the batch seed the dropout of each batch; seed and epoch determine the
order of batches. So a killed run continues from its last checkpoint to the same numbers as an
unbroken one, on the same machine with the same number of threads.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from coverage_eval.data.files import atomic_path, write_lines
from coverage_eval.errors import DataError
from coverage_eval.papers.reproduction.bitext import Minibatch
from coverage_eval.papers.reproduction.run_folder import EPOCHS, Preset

CHECKPOINT, BEST = "checkpoint.pt", "best.pt"
_SECONDS_BETWEEN = 300.0
"""Seconds between two checkpoints within an epoch; there is also one after each epoch."""


def save_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Write a checkpoint; if the process is killed, the old one or the new one is there.

    Args:
        path: The file.
        content: Tensors, numbers, strings, and lists and dictionaries of them.
    """
    with atomic_path(path) as temporary:
        torch.save(content, temporary)


def load_checkpoint(path: Path, device: torch.device | None = None) -> dict[str, Any]:
    """Read a checkpoint; only tensors and plain values are unpickled.

    Raises:
        DataError: There is no such file, or it is damaged.
    """
    try:
        content: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except Exception as error:  # torch's error depends on which bytes are wrong
        raise DataError(f"{path}: not a readable checkpoint; delete it to start again") from error
    return content


Objective: TypeAlias = Callable[[Minibatch], tuple[Tensor, int]]
"""Returns the summed loss of a batch's words, which is minimised, and their number."""


@dataclass
class TrainingState:
    """The progress of a training.

    Attributes:
        rate: Learning rate of the current epoch.
        epoch: The current epoch, from 1.
        batch: Its finished batches.
        halving: Whether the rate is halved after every epoch from now on.
        loss: Its summed loss so far.
        words: Its words so far.
        seconds: The time spent on them.
        epochs: A record of each finished epoch, as in ``epochs.jsonl``.
        finished: Whether the last epoch is over, or patience has run out.
    """

    rate: float
    epoch: int = 1
    batch: int = 0
    halving: bool = False
    loss: float = 0.0
    words: int = 0
    seconds: float = 0.0
    epochs: list[dict[str, Any]] = field(default_factory=list)
    finished: bool = False

    @property
    def best(self) -> dict[str, Any]:
        """The first epoch with the lowest validation perplexity."""
        return min(self.epochs, key=lambda record: float(record["valid_perplexity"]))


def train(
    model: nn.Module,
    objective: Objective,
    batches: Sequence[Minibatch],
    valid: Sequence[Minibatch],
    preset: Preset,
    folder: Path,
    *,
    seed: int,
    label: str = "training",
) -> TrainingState:
    """Train to the end, from the beginning or from the last checkpoint.

    Args:
        model: The model with its initial parameters; in the end it has those of the best epoch.
        objective: The loss of a batch under the model.
        batches: The training text.
        valid: The validation text.
        preset: Rate, epochs and so on.
        folder: The folder of ``checkpoint.pt``, ``best.pt`` and ``epochs.jsonl``.
        seed: Seed of order and dropout.
        label: Text before the progress bar.

    Raises:
        DataError: A loss is not finite, or the checkpoint is damaged.
    """
    state = TrainingState(preset.rate)
    if (folder / CHECKPOINT).exists():
        content = load_checkpoint(folder / CHECKPOINT, _device(model))
        model.load_state_dict(content["model"])
        state = TrainingState(**content["state"])
    while not state.finished:
        _train_epoch(model, objective, batches, preset, state, folder, seed, label)
        perplexity = _perplexity(model, objective, valid)
        _end_epoch(state, perplexity, preset, label)
        _log_epoch(state.epochs[-1], preset, label)
        if state.best["epoch"] == state.epoch - 1:
            save_checkpoint(folder / BEST, {"model": model.state_dict()})
        write_lines(folder / EPOCHS, map(json.dumps, state.epochs))
        _save(model, state, folder)  # last: with it, the epoch is over
    model.load_state_dict(load_checkpoint(folder / BEST, _device(model))["model"])
    model.eval()
    return state


def _save(model: nn.Module, state: TrainingState, folder: Path) -> None:
    save_checkpoint(folder / CHECKPOINT, {"model": model.state_dict(), "state": asdict(state)})


def _train_epoch(
    model: nn.Module,
    objective: Objective,
    batches: Sequence[Minibatch],
    preset: Preset,
    state: TrainingState,
    folder: Path,
    seed: int,
    label: str,
) -> None:
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=state.rate)
    order = np.random.default_rng([seed, state.epoch]).permutation(len(batches))
    device = _device(model)
    saved = started = time.monotonic()
    before = state.seconds
    with tqdm(
        total=len(batches), initial=state.batch, desc=f"{label}: epoch {state.epoch}",
        unit="batch", disable=None, leave=False,
    ) as bar:  # fmt: skip
        for place in range(state.batch, len(batches)):
            sequence = np.random.SeedSequence([seed, state.epoch, place])
            (chance,) = sequence.generate_state(1, np.uint64)
            torch.manual_seed(int(chance) >> 1)  # torch wants 63 bits
            batch = batches[order[place]].to(device)
            loss, words = objective(batch)
            optimizer.zero_grad(set_to_none=True)
            (loss / len(batch.rows)).backward()
            nn.utils.clip_grad_norm_(model.parameters(), preset.clip)
            optimizer.step()
            state.loss += loss.item()
            state.words += words
            state.batch = place + 1
            now = time.monotonic()
            state.seconds = before + now - started
            bar.update()
            bar.set_postfix(
                {
                    "loss": f"{state.loss / state.words:.3f}",
                    "words/s": f"{state.words / max(state.seconds, 1e-9):.0f}",
                },
                refresh=False,
            )
            if now - saved > _SECONDS_BETWEEN:
                saved = now
                _save(model, state, folder)


def _perplexity(model: nn.Module, objective: Objective, batches: Sequence[Minibatch]) -> float:
    model.eval()
    device = _device(model)
    total, count = 0.0, 0
    with torch.no_grad():
        for batch in batches:
            loss, words = objective(batch.to(device))
            total += loss.item()
            count += words
    return _exp(total / count)


def _end_epoch(state: TrainingState, perplexity: float, preset: Preset, label: str) -> None:
    """Record the epoch, and set the next one's rate as the authors' toolkit does."""
    mean = state.loss / state.words
    if not (math.isfinite(mean) and math.isfinite(perplexity)):
        raise DataError(
            f"{label}: the loss of epoch {state.epoch} is not finite; try a lower learning rate"
        )
    last = state.epochs[-1]["valid_perplexity"] if state.epochs else math.inf
    state.epochs.append({
        "epoch": state.epoch,
        "rate": state.rate,
        "train_perplexity": _exp(mean),
        "valid_perplexity": perplexity,
        "words": state.words,
        "seconds": round(state.seconds, 3),
        "words_per_second": round(state.words / max(state.seconds, 1e-9), 1),
    })  # fmt: skip
    state.halving |= perplexity > last or state.epoch >= preset.halve_from
    if state.halving:
        state.rate /= 2
    waited = state.epoch - state.best["epoch"]
    state.finished = state.epoch >= preset.epochs or waited >= preset.patience
    state.epoch += 1
    state.batch, state.loss, state.words, state.seconds = 0, 0.0, 0, 0.0


def _log_epoch(record: dict[str, Any], preset: Preset, label: str) -> None:
    """Write a line of the epoch where no bar shows the progress, such as into a log."""
    if sys.stderr is None or sys.stderr.isatty():
        return
    sys.stderr.write(
        f"{label}: epoch {record['epoch']} of at most {preset.epochs}, perplexity "
        f"{record['train_perplexity']:.2f}, of the validation text "
        f"{record['valid_perplexity']:.2f}, {record['seconds']:.0f} s\n"
    )
    sys.stderr.flush()


def _exp(mean: float) -> float:
    return math.exp(mean) if mean < 700 else math.inf


def _device(model: nn.Module) -> torch.device:
    device: torch.device = next(model.parameters()).device
    return device
