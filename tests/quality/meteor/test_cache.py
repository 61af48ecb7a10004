"""The paraphrase index in the cache folder: built once, complete or absent, safe for processes."""

from __future__ import annotations

import gzip
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.core.batches import Row, RowSample
from coverage_eval.core.errors import DataError
from coverage_eval.quality.meteor import METEOR, metric, paraphrases
from coverage_eval.quality.meteor.metric import FIELDS
from coverage_eval.quality.meteor.paraphrases import (
    PhraseTable,
    phrase_index,
)
from tests.rows import statistics_of


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.gz"
    path.write_bytes(gzip.compress(b"0.5\na\nb c\n0.5\nb\na\n" * 500))
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache" / "deep"
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(folder))
    return folder


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_the_index_is_built_once(table, cache, monkeypatch):
    path = phrase_index(table)
    assert path.parent == cache
    assert names(cache) == [path.name]
    assert PhraseTable(path).paraphrases(b"b") == (b"a",) * 500
    monkeypatch.setattr(paraphrases, "write_table", None)
    assert phrase_index(table) == path


def test_other_processes_get_the_index_that_was_made(table, cache, monkeypatch):
    monkeypatch.setattr(metric, "data_file", lambda _: table)
    german = RowSample([Row((), ("das haus " * 50,))], [], ["ref"])
    fitted = METEOR().fit(german)
    assert not cache.exists()
    handed = pickle.dumps(fitted)
    assert len(names(cache)) == 1
    monkeypatch.setattr(metric, "phrase_index", None)
    assert pickle.loads(handed).index == cache / names(cache)[0]


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.99, 0.9999])
def test_an_index_that_was_cut_is_named(table, cache, part):
    longer = "".join(f"0.5\na{number} b c\nb\n" for number in range(3000))
    table.write_bytes(gzip.compress(longer.encode() + gzip.decompress(table.read_bytes())))
    path = phrase_index(table)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(DataError, match=rf"{path.name}: damaged index .*; delete the file"):
        PhraseTable(path)


_BUILD = """
import sys
from pathlib import Path
from coverage_eval.quality.meteor.paraphrases import PhraseTable, phrase_index
print(phrase_index(Path(sys.argv[1])), end="")
assert PhraseTable(phrase_index(Path(sys.argv[1]))).paraphrases(b"b") == (b"a",) * 500
"""


def test_processes_that_start_together_make_one_file(table, cache):
    """Hashes of strings, and so the order of sets, differ between processes."""
    longer = "".join(f"0.5\na{number} b c\nb\n" for number in range(300))
    table.write_bytes(gzip.compress(longer.encode() + gzip.decompress(table.read_bytes())))

    def start(seed: int, folder: Path) -> subprocess.Popen[str]:
        changed = {"PYTHONHASHSEED": str(seed), "COVERAGE_EVAL_CACHE": str(folder)}
        return subprocess.Popen(
            [sys.executable, "-c", _BUILD, str(table)], stdout=subprocess.PIPE, text=True,
            env={**os.environ, **changed},
        )  # fmt: skip

    apart = cache.with_name("another")  # the third process must build its own
    runs = [start(1, cache), start(2, cache), start(3, apart)]
    first, second, other = (run.communicate(timeout=120)[0] for run in runs)
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert first == second == str(cache / names(cache)[0])
    assert names(cache) == names(apart) == [Path(other).name]


def test_scoring_goes_on_without_a_cache(table, tmp_path, monkeypatch):
    """In several processes too, with one warning in all."""
    table.write_bytes(gzip.compress(b"0.5\na\nb c\n0.5\nb\na\n"))  # each phrase once
    monkeypatch.setattr(metric, "data_file", lambda _: table)
    texts = [["a x", "q b"] * 200, ["b c x", "a y"] * 200]
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(tmp_path / "cache"))
    expected = statistics_of(METEOR(), *texts)
    matched = expected[:, FIELDS.index("hyp_matched")]
    assert matched.tolist() == [2, 1] * 200
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.warns(UserWarning, match="COVERAGE_EVAL_CACHE") as caught:
        statistics = statistics_of(METEOR(), *texts, jobs=2)
    assert len(caught) == 1
    np.testing.assert_array_equal(statistics, expected)
