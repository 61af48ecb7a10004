"""Flags and probabilities of omissions: false alarms asked and measured, and people's labels."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
from corpora import Corpus, Pairs, train
from numpy.typing import NDArray
from scipy.stats import kendalltau

from coverage_eval.alignment.aligner import ModelAligner
from coverage_eval.data.dataset import Dataset, Row
from coverage_eval.metrics.measure import measure
from coverage_eval.metrics.omission_finder import FoundSegment, OmissionFinder
from coverage_eval.metrics.omissions import Omissions
from coverage_eval.tables.table import Cell, Table

ASKED = (0.01, 0.03, 0.1)
"""Rates of false alarms."""

JOINED = ((1, 1), (2, 3), (4, 8), (9, 20))
"""Least and most segments that are joined to a text."""

TEXTS = 600

LEFT_OUT = 4
"""Words that are left out in a row."""

LENGTHS = ((1, 20), (21, 80), (81, 300))
"""Classes of source lengths in words."""

LABELLED = "wmt23-en-de"

Flags = NDArray[np.bool_]


def false_alarms(corpus: Corpus, aligner: ModelAligner) -> Iterator[Table]:
    """Measured false alarms in test segments, singly and joined, and planted omissions found."""
    for side, what in (("source", "omissions"), ("target", "additions")):
        finder = OmissionFinder.of(aligner, side)
        rows: list[tuple[Cell, ...]] = []
        for least, most in JOINED:
            texts = _joined(corpus.test, least, most)
            found = _adapted(finder, texts)
            spoilt = list(_adapted(finder, [_spoil(row) for row in texts]))
            words = np.mean([len(one.losses) for one in found])
            measured = [np.mean([one.chance <= rate for one in found]) for rate in ASKED]
            planted = np.mean([one.is_flagged for one in spoilt])
            name = str(least) if least == most else f"{least} to {most}"
            shown = [100 * float(share) for share in measured]
            more = [100 * float(planted)] if side == "source" else []
            rows.append((name, round(words), *shown, *more))
        notes = [
            f"{TEXTS} texts of segments of the test set and their references. The model has not "
            "seen them; flags are adapted to them."
        ]
        header = ["segments joined", "words", *(f"{100 * rate:g}% asked" for rate in ASKED)]
        if side == "source":
            header.append(f"{LEFT_OUT} words left out: flagged at 4%")
            notes.append("References are taken to be complete; they are translated freely, too.")
        title = f"Flags of {what} in complete translations, percentages, {corpus.name}"
        yield Table(tuple(header), tuple(rows), title, notes=tuple(notes))


def _joined(pairs: Pairs, least: int, most: int) -> list[Row]:
    generator = Random(f"{least} {most}")  # noqa: S311 (not for secrets)
    found = []
    for _ in range(TEXTS):
        several = generator.sample(pairs, generator.randint(least, most))
        source, target = (" ".join(side) for side in zip(*several, strict=True))
        found.append(Row((target,), (), source))
    return found


def _spoil(row: Row) -> Row:
    words = str(row.hypotheses[0]).split()
    generator = Random(" ".join(words))  # noqa: S311 (not for secrets)
    start = generator.randrange(max(1, len(words) - LEFT_OUT))
    return row._replace(hypotheses=(" ".join(words[:start] + words[start + LEFT_OUT :]),))


def _adapted(finder: OmissionFinder, rows: Sequence[Row]) -> list[FoundSegment]:
    found = list(finder.find(rows))
    strengths = np.array([one.strength for one in found])
    lengths = np.array([len(one.losses) for one in found])
    return finder.adapt(strengths, lengths).judge(found)


def labelled_tables(data: Path, captions: Corpus) -> list[Table]:
    """Flags and probabilities against people's labels; no tables without these texts."""
    file = data / LABELLED / "outputs.tsv"
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as opened:
        reader = csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE)
        records = {(row["system"], int(row["segment"])): row for row in reader}
    systems = sorted({system for system, _ in records})
    segments = sorted({segment for _, segment in records})
    texts = {s: [records[s, n]["output"] for n in segments] for s in systems}
    sources = [records[systems[0], n]["source"] for n in segments]
    labels = np.array([[int(records[s, n]["omissions"]) > 0 for n in segments] for s in systems])
    training = captions.flipped().training
    tables = []
    with train([(one, two) for one, two in training], tokenize="13a") as aligner:
        for peers, witnesses in ((0, "no witnesses"), (None, "the other systems as witnesses")):
            dataset = Dataset.of_lists(texts, None, sources)
            result = measure(dataset, {"omissions": Omissions(aligner, peers=peers)})
            flags = result.statistics["omissions"][:, :, 0] > 0
            rows = list(result.evidence("omissions"))
            probable = np.array(
                [[row[s].probability or 0.0 for row in rows] for s in range(len(systems))]
            )
            words = np.array([len(source.split()) for source in sources])
            tables += [
                _by_system(systems, flags, labels, witnesses),
                _by_length(words, flags, labels, witnesses),
                _by_probability(probable, labels, witnesses),
            ]
    return tables


def _by_system(systems: Sequence[str], flags: Flags, labels: Flags, witnesses: str) -> Table:
    rows = [(name, *_shares(flags[number], labels[number])) for number, name in enumerate(systems)]
    tau = kendalltau(flags.mean(axis=1), labels.mean(axis=1)).statistic
    return Table(
        ("output", *_HEADER),
        (*rows, ("all", *_shares(flags, labels))),
        f"Flags of omissions and people's labels by system, WMT23 en-de, {witnesses}",
        notes=(
            f"{flags.shape[1]} paragraphs, half of the set; refA is a human translation. The model "
            "is of captions.",
            f"Kendall's tau of both shares over the outputs: {tau:.2f}.",
        ),
    )


def _by_length(words: NDArray[np.int_], flags: Flags, labels: Flags, witnesses: str) -> Table:
    rows = []
    for least, most in LENGTHS:
        inside = (words >= least) & (words <= most)
        rows.append((f"{least} to {most}", *_shares(flags[:, inside], labels[:, inside])))
    title = f"Flags of omissions and people's labels by words of the source, {witnesses}"
    return Table(("words", *_HEADER), tuple(rows), title)


def _by_probability(probable: NDArray[np.float64], labels: Flags, witnesses: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for tenth in range(10):
        inside = (probable >= tenth / 10) & ((probable < (tenth + 1) / 10) | (tenth == 9))
        name = f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}"
        said: list[Cell] = ["", ""]
        if inside.any():
            said = [100 * float(probable[inside].mean()), 100 * float(labels[inside].mean())]
        rows.append((name, int(inside.sum()), *said))
    return Table(
        ("probability", "outputs", "mean probability %", "labelled %"),
        tuple(rows),
        f"Probabilities of omissions without calibration, and people's labels, {witnesses}",
    )


_HEADER = ("labelled %", "flagged %", "of the flagged, labelled %", "of the labelled, flagged %")


def _shares(flags: Flags, labels: Flags) -> tuple[Cell, ...]:
    both = float((flags & labels).sum())
    right = 100 * both / flags.sum() if flags.any() else ""
    found = 100 * both / labels.sum() if labels.any() else ""
    return 100 * float(labels.mean()), 100 * float(flags.mean()), right, found
