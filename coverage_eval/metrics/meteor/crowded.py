"""The step of Meteor's beam search where a word has more candidates than paths are kept.

Each of a path's candidates has the distances of those before it charged. So those of a block need
be looked at only until no greater gain makes up for the charge: none that follows can be among the
best. The exception is those that continue the path's open chunk, which are looked for first. What
is left out is charged all the same, by sums over sets of places, which are integers with a bit for
each place.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from functools import cache
from heapq import merge
from typing import TypeAlias

from coverage_eval.metrics.meteor.runs import Block, CandidateRun, Path, Prices

# (rank, number of the path, of the block, hypothesis start, number of the run), which is the order
# of ranks and, of equal ones, that in which Meteor has the paths; and the run, None to skip.
_Proposal: TypeAlias = "tuple[int, int, int, int, int, CandidateRun | None]"

_Where: TypeAlias = "tuple[int, int]"
"""Numbers of a path and of a block."""


def extend_crowded(
    paths: Sequence[Path],
    position: int,
    blocks: Sequence[Block],
    prices: Prices,
    *,
    beam_size: int,
    last: bool,
) -> list[Path]:
    """The best of the paths with every candidate they have room for, and without any.

    Args:
        paths: The paths, in their order.
        position: The reference position.
        blocks: Its candidates.
        prices: What moves a rank.
        beam_size: How many paths are kept.
        last: No position follows: open chunks are closed, and only the best path is kept.

    Returns:
        The best of them, in their order.
    """
    step = _Step(position, blocks, prices, 1 if last else beam_size, prices.chunk if last else 0)
    for number, path in enumerate(paths):
        step.extend(number, path)
    return [
        _follow(paths[number], position, start, run, rank)
        for rank, number, _, start, _, run in step.best
    ]


def _follow(path: Path, position: int, start: int, run: CandidateRun | None, rank: int) -> Path:
    """A path with a candidate of a run, or without any."""
    _, used, free, end, chain = path
    if position < free:
        return rank, used, free, end, chain
    if run is None:
        return rank, used, free, -1, chain
    used |= ((1 << run.length) - 1) << start
    chain = (position, run.candidate(start), chain)
    return rank, used, position + run.reference_length, start + run.length, chain


class _Step:
    """One reference position, and the best proposals so far.

    Attributes:
        best: At most ``beam_size`` proposals, in order.
    """

    def __init__(
        self,
        position: int,
        blocks: Sequence[Block],
        prices: Prices,
        beam_size: int,
        closing: int,
    ) -> None:
        self.best: list[_Proposal] = []
        self._position = position
        self._blocks = blocks
        # The greatest gain in each block; and in it or behind it, that of none at the end.
        self._gains = [max(run.gain for run in block) * prices.credit for block in blocks]
        self._later = [max(self._gains[i:], default=0) for i in range(len(blocks) + 1)]
        self._prices = prices
        self._beam_size = beam_size
        self._closing = closing

    def _offer(self, proposal: _Proposal) -> None:
        """Take a proposal if it is among the best."""
        insort(self.best, proposal)
        del self.best[self._beam_size :]

    def _is_hopeless(self, rank: int) -> bool:
        """Whether no proposal of at least this rank can be among the best."""
        return len(self.best) == self._beam_size and rank > self.best[-1][0]

    def extend(self, number: int, path: Path) -> None:
        """Propose a path with each candidate of use, and without any."""
        rank, used, free, end, _ = path
        if self._position < free:
            closing = self._closing if end >= 0 else 0
            self._offer((rank + closing, number, 0, 0, 0, None))
            return
        close = self._prices.chunk if end >= 0 else 0
        for place, block in enumerate(self._blocks):
            left = [run.places & ~_blocked(used, run.length) for run in block]
            if end >= 0:
                self._continue(rank, end, (number, place), left)
            self._extend(rank + close, end, (number, place), left)
            if self._is_hopeless(rank - self._later[place + 1]):
                return
            rank += sum(_distance(bits, self._position) for bits in left)
        self._offer((rank + close, number, len(self._blocks), 0, 0, None))

    def _continue(self, rank: int, end: int, where: _Where, left: list[int]) -> None:
        """Propose the candidates of a block that continue the open chunk."""
        here = 1 << end
        if not any(bits & here for bits in left):
            return
        rank += sum(_distance(bits & (here - 1), self._position) for bits in left)
        for which, bits in enumerate(left):
            if bits & here:
                self._propose(rank, where, end, which)
                rank += abs(self._position - end)

    def _extend(self, rank: int, end: int, where: _Where, left: list[int]) -> None:
        """Propose the other candidates of a block, until none can be among the best."""
        greatest = self._gains[where[1]]
        runs = (_ascending(bits, which) for which, bits in enumerate(left))
        for start, which in merge(*runs):
            if self._is_hopeless(rank - greatest):
                return
            if start != end:
                self._propose(rank, where, start, which)
            rank += abs(self._position - start)

    def _propose(self, rank: int, where: _Where, start: int, which: int) -> None:
        run = self._blocks[where[1]][which]
        rank += self._closing - run.gain * self._prices.credit
        self._offer((rank, *where, start, which, run))


def _blocked(used: int, length: int) -> int:
    """Where no candidate of so many words can start, as some of its words are used."""
    blocked = used
    for shift in range(1, length):
        blocked |= used >> shift
    return blocked


def _ascending(bits: int, which: int) -> Iterator[tuple[int, int]]:
    """The places in a set, each with the set's number."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1, which
        bits ^= lowest


def _distance(bits: int, position: int) -> int:
    """How far the places in a set are from a position, all together."""
    if not bits:
        return 0
    below = bits & ((1 << position) - 1)
    return _sum(bits) - 2 * _sum(below) + position * (2 * below.bit_count() - bits.bit_count())


def _sum(bits: int) -> int:
    """The sum of the places in a set, digit by digit of the places."""
    digits = _with_digit(bits.bit_length().bit_length())
    return sum((bits & places).bit_count() << digit for digit, places in enumerate(digits))


@cache
def _with_digit(digits: int) -> tuple[int, ...]:
    """For each binary digit, the set of the places below ``2 ** digits`` that have it."""
    every = []
    for digit in range(digits):
        size = 1 << digit
        places = ((1 << size) - 1) << size
        for doubled in range(digit + 1, digits):
            places |= places << (1 << doubled)
        every.append(places)
    return tuple(every)
