"""What of a run may be published: figures, no weights and no text of the corpora."""

from __future__ import annotations

import csv
import gzip
import io
import shutil
from pathlib import Path

import numpy as np

from coverage_eval.attention.penalties import coverage_penalty
from coverage_eval.data.files import atomic_path
from coverage_eval.nmt.optimisation import EPOCHS
from coverage_eval.nmt.roster import all_systems
from coverage_eval.nmt.run_folder import RunFolder
from coverage_eval.nmt.run_manifest import MANIFEST
from coverage_eval.rescoring.nbest import read_coverage, read_nbest
from fast_align_wrapper.text import tokenize

_COLUMNS = ("system", "segment", "rank", "log_probability", "pieces", "coverage_penalty")


def keep_results(run: RunFolder, folder: Path) -> list[Path]:
    """Copy the figures of a run: tables with signatures, manifest, epochs, scores of n-best lists.

    ``nbest_scores.csv.gz`` has the log-probability, the length in pieces and the coverage penalty
    (β = 1, ε = 0.1) of every hypothesis, which is all that rescoring needs.

    Args:
        run: The run, finished or not.
        folder: Where the files go; made if it does not exist.

    Returns:
        The files written.

    Raises:
        DataError: A damaged n-best list, or the folder cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    copied = {run.path / MANIFEST: folder / MANIFEST}
    copied |= {path: folder / path.name for path in sorted(run.path.glob("*.csv"))}
    copied |= {
        path: folder / f"{path.parent.name}.{EPOCHS}"
        for path in sorted(run.path.glob(f"models/*/{EPOCHS}"))
    }
    for source, target in copied.items():
        with atomic_path(target) as temporary:
            shutil.copyfile(source, temporary)
    scores = folder / "nbest_scores.csv.gz"
    _write_scores(run, scores)
    return [*copied.values(), scores]


def _write_scores(run: RunFolder, path: Path) -> None:
    # No date in the archive: the same run gives the same bytes.
    with (
        atomic_path(path) as temporary,
        temporary.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for system in all_systems():
            if run.has_decoded(system.folder):
                writer.writerows(_rows(run.system(system.folder), system.name))


def _rows(folder: Path, name: str) -> list[tuple[object, ...]]:
    lists = read_nbest(folder / "test.nbest")
    segments = np.repeat(np.arange(len(lists.starts)), lists.sizes)
    ranks = np.arange(len(segments)) - lists.starts[segments]
    coverage = read_coverage(folder / "test.coverage.jsonl", lists)
    return [
        (name, segment + 1, rank + 1, f"{log:.4f}", len(tokenize(text)), f"{penalty:.4f}")
        for segment, rank, log, text, penalty in zip(
            segments.tolist(),
            ranks.tolist(),
            lists.log_probabilities.tolist(),
            lists.texts,
            (float(coverage_penalty(row)) for row in coverage),
            strict=True,
        )
    ]
