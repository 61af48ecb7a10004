"""The site's recipes for engines other than Spark are run unchanged."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow", reason="needs pyarrow", minversion="15")
import pyarrow.parquet as pq

from tests.conftest import ROOT, RunCli
from tests.spark.texts import write_texts

PAGE = ROOT / "notebooks" / "docs" / "pages" / "scale.md"
FILES: dict[str, str] = dict(
    re.findall(r'^```python title="(\w+\.py)"\n(.*?)^```$', PAGE.read_text(), re.M | re.S)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """A folder with the recipes, a model, and texts without the last hypothesis."""
    folder = tmp_path_factory.mktemp("recipes")
    write_texts(folder, 10)
    run_cli("align", "train", "src", "ref", "-o", "model", cwd=folder)
    columns: dict[str, list[Any]] = {
        column: (folder / name).read_text(encoding="utf-8").splitlines()
        for column, name in (("src", "src"), ("ref", "ref"), ("hyp", "a"))
    }
    columns["hyp"][-1] = None
    rows = range(len(columns["hyp"]))
    pq.write_table(pa.table({"id": list(rows), **columns}), folder / "texts.parquet")
    for name, code in FILES.items():
        (folder / name).write_text(code)
    return folder


def run(folder: Path, *words: str) -> str:
    """What a recipe prints."""
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "HF_HOME": str(folder / "cache"), "RAY_DEDUP_LOGS": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_scored(path: Path) -> list[dict[str, Any]]:
    """The rows that a recipe writes."""
    return sorted(pq.read_table(path).to_pylist(), key=lambda row: row["id"])


@pytest.fixture(scope="module")
def expected(folder: Path) -> list[dict[str, Any]]:
    printed = run(folder, "with_pandas.py")
    rows = read_scored(folder / "scored.parquet")
    assert rows[0]["rep"]["mine"]["score"] == 100.0  # a repeated word weighs 2, in 2 words
    assert [row["set_aside"] for row in rows if row["set_aside"]] == ["hyp: there is no text"]
    assert printed.startswith("DROP|refs:1|aligner:")
    return rows


@pytest.mark.parametrize(
    "engine",
    [pytest.param(name, marks=pytest.mark.needs(name)) for name in ("polars", "datasets", "ray")],
)
def test_every_engine_gives_the_same_rows(folder, expected, engine):
    target = folder / "scored.parquet"
    target.unlink()
    run(folder, f"with_{engine}.py")
    assert read_scored(target) == expected


def test_an_array_of_jobs_gives_the_scores_and_intervals_of_one_run(folder, expected, run_cli):
    for number in range(3):
        run(folder, "array_job.py", str(number), "3")
    parts = [pq.read_table(folder / f"scored-{number:04}.parquet") for number in range(3)]
    assert pa.concat_tables(parts).to_pylist() == expected
    rows = pq.read_table(folder / "texts.parquet").to_pylist()[:-1]  # the last has no hypothesis
    for name in ("src", "ref", "hyp"):
        text = "".join(f"{row[name]}\n" for row in rows)
        (folder / f"whole.{name}").write_text(text, encoding="utf-8")
    drop = ("--src", "whole.src", "--model", "model")
    scores = []
    for command in (("rep",), ("drop", *drop)):
        words = (command[0], "whole.hyp", "whole.ref", *command[1:], "--confidence")
        scores.append(run_cli(*words, cwd=folder).stdout)
    assert run(folder, "join.py") == "".join(scores)
