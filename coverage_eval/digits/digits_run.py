"""The number-words task, run again in one folder that keeps all of it.

The folder::

    RUN/manifest.json              settings, commands, versions and threads
    RUN/ATTENTION/seed-N/          epochs.jsonl and checkpoint.pt
    RUN/ATTENTION/seed-N.json      what is known of a training that has ended
    RUN/ATTENTION.attention.jsonl  attention for a few validation examples, of the first seed
    RUN/digits.csv                 accuracy of each training with its signature

A training that has ended is never repeated, so any number of seeds can be added later.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import torch

from coverage_eval.attention_maps.formats.native import save
from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.data.files import atomic_write
from coverage_eval.digits.accuracy import ATTENTIONS, DigitsResult, DigitsSettings, TrainedReader
from coverage_eval.digits.number_words import SYMBOLS, Examples, spell
from coverage_eval.digits.reader import DigitReader
from coverage_eval.digits.training import train_reader, validation_examples
from coverage_eval.errors import DataError
from coverage_eval.nmt.run_manifest import open_manifest, read_record, write_record

_SHOWN = 4
"""Examples of which the attention is kept."""


def reproduce_digits(
    folder: Path, settings: DigitsSettings, seeds: Sequence[int], *, resume: bool = False
) -> DigitsResult:
    """Train both attentions with every seed.

    Args:
        folder: Of the run; made if it does not exist.
        settings: What all trainings share.
        seeds: Of parameters and examples.
        resume: Whether there may be a run in the folder already.

    Returns:
        What is known of all trainings in the folder, those of earlier calls included.

    Raises:
        DataError: The folder has a run and ``resume`` is not set, or one with other settings.
    """
    open_manifest(
        folder, {"settings": asdict(settings)}, resume=resume, packages=("torch", "numpy")
    )
    for seed in seeds:
        for attention in ATTENTIONS:
            record = folder / attention / f"seed-{seed}.json"
            if record.exists():
                continue
            parts = folder / attention / f"seed-{seed}"
            parts.mkdir(parents=True, exist_ok=True)
            model, reader = train_reader(settings, attention, seed, parts)
            if seed == seeds[0]:
                save(
                    _attend(model, validation_examples(settings)),
                    folder / f"{attention}.attention.jsonl",
                )
            write_record(record, asdict(reader))
    readers = [_read_reader(path) for path in sorted(folder.glob("*/seed-*.json"))]
    readers.sort(key=lambda reader: (reader.seed, ATTENTIONS.index(reader.attention)))
    _write_csv(readers, folder / "digits.csv")
    return DigitsResult(tuple(readers), settings)


def _attend(model: DigitReader, examples: Examples) -> list[AttentionMap]:
    """Attention for the first examples, under what the model writes."""
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
        raise DataError(f"{path}: is no record of a training: {error}") from error
    return reader


def _write_csv(readers: Sequence[TrainedReader], path: Path) -> None:
    with atomic_write(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(TrainedReader)])
        writer.writerows(asdict(reader).values() for reader in readers)
