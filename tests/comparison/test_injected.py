"""Injected errors in real text: their known order is found, and equal systems do not differ.

False positives are counted over 200 seeds. All outputs of a pool have errors at the same rate, so
systems drawn from the pool segment by segment are equally good.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.comparison.comparison import Comparison, compare, compare_statistics
from coverage_eval.metrics.drop import DROP
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.score import Statistics
from coverage_eval.metrics.significance import SignificanceTest
from tests.comparison.systems import damaged

SEEDS = 200
LINKED = DROP(Aligner.from_links([], []))
"""DROP for given statistics, which need no links."""


@pytest.fixture(scope="module")
def texts(shared: Path) -> dict[str, list[str]]:
    folder = shared / "data" / "multi30k-de-en"
    return {
        f"{part}.{side}": (folder / f"{name}.{side}").read_text().splitlines()[:size]
        for part, name, size in (("train", "train", 4000), ("test", "test_2016_flickr", 600))
        for side in ("de", "en")
    }


@pytest.fixture(scope="module")
def comparison(texts: dict[str, list[str]]) -> Comparison:
    """Three outputs with rising rates of errors, and a fourth with the rates of the first."""
    references = texts["test.en"]
    systems = {
        "few": damaged(references, 1, repeated=0.02, omitted=0.04),
        "some": damaged(references, 2, repeated=0.06, omitted=0.08),
        "many": damaged(references, 3, repeated=0.18, omitted=0.16),
        "like few": damaged(references, 4, repeated=0.02, omitted=0.04),
    }
    with Aligner.train(texts["train.de"], texts["train.en"]) as aligner:
        return compare(
            systems, references, texts["test.de"], aligner,
            metrics=("bleu", "rep", "drop", "softdrop", "chrf"),
        )  # fmt: skip


@pytest.mark.parametrize("name", ["bleu", "rep", "drop", "softdrop", "chrf"])
def test_known_order_is_found(comparison: Comparison, name: str) -> None:
    cells = {system: row[name] for system, row in comparison.rows.items()}
    sign = 1 if comparison.metrics[name].higher_is_better else -1
    goodness = [sign * cells[system].score.score for system in ("few", "some", "many")]
    assert goodness == sorted(goodness, reverse=True)
    for system in ("some", "many"):
        adjusted = cells[system].adjusted
        assert adjusted is not None
        assert adjusted < 0.05
    equal = cells["like few"].adjusted
    assert equal is not None
    assert equal > 0.05


@pytest.mark.parametrize("name", ["rep", "drop"])
def test_neighbours_in_the_order_differ(comparison: Comparison, name: str) -> None:
    result = comparison.measured
    statistics = {name: dict(zip(result.systems, result.statistics[name], strict=True))}
    metrics = {name: comparison.metrics[name]}
    rows = compare_statistics(statistics, metrics, SignificanceTest(baseline="some")).rows
    for system in ("few", "many"):
        adjusted = rows[system][name].adjusted
        assert adjusted is not None
        assert adjusted < 0.05


@pytest.fixture(scope="module")
def pools(texts: dict[str, list[str]]) -> dict[str, Statistics]:
    """Statistics ``[outputs, segments, k]`` of many outputs at one rate, by metric."""
    references = texts["test.en"][:300]
    outputs = [damaged(references, seed, repeated=0.08) for seed in range(12)]
    rep = np.stack([REP().statistics(output, references) for output in outputs])
    # DROP: 6% of the words that a reference of this length may link are dropped.
    expected = rep[0, :, 2]
    dropped = np.random.default_rng(1).binomial(expected, 0.06, size=(12, len(expected)))
    drop = np.stack([dropped, np.broadcast_to(expected, dropped.shape)], axis=-1)
    return {"rep": rep, "drop": drop}


def draw(pool: Statistics, generator: np.random.Generator) -> Statistics:
    """An output; each of its segments comes from a random output of the pool."""
    chosen = generator.integers(len(pool), size=pool.shape[1])
    return np.asarray(pool[chosen, np.arange(pool.shape[1])])


def false_positives(
    pools: dict[str, Statistics], test: str
) -> tuple[dict[str, int], dict[str, int]]:
    """By metric: single tests, and comparisons of three equal systems, with p < 0.05."""
    metrics = {"rep": REP(), "drop": LINKED}
    single = dict.fromkeys(metrics, 0)
    family = dict.fromkeys(metrics, 0)
    for seed in range(SEEDS):
        generator = np.random.default_rng(seed)
        statistics = {
            name: {system: draw(pool, generator) for system in ("a", "b", "c")}
            for name, pool in pools.items()
        }
        how = SignificanceTest(test, resamples=200, seed=seed)
        rows = compare_statistics(statistics, metrics, how).rows
        for name in metrics:
            cells = [rows[system][name] for system in ("b", "c")]
            single[name] += sum((cell.p_value or 0) < 0.05 for cell in cells)
            family[name] += any((cell.adjusted or 0) < 0.05 for cell in cells)
    return single, family


def test_false_positives_are_near_the_level(pools: dict[str, Statistics]) -> None:
    """About 10 of 200 comparisons of three equal systems find a difference, for each metric."""
    single, family = false_positives(pools, "randomization")
    for name in ("rep", "drop"):
        # About 20 of 400 tests, two of them with each baseline; P(outside) is below 0.005.
        assert 6 <= single[name] <= 38, single
        # About 10 of 200 comparisons, or fewer, because Holm's correction is conservative.
        assert 2 <= family[name] <= 20, family


def test_sacrebleus_bootstrap_finds_twice_as_many(pools: dict[str, Statistics]) -> None:
    """The notes and the help say so of ``--test bootstrap``: about 10% (40 of 400)."""
    single, _ = false_positives(pools, "bootstrap")
    for name in ("rep", "drop"):
        assert 22 <= single[name] <= 62, single


def test_half_as_many_errors_again_are_found(pools: dict[str, Statistics]) -> None:
    """One of two systems has half as many errors again: it is found, and the other is not."""
    generator = np.random.default_rng(1)
    found = []
    for seed in range(20):
        systems = {system: draw(pools["drop"], generator) for system in ("a", "b", "worse")}
        systems["worse"][:, 0] += generator.binomial(systems["worse"][:, 1], 0.03)
        test = SignificanceTest(resamples=200, seed=seed)
        rows = compare_statistics({"drop": systems}, {"drop": LINKED}, test).rows
        found.append([(rows[system]["drop"].adjusted or 0) < 0.05 for system in ("b", "worse")])
    equal, worse = np.sum(found, axis=0)
    assert equal <= 4
    assert worse == 20
