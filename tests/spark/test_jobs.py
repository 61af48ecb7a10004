"""A job scores batches of a table as one process scores the text; no Spark is needed for that."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import coverage_eval as ce
from coverage_eval.comparison.choice import choose_metrics
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count
from coverage_eval.core.errors import DataError
from coverage_eval.coverage.omissions import Omissions
from tests.spark.texts import OUTPUTS, SOURCES, TARGETS

pa = pytest.importorskip("pyarrow", reason="needs the extra 'spark'")

from coverage_eval.spark import Job

SIZE = 2600
"""More segments than a sample has."""


@pytest.mark.slow
def test_fitted_metrics_say_the_same_in_batches_and_in_one_process(tmp_path):
    """Omissions adapt to the sample of one process, whose half of errors a batch cannot see."""
    with ce.train_for_omissions(SOURCES * 20, TARGETS * 20) as aligner:
        aligner.save(tmp_path / "model")
        texts = {"a": (OUTPUTS * 260 + TARGETS * 260), "src": SOURCES * 520, "ref": TARGETS * 520}
        dataset = Texts.from_lists({"a": texts["a"]}, texts["ref"], texts["src"])
        names = ["rep", "drop", "omissions", "additions"]
        result = count(dataset, choose_metrics(dataset, aligner, names).metrics, keep_texts=True)
    job = Job("a", (), references=("ref",), source="src").with_fitted(result.fitted)
    job = pickle.loads(pickle.dumps(job))
    batches = pa.table(texts).to_batches(max_chunksize=700)
    batches.insert(1, batches[0].slice(0, 0))  # as of an empty partition
    scored = pa.Table.from_batches(job.score_batches(batches, str(tmp_path / "model")))
    assert scored.num_rows == SIZE
    for name, fitted in job.make(str(tmp_path / "model")).items():
        rows = scored.column(name).to_pylist()
        assert [row["score"] for row in rows] == result.segment_scores(name)
        statistics = np.array(
            [[row[each] for each in fitted.metric.statistic_names] for row in rows]
        )
        assert (statistics == result.statistics_of(name)).all()
        assert fitted.signature_for(references=1) == result.score(name).signature


@pytest.mark.parametrize("name", ["rep", "bleu", "length-ratio", "tail-loop"])
def test_a_batch_without_rows_gives_one_without_rows(name):
    texts = {"id": range(1, 31), "a": OUTPUTS * 6, "ref": TARGETS * 6}
    (whole,) = pa.table({key: list(column) for key, column in texts.items()}).to_batches()
    sizes = (0, 7, 0, 0, 22, 1, 0)
    parts = [whole.slice(sum(sizes[:i]), size) for i, size in enumerate(sizes)]
    job = Job("a", (name,), references=("ref",), keys=("id",))
    scored = list(job.score_batches(parts))
    assert [len(batch) for batch in scored] == list(sizes)
    assert pa.Table.from_batches(scored).equals(pa.Table.from_batches(job.score_batches([whole])))
    (empty,) = job.score_batches([whole.slice(0, 0)])
    assert empty.schema == scored[1].schema


def test_an_unknown_column_is_named():
    with pytest.raises(DataError, match="no column 'b'; there are: a"):
        list(Job("b", ("rep",)).score_batches(pa.table({"a": ["x"]}).to_batches()))


def test_missing_outputs_and_references_and_line_breaks_are_read_as_in_tables():
    columns = {"a": ["a red\nred house", "a dog"], "r": ["a red house", "a dog"], "s": [None, "x"]}
    job = Job("a", ("rep", "ter"), references=("r", "s"))
    (scored,) = job.score_batches(pa.table(columns).to_batches())
    (first, _), (ter, _) = (scored.column(name).to_pylist() for name in ("rep", "ter"))
    assert (first["repeated_words"], first["reference_words"]) == (1, 3)
    assert (ter["edits"], ter["reference_words"]) == (1, 3)
    job = Job("a", ("rep",), references=("r",), source="s")
    with pytest.raises(DataError, match="column 's': row 1 of a batch is no text"):
        list(job.score_batches(pa.table(columns).to_batches()))
    (empty,) = Job("s", ("rep",), references=("r",)).score_batches(pa.table(columns).to_batches())
    assert empty.column("rep").to_pylist()[0]["reference_words"] == 3


def test_rows_have_the_probabilities_and_reasons_of_the_finder(tmp_path):
    pairs = [("ein haus", "a house"), ("das haus", "the house"), ("ein hund", "a dog")] * 20
    with ce.Aligner.train_pairs(pairs) as aligner:
        aligner.save(tmp_path / "model")
        outputs = [*(output for _, output in pairs[:-1]), None]
        sources = [source for source, _ in pairs]
        found = list(ce.OmissionFinder(aligner).check(zip(sources, outputs, strict=True)))
        metric = {"omissions": Omissions(aligner)}
        job = Job("h", ("omissions",), source="s")
        rows = job._rows(pa.table({"h": outputs, "s": sources}).to_batches()[0])
        fitted = {name: item.fit(job._sample(rows)) for name, item in metric.items()}
        job = job.with_fitted(fitted)
    table = pa.table({"h": outputs, "s": sources})
    batches = job.score_batches(table.to_batches(max_chunksize=7), str(tmp_path / "model"))
    scored = [row["omissions"] for batch in batches for row in batch.to_pylist()]
    assert [row["probability"] for row in scored] == [one.probability for one in found]
    assert [row["reason"] for row in scored] == ["; ".join(one.reasons) for one in found]
    assert scored[-1]["reason"].startswith("empty")
