"""Whether P(omission) is calibrated on segments that it was not fitted on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from corpora import Translator
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import ModelAligner
from coverage_eval.data.dataset import Row
from coverage_eval.metrics.omission_finder import OmissionFinder
from coverage_eval.tables.table import Table
from coverage_eval.testbed.detection import (
    Ranking,
    auroc,
    calibration_error,
    reliability_statistics,
)
from coverage_eval.testbed.injected_texts import InjectionPlan, spoil_text
from coverage_eval.testbed.learn_calibration import DEFAULT_RATE, calibrate

KINDS = (
    ("phrases left out", "omission-phrase", "none"),
    ("phrases replaced by fillers", "omission-phrase", "filler"),
    ("content words left out", "omission-content", "none"),
    ("content words replaced by fillers", "omission-content", "filler"),
)
"""The errors, all equally frequent; the calibration learns from the same kinds."""

ROUNDS = 3
"""How often errors are put into the held-out half. With 150 segments in a bin, chance alone causes
a calibration error of .02."""


def calibration(aligner: ModelAligner, translator: Translator) -> Table:
    """Calibration error of the finder's probabilities."""
    corpus = translator.corpus
    rows = translator.rows(len(corpus.test))
    seen, held_out = rows[::2], rows[1::2]
    finders: dict[str, OmissionFinder] = {}
    for name, referenced in (("with reference", True), ("without", False)):
        finder = OmissionFinder.of(aligner, referenced=referenced)
        own = seen if referenced else [row._replace(references=()) for row in seen]
        finders[name] = replace(finder, calibrations={0: calibrate(finder, own)})
    found = {name: _probabilities(held_out, aligner, finders, *how) for name, *how in KINDS}
    found["all of these"] = [np.concatenate(parts) for parts in zip(*found.values(), strict=True)]
    figures = [(name, float(labels.mean()), *_figures(labels, chances))
               for name, (labels, *chances) in found.items()]  # fmt: skip
    header = (f"{what}, {name}" for what in ("ECE", "AUROC") for name in finders)
    return Table(
        (corpus.name, "share of segments", *header),
        tuple(figures),
        f"P(omission), fitted on one half of the test set, tested on the other half, {corpus.name}",
        notes=(
            f"Errors in {DEFAULT_RATE:.0%} of the words. ECE: expected calibration error, 10 bins.",
        ),
    )


def _probabilities(
    rows: Sequence[Row],
    aligner: ModelAligner,
    finders: Mapping[str, OmissionFinder],
    kind: str,
    repair: str,
) -> list[NDArray[np.float64]]:
    """Labels of segments with new errors (1 if source words are lost), and probabilities."""
    rounds = []
    for seed in range(99, 99 + ROUNDS):
        plan = InjectionPlan(kind, (DEFAULT_RATE,), repair, seed)
        spoilt, labels = spoil_text(rows, plan, aligner)
        bare = [row._replace(references=()) for row in spoilt]
        chances = [
            np.array(
                [one.probability for one in finder.find(spoilt if finder.referenced else bare)]
            )
            for finder in finders.values()
        ]
        lost = np.array([float(bool(item.words)) for item in labels.judgements])
        rounds.append([lost, *chances])
    return [np.concatenate(parts) for parts in zip(*rounds, strict=True)]


def _figures(labels: NDArray[np.float64], chances: Sequence[NDArray[np.float64]]) -> list[float]:
    """Calibration errors, then AUROC."""
    marked = labels > 0
    sums = [reliability_statistics(marked, item).sum(axis=0) for item in chances]
    areas = [auroc(Ranking(marked, item).detect()) for item in chances]
    return [*(float(calibration_error(item)) for item in sums), *map(float, areas)]
