"""Batches and Spark: where time goes, throughput by partitions, memory of a worker.

It measures processor time and, for Spark, wall time, which only an idle machine makes meaningful:
``python tests/bench/bench_spark.py [SEGMENTS]``.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pyarrow as pa
import pyarrow.parquet as pq

import coverage_eval as ce
from coverage_eval.demonstration import demonstrate
from coverage_eval.spark import BatchColumns, ScoringJob, make_metrics

COLUMNS = BatchColumns({"mt": "mt"}, ("ref",), "src", ("id",))
DOLLARS_PER_CORE_HOUR = 0.04
TICKS = os.sysconf("SC_CLK_TCK")


def job(name: str, *, evidence: bool = True) -> ScoringJob:
    """One metric over the table of this benchmark."""
    return ScoringJob(COLUMNS, partial(make_metrics, metrics={name: {}}), evidence=evidence)


def processor_seconds(function: Callable[[], Any]) -> float:
    """Processor time of this process and of the aligners that it started."""
    before = time.process_time() + _of_children()
    function()
    return time.process_time() + _of_children() - before


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_one_process(table: pa.Table, model: str) -> None:
    """How much time reading, counting, evidence and alignment take."""
    rows = len(table)
    parts = {
        "read the columns": lambda: [COLUMNS.read(one) for one in table.to_batches(10_000)],
        "align": lambda: sum(1 for _ in _aligned(table, model)),
        "rep, no evidence": lambda: _score(table, "rep", None, evidence=False),
        "rep": lambda: _score(table, "rep", None),
        "drop, no evidence": lambda: _score(table, "drop", model, evidence=False),
        "drop": lambda: _score(table, "drop", model),
    }
    for name, run in parts.items():
        seconds = processor_seconds(run)
        hours = seconds / rows * 1e9 / 3600
        print(
            f"{name:20} {1e6 * seconds / rows:8.1f} µs a segment  "
            f"{hours:7,.0f} core hours a billion, {DOLLARS_PER_CORE_HOUR * hours:6,.2f} $"
        )
    print(f"memory of this process: at most {_peak(os.getpid()):,.0f} MB")


def _aligned(table: pa.Table, model: str) -> Any:
    with ce.Aligner.load(model, threads=1) as aligner:
        for read in map(COLUMNS.read, table.to_batches(10_000)):
            yield from aligner.align(read.rows)


def _score(table: pa.Table, name: str, model: str | None, *, evidence: bool = True) -> None:
    scorer = job(name, evidence=evidence).scorer(model, **({"threads": 1} if model else {}))
    for _ in scorer.score_batches(table.to_batches(10_000)):
        pass


def on_spark(path: str, model: str, rows: int) -> None:
    """Throughput by partitions, on all cores of this machine."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        print("no PySpark here: not measured")
        return
    from coverage_eval.spark import read_frame, score_frame, spark_session, sum_frame

    session = spark_session()
    session.sparkContext.setLogLevel("OFF")
    for name, file in (("rep", None), ("drop", model)):
        scorer = job(name).scorer(file)
        for partitions in (1, 1, 2, 4, 8, 64):  # the first starts the workers
            frame = read_frame(session, path).repartition(partitions)
            start, before = time.perf_counter(), _seconds_of_all()
            sum_frame(score_frame(frame, job(name), file), scorer)
            seconds, used = time.perf_counter() - start, _seconds_of_all() - before
            print(
                f"spark {name:5} {partitions:3} partitions {rows / seconds:9,.0f} segments/s, "
                f"{1e6 * used / rows:6.1f} µs of all processors a segment"
            )
    for program in ("python", "fast_align", "java"):
        peaks = [_peak(pid) for pid, _, name in _processes() if name.startswith(program)]
        print(f"{len(peaks)} {program}, of at most {max(peaks, default=0):,.0f} MB")
    session.stop()


def _seconds_of_all() -> float:
    """Processor time of this process and all its descendants, including those that ended."""
    return sum(seconds for _, seconds, _ in _processes())


def _processes() -> Iterator[tuple[int, float, str]]:
    """This process and its descendants: number, processor time, name."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            name, fields = (folder / "stat").read_text().partition("(")[2].rsplit(") ", 1)
            values = fields.split()
            used = sum(map(int, values[11:15])) / TICKS
            found[int(folder.name)] = (int(values[1]), used, name)
    for pid, (_, used, name) in found.items():
        ancestor = pid
        while ancestor in found and ancestor != os.getpid():
            ancestor, *_ = found[ancestor]
        if ancestor == os.getpid():
            yield pid, used, name


def _peak(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    """Measure on the demonstration's texts, repeated."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        list(demonstrate(folder))  # writes texts and a model
        lines = {key: (folder / file).read_text().splitlines() for key, file in _FILES.items()}
        columns = {key: (text * (rows // len(text) + 1))[:rows] for key, text in lines.items()}
        table = pa.table({"id": range(rows), **columns})
        pq.write_table(table, folder / "texts.parquet")
        in_one_process(table, str(folder / "model"))
        on_spark(str(folder / "texts.parquet"), str(folder / "model"), rows)


_FILES = {"src": "test.de", "ref": "test.en", "mt": "dropping.en"}


if __name__ == "__main__":
    main()
