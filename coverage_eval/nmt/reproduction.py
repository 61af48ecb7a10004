"""``reproduce table1`` and ``table2`` in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from coverage_eval.errors import DataError
from coverage_eval.nmt.corpora import Corpora
from coverage_eval.nmt.experiment import Experiment
from coverage_eval.nmt.presets import PRESETS, Preset
from coverage_eval.nmt.roster import find_systems
from coverage_eval.nmt.run_folder import RunFolder, RunSettings, Tuning
from coverage_eval.nmt.run_table import RunTable, score_run


def reproduce_table(
    table: str,
    corpora: Mapping[str, str],
    folder: Path,
    *,
    resume: bool = False,
    preset_name: str = "small",
    size: int | None = None,
    epochs: int | None = None,
    halve_from: int | None = None,
    merges: int | None = None,
    seed: int = 1,
    scoring: str = "bilinear",
    beam: int = 10,
    tune_by: str = "beam",
    tune_on: int | None = None,
    dataset: str = "De-En",
    names: Sequence[str] = (),
    device: str = "cpu",
) -> RunTable:
    """Make the systems of a table, those that are not there yet, and score all that are.

    Args:
        table: ``table1`` or ``table2``.
        corpora: The fields of :class:`~coverage_eval.nmt.corpora.Corpora`.
        folder: Of the run.
        resume: Whether there may be a run in it.
        preset_name: One of :data:`~coverage_eval.nmt.presets.PRESETS`.
        size: Of word vectors and layers, instead of the preset's.
        epochs: Likewise.
        halve_from: Likewise.
        merges: Likewise.
        seed: Of parameters, order and dropout.
        scoring: Of the attention, as :class:`~coverage_eval.nmt.presets.Preset` has it.
        beam: Hypotheses a sentence.
        tune_by: How the weights of penalties are chosen, see
            :class:`~coverage_eval.nmt.run_folder.Tuning`. A run may go on with another choice.
        tune_on: On how many validation sentences; None for all.
        dataset: Column of the printed table.
        names: Rows to make; all that are printed for none.
        device: As PyTorch names it.

    Raises:
        DataError: Unreadable or unequal files, another run in the folder, an unknown row or device,
            or a training that diverged.
        AlignerError: The aligner failed.
    """
    preset = _changed(
        PRESETS[preset_name],
        embedding=size,
        hidden=size,
        epochs=epochs,
        halve_from=halve_from,
        merges=merges,
        scoring=scoring,
    )
    systems = find_systems(table, names)
    texts = Corpora(**corpora)
    settings = RunSettings(preset_name, preset, seed, beam, dataset, Tuning(tune_by, tune_on))
    run = RunFolder.open(folder, texts, settings, resume=resume)
    experiment = Experiment(run, texts, _device(device))
    for system in systems[:-1]:
        if experiment.make(system):
            score_run(run, table, systems)  # so that a run that is killed has a table
    experiment.make(systems[-1])
    return score_run(run, table, systems)


def _changed(preset: Preset, **values: Any) -> Preset:
    return replace(preset, **{name: value for name, value in values.items() if value is not None})


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise DataError(f"device {name}: {str(error).splitlines()[0]}") from None
    return device
