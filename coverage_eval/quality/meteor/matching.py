"""Which words of a hypothesis and a reference Meteor 1.5 matches.

Four matchers find candidates: equal words, equal stems, synonyms, paraphrases. Candidates that
compete with no other are fixed first; a beam search over the positions of the reference chooses
among the others. Ties are frequent and their order changes scores, so the search keeps Meteor's own
order and habits, including those that look like oversights: half credits are truncated to integers,
and the distance of a match is charged to the path without the match, not to the path with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.quality.meteor.words import Word, find_synsets

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)

MODULES = ("exact", "stem", "synonym", "paraphrase")
"""The matchers' names; a matcher's index in this list is its number."""

BEAM_SIZE = 40
"""Most paths kept at each position of the reference."""

_MAX_CANDIDATES = 1 << 23
"""Most candidates in all: as many as of one word 2,900 times on both sides, or of 650 words 20
times each, which takes about ten seconds."""

_CROWD = 32
"""A candidate takes this many times as long at a position with at most :data:`BEAM_SIZE`."""


class Candidate(NamedTuple):
    """A possible match of words of the hypothesis with words at a given reference position."""

    start: int
    """First hypothesis position."""
    length: int
    """Number of hypothesis words."""
    reference_length: int
    """Number of reference words."""
    module: int
    """Which matcher found it: 0 exact, 1 stem, 2 synonym, 3 paraphrase."""


@dataclass(frozen=True, eq=False)
class CandidateRun:
    """Candidates of a reference position that differ only in where they start.

    If both sides repeat a word a thousand times, there are a million candidates; as runs, they take
    no more memory than the text.

    Attributes:
        starts: First hypothesis positions, ascending; at least one.
        length: Number of hypothesis words of each candidate.
        reference_length: Number of reference words of each candidate.
        module: Which matcher found them.
    """

    starts: tuple[int, ...]
    length: int
    reference_length: int
    module: int

    @cached_property
    def start_array(self) -> NDArray[np.int64]:
        """The starts as an array."""
        return np.array(self.starts)

    @property
    def gain(self) -> int:
        """The credit of a match: 1 per exact word, else ½, truncated to an integer per side."""
        if self.module == EXACT:
            return self.length + self.reference_length
        return self.length // 2 + self.reference_length // 2


Block: TypeAlias = "tuple[CandidateRun, ...]"
"""Runs whose candidates Meteor finds from left to right: by start, then by run."""

Candidates: TypeAlias = "Sequence[Sequence[Block]]"
"""The candidates of each reference position at which they start, in Meteor's order."""


class Match(NamedTuple):
    """A chosen candidate, with its position in the reference."""

    reference_start: int
    candidate: Candidate


def find_candidates(
    hypothesis: Sequence[Word],
    reference: Sequence[Word],
    modules: Sequence[int],
) -> list[list[Block]]:
    """All candidates of a pair but for paraphrases, by their start in the reference.

    Candidates of one position are ordered by module, and within a module from left to right in the
    hypothesis. A pair of words may be listed by several modules.

    Args:
        hypothesis: The words of the hypothesis.
        reference: The words of the reference.
        modules: The matchers to run, in ascending order.

    Returns:
        One list per reference position.
    """
    by_key: dict[int, list[int]] = {}
    by_stem: dict[int, list[int]] = {}
    by_word: dict[Word, list[int]] = {}
    for position, word in enumerate(hypothesis):
        by_key.setdefault(word.key, []).append(position)
        by_stem.setdefault(word.stem_key, []).append(position)
        by_word.setdefault(word, []).append(position)
    by_synset: dict[str, list[Word]] = {}
    if SYNONYM in modules:
        for word in by_word:
            for synset in find_synsets(word.text):
                by_synset.setdefault(synset, []).append(word)
    # A word has the same candidates at all its positions.
    blocks: dict[Word, list[Block]] = {}
    for word in set(reference):
        starts = {EXACT: by_key.get(word.key, [])}
        if STEM in modules:
            same_stem = by_stem.get(word.stem_key, [])
            starts[STEM] = [i for i in same_stem if hypothesis[i].key != word.key]
        if by_synset:
            groups = [by_synset.get(synset, ()) for synset in find_synsets(word.text)]
            others = {other for other in chain.from_iterable(groups) if other.key != word.key}
            starts[SYNONYM] = sorted(chain.from_iterable(by_word[other] for other in others))
        blocks[word] = [
            (CandidateRun(tuple(at), 1, 1, module),) for module, at in starts.items() if at
        ]
    return [list(blocks[word]) for word in reference]


# The matches of a path, last first: (reference start, candidate, earlier matches).
_Chain: TypeAlias = "tuple[int, Candidate, _Chain] | None"

# (rank, used hypothesis positions as bits, first free reference position, end of the open chunk in
# the hypothesis or -1, matches)
SearchPath: TypeAlias = "tuple[int, int, int, int, _Chain]"

# (candidate, hypothesis positions as bits, gain in rank, distance, end in the hypothesis)
_Option: TypeAlias = "tuple[Candidate, int, int, int, int]"


def align(candidates: Candidates, beam_size: int = BEAM_SIZE) -> list[Match]:
    """Choose matches such that no word is matched twice.

    Args:
        candidates: The candidates of each reference position, as :func:`find_candidates` gives
            them.
        beam_size: How many paths are kept at each reference position.

    Returns:
        The matches in reference order.
    """
    sizes = list(map(_count, candidates))
    if not any(sizes):
        return []
    # A rank is one integer, and the smallest is best: -credit, chunks and distance, from high bits
    # to low. The fields cannot overflow, so ranks are ordered as the three numbers.
    ends = [run.starts[-1] + run.length for here in candidates for block in here for run in block]
    chunk = 1 << (sum(sizes) * (max(ends) + len(candidates))).bit_length()
    credit = chunk << (len(candidates) + 1).bit_length()

    fixed = _find_fixed(candidates, sizes)
    paths: list[SearchPath] = [(0, 0, 0, -1, None)]
    for position, here in enumerate(candidates):
        if len(paths) > 1:
            paths.sort(key=itemgetter(0))
            del paths[beam_size:]
        if sizes[position] > beam_size:
            last = position == len(candidates) - 1
            paths = extend_crowded(paths, position, here, chunk, credit, beam_size, last=last)
            continue
        options = find_options(here, position, credit)
        if fixed[position]:
            paths = [_take_fixed(path, position, options[0], chunk) for path in paths]
        else:
            paths = extend_paths(paths, position, options, chunk)
    chain = min(paths, key=lambda path: path[0] + (chunk if path[3] >= 0 else 0))[-1]
    matches = []
    while chain is not None:
        position, candidate, chain = chain
        matches.append(Match(position, candidate))
    return matches[::-1]


def is_too_long(candidates: Candidates) -> bool:
    """Whether an alignment would take many seconds, because both sides repeat words very often."""
    sizes = map(_count, candidates)
    return sum(n if n > BEAM_SIZE else _CROWD * n for n in sizes) > _MAX_CANDIDATES


def _count(blocks: Sequence[Block]) -> int:
    """The number of candidates of a reference position."""
    return sum(len(run.starts) for block in blocks for run in block)


def _find_fixed(candidates: Candidates, sizes: Sequence[int]) -> list[bool]:
    """For each reference position, whether its only candidate competes with no other."""
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


def find_options(blocks: Sequence[Block], position: int, credit: int) -> list[_Option]:
    """All candidates of a reference position, in Meteor's order; a gain is times ``credit``."""
    options: list[_Option] = []
    for block in blocks:
        here: list[_Option] = []
        for run in block:
            length, gain, bits = run.length, run.gain * credit, (1 << run.length) - 1
            for start in run.starts:
                candidate = Candidate(start, length, run.reference_length, run.module)
                distance = abs(position - start)
                here.append((candidate, bits << start, gain, distance, start + length))
        options += sorted(here, key=lambda option: option[0].start)
    return options


def _take_fixed(path: SearchPath, position: int, option: _Option, chunk: int) -> SearchPath:
    """A path with the only option of a fixed position, charged with its distance."""
    rank, used, _, end, chain = path
    candidate, bits, gain, distance, new_end = option
    if end not in (-1, candidate.start):
        rank += chunk
    chain = (position, candidate, chain)
    free = position + candidate.reference_length
    return rank - gain + distance, used | bits, free, new_end, chain


def extend_paths(
    paths: Sequence[SearchPath], position: int, options: Sequence[_Option], chunk: int
) -> list[SearchPath]:
    """Each path with each option that fits, and without any."""
    extended: list[SearchPath] = []
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


def extend_crowded(
    paths: Sequence[SearchPath],
    position: int,
    blocks: Sequence[Block],
    chunk: int,
    credit: int,
    beam_size: int,
    *,
    last: bool,
) -> list[SearchPath]:
    """The ``beam_size`` best results of :func:`extend_paths`, ordered by rank.

    At the last position all come, in the order of :func:`extend_paths`: open chunks count later.

    Options of equal gain differ in rank only by the distances charged for the options before them,
    and these add up. So a path needs only the first ``beam_size`` options of each gain that fit,
    and the options that continue its open chunk. The arrays are ``[paths, options]``.
    """
    runs = [run for block in blocks for run in block]
    which, starts = _options_in_order(blocks)
    lengths = np.array([run.length for run in runs])[which]
    gains = np.array([run.gain for run in runs])[which]
    distances = np.abs(starts - position)
    busy = np.array([position < path[2] for path in paths])
    room = ~busy[:, None] & _fitting_options(paths, starts, lengths)
    ends = np.array([path[3] for path in paths])
    # Ranks in two parts: -credit with chunks, and distance.
    high, low = np.array([divmod(path[0], chunk) for path in paths]).T
    high += ~busy & (ends >= 0)
    charged = np.cumsum(room * distances, axis=1)
    continuing = room & (starts == ends[:, None])
    useful = continuing.copy()
    for gain in np.unique(gains):
        equal = room & (gains == gain)
        useful |= equal & (np.cumsum(equal, axis=1) <= beam_size)
    rows, columns = np.nonzero(useful)
    high_parts = high[rows] - gains[columns] * (credit // chunk) - continuing[rows, columns]
    low_parts = low[rows] + charged[rows, columns] - distances[columns]
    rows = np.append(rows, np.arange(len(paths)))  # each path without an option, after its options
    columns = np.append(columns, np.full(len(paths), len(starts)))
    high_parts, low_parts = np.append(high_parts, high), np.append(low_parts, low + charged[:, -1])
    if last:
        best = np.lexsort((columns, rows))
    else:
        best = np.lexsort((columns, rows, low_parts, high_parts))[:beam_size]

    extended: list[SearchPath] = []
    for row, column, first, second in zip(
        *(part[best].tolist() for part in (rows, columns, high_parts, low_parts)), strict=True
    ):
        rank = first * chunk + second
        _, bits, free, end, chain = paths[row]
        if column < len(starts):
            run, start = runs[which[column]], int(starts[column])
            candidate = Candidate(start, run.length, run.reference_length, run.module)
            bits |= ((1 << run.length) - 1) << start
            free, end = position + run.reference_length, start + run.length
            extended.append((rank, bits, free, end, (position, candidate, chain)))
        else:
            extended.append((rank, bits, free, end if position < free else -1, chain))
    return extended


def _options_in_order(blocks: Sequence[Block]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The run and the start of every candidate of a position, in Meteor's order."""
    numbered = [(number, run) for number, block in enumerate(blocks) for run in block]
    block_of_run = np.array([number for number, _ in numbered])
    which = np.repeat(np.arange(len(numbered)), [len(run.starts) for _, run in numbered])
    starts = np.concatenate([run.start_array for _, run in numbered])
    order = np.lexsort((which, starts, block_of_run[which]))
    return which[order], starts[order]


def _fitting_options(
    paths: Sequence[SearchPath], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether all words of an option are unused, ``[paths, options]``."""
    size = max(int((starts + lengths.max()).max()), *(path[1].bit_length() for path in paths))
    width = size // 8 + 1
    bits = np.frombuffer(b"".join(path[1].to_bytes(width, "little") for path in paths), np.uint8)
    used = np.unpackbits(bits.reshape(len(paths), width), axis=1, bitorder="little").view(bool)
    fits = ~used[:, starts]
    for word in range(1, lengths.max()):
        fits &= ~(used[:, starts + word] & (lengths > word))
    return fits
