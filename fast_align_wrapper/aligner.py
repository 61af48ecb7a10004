"""FastAlign: trains a model of both directions, aligns text with it, keeps it in one file."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from fast_align_wrapper import AlignerDataError, AlignerNotFoundError, __version__
from fast_align_wrapper.forced import (
    Posterior,
    PosteriorAligner,
    force_align,
    read_posteriors,
)
from fast_align_wrapper.links import DEFAULT_SYMMETRIZATION, Links, check_symmetrization
from fast_align_wrapper.links import symmetrize as join
from fast_align_wrapper.model import (
    ATTACHED,
    ATTACHMENT_NAME,
    DIRECTIONS,
    FULL_TABLES,
    TABLES,
    Direction,
    Manifest,
    Settings,
    extract_table,
    file_sha256,
    read_manifest,
    read_table,
    read_words,
    write_model,
)
from fast_align_wrapper.process import Binary, find_fast_align, find_threads
from fast_align_wrapper.temporary import TemporaryFolder
from fast_align_wrapper.text import Pair
from fast_align_wrapper.training import TrainingText, train

PathLike = str | os.PathLike[str]


class FastAlign:
    """A frozen word alignment model of both directions.

    Get one from :meth:`train` or :meth:`load`. Text is given as pairs of a source and a target
    segment, each a list of tokens or a string, which is split at spaces and tabs. A pair with an
    empty side has no links. All links are source-target, counted from 0.

    Attributes:
        manifest: Settings, parameters, counts, hashes and versions.
    """

    def __init__(
        self,
        manifest: Manifest,
        folder: TemporaryFolder,
        *,
        archive: Path | None = None,
        training: TrainingText | None = None,
        threads: int | None = None,
    ) -> None:
        self.manifest = manifest
        self._training = training
        self._temporary = folder
        self._folder = folder.path
        self._archive = archive
        self._threads = threads
        self._idle: dict[object, list[PosteriorAligner]] | None = None
        self._vocabulary: tuple[frozenset[str], frozenset[str]] | None = None

    @classmethod
    def train(
        cls,
        pairs: Iterable[Pair],
        *,
        notes: Mapping[str, Any] | None = None,
        threads: int | None = None,
        memory: int | None = None,
        progress: Callable[[float], None] | None = None,
        **settings: Any,
    ) -> FastAlign:
        """Train on parallel text.

        Args:
            pairs: Source and target segments; they are read once and never held in memory.
            notes: Names and JSON values to keep in ``manifest.notes``, such as the tokeniser of the
                text. They affect no link. The mapping is read after the last pair, so the iterator
                of pairs may fill it.
            threads: Number of threads; None for that of the environment variable
                ``FAST_ALIGN_THREADS``, or all cores. It does not change the result.
            memory: Limit of the aligner's index in bytes; None for half of the machine's memory.
            progress: Called with the share of the training that is done, from 0 to 1.
            **settings: The attributes of :class:`~fast_align_wrapper.model.Settings`:
                ``favor_diagonal``, ``optimize_tension``, ``variational_bayes``, ``iterations``,
                ``p0``, ``alpha``, ``tension``.

        Raises:
            AlignerDataError: No pair has words on both sides.
            AlignerNotFoundError: There is no executable.
            AlignerError: The aligner failed; the message has the last lines of its log.
            TypeError: An item is not a pair, a note is not a JSON value, or an unknown setting.
            ValueError: A setting is out of range.
        """
        chosen = Settings(**settings)
        binary = find_fast_align()
        temporary = TemporaryFolder()
        folder = temporary.path
        try:
            text = TrainingText.write(pairs, folder / "training.txt")
            copied_notes = json.loads(json.dumps(dict(notes or {})))
            parameters = train(binary, chosen, text, find_threads(threads), memory, progress)
            text.path.unlink()
            tables = FULL_TABLES if binary.version else TABLES
            manifest = Manifest(
                settings=chosen,
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
                notes=copied_notes,
            )
        except BaseException:
            temporary.close()
            raise
        return cls(manifest, temporary, training=text, threads=threads)

    @classmethod
    def load(cls, path: PathLike, *, threads: int | None = None) -> FastAlign:
        """Load a model file.

        Args:
            path: The file, as :meth:`save` writes it.
            threads: As in :meth:`train`.

        Raises:
            AlignerDataError: No such file, not a model, a model of another version, or a damaged
                one.
        """
        return cls(
            read_manifest(path),
            TemporaryFolder(),
            archive=Path(path).absolute(),  # it is read later, perhaps from another folder
            threads=threads,
        )

    def save(self, path: PathLike) -> None:
        """Write everything to one file, complete or not at all.

        Raises:
            AlignerDataError: The file cannot be written.
        """
        for name in self.manifest.members:
            self._unpacked(name)
        write_model(path, self.manifest, self._folder)

    @property
    def hash(self) -> str:
        """The first 12 hexadecimal digits of a hash of everything that affects a link."""
        return self.manifest.hash[:12]

    def align(
        self, pairs: Iterable[Pair], symmetrize: str = DEFAULT_SYMMETRIZATION
    ) -> Iterator[Links]:
        """The links of each pair, in order; memory does not grow with the text.

        Args:
            pairs: Source and target segments.
            symmetrize: One of :data:`fast_align_wrapper.links.SYMMETRIZATIONS`.

        Raises:
            AlignerDataError: A damaged model file.
            AlignerNotFoundError: There is no executable.
            AlignerError: The aligner failed.
        """
        check_symmetrization(symmetrize)
        binary = find_fast_align()
        directions = [symmetrize] if symmetrize in DIRECTIONS else DIRECTIONS
        commands = [self._command(binary, direction, "params") for direction in directions]
        found = force_align(commands, pairs)
        if symmetrize in DIRECTIONS:
            return (only.links for (only,) in found)
        return (join(forward.links, reverse.links, symmetrize) for forward, reverse in found)

    def scores(self, pairs: Iterable[Pair]) -> Iterator[float | None]:
        """The natural log-probability of each target and its length, given its source.

        It is None for a pair with an empty side or too many words; it raises as :meth:`align`.
        """
        command = self._command(find_fast_align(), "forward", "params")
        return (only.score for (only,) in force_align([command], pairs))

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
        binary = find_fast_align()
        if binary.version is None:
            raise AlignerNotFoundError(
                f"{binary.path}: gives no posteriors; use the aligner that comes with coverage-eval"
            )
        if "forward.full" not in self.manifest.tables:
            raise AlignerDataError(
                "the model has no tables in full precision, as it was trained with another "
                "fast_align: train it with the aligner that comes with coverage-eval"
            )
        command = [*self._command(binary, direction, "full"), "--posteriors", "-"]
        idle = None
        if self._idle is not None:  # a forked process has none yet
            idle = self._idle.setdefault((os.getpid(), *command), [])
        return read_posteriors(command, pairs, direction, idle)

    def keep_running(self) -> None:
        """Keep the aligners that give posteriors, with the tables in memory, until :meth:`close`.

        Without that each text starts one, which reads the tables again.
        """
        if self._idle is None:
            self._idle = {}
            self._end_idle = weakref.finalize(self, _end_idle, self._idle, os.getpid())

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
        return self._training.links(symmetrize)

    def vocabulary(self) -> tuple[frozenset[str], frozenset[str]]:
        """The source words and the target words that the model knows, read once.

        Raises:
            AlignerDataError: A damaged model file.
        """
        if self._vocabulary is None:
            sources = read_words(self._unpacked("forward.params"))
            self._vocabulary = sources, read_words(self._unpacked("reverse.params"))
        return self._vocabulary

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
        ending = "full" if "forward.full" in self.manifest.tables else "params"
        return read_table(self._unpacked(f"{direction}.{ending}"))

    def attach(self, name: str, write: Callable[[Path], object]) -> None:
        """Keep a file with the model, such as tables for one purpose; it affects no link.

        Args:
            name: Its name: lowercase letters, digits, dots and dashes. A file of the same name is
                replaced.
            write: Writes the file to the path that it is given.

        Raises:
            ValueError: The name has other characters.
        """
        if not ATTACHMENT_NAME.fullmatch(name):
            raise ValueError(f"not the name of an attachment: {name!r}")
        path = self._folder / f"{ATTACHED}{name}"
        path.parent.mkdir(exist_ok=True)
        write(path)
        attached = {**self.manifest.attached, name: file_sha256(path)}
        self.manifest = replace(self.manifest, attached=attached)

    def attachment(self, name: str) -> Path | None:
        """The file of that name that is kept with the model; None if there is none.

        Raises:
            AlignerDataError: A damaged model file.
        """
        if name not in self.manifest.attached:
            return None
        return self._unpacked(f"{ATTACHED}{name}")

    def attached_model(self, name: str) -> FastAlign | None:
        """A model that is kept with this one, with the same settings; None if there is none."""
        path = self.attachment(name)
        return None if path is None else FastAlign.load(path, threads=self._threads)

    def _command(self, binary: Binary, direction: str, ending: str) -> list[str]:
        """The command line of an aligner that reads standard input.

        Args:
            binary: The aligner.
            direction: The direction.
            ending: The ending of the direction's table.
        """
        manifest, is_reverse = self.manifest, direction == "reverse"
        parameters = manifest.reverse if is_reverse else manifest.forward
        digits = ".6g" if ending == "params" else ".17g"  # the original prints six digits
        command = [*binary.command, "-i", "-", "-q", repr(manifest.settings.p0)]
        command += ["-f", str(self._unpacked(f"{direction}.{ending}"))]
        command += ["-m", format(parameters.length_multiplier, digits)]
        if manifest.settings.favor_diagonal:
            command += ["-d", "-T", format(parameters.tension, digits)]
        if is_reverse:
            command += ["-r"]
        threads = find_threads(self._threads)
        if binary.version and threads is not None:
            command += ["--threads", str(threads)]
        return command

    def _unpacked(self, member: str) -> Path:
        """The unpacked table or attached file of that name in the model file."""
        path = self._folder / member
        if not path.exists():
            if self._archive is None:
                raise AlignerDataError("this model is closed; load it again")
            path.parent.mkdir(exist_ok=True)
            # Other threads and forked processes may unpack it at the same time.
            descriptor, partial = mkstemp(prefix=f"{path.name}.", dir=path.parent)
            os.close(descriptor)
            extract_table(self._archive, member, self.manifest.members[member], Path(partial))
            Path(partial).replace(path)
        return path

    def close(self) -> None:
        """Remove the temporary files; the model cannot be used after that."""
        self._archive = self._training = None
        if self._idle is not None:
            self._end_idle()
            self._idle = None
        self._temporary.close()

    def __enter__(self) -> FastAlign:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<FastAlign {self.hash}: {self.manifest.pairs:,} training pairs>"


def _end_idle(idle: Mapping[object, Iterable[PosteriorAligner]], owner: int) -> None:
    """End aligners that wait for pairs, except in a forked child of the process that owns them."""
    for aligner in chain.from_iterable(idle.values()) if os.getpid() == owner else ():
        aligner.child.close()
