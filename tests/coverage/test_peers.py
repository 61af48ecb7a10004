"""Outputs of other systems (peers) show what can be covered."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Row, Texts
from coverage_eval.coverage.coverage_losses import PEER_WORDS_WEIGHT
from coverage_eval.coverage.omission_finder import FoundSegment, OmissionFinder
from coverage_eval.coverage.omissions import Additions, Omissions
from tests.coverage.conftest import measured
from tests.coverage.test_finder import auroc, cover_by_loops
from tests.grammar import generate
from tests.planting import CleanSegment, Injection, WordPool
from tests.rows import score_of

TEST = generate(200, seed=6)
SOURCES = [" ".join(pair.source) for pair in TEST]
TARGETS = [" ".join(pair.target) for pair in TEST]


def corrupt(kind: str, seed: int, rate: float = 0.1) -> tuple[list[str], list[bool]]:
    """The correct translations with errors, and which segments have errors."""
    injection = Injection(kind, rate, WordPool.of(pair.target for pair in TEST), seed)
    found = [injection.corrupt(CleanSegment(p.target, p.source, p.links)) for p in TEST]
    has_some = [any(e.source or kind == "addition" for e in one.errors) for one in found]
    return [" ".join(one.words) for one in found], has_some


BAD, LACKS = corrupt("omission-phrase", 1)
PEERS = [corrupt("omission-word", seed)[0] for seed in (2, 3, 4)]


def find(
    aligner: ModelAligner,
    peers: Sequence[Sequence[str]],
    *,
    side: str = "source",
    references: Sequence[str] | None = None,
    hypotheses: Sequence[str] = BAD,
    segments: int = len(TEST),
) -> list[FoundSegment]:
    """The findings in the first segments."""
    finder = OmissionFinder(aligner, side, referenced=references is not None)
    given = None if references is None else references[:segments]
    several = [peer[:segments] for peer in peers]
    return finder.find_texts(hypotheses[:segments], SOURCES[:segments], given, several)


def as_values(found: Sequence[FoundSegment]) -> list[Any]:
    return [(one.score, one.marks, one.losses.tolist(), one.probability) for one in found]


@pytest.mark.parametrize("referenced", [False, True])
def test_expected_coverage_is_the_mean_over_all_peers(special, referenced):
    stems = special.model.attached_model("stems.model")
    assert stems is not None
    found = find(special, PEERS, references=TARGETS if referenced else None, segments=4)
    for number, (one, hypothesis) in enumerate(zip(found, BAD[:4], strict=True)):
        texts = [peer[number] for peer in PEERS] + [TARGETS[number]] * referenced
        losses = []
        for model, cut in ((special.model, 100), (stems, 5)):
            source = [word[:cut] for word in SOURCES[number].split()]
            own, *others = (
                np.array(cover_by_loops(model, source, [word[:cut] for word in text.split()]))
                for text in [hypothesis, *texts]
            )
            losses.append(sum(others) / len(others) - own)
        scale = 1 if referenced else 0.375
        assert one.losses == pytest.approx(sum(losses) / 2 / scale)


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("referenced", [False, True])
def test_the_order_of_peers_changes_nothing(special, side, referenced):
    references = TARGETS if referenced and side == "source" else None
    first, *others = (
        as_values(find(special, peers, side=side, references=references, segments=8))
        for peers in permutations(PEERS)
    )
    assert all(other == first for other in others)


def test_peers_find_more_than_normal_coverage(special):
    rows = [Row((text,), (), source) for text, source in zip(BAD, SOURCES, strict=True)]
    peers = zip(*PEERS, strict=True)
    peered = [row._replace(peers=texts) for row, texts in zip(rows, peers, strict=True)]
    lost = [{1} if lacks else set() for lacks in LACKS]
    alone = auroc(OmissionFinder(special), rows, lost)
    assert auroc(OmissionFinder(special), peered, lost) > alone


def test_systems_are_peers_of_each_other(special):
    """No system is its own peer, and a single other system is no peer."""
    names = ("bad", "one", "two", "three")
    systems = {name: texts[:25] for name, texts in zip(names, (BAD, *PEERS), strict=True)}
    dataset = Texts.from_lists(systems, None, SOURCES[:25])
    result = measured(dataset, omissions=Omissions(special), additions=Additions(special))
    for name, texts in systems.items():
        peers = [other for key, other in systems.items() if key != name]
        for metric, side in (("omissions", "source"), ("additions", "target")):
            alone = find(special, peers, side=side, hypotheses=texts, segments=25)
            assert result.segment_scores(metric, name) == [one.score for one in alone]
    assert "|rank:peers3|" in str(result.score("omissions").signature)
    two = Texts.from_lists({"bad": BAD, "one": PEERS[0]}, None, SOURCES)
    found = measured(two, omissions=Omissions(special))
    assert found.segment_scores("omissions") == [one.score for one in find(special, [])]
    assert "rank" not in str(found.score("omissions").signature)


def test_several_references_are_expected_on_average(special):
    one, other, both = (
        score_of(Omissions(special), BAD, references, SOURCES)
        for references in (TARGETS, PEERS[0], [TARGETS, PEERS[0]])
    )
    assert min(one.score, other.score) <= both.score <= max(one.score, other.score)


def test_a_word_is_added_more_often_than_peers_have_it(special):
    """A second occurrence needs peers that have the word twice."""
    word, *more = TEST[0].target

    def losses(*peers: str) -> np.ndarray:
        said = [[f"{peer} {' '.join(more)}"] for peer in peers]
        hyp = [f"{word} {word}"]
        return find(special, said, side="target", hypotheses=hyp, segments=1)[0].losses

    assert word not in more
    never, once, twice = losses("", "x"), losses(word, f"x {word}"), losses(word, f"{word} {word}")
    assert never - once == pytest.approx([PEER_WORDS_WEIGHT, 0])
    assert once - twice == pytest.approx([0, PEER_WORDS_WEIGHT / 2])
