"""Meteor's word aligner: which of the candidate matches are taken.

Candidates that compete with none are fixed first; a beam search over reference positions chooses
among the others. Ties are frequent and their order moves scores, so the search keeps Meteor 1.5's
own order and habits, including those that look like oversights: half credits are cut to integers,
and the distance of a match is charged to the path it leaves, not to the one it makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from coverage_eval.metrics.meteor.crowded import extend_crowded
from coverage_eval.metrics.meteor.runs import (
    Block,
    Candidate,
    CandidateRun,
    Chain,
    Path,
    Prices,
    gain_of,
    in_order,
)

BEAM_SIZE = 40

_MOST_CROWDED = 1 << 31
"""Reference positions with more candidates than paths are kept, times words of the hypothesis: some
46,000 words against as many. A step takes a time for each word, if a short one."""


class Match(NamedTuple):
    """A chosen candidate, with its place in the reference."""

    reference_start: int
    candidate: Candidate


Candidates: TypeAlias = "Sequence[Sequence[Block]]"
"""The candidates of each reference position at which they start, in Meteor's order."""

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
    sizes = list(map(_count, candidates))
    if not any(sizes):
        return []
    prices = _prices(candidates, sum(sizes))
    fixed = _fixed_positions(candidates, sizes)
    paths: list[Path] = [(0, 0, 0, -1, None)]
    for position, here in enumerate(candidates):
        if len(paths) > 1:
            paths.sort(key=_rank)
            del paths[beam_size:]
        if sizes[position] > beam_size:
            last = position == len(candidates) - 1
            paths = extend_crowded(paths, position, here, prices, beam_size=beam_size, last=last)
            continue
        options = [_option(candidate, position, prices.credit) for candidate in in_order(here)]
        if fixed[position]:
            paths = [_take_fixed(path, position, options[0], prices.chunk) for path in paths]
        else:
            paths = _extend(paths, position, options, prices.chunk)
    best = min(paths, key=lambda path: path[0] + (prices.chunk if path[3] >= 0 else 0))
    return _unchain(best[4])


def is_too_long(candidates: Candidates, length: int) -> bool:
    """Whether an alignment would take minutes: words that come again and again, on both sides.

    Args:
        candidates: As for :func:`align`.
        length: Words of the hypothesis.
    """
    crowded = sum(_count(here) > BEAM_SIZE for here in candidates)
    return crowded * length > _MOST_CROWDED


def _count(here: Sequence[Block]) -> int:
    """Candidates of a reference position."""
    return sum(len(run.starts) for block in here for run in block)


_rank = itemgetter(0)


def _prices(candidates: Candidates, size: int) -> Prices:
    """Prices such that a rank is one integer, least is best.

    It has -credit, chunks and distance from high bits to low. Neither lower field can overflow into
    the next, so the order is that of the three numbers.
    """
    runs = [run for here in candidates for block in here for run in block]
    length = max(run.starts[-1] + run.length for run in runs)
    chunk = 1 << (size * (length + len(candidates))).bit_length()
    return Prices(chunk, chunk << (len(candidates) + 1).bit_length())


def _option(candidate: Candidate, position: int, credit: int) -> _Option:
    """A candidate with all that the search asks of it."""
    start, length, reference_length, module = candidate
    bits = ((1 << length) - 1) << start
    gain = gain_of(length, reference_length, module)
    return candidate, bits, gain * credit, abs(position - start), start + length


def _fixed_positions(candidates: Candidates, sizes: Sequence[int]) -> list[bool]:
    """At which reference positions the only candidate competes with no other for any word."""
    covered = [0] * (len(candidates) + 1)
    times: Counter[CandidateRun] = Counter()
    for position, here in enumerate(candidates):
        for block in here:
            times.update(block)
            for run in block:
                for word in range(position, position + run.reference_length):
                    covered[word] += len(run.starts)
    used: Counter[int] = Counter()
    for run, count in times.items():
        for start in run.starts:
            for word in range(start, start + run.length):
                used[word] += count
    fixed = []
    for position, here in enumerate(candidates):
        alone = sizes[position] == 1
        if alone:
            ((run,),) = here
            (start,) = run.starts
            alone = all(covered[position + word] == 1 for word in range(run.reference_length))
            alone = alone and all(used[start + word] == 1 for word in range(run.length))
        fixed.append(alone)
    return fixed


def _take_fixed(path: Path, position: int, option: _Option, chunk: int) -> Path:
    rank, used, _, end, chain = path
    candidate, bits, gain, distance, new_end = option
    if end not in (-1, candidate.start):
        rank += chunk
    chain = (position, candidate, chain)
    free = position + candidate.reference_length
    return rank - gain + distance, used | bits, free, new_end, chain


def _extend(paths: list[Path], position: int, options: list[_Option], chunk: int) -> list[Path]:
    """Every path with every option it has room for, and without any."""
    extended: list[Path] = []
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


def _unchain(chain: Chain) -> list[Match]:
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
