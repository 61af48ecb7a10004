"""Injected errors in real text: their known order is found, and equal systems do not differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from coverage_eval.align.aligner import Aligner
from coverage_eval.comparison.table import Comparison, compare
from tests.comparison.systems import damaged


@pytest.fixture(scope="module")
def texts(shared: Path) -> dict[str, list[str]]:
    folder = shared / "data" / "multi30k-de-en"
    return {
        f"{part}.{side}": (folder / f"{name}.{side}").read_text().splitlines()[:size]
        for part, name, size in (("train", "train", 4000), ("test", "test_2016_flickr", 600))
        for side in ("de", "en")
    }


@pytest.fixture(scope="module")
def comparison(texts: dict[str, list[str]]) -> Comparison:
    """Three outputs with rising rates of errors, and a fourth with the rates of the first."""
    references = texts["test.en"]
    systems = {
        "few": damaged(references, 1, repeated=0.02, omitted=0.04),
        "some": damaged(references, 2, repeated=0.06, omitted=0.08),
        "many": damaged(references, 3, repeated=0.18, omitted=0.16),
        "like few": damaged(references, 4, repeated=0.02, omitted=0.04),
    }
    with Aligner.train(texts["train.de"], texts["train.en"]) as aligner:
        return compare(
            systems, references, texts["test.de"], aligner,
            metrics=("bleu", "rep", "drop", "softdrop", "chrf"),
        )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bleu", "rep", "drop", "softdrop", "chrf"])
def test_known_order_is_found(comparison, name):
    cells = {system: row[name] for system, row in comparison.rows.items()}
    sign = 1 if comparison.metrics[name].higher_is_better else -1
    goodness = [sign * cells[system].score.score for system in ("few", "some", "many")]
    assert goodness == sorted(goodness, reverse=True)
    for system in ("some", "many"):
        adjusted = cells[system].adjusted
        assert adjusted is not None
        assert adjusted < 0.05
    equal = cells["like few"].adjusted
    assert equal is not None
    assert equal > 0.05
