"""Files that a command writes: names that stand for open files, and files named after others."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from coverage_eval.cli.options import Command, OutputFile, OutputFolder
from tests.cli.tools import ALL_COMMANDS
from tests.conftest import COMMAND

BY_SEGMENT = ("rep", "hyp", "ref", "--sentence-level", "-f", "csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hyp").write_text("a house house\na dog\n")
    (tmp_path / "ref").write_text("a house\na dog\n")
    return tmp_path


def shell(line: str, folder: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        ["bash", "-c", line.replace("coverage-eval", str(COMMAND))], cwd=folder, check=False,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_names_of_open_files_are_written_to(run_cli, folder):
    expected = run_cli("rep", "hyp", "ref", cwd=folder).stdout
    assert shell("coverage-eval rep hyp ref -o /dev/stdout", folder) == (0, expected, "")
    assert shell("coverage-eval rep hyp ref -o >(cat >&2); wait $!", folder) == (0, "", expected)
    (folder / "log").write_text("before\n")
    assert shell("coverage-eval rep hyp ref -o /dev/stdout >> log", folder) == (0, "", "")
    assert (folder / "log").read_text() == f"before\n{expected}"
    assert shell("coverage-eval rep hyp ref -o /dev/fd/1 >> hyp", folder)[0] == 2
    status, _, said = shell("coverage-eval rep hyp ref -o /dev/fd/77", folder)
    assert (status, said.count("\n")) == (1, 1)


def test_a_folders_name_is_not_made_a_file(run_cli, folder):
    for name in ("missing/", "missing/.", "missing/.."):
        done = run_cli("rep", "hyp", "ref", "-o", name, check=False, cwd=folder)
        assert done.returncode == 1
        assert done.stderr.startswith(f"coverage-eval: error: {name}: cannot be written: there is")
    assert sorted(path.name for path in folder.iterdir()) == ["hyp", "ref"]


def test_signatures_beside_a_table_replace_only_signatures(run_cli, folder):
    def run(*arguments: str) -> tuple[int, str]:
        done = run_cli(*arguments, check=False, cwd=folder)
        return done.returncode, done.stderr

    assert [run(*BY_SEGMENT, "-o", "x")[0] for _ in range(2)] == [0, 0]
    signatures = (folder / "x.signatures").read_text()
    assert signatures.startswith("REP|")
    (folder / "y.signatures").write_text("mine\n")
    (folder / "other").write_text(signatures)
    (folder / "z.signatures").symlink_to("other")
    for name in ("y", "z"):
        status, said = run(*BY_SEGMENT, "-o", name)
        assert (status, said.count("\n")) == (1, 1)
        assert f"{name}.signatures: would get the signatures of --output" in said
        assert not (folder / name).exists()
    assert (folder / "y.signatures").read_text() == "mine\n"
    (folder / "hyp").rename(folder / "w.signatures")
    status, said = run("rep", "w.signatures", *BY_SEGMENT[2:], "-o", "w")
    assert status == 2
    assert "w.signatures is one of the input files" in said
    status, said = run(*("rep", "ref", "ref"), *BY_SEGMENT[3:], "-o", "v", "--keep", "v.signatures")
    assert status == 2
    assert "both write to" in said


def test_nothing_is_written_beside_devices_and_pipes(run_cli, folder):
    null = folder / "null"
    null.symlink_to(os.devnull)
    run_cli(*BY_SEGMENT, "-o", "null", cwd=folder)
    assert sorted(path.name for path in folder.iterdir()) == ["hyp", "null", "ref"]
    assert not Path(f"{os.devnull}.signatures").exists()


def test_targets_are_checked_before_any_work(run_cli, folder):
    """Every file that a command can write is named by one of its options of these types."""
    done = run_cli("rep", "no-such-file", "ref", "-o", "no/x", check=False, cwd=folder)
    assert "no/x: cannot be written" in done.stderr
    writing = [
        (name, option.opts[-1])
        for name, command in ALL_COMMANDS.items()
        if isinstance(command, Command)
        for option in command.params
        if isinstance(option.type, (OutputFile, OutputFolder))
    ]
    assert len(writing) > 30
