"""One training: Adam on examples that are drawn afresh, and a state that survives a kill.

The examples of a step come from seed and step, so a training that was killed goes on from its last
checkpoint to the same numbers as an unbroken one, on the same machine and threads.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from coverage_eval.data.files import write_lines
from coverage_eval.digits.accuracy import DigitsSettings, TrainedReader
from coverage_eval.digits.number_words import Examples, draw_examples
from coverage_eval.digits.reader import DigitReader
from coverage_eval.nmt.checkpoints import load_checkpoint, save_checkpoint

LOG, MODEL = "epochs.jsonl", "checkpoint.pt"
_LOGGED = 20
"""Steps between two lines of the log; each has a checkpoint."""
_AT_ONCE = 100


def train_reader(
    settings: DigitsSettings, attention: str, seed: int, folder: Path
) -> tuple[DigitReader, TrainedReader]:
    """Train, from the beginning or from where a killed training left off.

    Args:
        settings: Sizes.
        attention: The transformation.
        seed: Of parameters and examples.
        folder: Where ``checkpoint.pt`` and ``epochs.jsonl`` are kept.

    Returns:
        The model, and what is known of it.
    """
    model = _new_model(settings, attention, seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.rate)
    log = _restore(model, optimizer, folder)
    valid = validation_examples(settings)
    total = -(-settings.examples // settings.batch)
    done, before = (log[-1]["step"], log[-1]["seconds"]) if log else (0, 0.0)
    losses, started = [], time.monotonic() - before
    label = f"{attention}, seed {seed}"
    with tqdm(
        total=total, initial=done, desc=label, unit="batch", disable=None, leave=False
    ) as bar:
        for step in range(done + 1, total + 1):
            examples = _draw(settings, settings.batch, [1, seed, step])
            losses.append(_step(model, optimizer, examples, settings.clip))
            bar.update()
            if step % _LOGGED and step < total:
                continue
            log.append({
                "step": step,
                "examples": step * settings.batch,
                "loss": float(np.mean(losses)),
                "seconds": time.monotonic() - started,
                **_evaluate(model, valid),
            })  # fmt: skip
            losses.clear()
            _save(model, optimizer, log, folder)
            bar.set_postfix(loss=f"{log[-1]['loss']:.3f}", right=f"{log[-1]['symbols']:.1f} %")
    last = {name: log[-1][name] for name in ("symbols", "numbers", "attended")}
    signature = str(settings.sign(attention, seed))
    return model, TrainedReader(attention, seed, **last, signature=signature)


def _new_model(settings: DigitsSettings, attention: str, seed: int) -> DigitReader:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return DigitReader(attention, settings.size)


def validation_examples(settings: DigitsSettings) -> Examples:
    """The same for every training."""
    return _draw(settings, settings.valid, [0])


def _draw(settings: DigitsSettings, count: int, seed: list[int]) -> Examples:
    rng = np.random.default_rng(seed)
    return draw_examples(rng, count, shortest=settings.shortest, longest=settings.longest)


def _step(
    model: DigitReader, optimizer: torch.optim.Optimizer, examples: Examples, clip: float
) -> float:
    letters, symbols = map(torch.from_numpy, (examples.letters, examples.symbols))
    scores, _ = model(letters, symbols.shape[1])
    loss = torch.nn.functional.cross_entropy(
        scores.flatten(0, 1), symbols.flatten(), ignore_index=-1
    )
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return float(loss.detach())


def _evaluate(model: DigitReader, examples: Examples) -> dict[str, float]:
    """Percentages of symbols and numbers that are right, and letters attended a step."""
    right, counted, attended = [], [], []
    with torch.no_grad():
        for letters, symbols in _parts(examples):
            scores, attention = model(letters, symbols.shape[1])
            real = symbols >= 0
            right.append((scores.argmax(-1) == symbols) & real)
            counted.append(real)
            attended.append((attention > 0).sum(-1)[real])
    found, real = torch.cat(right), torch.cat(counted)
    return {
        "symbols": 100 * float(found.sum() / real.sum()),
        "numbers": 100 * float((found == real).all(1).double().mean()),
        "attended": float(torch.cat(attended).double().mean()),
    }


def _parts(examples: Examples) -> Iterator[tuple[Tensor, Tensor]]:
    for start in range(0, len(examples.numbers), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        yield torch.from_numpy(examples.letters[part]), torch.from_numpy(examples.symbols[part])


def _save(
    model: DigitReader, optimizer: torch.optim.Optimizer, log: list[dict[str, Any]], folder: Path
) -> None:
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    save_checkpoint(folder / MODEL, {**states, "log": log})
    write_lines(folder / LOG, map(json.dumps, log))


def _restore(
    model: DigitReader, optimizer: torch.optim.Optimizer, folder: Path
) -> list[dict[str, Any]]:
    """Parameters and the log of a training that was begun; an empty log if none was."""
    if not (folder / MODEL).exists():
        return []
    content = load_checkpoint(folder / MODEL)
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    log: list[dict[str, Any]] = content["log"]
    return log
