"""The results of a run's translations: the table, Figure 2, and files that may be published."""

from __future__ import annotations

import gzip
import io
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.attention.penalties import coverage_penalty
from coverage_eval.attention_maps.load import load
from coverage_eval.attention_maps.subwords import merge_subwords
from coverage_eval.comparison.comparison import Comparison, compare, present_comparison
from coverage_eval.data.files import atomic_path, atomic_write, read_segments
from coverage_eval.errors import DataError
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.registry import default_metrics, make_metric
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.metrics.score import Statistics
from coverage_eval.papers.printed import load_table
from coverage_eval.papers.reproduction.paper_systems import System, all_systems, find_system
from coverage_eval.papers.reproduction.run_folder import (
    EPOCHS,
    HYPOTHESES,
    MANIFEST,
    RESCORED,
    VALID_HYPOTHESES,
    WORD_ALIGNER,
    RunFolder,
)
from coverage_eval.papers.rescoring import Candidates, read_coverage, read_nbest
from coverage_eval.tables.csv_rows import csv_record
from coverage_eval.tables.formats import render
from fast_align_wrapper.text import tokenize

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FORMS = {
    "": "as decoded",
    "normalized": "with the length penalty of α = 1 for every system",
    "equal": "at equal length",
}
"""Ending of a table's file → the translations that it scores.

The length of a system's translations affects BLEU, REP and DROP. So each system's n-best lists of
the test set are ranked again by :math:`\\log P / lp`: once with the same α for all systems, and
once with an α for each system that brings its number of words nearest to that of the references.
This does not tune towards a score: the references contribute nothing but their length.
"""

_ALPHAS = [step / 10 for step in range(31)]


@dataclass(frozen=True)
class RelativeLength(BLEU):
    """Words of the translations per word of the references, as BLEU counts them."""

    name: ClassVar[str] = "length"

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """Σ |hypothesis| / Σ |reference|."""
        return np.asarray(summed[..., 0] / summed[..., 1], dtype=np.float64)


@dataclass(frozen=True)
class BrevityPenalty(BLEU):
    """BLEU's factor for translations that are too short, 0 to 1."""

    name: ClassVar[str] = "BP"

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """exp(min(0, 1 − Σ |reference| / Σ |hypothesis|))."""
        with np.errstate(divide="ignore"):  # translations without any word: 0
            return np.asarray(np.exp(np.minimum(0.0, 1 - summed[..., 1] / summed[..., 0])))


def candidates_of(path: Path) -> Candidates:
    """N-best lists of pieces, with their coverage.

    Args:
        path: The lists' path, without the endings ``.nbest`` and ``.coverage.jsonl``.
    """
    lists = read_nbest(f"{path}.nbest")
    return Candidates(lists, read_coverage(f"{path}.coverage.jsonl", lists), subwords="bpe")


def hypotheses_of(
    run: RunFolder, systems: Sequence[System], form: str = ""
) -> dict[str, list[str]]:
    """Name of each finished system → its translations of the test set.

    After a system whose beam used penalties, ``NAME, rescoring`` has the translations that the
    penalties choose from the lists of a beam without them.

    Args:
        run: A run, or its kept files.
        systems: Rows of a table.
        form: One of :data:`FORMS`; kept files may have only the first.
    """
    found = {}
    for system in systems:
        if form and run.has_decoded(system.folder):
            found[system.name] = _ranked_again(run, system, form)
            continue
        files = {system.name: f"test.{form}.hyp" if form else HYPOTHESES}
        if not form:
            files[f"{system.name}, rescoring"] = RESCORED
        for name, file in files.items():
            kept = run.path / f"{system.folder}.{file}.gz"
            paths = [path for path in (run.system(system.folder) / file, kept) if path.exists()]
            if not paths:
                break  # not finished, or without penalties
            found[name] = list(read_segments(paths[0]))
    return found


def _ranked_again(run: RunFolder, system: System, form: str) -> list[str]:
    """What another α chooses from a system's n-best lists; β stays the beam's."""
    candidates = candidates_of(run.system(system.folder) / "test")
    beta = run.manifest["made"][system.folder]["beta"] if system.penalized else 0.0
    if form == "normalized":
        return candidates.chosen_texts(1.0, beta)
    wanted = sum(len(tokenize(line)) for line in read_segments(run.path / "test.ref"))
    texts = [candidates.chosen_texts(alpha, beta) for alpha in _ALPHAS]
    return min(texts, key=lambda lines: abs(sum(len(tokenize(x)) for x in lines) - wanted))


def table_metrics(aligner: Aligner | None) -> tuple[list[Metric], str | None]:
    """The metrics of Table 1 and the translations' length; why METEOR is missing, if it is.

    BLEU is lowercased and does not tokenise, as in the authors' scripts; METEOR, REP and DROP have
    their defaults. There is no DROP without an aligner.
    """
    names, missing = default_metrics(aligns=aligner is not None, covers=False, referenced=True)
    bleu: dict[str, Any] = {"tokenize": "none", "lowercase": True}
    made = [
        make_metric(name, {"aligner": aligner, **(bleu if name == "bleu" else {})})
        for name in names
    ]
    return [*made, RelativeLength(**bleu), BrevityPenalty(**bleu)], missing


@dataclass(frozen=True)
class RunTable:
    """Scores of a run.

    Attributes:
        comparison: Systems by metrics, with intervals and tests against the first system.
        note: Why METEOR is missing; None if it is not.
    """

    comparison: Comparison
    note: str | None


def score_run(run: RunFolder, table: str, systems: Sequence[System]) -> RunTable:
    """Score the finished systems, and write ``TABLE.csv`` and ``TABLE.scores.csv``.

    ``TABLE.normalized.csv`` and ``TABLE.equal.csv`` have the same scores of translations with
    another length (:data:`FORMS`). DROP's links come from a model of the training text's words.

    Args:
        run: The run.
        table: ``table1`` or ``table2``.
        systems: The rows to look for.

    Raises:
        DataError: None of them is finished.
    """
    texts = {form: hypotheses_of(run, systems, form) for form in FORMS}
    if not texts[""]:
        raise DataError(f"{run.path}: no system of {table} is finished yet")
    references = list(read_segments(run.path / "test.ref"))
    sources = list(read_segments(run.path / "test.src"))
    printed = load_table(table).cells
    comparisons = {}
    with Aligner.load(run.path / "prepared" / WORD_ALIGNER) as aligner:
        metrics, note = table_metrics(aligner)
        for form, hypotheses in texts.items():
            comparison = compare(hypotheses, references, sources, aligner, metrics=metrics)
            comparisons[form] = comparison
            name = table_file(table, form)
            with atomic_write(run.path / f"{name}.csv") as file:
                file.write(render(present_comparison(comparison), "csv", width=6) + "\n")
            with atomic_write(run.path / f"{name}.scores.csv") as file:
                file.write("system,dataset,metric,value\n")
                for system, cells in comparison.rows.items():
                    for cell in cells.values():
                        key = (system, run.settings.dataset, cell.score.metric)
                        if key in printed:  # Table 2 has neither REP nor DROP
                            file.write(f"{csv_record((*key, round(cell.score.score, 4)))}\n")
    return RunTable(comparisons[""], note)


def table_file(table: str, form: str) -> str:
    """The name of a table's files, without their endings."""
    return f"{table}.{form}" if form else table


_COLUMNS = ("system", "segment", "rank", "log_probability", "pieces", "coverage_penalty")


def keep_results(run: RunFolder, folder: Path) -> list[Path]:
    """Copy the files of a run that may be published.

    These are the tables with signatures, the manifest, the epochs, ``SYSTEM.test.hyp.gz`` with each
    system's translations of the test set (``SYSTEM.test.FORM.hyp.gz`` for the other
    :data:`FORMS`), ``SYSTEM.valid.hyp.gz`` with those of the validation text that chose the weights
    of penalties, and ``nbest_scores.csv.gz`` with everything that rescoring needs: the
    log-probability, the length in pieces and the coverage penalty (β = 1, ε = 0.1) of every
    hypothesis.

    Args:
        run: The run. Systems that were not begun may be missing.
        folder: The folder for the files; made if it does not exist.

    Returns:
        The files written.

    Raises:
        DataError: No system is finished, or one was begun and is not; a damaged n-best list; or the
            folder cannot be written to.
    """
    decoded = [system for system in all_systems() if run.has_decoded(system.folder)]
    begun = [system.name for system in all_systems() if run.system(system.folder).is_dir()]
    unfinished = [name for name in begun if name not in {system.name for system in decoded}]
    if unfinished or not decoded:
        what = f"{unfinished[0]} is begun but not" if unfinished else "no system is"
        raise DataError(
            f"{run.path}: {what} finished; continue the run with its command and --resume"
        )
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
    written = list(copied.values())
    for system in decoded:
        texts = {HYPOTHESES: hypotheses_of(run, [system])[system.name]}
        texts |= {f"test.{form}.hyp": _ranked_again(run, system, form) for form in FORMS if form}
        for file in (RESCORED, VALID_HYPOTHESES):
            if (path := run.system(system.folder) / file).exists():
                texts[file] = list(read_segments(path))
        for file, lines in texts.items():
            written.append(folder / f"{system.folder}.{file}.gz")
            with _gzip_file(written[-1]) as packed:
                packed.write("".join(f"{line}\n" for line in lines).encode())
    written.append(folder / "nbest_scores.csv.gz")
    with (
        _gzip_file(written[-1]) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
    ):
        text.write(f"{csv_record(_COLUMNS)}\n")
        for system in decoded:
            rows = _rows(run.system(system.folder), system.name)
            text.writelines(f"{csv_record(row)}\n" for row in rows)
    return written


@contextmanager
def _gzip_file(path: Path) -> Iterator[gzip.GzipFile]:
    """A new gzip file without date and name, so that equal content gives equal bytes."""
    with (
        atomic_path(path) as temporary,
        temporary.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed,
    ):
        yield packed


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


def fixed_repetitions(run: RunFolder, names: tuple[str, str]) -> list[int]:
    """Segments of the test set in which the first system repeats words and the second does not.

    Args:
        run: The run.
        names: Names of the systems in the tables.

    Returns:
        Numbers from 1, the segment with the highest REP-score first.

    Raises:
        DataError: A system is unknown or not finished.
    """
    references = list(read_segments(run.path / "test.ref"))
    first, second = (
        REP().sentence_scores(list(read_segments(_folder(run, name) / HYPOTHESES)), references)
        for name in names
    )
    found = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a and b == 0]
    return [i + 1 for i in sorted(found, key=lambda i: (-(first[i] or 0.0), i))]


def _folder(run: RunFolder, name: str) -> Path:
    """The folder of a finished system."""
    folder = find_system(name).folder
    if not run.has_decoded(folder):
        raise DataError(f"{run.path}: {name} is not finished yet")
    return run.system(folder)


def draw_figure2(
    run: RunFolder,
    number: int | None = None,
    names: tuple[str, str] = ("softmax", "csparsemax"),
) -> Sequence[Axes]:
    """Draw the attention of two systems to one source sentence, in words.

    Args:
        run: The run.
        number: The segment's number, from 1; None for the first of :func:`fixed_repetitions`.
        names: Names of the systems in the tables.

    Returns:
        The two Axes.

    Raises:
        DataError: As :func:`fixed_repetitions`; there is no such segment.
    """
    from coverage_eval.plotting import attention_heatmaps_side_by_side

    if number is None:
        found = fixed_repetitions(run, names)
        if not found:
            raise DataError(
                f"{run.path}: there is no segment in which {names[0]} repeats words and "
                f"{names[1]} does not; choose one with --index"
            )
        number = found[0]
    shown = []
    for name in names:
        maps = load(_folder(run, name) / "test.attention.npz")
        if number > len(maps):
            raise DataError(f"segment {number}: the test set has {len(maps)}")
        shown += merge_subwords([maps[number - 1]], source_scheme="bpe", target_scheme="bpe")
    left, right = shown
    return attention_heatmaps_side_by_side((left, right), systems=names)
