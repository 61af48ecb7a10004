"""Models of text by the grammar: one that was made for omissions, and one that was not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count_fitted
from coverage_eval.core.metric import Metric
from coverage_eval.core.result import Result
from coverage_eval.coverage.training import add_omission_data
from tests.grammar import generate

TRAINING = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(1500, seed=1)]


def measured(texts: Texts, **metrics: Metric) -> Result:
    """The counts of some metrics, fitted to the texts."""
    return count_fitted(texts, {name: metric.fit(texts.sample) for name, metric in metrics.items()})


def equipped(pairs: list[tuple[str, str]]) -> ModelAligner:
    """A model made for omissions."""
    aligner = Aligner.train_pairs(pairs)
    add_omission_data(aligner, lambda: pairs)
    return aligner


@pytest.fixture(scope="session")
def plain() -> Iterator[ModelAligner]:
    with Aligner.train_pairs(TRAINING) as aligner:
        yield aligner


@pytest.fixture(scope="session")
def special() -> Iterator[ModelAligner]:
    with equipped(TRAINING) as aligner:
        yield aligner
