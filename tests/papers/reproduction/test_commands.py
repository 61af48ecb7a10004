"""Every command of ``audit overview`` runs, with settings that make it quick."""

from __future__ import annotations

import runpy
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from coverage_eval.papers.overview import ITEMS
from tests.conftest import ROOT, RunCli
from tests.papers.reproduction.conftest import as_arguments

COMMANDS = list(dict.fromkeys(item.command for item in ITEMS if item.command and not item.audit))
"""``test_audits.py`` runs every audit."""

TRAINED = [command for command in COMMANDS if "run" in shlex.split(command)]
SCRIPTS = [command for command in COMMANDS if command.startswith("python")]
OTHERS = [command for command in COMMANDS if command not in (*TRAINED, *SCRIPTS)]

QUICK = {
    "regression": "--splits 1 --epochs 1",
    "timing": "--classes 2 --examples 5 --repeats 1",
    "digits": "--seeds 1 --examples 20 --batch 10 --size 4 --shortest 1 --longest 2 --valid 5",
    "simplex": "",
}
UNTRAINED = shlex.split("--size 4 --epochs 1 --merges 30 --beam 1")
TINY = ("--preset", "tiny")
SMALLER = {"SIZES": ((4, 20),), "TURNS": 2, "REPEATS": 1}
"""What the scripts measure, where they do."""


def _marked(commands: list[str], word: str) -> list[Any]:
    """The commands; those with the word need PyTorch."""
    needs = pytest.mark.needs("torch")
    return [pytest.param(each, marks=[needs] if word in each else []) for each in commands]


@pytest.mark.parametrize("command", _marked(OTHERS, "digits"))
def test_what_needs_no_corpus(command, run_cli, tmp_path):
    words = shlex.split(command)
    (name,) = QUICK.keys() & set(words)
    run_cli(*words, *shlex.split(QUICK[name]), cwd=tmp_path)
    if "-o" in words:
        assert (tmp_path / words[words.index("-o") + 1]).exists()


@pytest.fixture(scope="module")
def small_run(
    corpus: dict[str, str], tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli
) -> Path:
    """A run of two systems that learnt nothing."""
    pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")
    pytest.importorskip("tokenizers", reason="tokenizers is in the extra 'nmt'")
    folder = tmp_path_factory.mktemp("runs") / "run"
    systems = ("--system", "softmax", "--system", "csparsemax")
    run_cli("reproduce", "table1", *as_arguments(corpus), "-o", folder, *UNTRAINED, *TINY, *systems)
    return folder


@pytest.mark.needs("torch")
@pytest.mark.parametrize("command", TRAINED)
def test_what_trains_or_reads_a_run(command, run_cli, corpus, small_run, tmp_path):
    words = shlex.split(command)
    more: list[object] = []
    if "table1" in words:
        tiny = () if "--preset" in words else TINY
        more = [*as_arguments(corpus), *UNTRAINED, *tiny, "--system", "softmax"]
    else:
        shutil.copytree(small_run, tmp_path / "run")
        more = ["--index", 1] if "figure2" in words else []
        if "table2" in words:  # the same system as csparsemax of Table 1
            more = [*as_arguments(corpus), *UNTRAINED, *TINY, "--system", "PREDICTED c = 0.2"]
    done = run_cli(*words, *more, cwd=tmp_path)
    assert done.stdout or (tmp_path / words[-1]).exists()


@pytest.mark.parametrize("command", _marked(SCRIPTS, "nmt"))
def test_scripts(command, tmp_path, monkeypatch):
    _, script, *arguments = shlex.split(command)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [script, *arguments])
    found = runpy.run_path(str(ROOT / script))
    smaller = {**SMALLER, "SIZES": [32, 64, 128, 256] if "timing" in script else SMALLER["SIZES"]}
    found["main"].__globals__.update(smaller, HERE=tmp_path)
    found["main"]()
    assert list(tmp_path.glob("*.csv"))
