"""Agreement with the Meteor 1.5 jar itself, run here on text made here; skipped without Java."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.data.dataset import Batch, Row
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.meteor.statistics import score_parts
from tests.metrics.meteor.jar import as_added_up, run_jar
from tests.metrics.meteor.real_text import Rows, awkward_text, corpus_lines, manual_lines, perturbed

pytestmark = pytest.mark.usefixtures("java")


def one_reference(pairs: Rows) -> list[Row]:
    return [Row((hypothesis,), (reference,)) for hypothesis, reference in pairs]


def check_against_jar(metric: METEOR, rows: list[Row]) -> None:
    """Statistics and scores of each segment, and the score of the corpus."""
    printed = run_jar(rows, metric)
    counts = metric.count(Batch(rows))[0]
    np.testing.assert_array_equal(counts, as_added_up(printed.counts))
    np.testing.assert_allclose(score_parts(counts).score, printed.scores, rtol=0, atol=1e-9)
    assert metric.score(counts).score / metric.scale == pytest.approx(printed.final, abs=1e-9)


def test_normalised_text(shared: Path) -> None:
    """Segment and corpus scores and statistics of 3,300 segments, 2,800 of them real text."""
    generator = random.Random(5)
    pairs = perturbed(manual_lines(1500) + corpus_lines(shared, 1500), generator)
    assert len(pairs) >= 2800
    pairs += [(awkward_text(generator), awkward_text(generator)) for _ in range(500)]
    check_against_jar(METEOR(variant="exact-stem", norm=True, scale=1), one_reference(pairs))


def test_all_modules(shared: Path) -> None:
    generator = random.Random(6)
    pairs = perturbed(corpus_lines(shared, 400), generator)
    pairs += perturbed(manual_lines(200), generator)
    pairs += [(awkward_text(generator), awkward_text(generator)) for _ in range(100)]
    pairs += [("", "a b"), ("a b", ""), ("", ""), (" ", "\t")]
    check_against_jar(METEOR(lower=True), one_reference(pairs))


@pytest.mark.parametrize("number", [2, 3])
def test_several_references(shared: Path, number: int) -> None:
    """References that are better or worse than others, alike, empty, or all without a match."""
    generator = random.Random(number)
    texts: list[tuple[str, list[str]]] = []
    for hypothesis, line in perturbed(corpus_lines(shared, 150), generator):
        others = [perturbed([line], generator)[0][0] for _ in range(number - 1)]
        texts.append((hypothesis, [line, *others]))
        texts.append((line, generator.sample([hypothesis, *others], number)))
    texts += [
        (hypothesis, (references * number)[:number])
        for hypothesis, references in [
            ("a b", ["", "a b"]), ("a b", ["c", ""]), ("", ["a", ""]), ("", ["", ""]),
            ("a b", ["b a", "b a"]), ("the cat", ["cat", "the"]), ("a b c", ["a b c", "a b c d"]),
        ]
    ]  # fmt: skip
    rows = [Row((hypothesis,), tuple(references)) for hypothesis, references in texts]
    check_against_jar(METEOR(lower=True), rows)


def test_often_repeated_words(shared: Path) -> None:
    """Reference positions with more candidates than paths are kept."""
    generator = random.Random(8)
    lines = [" ".join(corpus_lines(shared, 200)[start::4]) for start in range(4)]
    pairs = perturbed(lines, generator)
    pairs += [(". , " * 60, ". , a " * 60), ("the cat and " * 50, "and a cat the " * 50)]
    for variant in ("full", "exact-stem"):
        check_against_jar(METEOR(variant=variant), one_reference(pairs))
