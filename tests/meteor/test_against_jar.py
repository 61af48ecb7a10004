"""Agreement with the Meteor 1.5 jar itself, run here on text made here; skipped without Java."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.meteor.counting import Settings, count_batch, prepare
from coverage_eval.metrics.meteor.java_backend import JarSettings, jar_scores, jar_statistics
from tests.meteor.real_text import awkward_text, corpus_lines, manual_lines, perturbed

pytestmark = pytest.mark.usefixtures("java")


def test_normalised_text(shared: Path) -> None:
    """Segment and corpus scores and statistics of 3,300 segments, 2,800 of them real text."""
    generator = random.Random(5)
    rows = perturbed(manual_lines(1500) + corpus_lines(shared, 1500), generator)
    assert len(rows) >= 2800
    rows += [(awkward_text(generator), awkward_text(generator)) for _ in range(500)]
    settings = JarSettings(("exact", "stem"), norm=True)
    counts = count_batch(rows, Settings((0, 1), norm=True, lower=False))
    np.testing.assert_array_equal(counts, jar_statistics(rows, settings))
    metric = METEOR(variant="exact-stem", norm=True)
    scores, final = jar_scores(rows, settings)
    statistics = metric.batch_statistics(rows)
    np.testing.assert_allclose(metric.score(statistics), scores, rtol=0, atol=1e-9)
    assert metric.score(statistics).value == pytest.approx(final, abs=1e-9)


def test_all_modules(shared: Path) -> None:
    generator = random.Random(6)
    rows = perturbed(corpus_lines(shared, 400), generator)
    rows += perturbed(manual_lines(200), generator)
    rows += [(awkward_text(generator), awkward_text(generator)) for _ in range(100)]
    rows += [("", "a b"), ("a b", ""), ("", ""), (" ", "\t")]
    counts = count_batch(rows, prepare(Settings((0, 1, 2, 3), norm=False, lower=True)))
    np.testing.assert_array_equal(counts, jar_statistics(rows, JarSettings(lower=True)))


def test_the_java_backend_gives_the_same_statistics(shared: Path) -> None:
    rows = perturbed(corpus_lines(shared, 100), random.Random(7))
    settings = {"variant": "exact-stem", "lower": True}
    columns = [[row[side] for row in rows] for side in (0, 1)]
    ours = METEOR(**settings).statistics(*columns)
    theirs = METEOR(**settings, backend="java").statistics(*columns, jobs=2)
    np.testing.assert_array_equal(ours, theirs)
