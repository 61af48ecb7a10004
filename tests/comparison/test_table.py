"""The comparison table: scores, intervals, tests, frames; what must not change it."""

from __future__ import annotations

import math
import random

import numpy as np
import pandas as pd
import pytest

import coverage_eval
from coverage_eval.comparison.table import Comparison, Testing, compare, compare_statistics
from coverage_eval.errors import DataError
from coverage_eval.metrics.sacrebleu_adapters import BLEU
from coverage_eval.metrics.sacrebleu_adapters import CHRF
from coverage_eval.metrics.rep import REP
from coverage_eval.metrics.significance import bootstrap_intervals, holm, paired_test
from coverage_eval.testbed.grammar import generate
from tests.comparison.systems import damaged

REFERENCES = [" ".join(pair.target) for pair in generate(150, seed=3)]
SYSTEMS = {
    "base": damaged(REFERENCES, 1, repeated=0.02, omitted=0.05),
    "repeats": damaged(REFERENCES, 2, repeated=0.10, omitted=0.05),
    "drops": damaged(REFERENCES, 3, repeated=0.02, omitted=0.20),
}
METRICS = ("bleu", "rep", "chrf")
FEW = Testing(resamples=100)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(SYSTEMS, REFERENCES, metrics=METRICS, testing=FEW)


def values(comparison: Comparison) -> dict[str, dict[str, float]]:
    return {
        system: {name: cell.score.value for name, cell in cells.items()}
        for system, cells in comparison.rows.items()
    }


def test_scores_are_those_of_the_metrics_alone(comparison: Comparison) -> None:
    metrics = {"bleu": BLEU(), "rep": REP(), "chrf": CHRF()}
    assert list(comparison.rows) == list(SYSTEMS)
    for system, cells in comparison.rows.items():
        assert list(cells) == list(METRICS)
        for name, cell in cells.items():
            metric = metrics[name]
            alone = metric.score(metric.statistics(SYSTEMS[system], REFERENCES))
            assert cell.score.value == alone.value
            assert cell.score.signature == alone.signature
            assert cell.score.system == system


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_sharing_resamples_changes_nothing(test: str) -> None:
    together = compare(
        SYSTEMS, REFERENCES, metrics=METRICS, baseline="drops", testing=Testing(test, 100, 7)
    )
    for name, metric in together.metrics.items():
        assert together.counted is not None
        statistics = together.counted.statistics[name]
        intervals = bootstrap_intervals(metric, statistics, resamples=100, seed=7)
        found = paired_test(metric, statistics, "drops", test=test, resamples=100, seed=7)
        adjusted = holm([item.p_value for item in found.values()])
        assert list(found) == ["base", "repeats"]
        for system, cells in together.rows.items():
            cell = cells[name]
            assert cell.score.interval == intervals[system]
            if system == "drops":
                assert (cell.p_value, cell.adjusted, cell.difference) == (None, None, None)
            else:
                assert cell.p_value == found[system].p_value
                assert cell.adjusted == adjusted[list(found).index(system)]
                assert cell.difference == found[system].difference


def test_best_is_best_in_the_better_direction_and_ties_are_all_best() -> None:
    systems = {"a": REFERENCES, "b": SYSTEMS["drops"], "c": REFERENCES}
    rows = compare(systems, REFERENCES, metrics=METRICS, testing=Testing(resamples=0)).rows
    for name in METRICS:
        assert [cells[name].best for cells in rows.values()] == [True, False, True]


def test_no_resamples_no_intervals_and_no_tests() -> None:
    rows = compare(SYSTEMS, REFERENCES, metrics=METRICS, testing=Testing(resamples=0)).rows
    for system, cells in rows.items():
        for cell in cells.values():
            assert cell.score.interval is None
            assert cell.p_value is None
            assert cell.adjusted is None
            assert (cell.difference is None) == (system == "base")


def test_order_of_systems(comparison: Comparison) -> None:
    backwards = dict(reversed(SYSTEMS.items()))
    other = compare(backwards, REFERENCES, metrics=METRICS, baseline="base", testing=FEW)
    for system, cells in comparison.rows.items():
        for name, cell in cells.items():
            assert other.rows[system][name] == cell


def test_order_of_segments(comparison: Comparison) -> None:
    order = random.Random(0).sample(range(len(REFERENCES)), len(REFERENCES))
    shuffled = {name: [texts[i] for i in order] for name, texts in SYSTEMS.items()}
    other = compare(shuffled, [REFERENCES[i] for i in order], metrics=METRICS, testing=FEW)
    assert values(other) == values(comparison)


def test_tokens_are_as_good_as_text(comparison: Comparison) -> None:
    tokens = {name: [line.split() for line in texts] for name, texts in SYSTEMS.items()}
    other = compare(tokens, [r.split() for r in REFERENCES], metrics=METRICS, testing=FEW)
    assert values(other) == values(comparison)


def test_empty_segments_are_data() -> None:
    systems = {"full": ["a b", "c c"], "empty": ["", "c c"]}
    comparison = compare(systems, ["a b", ""], metrics=("rep", "chrf"), testing=FEW)
    assert values(comparison)["full"]["rep"] == values(comparison)["empty"]["rep"] == 100.0
    assert comparison.segments == 2


def test_frame(comparison: Comparison) -> None:
    frame = comparison.to_frame()
    assert list(frame.index) == list(SYSTEMS)
    assert frame.index.name == "system"
    assert list(frame.columns.levels[0]) == ["BLEU", "REP", "chrF2"]  # type: ignore[union-attr]
    assert frame.loc["drops", ("REP", "score")] == comparison.rows["drops"]["rep"].score.value
    assert pd.isna(frame.loc["base", ("REP", "p")])
    assert (frame["BLEU"]["low"] <= frame["BLEU"]["score"]).all()
    assert (frame["BLEU"]["score"] <= frame["BLEU"]["high"]).all()


def test_printing_shows_the_table(comparison: Comparison) -> None:
    lines = str(comparison).splitlines()
    (row,) = (line.split() for line in lines if line.startswith("drops"))
    assert row[1] == f"{comparison.rows['drops']['bleu'].score.value:.3f}"
    assert str(REP().signature) in lines


def test_html_is_escaped() -> None:
    comparison = compare({"<b>": ["a"]}, ["a"], metrics=["rep"], testing=FEW)
    page = comparison._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "REP|n:2" in page


def test_public_names() -> None:
    assert coverage_eval.compare is compare
    assert coverage_eval.Comparison is Comparison


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(DataError, match="short has 1, the reference 2"):
        compare({"short": ["a"]}, ["a", "b"])
    with pytest.raises(DataError, match="the source has 1, the reference 2"):
        compare({"s": ["a", "b"]}, ["a", "b"], sources=["a"])
    with pytest.raises(TypeError, match="not a single string"):
        compare({"s": ["a", "b"]}, "ab")
    with pytest.raises(TypeError, match="not a single string"):
        compare({"s": "ab"}, ["a", "b"])
    with pytest.raises(DataError, match="no system"):
        compare({}, ["a"])
    with pytest.raises(DataError, match="no segments"):
        compare({"s": []}, [])
    with pytest.raises(ValueError, match="'other' is none of the systems s"):
        compare({"s": ["a"]}, ["a"], baseline="other")
    with pytest.raises(ValueError, match="unknown metric 'ter'"):
        compare({"s": ["a"]}, ["a"], metrics=["ter"])
    with pytest.raises(ValueError, match="no metric"):
        compare({"s": ["a"]}, ["a"], metrics=[])
    with pytest.raises(ValueError, match="alignment model"):
        compare({"s": ["a"]}, ["a"], sources=["a"], metrics=["drop"])
    with pytest.raises(DataError, match="REP: the reference has no words"):
        compare({"s": ["a"]}, [""], metrics=["rep"])
    with pytest.raises(ValueError, match="test must be one of"):
        Testing("t")
    with pytest.raises(ValueError, match="must not be negative"):
        Testing(resamples=-1)


def test_statistics_alone_will_do() -> None:
    statistics = {"rep": {"a": np.array([[1, 0, 5]]), "b": np.array([[0, 0, 5]])}}
    comparison = compare_statistics(statistics, {"rep": REP()}, testing=FEW)
    assert comparison.rows["a"]["rep"].score.value == 20.0
    assert comparison.rows["b"]["rep"].best
    assert comparison.counted is None


class TestVectorisedBLEU:
    """BLEU of many sums at once against sacreBLEU's own function, to the last bit."""

    @pytest.mark.parametrize("smooth", ["exp", "floor", "add-k", "none"])
    def test_equals_sacrebleu(self, smooth: str) -> None:
        from sacrebleu.metrics.bleu import BLEU as SacreBLEU

        generator = np.random.default_rng(1)
        words = generator.integers(0, 400, size=(600, 1))
        ngrams = np.maximum(words - np.arange(4), 0)
        matches = generator.binomial(ngrams, generator.random((600, 1)) ** 2)
        references = generator.integers(0, 400, size=(600, 1))
        rows = np.concatenate([words, references, matches, ngrams], axis=1)
        theirs = SacreBLEU(smooth_method=smooth)
        expected = [theirs._compute_score_from_stats(row.tolist()).score for row in rows]
        found = BLEU(smooth=smooth).score(rows)
        assert found.tolist() == expected
        assert 100 < np.sum(found > 0) < 600  # both ways were taken
        assert BLEU(smooth=smooth).score(rows.reshape(20, 30, -1)).tolist() == (
            np.reshape(expected, (20, 30)).tolist()
        )

    def test_single_row(self) -> None:
        value = BLEU().score(np.array([4, 4, 4, 3, 2, 1, 4, 3, 2, 1]))
        assert value.shape == ()
        assert math.isclose(float(value), 100)
