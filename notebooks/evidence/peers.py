"""How much the outputs of other systems help to find omissions, on real outputs.

In each kept reproduction run (``notebooks/reproduction``), the eight systems of Table 1 translate
one test set and make real errors. Words are left out of one output, and the other outputs are
peers: they show what can be covered. Nothing is tuned here. Real omissions count as correct, so
no score can reach 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
from areas import Areas, area, score_differences, with_interval
from corpora import Corpus, train
from numpy.typing import NDArray
from people import labelled_texts
from scores import Spoilt

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Batch, Row
from coverage_eval.core.texts import read_segments
from coverage_eval.coverage.coverage_losses import PEERS_SPREAD, SUM_SHARE, strongest_runs
from coverage_eval.coverage.omission_finder import OmissionFinder

Floats = NDArray[np.float64]

RUNS = Path(__file__).parent.parent / "reproduction"
SYSTEMS = (
    "constrained_softmax-predicted-c0.2", "constrained_sparsemax-predicted-c0.2", "softmax",
    "softmax-coverage", "softmax-penalized", "sparsemax", "sparsemax-coverage",
    "sparsemax-penalized",
)  # fmt: skip
"""The files of the eight systems of Table 1."""

KINDS = (("omission-phrase", "none"), ("omission-content", "none"))
TARGETS = 2
"""The number of systems whose outputs get errors."""

COUNTS = (0, 1, 2, 3, 7)

ALL = "all runs"
"""The mean over all runs of a corpus; a segment is drawn in all of them."""

AGREED: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda found: found.mean(axis=0),
    "median": lambda found: np.median(found, axis=0),
    "smallest": lambda found: found.min(axis=0),
    "mean by quality": lambda found: np.average(found, axis=0, weights=found.mean(axis=1) ** 4),
}
"""Ways to combine the coverages of several peers, ``[peers, words]``.

By quality: a peer counts more if it covers more of the source.
"""

AGREED_OF = (3, 7)


@dataclass(frozen=True)
class Output:
    """A real output with injected omissions.

    Attributes:
        batch: Its segments, with the reference and the other systems' outputs as peers.
        labels: Whether each segment has an injected omission.
    """

    batch: Batch
    labels: NDArray[np.bool_]

    def area(self, finder: OmissionFinder, peers: int) -> Areas:
        """AUROC of a finder's scores with so many peers."""
        batch = Batch(_only(self.batch.rows, peers))
        return area(self.labels, finder.model.score(batch).ranks[0])

    def areas_of(self, finder: OmissionFinder, peers: int) -> list[Areas]:
        """AUROC for each way of :data:`AGREED` to combine so many peers."""
        return [self._area_of(finder, peers, agree) for agree in AGREED.values()]

    def _area_of(
        self, finder: OmissionFinder, peers: int, agree: Callable[[Floats], Floats]
    ) -> Areas:
        scores, model = [], finder.model
        for covered in zip(*(self.batch.get(request) for request in model.requests()), strict=True):
            losses = [agree(np.array(u.outputs[1 : 1 + peers])) - u.outputs[0] for u in covered]
            mean = np.mean(losses, axis=0) / PEERS_SPREAD
            (best,) = strongest_runs(mean, np.array([len(mean)]), model.constants.penalty)
            scores.append(best + SUM_SHARE * np.maximum(0.0, mean).sum())
        return area(self.labels, np.array(scores))


def peer_tables(corpus: Corpus, aligner: ModelAligner) -> dict[str, pd.DataFrame]:
    """The effect of other systems' outputs in every kept run on the corpus: mean AUROC."""
    numbers: dict[tuple[str, int], dict[str, Areas]] = {}
    ways: dict[tuple[str, int], dict[str, Areas]] = {}
    runs = sorted(RUNS.glob(f"*-{corpus.name}-seed*"))[: 1 if corpus.is_trial else None]
    for run in runs:
        spoilt = list(_spoilt(_outputs(run, corpus), corpus))
        for count in COUNTS:
            numbers[run.name, count] = {
                name: np.mean([texts.area(used, count) for texts in spoilt], axis=0)
                for name, used in (
                    ("no reference", OmissionFinder(aligner)),
                    ("with reference", OmissionFinder(aligner, referenced=True)),
                )
            }
        for count in AGREED_OF:
            used = OmissionFinder(aligner)
            areas = np.mean([texts.areas_of(used, count) for texts in spoilt], axis=0)
            ways[run.name, count] = dict(zip(AGREED, areas, strict=True))
    for found, counts in ((numbers, COUNTS), (ways, AGREED_OF)):
        for count in counts:
            every = [found[run.name, count] for run in runs]
            found[ALL, count] = {k: np.mean([each[k] for each in every], axis=0) for k in every[0]}
    compared = {
        **{f"{name}, {n} others" if n else name: areas
           for n in COUNTS for name, areas in numbers[ALL, n].items()},
        **{f"{way} of {n}": areas for n in AGREED_OF for way, areas in ways[ALL, n].items()},
    }  # fmt: skip
    return {
        "peers": pd.DataFrame([
            {"run": run, "peers": count}
            | with_interval("no reference", found["no reference"])
            | with_interval("with reference", found["with reference"])
            for (run, count), found in numbers.items()
        ]),
        "combined": pd.DataFrame([
            {"run": run, "peers": count, "way": way} | with_interval("AUROC", areas)
            for (run, count), found in ways.items()
            for way, areas in found.items()
        ]),
        "differences": score_differences({ALL: compared}),
    }  # fmt: skip


HUMAN = "refA"

JUDGED_BY_PEOPLE: dict[str, tuple[int, bool]] = {
    "no reference": (0, False),
    "three other systems": (3, False),
    "all other systems": (7, False),
    "the reference": (0, True),
    "the reference and three other systems": (3, True),
}
"""The number of peers, and whether the reference is used."""


def people_areas(data: Path, captions: Corpus) -> dict[str, pd.DataFrame]:
    """AUROC on people's labels of eight systems; a paragraph is drawn with all its outputs."""
    labelled = labelled_texts(data)
    if labelled is None:
        return {}
    systems = {name: lines for name, lines in labelled.texts.items() if name != HUMAN}
    labels = labelled.labels[[name != HUMAN for name in labelled.texts]]
    texts = [
        _with_peers(systems, name, zip(labelled.sources, labelled.texts[HUMAN], strict=True))
        for name in systems
    ]
    areas = {}
    with train(captions.flipped().training, tokenize="13a") as aligner:
        for name, (peers, referenced) in JUDGED_BY_PEOPLE.items():
            finder = OmissionFinder(aligner, referenced=referenced)
            batches = [Batch(_only(rows, peers)) for rows in texts]
            scores = [finder.model.score(batch).ranks[0] for batch in batches]
            areas[name] = area(labels, np.array(scores))
    return {
        "people_areas": pd.DataFrame([
            {"score": name}
            | with_interval("AUROC", found)
            | with_interval("less no reference", found - areas["no reference"])
            for name, found in areas.items()
        ])
    }  # fmt: skip


def _only(rows: Sequence[Row], peers: int) -> list[Row]:
    return [row._replace(peers=row.peers[:peers]) for row in rows]


def _with_peers(
    systems: Mapping[str, Sequence[str]], name: str, pairs: Iterable[tuple[str, str]]
) -> list[Row]:
    """One system's outputs, with the others as peers in random order."""
    others = [lines for other, lines in systems.items() if other != name]
    Random(name).shuffle(others)  # noqa: S311 (not for secrets)
    lines = zip(systems[name], pairs, zip(*others, strict=True), strict=False)
    return [Row((line,), (ref,), source, peers) for line, (source, ref), peers in lines]


def _outputs(run: Path, corpus: Corpus) -> dict[str, list[str]]:
    """The outputs of the systems of Table 1 by name, cut to the length of the test set."""
    files = [run / f"{system}.test.hyp.gz" for system in SYSTEMS]
    return {
        file.name.partition(".test.")[0]: list(read_segments(file))[: len(corpus.test)]
        for file in files
    }


def _spoilt(systems: dict[str, list[str]], corpus: Corpus) -> Iterator[Output]:
    """Put omissions of each kind into some outputs."""
    for name in list(systems)[:TARGETS]:
        rows = _with_peers(systems, name, corpus.test)
        for kind, repair in KINDS:
            spoilt = Spoilt.of(rows, kind, repair)
            yield Output(Batch(spoilt.rows), spoilt.labels)
