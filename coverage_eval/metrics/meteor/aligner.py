"""Meteor's word aligner: which of the candidate matches are taken.

Candidates that compete with none are fixed first; a beam search over reference positions chooses
among the others. Ties are frequent and their order moves scores, so the search keeps Meteor 1.5's
own order and habits, including those that look like oversights: half credits are cut to integers,
and the distance of a match is charged to the path it leaves, not to the one it makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple, TypeAlias

__all__ = ["BEAM_SIZE", "Candidate", "Match", "align", "count_chunks"]

BEAM_SIZE = 40


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


class Match(NamedTuple):
    """A chosen candidate, with its place in the reference."""

    reference_start: int
    candidate: Candidate


Candidates: TypeAlias = "Sequence[Sequence[Candidate]]"
"""The candidates of each reference position at which they start, in Meteor's order."""

# A path's matches, last first: (reference start, candidate, earlier matches).
_Chain: TypeAlias = "tuple[int, Candidate, _Chain] | None"
# (rank, used hypothesis positions as bits, first free reference position, end of the open chunk
# in the hypothesis or -1, matches)
_Path: TypeAlias = "tuple[int, int, int, int, _Chain]"
# (candidate, hypothesis positions as bits, gain in rank, distance, end in the hypothesis)
_Option: TypeAlias = "tuple[Candidate, int, int, int, int]"


def align(candidates: Candidates, beam_size: int = BEAM_SIZE) -> list[Match]:
    """Choose matches so that no word is matched twice.

    Args:
        candidates: For each reference position, the candidates that start there, in the order of
            Meteor's modules.
        beam_size: How many paths are kept at each reference position.

    Returns:
        The matches in reference order.
    """
    size = sum(map(len, candidates))
    if size == 0:
        return []
    fixed = _fixed_positions(candidates)
    length = max(c.start + c.length for found in candidates for c in found)
    # A path's rank is one integer, least is best: -credit, chunks, distance from high bits to low.
    # Neither lower field can overflow into the next, so the order is that of the three numbers.
    chunk = 1 << (size * (length + len(candidates))).bit_length()
    credit = chunk << (len(candidates) + 1).bit_length()
    options = [
        [_option(candidate, position, credit) for candidate in found]
        for position, found in enumerate(candidates)
    ]
    paths: list[_Path] = [(0, 0, 0, -1, None)]
    for position, here in enumerate(options):
        if len(paths) > 1:
            paths.sort(key=_rank)
            del paths[beam_size:]
        if fixed[position]:
            paths = [_take_fixed(path, position, here[0], chunk) for path in paths]
        else:
            paths = _extend(paths, position, here, chunk)
    last = min(paths, key=lambda path: path[0] + (chunk if path[3] >= 0 else 0))
    return _unchain(last[4])


_rank = itemgetter(0)


def _option(candidate: Candidate, position: int, credit: int) -> _Option:
    """A candidate with all that the search asks of it.

    An exact match earns one credit a word; any other half a credit, cut to an integer a side.
    """
    start, length, reference_length, module = candidate
    gain = length + reference_length if module == 0 else length // 2 + reference_length // 2
    bits = ((1 << length) - 1) << start
    return candidate, bits, gain * credit, abs(position - start), start + length


def _fixed_positions(candidates: Candidates) -> list[bool]:
    """At which reference positions the only candidate competes with no other for any word."""
    covered = [0] * (len(candidates) + 1)
    used: dict[int, int] = {}
    for position, found in enumerate(candidates):
        for start, length, reference_length, _ in found:
            for word in range(position, position + reference_length):
                covered[word] += 1
            for word in range(start, start + length):
                used[word] = used.get(word, 0) + 1
    fixed = []
    for position, found in enumerate(candidates):
        alone = len(found) == 1
        if alone:
            start, length, reference_length, _ = found[0]
            alone = all(covered[w] == 1 for w in range(position, position + reference_length))
            alone = alone and all(used[w] == 1 for w in range(start, start + length))
        fixed.append(alone)
    return fixed


def _take_fixed(path: _Path, position: int, option: _Option, chunk: int) -> _Path:
    rank, used, _, end, chain = path
    candidate, bits, gain, distance, new_end = option
    if end not in (-1, candidate.start):
        rank += chunk
    chain = (position, candidate, chain)
    free = position + candidate.reference_length
    return rank - gain + distance, used | bits, free, new_end, chain


def _extend(paths: list[_Path], position: int, options: list[_Option], chunk: int) -> list[_Path]:
    """Every path with every option it has room for, and without any."""
    extended: list[_Path] = []
    for path in paths:
        rank, used, free, end, chain = path
        if position < free:
            extended.append(path)
            continue
        closed = rank if end < 0 else rank + chunk
        charged = 0
        for candidate, bits, gain, distance, new_end in options:
            if used & bits:
                continue
            base = rank if end == candidate[0] else closed
            extended.append(
                (
                    base + charged - gain,
                    used | bits,
                    position + candidate[2],
                    new_end,
                    (position, candidate, chain),
                )
            )
            charged += distance
        extended.append((closed + charged, used, free, -1, chain))
    return extended


def _unchain(chain: _Chain) -> list[Match]:
    matches = []
    while chain is not None:
        position, candidate, chain = chain
        matches.append(Match(position, candidate))
    matches.reverse()
    return matches


def count_chunks(matches: Sequence[Match]) -> int:
    """The number of runs of matches that are adjacent and in the same order on both sides."""
    chunks = 0
    reference_end = end = -1
    for position, candidate in matches:
        if position != reference_end or candidate.start != end:
            chunks += 1
        reference_end = position + candidate.reference_length
        end = candidate.start + candidate.length
    return chunks
