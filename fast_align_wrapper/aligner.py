"""FastAlign: train both directions of a model, align text with it, keep it in one file.

Text is aligned in batches. While the aligner works on one batch, the results of the one before are
read,
so that both processes work at once, and memory does not grow with the text.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fast_align_wrapper import __version__
from fast_align_wrapper.errors import (
    AlignerDataError,
    AlignerError,
    AlignerNotFoundError,
    AlignerWarning,
)
from fast_align_wrapper.files import file_sha256
from fast_align_wrapper.links import (
    DEFAULT_SYMMETRIZATION,
    Links,
    check_symmetrization,
    format_links,
    parse_links,
)
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
from fast_align_wrapper.process import (
    DEFAULT_TIMEOUT,
    Binary,
    Child,
    Sender,
    find_fast_align,
)
from fast_align_wrapper.settings import DIRECTIONS, Direction, Settings
from fast_align_wrapper.text import Pair, PreparedPair, prepare_pairs
from fast_align_wrapper.training import TrainingRun, TrainingText, progress_bar, train

PathLike = str | os.PathLike[str]
R = TypeVar("R")
T = TypeVar("T")

_POSTERIORS_MAGIC = b"CEPOST1\n"
_BATCH_PAIRS, _BATCH_BYTES = 512, 1 << 20


@dataclass(frozen=True)
class ForcedLinks:
    """Links of a pair in one direction.

    Attributes:
        links: The links.
        score: Natural log-probability of the generated side and its length; None for a pair with
            an empty side.
    """

    links: Links
    score: float | None


@dataclass(frozen=True)
class ScoredLinks:
    """Symmetrised links of a pair, with the scores of the directions they come from.

    Attributes:
        links: The links.
        scores: Score of each direction, forward first, as in :class:`ForcedLinks`.
    """

    links: Links
    scores: tuple[float | None, ...]

    def format(self, *, scores: bool) -> str:
        """A Pharaoh line; on request each score after a tab, empty where there is none."""
        fields = [format_links(self.links)]
        if scores:
            fields += ["" if score is None else f"{score:g}" for score in self.scores]
        return "\t".join(fields)


@dataclass(frozen=True)
class Posterior:
    """The probability of every link of a pair under one direction of a model.

    Attributes:
        matrix: Probabilities ``[target words, source words]``, float32. In the forward direction
            it is p(a_j = i | pair): each row, with the row's entry of ``null``, sums to 1. In the
            reverse direction each column does, with the column's entry of ``null``.
        null: Probability of NULL: ``[target words]`` forward, ``[source words]`` reverse.
        direction: ``forward`` or ``reverse``.
    """

    matrix: NDArray[np.float32]
    null: NDArray[np.float32]
    direction: Direction

    @property
    def coverage(self) -> NDArray[np.float64]:
        """How much each word that others are linked to is covered: min(1, Σ p of its links).

        ``[source words]`` forward, ``[target words]`` reverse, 0 to 1.
        """
        links = self.matrix if self.direction == "forward" else self.matrix.T
        return np.asarray(np.minimum(1.0, links.sum(axis=0, dtype=np.float64)))

    @classmethod
    def of_empty_side(
        cls, source_length: int, target_length: int, direction: Direction
    ) -> Posterior:
        """For a pair without words on one side: everything is linked to NULL."""
        generated = target_length if direction == "forward" else source_length
        matrix = np.zeros((target_length, source_length), np.float32)
        return cls(matrix, np.ones(generated, np.float32), direction)


class FastAlign:
    """A frozen word alignment model of both directions.

    Get one by :meth:`train` or :meth:`load`. Text comes as pairs of a source and a target segment,
    each a string, split at spaces and tabs, or a list of tokens; a pair with an empty side has no
    links. All links are source-target, counted from 0.
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
        # When this object is freed, or at exit; a forked child has the same object.
        self._remove_folder = weakref.finalize(self, _remove, folder, os.getpid())
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
            fast_align: The executable, as :func:`~fast_align_wrapper.process.find_fast_align`.
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
        folder = _temporary_folder()
        try:
            text = TrainingText.write(prepare_pairs(pairs), folder / "training.txt")
            copied = json.loads(json.dumps(dict(notes or {})))
            with progress_bar(wanted=progress) as show:
                run = TrainingRun(
                    binary, settings, text, folder, threads, memory, timeout, progress=show
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
            _remove(folder, os.getpid())
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
            AlignerDataError: There is no such file; it is no model, of another version, or damaged.
        """
        return cls(
            read_manifest(path),
            _temporary_folder(),
            archive=Path(path),
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
        """The executable that aligns.

        Raises:
            AlignerNotFoundError: There is none.
        """
        return find_fast_align(self._fast_align)

    @property
    def hash(self) -> str:
        """The first 12 hexadecimal digits of the hash of everything that affects a link."""
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
        self, pairs: Iterable[Pair], directions: Sequence[Direction], *, prune: bool
    ) -> Iterator[tuple[ForcedLinks, ...]]:
        binary = self.binary
        commands = [
            self._command(binary, direction, len(directions), prune=prune)
            for direction in directions
        ]
        return _stream(
            commands, self._timeout, _without_oversize(prepare_pairs(pairs)),
            results=Child.lines, check=_parse_line, empty=lambda _: ForcedLinks((), None),
        )  # fmt: skip

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
        binary = self.binary
        if not binary.is_own:
            raise AlignerNotFoundError(
                f"{binary.path}: gives no posteriors; use the aligner that comes with coverage-eval"
            )
        command = [*self._command(binary, direction, 1, prune=False), "--posteriors", "-"]

        def empty(pair: PreparedPair) -> Posterior:
            return Posterior.of_empty_side(pair.source_length, pair.target_length, direction)

        rows = _stream(
            [command], self._timeout, _refuse_oversize(prepare_pairs(pairs)),
            results=lambda child: _read_posteriors(child, direction),
            check=_check_posterior, empty=empty,
        )  # fmt: skip
        return (one for (one,) in rows)

    def training_links(self, symmetrize: str = DEFAULT_SYMMETRIZATION) -> Iterator[Links]:
        """Links of the training pairs, as the last pass of training found them.

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
        """Keep a file with the model, such as tables for one use of it; it affects no link.

        Args:
            name: Its name, of small letters, digits, dots and dashes; a file of that name is
                replaced.
            write: Writes the file of the path that it is given.

        Raises:
            ValueError: Another kind of name.
        """
        if not is_attachment_name(name):
            raise ValueError(f"not the name of an attachment: {name!r}")
        path = self._folder / member_name(name)
        path.parent.mkdir(exist_ok=True)
        write(path)
        attached = {**self._manifest.attached, name: file_sha256(path)}
        self._manifest = replace(self._manifest, attached=attached)

    def attachment(self, name: str) -> Path | None:
        """The file with that name that is kept with the model; None if there is none.

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
            path, fast_align=self._fast_align, threads=self._threads, timeout=self._timeout
        )

    def _command(
        self, binary: Binary, direction: Direction, aligners: int, *, prune: bool
    ) -> list[str]:
        """The command line of one of several aligners that read pairs from standard input."""
        if not prune and not self._manifest.has_full_tables:
            raise AlignerDataError(
                "the model has no tables in full precision, as it was trained with another "
                "fast_align: train it with the aligner that comes with coverage-eval"
            )
        table = self._table(f"{direction}.{'params' if prune else 'full'}")
        settings, parameters = self._manifest.settings, self._manifest.parameters(direction)
        digits = ".6g" if prune else ".17g"  # six are what the original prints
        command = [*binary.command, "-i", "-", "-f", str(table)]
        command += ["-m", format(parameters.length_multiplier, digits), "-q", repr(settings.p0)]
        if settings.favor_diagonal:
            command += ["-d", "-T", format(parameters.tension, digits)]
        command += ["-r"] if direction == "reverse" else []
        if binary.is_own:
            threads = max(1, (self._threads or os.cpu_count() or 1) // aligners)
            command += ["--threads", str(threads)]
        return command

    def _table(self, name: str) -> Path:
        return self._unpacked(name, self._manifest.tables[name])

    def _unpacked(self, member: str, sha256: str) -> Path:
        path = self._folder / member
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
        self._remove_folder()

    def __enter__(self) -> FastAlign:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<FastAlign {self.hash}: {self._manifest.pairs:,} training pairs>"


def _temporary_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="word-aligner-"))


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _stream(
    commands: Sequence[Sequence[str]],
    timeout: float | None,
    pairs: Iterable[PreparedPair],
    *,
    results: Callable[[Child], Iterator[R]],
    check: Callable[[Child, R, PreparedPair], T],
    empty: Callable[[PreparedPair], T],
) -> Iterator[tuple[T, ...]]:
    """Send the same pairs to several aligners and yield their results in order.

    Args:
        commands: The aligners.
        timeout: Seconds without a sign of life after which to give up.
        pairs: The pairs; those without a line are withheld.
        results: What an aligner gives, one result a pair.
        check: Turns a result into what is given, or raises AlignerError.
        empty: Makes the result of a pair that was withheld.
    """
    with ExitStack() as stack:
        children = [stack.enter_context(Child(command, timeout)) for command in commands]
        sender = stack.enter_context(Sender(children))
        source = _batches(pairs)
        sent: deque[list[PreparedPair]] = deque()
        fed = 0
        found = {child: results(child) for child in children}
        taken = dict.fromkeys(children, 0)

        def send_next() -> None:
            nonlocal fed
            batch = next(source, None)
            if batch is None:
                sender.send(None)
                return
            sender.send(b"".join(pair.line for pair in batch))
            sent.append(batch)
            fed += sum(bool(pair.line) for pair in batch)

        def send_more() -> None:
            # Some aligners read a whole text before they print anything.
            if sender.is_idle:
                send_next()

        def column(child: Child, batch: Sequence[PreparedPair]) -> Iterator[T]:
            for pair in batch:
                if not pair.line:
                    yield empty(pair)
                    continue
                result = next(found[child], None)
                if result is None:
                    raise child.fail(f"{taken[child]} results for {fed} pairs of segments")
                taken[child] += 1
                yield check(child, result, pair)

        for child in children:
            child.on_quiet = send_more
        send_next()
        while sent:
            send_next()
            *first, last = (column(child, sent[0]) for child in children)
            yield from zip(*map(list, first), last, strict=True)
            sent.popleft()
        for child in children:
            taken[child] += sum(1 for _ in found[child])
            if taken[child] != fed:
                raise child.fail(f"{taken[child]} results for {fed} pairs of segments")


def _batches(pairs: Iterable[PreparedPair]) -> Iterator[list[PreparedPair]]:
    batch: list[PreparedPair] = []
    size = 0
    for pair in pairs:
        batch.append(pair)
        size += len(pair.line)
        if len(batch) == _BATCH_PAIRS or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _without_oversize(pairs: Iterable[PreparedPair]) -> Iterator[PreparedPair]:
    for number, pair in enumerate(pairs, start=1):
        if pair.is_oversize:
            warnings.warn(
                f"pair {number}: {pair.source_length} times {pair.target_length} words are too "
                "many; it gets no links",
                AlignerWarning,
                stacklevel=2,
            )
        yield pair._replace(line=b"") if pair.is_oversize else pair


def _refuse_oversize(pairs: Iterable[PreparedPair]) -> Iterator[PreparedPair]:
    for number, pair in enumerate(pairs, start=1):
        if pair.is_oversize:
            raise AlignerDataError(
                f"pair {number}: posteriors of {pair.source_length} times {pair.target_length} "
                "words do not fit in memory; split the segment"
            )
        yield pair


def _parse_line(child: Child, line: bytes, pair: PreparedPair) -> ForcedLinks:
    """Links and score of a line of forced alignment, which begins with the pair's text."""
    # Without links, the original prints no second space between the two marks.
    fields = line.rsplit(b" |||", 2)
    try:
        links, score = parse_links(fields[1].decode("ascii")), float(fields[2])
    except (IndexError, ValueError):
        shown = line[-80:].decode("utf-8", "replace")
        raise child.fail(f"printed a line without links and score, ending in '{shown}'") from None
    if math.isnan(score):
        raise child.fail("a score is not a number (NaN): the model or the aligner is damaged")
    for source, target in links:
        if source >= pair.source_length or target >= pair.target_length:
            raise child.fail(
                f"link {source}-{target} is out of range in a pair of {pair.source_length} and "
                f"{pair.target_length} tokens"
            )
    return ForcedLinks(links, score)


def _read_posteriors(child: Child, direction: Direction) -> Iterator[Posterior]:
    """The records of the binary stream on an aligner's standard output."""
    if child.read(len(_POSTERIORS_MAGIC)) != _POSTERIORS_MAGIC:
        raise child.fail("its posteriors are in an unknown form")
    while len(header := child.read(8)) == 8:
        rows, columns = map(int, np.frombuffer(header, "<u4"))
        data = child.read(4 * rows * (columns + 1))
        if len(data) < 4 * rows * (columns + 1):
            return
        values = np.frombuffer(data, "<f4").astype(np.float32, copy=False)
        matrix = values[rows:].reshape(rows, columns)
        yield Posterior(matrix if direction == "forward" else matrix.T, values[:rows], direction)


def _check_posterior(child: Child, posterior: Posterior, pair: PreparedPair) -> Posterior:
    shape = (pair.target_length, pair.source_length)
    if posterior.matrix.shape != shape:
        raise child.fail(
            f"posteriors of shape {posterior.matrix.shape} for a pair of shape {shape}"
        )
    # One sum finds a NaN anywhere.
    if math.isnan(float(posterior.matrix.sum()) + float(posterior.null.sum())):
        raise AlignerError("a posterior is not a number (NaN): the model is damaged")
    return posterior
