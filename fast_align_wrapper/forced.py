"""Run trained models: send pairs to aligners in batches, and read their links or posteriors.

While the aligners work on one batch, the caller reads the results of the previous one, so both work
at the same time. Memory does not grow with the text.
"""

from __future__ import annotations

import math
import queue
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fast_align_wrapper import AlignerDataError, AlignerWarning
from fast_align_wrapper.links import Links, parse_links
from fast_align_wrapper.model import Direction
from fast_align_wrapper.process import Child
from fast_align_wrapper.text import Pair, PreparedPair, prepare_pairs

R = TypeVar("R")
T = TypeVar("T")

_POSTERIORS_MAGIC = b"CEPOST1\n"
_BATCH_PAIRS, _BATCH_BYTES = 512, 1 << 20


class ForcedLinks(NamedTuple):
    """Links of a pair.

    Attributes:
        links: The links of one direction, or those of both, joined.
        score: Natural log-probability of the generated side and its length, of both directions
            that of the forward one; None for a pair with an empty side or too many words.
    """

    links: Links
    score: float | None


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
        """How much each conditioning word is covered: min(1, Σ p of its links), 0 to 1.

        ``[source words]`` forward, ``[target words]`` reverse.
        """
        links = self.matrix if self.direction == "forward" else self.matrix.T
        return np.asarray(np.minimum(1.0, links.sum(axis=0, dtype=np.float64)))


class Sender:
    """Sends input to an aligner from a thread, so that the caller can read at the same time."""

    def __init__(self, child: Child) -> None:
        """Start the thread."""
        self._child = child
        self._pieces: queue.Queue[bytes | None] = queue.Queue()
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def send(self, piece: bytes | None) -> None:
        """Send a piece of input, or None for its end, without waiting until it is read."""
        self._pieces.put(piece)

    @property
    def is_idle(self) -> bool:
        """Whether the aligner has read all that was sent."""
        return self._pieces.unfinished_tasks == 0

    def _write(self) -> None:
        while (piece := self._pieces.get()) is not None:
            self._child.write(piece)
            self._pieces.task_done()
        self._child.end_input()

    def __enter__(self) -> Sender:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()  # if it still runs, nobody needs its results
        self._pieces.put(None)
        self._writer.join()


def force_align(command: Sequence[str], pairs: Iterable[PreparedPair]) -> Iterator[ForcedLinks]:
    """The links of each of :func:`alignable_pairs` by an aligner.

    Raises:
        AlignerError: The aligner failed.
    """
    return _stream(
        command, pairs,
        results=Child.lines, check=_parse_line, empty=lambda _: ForcedLinks((), None),
    )  # fmt: skip


def read_posteriors(
    command: Sequence[str], pairs: Iterable[Pair], direction: Direction
) -> Iterator[Posterior]:
    """The posteriors of each pair by an aligner that writes them to standard output.

    Raises:
        AlignerDataError: A pair is too long.
        AlignerError: The aligner failed.
    """

    def of_empty_side(pair: PreparedPair) -> Posterior:
        generated = pair.target_length if direction == "forward" else pair.source_length
        matrix = np.zeros((pair.target_length, pair.source_length), np.float32)
        return Posterior(matrix, np.ones(generated, np.float32), direction)

    return _stream(
        command, alignable_pairs(pairs, refuse=True),
        results=lambda child: parse_posteriors(child, direction), check=lambda _, row, __: row,
        empty=of_empty_side,
    )  # fmt: skip


def _stream(
    command: Sequence[str],
    pairs: Iterable[PreparedPair],
    *,
    results: Callable[[Child], Iterator[R]],
    check: Callable[[Child, R, PreparedPair], T],
    empty: Callable[[PreparedPair], T],
) -> Iterator[T]:
    """Send pairs to an aligner and yield its results in order.

    Args:
        command: The aligner.
        pairs: The pairs; those without a line are not sent.
        results: Reads the aligner's output, one result per pair.
        check: Converts a result, or raises AlignerError.
        empty: Makes the result of a pair that was not sent.
    """
    with Child(command) as child, Sender(child) as sender:
        source = _batches(pairs)
        sent: deque[list[PreparedPair]] = deque()
        fed = taken = 0

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
            # Some aligners read the whole text before they print anything.
            if sender.is_idle:
                send_next()

        child.on_quiet = send_more
        found = results(child)
        send_next()
        while sent:
            send_next()
            for pair in sent.popleft():
                if not pair.line:
                    yield empty(pair)
                    continue
                result = next(found, None)
                if result is None:
                    raise child.fail(f"{taken} results for {fed} pairs of segments")
                taken += 1
                yield check(child, result, pair)
        taken += sum(1 for _ in found)
        if taken != fed:
            raise child.fail(f"{taken} results for {fed} pairs of segments")


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


def alignable_pairs(pairs: Iterable[Pair], *, refuse: bool = False) -> Iterator[PreparedPair]:
    """Prepare pairs; one that is too long gets a warning and loses its line.

    Raises:
        AlignerDataError: A pair is too long, and these are refused.
    """
    for number, pair in enumerate(prepare_pairs(pairs), start=1):
        if not pair.is_oversize:
            yield pair
            continue
        size = f"{pair.source_length} times {pair.target_length} words"
        if refuse:
            raise AlignerDataError(
                f"pair {number}: posteriors of {size} do not fit in memory; split the segment"
            )
        message = f"pair {number}: {size} are too many; it gets no links"
        warnings.warn(message, AlignerWarning, stacklevel=2)
        yield pair._replace(line=b"")


def _parse_line(child: Child, line: bytes, pair: PreparedPair) -> ForcedLinks:
    """Links and score of a line of forced alignment, which starts with the text of the pair."""
    # Without links, the original prints only one space between the last two separators.
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


def parse_posteriors(child: Child, direction: Direction) -> Iterator[Posterior]:
    """The records of the binary stream on an aligner's standard output."""
    if child.read(len(_POSTERIORS_MAGIC)) != _POSTERIORS_MAGIC:
        raise child.fail("its posteriors are in an unknown format")
    while len(header := child.read(8)) == 8:
        rows, columns = map(int, np.frombuffer(header, "<u4"))
        data = child.read(4 * rows * (columns + 1))
        if len(data) < 4 * rows * (columns + 1):
            return
        values = np.frombuffer(data, "<f4").astype(np.float32, copy=False)
        matrix = values[rows:].reshape(rows, columns)
        yield Posterior(matrix if direction == "forward" else matrix.T, values[:rows], direction)
