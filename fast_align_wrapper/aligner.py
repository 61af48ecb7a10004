"""FastAlign: trains a model of both directions, aligns text with it, keeps it in one file."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from fast_align_wrapper import __version__
from fast_align_wrapper.errors import AlignerDataError, AlignerNotFoundError
from fast_align_wrapper.files import file_sha256, remove_folder
from fast_align_wrapper.forced import ForcedLinks, Posterior, force_align, read_posteriors
from fast_align_wrapper.links import (
    DEFAULT_SYMMETRIZATION,
    Links,
    check_symmetrization,
)
from fast_align_wrapper.links import symmetrize as join
from fast_align_wrapper.model import (
    Manifest,
    extract_table,
    is_attachment_name,
    member_name,
    read_manifest,
    read_table,
    read_words,
    table_names,
    write_model,
)
from fast_align_wrapper.process import DEFAULT_TIMEOUT, Binary, find_fast_align, find_threads
from fast_align_wrapper.settings import DIRECTIONS, Direction, Settings
from fast_align_wrapper.text import Pair, prepare_pairs
from fast_align_wrapper.training import TrainingRun, TrainingText, progress_bar, train

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class ScoredLinks:
    """Symmetrised links of a pair, with the scores of the directions that they come from.

    Attributes:
        links: The links.
        scores: The score of each direction, forward first, as in :class:`ForcedLinks`.
    """

    links: Links
    scores: tuple[float | None, ...]


_FOLDER = "coverage-eval-model-"
"""The start of the names of temporary folders."""


class FastAlign:
    """A frozen word alignment model of both directions.

    Get one from :meth:`train` or :meth:`load`. Text is given as pairs of a source and a target
    segment, each a list of tokens or a string, which is split at spaces and tabs. A pair with an
    empty side has no links. All links are source-target, counted from 0.
    """

    def __init__(
        self,
        manifest: Manifest,
        folder: Path,
        *,
        archive: Path | None = None,
        training: TrainingRun | None = None,
        fast_align: PathLike | None = None,
        threads: int | None = None,
        timeout: float | None = DEFAULT_TIMEOUT,
    ) -> None:
        self._manifest = manifest
        self._training = training
        self._folder = folder
        # Runs when this object is freed, or at exit.
        self._remove_folder = weakref.finalize(self, remove_folder, folder, os.getpid())
        self._archive = archive
        self._fast_align = fast_align
        self._threads = threads
        self._timeout = timeout

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
            pairs: Source and target segments; they are read once and never held in memory.
            favor_diagonal: Prefer links near the diagonal; this and the next six arguments are the
                attributes of :class:`~fast_align_wrapper.settings.Settings`.
            optimize_tension: Fit the tension.
            variational_bayes: Use the Dirichlet prior.
            iterations: Passes over the text.
            p0: Probability of NULL.
            alpha: Concentration of the Dirichlet prior.
            tension: Initial tension.
            notes: Names and JSON values to keep in ``manifest.notes``, such as the tokeniser of the
                text. They affect no link. The mapping is read after the last pair, so the iterator
                of pairs may fill it.
            threads: Number of threads; None for that of the environment variable
                ``FAST_ALIGN_THREADS``, or all cores. It does not change the result.
            memory: Limit of the aligner's index in bytes; None for half of the machine's memory.
            fast_align: The executable, as :func:`~fast_align_wrapper.process.find_fast_align`.
            timeout: The aligner is stopped when it has printed nothing for this many seconds; None
                for no limit.
            progress: Show a progress bar if standard error is a terminal.

        Raises:
            AlignerDataError: No pair has words on both sides.
            AlignerNotFoundError: There is no executable.
            AlignerError: The aligner failed; the message has the last lines of its log.
            TypeError: An item is not a pair, or a note is not a JSON value.
            ValueError: A setting is out of range.
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
        folder = Path(mkdtemp(prefix=_FOLDER))
        try:
            text = TrainingText.write(prepare_pairs(pairs), folder / "training.txt")
            copied = json.loads(json.dumps(dict(notes or {})))
            with progress_bar(wanted=progress) as show:
                run = TrainingRun(
                    binary,
                    settings,
                    text,
                    folder,
                    find_threads(threads),
                    memory,
                    timeout,
                    progress=show,
                )
                parameters = train(run)
            text.path.unlink()
            tables = table_names(full=binary.is_own)
            manifest = Manifest(
                settings=settings,
                forward=parameters["forward"],
                reverse=parameters["reverse"],
                pairs=text.pairs,
                empty_pairs=text.empty_pairs,
                source_tokens=text.source_tokens,
                target_tokens=text.target_tokens,
                training_text_sha256=text.sha256,
                tables={name: file_sha256(folder / name) for name in tables},
                aligner=binary.version,
                version=__version__,
                notes=copied,
            )
        except BaseException:
            remove_folder(folder, os.getpid())
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
    ) -> FastAlign:
        """Load a model file.

        Args:
            path: The file, as :meth:`save` writes it.
            fast_align: The executable to align with, as in :meth:`train`.
            threads: As in :meth:`train`.
            timeout: As in :meth:`train`.

        Raises:
            AlignerDataError: No such file, not a model, a model of another version, or a damaged
                one.
        """
        return cls(
            read_manifest(path),
            Path(mkdtemp(prefix=_FOLDER)),
            archive=Path(path).absolute(),  # it is read later, perhaps from another folder
            fast_align=fast_align,
            threads=threads,
            timeout=timeout,
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
        write_model(path, self._manifest, self._folder)

    @property
    def manifest(self) -> Manifest:
        """Settings, parameters, counts, hashes and versions."""
        return self._manifest

    @property
    def binary(self) -> Binary:
        """The executable to align with.

        Raises:
            AlignerNotFoundError: There is none.
        """
        return find_fast_align(self._fast_align)

    @property
    def hash(self) -> str:
        """The first 12 hexadecimal digits of a hash of everything that affects a link."""
        return self._manifest.hash[:12]

    def align(
        self,
        pairs: Iterable[Pair],
        symmetrize: str = DEFAULT_SYMMETRIZATION,
        *,
        prune: bool = True,
    ) -> Iterator[Links]:
        """The links of each pair, in order; memory does not grow with the text.

        Args:
            pairs: Source and target segments.
            symmetrize: One of :data:`fast_align_wrapper.links.SYMMETRIZATIONS`.
            prune: Use the pruned tables, for the same links as the original fast_align; otherwise
                those in full precision.

        Raises:
            AlignerDataError: A damaged model file, or one without tables in full precision.
            AlignerNotFoundError: There is no executable.
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
        """Like :meth:`align`, with the scores of the directions that the method needs."""
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

    def _forced(
        self, pairs: Iterable[Pair], directions: Sequence[Direction], *, prune: bool
    ) -> Iterator[tuple[ForcedLinks, ...]]:
        binary = self.binary
        commands = [
            self._command(binary, direction, len(directions), prune=prune)
            for direction in directions
        ]
        return force_align(commands, prepare_pairs(pairs), self._timeout)

    def posteriors(
        self, pairs: Iterable[Pair], direction: Direction = "forward"
    ) -> Iterator[Posterior]:
        """The probability of each link, from the tables in full precision, one pair at a time.

        Args:
            pairs: Source and target segments.
            direction: The direction of the model; the matrix is target × source in both.

        Raises:
            AlignerDataError: A damaged model file, one without tables in full precision, or a pair
                that is too long.
            AlignerNotFoundError: There is no executable, or it is another fast_align.
            AlignerError: The aligner failed.
        """
        if direction not in DIRECTIONS:
            raise ValueError(f"direction is forward or reverse, not {direction!r}")
        binary = self.binary
        if not binary.is_own:
            raise AlignerNotFoundError(
                f"{binary.path}: gives no posteriors; use the aligner that comes with coverage-eval"
            )
        command = [*self._command(binary, direction, 1, prune=False), "--posteriors", "-"]
        return read_posteriors(command, prepare_pairs(pairs), direction, self._timeout)

    def training_links(self, symmetrize: str = DEFAULT_SYMMETRIZATION) -> Iterator[Links]:
        """Links of the training pairs, from the last pass of training.

        They differ slightly from those of :meth:`align`. A pair that was left out has none.

        Args:
            symmetrize: As in :meth:`align`.

        Raises:
            AlignerDataError: The model was loaded from a file, or it was closed.
        """
        check_symmetrization(symmetrize)
        if self._training is None:
            raise AlignerDataError("links of the training text are not kept in the model file")
        return self._training.restored_links(symmetrize)

    def vocabulary(self) -> tuple[frozenset[str], frozenset[str]]:
        """The source words and the target words that the model knows.

        Raises:
            AlignerDataError: A damaged model file.
        """
        return (
            read_words(self._table("forward.params")),
            read_words(self._table("reverse.params")),
        )

    def table(self, direction: Direction = "forward") -> Iterator[tuple[str, str, float]]:
        """The model's word translation probabilities, in no particular order.

        Args:
            direction: ``forward`` for those of target words, given a source word.

        Yields:
            The given word (``<eps>`` for NULL), the generated word, and the natural logarithm of
            its probability; from the table in full precision, if there is one. Words that are not
            listed together have a probability of less than 1e-7.

        Raises:
            AlignerDataError: A damaged model file.
        """
        ending = "full" if self._manifest.has_full_tables else "params"
        return read_table(self._table(f"{direction}.{ending}"))

    def attach(self, name: str, write: Callable[[Path], object]) -> None:
        """Keep a file with the model, such as tables for one purpose; it affects no link.

        Args:
            name: Its name: lowercase letters, digits, dots and dashes. A file of the same name is
                replaced.
            write: Writes the file to the path that it is given.

        Raises:
            ValueError: The name has other characters.
        """
        if not is_attachment_name(name):
            raise ValueError(f"not the name of an attachment: {name!r}")
        path = self._folder / member_name(name)
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
        """A model that is kept with this one, with the same settings; None if there is none."""
        path = self.attachment(name)
        if path is None:
            return None
        return FastAlign.load(
            path, fast_align=self._fast_align, threads=self._threads, timeout=self._timeout
        )

    def _command(
        self, binary: Binary, direction: Direction, aligners: int, *, prune: bool
    ) -> list[str]:
        """The command line of an aligner that reads standard input and shares the cores."""
        if not prune and not self._manifest.has_full_tables:
            raise AlignerDataError(
                "the model has no tables in full precision, as it was trained with another "
                "fast_align: train it with the aligner that comes with coverage-eval"
            )
        table = self._table(f"{direction}.{'params' if prune else 'full'}")
        settings, parameters = self._manifest.settings, self._manifest.parameters(direction)
        digits = ".6g" if prune else ".17g"  # the original prints six digits
        command = [*binary.command, "-i", "-", "-f", str(table)]
        command += ["-m", format(parameters.length_multiplier, digits), "-q", repr(settings.p0)]
        if settings.favor_diagonal:
            command += ["-d", "-T", format(parameters.tension, digits)]
        command += ["-r"] if direction == "reverse" else []
        if binary.is_own:
            threads = max(1, (find_threads(self._threads) or os.cpu_count() or 1) // aligners)
            command += ["--threads", str(threads)]
        return command

    def _table(self, name: str) -> Path:
        return self._unpacked(name, self._manifest.tables[name])

    def _unpacked(self, member: str, sha256: str) -> Path:
        path = self._folder / member
        if not path.exists():
            if self._archive is None:
                raise AlignerDataError("this model is closed; load it again")
            partial = path.with_name(f"{path.name}.partial")
            partial.parent.mkdir(exist_ok=True)
            extract_table(self._archive, member, sha256, partial)
            partial.replace(path)
        return path

    def close(self) -> None:
        """Remove the temporary files; the model cannot be used after that."""
        self._archive = self._training = None
        self._remove_folder()

    def __enter__(self) -> FastAlign:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<FastAlign {self.hash}: {self._manifest.pairs:,} training pairs>"
