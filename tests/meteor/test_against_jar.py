"""Agreement with the Meteor 1.5 jar itself, run here on text made here; skipped without Java."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.meteor.counting import MatchOptions, Row, count_batch, prepare_index
from coverage_eval.metrics.meteor.java_backend import jar_scores, jar_statistics
from coverage_eval.metrics.meteor.statistics import score_parts, without_perfect_chunks
from tests.meteor.counts import count
from tests.meteor.real_text import Rows, awkward_text, corpus_lines, manual_lines, perturbed

pytestmark = pytest.mark.usefixtures("java")


def one_reference(pairs: Rows) -> list[Row]:
    return [(hypothesis, [reference]) for hypothesis, reference in pairs]


def test_normalised_text(shared: Path) -> None:
    """Segment and corpus scores and statistics of 3,300 segments, 2,800 of them real text."""
    generator = random.Random(5)
    rows = perturbed(manual_lines(1500) + corpus_lines(shared, 1500), generator)
    assert len(rows) >= 2800
    rows += [(awkward_text(generator), awkward_text(generator)) for _ in range(500)]
    pairs = one_reference(rows)
    options = MatchOptions((0, 1), norm=True)
    counts = count_batch(pairs, options, None)
    np.testing.assert_array_equal(counts, jar_statistics(pairs, options))
    metric = METEOR(variant="exact-stem", norm=True, scale=1)
    scores, final = jar_scores(pairs, options)
    statistics = count(metric, rows)
    np.testing.assert_allclose(metric.formula(statistics), scores, rtol=0, atol=1e-9)
    assert metric.score(statistics).score == pytest.approx(final, abs=1e-9)


def test_all_modules(shared: Path) -> None:
    generator = random.Random(6)
    rows = perturbed(corpus_lines(shared, 400), generator)
    rows += perturbed(manual_lines(200), generator)
    rows += [(awkward_text(generator), awkward_text(generator)) for _ in range(100)]
    rows += [("", "a b"), ("a b", ""), ("", ""), (" ", "\t")]
    options = MatchOptions(lower=True)
    counts = count_batch(one_reference(rows), options, prepare_index(options))
    np.testing.assert_array_equal(counts, jar_statistics(one_reference(rows), options))


@pytest.mark.parametrize("number", [2, 3])
def test_several_references(shared: Path, number: int) -> None:
    """References that are better or worse than others, alike, empty, or all without a match."""
    generator = random.Random(number)
    rows: list[Row] = []
    for hypothesis, line in perturbed(corpus_lines(shared, 150), generator):
        others = [perturbed([line], generator)[0][0] for _ in range(number - 1)]
        rows.append((hypothesis, [line, *others]))
        rows.append((line, generator.sample([hypothesis, *others], number)))
    rows += [
        (hypothesis, (references * number)[:number])
        for hypothesis, references in [
            ("a b", ["", "a b"]), ("a b", ["c", ""]), ("", ["a", ""]), ("", ["", ""]),
            ("a b", ["b a", "b a"]), ("the cat", ["cat", "the"]), ("a b c", ["a b c", "a b c d"]),
        ]
    ]  # fmt: skip
    options = MatchOptions(lower=True)
    counts = count_batch(rows, options, prepare_index(options))
    np.testing.assert_array_equal(counts, jar_statistics(rows, options))
    summed = without_perfect_chunks(counts).sum(axis=0)
    scores, final = jar_scores(rows, options)
    np.testing.assert_allclose(score_parts(counts).score, scores, rtol=0, atol=1e-9)
    assert float(score_parts(summed).score) == pytest.approx(final, abs=1e-9)


def test_the_java_backend_gives_the_same_statistics(shared: Path) -> None:
    rows = perturbed(corpus_lines(shared, 100), random.Random(7))
    settings = {"variant": "exact-stem", "lower": True}
    columns = [[row[side] for row in rows] for side in (0, 1)]
    ours = METEOR(**settings).statistics(*columns)
    theirs = METEOR(**settings, backend="java").statistics(*columns, jobs=2)
    np.testing.assert_array_equal(ours, theirs)
