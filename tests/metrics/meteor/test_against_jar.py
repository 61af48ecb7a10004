"""METEOR against the Meteor 1.5 jar, run on text made here; skipped without Java."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.data.dataset import Batch, Row
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.meteor.statistics import score_parts
from tests.metrics.meteor.jar import (
    as_added_up,
    jar_scores,
    jar_statistics,
    write_paraphrases_of,
)
from tests.metrics.meteor.texts import Rows, awkward_text, corpus_lines, manual_lines, perturbed

pytestmark = pytest.mark.usefixtures("java")


def one_reference(pairs: Rows) -> list[Row]:
    return [Row((hypothesis,), (reference,)) for hypothesis, reference in pairs]


def many_segments(shared: Path) -> list[Row]:
    """1,200 segments, 1,000 of them real text."""
    generator = random.Random(5)
    pairs = perturbed(manual_lines(500) + corpus_lines(shared, 500), generator)
    assert len(pairs) >= 1000
    pairs += [(awkward_text(generator), awkward_text(generator)) for _ in range(200)]
    return one_reference(pairs)


def real_and_awkward_text(shared: Path) -> list[Row]:
    generator = random.Random(6)
    pairs = perturbed(corpus_lines(shared, 400), generator)
    pairs += perturbed(manual_lines(200), generator)
    pairs += [(awkward_text(generator), awkward_text(generator)) for _ in range(100)]
    pairs += [("", "a b"), ("a b", ""), ("", ""), (" ", "\t")]
    return one_reference(pairs)


def three_references(shared: Path) -> list[Row]:
    """References that are better or worse than others, equal, empty, or all without a match."""
    generator = random.Random(3)
    texts: list[tuple[str, list[str]]] = []
    for hypothesis, line in perturbed(corpus_lines(shared, 150), generator):
        others = [perturbed([line], generator)[0][0] for _ in range(2)]
        texts.append((hypothesis, [line, *others]))
        texts.append((line, generator.sample([hypothesis, *others], 3)))
    texts += [
        ("a b", ["", "a b", ""]), ("a b", ["c", "", "c"]), ("", ["a", "", "a"]), ("", ["", "", ""]),
        ("a b", ["b a", "b a", "b a"]), ("the cat", ["cat", "the", "cat"]),
        ("a b c", ["a b c", "a b c d", "a b c"]),
    ]  # fmt: skip
    return [Row((hypothesis,), tuple(references)) for hypothesis, references in texts]


def often_repeated_words(shared: Path) -> list[Row]:
    """Reference positions with more candidates than the beam keeps paths."""
    generator = random.Random(8)
    lines = [" ".join(corpus_lines(shared, 200)[start::4]) for start in range(2)]
    pairs = perturbed(lines, generator)
    pairs += [(". , " * 60, ". , a " * 60), ("the cat and " * 50, "and a cat the " * 50)]
    return one_reference(pairs)


@pytest.fixture(scope="module")
def texts(shared: Path) -> dict[str, list[Row]]:
    makers = (many_segments, real_and_awkward_text, three_references, often_repeated_words)
    return {make.__name__: make(shared) for make in makers}


@pytest.fixture(scope="module")
def table(texts: dict[str, list[Row]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Meteor's paraphrases of the texts that are scored with paraphrases."""
    path = tmp_path_factory.mktemp("jar") / "paraphrases.gz"
    paraphrased = [rows for name, rows in texts.items() if name != "many_segments"]
    write_paraphrases_of((row for rows in paraphrased for row in rows), path)
    return path


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("many_segments", METEOR(variant="exact-stem", norm=True, scale=1)),
        ("real_and_awkward_text", METEOR(lower=True)),
        ("three_references", METEOR(lower=True)),
        ("often_repeated_words", METEOR()),
        ("often_repeated_words", METEOR(variant="exact-stem")),
    ],
    ids=lambda value: value if isinstance(value, str) else value.variant,
)
def test_the_jar_prints_these_statistics(
    texts: dict[str, list[Row]], table: Path, name: str, metric: METEOR
) -> None:
    counts = metric.count(Batch(texts[name]))[0]
    printed = jar_statistics(texts[name], metric, table)
    np.testing.assert_array_equal(counts, as_added_up(printed))


def test_the_jar_prints_these_scores(texts: dict[str, list[Row]], table: Path) -> None:
    """Those of each segment, and the score of the corpus."""
    rows, metric = texts["three_references"], METEOR(lower=True, scale=1)
    counts = metric.count(Batch(rows))[0]
    scores, final = jar_scores(rows, metric, table)
    np.testing.assert_allclose(score_parts(counts).score, scores, rtol=0, atol=1e-9)
    assert metric.score(counts).score == pytest.approx(final, abs=1e-9)
