"""FastAlign: train both directions of a model, align text with it, keep it in one file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fast_align_wrapper import __version__
from fast_align_wrapper.binaries import find_fast_align
from fast_align_wrapper.errors import AlignerDataError, AlignerNotFoundError
from fast_align_wrapper.forced import (
    ForcedLinks,
    ForcedModel,
    ScoredLinks,
    stream_links,
    stream_posteriors,
)
from fast_align_wrapper.held import HeldFolder
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, Links, check_symmetrization
from fast_align_wrapper.links import symmetrize as join
from fast_align_wrapper.model import (
    Manifest,
    extract_table,
    is_attachment_name,
    member_name,
    read_manifest,
    read_words,
    table_names,
    write_model,
)
from fast_align_wrapper.posteriors import Posterior
from fast_align_wrapper.process import DEFAULT_TIMEOUT
from fast_align_wrapper.progress import progress_bar
from fast_align_wrapper.settings import DIRECTIONS, Direction, Settings
from fast_align_wrapper.standby import Standby
from fast_align_wrapper.text import Pair, prepare_pairs
from fast_align_wrapper.training import TrainingRun, train
from fast_align_wrapper.training_text import TrainingText
from fast_align_wrapper.whole_files import file_sha256

PathLike = str | os.PathLike[str]


class FastAlign:
    """A frozen word alignment model of both directions.

    Get one by :meth:`train` or :meth:`load`. Text comes as pairs of a source and a target segment,
    each a string, split at spaces and tabs, or a list of tokens; a pair with an empty side has no
    links. All links are source-target, counted from 0.
    """

    def __init__(
        self,
        manifest: Manifest,
        folder: HeldFolder,
        *,
        archive: Path | None = None,
        training: TrainingRun | None = None,
        fast_align: PathLike | None = None,
        threads: int | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        keep: bool = False,
    ) -> None:
        self._manifest = manifest
        self._training = training
        # Removed when this object goes, or at exit.
        self._folder = folder
        self._archive = archive
        self._fast_align = fast_align
        self._threads = threads
        self._timeout = timeout
        self._standby = Standby() if keep else None

    @classmethod
    def train(
        cls,
        pairs: Iterable[Pair],
        *,
        favor_diagonal: bool = True,
        optimize_tension: bool = True,
        variational_bayes: bool = True,
        iterations: int = 5,
        p0: float = 0.08,
        alpha: float = 0.01,
        tension: float = 4.0,
        notes: Mapping[str, Any] | None = None,
        threads: int | None = None,
        memory: int | None = None,
        fast_align: PathLike | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        progress: bool = False,
    ) -> FastAlign:
        """Train on parallel text.

        Args:
            pairs: Source and target segments; read once, never held in memory.
            favor_diagonal: As in :class:`~fast_align_wrapper.settings.Settings`, like the next six.
            optimize_tension: Fit the tension.
            variational_bayes: Use the Dirichlet prior.
            iterations: Passes over the text.
            p0: Probability of NULL.
            alpha: Concentration of the Dirichlet prior.
            tension: Tension to start with.
            notes: Names and JSON values to be kept in ``manifest.notes``, such as the tokeniser of
                the text. They move no link. The mapping is read when all pairs have been read, so
                what gives the pairs may fill it.
            threads: Number of threads; None for all cores. It does not change the result.
            memory: Limit of the aligner's index in bytes; None for half of the machine's memory.
            fast_align: The executable, as :func:`~fast_align_wrapper.binaries.find_fast_align`.
            timeout: Seconds without any sign of life of the aligner; None for no limit.
            progress: Show a bar if standard error is a terminal.

        Raises:
            AlignerDataError: No pair has words on both sides.
            AlignerNotFoundError: There is no executable.
            AlignerError: The aligner failed; the message has its last words.
            TypeError: An item is no pair, or a note is no JSON value.
            ValueError: A setting is out of its range.
        """
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
        folder = HeldFolder("fast-align-wrapper-")
        try:
            path = Path(folder.name)
            text = TrainingText.write(prepare_pairs(pairs), path / "training.txt")
            copied = json.loads(json.dumps(dict(notes or {})))
            with progress_bar(wanted=progress) as show:
                run = TrainingRun(
                    binary, settings, text, path, threads, memory, timeout, progress=show
                )
                manifest = _train_model(run, copied)
        except BaseException:
            folder.cleanup()
            raise
        return cls(
            manifest, folder, training=run, fast_align=fast_align, threads=threads, timeout=timeout
        )

    @classmethod
    def load(
        cls,
        path: PathLike,
        *,
        fast_align: PathLike | None = None,
        threads: int | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
        keep: bool = False,
    ) -> FastAlign:
        """Load a model file.

        Args:
            path: The file, as :meth:`save` writes it.
            fast_align: The executable to align with, as in :meth:`train`.
            threads: As in :meth:`train`.
            timeout: As in :meth:`train`.
            keep: Let aligners wait for the next text until this model is closed, instead of
                starting them anew for each, which pays where texts are short and many.

        Raises:
            AlignerDataError: There is no such file; it is no model, of another version, or damaged.
        """
        return cls(
            read_manifest(path),
            HeldFolder("fast-align-wrapper-"),
            archive=Path(path),
            fast_align=fast_align,
            threads=threads,
            timeout=timeout,
            keep=keep,
        )

    def save(self, path: PathLike) -> None:
        """Write everything to one file, complete or not at all.

        Raises:
            AlignerDataError: The file cannot be written.
        """
        for name in self._manifest.tables:
            self._table(name)
        for name in self._manifest.attached:
            self.attachment(name)
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
        pairs: Iterable[Pair],
        symmetrize: str = DEFAULT_SYMMETRIZATION,
        *,
        prune: bool = True,
    ) -> Iterator[Links]:
        """Align text, one pair's links after the other; memory does not grow with the text.

        Args:
            pairs: Source and target segments.
            symmetrize: One of :data:`fast_align_wrapper.links.SYMMETRIZATIONS`.
            prune: Use the tables as the original saves them, so that links equal its own; else
                those in full precision.

        Raises:
            AlignerDataError: A damaged model file; one without tables in full precision.
            AlignerNotFoundError: No executable.
            AlignerError: The aligner failed.
        """
        rows = self.align_with_scores(pairs, symmetrize, prune=prune)
        return (row.links for row in rows)

    def align_with_scores(
        self,
        pairs: Iterable[Pair],
        symmetrize: str = DEFAULT_SYMMETRIZATION,
        *,
        prune: bool = True,
    ) -> Iterator[ScoredLinks]:
        """As :meth:`align`, with the scores of the directions that the method needs."""
        check_symmetrization(symmetrize)
        for direction in DIRECTIONS:
            if symmetrize == direction:
                rows = self._forced(pairs, (direction,), prune=prune)
                return (ScoredLinks(one.links, (one.score,)) for (one,) in rows)
        rows = self._forced(pairs, DIRECTIONS, prune=prune)
        return (
            ScoredLinks(join(one.links, two.links, symmetrize), (one.score, two.score))
            for one, two in rows
        )

    def align_directions(
        self, pairs: Iterable[Pair], *, prune: bool = True
    ) -> Iterator[tuple[ForcedLinks, ForcedLinks]]:
        """Links and scores of the two directions, forward first; otherwise as :meth:`align`."""
        rows = self._forced(pairs, DIRECTIONS, prune=prune)
        return ((forward, reverse) for forward, reverse in rows)

    def _forced(
        self,
        pairs: Iterable[Pair],
        directions: tuple[Direction, ...],
        *,
        prune: bool,
    ) -> Iterator[tuple[ForcedLinks, ...]]:
        binary = find_fast_align(self._fast_align)
        models = [self._model(direction, prune=prune) for direction in directions]
        return stream_links(
            binary,
            models,
            prepare_pairs(pairs),
            threads=self._threads,
            timeout=self._timeout,
            standby=self._standby if binary.is_own else None,
        )

    def posteriors(
        self, pairs: Iterable[Pair], direction: Direction = "forward"
    ) -> Iterator[Posterior]:
        """The probability of each link, from the tables in full precision, one pair at a time.

        Args:
            pairs: Source and target segments.
            direction: Whose posteriors; the matrix is target × source in both.

        Raises:
            AlignerDataError: A damaged model file; one without tables in full precision.
            AlignerNotFoundError: No executable, or that of another fast_align.
            AlignerError: The aligner failed.
        """
        if direction not in DIRECTIONS:
            raise ValueError(f"direction is forward or reverse, not {direction!r}")
        binary = find_fast_align(self._fast_align)
        if not binary.is_own:
            raise AlignerNotFoundError(
                f"{binary.path}: gives no posteriors; use the aligner that comes with coverage-eval"
            )
        return stream_posteriors(
            binary,
            self._model(direction, prune=False),
            prepare_pairs(pairs),
            threads=self._threads,
            timeout=self._timeout,
            standby=self._standby,
        )

    def training_links(self, symmetrize: str = DEFAULT_SYMMETRIZATION) -> Iterator[Links]:
        """Links of the training text's pairs, as the last pass of training has found them.

        They differ a little from those that :meth:`align` gives. A pair that was left out has none.

        Args:
            symmetrize: As in :meth:`align`.

        Raises:
            AlignerDataError: The model was not trained here, but loaded, or it was closed.
        """
        check_symmetrization(symmetrize)
        if self._training is None:
            raise AlignerDataError("links of the training text are not kept in the model file")
        return self._training.restored_links(symmetrize)

    def vocabulary(self) -> tuple[frozenset[str], frozenset[str]]:
        """Source words and target words that the model knows.

        Raises:
            AlignerDataError: A damaged model file.
        """
        return (
            read_words(self._table("forward.params")),
            read_words(self._table("reverse.params")),
        )

    def attach(self, name: str, write: Callable[[Path], object]) -> None:
        """Keep a file with the model, such as tables made for a use of it; it moves no link.

        Args:
            name: Its name, of small letters, digits, dots and dashes; a file of that name is
                replaced.
            write: Writes the file of the path that it is given.

        Raises:
            ValueError: Another kind of name.
        """
        if not is_attachment_name(name):
            raise ValueError(f"not the name of an attachment: {name!r}")
        path = Path(self._folder.name) / member_name(name)
        path.parent.mkdir(exist_ok=True)
        write(path)
        attached = {**self._manifest.attached, name: file_sha256(path)}
        self._manifest = replace(self._manifest, attached=attached)

    def attachment(self, name: str) -> Path | None:
        """The file of that name that is kept with the model; None if there is none.

        Raises:
            AlignerDataError: A damaged model file.
        """
        if name not in self._manifest.attached:
            return None
        return self._unpacked(member_name(name), self._manifest.attached[name])

    def attached_model(self, name: str) -> FastAlign | None:
        """A model that is kept with this one, to be run in the same way; None if there is none."""
        path = self.attachment(name)
        if path is None:
            return None
        return FastAlign.load(
            path,
            fast_align=self._fast_align,
            threads=self._threads,
            timeout=self._timeout,
            keep=self._standby is not None,
        )

    def _model(self, direction: Direction, *, prune: bool) -> ForcedModel:
        if not prune and not self._manifest.has_full_tables:
            raise AlignerDataError(
                "the model has no tables in full precision, as it was trained with another "
                "fast_align: train it with the aligner that comes with coverage-eval"
            )
        table = self._table(f"{direction}.{'params' if prune else 'full'}")
        parameters = self._manifest.parameters(direction)
        return ForcedModel(direction, table, parameters, self._manifest.settings, rounded=prune)

    def _table(self, name: str) -> Path:
        return self._unpacked(name, self._manifest.tables[name])

    def _unpacked(self, member: str, sha256: str) -> Path:
        path = Path(self._folder.name) / member
        if not path.exists():
            if self._archive is None:
                raise AlignerDataError("this model was closed; load it again")
            partial = path.with_name(f"{path.name}.partial")
            partial.parent.mkdir(exist_ok=True)
            extract_table(self._archive, member, sha256, partial)
            partial.replace(path)
        return path

    def close(self) -> None:
        """Remove the temporary files; the model cannot be used any more."""
        self._archive = self._training = None
        if self._standby is not None:
            self._standby.close()
        self._folder.cleanup()

    def __enter__(self) -> FastAlign:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<FastAlign {self.hash}: {self._manifest.pairs:,} training pairs>"


def _train_model(run: TrainingRun, notes: dict[str, Any]) -> Manifest:
    """Train, and leave tables and links in the run's folder."""
    text = run.text
    parameters = train(run)
    text.path.unlink()
    tables = table_names(full=run.binary.is_own)
    return Manifest(
        settings=run.settings,
        forward=parameters["forward"],
        reverse=parameters["reverse"],
        pairs=text.pairs,
        empty_pairs=text.empty_pairs,
        source_tokens=text.source_tokens,
        target_tokens=text.target_tokens,
        training_text_sha256=text.sha256,
        tables={name: file_sha256(run.folder / name) for name in tables},
        aligner=run.binary.version,
        version=__version__,
        notes=notes,
    )
