"""Batches of any size have the statistics of one run, and no row is lost."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="needs pyarrow", minversion="15")

from coverage_eval.scale.totals import Totals

import coverage_eval as ce
from coverage_eval.data.dataset import make_rows
from coverage_eval.data.files import MAX_LINE_BYTES
from coverage_eval.errors import DataError
from coverage_eval.metrics.omissions import OmissionFinder, Omissions
from coverage_eval.metrics.profile import make_figures
from coverage_eval.metrics.registry import METRICS, make_metric
from coverage_eval.metrics.score import plain_evidence
from coverage_eval.spark import BatchColumns, BatchScorer, ScoringJob, make_metrics, worker_scorer
from tests.scale.texts import OUTPUTS, SOURCES, TARGETS

COLUMNS = BatchColumns({"a": "a", "b": "b"}, ("ref",), "src", ("id",))


@pytest.fixture(scope="module")
def aligner() -> Iterator[ce.Aligner]:
    with ce.Aligner.train(SOURCES * 20, TARGETS * 20, threads=1) as found:
        yield found


@pytest.fixture(scope="module")
def table() -> Any:
    texts = {"src": SOURCES, "ref": TARGETS, "a": OUTPUTS, "b": TARGETS[::-1]}
    return pa.table({"id": range(10), **{name: lines * 2 for name, lines in texts.items()}})


def _batches(table: Any, size: int) -> list[Any]:
    return table.to_batches(max_chunksize=size)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_batches_have_the_statistics_scores_and_evidence_of_one_run(
    size: int, table: Any, aligner: ce.Aligner
) -> None:
    figures = {name: make_metric(name, {"aligner": aligner}) for name in _installed()}
    scorer = BatchScorer(COLUMNS, figures)
    scored = pa.Table.from_batches(scorer.score_batches(_batches(table, size)))
    assert scored.schema == scorer.schema(table.schema)
    texts = {name: table[name].to_pylist() for name in ("a", "b")}
    rows = make_rows(texts, table["ref"].to_pylist(), table["src"].to_pylist())
    for name, metric in figures.items():
        expected = metric.count(metric.observe(rows))
        assert expected.dtype == metric.statistic_type
        found = list(metric.explain(metric.observe(rows)))
        for number, system in enumerate(texts):
            cells = [row[system] for row in scored[name].to_pylist()]
            ours = [[cell[one] for one in metric.statistic_names] for cell in cells]
            np.testing.assert_array_equal(ours, expected[number])
            scores = [cell["score"] for cell in cells]
            assert scores == metric.segment_scores(expected[number])
            told = [json.loads(cell["evidence"]) for cell in cells]
            plain = [json.loads(json.dumps(plain_evidence(row[number]))) for row in found]
            assert told == plain


def _installed() -> list[str]:
    try:
        make_metric("meteor", {})
    except ce.CoverageEvalError:
        return [name for name in METRICS if not name.startswith("meteor")]
    return list(METRICS)


def test_all_figures_of_a_profile_and_omissions(table: Any, aligner: ce.Aligner) -> None:
    columns = BatchColumns({"a": "a"}, ("ref",), "src", ("id",))
    figures = make_figures({"references", "sources"}, aligner)
    share = Omissions(OmissionFinder.of(aligner, referenced=True), 0.3)
    scored = BatchScorer(columns, {**figures, "omissions": share}).score_table(table)
    totals = Totals.of(scored, [*figures, "omissions"])
    texts = [table[name].to_pylist() for name in ("a", "ref", "src")]
    expected = ce.profile(*texts, aligner)
    for name, metric in figures.items():
        (summed,) = totals.statistics(name, metric)["a"]
        np.testing.assert_allclose(summed, expected[name].statistics.sum(axis=0), rtol=1e-14)
        assert summed.dtype == expected[name].statistics.dtype
    found = share.finder.find_texts(texts[0], texts[2], texts[1])
    cells = [row["a"] for row in scored["omissions"].to_pylist()]
    assert [cell["score"] for cell in cells] == [one.score for one in found]
    assert [cell["segments_found"] for cell in cells] == [share.is_found(one) for one in found]


def test_every_row_comes_out_once_with_figures_or_a_reason(aligner: ce.Aligner) -> None:
    good = ["a house", "", "x y"]
    texts: dict[str, list[Any]] = {
        "src": [b"ein haus", b"", b"x", None, b"ein", b"ein \xfe", b"y " * 9000],
        "ref": [*good, "a", None, "a", "a"],
        "hyp": [*good, "a", "a", "a", "y " * 9000],
    }
    table = pa.table(
        {
            "key": list("abcdefg"),
            "src": pa.array(texts["src"], pa.binary()).view(pa.string()),
            "ref": pa.array(texts["ref"], pa.large_string()),
            "hyp": texts["hyp"],
        }
    )
    columns = BatchColumns({"hyp": "hyp"}, ("ref",), "src", ("key",))
    scorer = BatchScorer(columns, {"softdrop": ce.SoftDROP(aligner)})
    for size in (1, 2, 7):
        rows = pa.Table.from_batches(scorer.score_batches(_batches(table, size))).to_pylist()
        assert [row["key"] for row in rows] == list("abcdefg")
        reasons = [row["set_aside"] for row in rows]
        assert reasons[:6] == [
            None, None, None, "src: there is no text", "ref: there is no text",
            "src: not valid UTF-8 at byte offset 4 (byte 0xfe)",
        ]  # fmt: skip
        assert reasons[6].startswith("source of some 9,001 words and translation of 9,001: too")
        assert [row["softdrop"] is None for row in rows] == [
            reason is not None for reason in reasons
        ]
    token = MAX_LINE_BYTES.set(3)
    try:
        read = columns.read(table.to_batches()[0])
    finally:
        MAX_LINE_BYTES.reset(token)
    assert read.reasons[0] == "hyp: is longer than 3 bytes"


def test_wrong_columns_are_said() -> None:
    scorer = BatchScorer(BatchColumns({"a": "hyp"}, ("ref",), keys=("rep",)), {"rep": ce.REP()})
    with pytest.raises(DataError, match="no column 'hyp'; there are: x"):
        scorer.score_table(pa.table({"x": ["a"], "rep": [1]}))
    with pytest.raises(DataError, match="'ref' holds int64, and text is needed"):
        scorer.score_table(pa.table({"hyp": ["a"], "ref": [1], "rep": [1]}))
    with pytest.raises(DataError, match="two columns of the result have one name"):
        scorer.score_table(pa.table({"hyp": ["a"], "ref": ["a"], "rep": [1]}))


@settings(max_examples=50)
@given(
    st.lists(st.floats(0, 1e6) | st.floats(0, 1e-6), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
    st.integers(1, 7),
)
def test_totals_do_not_depend_on_order_or_batches(
    values: list[float], random: Any, size: int
) -> None:
    def total(values: list[float], size: int) -> Totals:
        statistics = [{"lost_coverage": v, "expected_coverage": 1.0} for v in values]
        batch = pa.RecordBatch.from_pydict(
            {"set_aside": pa.nulls(len(values), pa.string()), "f": [{"a": s} for s in statistics]}
        )
        parts = [batch.slice(start, size) for start in range(0, len(values), size)]
        plain = [Totals.from_plain(Totals.of(part, ["f"]).to_plain()) for part in parts]
        return reduce(add, plain, Totals())

    shuffled = list(values)
    random.shuffle(shuffled)
    found = total(shuffled, size)
    assert found == total(values, len(values))
    assert found.sums["f"]["a"][0] == sum(map(Fraction, values))


def test_a_job_travels_pickled_and_a_worker_loads_its_model_once(
    tmp_path: Path, table: Any, aligner: Any
) -> None:
    aligner.save(tmp_path / "model")
    job = ScoringJob(COLUMNS, partial(make_metrics, metrics={"drop": {"denominator": "source"}}))
    pickled = pickle.dumps(job)
    scorer = worker_scorer(pickled, str(tmp_path / "model"))
    assert worker_scorer(pickled, str(tmp_path / "model")) is scorer
    mine = BatchScorer(COLUMNS, {"drop": ce.DROP(aligner, denominator="source")})
    assert scorer.score_table(table).equals(mine.score_table(table))
    worker_scorer.cache_clear()


@pytest.mark.parametrize("name", ["rep", "drop --model m --src-col s", "profile"])
def test_without_pyarrow_it_says_what_to_install(name: str) -> None:
    program = (
        "import sys; sys.modules['pyarrow'] = None; from coverage_eval.cli import main; "
        f"sys.exit(main('spark {name} t.parquet -o x --hyp-col a --ref-col b'.split()))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'coverage-eval[spark]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
