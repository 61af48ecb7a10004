"""Files that a command writes: names that stand for open files, and files named after others."""

from __future__ import annotations

from pathlib import Path

import pytest

from coverage_eval.cli.options import Command, OutputFile, OutputFolder
from tests.cli.tools import ALL_COMMANDS

BY_SEGMENT = ("rep", "hyp", "ref", "--sentence-level", "-f", "csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hyp").write_text("a house house\na dog\n")
    (tmp_path / "ref").write_text("a house\na dog\n")
    return tmp_path


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
