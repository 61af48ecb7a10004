"""A test set: hypotheses, references and source segment by segment, as a stream of batches.

Texts come from lists, files or columns of tables. Every metric reads a :class:`Dataset` batch by
batch, and a batch keeps what an aligner computed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, repeat, tee
from os import PathLike
from typing import Any, Generic, NamedTuple, TypeVar, cast

from coverage_eval.core.errors import DataError, check_encodable
from coverage_eval.core.files import Text, held_text, read_parallel, text_name
from coverage_eval.core.tables import is_text, read_segments
from coverage_eval.core.tokenizers import Segment

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

    Attributes:
        computed: The answers to requests that are known, by the request's key; one item per row.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.computed: dict[Hashable, Sequence[Any]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def get(self, request: Request) -> Sequence[Any]:
        """The answer to a request, one item per row; computed on demand."""
        if request.key not in self.computed:
            self.computed[request.key] = list(request.make(self.rows))
        return self.computed[request.key]


def make_batches(rows: Iterable[Row], size: int = BATCH_SEGMENTS) -> Iterator[Batch]:
    """Cut a stream of rows into batches; long segments make smaller ones.

    Args:
        rows: The segments.
        size: Most segments in a batch.
    """
    held: list[Row] = []
    length = 0
    for row in rows:
        more = sum(map(len, (*row.hypotheses, *row.references, *row.peers, row.source or "")))
        if held and (len(held) == size or length + more > BATCH_LENGTH):
            yield Batch(held)
            held, length = [], 0
        held.append(row)
        length += more
    if held:
        yield Batch(held)


def answer_ahead(batches: Iterable[Batch], requests: Iterable[Request]) -> Iterator[Batch]:
    """The same batches, each with its answers to some requests.

    Each aligner runs once over all batches that lack its answers, and reads ahead: it works on the
    next batch while this one is counted.
    """
    makers = {request.key: request.make for request in requests}
    batches, *copies = tee(batches, 1 + len(makers))

    def rows_without(key: Hashable, copy: Iterable[Batch]) -> Iterator[Row]:
        return (row for batch in copy if key not in batch.computed for row in batch.rows)

    answers = {
        key: iter(make(rows_without(key, copy)))
        for (key, make), copy in zip(makers.items(), copies, strict=True)
    }
    for batch in batches:
        for key, stream in answers.items():
            if key not in batch.computed:
                batch.computed[key] = list(islice(stream, len(batch)))
        yield batch
    for stream in answers.values():
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
    """

    kept: dict[int, list[T]] = field(default_factory=dict)
    _stride: int = 1

    def watch(self, stream: Iterable[T]) -> Iterator[T]:
        """The same stream, looked at a block at a time."""
        rows = iter(stream)
        blocks = iter(lambda: list(islice(rows, BLOCK_ROWS)), [])
        for block, held in enumerate(blocks):
            if block % self._stride == 0 and len(self.kept) == MAX_BLOCKS:
                self._stride *= 2
                self.kept = {b: kept for b, kept in self.kept.items() if b % self._stride == 0}
            if block % self._stride == 0:
                self.kept[block] = held
            yield from held

    @property
    def rows(self) -> list[T]:
        """The rows, in their order."""
        return list(chain.from_iterable(self.kept.values()))


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


class NamedTexts:
    """What the texts of a test set are called, in messages and where they go by name.

    Args:
        given: The texts.

    Attributes:
        given: The texts.
        systems: Names of the systems, in the order of each row's hypotheses.
        references: Names of the references.
        source: Name of the source; None if there is none.
        peers: Names of other systems' outputs, which are not scored.
    """

    def __init__(self, given: GivenTexts) -> None:
        self.given = given
        self.systems = tuple(given.systems)
        self.references = tuple(map(text_name, given.references))
        self.source = None if given.source is None else text_name(given.source)
        self.peers = tuple(map(text_name, given.peers))


class RowSample(NamedTexts):
    """The first look at a test set: its texts' names, and blocks of neighbouring rows.

    Metrics are fitted to it, and checks look at it.

    Args:
        rows: The rows of the whole test set.
        given: Its texts.

    Attributes:
        rows: At most 2,000 of the rows, in their order.
        size: Number of all rows.
        lines: The number of each of these rows in the test set, from 1.
    """

    def __init__(self, rows: Iterable[Row], given: GivenTexts) -> None:
        super().__init__(given)
        taken: Blocks[tuple[int, Row]] = Blocks()
        self.size = sum(1 for _ in taken.watch(enumerate(rows, start=1)))
        self.lines, self.rows = map(list, zip(*taken.rows, strict=True)) if self.size else ([], [])
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
        return cast("T", self._made[key])


class Dataset(NamedTexts):
    """The texts of a test set, which can be read several times, row by row.

    Args:
        given: The texts.
        cuts: For each row, what cutting found in it for each system; empty if lines match anyway.
    """

    def __init__(self, given: GivenTexts, cuts: Sequence[tuple[Any, ...]] = ()) -> None:
        super().__init__(given)
        self._cuts = cuts

    @classmethod
    def of_lists(
        cls,
        systems: Mapping[str, str | Sequence[Segment]],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        peers: Sequence[str | Sequence[Segment]] = (),
        *,
        unaligned: bool = False,
    ) -> Dataset:
        """Texts in memory, each a list of segments, or the name of a text such as ``out.jsonl:mt``.

        Args:
            systems: Each system's segments by its name, strings or lists of tokens.
            references: The reference's segments, or a list of several references, each a list of
                segments; see :func:`split_references`. Or the name of one text.
            sources: The source's segments.
            peers: The segments of each other system that is not scored.
            unaligned: Outputs, each a text or its lines, may have other lines than the rest. Lists
                of tokens are joined by spaces.

        Raises:
            DataError: No system, no segments, or unequal numbers of segments.
            TypeError: A single string, a mapping, a set or a data frame in place of a list of
                segments, or segments that are neither strings nor lists of tokens.
        """
        check_encodable(systems, "the name of a system")
        if not systems:
            raise DataError("no system to score")
        texts: dict[str, list[Segment]] = {}

        def hold(name: str, segments: Any) -> Text:
            held = _segments(segments, name)
            if unaligned:
                held = [one if isinstance(one, str) else " ".join(one) for one in held]
            texts[name] = held
            return held_text(name, held)

        def hold_output(name: str, output: Any) -> Text:
            is_text = unaligned and isinstance(output, str)
            return hold(name, output.split("\n") if is_text else output)

        outputs = {name: hold_output(name, output) for name, output in systems.items()}
        first = next(iter(texts.values()))
        several = [] if references is None else split_references(first, references)
        names = ["the reference"] if len(several) == 1 else _numbered("reference", several)
        held_references = list(map(hold, names, several))
        held_peers = list(map(hold_output, _numbered("peer", peers), peers))
        source = None if sources is None else hold("the source", sources)
        sizes = {name: len(segments) for name, segments in texts.items()}
        if len(set(sizes.values())) > 1 and not unaligned:
            listed = ", ".join(f"{name} has {size}" for name, size in sizes.items())
            raise DataError(f"unequal numbers of segments: {listed}")
        if not any(sizes.values()):
            raise DataError("no segments to score")
        return cls(GivenTexts(outputs, held_references, source, held_peers))

    @classmethod
    def of_segment(
        cls, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> Dataset:
        """A segment's texts; the reference may be a list of several."""
        if reference is not None:
            several = depth(reference) > depth(hypothesis)
            reference = [[one] for one in reference] if several else [reference]
        sources = None if source is None else [source]
        return cls.of_lists({ONE_SYSTEM: [hypothesis]}, reference, sources)

    @cached_property
    def sample(self) -> RowSample:
        """Some rows of the test set, which is read for them once."""
        return RowSample(self.rows(), self.given)

    def rows(self) -> Iterator[Row]:
        """All segments.

        Raises:
            DataError: As :func:`~coverage_eval.core.files.read_parallel`.
        """
        outputs, references, source, peers = self.given
        texts = [*outputs.values(), *references, *peers, *([] if source is None else [source])]
        first = len(self.systems)
        second = first + len(self.references)
        last = second + len(self.peers)
        cuts = self._cuts or repeat(())
        for lines, cut in zip(read_parallel(*texts), cuts, strict=bool(self._cuts)):
            line = None if source is None else lines[-1]
            yield Row(lines[:first], lines[first:second], line, lines[second:last], cut)

    def batches(self) -> Iterator[Batch]:
        """The segments in batches, those of the sample if it has them all."""
        return iter(self.sample.batches) if self.sample.is_whole else make_batches(self.rows())


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
        for item in segments_of(references, "the reference")
    ]
    if depth(references) <= max(1, depth(hypotheses)):
        _check_tokens(hypotheses, references)
        return [references]
    number = len(references)
    sizes = {len(item) for item in references if isinstance(item, Sized)}
    if number == len(hypotheses) != 1 and sizes - {number}:
        raise DataError(
            f"{number} lists of references for {number} segments: give one list a reference, each "
            "with a segment for every hypothesis, not one list a segment"
        )
    return references


def _check_tokens(hypotheses: Sequence[Segment], reference: Sequence[Any]) -> None:
    """Raise if several references of strings were taken for one reference of tokens."""
    ours = chain.from_iterable(hypotheses)
    tokens = [*chain.from_iterable(item for item in reference if not isinstance(item, str))]
    phrases = sum(" " in token for token in tokens if isinstance(token, str))
    if 2 * phrases >= max(1, len(tokens)) and not any(" " in token for token in ours):
        raise DataError(
            "the tokens of the reference hold spaces, as if they were whole segments: with "
            "hypotheses as lists of tokens, several references are lists of lists of tokens"
        )


def depth(value: Any) -> int:
    """How deep lists are nested: 0 for a string, 1 for a list of strings or an empty list."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return 0
    return 1 + max(map(depth, value), default=0)


def _numbered(what: str, texts: Sequence[Any]) -> list[str]:
    return [f"{what} {number}" for number in range(1, len(texts) + 1)]


def _segments(segments: Any, name: str) -> list[Segment]:
    listed = list(segments_of(segments, name))
    for number, segment in enumerate(listed, start=1):
        if not isinstance(segment, (str, Sequence)) or isinstance(segment, bytes):
            raise TypeError(
                f"{name}: segment {number} is neither a string nor a list of tokens: "
                f"{type(segment).__name__}"
            )
    return listed


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
