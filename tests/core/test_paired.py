"""Paired tests: p-values against sacreBLEU's, false positives, ties, and Holm's adjustment."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import PairedTest

from coverage_eval.align.aligner import Aligner
from coverage_eval.core import significance
from coverage_eval.core.metric import Metric, Statistics
from coverage_eval.core.significance import Difference, holm, pair_tests
from coverage_eval.coverage.drop import DROP
from coverage_eval.quality.sacre import BLEU, CHRF
from coverage_eval.repetition.rep import REP
from tests.grammar import generate, paraphrase
from tests.planting import inject_lines
from tests.rows import statistics_of

RATIO = DROP(Aligner.from_links([], []))
"""A ratio of sums, for given statistics."""

REFERENCES = [" ".join(pair.target) for pair in generate(300, seed=5)]


def system(rate: float, seed: int) -> list[str]:
    generator = random.Random(seed)
    lines = [" ".join(paraphrase(text.split(), 0.5, generator)) for text in REFERENCES]
    return inject_lines(lines, "omission-word", rate, seed)


SYSTEMS = {"base": system(0.02, 1), "like": system(0.02, 2), "worse": system(0.06, 3)}


def against_first(
    metric: Metric, systems: dict[str, Statistics], **how: Any
) -> dict[str, Difference]:
    """Tests of all systems against the first."""
    first, *others = systems
    (tested,) = pair_tests([(metric, systems)], [(name, first) for name in others], **how)
    return {name: difference for (name, _), difference in tested.items()}


@pytest.mark.parametrize(
    ("ours", "theirs"), [(BLEU(), sacrebleu.BLEU()), (CHRF(), sacrebleu.CHRF())]
)
@pytest.mark.parametrize(("test", "name"), [("bootstrap", "bs"), ("randomization", "ar")])
def test_p_values_are_sacrebleus(ours, theirs, test, name):
    named = list(SYSTEMS.items())
    paired = PairedTest(
        named, {ours.presentation.name: theirs}, [REFERENCES], test_type=name, n_samples=400
    )
    _, results = paired()
    statistics = {key: statistics_of(ours, lines, REFERENCES) for key, lines in named}
    found = against_first(ours, statistics, test=test, resamples=400)
    for (key, _), expected in zip(named[1:], results[ours.presentation.name][1:], strict=True):
        # sacreBLEU sums in single precision and counts ties as smaller, so a few trials differ.
        assert found[key].p_value == pytest.approx(expected.p_value, abs=3.01 / 401)
    assert found["worse"].p_value < 0.05 < found["like"].p_value


def test_trials_in_blocks_equal_trials_at_once(monkeypatch):
    monkeypatch.setattr(significance, "_MAX_CELLS", 300)
    drawn = np.random.default_rng(7).integers(2, size=(100, 9), dtype=bool)
    blocks = list(significance.swap_masks(9, 100, 7))
    assert [len(block) for block in blocks] == [32, 32, 32, 4]
    np.testing.assert_array_equal(np.concatenate(blocks), drawn)


@pytest.mark.parametrize(
    ("test", "least", "most", "of_three"),
    [("randomization", 6, 38, range(2, 21)), ("bootstrap", 22, 62, range(12, 56))],
)
def test_false_positives_are_near_the_level(test, least, most, of_three):
    """In 200 comparisons of three systems with errors at the same rate, two tests each.

    About 5% of the tests are significant (20); with sacreBLEU's bootstrap about 10% (40), as the
    help says. The bounds are exceeded with a probability below 0.005.
    """
    generator = np.random.default_rng(6)
    words = generator.integers(8, 20, size=300)
    single = family = 0
    for seed in range(200):
        systems = {
            name: np.stack([generator.binomial(words, 0.06), words], axis=1) for name in "abc"
        }
        found = against_first(RATIO, systems, test=test, resamples=200, seed=seed)
        p_values = [item.p_value for item in found.values()]
        single += sum(p < 0.05 for p in p_values)
        family += min(holm(p_values)) < 0.05
    assert least <= single <= most
    assert family in of_three


def test_equal_outputs_have_a_p_value_of_1():
    """Every resample is a tie, and ties count as at least as large."""
    statistics = statistics_of(REP(), SYSTEMS["worse"], REFERENCES)
    for test in ("bootstrap", "randomization"):
        systems = {"a": statistics, "b": statistics}
        result = against_first(REP(), systems, test=test, resamples=99)
        assert result["b"].p_value == 1
        assert result["b"].difference == 0


def test_holms_adjustment_in_worked_examples():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
