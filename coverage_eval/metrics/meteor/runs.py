"""Candidate matches of a sentence pair, those that differ only in their place kept together.

A word that the hypothesis repeats a thousand times is a candidate in a thousand places for each of
its occurrences in the reference; kept as places of a word, all of them take no more than the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple, TypeAlias


class Candidate(NamedTuple):
    """A possible match of some reference words, known from context, and some hypothesis words."""

    start: int
    """First hypothesis position."""
    length: int
    """Number of hypothesis words."""
    reference_length: int
    """Number of reference words."""
    module: int
    """Which matcher found it: 0 exact, 1 stem, 2 synonym, 3 paraphrase."""


def gain_of(length: int, reference_length: int, module: int) -> int:
    """The credit of a match: one a word if exact, else a half, cut to an integer a side."""
    if module == 0:
        return length + reference_length
    return length // 2 + reference_length // 2


@dataclass(frozen=True, eq=False)
class CandidateRun:
    """Candidates of a reference position that differ only in where they start.

    Attributes:
        starts: First hypothesis positions, ascending; at least one.
        length: Number of hypothesis words of each.
        reference_length: Number of reference words of each.
        module: Which matcher found them.
    """

    starts: tuple[int, ...]
    length: int
    reference_length: int
    module: int

    @property
    def gain(self) -> int:
        """The credit of each."""
        return gain_of(self.length, self.reference_length, self.module)

    @cached_property
    def places(self) -> int:
        """The starts as a set: an integer with a bit for each."""
        flags = bytearray(self.starts[-1] // 8 + 1)
        for start in self.starts:
            flags[start >> 3] |= 1 << (start & 7)
        return int.from_bytes(flags, "little")

    def candidate(self, start: int) -> Candidate:
        """The one that starts somewhere."""
        return Candidate(start, self.length, self.reference_length, self.module)


Block: TypeAlias = "tuple[CandidateRun, ...]"
"""Runs whose candidates are found from left to right: by their start, then in the runs' order."""


def in_order(blocks: Sequence[Block]) -> list[Candidate]:
    """All candidates of a reference position, in the order in which Meteor has them."""
    found: list[Candidate] = []
    for block in blocks:
        here = [run.candidate(start) for run in block for start in run.starts]
        found += here if len(block) == 1 else sorted(here, key=itemgetter(0))
    return found


# A path's matches, last first: (reference start, candidate, earlier matches).
Chain: TypeAlias = "tuple[int, Candidate, Chain] | None"

Path: TypeAlias = "tuple[int, int, int, int, Chain]"
"""(rank, used hypothesis positions as bits, first free reference position, end of the open chunk
in the hypothesis or -1, matches)."""


class Prices(NamedTuple):
    """What moves a path's rank besides a distance, which costs itself."""

    chunk: int
    """What a chunk adds."""
    credit: int
    """What a credit takes off."""
