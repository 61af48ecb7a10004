"""Aligners that wait for the next text give what new ones give, and outlive nobody."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from fast_align_wrapper import AlignerError, FastAlign
from fast_align_wrapper.binaries import find_fast_align
from tests.aligner.fake_aligners import all_gone, is_running, pretender

PAIRS = [("a b c", "x y z"), ("b c", "y z"), ("c a", "z x")] * 20
TEXTS = [[], [("", "x")], PAIRS[:1], [*PAIRS, ("", ""), ("a", "")], PAIRS[:2] * 2000]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("standby") / "model"
    with FastAlign.train(PAIRS) as model:
        model.save(path)
    return path


class Started:
    """The real aligner behind a door that notes who came through."""

    def __init__(self, folder: Path) -> None:
        self._pids = folder / "pids"
        self.program = pretender(
            folder / "fast_align",
            f"""
print(os.getpid(), file=open({str(self._pids)!r}, "a"), flush=True)
os.execv({str(find_fast_align().path)!r}, ["fast_align", *sys.argv[1:]])
""",
        )

    @property
    def pids(self) -> list[int]:
        return list(map(int, self._pids.read_text().split())) if self._pids.exists() else []


@pytest.fixture
def started(tmp_path: Path) -> Started:
    return Started(tmp_path)


def _posteriors(model: FastAlign, text):
    return [(one.matrix.tolist(), one.null.tolist()) for one in model.posteriors(text)]


def test_one_aligner_a_direction_serves_all_texts(model_file: Path, started: Started):
    with (
        FastAlign.load(model_file) as anew,
        FastAlign.load(model_file, fast_align=started.program, keep=True) as kept,
    ):
        for text in TEXTS + TEXTS[::-1]:
            assert list(kept.align(text)) == list(anew.align(text))
        assert len(started.pids) == 2
        for text in TEXTS + TEXTS[::-1]:
            assert _posteriors(kept, text) == _posteriors(anew, text)
        assert len(started.pids) == 3
        assert all(map(is_running, started.pids))
    assert all_gone(started.pids)


def test_texts_at_the_same_time_have_aligners_of_their_own(model_file: Path, started: Started):
    with FastAlign.load(model_file, fast_align=started.program, keep=True) as model:
        expected = list(model.align(PAIRS))
        together = zip(model.align(PAIRS), model.align(PAIRS), strict=True)
        assert list(together) == [(links, links) for links in expected]
        assert len(started.pids) == 4


def test_what_was_abandoned_is_not_used_again(model_file: Path, started: Started):
    with FastAlign.load(model_file, fast_align=started.program, keep=True) as model:
        rows = model.align(PAIRS * 1000, "forward")
        first = next(rows)
        del rows
        assert all_gone(started.pids)
        assert next(model.align(PAIRS, "forward")) == first


def test_one_that_is_killed_while_it_waits_is_replaced(model_file: Path, started: Started):
    with FastAlign.load(model_file, fast_align=started.program, keep=True) as model:
        expected = list(model.align(PAIRS))
        os.kill(started.pids[0], signal.SIGKILL)
        time.sleep(0.2)
        assert list(model.align(PAIRS)) == expected
        assert len(started.pids) == 4


@pytest.mark.parametrize("number", [0, 1])
def test_one_that_is_killed_at_work_is_told_of(model_file: Path, started: Started, number: int):
    def pairs():
        yield from PAIRS
        os.kill(started.pids[-2:][number], signal.SIGKILL)
        yield from PAIRS * 2000

    with FastAlign.load(model_file, fast_align=started.program, keep=True, timeout=60) as model:
        expected = list(model.align(PAIRS))
        with pytest.raises(AlignerError, match="was killed by SIGKILL"):
            list(model.align(pairs()))
        assert all_gone(started.pids)
        assert list(model.align(PAIRS)) == expected


def test_a_forked_process_leaves_the_aligners_of_its_parent_alone(
    model_file: Path, started: Started
):
    with FastAlign.load(model_file, fast_align=started.program, keep=True) as model:
        expected = list(model.align(PAIRS))
        child = os.fork()
        if not child:
            status = 1
            try:
                status = 0 if [list(model.align(PAIRS)) for _ in "12"] == [expected] * 2 else 2
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert list(model.align(PAIRS)) == expected
        theirs = started.pids[2:]
        assert len(theirs) == 2
        assert all_gone(theirs)
