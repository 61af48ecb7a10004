"""Batches of any size have the statistics of one run, and no row is lost."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="needs pyarrow", minversion="15")

import coverage_eval as ce
from coverage_eval.data.dataset import Dataset
from coverage_eval.data.documents import DocumentSettings
from coverage_eval.data.files import MAX_LINE_BYTES
from coverage_eval.errors import DataError
from coverage_eval.metrics.evaluation import Evaluation
from coverage_eval.metrics.measure import Metric, Result, measure
from coverage_eval.metrics.omission_finder import OmissionFinder
from coverage_eval.metrics.omissions import Omissions
from coverage_eval.metrics.planting import inject_lines
from coverage_eval.metrics.profile import make_figures
from coverage_eval.metrics.registry import METRICS, make_metric, metric_class
from coverage_eval.spark import (
    FLOATS_IN_ONE,
    BatchColumns,
    BatchScorer,
    ScoringJob,
    make_metrics,
    sum_partition,
    worker_scorer,
)
from tests.grammar import generate
from tests.spark.texts import OUTPUTS, SOURCES, TARGETS

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
def test_batches_have_the_statistics_scores_and_evidence_of_one_run(size, table, aligner):
    made = {name: make_metric(name, {"aligner": aligner}) for name in _installed()}
    figures = {name: metric.for_parts() for name, metric in made.items()}
    scorer = BatchScorer(COLUMNS, figures)
    scored = pa.Table.from_batches(scorer.score_batches(_batches(table, size)))
    assert scored.schema == scorer.schema(table.schema)
    expected = _measured(table, figures)
    found = scorer.result(scored)
    _assert_same(found, expected)
    assert (found.systems, found.segments) == (expected.systems, expected.segments)
    for name, system in product(figures, "ab"):
        assert found.score(name, system) == expected.score(name, system)
        cells = [row[system] for row in scored[name].to_pylist()]
        assert [cell["score"] for cell in cells] == expected.segment_scores(name, system)
        plain = (found.to_dict() for found in expected.evidence_of(name, system))
        assert [json.loads(cell["evidence"]) for cell in cells] == [
            json.loads(json.dumps(one)) for one in plain
        ]


def _measured(table: Any, figures: Mapping[str, Metric]) -> Result:
    outputs = {name: table[name].to_pylist() for name in ("a", "b")}
    dataset = Dataset.of_lists(outputs, table["ref"].to_pylist(), table["src"].to_pylist())
    return measure(dataset, figures, evidence=True)


def _assert_same(one: Result, other: Result) -> None:
    assert list(one.statistics) == list(other.statistics)
    for name, statistics in other.statistics.items():
        np.testing.assert_array_equal(one.statistics[name], statistics, strict=True)


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_slices_scored_by_separate_jobs_join_to_the_whole(data):
    texts = st.lists(st.text("ab \t", max_size=12), min_size=1, max_size=8)
    outputs = data.draw(texts)
    table = pa.table({"hyp": outputs, "ref": [f"a {text[::2]}" for text in outputs]})
    cuts = sorted(data.draw(st.lists(st.integers(0, len(outputs)), max_size=4)))
    columns = BatchColumns({"mine": "hyp"}, ("ref",))
    job = ScoringJob(columns, partial(make_metrics, metrics={"rep": {}, "bleu": {}, "chrf": {}}))
    slices = [
        table.slice(start, end - start) for start, end in pairwise([0, *cuts, len(outputs)])
    ]  # some of them empty
    scorer = job.scorer()
    joined = Result.join([scorer.result(job.scorer().score_table(part)) for part in slices])
    whole = scorer.result(scorer.score_table(table))
    _assert_same(joined, whole)
    assert joined.segments == len(outputs)
    references = table["ref"].to_pylist()
    for name, metric in scorer.figures.items():
        expected = metric.corpus_score(outputs, references, resamples=20)
        assert joined.score(name, resamples=20) == expected


def test_results_of_different_metrics_or_systems_cannot_be_joined(table):
    rep = BatchScorer(COLUMNS, {"rep": ce.REP()})
    results = [rep.result(rep.score_table(table))]
    for columns, metric in ((COLUMNS, ce.REP(n=3)), (BatchColumns({"a": "a"}, ("ref",)), ce.REP())):
        other = BatchScorer(columns, {"rep": metric})
        results.append(other.result(other.score_table(table)))
    for other in results[1:]:
        with pytest.raises(ValueError, match="results of other systems or metrics"):
            Result.join([results[0], other])


def _installed() -> list[str]:
    try:
        make_metric("meteor", {})
    except ce.CoverageEvalError:
        return [name for name in _OF_SEGMENTS if not name.startswith("meteor")]
    return _OF_SEGMENTS


_OF_SEGMENTS = [name for name in METRICS if "documents" not in metric_class(name).needs]


def test_rows_of_documents_have_the_sums_of_their_lines(tmp_path):
    pairs = {" ".join(p.source): " ".join(p.target) for p in generate(1060, seed=5)}
    source, target = list(pairs), list(pairs.values())
    with ce.Aligner.train(source[60:], target[60:], threads=1) as trained:
        trained.save(tmp_path / "model")
    blocks = [range(20), range(20, 40), range(40, 60)]
    outputs = [
        "\n".join(target[line] for line in range(20) if line not in {4, 5}),
        " ".join(target[20:40]),
        "the output of another text altogether , in no way like it",
    ]
    table = pa.table(
        {
            "id": ["dropped", "joined", "other"],
            "src": ["\n".join(source[line] for line in block) for block in blocks],
            "ref": ["\n".join(target[line] for line in block) for block in blocks],
            "a": outputs,
        }
    )
    names = ["rep", "drop", "omissions", "missing-lines", "extra-text"]
    job = ScoringJob(
        BatchColumns({"a": "a"}, ("ref",), "src", ("id",)),
        partial(make_metrics, metrics={name: {} for name in names}),
        documents=DocumentSettings(),
    )
    scorer = job.scorer(str(tmp_path / "model"))
    *scored, aside = scorer.score_table(table).to_pylist()
    assert aside["set_aside"].startswith("the output is not a translation of its source")
    for row, block, output in zip(scored, blocks, outputs, strict=False):
        texts = ([target[line] for line in block], [source[line] for line in block])
        with ce.Aligner.load(tmp_path / "model") as aligner:
            expected = Evaluation(
                Dataset.of_documents({"a": output}, *texts),
                aligner,
                [name for name in names if name != "omissions"],
                documents=DocumentSettings(),
            ).run()
        for name in expected.metrics:
            figure, score = row[name]["a"], expected.score(name)
            assert figure["score"] == pytest.approx(score.score)
            assert {key: figure[key] for key in score.statistics} == score.statistics
    whole = scorer.result(scorer.score_table(table))
    assert "|seg:model-" in str(whole.score("rep").signature)
    (first, second) = (
        [(line["line"], mark["kind"]) for line in evidence["lines"] for mark in line["marks"]]
        for evidence in (json.loads(row["missing-lines"]["a"]["evidence"]) for row in scored)
    )
    assert (first, second) == ([(5, "passage"), (6, "passage continued")], [])
    found = json.loads(scored[0]["omissions"]["a"]["evidence"])["lines"]
    assert {5, 6} <= {line["line"] for line in found}


def test_a_profile_omissions_and_additions_equal_those_of_one_run(table, aligner):
    columns = BatchColumns({"a": "a"}, ("ref",), "src", ("id",))
    figures = make_figures(aligner, have={"references", "sources"})
    options = {"false_alarms": 0.3}
    found_words = make_metrics(aligner, metrics={"omissions": options, "additions": options})
    assert found_words["omissions"] == Omissions(aligner, 0.3, referenced=True)
    scorer = BatchScorer(columns, {**figures, **found_words})
    scored = scorer.score_table(table)
    found = scorer.result(scored)
    texts = [table[name].to_pylist() for name in ("a", "ref", "src")]
    expected = ce.profile(*texts, aligner)
    for name in figures:
        statistics = found.statistics_of(name, "a")
        np.testing.assert_array_equal(statistics, expected[name].statistics, strict=True)
    finder = OmissionFinder.of(aligner, referenced=True, false_alarms=0.3)
    segments = finder.find_texts(texts[0], texts[2], texts[1])
    cells = [row["a"] for row in scored["omissions"].to_pylist()]
    assert [cell["score"] for cell in cells] == [one.score for one in segments]
    assert [cell["segments_found"] for cell in cells] == [one.score >= 0.3 for one in segments]
    assert any(cell["segments_found"] for cell in cells)
    added = OmissionFinder.of(aligner, "target").find_texts(texts[0], texts[2])
    cells = [row["a"] for row in scored["additions"].to_pylist()]
    assert [cell["score"] for cell in cells] == [one.score for one in added]


def test_every_row_comes_back_once_with_figures_or_a_reason(aligner):
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
        assert reasons[6].startswith("source of about 9,001 words and translation of 9,001: too")
        assert [row["softdrop"] is None for row in rows] == [
            reason is not None for reason in reasons
        ]
    token = MAX_LINE_BYTES.set(3)
    try:
        read = columns.read(table.to_batches()[0])
    finally:
        MAX_LINE_BYTES.reset(token)
    assert read.reasons[0] == "hyp: is longer than 3 bytes"


def test_missing_and_unsuitable_columns_are_refused():
    scorer = BatchScorer(BatchColumns({"a": "hyp"}, ("ref",), keys=("rep",)), {"rep": ce.REP()})
    with pytest.raises(DataError, match="no column 'hyp'; there are: x"):
        scorer.score_table(pa.table({"x": ["a"], "rep": [1]}))
    with pytest.raises(DataError, match="'ref' holds int64, but text is needed"):
        scorer.score_table(pa.table({"hyp": ["a"], "ref": [1], "rep": [1]}))
    with pytest.raises(DataError, match="two columns of the result have the same name"):
        scorer.score_table(pa.table({"hyp": ["a"], "ref": ["a"], "rep": [1]}))


@settings(max_examples=50)
@given(
    st.lists(st.floats(0, 1e6) | st.floats(0, 1e-6), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
    st.integers(1, 7),
)
def test_sums_of_partitions_are_exact(values, random, size):
    def total(values: list[float], size: int) -> int:
        cells = [{"a": {"lost": value}} for value in [*values, 0.5]]
        aside = pa.array([None] * len(values) + ["too long"], pa.string())
        batch = pa.RecordBatch.from_pydict({"set_aside": aside, "f": cells})
        parts = [batch.slice(start, size) for start in range(0, len(cells), size)]
        found = sum_partition(iter(parts), statistics={"f": ["lost"]}, systems=["a"])
        sums = json.loads(next(found)["sums"][0].as_py())
        assert (sums["scored"], sums["set_aside"]) == (len(values), 1)
        whole: int = sums["sums"]["f"][0][0]
        return whole

    shuffled = list(values)
    random.shuffle(shuffled)
    found = total(shuffled, size)
    assert found == total(values, len(values))
    assert Fraction(found, FLOATS_IN_ONE) == sum(map(Fraction, values))


def test_a_job_can_be_pickled_and_a_worker_loads_its_model_once(tmp_path, table, aligner):
    aligner.save(tmp_path / "model")
    job = ScoringJob(COLUMNS, partial(make_metrics, metrics={"drop": {"denominator": "source"}}))
    pickled = pickle.dumps(job)
    scorer = worker_scorer(pickled, str(tmp_path / "model"))
    assert worker_scorer(pickled, str(tmp_path / "model")) is scorer
    mine = BatchScorer(COLUMNS, {"drop": ce.DROP(aligner, denominator="source")})
    assert scorer.score_table(table).equals(mine.score_table(table))
    worker_scorer.cache_clear()


def test_without_pyarrow_the_error_says_what_to_install():
    program = (
        "import sys; sys.modules['pyarrow'] = None; from coverage_eval.cli import main; "
        "sys.exit(main('spark profile t.parquet -o x --hyp-col a --ref-col b'.split()))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'coverage-eval[spark]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_other_systems_serve_as_witnesses_however_the_rows_are_split(aligner):
    pairs = generate(40, seed=5)
    right = [" ".join(pair.target) for pair in pairs]
    texts = {
        "src": [" ".join(pair.source) for pair in pairs],
        "a": inject_lines(right, "omission-phrase", 0.2),
        "b": inject_lines(right, "omission-word", 0.1, seed=1),
        "c": inject_lines(right, "repetition-phrase", 0.2),
    }
    names = ("omissions", "additions", "rep-peers", "length-ratio")
    figures = {name: make_metric(name, {"aligner": aligner}) for name in names}
    table = pa.table(texts)
    scorer = BatchScorer(BatchColumns({n: n for n in "abc"}, source="src"), figures)
    parts = [scorer.result(scorer.score_table(table.slice(at, 13))) for at in range(0, 40, 13)]
    whole = {name: metric.for_parts() for name, metric in figures.items()}
    systems = {n: texts[n] for n in "abc"}
    together = ce.compare(systems, None, texts["src"], aligner, metrics=list(whole.values()))
    for name in names:
        joined = np.concatenate([part.statistics[name] for part in parts], axis=1)
        np.testing.assert_array_equal(joined, together.measured.statistics[name])
        assert parts[0].metrics[name].signature == together.metrics[name].signature
    peers = BatchColumns({"a": "a"}, source="src", peers=("b", "c"))
    alone = BatchScorer(peers, {"omissions": Omissions(aligner)}).score_table(table)
    assert [row["a"]["score"] for row in alone["omissions"].to_pylist()] == (
        together.measured.segment_scores("omissions", "a")
    )


@pytest.mark.parametrize("aligned", [False, True])
def test_a_fitted_job_tokenises_as_a_comparison_does(tmp_path, aligned):
    texts = {
        "src": ["Ein rotes Haus.", "Ein Hund."] * 15,
        "mine": ["A red red house.", "A dog. A dog."] * 15,
        "ref": ["A red house.", "A dog."] * 15,
    }
    model, names = None, ["bleu", "rep"]
    if aligned:  # the model's own text was tokenised
        pairs = [[line.replace(".", " .") for line in texts[name]] for name in ("src", "ref")]
        model, names = str(tmp_path / "model"), [*names, "drop"]
        with ce.Aligner.train(*pairs) as aligner:
            aligner.save(model)
    make = partial(make_metrics, metrics={name: {} for name in names})
    job = ScoringJob(BatchColumns({"mine": "mine"}, ("ref",), "src"), make)
    dataset = Dataset.of_lists({"mine": texts["mine"]}, texts["ref"], texts["src"])
    fitted, (note,) = job.fitted(dataset, model)
    scorer = pickle.loads(pickle.dumps(fitted)).scorer(model)
    found = scorer.result(scorer.score_table(pa.table(texts)))
    aligner = None if model is None else ce.Aligner.load(model)
    expected = ce.compare({"mine": texts["mine"]}, texts["ref"], texts["src"], aligner,
                          metrics=names, resamples=0)  # fmt: skip
    assert note in expected.measured.findings
    for name in names:
        score = expected.rows["mine"][name].score
        assert "tok:13a" in str(score.signature)
        assert str(found.score(name)) == str(score)
