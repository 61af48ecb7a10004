"""Statements: true by the table, the same in any order, and everybody in them is named."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.comparison.external_scores import ExternalScores
from coverage_eval.comparison.pairs import PairTests, PValues
from coverage_eval.comparison.statements import Statements, make_statements
from coverage_eval.comparison.table import comparison_as_dict
from coverage_eval.core.metric import Metric, Presentation
from coverage_eval.core.result import Result
from coverage_eval.quality.sacre import BLEU, CHRF, TER, SacreBLEUMetric
from coverage_eval.repetition.rep import REP
from tests.comparison.systems import damaged
from tests.grammar import generate

pytestmark = pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")

REFERENCES = [" ".join(pair.target) for pair in generate(200, seed=4)]
NEARLY = [*REFERENCES[:-1], f"{REFERENCES[-1]} x"]
REPEATING = damaged(REFERENCES, 2, repeated=0.2)
METRICS: dict[str, type[Metric]] = {"bleu": BLEU, "chrf": CHRF, "ter": TER, "rep": REP}


class Repetitions(ExternalScores):
    """Scores of errors."""

    @property
    def presentation(self) -> Presentation:  # type: ignore[override]
        return replace(super().presentation, more_errors="repeats more")


def drawn(seed: int) -> tuple[Result, PairTests]:
    """Random scores, as means of segments, and random p-values."""
    chance, generator = random.Random(seed), np.random.default_rng(seed)
    systems = tuple(f"s{n}" for n in range(chance.choice([2, 2, 3, 5, 9])))
    metrics, statistics, by_metric = {}, {}, {}
    for name in chance.sample([*METRICS], chance.randint(1, 4)):
        values = {s: generator.normal(chance.random(), 0.1, 40).tolist() for s in systems}
        higher = bool(METRICS[name].presentation.higher_is_better)
        kind = Repetitions if name == "rep" else ExternalScores
        metric = kind(name, values, higher_is_better=higher)
        metrics[name] = metric
        statistics[name] = np.stack([[(value, 1) for value in values[s]] for s in systems])
        by_metric[name] = {
            frozenset(pair): PValues(0.5, chance.choice([0.001, 0.04, 0.2, 1.0]))
            for pair in combinations(systems, 2)
        }
    pairs = len(systems) * (len(systems) - 1) // 2
    detectable = dict.fromkeys(metrics, 0.1)
    tests = PairTests(pairs * len(metrics), 1000, by_metric, (), detectable)
    return Result(metrics, metrics, systems, statistics, 40), tests  # type: ignore[arg-type]


def check(stated: Statements, result: Result, tests: PairTests) -> None:
    """Each statement holds by scores and p-values, and lines have every name or number."""
    told = set()
    for item in stated.statements:
        told.add(item.metric)
        sign = 1 if result.metrics[item.metric].presentation.higher_is_better else -1
        scores = stated.scores[item.metric]
        pairs = [(better, worse) for better in item.better for worse in item.worse]
        found = [tests.by_metric[item.metric][frozenset(pair)].adjusted for pair in pairs]
        assert max(found) == item.p_value < 0.05
        assert all(sign * (scores[better] - scores[worse]) > 0 for better, worse in pairs)
        is_error = bool(result.metrics[item.metric].presentation.more_errors)
        (system,) = item.worse if is_error else item.better
        for other in {*result.systems} - {*item.better, *item.worse}:
            is_beyond = sign * (scores[other] - scores[system]) * (-1 if is_error else 1) > 0
            told_apart = tests.by_metric[item.metric][frozenset((system, other))].adjusted < 0.05
            assert is_beyond or not told_apart
    for key in {*stated.metrics} - told:
        assert all(test.adjusted >= 0.05 for test in tests.by_metric[key].values())
    lines = stated.write()
    assert 1 <= len(lines) <= 4
    text = " ".join(lines)
    for key in stated.metrics:
        assert key in text
    assert " more" not in text.replace("repeats more than", "")
    for line in lines:
        if "no test tells them apart" in line and "has" not in line:
            named = [system for system in result.systems if system in line]
            (key, *_) = [item.metric for item in stated.statements if f" {item.metric}" in line]
            for pair in combinations(named, 2):
                assert tests.by_metric[key][frozenset(pair)].adjusted >= 0.05


@pytest.mark.parametrize("seed", range(150))
def test_statements_are_true_by_scores_and_tests(seed):
    result, tests = drawn(seed)
    check(make_statements(result, tests), result, tests)


def test_two_systems_read_as_in_the_field():
    systems = {"sys1": NEARLY, "sys2": REPEATING}
    found = ce.compare(systems, REFERENCES, metrics=["bleu", "chrf", "rep"])
    repeats, quality = found.statements.write()
    assert repeats.startswith("sys2 repeats more than sys1: REP ")
    assert repeats.endswith(" (p = 0.003).")
    assert quality.startswith("sys1 has the better BLEU (")
    assert " and chrF2 (" in quality
    other = ExternalScores("comet", {"sys1": [0.1, 0.2] * 100, "sys2": [0.8, 0.7] * 100})
    split = ce.compare(systems, REFERENCES, metrics=["bleu", other]).statements.write()
    assert len(split) == 1
    assert ", sys2 the better comet (0.75 against 0.15, p = 0.00" in split[0]


def test_all_others_are_counted_and_some_are_named():
    systems = {f"s{n}": damaged(REFERENCES, n, omitted=0.02) for n in range(4)}
    systems["bad"] = damaged(systems["s0"], 9, repeated=0.3)
    (repeats, *_) = ce.compare(systems, REFERENCES, metrics=["rep"]).statements.write()
    assert repeats.startswith("bad repeats more than each of the other 4: REP ")
    assert ", the others 0.00" in repeats


def test_nothing_significant_says_what_could_have_been_shown():
    systems = {"a": damaged(REFERENCES, 1, omitted=0.1), "b": damaged(REFERENCES, 5, omitted=0.1)}
    found = ce.compare(systems, REFERENCES, metrics=["bleu"])
    (line,) = found.statements.write()
    assert found.statements.statements == []
    assert line.startswith("No test tells a and b apart by BLEU; 200 segments can show differences")
    told = found.tests.detectable
    assert told is not None
    interval = found.rows["b"]["bleu"].difference_interval
    assert interval is not None
    assert told["bleu"] == pytest.approx((interval.high - interval.low) / 2, rel=0.1)


def test_no_tests_and_few_segments_are_said():
    two = {"a": NEARLY, "b": REPEATING}
    (line,) = ce.compare(two, REFERENCES, metrics=["rep"], resamples=0).statements.write()
    assert line == "Nothing was tested, because no resamples were drawn."
    few = {"a": [f"{text} x" for text in NEARLY[:3]], "b": REPEATING[:3]}
    (line,) = ce.compare(few, REFERENCES[:3], metrics=["rep"]).statements.write()
    assert line == "3 segments are too few to show a difference: p is at best 0.25."


def test_a_system_that_is_the_reference_is_in_a_note_and_in_no_statement():
    systems = {"human": REFERENCES, "nearly": NEARLY, "bad": REPEATING}
    found = ce.compare(systems, REFERENCES, metrics=["rep"])
    (line,) = found.statements.write()
    assert line.startswith("bad repeats more than nearly: ")
    assert found.remarks[0].startswith("human is the same text as the reference; no statement")
    assert found.remarks[0] in comparison_as_dict(found)["notes"]
    assert found.remarks[0] in str(found)


def test_a_copy_of_the_reference_changes_nothing_that_is_said_of_the_others():
    systems = {f"s{n}": damaged(REFERENCES, n, omitted=0.05, repeated=0.05) for n in range(2)}
    systems["s2"] = damaged(systems["s0"], 7, omitted=0.02)
    alone = ce.compare(systems, REFERENCES, metrics=["bleu", "rep"])
    beside = ce.compare({**systems, "copy": REFERENCES}, REFERENCES, metrics=["bleu", "rep"])
    assert beside.statements.write() == alone.statements.write()
    assert beside.statements.to_dicts() == alone.statements.to_dicts()
    assert beside.tests.number == alone.tests.number == 6
    assert beside.tests.detectable == alone.tests.detectable
    for name, of_pairs in alone.tests.by_metric.items():
        assert of_pairs.items() <= beside.tests.by_metric[name].items()
        assert len(beside.tests.by_metric[name]) == 6


def test_padding_shows_by_its_length():
    doubled = [f"{text} {' '.join(text.split()[:3])}" for text in REFERENCES]
    found = ce.compare({"a": NEARLY, "b": doubled}, REFERENCES, metrics=["bleu"])
    (note,) = found.remarks
    assert note.startswith("b has 1.")
    assert note.endswith(" times the length of the references.")


def test_json_has_statements():
    found = ce.compare({"a": NEARLY, "b": REPEATING}, REFERENCES, metrics=["bleu", "rep"])
    values = json.loads(json.dumps(comparison_as_dict(found)))
    assert "verdict" not in values
    first, second = values["statements"]
    assert first["metric"] == "REP"
    assert first["systems"] == {"better": ["a"], "worse": ["b"]}
    assert first["p_value"] == found.rows["b"]["rep"].adjusted
    assert second["metric"] == "BLEU"


@pytest.mark.slow
def test_nine_systems_of_wmt23_have_the_same_statements_in_any_order(shared):
    file = shared / "data" / "wmt23-en-de" / "outputs.tsv"
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [*csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    texts: dict[str, dict[str, str]] = {}
    references = {row["segment"]: row["reference"] for row in rows}
    for row in rows:
        texts.setdefault(row["system"], {})[row["segment"]] = row["output"]
    assert len(texts) == 9
    said = []
    for turn in range(5):
        chance = random.Random(turn)
        segments = chance.sample(sorted(references), len(references))
        systems = {
            name: [texts[name][segment] for segment in segments]
            for name in chance.sample(sorted(texts), 9)
        }
        found = ce.compare(
            systems, [references[segment] for segment in segments],
            metrics=["bleu", "chrf", "rep"], baseline="GPT4-5shot",
        )  # fmt: skip
        said.append([
            (item.metric, sorted(item.better), sorted(item.worse))
            for item in found.statements.statements
        ])  # fmt: skip
    assert said == said[:1] * 5
    assert said[0]
    assert any(note.startswith("refA is the same text as the reference") for note in found.remarks)


def test_chrf_of_many_sums_is_sacrebleus_to_the_bit():
    generator, metric = np.random.default_rng(1), CHRF()
    hypothesis, reference = generator.integers(0, 50, (2, 2000, 6))
    hypothesis[generator.random(hypothesis.shape) < 0.1] = 0
    matches = (np.minimum(hypothesis, reference) * generator.random((2000, 6))).astype(int)
    summed = np.stack([hypothesis, reference, matches], axis=-1).reshape(2000, 18)
    summed[:20], summed[20:40, 2::3] = 0, 0
    assert (metric.formula(summed) == SacreBLEUMetric.formula(metric, summed)).all()
