"""The comparison table: scores, intervals, tests, frames; changes that must not affect it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sacrebleu

from coverage_eval.align.aligner import Aligner
from coverage_eval.comparison.choice import default_tokenizer, is_untokenised
from coverage_eval.comparison.compare import compare
from coverage_eval.comparison.statements import unusable_systems
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.errors import CorpusWarning
from coverage_eval.core.significance import (
    bootstrap_interval,
    pair_tests,
)
from coverage_eval.quality.meteor import METEOR
from coverage_eval.quality.sacre import BLEU, CHRF
from coverage_eval.repetition.rep import REP
from tests.comparison.systems import damaged
from tests.grammar import generate
from tests.rows import make_text_rows, score_of

REFERENCES = [" ".join(pair.target) for pair in generate(150, seed=3)]
SYSTEMS = {
    "base": damaged(REFERENCES, 1, repeated=0.04, omitted=0.05),
    "repeats": damaged(REFERENCES, 2, repeated=0.20, omitted=0.05),
    "drops": damaged(REFERENCES, 3, repeated=0.04, omitted=0.20),
}
METRICS = ("bleu", "rep", "chrf")
FEW = {"resamples": 100}
NONE = {"resamples": 0}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(SYSTEMS, REFERENCES, metrics=METRICS, **FEW)


def values(comparison: Comparison) -> dict[str, dict[str, float]]:
    return {
        system: {name: cell.score.score for name, cell in cells.items()}
        for system, cells in comparison.rows.items()
    }


def test_scores_are_those_of_the_metrics_alone(comparison):
    metrics = {"bleu": BLEU(), "rep": REP(), "chrf": CHRF()}
    assert list(comparison.rows) == list(SYSTEMS)
    for system, cells in comparison.rows.items():
        assert list(cells) == list(METRICS)
        for name, cell in cells.items():
            alone = score_of(metrics[name], SYSTEMS[system], REFERENCES)
            assert cell.score.score == alone.score
            assert cell.score.signature == alone.signature
            assert cell.score.system == system


def test_of_one_system_no_figure_is_called_the_best(comparison):
    one = compare({"base": SYSTEMS["base"]}, REFERENCES, metrics=METRICS, **NONE)
    assert "best" in comparison.to_latex()
    assert "best" not in one.to_latex()


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_sharing_resamples_changes_nothing(test):
    together = compare(
        SYSTEMS, REFERENCES, metrics=METRICS, baseline="drops", test=test, resamples=100, seed=7
    )
    tests = [p for column in together.tests.by_metric.values() for p in column.values()]
    for name, metric in together.metrics.items():
        result = together.result
        statistics = dict(zip(result.systems, result.statistics[name], strict=True))
        found = {}
        for system in ("base", "repeats"):
            alone = {name: statistics[name] for name in (system, "drops")}
            how = {"test": test, "resamples": 100, "seed": 7}
            (tested,) = pair_tests([(metric, alone)], [(system, "drops")], **how)
            found[system] = tested[system, "drops"]
        for system, cells in together.rows.items():
            cell = cells[name]
            interval = bootstrap_interval(metric, statistics[system], resamples=100, seed=7)
            assert cell.score.interval == interval
            if system == "drops":
                assert (cell.p_value, cell.adjusted, cell.difference) == (None, None, None)
            else:
                assert cell.p_value == found[system].p_value
                assert (cell.p_value, cell.adjusted) in tests
                assert cell.difference == found[system].difference


def test_best_is_best_in_the_better_direction_and_ties_are_all_best():
    systems = {"a": REFERENCES, "b": SYSTEMS["drops"], "c": REFERENCES}
    rows = compare(systems, REFERENCES, metrics=METRICS, **NONE).rows
    for name in METRICS:
        assert [cells[name].best for cells in rows.values()] == [True, False, True]


def test_the_order_of_systems_changes_nothing(comparison):
    backwards = dict(reversed(SYSTEMS.items()))
    other = compare(backwards, REFERENCES, metrics=METRICS, baseline="base", **FEW)
    for system, cells in comparison.rows.items():
        for name, cell in cells.items():
            assert other.rows[system][name] == cell


def test_empty_segments_are_data():
    systems = {"full": ["a b", "c c"], "empty": ["", "c c"]}
    comparison = compare(systems, ["a b", ""], metrics=("rep", "chrf"), **FEW)
    assert values(comparison)["full"]["rep"] == values(comparison)["empty"]["rep"] == 100.0
    assert comparison.segments == 2


@pytest.mark.parametrize(
    ("said", "message"), [("", "no segment has a word"), ("the 1", "has only 11% of the length")]
)
def test_a_silent_system_is_neither_best_nor_tested_by_metrics_of_errors(said, message):
    references = [f"the {n} dog sleeps in a house that is old and red" for n in range(40)]
    worse = [f"{line} old old" for line in references]
    systems = {"worse": worse, "silent": [said] * 40, "good": references}
    with pytest.warns(CorpusWarning, match=f"silent: {message}"):
        found = compare(systems, references, metrics=["rep", "bleu"], **FEW)
    assert unusable_systems(found.result) == ["silent"]
    marks = {
        system: [(cell.best, cell.adjusted is not None) for cell in cells.values()]
        for system, cells in found.rows.items()
    }
    assert marks == {
        "worse": [(False, False), (False, False)],
        "silent": [(False, False), (False, True)],
        "good": [(True, True), (True, True)],
    }
    with pytest.warns(CorpusWarning):
        swapped = compare(systems, references, metrics=["rep"], baseline="silent", **FEW)
    cells = {system: row["rep"] for system, row in swapped.rows.items()}
    assert [system for system, cell in cells.items() if cell.best] == ["good"]
    assert {system: cell.adjusted for system, cell in cells.items()} == {
        "worse": None, "silent": None, "good": 1,
    }  # fmt: skip


def test_untokenised_text_is_tokenised_for_rep_and_normalised_for_meteor():
    raw = [f"The {n} dogs sleep, and the cat sleeps." for n in range(30)]
    split = [line.replace(",", " ,").replace(".", " .") for line in raw]

    def fitted(texts: list[str], aligner: Aligner | None = None) -> tuple[str, bool]:
        is_raw = is_untokenised(make_text_rows(texts, texts, texts))
        return default_tokenizer(aligner), is_raw

    assert fitted(raw) == ("13a", True)
    assert fitted(split) == ("13a", False)
    assert fitted(raw[:10]) == ("13a", False)
    assert fitted(raw, Aligner.from_links([], [])) == ("none", True)
    for tokenize in ("none", "13a", "intl"):
        with Aligner.train(raw, raw, tokenize=tokenize) as aligner:
            assert fitted(raw, aligner) == ("intl" if tokenize == "intl" else "13a", True)

    def compared(texts: list[str], **settings: Any) -> tuple[float, str]:
        result = compare({"a": [*texts[1:], texts[0]]}, texts, **NONE, **settings).result
        return result.score("meteor").score, " ".join(item.message for item in result.findings)

    of_raw, notes = compared(raw)
    assert of_raw == score_of(METEOR(norm=True), [*raw[1:], raw[0]], raw).score
    assert "tokenised with 13a for REP, normalised for METEOR (--tokenize none" in notes
    assert compared([line.lower() for line in split])[0] == of_raw
    as_it_is, notes = compared(raw, tokenize="none")
    assert as_it_is < of_raw
    assert "METEOR counts what is between spaces" in notes


def test_pictures_of_differences_have_the_figures_of_the_table(comparison):
    axes = comparison.plot_differences()
    assert axes[1].get_title().startswith("REP (lower is better)")
    for ax, name in zip(axes, METRICS, strict=True):
        cells = [comparison.rows[system][name] for system in comparison.others]
        dots = [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o"]  # type: ignore[index,arg-type]
        base = comparison.rows[comparison.baseline][name].score.score
        assert dots == [round(cell.score.score, 2) - round(base, 2) for cell in cells]
        stars = [text.get_text().endswith("*") for text in ax.texts[: len(cells)]]
        assert stars == [(cell.adjusted or 0) < 0.05 for cell in cells]


def test_several_references_and_metrics_with_settings():
    references = [["a red house", "the dog"], ["a red red house", "the dog dog dog"]]
    systems = {"s": ["a red red house", "the dog dog"], "t": ["a a house", "the dog"]}
    metric = REP(n=1, tokenize="13a")
    comparison = compare(systems, references, metrics=[metric, "bleu"], **NONE)
    for system, outputs in systems.items():
        expected = score_of(metric, outputs, references)
        found = comparison.rows[system]["rep"].score
        assert (found.score, found.signature) == (expected.score, expected.signature)
    assert comparison.rows["s"]["rep"].score.score == 0
    assert comparison.rows["t"]["rep"].score.score > 0
    assert "|nrefs:2|" in comparison.signatures["BLEU"]


def test_with_an_aligner_drop_is_a_default_metric():
    aligner = Aligner.from_links([[(0, 0), (1, 1)]], [[[(0, 0)]], [[(0, 0), (1, 1)]]])
    systems, references = {"short": ["a"], "long": ["a b"]}, ["a b"]
    comparison = compare(systems, references, ["x y"], aligner, **NONE)
    assert [name for name in comparison.metrics if name != "meteor"] == ["bleu", "rep", "drop"]
    assert [row["drop"].score.score for row in comparison.rows.values()] == [50.0, 0.0]
    assert "drop" not in compare(systems, references, **NONE).metrics


def test_tokeniser_and_case_are_for_rep_and_not_for_bleu():
    systems, references = {"s": ["A a house."]}, ["a house."]
    plain = compare(systems, references, metrics=["bleu", "rep"], **NONE)
    other = compare(
        systems, references, metrics=["bleu", "rep"], tokenize="13a", lowercase=True, **NONE
    )
    assert plain.rows["s"]["bleu"] == other.rows["s"]["bleu"]
    assert plain.rows["s"]["rep"].score.score == 0
    assert other.rows["s"]["rep"].score.score == pytest.approx(100 * 2 / 3)
    assert "|case:lc|tok:13a|" in other.signatures["REP"]


@pytest.mark.parametrize("smooth", ["exp", "floor", "add-k", "none"])
def test_bleu_of_many_sums_at_once_equals_sacrebleus_to_the_last_bit(smooth):
    generator = np.random.default_rng(1)
    words = generator.integers(0, 400, size=(600, 1))
    ngrams = np.maximum(words - np.arange(4), 0)
    matches = generator.binomial(ngrams, generator.random((600, 1)) ** 2)
    references = generator.integers(0, 400, size=(600, 1))
    rows = np.concatenate([words, references, matches, ngrams], axis=1)
    theirs = sacrebleu.BLEU(smooth_method=smooth)
    expected = [theirs._compute_score_from_stats(row.tolist()).score for row in rows]
    found = BLEU(smooth=smooth).formula(rows)
    assert found.tolist() == expected
    assert 100 < np.sum(found > 0) < 600  # both branches of the formula ran
    assert BLEU(smooth=smooth).formula(rows.reshape(20, 30, -1)).tolist() == (
        np.reshape(expected, (20, 30)).tolist()
    )
