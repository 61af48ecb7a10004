"""Flags and probabilities of omissions: false alarms asked and measured, and people's labels."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from corpora import Corpus, Pairs, train
from numpy.typing import NDArray
from scipy.stats import kendalltau

from coverage_eval.alignment.aligner import ModelAligner
from coverage_eval.data.dataset import Dataset, Row
from coverage_eval.metrics.evaluation import Evaluation
from coverage_eval.metrics.measure import Result
from coverage_eval.metrics.omission_finder import FLAG_MARGIN, OmissionFinder
from coverage_eval.metrics.omissions import Omissions
from coverage_eval.tables.table import Cell, Table

ASKED = (0.01, 0.03, 0.1)
"""Rates of false alarms."""

JOINED = ((1, 1), (2, 3), (4, 8), (9, 20))
"""Least and most segments that are joined to a text."""

TEXTS = 600
"""Texts of each length; fewer if the test set has fewer segments."""

LEFT_OUT = 4
"""Words that are left out in a row."""

LENGTHS = ((1, 20), (21, 80), (81, 300))
"""Classes of source lengths in words."""

LABELLED = "wmt23-en-de"

MODELS = (
    ("tokenised (13a)", "13a", False),
    ("tokenised (13a), lowercased", "13a", True),
    ("as they are", "none", False),
    ("as they are, lowercased", "none", True),
)
"""Models of the same captions: name, tokeniser, and whether they are of lower case. The first one
is that of the other tables."""

RESAMPLES = 1000

Flags = NDArray[np.bool_]


def false_alarms(corpus: Corpus, aligner: ModelAligner) -> Iterator[Table]:
    """Measured false alarms in test segments, singly and joined, and planted omissions found."""
    for side, what in (("source", "omissions"), ("target", "additions")):
        finder = OmissionFinder.of(aligner, side)
        rows: list[tuple[Cell, ...]] = []
        for least, most in JOINED:
            texts = _joined(corpus.test, least, most)
            found = finder.find_adapted(texts)
            spoilt = finder.find_adapted(map(_spoil, texts))
            words = np.mean([len(one.losses) for one in found])
            measured = [np.mean([one.chance <= rate for one in found]) for rate in ASKED]
            planted = np.mean([one.is_flagged for one in spoilt])
            name = str(least) if least == most else f"{least} to {most}"
            shown = [100 * float(share) for share in measured]
            more = [100 * float(planted)] if side == "source" else []
            rows.append((name, round(words), *shown, *more))
        notes = [
            f"{len(texts)} texts of segments of the test set and their references. The model has "
            "not seen them; flags are adapted to them."
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
    for _ in range(min(TEXTS, len(pairs))):
        several = generator.sample(pairs, generator.randint(least, most))
        source, target = (" ".join(side) for side in zip(*several, strict=True))
        found.append(Row((target,), (), source))
    return found


def _spoil(row: Row) -> Row:
    words = str(row.hypotheses[0]).split()
    generator = Random(" ".join(words))  # noqa: S311 (not for secrets)
    start = generator.randrange(max(1, len(words) - LEFT_OUT))
    return row._replace(hypotheses=(" ".join(words[:start] + words[start + LEFT_OUT :]),))


class Labelled(NamedTuple):
    """Outputs by system, sources, and which have a marked omission, ``[systems, segments]``."""

    texts: dict[str, list[str]]
    sources: list[str]
    labels: Flags


def labelled_texts(data: Path) -> Labelled | None:
    """The half of WMT23 en-de with people's labels; None without these texts."""
    file = data / LABELLED / "outputs.tsv"
    if not file.is_file():
        return None
    with file.open(encoding="utf-8", newline="") as opened:
        reader = csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE)
        records = {(row["system"], int(row["segment"])): row for row in reader}
    systems = sorted({system for system, _ in records})
    segments = sorted({segment for _, segment in records})
    return Labelled(
        {s: [records[s, n]["output"] for n in segments] for s in systems},
        [records[systems[0], n]["source"] for n in segments],
        np.array([[int(records[s, n]["omissions"]) > 0 for n in segments] for s in systems]),
    )


def labelled_tables(data: Path, captions: Corpus) -> list[Table]:
    """Flags and probabilities against people's labels; no tables without these texts."""
    found = labelled_texts(data)
    if found is None:
        return []
    tables: list[Table] = []
    rows: list[tuple[Cell, ...]] = []
    words = np.array([len(source.split()) for source in found.sources])
    for name, tokenize, lowercase in MODELS:
        training = captions.flipped().training
        with train(training, tokenize=tokenize, lowercase=lowercase) as aligner:
            for peers, said in ((0, "no peers"), (None, "the other systems compared")):
                dataset = Dataset.of_lists(found.texts, None, found.sources)
                measured = Evaluation(
                    dataset, metrics=(), others={"o": Omissions(aligner, peers=peers)}
                ).run()
                flags = measured.statistics["o"][:, :, 0] > 0
                unknown = measured.unknown_words["unknown_target_tokens"]
                tau = _kendall(flags, found.labels)
                rows.append((name, said, 100 * unknown, *_shares(flags, found.labels)[1:], tau))
                if name != MODELS[0][0]:
                    continue
                if peers is None:
                    tables.append(_by_factor(measured, found.labels, list(found.texts)))
                explained = list(measured.evidence("o"))
                probable = np.array(
                    [[row[s].probability or 0.0 for row in explained] for s in range(len(flags))]
                )
                tables += [
                    _by_system(list(found.texts), flags, found.labels, said),
                    _by_length(words, flags, found.labels, said),
                    _by_probability(probable, found.labels, said),
                ]
    by_model = Table(
        ("the model's words", "peers", "unknown words %", *_HEADER[1:], "Kendall's tau"),
        tuple(rows),
        "Flags of omissions and people's labels by the model's words, WMT23 en-de",
        notes=(
            "The captions of the training text are in lower case and tokenised, these paragraphs "
            "are not: what the model's tokeniser leaves as it is, the model does not know. Tau is "
            "that of both shares over the nine outputs, with its 95% interval for other "
            "paragraphs: outputs differ by one to three labelled paragraphs of 52.",
        ),
    )
    return [*tables, by_model]


FACTORS = (1.0, 1.1, 1.2, 1.3, 1.4)
"""Factors of the median that are compared."""


def _by_factor(measured: Result, labels: Flags, systems: Sequence[str]) -> Table:
    """What the factor of the others' median does, with the condition on the length and without."""
    metric = measured.metrics["o"]
    assert isinstance(metric, Omissions)
    finder = metric.finder
    outputs = [row for batch in measured.kept for row in finder.score_batch(batch)]
    chances = [
        [one.chance for one in row] for batch in measured.kept for row in metric.found(batch)
    ]
    level = np.array([[one.level for one in row] for row in outputs]).T
    usual = np.array([[one.usual or np.nan for one in row] for row in outputs]).T
    rare = finder.false_alarms >= np.array(chances).T
    human = systems.index("refA")
    rows = []
    for factor in FACTORS:
        above = level > factor * usual + FLAG_MARGIN
        for said, flags in (("and rare", above & rare), ("alone", above)):
            cells = _shares(flags, labels)[1:]
            people = 100 * float(flags[human].mean())
            rows.append((f"{factor:g}, {said}", *cells, people, _kendall(flags, labels)))
    return Table(
        ("factor of the median", *_HEADER[1:], "of the human translation, flagged %", "Kendall"),
        tuple(rows),
        "Flags of omissions against the median of the other systems, WMT23 en-de",
        notes=(
            f"Flagged: a score above the factor times the median of the others' plus "
            f"{FLAG_MARGIN:g}; 'and rare' is flagged as a single output, too.",
        ),
    )


def _kendall(flags: Flags, labels: Flags) -> str:
    """Kendall's tau of both shares over the systems, and its interval by resampled segments."""

    def tau(chosen: NDArray[np.int_]) -> float:
        shares = (each[:, chosen].mean(axis=1) for each in (flags, labels))
        return float(kendalltau(*shares).statistic)

    size = flags.shape[1]
    drawn = np.random.default_rng(0).integers(0, size, (RESAMPLES, size))
    low, high = np.nanpercentile([tau(chosen) for chosen in drawn], [2.5, 97.5])
    return f"{tau(np.arange(size)):.2f} [{low:.2f}, {high:.2f}]"


def _by_system(systems: Sequence[str], flags: Flags, labels: Flags, peers: str) -> Table:
    rows = [(name, *_shares(flags[number], labels[number])) for number, name in enumerate(systems)]
    return Table(
        ("output", *_HEADER),
        (*rows, ("all", *_shares(flags, labels))),
        f"Flags of omissions and people's labels by system, WMT23 en-de, {peers}",
        notes=(
            f"{flags.shape[1]} paragraphs, half of the set: the half on which the default rate of "
            "false alarms was chosen. refA is a human translation. The model is of captions.",
            f"Kendall's tau of both shares over the outputs: {_kendall(flags, labels)}.",
        ),
    )


def _by_length(words: NDArray[np.int_], flags: Flags, labels: Flags, peers: str) -> Table:
    rows = []
    for least, most in LENGTHS:
        inside = (words >= least) & (words <= most)
        rows.append((f"{least} to {most}", *_shares(flags[:, inside], labels[:, inside])))
    title = f"Flags of omissions and people's labels by words of the source, {peers}"
    return Table(("words", *_HEADER), tuple(rows), title)


def _by_probability(probable: NDArray[np.float64], labels: Flags, peers: str) -> Table:
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
        f"Probabilities of omissions without calibration, and people's labels, {peers}",
    )


_HEADER = ("labelled %", "flagged %", "of the flagged, labelled %", "of the labelled, flagged %")


def _shares(flags: Flags, labels: Flags) -> tuple[Cell, ...]:
    both = float((flags & labels).sum())
    right = 100 * both / flags.sum() if flags.any() else ""
    found = 100 * both / labels.sum() if labels.any() else ""
    return 100 * float(labels.mean()), 100 * float(flags.mean()), right, found
