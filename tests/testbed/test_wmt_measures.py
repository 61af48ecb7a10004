"""Measures of the WMT metrics task, against its own program and oracles; labels in its formats."""

from __future__ import annotations

import json
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import zscore

from coverage_eval.data.mqm import mqm_weight
from coverage_eval.testbed.labels import read_labels
from coverage_eval.testbed.wmt_measures import Floats, TiedPairs, perm_both, soft_pairwise_accuracy


def slow_accuracy(grades: Floats, scores: Floats, epsilon: float) -> float:
    """Pairwise accuracy with ties up to ε, averaged over sources, by the definition."""
    shares = []
    for source in range(grades.shape[1]):
        right = []
        for one, other in combinations(range(len(grades)), 2):
            human = grades[one, source] - grades[other, source]
            metric = scores[one, source] - scores[other, source]
            if np.isnan(human):
                continue
            tied = abs(metric) <= epsilon
            right.append(tied if human == 0 else not tied and metric * human > 0)
        if right:
            shares.append(np.mean(right))
    return float(np.mean(shares))


@given(st.data())
def test_the_best_threshold_is_found(data):
    shape = data.draw(st.tuples(st.integers(2, 4), st.integers(1, 4)))
    cells = shape[0] * shape[1]
    few = st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0]), min_size=cells, max_size=cells)
    grades, scores = (np.array(data.draw(few)).reshape(shape) for _ in range(2))
    grades[data.draw(st.integers(0, shape[0] - 1)), -1] = data.draw(st.sampled_from([1.0, np.nan]))
    pairs = TiedPairs(grades)
    if not len(pairs):
        return
    found, epsilon = pairs.accuracy(scores)
    thresholds = {0.0, *np.abs(scores[:, None] - scores[None]).ravel().tolist()}
    assert found == pytest.approx(max(slow_accuracy(grades, scores, e) for e in thresholds))
    assert found == pytest.approx(slow_accuracy(grades, scores, epsilon))


def test_values_equal_those_of_the_tasks_own_program(shared):
    path = shared / "golden" / "wmt" / "meta_measures.json"
    if not path.is_file():
        pytest.skip(f"no shared data: {path}")
    for case in json.loads(path.read_text())["cases"]:
        shape = case["systems"], case["segments"]
        gold, metric = (np.reshape(case[name], shape) for name in ("gold", "metric"))
        whole = [np.reshape(case[name], (-1, 1)) for name in ("gold", "metric")]
        for sides, key in (((gold, metric), "acc23_opt_item"), (whole, "acc23_opt_none")):
            found = TiedPairs(sides[0]).accuracy(sides[1])
            assert found == pytest.approx((case[key]["value"], case[key]["threshold"]))
        without = slow_accuracy(gold, metric, 0.0)
        assert without == pytest.approx(case["acc23_eps0_item"])
        assert soft_pairwise_accuracy(gold, metric) == pytest.approx(case["spa"], abs=0.02)


def test_soft_pairwise_accuracy_against_all_permutations():
    rng = np.random.default_rng(5)
    grades, scores = rng.integers(-5, 1, (3, 8)).astype(float), rng.normal(size=(3, 8))
    signs = np.array(list(product([1, -1], repeat=8)))

    def p_values(values: Floats) -> Floats:
        """The p-value of each pair of systems, by all 2⁸ exchanges."""
        differences = np.array([values[i] - values[j] for i, j in combinations(range(3), 2)])
        null = signs @ differences.T
        return np.mean(null >= differences.sum(axis=1) - 1e-9, axis=0)

    exact = 1 - np.abs(p_values(grades) - p_values(scores)).mean()
    assert soft_pairwise_accuracy(grades, scores, 20_000) == pytest.approx(exact, abs=0.01)
    assert soft_pairwise_accuracy(grades, grades) == 1.0


def test_perm_both_against_all_exchanges():
    rng = np.random.default_rng(2)
    gold = rng.normal(size=(2, 4))
    good, bad = gold + 0.3 * rng.normal(size=(2, 4)), gold + 2 * rng.normal(size=(2, 4))

    def agreement(scores: Floats) -> float:
        return float(np.corrcoef(gold.ravel(), scores.ravel())[0, 1])

    one, other = zscore(good, axis=None), zscore(bad, axis=None)
    observed = agreement(good) - agreement(bad)
    masks = (np.reshape(kept, (2, 4)) for kept in product([True, False], repeat=8))
    larger = [
        agreement(np.where(kept, one, other)) - agreement(np.where(kept, other, one))
        >= observed - 1e-9
        for kept in masks
    ]
    p = perm_both(agreement, good, bad, permutations=1000, seed=1)
    assert p == pytest.approx(np.mean(larger), abs=0.05)
    reverse = perm_both(agreement, bad, good, permutations=1000, seed=1)
    assert reverse == pytest.approx(1 - np.mean(larger), abs=0.05)
    assert perm_both(agreement, good, bad, permutations=0, seed=1) is None


@pytest.mark.parametrize(
    ("category", "severity", "weight"),
    [
        ("Accuracy/Mistranslation", "Major", 5.0),
        ("accuracy/omission", "minor", 1.0),
        ("Fluency/Punctuation", "Minor", 0.1),
        ("Fluency/Punctuation", "Major", 5.0),
        ("Non-translation!", "Major", 25.0),
        ("Style/Awkward", "Neutral", 0.0),
        ("No-error", "no-error", 0.0),
    ],
)
def test_weights_of_mqm(category, severity, weight):
    assert mqm_weight(category, severity) == weight


HEADER = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity"


def test_all_mqm_errors_pooled(tmp_path):
    rows = [
        "A\td\t1\t1\tr1\ts\tt\tAccuracy/Omission\tMajor",
        "A\td\t1\t1\tr1\ts\tt\tFluency/Punctuation\tMinor",
        "A\td\t1\t1\tr2\ts\tt\tNo-error\tno-error",
        "B\td\t1\t1\tr1\ts\tt\tStyle/Awkward\tNeutral",
    ]
    (tmp_path / "mqm.tsv").write_text("\n".join([HEADER, *rows]) + "\n")
    one, other = read_labels(tmp_path / "mqm.tsv", "any").judgements
    assert (one.positive, one.grade, one.raters) == (True, pytest.approx(2.55), (True, False))
    assert (other.positive, other.grade) == (False, 0.0)


def test_human_scores_with_scores_of_the_task(run_cli, tmp_path):
    rng = np.random.default_rng(4)
    systems = [f"sys{n}" for n in range(4)]
    gold = {name: -rng.poisson(1 + n, 40).astype(float) for n, name in enumerate(systems)}
    files = {"good": 0.5, "bad": 5.0}
    for name, noise in files.items():
        lines = [f"{s}\t{v + noise * rng.normal()}" for s, own in gold.items() for v in own]
        (tmp_path / f"{name}-refA.seg.score").write_text("\n".join(lines) + "\n")
    lines = [f"{s}\t{v}" for s, own in gold.items() for v in own]
    lines[7] = "sys0\tNone"
    (tmp_path / "en-de.mqm.seg.score").write_text("\n".join(lines) + "\n")
    scores = [f"{name}-refA.seg.score" for name in ("bad", "good")]
    options = ("--labels", "en-de.mqm.seg.score", *scores, "--resamples", 200)
    found = json.loads(run_cli("meta", *options, "-f", "json", cwd=tmp_path).stdout)
    bad, good = found["task"]
    assert found["translations"] == 159
    for figure in ("accuracy", "pearson", "soft_pairwise"):
        assert good[figure] > bad[figure]
    assert good["accuracy_p"] < 0.01
    assert good["pearson_p"] < 0.01
    assert bad["accuracy_p"] is None
    text = run_cli("meta", *options, cwd=tmp_path).stdout
    assert "Measures of the WMT metrics task, by the grade (points below 0, the best" in text
    assert "PERM-BOTH" in text
    records = run_cli("meta", *options, "-f", "csv", cwd=tmp_path).stdout
    assert f"−good-refA,acc_eq,{good['accuracy']}" in records
