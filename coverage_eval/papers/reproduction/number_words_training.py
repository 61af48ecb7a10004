r"""Training for the number-words task: the model of Madsen et al. 2017, eq. 12, and a run's folder.

A GRU reads the letters. A second GRU writes the symbols; its input at each step is only the context
:math:`c_i = \sum_t \alpha_{it} h_t`, not its last symbol. Its first state is the encoder's last
state, which the report does not specify.

The folder::

    RUN/manifest.json              settings, commands, versions and threads
    RUN/ATTENTION/seed-N/          epochs.jsonl and checkpoint.pt
    RUN/ATTENTION/seed-N.json      the results of a finished training
    RUN/ATTENTION.attention.jsonl  attention for a few validation examples, of the first seed
    RUN/digits.csv                 accuracy of each training with its signature

Seed and step determine the examples of a step, so a killed training continues from its last
checkpoint to the same numbers as an unbroken one, on the same machine with the same number of
threads. A finished training is never repeated, so seeds can be added later.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from coverage_eval.attention_maps.formats.native import save
from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.data.files import atomic_write, write_lines
from coverage_eval.errors import DataError
from coverage_eval.papers.reproduction.number_words import (
    ATTENTIONS,
    LETTERS,
    SYMBOLS,
    DigitsResult,
    DigitsSettings,
    Examples,
    TrainedReader,
    spell,
)
from coverage_eval.papers.reproduction.run_folder import open_manifest, read_record, write_record
from coverage_eval.papers.reproduction.training import load_checkpoint, save_checkpoint
from coverage_eval.tables.csv_rows import csv_record
from coverage_eval.torch import AdditiveScorer, ConstrainedAttention, sparsemax_loss

_LOG, _MODEL = "epochs.jsonl", "checkpoint.pt"
_LOGGED = 20
"""Steps between two lines of the log, each with a checkpoint."""
_AT_ONCE = 100
_SHOWN = 4
"""Number of examples whose attention is kept."""


class DigitReader(nn.Module):
    """The model: letters in, scores of symbols and attention out.

    Args:
        transformation: The attention's: ``softmax`` or ``sparsemax``.
        size: Size of embeddings, states and the attention's layer.
    """

    def __init__(self, transformation: str, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS) + 1, size)
        self.encoder = nn.GRU(size, size, batch_first=True)
        self.attention = ConstrainedAttention(
            AdditiveScorer(size, size, size, bias=False), transformation
        )
        self.decoder = nn.GRUCell(size, size)
        self.out = nn.Linear(size, len(SYMBOLS))
        for name, parameter in self.named_parameters():  # section 3.3
            if "bias" in name:
                nn.init.zeros_(parameter)
            else:
                nn.init.trunc_normal_(parameter, std=0.1, a=-0.2, b=0.2)

    def forward(self, letters: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """Read and write.

        Args:
            letters: ``[B, S]`` numbered letters, 0 at padding.
            steps: T, the number of symbols to write.

        Returns:
            ``[B, T, 11]`` scores of symbols, and ``[B, T, S]`` attention.
        """
        memory, _ = self.encoder(self.embedding(letters))
        mask = letters > 0
        last = mask.sum(1) - 1
        state = memory[torch.arange(len(letters), device=letters.device), last]
        source = self.attention.source(memory, mask=mask)
        cumulative = self.attention.start(source)
        states, attention = [], []
        for _ in range(steps):
            context, alpha, cumulative = self.attention(state, source, cumulative)
            state = self.decoder(context, state)
            states.append(state)
            attention.append(alpha)
        return self.out(torch.stack(states, 1)), torch.stack(attention, 1)


def train_reader(
    settings: DigitsSettings, attention: str, seed: int, folder: Path
) -> tuple[DigitReader, TrainedReader]:
    """Train with Adam, from the beginning or from the last checkpoint.

    Args:
        settings: Settings of the training.
        attention: The transformation.
        seed: Seed of parameters and examples.
        folder: The folder of ``checkpoint.pt`` and ``epochs.jsonl``.

    Returns:
        The model and its results.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = DigitReader(attention, settings.size)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.rate)
    log: list[dict[str, Any]] = []
    if (folder / _MODEL).exists():
        content = load_checkpoint(folder / _MODEL)
        model.load_state_dict(content["model"])
        optimizer.load_state_dict(content["optimizer"])
        log = content["log"]
    valid = settings.validation_examples()
    total = -(-settings.examples // settings.batch)
    done, before = (log[-1]["step"], log[-1]["seconds"]) if log else (0, 0.0)
    losses, started = [], time.monotonic() - before
    label = f"{attention}, seed {seed}"
    with tqdm(
        total=total, initial=done, desc=label, unit="batch", disable=None, leave=False
    ) as bar:
        for step in range(done + 1, total + 1):
            examples = settings.draw(settings.batch, [1, seed, step])
            losses.append(_step(model, optimizer, examples, settings))
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
            states = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            save_checkpoint(folder / _MODEL, {**states, "log": log})
            write_lines(folder / _LOG, map(json.dumps, log))
            bar.set_postfix(loss=f"{log[-1]['loss']:.3f}", right=f"{log[-1]['symbols']:.1f}%")
    last = {name: log[-1][name] for name in ("symbols", "numbers", "attended")}
    signature = str(settings.sign(attention, seed))
    return model, TrainedReader(attention, seed, **last, signature=signature)


def _step(
    model: DigitReader,
    optimizer: torch.optim.Optimizer,
    examples: Examples,
    settings: DigitsSettings,
) -> float:
    letters, symbols = map(torch.from_numpy, (examples.letters, examples.symbols))
    scores, _ = model(letters, symbols.shape[1])
    real = symbols >= 0
    if settings.output_layer == "softmax":
        loss = nn.functional.cross_entropy(scores[real], symbols[real])
    else:
        targets = nn.functional.one_hot(symbols[real], len(SYMBOLS))
        loss = sparsemax_loss(scores[real], targets.to(scores.dtype)).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
    optimizer.step()
    return float(loss.detach())


def _evaluate(model: DigitReader, examples: Examples) -> dict[str, float]:
    """Percentages of right symbols and numbers, and letters attended per step."""
    right, counted, attended = [], [], []
    letters, symbols = map(torch.from_numpy, (examples.letters, examples.symbols))
    with torch.no_grad():
        for read, wanted in zip(letters.split(_AT_ONCE), symbols.split(_AT_ONCE), strict=True):
            scores, attention = model(read, wanted.shape[1])
            real = wanted >= 0
            right.append((scores.argmax(-1) == wanted) & real)
            counted.append(real)
            attended.append((attention > 0).sum(-1)[real])
    found, real = torch.cat(right), torch.cat(counted)
    return {
        "symbols": 100 * float(found.sum() / real.sum()),
        "numbers": 100 * float((found == real).all(1).double().mean()),
        "attended": float(torch.cat(attended).double().mean()),
    }


def reproduce_digits(
    folder: Path, settings: DigitsSettings, seeds: Sequence[int], *, resume: bool = False
) -> DigitsResult:
    """Train both attentions with every seed.

    Args:
        folder: The run's folder; made if it does not exist.
        settings: Settings of all trainings.
        seeds: Seeds of parameters and examples.
        resume: Whether the folder may have a run already.

    Returns:
        The results of all trainings in the folder, also of earlier calls.

    Raises:
        DataError: The folder has a run and ``resume`` is not set, or one with other settings.
    """
    open_manifest(
        folder,
        {"settings": asdict(settings)},
        resume=resume,
        packages=("torch", "numpy"),
        completed=lambda old: {**old, "settings": {"output_layer": "softmax", **old["settings"]}},
    )
    for seed in seeds:
        for attention in ATTENTIONS:
            record = folder / attention / f"seed-{seed}.json"
            if record.exists():
                continue
            parts = record.with_suffix("")
            parts.mkdir(parents=True, exist_ok=True)
            model, reader = train_reader(settings, attention, seed, parts)
            if seed == seeds[0]:
                maps = _attend(model, settings.validation_examples())
                save(maps, folder / f"{attention}.attention.jsonl")
            write_record(record, asdict(reader))
    readers = [_read_reader(path) for path in sorted(folder.glob("*/seed-*.json"))]
    readers.sort(key=lambda reader: (reader.seed, ATTENTIONS.index(reader.attention)))
    with atomic_write(folder / "digits.csv") as file:
        rows = [[field.name for field in fields(TrainedReader)]]
        rows += [[*asdict(reader).values()] for reader in readers]
        file.writelines(f"{csv_record(row)}\n" for row in rows)
    return DigitsResult(tuple(readers), settings)


def _attend(model: DigitReader, examples: Examples) -> list[AttentionMap]:
    """Attention for the first examples, for the symbols that the model writes."""
    letters = torch.from_numpy(examples.letters[:_SHOWN])
    with torch.no_grad():
        scores, attention = model(letters, examples.symbols.shape[1])
    maps = []
    for row, number in enumerate(examples.numbers[:_SHOWN]):
        words, steps = spell(number).replace(" ", "␣"), len(number) + 1
        written = [SYMBOLS[symbol] for symbol in scores[row, :steps].argmax(-1)]
        weights = attention[row, :steps, : len(words)].double().numpy()
        maps.append(AttentionMap(weights, tuple(words), tuple(written)))
    return maps


def _read_reader(path: Path) -> TrainedReader:
    try:
        reader = TrainedReader(**read_record(path))
        ATTENTIONS.index(reader.attention)
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: is not the record of a training: {error}") from error
    return reader
