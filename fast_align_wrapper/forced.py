"""Run trained models: send pairs to aligners in batches, and read their links or posteriors.

While the aligners work on a batch, the caller reads the results of the batch before it, so both
work at the same time. Memory does not grow with the text.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fast_align_wrapper import AlignerDataError, AlignerWarning
from fast_align_wrapper.links import Links, parse_links
from fast_align_wrapper.model import Direction
from fast_align_wrapper.process import Child
from fast_align_wrapper.text import Pair, PreparedPair, prepare_pair

T = TypeVar("T")

_POSTERIORS_MAGIC = b"CEPOST1\n"
_BATCH_PAIRS, _BATCH_BYTES = 512, 1 << 20


class ForcedLinks(NamedTuple):
    """Links of a pair in one direction.

    Attributes:
        links: The links.
        score: Natural log-probability of the generated side and its length; None for a pair with
            an empty side or too many words.
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


def force_align(
    commands: Sequence[Sequence[str]], pairs: Iterable[Pair]
) -> Iterator[list[ForcedLinks]]:
    """The links of each pair by every aligner, such as one for each direction.

    A pair that is too long gets a warning and no links.

    Raises:
        AlignerError: An aligner failed.
        TypeError: An item is not a pair.
    """
    with ExitStack() as stack:
        children = [stack.enter_context(closing(Child(command))) for command in commands]
        for pair, lines in _exchange([(child, child.lines()) for child in children], pairs):
            if pair.line:
                answered = zip(children, lines, strict=True)
                yield [_parse_line(child, line, pair) for child, line in answered]
            else:
                yield [ForcedLinks((), None) for _ in children]


class PosteriorAligner(NamedTuple):
    """A running aligner, and the posteriors on its standard output."""

    child: Child
    answers: Iterator[Posterior]


def read_posteriors(
    command: Sequence[str],
    pairs: Iterable[Pair],
    direction: Direction,
    idle: list[PosteriorAligner] | None = None,
) -> Iterator[Posterior]:
    """The posteriors of each pair by an aligner of a command.

    Args:
        command: Executable and arguments.
        pairs: The pairs.
        direction: The direction of its model.
        idle: Running aligners of this command that wait for pairs. One of them is used, and put
            back after all pairs; None to end the aligner instead.

    Raises:
        AlignerDataError: A pair is too long.
        AlignerError: The aligner cannot be run, or failed.
        TypeError: An item is not a pair.
    """
    try:
        aligner = (idle or []).pop()
    except IndexError:  # none is idle; another thread may have taken the last
        child = Child(command)
        aligner = PosteriorAligner(child, _parse_posteriors(child, direction))
    is_done = False
    try:
        for pair, posteriors in _exchange(
            [aligner], pairs, refuse_oversize=True, is_last=idle is None
        ):
            if pair.line:
                yield posteriors[0]
                continue
            matrix = np.zeros((pair.target_length, pair.source_length), np.float32)
            generated = matrix.shape[0 if direction == "forward" else 1]
            yield Posterior(matrix, np.ones(generated, np.float32), direction)
        is_done = True
    finally:
        if is_done and idle is not None:
            idle.append(aligner)
        else:
            aligner.child.close()


def _exchange(
    aligners: Sequence[tuple[Child, Iterator[T]]],
    pairs: Iterable[Pair],
    *,
    refuse_oversize: bool = False,
    is_last: bool = True,
) -> Iterator[tuple[PreparedPair, list[T]]]:
    """Send pairs to aligners, and yield each pair with the answers of all aligners, in order.

    Args:
        aligners: Each aligner with its answers, one for each pair that it gets.
        pairs: The pairs. One with an empty side or too many words is not sent; it comes without a
            line and without answers.
        refuse_oversize: Whether a pair with too many words is an error.
        is_last: Whether the aligners' input ends after the pairs.
    """
    children = [child for child, _ in aligners]
    outbox = _Outbox(children, enumerate(pairs, start=1), refuse_oversize, is_last)
    for child in children:
        # Some aligners read the whole text before they print anything.
        child.on_idle = outbox.send_batch
    answered = 0
    outbox.send_batch()
    while outbox.batches:
        outbox.send_batch()  # the aligners work on it while the caller reads the batch before it
        for pair in outbox.batches.popleft():
            if not pair.line:
                yield pair, []
                continue
            found = []
            for child, answers in aligners:
                answer = next(answers, None)
                if answer is None:
                    raise child.fail(f"{answered} results for {outbox.sent} pairs of segments")
                found.append(answer)
            answered += 1
            yield pair, found
    for child, answers in aligners if is_last else ():
        results = answered + sum(1 for _ in answers)
        if results != outbox.sent:
            raise child.fail(f"{results} results for {outbox.sent} pairs of segments")


@dataclass
class _Outbox:
    """Pairs for aligners, which are sent in batches.

    Attributes:
        children: The aligners.
        pairs: The pairs that are not yet read, with their numbers from 1.
        refuse_oversize: Whether a pair with too many words is an error.
        is_last: Whether the aligners' input ends after the pairs.
        batches: The pairs that were read, in batches; those answered are taken out.
        sent: Number of pairs that were sent.
    """

    children: Sequence[Child]
    pairs: Iterator[tuple[int, Pair]]
    refuse_oversize: bool
    is_last: bool
    batches: deque[list[PreparedPair]] = field(default_factory=deque)
    sent: int = 0

    def send_batch(self) -> None:
        """Send the next pairs to every aligner, or the end of the input if there are no more."""
        batch: list[PreparedPair] = []
        size = 0
        for number, segments in self.pairs:
            pair = prepare_pair(number, segments)
            if pair.is_oversize:
                self._report_oversize(number, pair)
                pair = pair._replace(line=b"")
            batch.append(pair)
            size += len(pair.line)
            if len(batch) == _BATCH_PAIRS or size > _BATCH_BYTES:
                break
        if not batch:
            for child in self.children if self.is_last else ():
                child.input.put(None)
            return
        lines = [pair.line for pair in batch if pair.line]
        for child in self.children:
            child.input.put(b"".join(lines))
        self.batches.append(batch)
        self.sent += len(lines)

    def _report_oversize(self, number: int, pair: PreparedPair) -> None:
        size = f"{pair.source_length} times {pair.target_length} words"
        if self.refuse_oversize:
            raise AlignerDataError(
                f"pair {number}: posteriors of {size} do not fit in memory; split the segment"
            )
        message = f"pair {number}: {size} are too many; it gets no links"
        warnings.warn(message, AlignerWarning, stacklevel=2)


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


def _parse_posteriors(child: Child, direction: Direction) -> Iterator[Posterior]:
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
