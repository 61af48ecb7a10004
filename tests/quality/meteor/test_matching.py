"""The aligner against a plain transcription of its description, and its invariants."""

from __future__ import annotations

from dataclasses import astuple
from operator import attrgetter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coverage_eval.quality.meteor.matching import (
    BEAM_SIZE,
    Block,
    Candidate,
    CandidateRun,
    Match,
)
from coverage_eval.quality.meteor.matching import align as align_blocks
from coverage_eval.quality.meteor.metric import FIELDS, pair_statistics

Found = list[list[Candidate]]


@st.composite
def candidate_lists(draw: st.DrawFn, words: int = 7) -> Found:
    """Candidates of a pair with up to ``words`` words on each side; many ties and duplicates."""
    length = draw(st.integers(1, words))
    reference_length = draw(st.integers(1, words))
    found: Found = [[] for _ in range(reference_length)]
    for _ in range(draw(st.integers(0, 12))):
        position = draw(st.integers(0, reference_length - 1))
        start = draw(st.integers(0, length - 1))
        module = draw(st.sampled_from([0, 0, 1, 2, 3, 3]))
        size = reference_size = 1
        if module == 3:
            size = draw(st.integers(1, min(3, length - start)))
            reference_size = draw(st.integers(1, min(3, reference_length - position)))
        found[position].append(Candidate(start, size, reference_size, module))
    return found


def align(found: Found, beam_size: int = BEAM_SIZE) -> list[Match]:
    """The aligner, given candidates one by one."""
    blocks = [[(CandidateRun((c.start,), *c[1:]),) for c in here] for here in found]
    return align_blocks(blocks, beam_size)


def listed(blocks: list[Block]) -> list[Candidate]:
    """The candidates of a position: block by block, and in a block by their start."""
    found = []
    for block in blocks:
        here = [Candidate(start, *run[1:]) for run in map(astuple, block) for start in run[0]]
        found += sorted(here, key=attrgetter("start"))
    return found


@st.composite
def crowded_blocks(draw: st.DrawFn) -> list[list[Block]]:
    """Candidates of text that loops: the same few runs at many positions, often at all."""
    length = draw(st.integers(1, 16))

    def run(module: int) -> st.SearchStrategy[CandidateRun]:
        size = st.integers(1, min(4, length) if module == 3 else 1)
        return size.flatmap(
            lambda words: st.builds(
                CandidateRun,
                st.sets(st.integers(0, length - words), min_size=1).map(sorted).map(tuple),
                st.just(words),
                st.integers(1, 4 if module == 3 else 1),
                st.just(module),
            )
        )

    block = st.sampled_from([0, 0, 1, 2, 3, 3]).flatmap(
        lambda module: st.lists(run(module), min_size=1, max_size=3 if module == 3 else 1)
    )
    kinds = draw(st.lists(st.lists(block.map(tuple), max_size=3), min_size=1, max_size=3))
    order = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=8))
    # No candidate reaches beyond the end of the reference.
    left = [len(order) - index for index in range(len(order))]
    fitting = [
        [tuple(r for r in block if r.reference_length <= room) for block in here]
        for room, here in zip(left, order, strict=True)
    ]
    return [[block for block in here if block] for here in fitting]


class Path:
    """A state of the search, with a plain field for everything."""

    def __init__(self) -> None:
        self.credit = self.chunks = self.distance = 0
        self.end = -1
        self.matches: list[Match] = []

    def copy(self) -> Path:
        twin = Path()
        twin.__dict__ = {**self.__dict__, "matches": list(self.matches)}
        return twin

    def hypothesis(self) -> set[int]:
        return {w for _, c in self.matches for w in range(c.start, c.start + c.length)}

    def reference(self) -> set[int]:
        return {w for p, c in self.matches for w in range(p, p + c.reference_length)}

    def take(self, position: int, c: Candidate) -> None:
        if self.end not in (-1, c.start):
            self.chunks += 1
        self.end = c.start + c.length
        self.matches.append(Match(position, c))
        share = 1.0 if c.module == 0 else 0.5
        self.credit += int(share * c.length) + int(share * c.reference_length)

    def close(self) -> None:
        if self.end != -1:
            self.chunks += 1
            self.end = -1

    def key(self) -> tuple[int, int, int]:
        return -self.credit, self.chunks, self.distance


def is_fixed(found: Found, position: int) -> bool:
    """Whether the position has one candidate, whose words no other candidate covers."""
    if len(found[position]) != 1:
        return False
    (only,) = found[position]
    everything = [(p, c) for p, here in enumerate(found) for c in here]
    for word in range(position, position + only.reference_length):
        if sum(p <= word < p + c.reference_length for p, c in everything) != 1:
            return False
    for word in range(only.start, only.start + only.length):
        if sum(c.start <= word < c.start + c.length for _, c in everything) != 1:
            return False
    return True


def transcription(found: Found, beam: int) -> list[Match]:
    """The search, step by step as Meteor's aligner is described."""
    paths = [Path()]
    for position in range(len(found)):
        paths = sorted(paths, key=Path.key)[:beam]
        following = []
        for path in paths:
            if position in path.reference():
                following.append(path)
                continue
            if is_fixed(found, position):
                (only,) = found[position]
                path.take(position, only)
                path.distance += abs(position - only.start)
                following.append(path)
                continue
            for c in found[position]:
                if path.hypothesis().isdisjoint(range(c.start, c.start + c.length)):
                    child = path.copy()
                    child.take(position, c)
                    following.append(child)
                    path.distance += abs(position - c.start)
            path.close()
            following.append(path)
        paths = following
    for path in paths:
        path.close()
    return sorted(paths, key=Path.key)[0].matches


# After a phrase of two reference words, the adjacent match makes no new chunk.
@example([[Candidate(3, 1, 2, 3)], [], [Candidate(2, 1, 1, 0), Candidate(4, 1, 1, 0)]], 40)
@given(candidate_lists(), st.sampled_from([1, 2, 5, 40]))
def test_the_search_agrees_with_the_description(found, beam):
    assert align(found, beam) == transcription(found, beam)


@given(crowded_blocks(), st.sampled_from([1, 2, 3, 7, 40]))
def test_crowded_positions_are_searched_as_described(blocks, beam):
    found = [listed(here) for here in blocks]
    assert align_blocks(blocks, beam) == transcription(found, beam)


def test_hundreds_of_equal_runs_are_searched_as_described():
    block = tuple(CandidateRun((0, 2), 1, 1, 3) for _ in range(60))
    blocks: list[list[Block]] = [[block], [block], [block]]
    found = [listed(here) for here in blocks]
    assert align_blocks(blocks, 7) == transcription(found, 7)


@pytest.mark.parametrize(
    ("starts", "chunks"),
    [([], 0), ([(0, 0)], 1), ([(0, 0), (1, 1)], 1), ([(0, 1), (1, 0)], 2), ([(0, 0), (2, 1)], 2)],
)
def test_chunks_are_adjacent_on_both_sides(starts, chunks):
    matches = [Match(p, Candidate(s, 1, 1, 0)) for p, s in starts]
    counts = pair_statistics(matches, [False] * 5, [False] * 5)
    assert counts[FIELDS.index("chunks")] == chunks
