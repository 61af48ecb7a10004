"""A test set: hypotheses, references and source segment by segment, as a stream of batches.

Texts come from lists, files or columns of tables. Every metric reads a :class:`Dataset` batch by
batch, and a batch keeps what an aligner computed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, tee
from os import PathLike
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from coverage_eval.core.errors import DataError, check_encodable
from coverage_eval.core.files import (
    STDIN,
    Text,
    file_of,
    held_text,
    is_held,
    read_parallel,
    source_name,
)
from coverage_eval.core.machine import DiskList
from coverage_eval.core.text import is_text, read_segments
from fast_align_wrapper.text import Segment

T = TypeVar("T")

ONE_SYSTEM = "the hypothesis"
"""The name of the output in messages if only one system is scored."""

BATCH_SEGMENTS = 64
"""Most segments in a batch: enough to make up for the cost of a process, few enough for memory."""

BATCH_LENGTH = 1 << 20
"""Most characters, or tokens, in a batch of long segments; their counts take far more memory."""


class Row(NamedTuple):
    """One segment of a test set.

    Attributes:
        hypotheses: The segment as each system translated it; at least one.
        references: Its reference translations; may be empty.
        source: The source segment; None if it is unknown.
        peers: Outputs of other systems, which are not scored.
        cuts: What cutting found in this line, for each hypothesis; empty if lines match anyway.
    """

    hypotheses: tuple[Segment, ...]
    references: tuple[Segment, ...] = ()
    source: Segment | None = None
    peers: tuple[Segment, ...] = ()
    cuts: tuple[Any, ...] = ()

    @property
    def length(self) -> int:
        """Characters, or tokens, of all its texts."""
        texts = self.hypotheses + self.references + self.peers
        return sum(map(len, texts)) + len(self.source or "")


class Request(NamedTuple):
    """What a metric needs from an aligner for each row, such as links.

    Attributes:
        key: Equal for requests that have the same answer.
        make: From rows to one answer per row, in their order; it may read rows ahead.
    """

    key: Hashable
    make: Callable[[Iterable[Row]], Iterable[Any]]


class Batch:
    """Some segments of a test set, with the aligners' answers for all metrics.

    Args:
        rows: The segments.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._made: dict[Hashable, Sequence[Any]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def get(self, request: Request) -> Sequence[Any]:
        """The answer to a request, one item per row; computed on demand."""
        if request.key not in self._made:
            self._made[request.key] = list(request.make(self.rows))
        return self._made[request.key]

    def has(self, request: Request) -> bool:
        """Whether the answer to a request is known."""
        return request.key in self._made

    def put(self, request: Request, answer: Sequence[Any]) -> None:
        """Keep an answer that was computed elsewhere."""
        self._made[request.key] = answer


def make_batches(rows: Iterable[Row], size: int = BATCH_SEGMENTS) -> Iterator[Batch]:
    """Cut a stream of rows into batches; long segments make smaller ones.

    Args:
        rows: The segments.
        size: Most segments in a batch.
    """
    held: list[Row] = []
    length = 0
    for row in rows:
        own = row.length
        if held and (len(held) == size or length + own > BATCH_LENGTH):
            yield Batch(held)
            held, length = [], 0
        held.append(row)
        length += own
    if held:
        yield Batch(held)


def answer_ahead(batches: Iterable[Batch], requests: Iterable[Request]) -> Iterator[Batch]:
    """The same batches, each with its answers to some requests.

    Each aligner runs once over all batches that lack its answers, and reads ahead: it works on the
    next batch while this one is counted.
    """
    requests = list({request.key: request for request in requests}.values())
    mine, *theirs = tee(batches, 1 + len(requests))

    def rows_without(request: Request, own: Iterable[Batch]) -> Iterator[Row]:
        return (row for batch in own if not batch.has(request) for row in batch.rows)

    answers = [
        iter(request.make(rows_without(request, own)))
        for request, own in zip(requests, theirs, strict=True)
    ]
    for batch in mine:
        for request, stream in zip(requests, answers, strict=True):
            if not batch.has(request):
                batch.put(request, list(islice(stream, len(batch))))
        yield batch
    for stream in answers:
        next(stream, None)  # an aligner that fails raises now


BLOCK_ROWS = 50
"""Rows that are kept together, so that each can be compared with its neighbours."""

MAX_BLOCKS = 40
"""2,000 rows are enough for every check; the number is even, so it can be halved exactly."""


@dataclass
class Blocks(Generic[T]):
    """Blocks of neighbouring rows of a stream, spread evenly over it.

    Whenever there are :data:`MAX_BLOCKS`, every second one is dropped, and from then on half as
    many are kept. So at most 2,000 rows are held, the same ones in every run.

    Attributes:
        kept: The rows of each block by its number from 0.
        size: Number of rows of the stream so far.
    """

    kept: dict[int, list[T]] = field(default_factory=dict)
    size: int = 0
    _stride: int = 1

    def add(self, row: T) -> None:
        """Look at the next row of the stream."""
        block, place = divmod(self.size, BLOCK_ROWS)
        self.size += 1
        if place == 0 and block % self._stride == 0 and len(self.kept) == MAX_BLOCKS:
            self._stride *= 2
            self.kept = {b: held for b, held in self.kept.items() if b % self._stride == 0}
        if block % self._stride == 0:
            self.kept.setdefault(block, []).append(row)

    @property
    def rows(self) -> list[T]:
        """The rows, in their order."""
        return list(chain.from_iterable(self.kept.values()))


class RowSample:
    """The first look at a test set: its texts' names, and blocks of neighbouring rows.

    Metrics are fitted to it, and checks look at it.

    Args:
        rows: The rows of the whole test set.
        systems: Names of the systems, in the order of each row's hypotheses.
        references: Names of the references.
        source: Name of the source; None if there is none.
        peers: Names of other systems' outputs, which are not scored.

    Attributes:
        rows: At most 2,000 of the rows, in their order.
        size: Number of all rows.
        blocks: The index in :attr:`rows` of each block's first row.
        lines: The number, from 1, of each block's first row in the test set.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        systems: Sequence[str],
        references: Sequence[str] = (),
        source: str | None = None,
        peers: Sequence[str] = (),
    ) -> None:
        taken: Blocks[Row] = Blocks()
        for row in rows:
            taken.add(row)
        self.size, self.rows = taken.size, taken.rows
        self.blocks = list(range(0, BLOCK_ROWS * len(taken.kept), BLOCK_ROWS))
        self.lines = [block * BLOCK_ROWS + 1 for block in taken.kept]
        self.systems, self.references = tuple(systems), tuple(references)
        self.source, self.peers = source, tuple(peers)
        self._made: dict[Hashable, Any] = {}

    @property
    def is_named(self) -> bool:
        """Whether the systems have names, which links and scores may go by."""
        return self.systems != (ONE_SYSTEM,)

    @property
    def is_whole(self) -> bool:
        """Whether every row of the test set is here."""
        return len(self.rows) == self.size

    @cached_property
    def batches(self) -> list[Batch]:
        """The rows in batches; what metrics ask of them to be fitted need not be made again."""
        return list(make_batches(self.rows))

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is made of this sample, once for all that ask with this key."""
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found


class GivenTexts(NamedTuple):
    """The texts of a test set by themselves; outputs may have other lines than the rest.

    Attributes:
        systems: Each system's output by its name.
        references: The references.
        source: The source; None if there is none.
        peers: Outputs of other systems, which are not scored.
    """

    systems: Mapping[str, Text]
    references: Sequence[Text] = ()
    source: Text | None = None
    peers: Sequence[Text] = ()


class Dataset:
    """The texts of a test set, which can be read several times.

    Args:
        read: Gives all rows, each time it is called.
        systems: Names of the systems, in the order of each row's hypotheses.
        references: Names of the references, for messages.
        source: Name of the source, for messages; None if there is none.
        peers: Names of other systems' outputs, which are not scored.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[Row]],
        systems: Sequence[str],
        references: Sequence[str] = (),
        source: str | None = None,
        peers: Sequence[str] = (),
    ) -> None:
        self._read = read
        self.systems = tuple(systems)
        self.references = tuple(references)
        self.source = source
        self.peers = tuple(peers)
        self.given: GivenTexts | None = None
        """The texts by themselves; None for lists, whose lines were put together."""

    @classmethod
    def of_lists(
        cls,
        systems: Mapping[str, Sequence[Segment]],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        peers: Sequence[Sequence[Segment]] = (),
    ) -> Dataset:
        """Texts in memory; arguments and errors are those of :func:`make_rows`."""
        check_encodable(systems, "the name of a system")
        rows = make_rows(systems, references, sources, peers)
        number = len(rows[0].references)
        names = ["the reference"] if number == 1 else _numbered(number)
        source = None if sources is None else "the source"
        return cls(lambda: rows, list(systems), names, source, _numbered(len(peers), "peer"))

    @classmethod
    def of_files(
        cls,
        systems: Mapping[str, Text],
        references: Sequence[Text] = (),
        source: Text | None = None,
        peers: Sequence[Text] = (),
    ) -> Dataset:
        """Texts in files or in columns of tables.

        Standard input and pipes, which can be read only once, are copied to disk.

        Args:
            systems: The text of each system's output, by the system's name.
            references: The text of each reference.
            source: The source's text.
            peers: Outputs of other systems, which are not scored.

        Raises:
            DataError: As :func:`~coverage_eval.core.files.read_parallel`, when rows are read.
        """
        files = [*systems.values(), *references, *peers, *([] if source is None else [source])]
        first, second = len(systems), len(systems) + len(references)
        last = second + len(peers)

        def row(lines: tuple[str, ...]) -> Row:
            own = None if source is None else lines[-1]
            return Row(lines[:first], lines[first:second], own, lines[second:last])

        names = [source_name(text) for text in references]
        name = None if source is None else source_name(source)
        peer_names = [*map(source_name, peers)]
        read = _reader(files, row)
        made = cls(read, list(systems), names, name, peer_names)
        made.given = GivenTexts(systems, references, source, peers)
        return made

    @classmethod
    def of_documents(
        cls,
        systems: Mapping[str, str | Sequence[Segment]],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        peers: Sequence[str | Sequence[Segment]] = (),
    ) -> Dataset:
        """Texts in memory whose outputs, each a text or its lines, have other lines than the rest.

        They can be read once :meth:`cut_by` has cut the outputs. Lists of tokens are joined by
        spaces.

        Raises:
            TypeError: A reference or the source is no list of lines.
        """
        check_encodable(systems, "the name of a system")
        outputs = {name: _held(name, _lines(output)) for name, output in systems.items()}
        first = _lines(next(iter(systems.values()), ""))
        several = [] if references is None else split_references(first, references)
        names = ["the reference"] if len(several) == 1 else _numbered(len(several))
        return cls.of_files(
            outputs,
            [_held(name, lines) for name, lines in zip(names, several, strict=True)],
            None if sources is None else _held("the source", sources),
            [
                _held(name, _lines(peer))
                for name, peer in zip(_numbered(len(peers), "peer"), peers, strict=True)
            ],
        )

    def cut_by(
        self,
        cut: Callable[[str, Text], tuple[Sequence[str], Sequence[Any]]],
        lines_of: Callable[[Text], Text],
    ) -> Dataset:
        """The same texts with outputs, peers included, that have other lines.

        Args:
            cut: From an output's name and text to its new lines, and what is known of each.
            lines_of: From a source or reference to its lines.
        """
        assert self.given is not None
        systems, references, source, peers = self.given
        found: list[Sequence[Any]] = []

        def matched(name: str, output: Text) -> Text:
            lines, cuts = cut(name, output)
            found.append(cuts)
            return held_text(source_name(output), lines)

        made = Dataset.of_files(
            {name: matched(name, output) for name, output in systems.items()},
            [lines_of(text) for text in references],
            None if source is None else lines_of(source),
            [matched(source_name(peer), peer) for peer in peers],
        )
        read, cuts = made._read, list(zip(*found[: len(systems)], strict=True))
        made._read = lambda: (row._replace(cuts=own) for row, own in zip(read(), cuts, strict=True))
        return made

    @classmethod
    def of_pairs(cls, source: Text, target: Text) -> Dataset:
        """Parallel text in files: a source and its translation, which stands as the reference."""
        read = _reader([source, target], lambda pair: Row((), pair[1:], pair[0]))
        names = [source_name(target)]
        return cls(read, (), names, source_name(source))

    @cached_property
    def sample(self) -> RowSample:
        """Some rows of the test set, which is read for them once."""
        return RowSample(self._read(), self.systems, self.references, self.source, self.peers)

    def rows(self) -> Iterator[Row]:
        """All segments."""
        return iter(self._read())

    def batches(self) -> Iterator[Batch]:
        """The segments in batches, those of the sample if it has them all."""
        return iter(self.sample.batches) if self.sample.is_whole else make_batches(self.rows())


def _held(name: str, segments: Sequence[Segment]) -> Text:
    """Segments in memory as a text."""
    lines = [one if isinstance(one, str) else " ".join(one) for one in _segments(segments, name)]
    return held_text(name, lines)


def _lines(output: str | Sequence[Segment]) -> Sequence[Segment]:
    return output.split("\n") if isinstance(output, str) else output


def _reader(
    files: Sequence[Text], make: Callable[[tuple[str, ...]], Row]
) -> Callable[[], Iterable[Row]]:
    """A function that reads files line by line each time it is called; pipes are kept on disk."""
    kept: list[DiskList[Row]] = []

    def read_once() -> Iterable[Row]:
        if not kept:
            kept.append(DiskList(map(make, read_parallel(*files))))
        return kept[0]

    names = [file_of(file) for file in files if not is_held(file)]
    if all(str(name) != STDIN and Path(name).is_file() for name in names):
        return lambda: map(make, read_parallel(*files))
    return read_once


def make_rows(
    systems: Mapping[str, Sequence[Segment]],
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
    peers: Sequence[Sequence[Segment]] = (),
) -> list[Row]:
    """Put the texts of a test set together, segment by segment.

    Args:
        systems: Each system's segments by its name, strings or lists of tokens; or the name of a
            text in their place, such as ``out.jsonl:mt``.
        references: The reference's segments, or a list of several references, each a list of
            segments; see :func:`split_references`. Or the name of one text.
        sources: The source's segments, or the name of a text.
        peers: The segments of each other system that is not scored, or the names of their texts.

    Raises:
        DataError: No system, no segments, or unequal numbers of segments.
        TypeError: A single string, a mapping, a set or a data frame in place of a list of segments,
            or segments that are neither strings nor lists of tokens.
    """
    if not systems:
        raise DataError("no system to score")
    texts: dict[str, list[Segment]] = {
        name: _segments(segments, name) for name, segments in systems.items()
    }
    hypotheses = list(texts.values())
    several = [] if references is None else split_references(hypotheses[0], references)
    names = ["the reference"] if len(several) == 1 else _numbered(len(several))
    for name, reference in zip(names, several, strict=True):
        texts[name] = _segments(reference, name)
    for name, peer in zip(_numbered(len(peers), "peer"), peers, strict=True):
        texts[name] = _segments(peer, name)
    if sources is not None:
        texts["the source"] = _segments(sources, "the source")
    _check_sizes({name: len(segments) for name, segments in texts.items()})
    columns = list(texts.values())
    first, second = len(systems), len(systems) + len(several)
    last = second + len(peers)
    return [
        Row(row[:first], row[first:second], None if sources is None else row[-1], row[second:last])
        for row in zip(*columns, strict=True)
    ]


def split_references(
    hypotheses: Sequence[Segment], references: Sequence[Any]
) -> list[Sequence[Segment]]:
    """The list of references, from a list of segments or a list of such lists.

    >>> split_references(["a b", "c"], iter(["a b", "d"]))
    [['a b', 'd']]
    >>> split_references(["a b", "c"], [["a b", "c"], ["a", "c d"]])
    [['a b', 'c'], ['a', 'c d']]

    If hypotheses are strings, ``["a b", "c"]`` is one reference of two segments, and
    ``[["a b", "c"], ["a", "c d"]]`` are two references, as in sacreBLEU. If hypotheses are lists of
    tokens, one reference is a list of lists of tokens.

    Raises:
        DataError: One list per segment instead of one list per reference, or several references of
            strings for hypotheses of tokens.
        TypeError: Something other than a list of segments.
    """
    # Iterators can be looked at only once.
    references = [
        list(item) if isinstance(item, Iterator) else item
        for item in _listed(references, "the reference")
    ]
    if _depth(references) <= max(1, _depth(hypotheses)):
        _check_tokens(hypotheses, references)
        return [references]
    names = _numbered(len(references))
    several: list[Sequence[Segment]] = [
        _listed(item, name) for item, name in zip(references, names, strict=True)
    ]
    sizes = {len(reference) for reference in several}
    if len(several) == len(hypotheses) != 1 and sizes != {len(hypotheses)}:
        raise DataError(
            f"{len(several)} lists of references for {len(hypotheses)} segments: give one list a "
            "reference, each with a segment for every hypothesis, not one list a segment"
        )
    return several


def _depth(value: Any) -> int:
    """How deep lists are nested: 0 for a string, 1 for a list of strings or an empty list."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return 0
    return 1 + max((_depth(item) for item in value), default=0)


def _check_tokens(hypotheses: Sequence[Segment], reference: Sequence[Any]) -> None:
    """Raise if several references of strings were taken for one reference of tokens."""
    tokens = _tokens(reference)
    phrases = sum(" " in token for token in tokens)
    if 2 * phrases >= max(1, len(tokens)) and not any(" " in t for t in _tokens(hypotheses)):
        raise DataError(
            "the tokens of the reference hold spaces, as if they were whole segments: with "
            "hypotheses as lists of tokens, several references are lists of lists of tokens"
        )


def _tokens(segments: Sequence[Segment]) -> list[str]:
    """All string tokens of tokenised segments."""
    lists = [segment for segment in segments if isinstance(segment, (list, tuple))]
    return [token for segment in lists for token in segment if isinstance(token, str)]


def _numbered(count: int, what: str = "reference") -> list[str]:
    return [f"{what} {number}" for number in range(1, count + 1)]


def _segments(segments: Iterable[Segment], name: str) -> list[Segment]:
    found = _listed(segments, name)
    for number, segment in enumerate(found, start=1):
        if not isinstance(segment, (str, Sequence)) or isinstance(segment, bytes):
            raise TypeError(
                f"{name}: segment {number} is neither a string nor a list of tokens: "
                f"{type(segment).__name__}"
            )
    return found


def _listed(segments: Any, name: str) -> list[Any]:
    return list(segments_of(segments, name))


def segments_of(segments: Any, name: str) -> Iterable[Any]:
    """A list of segments as it is, or the segments of a text by its name, such as ``out.jsonl:mt``.

    Args:
        segments: The list, or the name of a file that exists or of its column.
        name: What messages call it.

    Raises:
        TypeError: Another string, a mapping, a set or a data frame, which would give its keys, or
            nothing to iterate over.
    """
    if isinstance(segments, (str, PathLike)) and is_text(segments):
        return read_segments(segments)
    if isinstance(segments, (str, bytes, PathLike)):
        raise TypeError(
            f"{name} is a list of segments, not a single string, and there is no file "
            f"{segments!r:.60}"
        )
    is_frame = hasattr(segments, "columns")
    if not isinstance(segments, Iterable) or isinstance(segments, (Mapping, Set)) or is_frame:
        raise TypeError(f"{name} is a list of segments, not {type(segments).__name__}")
    return segments


def _check_sizes(sizes: Mapping[str, int]) -> None:
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise DataError(f"unequal numbers of segments: {listed}")
    if not any(sizes.values()):
        raise DataError("no segments to score")
