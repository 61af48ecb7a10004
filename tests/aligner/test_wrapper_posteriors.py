"""Posteriors as the wrapper reads them; test_model.py has their oracle."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from fast_align_wrapper import AlignerDataError, AlignerError, AlignerNotFoundError, FastAlign
from fast_align_wrapper.process import find_fast_align
from tests.aligner.fake_aligners import someone_elses
from tests.grammar import generate

PAIRS = [(pair.source, pair.target) for pair in generate(300, seed=1)]


@pytest.fixture(scope="module")
def model():
    with FastAlign.train(PAIRS) as trained:
        yield trained


def test_rows_with_null_sum_to_one(model):
    pairs = [(pair.source, pair.target) for pair in generate(60, seed=3)]
    for (source, target), found in zip(pairs, model.posteriors(pairs), strict=True):
        assert found.matrix.shape == (len(target), len(source))
        np.testing.assert_allclose(found.matrix.sum(axis=1) + found.null, 1, atol=1e-6)
    for found in model.posteriors(pairs, "reverse"):
        np.testing.assert_allclose(found.matrix.sum(axis=0) + found.null, 1, atol=1e-6)


def test_pairs_with_an_empty_side_are_linked_to_null(model):
    found = list(model.posteriors([("s1 s2", ""), ("", "t1 t2 t3"), ("", "")]))
    assert [posterior.matrix.shape for posterior in found] == [(0, 2), (3, 0), (0, 0)]
    assert [posterior.null.tolist() for posterior in found] == [[], [1, 1, 1], []]
    found = list(model.posteriors([("s1 s2", "")], "reverse"))
    assert found[0].matrix.shape == (0, 2)
    assert found[0].null.tolist() == [1, 1]


def test_a_pair_that_is_too_long_is_an_error(model):
    pairs = [("s1", "t1"), ("s1 " * 10_000, "t1 " * 10_000)]
    with pytest.raises(AlignerDataError, match="pair 2: posteriors of 10000 times 10000 words do"):
        list(model.posteriors(pairs))


def test_another_fast_align_has_no_posteriors(tmp_path, model, monkeypatch):
    fake = someone_elses(tmp_path / "fast_align", find_fast_align().path)
    with monkeypatch.context() as patch:
        patch.setenv("FAST_ALIGN", str(fake))
        with pytest.raises(AlignerNotFoundError) as caught:
            model.posteriors([("s1", "t1")])
        assert str(caught.value) == (
            f"{fake}: gives no posteriors; use the aligner that comes with coverage-eval"
        )
        trained = FastAlign.train([("s1 s2", "t1 t2")] * 9)
    with trained, pytest.raises(AlignerDataError, match="no tables in full precision, as it was"):
        trained.posteriors([("s1", "t1")])


@pytest.fixture
def kept(model, tmp_path) -> Iterator[FastAlign]:
    """The model with aligners that keep running."""
    model.save(tmp_path / "kept.model")
    with FastAlign.load(tmp_path / "kept.model") as loaded:
        loaded.keep_running()
        yield loaded


@pytest.fixture
def running() -> Callable[[], set[int]]:
    """Gives the aligners that this process has started since, and that are not gone."""

    def aligners() -> set[int]:
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True
        )
        rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
        return {int(pid) for pid, parent, name in rows
                if int(parent) == os.getpid() and "fast_align" in name}  # fmt: skip

    before = aligners()
    return lambda: aligners() - before


def test_a_running_aligner_gives_the_same_as_a_new_one(model, kept, running):
    pairs = [(pair.source, pair.target) for pair in generate(60, seed=3)]
    fresh = list(model.posteriors(pairs))
    with kept:
        first = list(kept.posteriors(pairs[:7]))
        ids = running()
        rest = [one for pair in pairs[7:] for one in kept.posteriors([pair])]
        assert running() == ids
        assert len(ids) == 1
        assert len(list(kept.posteriors([("", ""), ("s1", "")]))) == 2
        for one, other in zip(fresh, [*first, *rest], strict=True):
            np.testing.assert_array_equal(one.matrix, other.matrix)
    assert not running()


def test_running_aligners_of_threads_and_abandoned_ones(model, kept, running):
    pairs = [(pair.source, pair.target) for pair in generate(60, seed=3)]
    fresh = [one.matrix.tolist() for one in model.posteriors(pairs)]
    with kept, ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: [*kept.posteriors(pairs)], range(12)):
            assert [one.matrix.tolist() for one in found] == fresh
        assert 1 <= len(running()) <= 4
        abandoned = kept.posteriors(pairs)
        next(abandoned)
        abandoned.close()
        assert [one.matrix.tolist() for one in kept.posteriors(pairs)] == fresh
    assert not running()


def test_the_next_call_starts_another_aligner_after_one_that_failed(kept, running):
    with kept:
        list(kept.posteriors(PAIRS[:1]))
        for process in running():
            os.kill(process, signal.SIGKILL)
        with pytest.raises(AlignerError, match="killed"):
            list(kept.posteriors(PAIRS[:1]))
        assert len(list(kept.posteriors(PAIRS[:2]))) == 2
        with pytest.raises(AlignerDataError):
            list(kept.posteriors([("s1 " * 10_000, "t1 " * 10_000)]))
        assert len(list(kept.posteriors(PAIRS[:2]))) == 2
    assert not running()
