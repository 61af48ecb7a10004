"""The README's commands print what it shows, its Python gives what it shows."""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from coverage_eval.cli import cli
from tests.conftest import ROOT, RunCli

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    """A folder in which `coverage-eval demo --folder demo` was run, as the README says."""
    path = tmp_path_factory.mktemp("readme")
    run_cli("demo", "--folder", "demo", cwd=path)
    return path


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """Each command with the output that is shown below it, in the order of the README."""
    found = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.rstrip("\n")))
    return found


def comparable(text: str) -> str:
    """Without the model's hash, whose last bits depend on the processor's exp and log."""
    return re.sub(r"model:[0-9a-f]{12}", "model:…", text.rstrip("\n"))


def test_commands_print_what_is_shown(folder: Path) -> None:
    """In one test, as later commands use files of earlier ones."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    shown = commands()
    assert len(shown) >= 6
    for command, output in shown:
        assert "coverage-eval " in command
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False,
            env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert comparable(done.stdout) == comparable(output), command


def test_the_job_stops_a_release(folder: Path, run_cli: RunCli) -> None:
    (job,) = blocks("yaml")
    (step,) = re.findall(r"- run: >-\n((?: {8}.*\n)+)", job)
    assert len(job.splitlines()) <= 10
    for name, system in {"released": "careful", "new": "dropping"}.items():
        (folder / "demo" / f"{name}.en").write_bytes((folder / f"demo/{system}.en").read_bytes())
    command = step.split()
    assert command.pop(0) == "coverage-eval"
    done = run_cli(*command, cwd=folder / "demo", check=False)
    assert done.returncode == 3
    gate = json.loads((folder / "demo/coverage.json").read_text())["gate"]
    assert {item["metric"] for item in gate["worse"]} == {"DROP", "BLEU"}
    assert "new is worse than released by DROP" in done.stderr
    (folder / "demo/new.en").write_bytes((folder / "demo/careful.en").read_bytes())
    run_cli(*command, cwd=folder / "demo")


def test_python_gives_what_is_shown(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    # The example of PyTorch is run by tests/torch/test_readme_example.py.
    text = "\n".join(block for block in blocks("python") if "import torch" not in block)
    example = doctest.DocTestParser().get_doctest(text, {}, "README", "README.md", 0)
    assert len(example.examples) >= 10
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_pictures_and_folders_exist() -> None:
    for name in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert (ROOT / name).is_file()


def test_it_names_every_command() -> None:
    """Each command is run or at least named in code."""
    names = cli.list_commands(click.Context(cli))
    assert {"rep", "compare", "audit"} <= set(names)
    for name in names:
        assert re.search(rf"coverage-eval {name}\b|`{name}`", README), name
