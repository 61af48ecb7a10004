"""Spark gives the figures of one process, with any partitions and even if a worker is killed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pa = pytest.importorskip("pyarrow", reason="needs the extra 'spark'")
pyspark = pytest.importorskip("pyspark", reason="needs the extra 'spark'")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, which is not here", allow_module_level=True)

import pyarrow.parquet as pq
from pyspark.errors import PySparkException

from coverage_eval.cli import cli
from coverage_eval.errors import DataError
from coverage_eval.metrics.named_figures import NAMED_FIGURES
from coverage_eval.spark import one_line_errors, spark_session
from tests.conftest import COMMAND, RunCli
from tests.spark.texts import write_texts

TIMES = 8
TEXTS = ("--hyp-col", "a", "--ref-col", "ref", "--key-col", "id")
MODEL = ("--src-col", "src", "--model", "m")
REP = ("compare", "-m", "rep", "--resamples", "0")
PLAIN_REP = (*REP, "--tokenize", "none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    folder = tmp_path_factory.mktemp("spark")
    texts: dict[str, list[Any]] = dict(write_texts(folder, TIMES))
    run_cli("align", "train", "src", "ref", "-o", "m", cwd=folder)
    count = len(texts["src"])
    pq.write_table(pa.table({"id": range(count), **texts}), folder / "in.parquet")
    spoilt = {name: [*lines, "x", "x"] for name, lines in texts.items()}
    spoilt["a"][-1] = None
    raw = [line.encode() for line in spoilt["ref"]]
    raw[-2] = b"a \xff house"
    texts_of = {**spoilt, "ref": pa.array(raw, pa.binary()).view(pa.string())}
    pq.write_table(pa.table({"id": range(count + 2), **texts_of}), folder / "spoilt.parquet")
    return folder


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Any]:
    """One session in local mode for all tests that need no cluster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)  # Spark looks for files in the folder in which it started
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        found = spark_session("local[2]")
    found.sparkContext.setLogLevel("OFF")
    yield found
    found.stop()


@pytest.fixture
def invoke(session: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)

    def run(*words: str) -> dict[str, Any]:
        done = CliRunner().invoke(cli, [*words, "-f", "json"])
        assert done.exit_code == 0, (done.output, done.exception)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run


def _plain(score: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in score.items() if name not in {"sentences", "system"}}


@pytest.mark.parametrize(
    ("on_spark", "here"),
    [
        (("compare", "-m", "rep"), ("rep", "a", "ref")),
        (("compare", "-m", "rep-letters"), ("rep", "a", "ref", "--letters")),
        (
            ("compare", "-m", "drop", *MODEL),
            ("drop", "a", "ref", "--src", "src", "--model", "m"),
        ),
        (("profile", *MODEL), ("profile", "a", "--ref", "ref", "--src", "src", "--model", "m")),
        (
            ("compare", "-m", "omissions", *MODEL, "--false-alarms", "20"),
            ("omissions", "a", "--ref", "ref", "--src", "src", "--model", "m",
             "--false-alarms", "20"),
        ),
    ],
)  # fmt: skip
def test_many_partitions_give_the_figures_of_one_process(on_spark, here, invoke, folder):
    command, *options = on_spark
    if command == "compare":
        options += ["--resamples", "0"]
    out = folder / f"{options[1]}.parquet"
    found = invoke(
        "spark", command, "in.parquet", "-o", str(out), *TEXTS, *options, "--partitions", "11"
    )
    expected = invoke(*here)["scores"]
    if here[0] == "profile":
        named = {figure.key for figure in NAMED_FIGURES}
        assert named <= {score["figure"] for score in found["scores"]}
    if (
        here[0] == "omissions"
    ):  # Spark does not adapt flags to the text, here too short to change them
        for score in expected:
            score["signature"] = score["signature"].replace("|text:x1|", "|text:none|")
    for ours, theirs in zip(found["scores"], expected, strict=True):
        sums = [score.pop("statistics") for score in (ours, theirs)]
        # Spark's sums are exact; those of one process round fractions.
        assert sums[0] == pytest.approx(sums[1], rel=1e-13)
        assert ours.pop("score") == pytest.approx(theirs.pop("score"), rel=1e-13)
        assert _plain(ours) == _plain(theirs)
    table = pq.read_table(out)
    assert sorted(table["id"].to_pylist()) == list(range(5 * TIMES))
    assert table["set_aside"].null_count == 5 * TIMES


def test_segments_have_the_scores_and_the_evidence_of_one_process(invoke, folder):
    table = pq.read_table(folder / "drop.parquet").sort_by("id").to_pylist()
    expected = invoke("drop", "a", "ref", "--src", "src", "--model", "m", "--sentence-level")
    for row, sentence in zip(table, expected["scores"][0]["sentences"], strict=True):
        assert row["drop"]["a"]["score"] == sentence["score"]
        assert json.loads(row["drop"]["a"]["evidence"])["marks"] == sentence["marks"]


def test_a_comparison_has_the_intervals_and_tests_of_one_process(invoke):
    options = ("--metrics", "bleu,rep,drop", "--resamples", "200")
    found = invoke(
        "spark", "compare", "in.parquet", "-o", "compare.parquet", "--hyp-col", "a",
        "--hyp-col", "b", "--ref-col", "ref", "--key-col", "id", *MODEL, *options,
        "--partitions", "5",
    )  # fmt: skip
    expected = invoke("compare", "a", "b", "--ref", "ref", "--src", "src", "--model", "m", *options)
    assert found["scores"] == expected["scores"]


def test_a_comparison_tokenises_as_one_process_does(invoke, folder):
    outputs, references = (
        ["A red red house.", "A dog. A dog."] * 15,
        ["A red house.", "A dog."] * 15,
    )
    texts = {"raw": outputs, "raw.ref": references}
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    pq.write_table(pa.table({"id": range(30), **texts}), folder / "raw.parquet")
    options = ("--metrics", "bleu,rep")
    found = invoke(  # one system without a key: no intervals
        "spark", "compare", "raw.parquet", "-o", "raw.out", "--hyp-col", "raw",
        "--ref-col", "raw.ref", *options,
    )  # fmt: skip
    expected = invoke("compare", "raw", "--ref", "raw.ref", *options, "--resamples", "0")
    assert "tok:13a" in expected["scores"][1]["signature"]
    keys = ("metric", "score", "signature")
    wanted = [[item[key] for key in keys] for item in expected["scores"]]
    assert [[item[key] for key in keys] for item in found["scores"]] == wanted


def test_rows_that_cannot_be_scored_are_set_aside(invoke, folder):
    found = invoke("spark", *REP, "spoilt.parquet", "-o", "spoilt.out", *TEXTS)
    expected = invoke("rep", "a", "ref")
    assert list(map(_plain, found["scores"])) == list(map(_plain, expected["scores"]))
    assert found["rows"] == {"scored": 5 * TIMES, "set_aside": 2}
    aside = pq.read_table(folder / "spoilt.out/status=set_aside").sort_by("id").to_pylist()
    assert [(row["id"], row["set_aside"], row["rep"]) for row in aside] == [
        (5 * TIMES, "ref: not valid UTF-8 at byte offset 2 (byte 0xff)", None),
        (5 * TIMES + 1, "a: there is no text", None),
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.parquet", "-o", "new"), "none.parquet: Spark: "),
        (("in.parquet", "-o", "m"), "m: exists already"),
        (("in.parquet", "-o", "new", "--key-col", "number"), "there is no column 'number'"),
    ],
)
def test_mistakes_are_reported_in_one_line(
    words, message, session, folder,
    monkeypatch,
):  # fmt: skip
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli, ["spark", *REP, *words, *TEXTS[:4]])
    assert isinstance(done.exception, DataError)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
    assert not (folder / "new").exists()


def test_a_line_end_in_a_row_sets_it_aside_unless_rows_are_documents(invoke, folder):
    texts = {"id": [1, 2, 3], "a": ["a\r", "b\nc", "d"], "ref": ["a", "b c", "d\n"]}
    pq.write_table(pa.table(texts), folder / "ends.parquet")
    found = invoke("spark", *REP, "ends.parquet", "-o", "ends.out", *TEXTS)
    assert found["rows"] == {"scored": 1, "set_aside": 2}
    aside = pq.read_table(folder / "ends.out/status=set_aside").sort_by("id").to_pylist()
    said = "has a line end inside; a segment is one line, see --unaligned"
    assert [row["set_aside"] for row in aside] == [f"a: {said}", f"ref: {said}"]
    words = ("the red house", "a dog sleeps", "he sees the moon")
    texts = {
        "id": [1, 2],
        "a": [" ".join(words), "\n".join(words[::2])],
        "ref": ["\n".join(words)] * 2,
    }
    pq.write_table(pa.table(texts), folder / "docs.parquet")
    line = ("spark", "compare", "docs.parquet", *TEXTS, "--unaligned", "-m", "missing-lines,rep")
    found = invoke(*line, "-o", "docs.out", "--resamples", "0")
    assert found["rows"] == {"scored": 2, "set_aside": 0}
    missing, repeated = found["scores"]
    assert missing["statistics"] == {"missing_words": 3, "source_words": 20}
    assert "|seg:reference-13a|" in repeated["signature"]


def test_warnings_are_those_of_one_process(invoke, folder):
    texts = {
        "id": range(60),
        "a": [f"The house, number {n}, isn't red; it's blue." for n in range(60)],
        "ref": [f"the house , number {n} , is n't red ; it 's blue ." for n in range(60)],
    }
    pq.write_table(pa.table(texts), folder / "cut.parquet")
    found = invoke("spark", *PLAIN_REP, "cut.parquet", "-o", "cut.out", *TEXTS)
    columns = ("--hyp-col", "a", "--ref-col", "ref")
    expected = invoke("rep", "--from", "cut.parquet", *columns)
    assert found["warnings"]
    plain = [[text.replace("cut.parquet: column ", "") for text in texts]
             for texts in (found["warnings"], expected["warnings"])]  # fmt: skip
    assert plain[0] == plain[1]
    strict = ["spark", *PLAIN_REP, "cut.parquet", "-o", "strict.out", *TEXTS, "--strict"]
    assert isinstance(CliRunner().invoke(cli, strict).exception, DataError)
    assert not (folder / "strict.out").exists()


def _workers(driver: int) -> list[int]:
    """The Python workers of a driver: processes that PySpark's daemon has forked."""
    parents, lines = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            status = (path / "stat").read_text().rpartition(")")[2].split()
            parents[int(path.name)] = int(status[1])
            lines[int(path.name)] = (path / "cmdline").read_bytes()

    def descends(process: int) -> bool:
        return process == driver or (process in parents and descends(parents[process]))

    daemons = {process for process, line in lines.items() if b"pyspark.daemon" in line}
    return [one for one in daemons if parents[one] in daemons and descends(one)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds processes in /proc")
def test_a_killed_python_worker_gives_one_line_and_leaves_no_output(folder, tmp_path):
    table = pq.read_table(folder / "in.parquet")
    pq.write_table(pa.concat_tables([table] * 500), tmp_path / "many.parquet")
    driver = subprocess.Popen(
        [COMMAND, "spark", *REP, "many.parquet", "-o", "out", *TEXTS, "--master", "local[2]"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    deadline = time.monotonic() + 300
    while driver.poll() is None and time.monotonic() < deadline:
        if (tmp_path / "out").exists():  # rows are being scored
            for worker in _workers(driver.pid):
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
        time.sleep(0.01)
    stdout, stderr = driver.communicate(timeout=60)
    errors = [line for line in stderr.splitlines() if line.startswith("coverage-eval: error: ")]
    assert (driver.returncode, stdout) == (1, ""), stderr[-2000:]
    assert errors == [
        "coverage-eval: error: out: Spark: a Python worker was killed (out of memory?); give each "
        "worker more memory, or use fewer of them"
    ]
    assert "\tat " not in stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "message",
    [
        "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed).",
        "java.lang.IllegalStateException: Python daemon failed to launch worker.",
        "java.io.IOException: Broken pipe",
        "java.io.EOFException",
    ],
)
def test_a_worker_killed_at_its_start_gives_the_same_line(message):
    """What Spark 4.3 said of workers that the test above killed, at different moments."""
    lost = f"Task 0 in stage 2.0 failed 1 times: (localhost executor driver): {message}"
    if "exited" not in message:
        lost += "\n\tat org.apache.spark.api.python.PythonWorkerFactory.createWorker$1(P.scala:220)"
    with (
        pytest.raises(DataError, match=r"^out: Spark: a Python worker was killed"),
        one_line_errors("out"),
    ):
        raise PySparkException(lost)


def test_an_error_of_spark_itself_is_quoted():
    with (
        pytest.raises(DataError, match=r"^out: Spark: java.io.IOException: No space left"),
        one_line_errors("out"),
    ):
        raise PySparkException("java.io.IOException: No space left on device\n\tat java.io.File")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Cluster:
    """A master and two workers on this machine, each in a separate process group."""

    def __init__(self, folder: Path) -> None:
        self.url = f"spark://127.0.0.1:{_free_port()}"
        self.conf = folder / "conf"
        self.conf.mkdir()
        settings = {
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
        }
        text = "".join(f"{name} {value}\n" for name, value in settings.items())
        (self.conf / "spark-defaults.conf").write_text(text)
        home = Path(pyspark.__file__).parent
        self.env = os.environ | {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_CONF_DIR": str(self.conf),
            "SPARK_LOCAL_DIRS": str(folder),
            "PYSPARK_PYTHON": sys.executable,
        }
        self._command = [str(home / "bin" / "spark-class")]
        self._log = (folder / "cluster.log").open("wb")
        port = self.url.rpartition(":")[2]
        self.processes = [
            self._start("master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", "0")
        ]
        for number in range(2):
            self.processes.append(
                self._start(
                    "worker.Worker", "--cores", "1", "--memory", "600m", "--host", "127.0.0.1",
                    "--webui-port", "0", "--work-dir", str(folder / f"worker{number}"), self.url,
                )
            )  # fmt: skip

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*self._command, f"org.apache.spark.deploy.{name}", *arguments],
            env=self.env, stdout=self._log, stderr=self._log, start_new_session=True,
        )  # fmt: skip

    def kill(self, number: int) -> None:
        """Kill a worker with its executor."""
        os.killpg(self.processes[1 + number].pid, signal.SIGKILL)

    def stop(self) -> None:
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._log.close()


def test_if_a_worker_is_killed_no_row_is_lost_or_doubled(folder, run_cli, tmp_path):
    rows = 12_000
    table = pq.read_table(folder / "in.parquet")
    times = -(-rows // len(table))
    texts = {name: table[name].to_pylist() * times for name in ("src", "ref", "a")}
    count = len(texts["src"])
    pq.write_table(pa.table({"id": range(count), **texts}), tmp_path / "many.parquet")
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    model = folder / "m"
    expected = run_cli(
        "drop", "a", "ref", "--src", "src", "--model", model, "-f", "json", cwd=tmp_path
    )
    cluster = Cluster(tmp_path)
    try:
        driver = subprocess.Popen(
            [COMMAND, "spark", "compare", "-m", "drop", "--resamples", "0", "many.parquet",
             "-o", "out", *TEXTS, "--src-col", "src", "--model", str(model),
             "--master", cluster.url, "--partitions", "24", "-f", "json"],
            cwd=tmp_path, env=cluster.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        done = _wait_for_tasks(driver, tmp_path / "out", least=3)
        cluster.kill(0)
        stdout, stderr = driver.communicate(timeout=600)
    finally:
        cluster.stop()
    assert driver.returncode == 0, stderr.decode()[-3000:]
    assert 3 <= done < 24, "the worker was not killed in the middle of the job"
    assert re.search(r"Lost (executor|task)", stderr.decode()), "Spark did not report the loss"
    scores = [json.loads(text)["scores"] for text in (stdout, expected.stdout)]
    assert list(map(_plain, scores[0])) == list(map(_plain, scores[1]))
    assert sorted(pq.read_table(tmp_path / "out")["id"].to_pylist()) == list(range(count))


def _wait_for_tasks(driver: subprocess.Popen[bytes], out: Path, *, least: int) -> int:
    """Wait until enough tasks have written their rows.

    Returns:
        The number of these tasks; −1 if the driver ended or took too long.
    """
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline and driver.poll() is None:
        done = len(list(out.glob("_temporary/0/task_*")))
        if done >= least:
            return done
        time.sleep(0.02)
    return -1
