"""A stream is cut into batches that fit in memory, and aligners answer batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coverage_eval as ce
from coverage_eval.data import dataset as module
from coverage_eval.data.dataset import Batch, Dataset, Request, Row, answer_ahead, make_batches
from coverage_eval.metrics.measure import Result, measure

ROWS = st.lists(
    st.builds(lambda one, two: Row((one,), (two,)), st.text(max_size=9), st.text(max_size=9)),
    max_size=40,
)


@given(ROWS, st.integers(1, 12), st.integers(1, 30))
def test_batches_hold_the_stream_in_order_and_within_limits(
    stream: list[Row], size: int, length: int
) -> None:
    with patch.object(module, "BATCH_LENGTH", length):
        batches = list(make_batches(iter(stream), size))
    assert [row for batch in batches for row in batch.rows] == stream
    for batch in batches:
        assert 1 <= len(batch) <= size
        assert len(batch) == 1 or sum(row.length for row in batch.rows) <= length


def test_a_request_is_answered_once_per_batch_and_ahead_of_it() -> None:
    asked: list[str] = []

    def answers(rows: Iterable[Row]) -> Iterator[str]:
        for row in rows:
            asked.append(str(row.hypotheses[0]))
            yield f"<{row.hypotheses[0]}>"

    request = Request("key", answers)
    rows = [Row((str(number),)) for number in range(10)]
    batches = answer_ahead(make_batches(rows, 3), [request, Request("key", answers)])
    for batch in batches:
        assert batch.get(request) == [f"<{row.hypotheses[0]}>" for row in batch.rows]
        assert batch.get(Request("key", answers)) is batch.get(request)
    assert asked == [str(number) for number in range(10)]
    alone = Batch(rows[:2])
    assert alone.get(request) == alone.get(request) == ["<0>", "<1>"]


@pytest.mark.parametrize("jobs", [2, 3])
def test_processes_change_nothing(jobs: int) -> None:
    dataset = Dataset.of_lists(
        {"a": ["x x y"] * 50, "b": [f"w{n} w{n}" for n in range(50)]}, ["x y"] * 50
    )
    metrics = {"rep": ce.REP(), "bleu": ce.BLEU()}
    with patch.object(module, "BATCH_LENGTH", 60):
        one, several = (measure(dataset, metrics, jobs=n).statistics for n in (1, jobs))
    for name in metrics:
        np.testing.assert_array_equal(one[name], several[name])
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        measure(dataset, metrics, jobs=0)


def test_results_of_parts_join_to_the_result_of_the_whole() -> None:
    hypotheses, references = ["x x", "y", "z z z"], ["x", "y", "z"]

    def part(first: int, last: int) -> Result:
        dataset = Dataset.of_lists({"a": hypotheses[first:last]}, references[first:last])
        return measure(dataset, {"rep": metric}, evidence=True)

    metric = ce.REP()
    whole, joined = part(0, 3), Result.join([part(0, 1), part(1, 3)])
    assert joined.score("rep", "a") == whole.score("rep", "a")
    assert joined.segment_scores("rep") == whole.segment_scores("rep")
    assert list(joined.evidence("rep")) == list(whole.evidence("rep"))
    other = measure(Dataset.of_lists({"b": ["x"]}, ["x"]), {"rep": metric})
    with pytest.raises(ValueError, match="other systems"):
        Result.join([whole, other])


def test_a_dataset_can_be_read_several_times(tmp_path: object) -> None:
    dataset = Dataset.of_lists({"a": ["x", "y"]}, ["x", "z"], ["u", "v"])
    assert list(dataset.rows()) == list(dataset.rows()) == dataset.sampler.rows
    assert (dataset.systems, dataset.references, dataset.source) == (
        ("a",), ("the reference",), "the source",
    )  # fmt: skip
