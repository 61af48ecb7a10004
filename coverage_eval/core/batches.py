"""A test set: hypotheses, references and source segment by segment, as a stream of batches.

Texts come from lists, files or columns of tables (:class:`Texts`). Every metric reads them batch by
batch, and a batch keeps what an aligner computed for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, tee
from typing import Any, Generic, NamedTuple, TypeVar, cast

from coverage_eval.core.errors import DataError, check_encodable
from coverage_eval.core.files import Text
from coverage_eval.core.texts import (
    depth,
    list_text,
    numbered,
    output_text,
    read_parallel,
    split_references,
)
from coverage_eval.core.tokenizers import Segment, has_words

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
        references: Its reference translations; a blank one is missing. May be empty.
        source: The source segment; None if it is unknown.
        peers: Outputs of other systems, which are not scored.
    """

    hypotheses: tuple[Segment, ...]
    references: tuple[Segment, ...] = ()
    source: Segment | None = None
    peers: tuple[Segment, ...] = ()

    def drop_missing_references(self, items: Sequence[T]) -> Sequence[T]:
        """Of one item for each reference, those of the references that are there.

        A blank reference beside others with words is missing, for every metric. If all are blank,
        nothing is expected: the first, which is blank, stands for them.
        """
        if len(self.references) < 2 or all(map(has_words, self.references)):
            return items
        pairs = zip(items, self.references, strict=True)
        return [item for item, text in pairs if has_words(text)] or items[:1]

    @property
    def nonblank_references(self) -> Sequence[Segment]:
        """The references that are there; a blank one if none is."""
        return self.drop_missing_references(self.references)


class Request(NamedTuple):
    """What a metric needs from an aligner for each row, such as links.

    Attributes:
        key: Equal for requests that have the same answer.
        make: From rows to one answer per row, in their order; it may read rows ahead.
    """

    key: Hashable
    make: Callable[[Iterable[Row]], Iterable[Any]]


@dataclass(eq=False)
class Batch:
    """Some segments of a test set, with the aligners' answers for all metrics.

    Attributes:
        rows: The segments.
        computed: The answers to requests that are known, by the request's key; one item per row.
    """

    rows: Sequence[Row]
    computed: dict[Hashable, Sequence[Any]] = field(default_factory=dict, init=False)

    def get(self, request: Request) -> Sequence[Any]:
        """The answer to a request, one item per row; computed on demand."""
        if request.key not in self.computed:
            self.computed[request.key] = list(request.make(self.rows))
        return self.computed[request.key]


def make_batches(rows: Iterable[Row]) -> Iterator[Batch]:
    """Cut a stream of rows into batches; long segments make smaller ones."""
    held: list[Row] = []
    length = 0
    for row in rows:
        more = sum(map(len, (*row.hypotheses, *row.references, *row.peers, row.source or "")))
        if held and (len(held) == BATCH_SEGMENTS or length + more > BATCH_LENGTH):
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
                batch.computed[key] = list(islice(stream, len(batch.rows)))
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
        size: Number of all rows of the stream.
    """

    kept: dict[int, list[T]] = field(default_factory=dict)
    size: int = 0
    _stride: int = 1

    def add(self, row: T) -> None:
        """Look at the next row of the stream."""
        block = self.size // BLOCK_ROWS
        self.size += 1
        if block % self._stride:
            return
        if block not in self.kept and len(self.kept) == MAX_BLOCKS:
            self._stride *= 2
            self.kept = {b: kept for b, kept in self.kept.items() if b % self._stride == 0}
            if block % self._stride:
                return
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
        read_again: Reads all rows once more.

    Attributes:
        rows: At most 2,000 of the rows, in their order.
        batches: The rows in batches, which keep what was computed for a fit.
        size: Number of all rows.
        lines: The number of each of these rows in the test set, from 1.
        is_named: Whether the systems have names, which links and scores may go by.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        systems: Sequence[str],
        references: Sequence[str] = (),
        source: str | None = None,
        peers: Sequence[str] = (),
        read_again: Callable[[], Iterable[Row]] | None = None,
    ) -> None:
        self.systems = tuple(systems)
        self.is_named = self.systems != (ONE_SYSTEM,)
        self.references = tuple(references)
        self.source = source
        self.peers = tuple(peers)
        blocks: Blocks[tuple[int, Row]] = Blocks()
        self._last: deque[tuple[int, Row]] = deque(maxlen=BLOCK_ROWS)
        for numbered_row in enumerate(rows, start=1):
            blocks.add(numbered_row)
            self._last.append(numbered_row)
        self._read_again = read_again
        self.size = blocks.size
        self.lines = [line for line, _ in blocks.rows]
        self.rows = [row for _, row in blocks.rows]
        self.batches = list(make_batches(self.rows))
        self._computed: dict[Hashable, Any] = {}

    def texts(self) -> Mapping[str, Sequence[Segment]]:
        """The segments of each text by its name: outputs, references, source."""
        names = [*self.systems, *self.peers, *self.references]
        rows = ((*row.hypotheses, *row.peers, *row.references) for row in self.rows)
        texts: dict[str, Sequence[Segment]] = dict(
            zip(names, zip(*rows, strict=True), strict=False)
        )
        if self.source is not None:
            texts[self.source] = [row.source or "" for row in self.rows]
        return texts

    def read(self, ranges: Iterable[range]) -> RowSample:
        """Some rows of the whole test set, by the numbers of their lines.

        The rows of this sample and the last ones are at hand; for others the texts are read again.
        """
        part, wanted = copy(self), set(chain.from_iterable(ranges))
        rows: Iterable[tuple[int, Row]] = {
            **dict(zip(self.lines, self.rows, strict=True)),
            **dict(self._last),
        }.items()
        if self._read_again and not wanted <= dict(rows).keys():
            rows = enumerate(self._read_again(), start=1)
        found = sorted((line, row) for line, row in rows if line in wanted)
        part.lines, part.rows = [line for line, _ in found], [row for _, row in found]
        part.batches, part._computed = [], {}
        return part

    def cached(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute something from this sample, once for all that ask with this key."""
        if key not in self._computed:
            self._computed[key] = compute()
        return cast("T", self._computed[key])


@dataclass(frozen=True)
class Texts:
    """The texts of a test set, which can be read several times, row by row.

    Attributes:
        systems: Each system's output by its name.
        references: The references.
        source: The source; None if there is none.
        peers: Outputs of other systems, which are not scored.
        documents: For each output that was cut by its source's lines, its documents.
        settings: What signatures say of the texts, such as how outputs were cut.
    """

    systems: Mapping[str, Text]
    references: Sequence[Text] = ()
    source: Text | None = None
    peers: Sequence[Text] = ()
    documents: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_lists(
        cls,
        systems: Mapping[str, str | Sequence[Segment]],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        peers: Sequence[str | Sequence[Segment]] = (),
        *,
        unaligned: bool = False,
    ) -> Texts:
        """Texts in memory, each a list of segments, or the name of a text such as ``out.jsonl:mt``.

        Args:
            systems: Each system's segments by its name, strings or lists of tokens. None and NaN
                are empty outputs.
            references: The reference's segments, or a list of several references, each a list of
                segments; see :func:`~coverage_eval.core.texts.split_references`. Or the name of one
                text. None, NaN and a blank segment are a missing reference.
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
        outputs = {name: output_text(name, text, unaligned) for name, text in systems.items()}
        first = next(iter(outputs.values())).segments
        several = [] if references is None else split_references(first, references)
        names = ["the reference"] if len(several) == 1 else numbered("reference", several)
        pairs = zip(names, several, strict=True)
        held_references = [list_text(name, text, unaligned, optional=True) for name, text in pairs]
        peer_pairs = zip(numbered("peer", peers), peers, strict=True)
        held_peers = [output_text(name, text, unaligned) for name, text in peer_pairs]
        source = None if sources is None else list_text("the source", sources, unaligned)
        texts = [*outputs.values(), *held_references, *held_peers, *([source] if source else [])]
        sizes = {text.name: len(text) for text in texts}
        if len(set(sizes.values())) > 1 and not unaligned:
            listed = ", ".join(f"{name} has {size}" for name, size in sizes.items())
            raise DataError(f"unequal numbers of segments: {listed}")
        if not any(sizes.values()):
            raise DataError("no segments to score")
        return cls(outputs, held_references, source, held_peers)

    @classmethod
    def from_segment(
        cls, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> Texts:
        """The texts of one segment; the reference may be a list of several."""
        references = None
        if reference is not None:
            has_several = depth(reference) > depth(hypothesis)
            references = [[item] for item in reference] if has_several else [reference]
        sources = None if source is None else [source]
        return cls.from_lists({ONE_SYSTEM: [hypothesis]}, references, sources)

    @cached_property
    def sample(self) -> RowSample:
        """Some rows of the test set, which is read for them once."""
        return RowSample(
            self.rows(),
            tuple(self.systems),
            [text.name for text in self.references],
            None if self.source is None else self.source.name,
            [text.name for text in self.peers],
            self.rows,
        )

    def rows(self) -> Iterator[Row]:
        """Yield all segments.

        Raises:
            DataError: As :func:`~coverage_eval.core.texts.read_parallel`.
        """
        texts = [*self.systems.values(), *self.references, *self.peers]
        if self.source is not None:
            texts.append(self.source)
        first = len(self.systems)
        second = first + len(self.references)
        last = second + len(self.peers)
        for lines in read_parallel(*texts, optional=texts[:last]):
            source = None if self.source is None else lines[-1]
            yield Row(lines[:first], lines[first:second], source, lines[second:last])

    def batches(self) -> Iterator[Batch]:
        """The segments in batches, those of the sample if it has them all."""
        sample = self.sample
        is_whole = len(sample.rows) == sample.size
        return iter(sample.batches) if is_whole else make_batches(self.rows())
