"""Neither the order nor the names of systems change anything that a comparison says of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.comparison.gate import find_worse, gate_as_dict
from coverage_eval.comparison.table import Comparison, comparison_as_dict
from coverage_eval.core.metric import Metric, Statistics
from coverage_eval.core.significance import SignificanceTest
from coverage_eval.quality.sacre import BLEU, TER
from coverage_eval.repetition.rep import REP
from tests.comparison.systems import compare_statistics, damaged
from tests.grammar import generate

pytestmark = pytest.mark.filterwarnings("ignore::coverage_eval.core.errors.CorpusWarning")

PAIRS = generate(30, seed=8)
SOURCES = [" ".join(pair.source) for pair in PAIRS]
REFERENCES = [" ".join(pair.target) for pair in PAIRS]
BASELINE = "s0"


def outputs(number: int) -> dict[str, list[str]]:
    """Systems that leave out and repeat words, each in its own measure."""
    return {
        f"s{n}": damaged(REFERENCES, n, omitted=0.01 + 0.04 * (n % 5), repeated=0.03 * (n % 3))
        for n in range(number)
    }


def orders(number: int, tries: int) -> Iterator[dict[str, str]]:
    """Random orders of systems, by new names and, every second time, by their first ones."""
    names = [f"s{n}" for n in range(number)]
    for turn in range(tries):
        order = random.Random(turn).sample(names, number)
        drawn = random.Random(turn)
        yield {name if turn % 2 else f"<{drawn.random()}>": name for name in order}


MANY = [(4, 4), pytest.param(11, 5, marks=pytest.mark.slow)]
"""Systems, and the number of their orders."""


def said(comparison: Comparison, names: Mapping[str, str]) -> dict[str, Any]:
    """What a comparison says, as plain values, with the first names."""
    values = comparison_as_dict(comparison)
    values["scores"] = sorted(values["scores"], key=lambda s: (names[s["system"]], s["metric"]))
    directed = [
        n
        for n, metric in comparison.metrics.items()
        if metric.presentation.higher_is_better is not None
    ]
    gate = dict.fromkeys(directed, 0.0)
    worse = gate_as_dict(gate, find_worse(comparison, gate))["worse"]
    values["gate"] = sorted(worse, key=lambda item: (names[item["system"]], item["metric"]))
    values["findings"] = sorted(
        sorted(zip(finding.texts, finding.labels, strict=False))
        for finding in comparison.result.findings
    )
    written = json.dumps(values, sort_keys=True)
    for name, first in names.items():
        written = written.replace(name, first)
    found = json.loads(written)
    found["findings"] = sorted(map(sorted, found["findings"]))
    plain: dict[str, Any] = found
    return plain


def first_of(names: Mapping[str, str]) -> str:
    """The new name of the system that others are tested against."""
    return next(name for name, first in names.items() if first == "s0")


@pytest.mark.parametrize(("number", "tries"), MANY)
def test_orders_with_a_reference(number, tries):
    texts = outputs(number)
    found = []
    for names in orders(number, tries):
        given = {name: texts[first] for name, first in names.items()}
        compared = ce.compare(
            given, REFERENCES, metrics=["bleu", "rep"], baseline=first_of(names),
            resamples=800,
        )  # fmt: skip
        found.append(said(compared, names))
        assert found[-1] == found[0], names
    assert len(found) == tries
    assert found[0]["statements"]


@pytest.mark.parametrize(("number", "tries"), MANY)
def test_orders_without_a_reference(number, tries, finder, demonstration):
    def lines(name: str) -> list[str]:
        return (demonstration / name).read_text(encoding="utf-8").splitlines()[:80]

    texts = {
        f"s{n}": damaged(lines("test.en"), n, omitted=0.02 + 0.05 * (n % 5)) for n in range(number)
    }
    aligner = ce.Aligner.load(finder)
    found = []
    for names in orders(number, tries):
        given = {name: texts[first] for name, first in names.items()}
        compared = ce.compare(
            given, None, lines("test.de"), aligner, baseline=first_of(names), resamples=800
        )
        found.append(said(compared, names))
        assert found[-1] == found[0], names
    assert found[0]["statements"]


def test_commands_say_the_same_in_any_order(finder, demonstration, run_cli, tmp_path):
    """The report keeps the texts as evidence, and the table does not."""
    names = ("test.de", "careful.en", "dropping.en", "repeating.en")
    for name in names:
        lines = (demonstration / name).read_text(encoding="utf-8").splitlines(keepends=True)[:100]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    options = ("--src", "test.de", "--model", finder, "--baseline", names[1], "--resamples", 200)
    tables, reports = [], []
    for order in (names[1:], names[:0:-1]):
        printed = run_cli("compare", *options, *order, "-f", "json", cwd=tmp_path).stdout
        tables.append({key: json.loads(printed)[key] for key in ("statements", "notes")})
        told = run_cli("report", *options, *order, "-o", "r.html", cwd=tmp_path).stdout
        reports.append(told.splitlines()[:-1])
    assert tables[0] == tables[1]
    assert reports[0] == reports[1]
    assert reports[0]


def drawn(chance: random.Random) -> Comparison:
    """Systems of which some are better by some of the metrics."""
    systems, segments = chance.choice([2, 3, 4]), chance.choice([8, 20, 60])
    generator = np.random.default_rng(chance.randrange(1 << 30))

    def counts(of: Sequence[int] | int) -> Any:
        share = 0.15 + 0.07 * chance.randrange(8)
        return generator.binomial(of, share, (segments, np.size(of)))

    twelve, ngrams = np.full((segments, 1), 12), np.tile([12, 11, 10, 9], (segments, 1))
    kinds: dict[str, tuple[Metric, Callable[[], Statistics]]] = {
        "bleu": (BLEU(), lambda: np.hstack([twelve, twelve, counts([12, 11, 10, 9]), ngrams])),
        "ter": (TER(), lambda: np.hstack([counts(12), twelve])),
        "rep": (REP(), lambda: np.hstack([counts(12), counts(12), twelve])),
    }
    chosen = chance.sample(list(kinds), chance.randint(1, 3))
    statistics = {name: {f"s{n}": kinds[name][1]() for n in range(systems)} for name in chosen}
    metrics = {name: kinds[name][0] for name in chosen}
    return compare_statistics(statistics, metrics, SignificanceTest(resamples=800))


def test_gate_and_statements_never_contradict_each_other():
    """50 comparisons; a gate closes for systems that are worse than the baseline."""
    closed = 0
    for seed in range(50):
        compared = drawn(random.Random(seed))
        stated, gate = compared.statements, dict.fromkeys(compared.metrics, 0.0)
        if stated.obstacle:
            with pytest.raises(ValueError, match="the gate cannot close"):
                find_worse(compared, gate)
            continue
        worse = {(item.metric, item.system) for item in find_worse(compared, gate)}
        closed += bool(worse)
        for item in stated.statements:
            name = compared.metrics[item.metric].presentation.name
            if compared.baseline in item.better:
                assert {(name, system) for system in item.worse} <= worse, seed
            if compared.baseline in item.worse:
                assert worse.isdisjoint((name, system) for system in item.better), seed
        if worse:
            assert stated.statements, seed
    assert closed > 6


@pytest.mark.parametrize("systems", [2, 3])
def test_a_gate_that_cannot_close_is_refused(systems):
    """Five segments reach p = 0.0625 at best, and six with three tests no more."""
    segments = {2: 5, 3: 6}[systems]
    texts = {f"s{n}": [" ".join(["a b"] * (n + 1))] * segments for n in range(systems)}
    for size, refused in ((segments, True), (segments + 2, False)):
        cut = {name: (lines * 2)[:size] for name, lines in texts.items()}
        found = ce.compare(cut, ["a b c"] * size, metrics=["rep"], resamples=10_000)
        if refused:
            with pytest.raises(ValueError, match=f"{size} segments are too few to show a diff"):
                find_worse(found, {"rep": 0.0})
        else:
            assert len(find_worse(found, {"rep": 0.0})) == systems - 1
