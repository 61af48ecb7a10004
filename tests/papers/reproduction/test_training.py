"""Training: the learning rate, early stopping, and continuing after a kill."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import asdict, replace
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from tqdm import tqdm

torch = pytest.importorskip("torch", reason="PyTorch (the nmt extra) is not installed")
pytest.importorskip("tokenizers", reason="tokenizers (the nmt extra) is not installed")

from coverage_eval.errors import DataError
from coverage_eval.papers.reproduction import training
from coverage_eval.papers.reproduction.bitext import (
    Minibatch,
    PieceText,
    Vocabulary,
    make_minibatches,
)
from coverage_eval.papers.reproduction.experiment import translation_loss
from coverage_eval.papers.reproduction.run_folder import (
    MANIFEST,
    PRESETS,
    Preset,
    open_manifest,
    read_manifest,
)
from coverage_eval.papers.reproduction.training import (
    BEST,
    CHECKPOINT,
    EPOCHS,
    TrainingState,
    train,
)
from coverage_eval.papers.reproduction.translator import Attention, Translator
from coverage_eval.special_tokens import SINK
from coverage_eval.testbed.grammar import generate

SMALL = replace(PRESETS["tiny"], embedding=8, hidden=16, dropout=0.3, epochs=3, batch=8)
PAIRS = generate(60, 1)
TEXT = PieceText([(*pair.source, SINK) for pair in PAIRS], [pair.target for pair in PAIRS])
SOURCE = Vocabulary.of(TEXT.sources, SINK)
TARGET = Vocabulary.of(TEXT.targets)
BATCHES = make_minibatches(TEXT, SOURCE, TARGET, size=SMALL.batch)


class Killed(BaseException):
    """In place of a signal that cannot be caught."""


def _train(
    folder: Path, preset: Preset = SMALL, *, kill_after: int | None = None
) -> tuple[Translator, TrainingState]:
    folder.mkdir(exist_ok=True)
    torch.manual_seed(1)
    model = Translator(preset, Attention(), len(SOURCE), len(TARGET))
    calls = 0

    def objective(batch: Minibatch) -> tuple[Any, int]:
        nonlocal calls
        calls += 1
        if calls == kill_after:
            raise Killed
        return translation_loss(model, batch)

    state = train(model, objective, BATCHES, BATCHES[:2], preset, folder, seed=5)
    return model, state


def _without_time(state: TrainingState) -> dict[str, Any]:
    records = asdict(state)
    for record in records["epochs"]:
        del record["seconds"], record["words_per_second"]
    return records


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Translator, TrainingState]:
    return _train(tmp_path_factory.mktemp("unbroken"))


@pytest.mark.parametrize(
    ("kills", "seconds"),
    [([3], 0.0), ([12, 7], 0.0), ([1, 1, 20], math.inf)],
    ids=["once, saved each batch", "twice, saved each batch", "thrice, saved each epoch"],
)
def test_a_killed_training_continues_to_the_same_result(
    kills, seconds, unbroken, tmp_path, monkeypatch
):
    """Not one bit differs, whenever it was killed: dropout and order are the same."""
    model, state = unbroken
    monkeypatch.setattr(training, "_SECONDS_BETWEEN", seconds)
    for kill in kills:
        with pytest.raises(Killed):
            _train(tmp_path / "killed", kill_after=kill)
    again, resumed = _train(tmp_path / "killed")
    assert _without_time(resumed) == _without_time(state)
    for name, parameter in model.state_dict().items():
        assert torch.equal(again.state_dict()[name], parameter), name


def test_the_manifest_notes_the_command_without_folders(tmp_path, monkeypatch):
    command = ["/usr/bin/coverage-eval", "reproduce", "table1", "--beam", "4", "-o", "/home/me/run"]
    monkeypatch.setattr(sys, "argv", command)
    for _ in range(2):
        open_manifest(tmp_path / "run", {"settings": {}}, resume=True, packages=["numpy"])
    first, session = read_manifest(tmp_path / "run" / MANIFEST)["sessions"]
    started = [datetime.fromisoformat(one.pop("started")) for one in (first, session)]
    assert started[0] <= started[1] <= datetime.now(timezone.utc)
    assert first == session
    assert session["command"] == "coverage-eval reproduce table1 --beam 4 -o run"
    assert session["threads"] == torch.get_num_threads()
    assert session["numpy"] == version("numpy")


def test_a_finished_training_is_not_trained_again(tmp_path):
    _, state = _train(tmp_path)
    written = {name: (tmp_path / name).read_bytes() for name in (CHECKPOINT, BEST, EPOCHS)}
    _, again = _train(tmp_path, kill_after=1)  # the first batch would kill it
    assert asdict(again) == asdict(state)
    assert {name: (tmp_path / name).read_bytes() for name in written} == written


def test_a_bar_shows_loss_speed_and_time_left(tmp_path, monkeypatch, capsys):
    """The bar is forced on: the error output of a test is not a terminal."""
    shown = {"disable": False, "mininterval": 0.0}
    monkeypatch.setattr(training, "tqdm", lambda **settings: tqdm(**{**settings, **shown}))
    _train(tmp_path, replace(SMALL, epochs=1))
    bars = capsys.readouterr().err.split("\r")
    pattern = r"training: epoch 1: .* 4/8 \[.*<\d\d:\d\d,.* loss=\d+\.\d{3}, words/s=\d+\]"
    assert any(re.search(pattern, bar) for bar in bars), bars


def _schedule(perplexities: list[float], preset: Preset) -> TrainingState:
    state = TrainingState(preset.rate)
    for perplexity in perplexities:
        assert not state.finished
        state.loss, state.words = 1.0, 1
        training._end_epoch(state, perplexity, preset, "test")
    return state


def test_the_rate_is_halved_once_perplexity_rises_or_after_a_given_epoch():
    preset = replace(SMALL, epochs=13, halve_from=8, patience=99)
    rising = _schedule([9, 8, 8.5, 7, 6], preset)
    assert [record["rate"] for record in rising.epochs] == [1, 1, 1, 0.5, 0.25]
    falling = _schedule([20 - k for k in range(13)], preset)
    assert [record["rate"] for record in falling.epochs] == [1] * 8 + [2**-k for k in range(1, 6)]
    assert falling.finished


def test_training_stops_if_validation_perplexity_no_longer_improves():
    state = _schedule([9, 8, 8.5, 8.2], replace(SMALL, epochs=13, patience=2))
    assert state.finished
    assert state.best["epoch"] == 2


def test_a_loss_that_is_not_finite_and_a_damaged_checkpoint_are_errors(tmp_path):
    with pytest.raises(DataError, match="not finite; try a lower learning rate"):
        _schedule([math.nan], SMALL)
    (tmp_path / CHECKPOINT).write_bytes(b"half a checkpoint")
    with pytest.raises(DataError, match="not a readable checkpoint"):
        _train(tmp_path)
