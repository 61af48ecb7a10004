"""How the figures change with errors injected at known rates."""

from __future__ import annotations

import random

import pytest

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.metrics.profile import Profile, profile
from coverage_eval.testbed.grammar import generate
from coverage_eval.testbed.injection import inject_lines

PAIRS = generate(400, seed=5)
SOURCES = [pair.source for pair in PAIRS]
LINKS = [pair.links for pair in PAIRS]
RATES = (0.0, 0.05, 0.15, 0.4)


def repeating(rate: float) -> Profile:
    references = [" ".join(pair.target) for pair in PAIRS]
    outputs = inject_lines(references, "repetition-oscillating", rate, seed=1)
    return profile(outputs, references, [" ".join(source) for source in SOURCES])


def omitting(rate: float) -> Profile:
    """Leave target words out, and with them their links."""
    generator = random.Random(2)
    outputs, links = [], []
    for pair in PAIRS:
        kept = [place for place in range(len(pair.target)) if generator.random() >= rate]
        outputs.append([pair.target[place] for place in kept])
        places = {old: new for new, old in enumerate(kept)}
        links.append([(s, places[t]) for s, t in pair.links if t in places])
    references = [pair.target for pair in PAIRS]
    return profile(outputs, references, SOURCES, Aligner.from_links(LINKS, links))


def values(profiles: list[Profile], key: str) -> list[float]:
    scores = [item[key].score for item in profiles]
    assert None not in scores
    return [score.score for score in scores if score is not None]


@pytest.fixture(scope="module")
def repeated() -> list[Profile]:
    return [repeating(rate) for rate in RATES]


@pytest.fixture(scope="module")
def omitted() -> list[Profile]:
    return [omitting(rate) for rate in RATES]


@pytest.mark.parametrize(
    "key",
    [
        "REP", "REP-src", "REP-letters", "REP-letters-no-ref", "seq-rep-1", "seq-rep-2",
        "seq-rep-3", "seq-rep-4", "rep-2", "rep-3", "rep-4", "tail-loop", "substring-rep",
        "duplicate-chars-5", "compression", "length-ratio",
    ],
)  # fmt: skip
def test_more_repetition_raises_figures_of_repetition(repeated: list[Profile], key: str) -> None:
    found = values(repeated, key)
    assert found == sorted(found)
    assert found[0] < found[-1]


@pytest.mark.parametrize("key", ["distinct-1", "distinct-2", "diversity"])
def test_more_repetition_lowers_figures_of_diversity(repeated: list[Profile], key: str) -> None:
    found = values(repeated, key)
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


def test_a_perfect_output_repeats_nothing(repeated: list[Profile]) -> None:
    assert values(repeated, "REP")[0] == 0


def test_omissions_lower_coverage_by_their_rate(omitted: list[Profile]) -> None:
    uncovered = values(omitted, "uncovered-source")
    assert uncovered == sorted(uncovered)
    ratios = values(omitted, "length-ratio")
    for rate, ratio in zip(RATES, ratios, strict=True):
        assert ratio / ratios[0] == pytest.approx(1 - rate, abs=0.02)
