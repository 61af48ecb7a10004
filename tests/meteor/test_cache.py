"""The index's place on disk: made once, whole or not there, for many processes, or nowhere."""

from __future__ import annotations

import gzip
import multiprocessing
import warnings
from pathlib import Path

import numpy as np
import pytest

from coverage_eval.errors import DataError
from coverage_eval.metrics.meteor import METEOR, counting, phrase_cache
from coverage_eval.metrics.meteor.phrase_cache import (
    cache_folder,
    index_folder,
    open_index,
    table_hash,
)
from coverage_eval.metrics.meteor.statistics import FIELDS


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


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("COVERAGE_EVAL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "coverage-eval"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "coverage-eval"


def test_the_index_is_built_once(table: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = index_folder(table)
    assert folder.parent == cache
    assert names(cache) == [folder.name]
    assert len(open_index(folder).vocabulary) == 3
    monkeypatch.setattr(phrase_cache, "build_index", None)
    assert index_folder(table) == folder


def test_another_table_gets_another_index(table: Path, cache: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gz"
    other.write_bytes(gzip.compress(b"0.5\na\nc\n"))
    assert table_hash(table) != table_hash(other)
    assert index_folder(table) != index_folder(other)
    assert len(names(cache)) == 2


def test_a_damaged_index_is_built_again(table: Path, cache: Path) -> None:
    folder = index_folder(table)
    (folder / "keys.npy").write_bytes(b"")
    assert index_folder(table) == folder
    assert len(open_index(folder).keys) > 0
    assert names(cache) == [folder.name]


def test_a_build_that_fails_leaves_nothing(
    table: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(phrase_cache, "build_index", fail)
    with pytest.raises(KeyboardInterrupt):
        index_folder(table)
    assert names(cache) == []


def _use(table: Path) -> int:
    return len(open_index(index_folder(table)).targets)


def test_processes_may_build_at_once(table: Path, cache: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(_use, [table] * 6, chunksize=1) == [1000] * 6
    assert len(names(cache)) == 1


def test_without_a_cache_there_is_one_warning_and_an_index(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file where the folder should be: that cannot be written to even by root.
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.warns(UserWarning, match="COVERAGE_EVAL_CACHE") as caught:
        folder = index_folder(table)
    assert len(caught) == 1
    assert len(open_index(folder).targets) == 1000


def test_scoring_goes_on_without_a_cache(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several processes too, with one warning in all."""
    monkeypatch.setattr(counting, "paraphrase_path", lambda: table)
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


def test_no_place_at_all(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COVERAGE_EVAL_CACHE", str(tmp_path / "file" / "cache"))

    def refuse(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(phrase_cache.tempfile, "mkdtemp", refuse)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(DataError, match=r"no place to write.*No space left"):
            index_folder(table)


def test_a_table_that_is_no_gzip_file(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "t.gz").write_bytes(b"abc")
    with pytest.raises(DataError, match="damaged paraphrase table"):
        index_folder(tmp_path / "t.gz")
    (tmp_path / "t.gz").write_bytes(b"not a gzip file")
    with pytest.raises(DataError, match="damaged paraphrase table"):
        index_folder(tmp_path / "t.gz")
