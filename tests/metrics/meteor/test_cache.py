"""The paraphrase index in the cache folder: built once, complete or absent, safe for processes."""

from __future__ import annotations

import gzip
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import warnings
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.errors import DataError
from coverage_eval.metrics.meteor import METEOR, metric, paraphrases
from coverage_eval.metrics.meteor.paraphrases import (
    cache_folder,
    open_index,
    phrase_index,
    table_hash,
)
from coverage_eval.metrics.meteor.statistics import FIELDS
from fast_align_wrapper.files import held_file
from tests.conftest import Terminal


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


def test_environment_variables_choose_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("COVERAGE_EVAL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "coverage-eval"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "coverage-eval"


@pytest.mark.parametrize("stream", [StringIO, Terminal])
def test_progress_is_shown_on_a_terminal_only(table, cache, monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stderr := stream())
    path = phrase_index(table)
    assert path.parent == cache
    said = "indexing METEOR's paraphrases, once:   0%" in stderr.getvalue()  # from the beginning
    assert said == (stream is Terminal)
    assert bool(stderr.getvalue()) == said
    stderr.truncate(0)
    assert phrase_index(table) == path
    assert not stderr.getvalue()


def test_the_index_is_built_once(table, cache, monkeypatch):
    path = phrase_index(table)
    assert path.parent == cache
    assert names(cache) == [path.name]
    assert open_index(path).paraphrases(b"b") == (b"a",) * 500
    monkeypatch.setattr(paraphrases, "write_table", None)
    assert phrase_index(table) == path
    assert open_index(path) is open_index(path)


def test_each_table_has_its_own_index(table, cache, tmp_path):
    other = tmp_path / "other.gz"
    other.write_bytes(gzip.compress(b"0.5\na\nc\n"))
    assert table_hash(table) != table_hash(other)
    assert phrase_index(table) != phrase_index(other)
    assert len(names(cache)) == 2


@pytest.mark.parametrize("size", ["empty", "half", "one byte less", "one byte more", "same size"])
def test_a_damaged_index_is_built_again(table, cache, size):
    path = phrase_index(table)
    whole = path.read_bytes()
    assert open_index(path).paraphrases(b"a") == (b"b c",) * 500
    path.write_bytes(
        {
            "empty": b"",
            "half": whole[: len(whole) // 2],
            "one byte less": whole[:-1],
            "one byte more": whole + b"\0",
            "same size": whole.replace(b"b c", b"b x", 1),
        }[size]
    )
    assert path.read_bytes() != whole
    assert phrase_index(table) == path
    assert path.read_bytes() == whole
    assert open_index(path).paraphrases(b"a") == (b"b c",) * 500
    assert names(cache) == [path.name]


def test_leftovers_of_a_killed_build_are_removed_later(table, cache):
    path = phrase_index(table)
    left, foreign = cache / f".{path.stem}.abc", cache / ".other"
    left.write_bytes(b"half")
    foreign.write_bytes(b"half")
    with held_file(cache, f".{path.stem}", "", 0o600) as used:
        left.write_bytes(b"half")
        assert phrase_index(table) == path
        assert sorted(names(cache)) == sorted([path.name, used.name, foreign.name])
    assert sorted(names(cache)) == sorted([path.name, foreign.name])


_BUILD = """
import sys
from pathlib import Path
from coverage_eval.metrics.meteor.paraphrases import open_index, phrase_index
print(phrase_index(Path(sys.argv[1])), end="")
assert open_index(phrase_index(Path(sys.argv[1]))).paraphrases(b"b") == (b"a",) * 500
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
    one, two, other = (run.communicate(timeout=120)[0] for run in runs)
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert one == two == str(cache / names(cache)[0])
    assert names(cache) == names(apart) == [Path(other).name]


def test_files_of_earlier_releases_are_removed(table, cache):
    """Files of later releases, of the user and of other programs are kept."""
    kept = {"meteor-paraphrases-99-ab-cd.sqlite", "meteor-paraphrases-mine", "other-1-ab"}
    (cache / "meteor-paraphrases-1-af15").mkdir(parents=True)
    (cache / "meteor-paraphrases-1-af15" / "vocabulary.txt").write_text("a\n")
    for name in {*kept, "meteor-paraphrases-3-ab-cd.sqlite"}:
        (cache / name).write_text("")
    path = phrase_index(table)
    assert set(names(cache)) == kept | {path.name}


def test_the_leftover_of_a_killed_build_is_recognised(table, cache):
    """A process killed while building leaves no index, and a file that later runs remove."""
    child = (
        "import os, sys, pathlib\n"
        "from coverage_eval.metrics.meteor import paraphrases\n"
        "paraphrases.write_table = lambda *_: os.kill(os.getpid(), 9)\n"
        "paraphrases.phrase_index(pathlib.Path(sys.argv[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", child, str(table)], check=False)
    assert done.returncode == -9
    (left,) = cache.iterdir()
    os.utime(left, (0, 0))
    path = phrase_index(table)
    assert names(cache) == [path.name]


def test_a_build_that_fails_leaves_nothing(table, cache, monkeypatch):
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(paraphrases, "write_table", fail)
    with pytest.raises(KeyboardInterrupt):
        phrase_index(table)
    assert names(cache) == []


def test_without_a_cache_there_is_one_warning_and_an_index(table, tmp_path, monkeypatch):
    # A file in place of the folder: not even root can write to it.
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.warns(UserWarning, match="COVERAGE_EVAL_CACHE") as caught:
        path = phrase_index(table)
    assert len(caught) == 1
    assert open_index(path).paraphrases(b"b") == (b"a",) * 500


def test_scoring_goes_on_without_a_cache(table, tmp_path, monkeypatch):
    """In several processes too, with one warning in all."""
    table.write_bytes(gzip.compress(b"0.5\na\nb c\n0.5\nb\na\n"))  # each phrase once
    monkeypatch.setattr(metric, "data_file", lambda _: table)
    texts = [["a x", "q b"] * 200, ["b c x", "a y"] * 200]
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(tmp_path / "cache"))
    expected = METEOR().statistics(*texts)
    matched = expected[:, FIELDS.index("hyp_matched")]
    assert matched.tolist() == [2, 1] * 200
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.warns(UserWarning, match="COVERAGE_EVAL_CACHE") as caught:
        statistics = METEOR().statistics(*texts, jobs=2)
    assert len(caught) == 1
    np.testing.assert_array_equal(statistics, expected)


def test_a_full_disk_is_reported(table, cache, monkeypatch):
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(paraphrases, "write_table", full)
    with pytest.warns(UserWarning, match="disk is full"), pytest.raises(DataError, match="is full"):
        phrase_index(table)
    assert names(cache) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_after_a_fork_a_process_opens_the_index_itself(table, cache):
    path = phrase_index(table)
    ours = id(open_index(path))
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(_identity, (path,)) != ours


def _identity(path: Path) -> int:
    return id(open_index(path))


def test_without_a_writable_folder_the_error_says_so(table, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(tmp_path / "file" / "cache"))

    def refuse(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(DataError, match=r"no place to write.*No space left"):
            phrase_index(table)


def test_a_table_that_is_not_a_gzip_file_is_refused(tmp_path, cache):
    (tmp_path / "t.gz").write_bytes(b"abc")
    with pytest.raises(DataError, match="damaged paraphrase table"):
        phrase_index(tmp_path / "t.gz")
    (tmp_path / "t.gz").write_bytes(b"not a gzip file")
    with pytest.raises(DataError, match="damaged paraphrase table"):
        phrase_index(tmp_path / "t.gz")
