"""FastAlign: train both directions of a model, align text with it, keep it in one file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType

from coverage_eval.errors import DataError, MissingDependencyError
from coverage_eval.text.corpus import Segment
from coverage_eval.text.files import atomic_path
from coverage_eval.version import __version__
from fast_align_wrapper.binaries import find_fast_align
from fast_align_wrapper.forced import (
    ForcedLinks,
    ForcedModel,
    ScoredLinks,
    stream_links,
    stream_posteriors,
)
from fast_align_wrapper.links import SYMMETRIZATIONS, Links
from fast_align_wrapper.links import symmetrize as join
from fast_align_wrapper.model import (
    Manifest,
    extract_table,
    file_sha256,
    read_manifest,
    table_names,
    write_model,
)
from fast_align_wrapper.posteriors import Posterior
from fast_align_wrapper.process import DEFAULT_TIMEOUT
from fast_align_wrapper.progress import progress_bar
from fast_align_wrapper.settings import DIRECTIONS, Direction, Settings
from fast_align_wrapper.text import prepare_pairs
from fast_align_wrapper.training import TrainingRun, train
from fast_align_wrapper.training_text import TrainingText

__all__ = ["DEFAULT_SYMMETRIZATION", "FastAlign"]

DEFAULT_SYMMETRIZATION = "grow-diag-final-and"

PathLike = str | os.PathLike[str]


class FastAlign:
    """A frozen word alignment model of both directions.

    Get one by :meth:`train` or :meth:`load`. Segments are strings, split at spaces and tabs, or
    lists of tokens; a pair with an empty side has no links. All links are source-target, counted
    from 0.
    """

    def __init__(
        self,
        manifest: Manifest,
        folder: tempfile.TemporaryDirectory[str],
        *,
        archive: Path | None = None,
        fast_align: PathLike | None = None,
        threads: int | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
    ) -> None:
        self._manifest = manifest
        # Removed when this object goes, or at exit.
        self._folder = folder
        self._archive = archive
        self._fast_align = fast_align
        self._threads = threads
        self._timeout = timeout

    @classmethod
    def train(
        cls,
        sources: Iterable[Segment],
        targets: Iterable[Segment],
        *,
        favor_diagonal: bool = True,
        optimize_tension: bool = True,
        variational_bayes: bool = True,
        iterations: int = 5,
        p0: float = 0.08,
        alpha: float = 0.01,
        tension: float = 4.0,
        tokenize: str = "none",
        symmetrize: str = DEFAULT_SYMMETRIZATION,
        links: Mapping[str, PathLike] | None = None,
        threads: int | None = None,
        memory: int | None = None,
        fast_align: PathLike | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        progress: bool = False,
    ) -> FastAlign:
        """Train on parallel text.

        Args:
            sources: Source segments; read once, never held in memory.
            targets: Target segments, as many.
            favor_diagonal: As in :class:`~fast_align_wrapper.settings.Settings`.
            optimize_tension: As there.
            variational_bayes: As there.
            iterations: As there.
            p0: As there.
            alpha: As there.
            tension: As there.
            tokenize: Name of the tokeniser that the caller applied, to be kept with the model.
            symmetrize: Method of the ``symmetrized`` links.
            links: Files to write the training text's own links to, by ``forward``, ``reverse``
                and ``symmetrized``. They differ a little from those that :meth:`align` gives.
            threads: Number of threads; None for all cores. It does not change the result.
            memory: Limit of the aligner's index in bytes; None for half of the machine's memory.
            fast_align: The executable, as :func:`~fast_align_wrapper.binaries.find_fast_align`.
            timeout: Seconds without any sign of life of the aligner; None for no limit.
            progress: Show a bar if standard error is a terminal.

        Raises:
            DataError: Unequal numbers of segments, or no pair with words on both sides.
            MissingDependencyError: There is no executable.
            AlignerError: The aligner failed; the message has its last words.
        """
        _check_method(symmetrize)
        wanted = _checked_links(links)
        settings = Settings(
            favor_diagonal=favor_diagonal,
            optimize_tension=optimize_tension,
            variational_bayes=variational_bayes,
            iterations=iterations,
            p0=p0,
            alpha=alpha,
            tension=tension,
        )
        binary = find_fast_align(fast_align)
        folder = _new_folder()
        try:
            path = Path(folder.name)
            text = TrainingText.write(prepare_pairs(sources, targets), path / "training.txt")
            with progress_bar(wanted=progress) as show:
                run = TrainingRun(
                    binary, settings, text, path, threads, memory, timeout, progress=show
                )
                manifest = _train_model(run, symmetrize, tokenize, wanted)
        except BaseException:
            folder.cleanup()
            raise
        return cls(manifest, folder, fast_align=fast_align, threads=threads, timeout=timeout)

    @classmethod
    def load(
        cls,
        path: PathLike,
        *,
        fast_align: PathLike | None = None,
        threads: int | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
    ) -> FastAlign:
        """Load a model file.

        Args:
            path: The file, as :meth:`save` writes it.
            fast_align: The executable to align with, as in :meth:`train`.
            threads: As in :meth:`train`.
            timeout: As in :meth:`train`.

        Raises:
            DataError: There is no such file; it is no model, of another version, or damaged.
        """
        return cls(
            read_manifest(path),
            _new_folder(),
            archive=Path(path),
            fast_align=fast_align,
            threads=threads,
            timeout=timeout,
        )

    def save(self, path: PathLike) -> None:
        """Write everything to one file, complete or not at all.

        Raises:
            DataError: The file cannot be written.
        """
        for name in self._manifest.tables:
            self._table(name)
        write_model(path, self._manifest, Path(self._folder.name))

    @property
    def manifest(self) -> Manifest:
        """Settings, parameters, counts, hashes and versions."""
        return self._manifest

    @property
    def hash(self) -> str:
        """The first 12 hexadecimal digits of the hash of all that moves a link."""
        return self._manifest.hash[:12]

    def align(
        self,
        sources: Iterable[Segment],
        targets: Iterable[Segment],
        symmetrize: str = DEFAULT_SYMMETRIZATION,
        *,
        prune: bool = True,
    ) -> Iterator[Links]:
        """Align text, one pair's links after the other; memory does not grow with the text.

        Args:
            sources: Source segments.
            targets: Target segments, as many.
            symmetrize: One of :data:`fast_align_wrapper.links.SYMMETRIZATIONS`.
            prune: Use the tables as the original saves them, so that links equal its own; else
                those in full precision.

        Raises:
            DataError: Unequal numbers of segments; a damaged model file.
            MissingDependencyError: No executable; no tables in full precision.
            AlignerError: The aligner failed.
        """
        rows = self.align_with_scores(sources, targets, symmetrize, prune=prune)
        return (row.links for row in rows)

    def align_with_scores(
        self,
        sources: Iterable[Segment],
        targets: Iterable[Segment],
        symmetrize: str = DEFAULT_SYMMETRIZATION,
        *,
        prune: bool = True,
    ) -> Iterator[ScoredLinks]:
        """As :meth:`align`, with the scores of the directions that the method needs."""
        _check_method(symmetrize)
        for direction in DIRECTIONS:
            if symmetrize == direction:
                rows = self._forced(sources, targets, (direction,), prune=prune)
                return (ScoredLinks(one.links, (one.score,)) for (one,) in rows)
        rows = self._forced(sources, targets, DIRECTIONS, prune=prune)
        return (
            ScoredLinks(join(one.links, two.links, symmetrize), (one.score, two.score))
            for one, two in rows
        )

    def align_directions(
        self, sources: Iterable[Segment], targets: Iterable[Segment], *, prune: bool = True
    ) -> Iterator[tuple[ForcedLinks, ForcedLinks]]:
        """Links and scores of the two directions, forward first; otherwise as :meth:`align`."""
        rows = self._forced(sources, targets, DIRECTIONS, prune=prune)
        return ((forward, reverse) for forward, reverse in rows)

    def _forced(
        self,
        sources: Iterable[Segment],
        targets: Iterable[Segment],
        directions: tuple[Direction, ...],
        *,
        prune: bool,
    ) -> Iterator[tuple[ForcedLinks, ...]]:
        binary = find_fast_align(self._fast_align)
        models = [self._model(direction, prune=prune) for direction in directions]
        pairs = prepare_pairs(sources, targets)
        return stream_links(binary, models, pairs, threads=self._threads, timeout=self._timeout)

    def posteriors(
        self,
        sources: Iterable[Segment],
        targets: Iterable[Segment],
        direction: Direction = "forward",
    ) -> Iterator[Posterior]:
        """The probability of each link, from the tables in full precision, one pair at a time.

        Args:
            sources: Source segments.
            targets: Target segments, as many.
            direction: Whose posteriors; the matrix is target × source in both.

        Raises:
            DataError: Unequal numbers of segments; a damaged model file.
            MissingDependencyError: The model or the executable is of another fast_align.
            AlignerError: The aligner failed.
        """
        if direction not in DIRECTIONS:
            raise ValueError(f"direction is forward or reverse, not {direction!r}")
        binary = find_fast_align(self._fast_align)
        if not binary.is_own:
            raise MissingDependencyError(
                f"{binary.path}: gives no posteriors; use the aligner that comes with coverage-eval"
            )
        return stream_posteriors(
            binary,
            self._model(direction, prune=False),
            prepare_pairs(sources, targets),
            threads=self._threads,
            timeout=self._timeout,
        )

    def _model(self, direction: Direction, *, prune: bool) -> ForcedModel:
        if not prune and not self._manifest.has_full_tables:
            raise MissingDependencyError(
                "the model has no tables in full precision, as it was trained with another "
                "fast_align: train it with the aligner that comes with coverage-eval"
            )
        table = self._table(f"{direction}.{'params' if prune else 'full'}")
        parameters = self._manifest.parameters(direction)
        return ForcedModel(direction, table, parameters, self._manifest.settings, rounded=prune)

    def _table(self, name: str) -> Path:
        path = Path(self._folder.name) / name
        if not path.exists():
            if self._archive is None:
                raise DataError("this model was closed; load it again")
            partial = path.with_name(f"{name}.partial")
            extract_table(self._archive, name, self._manifest.tables[name], partial)
            partial.replace(path)
        return path

    def close(self) -> None:
        """Remove the temporary files; the model cannot be used any more."""
        self._archive = None
        shutil.rmtree(self._folder.name, ignore_errors=True)
        self._folder.cleanup()

    def __enter__(self) -> FastAlign:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<FastAlign {self.hash}: {self._manifest.pairs:,} training pairs>"


def _checked_links(links: Mapping[str, PathLike] | None) -> dict[str, PathLike]:
    wanted = dict(links or {})
    if not set(wanted) <= {*DIRECTIONS, "symmetrized"}:
        raise ValueError(f"links are forward, reverse or symmetrized, not {sorted(wanted)}")
    return wanted


def _train_model(
    run: TrainingRun, method: str, tokenize: str, wanted: Mapping[str, PathLike]
) -> Manifest:
    """Train, write the wanted links, and leave nothing but the tables in the run's folder."""
    text = run.text
    parameters = train(run, method if "symmetrized" in wanted else None)
    tables = table_names(full=run.binary.is_own)
    manifest = Manifest(
        settings=run.settings,
        forward=parameters["forward"],
        reverse=parameters["reverse"],
        tokenize=tokenize,
        pairs=text.pairs,
        empty_pairs=text.empty_pairs,
        source_tokens=text.source_tokens,
        target_tokens=text.target_tokens,
        training_text_sha256=text.sha256,
        tables={name: file_sha256(run.folder / name) for name in tables},
        aligner=run.binary.version,
        version=__version__,
        sink=text.has_sink,
    )
    for name, target in wanted.items():
        with atomic_path(target) as temporary, temporary.open("wb") as file:
            file.writelines(text.restore_lines(run.links_path(name)))
    for path in run.folder.iterdir():
        if path.name not in tables:
            path.unlink()
    return manifest


def _check_method(name: str) -> None:
    if name not in SYMMETRIZATIONS:
        raise ValueError(f"unknown symmetrization {name!r}; one of {', '.join(SYMMETRIZATIONS)}")


def _new_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="coverage-eval-")
