"""Files that a command writes: names that stand for open files, and files named after others."""

from __future__ import annotations

from pathlib import Path

import pytest

from coverage_eval.cli.options import Command, OutputFile
from tests.cli.tools import ALL_COMMANDS

BY_SEGMENT = ("rep", "hyp", "ref", "--sentence-level", "-f", "csv")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hyp").write_text("a house house\na dog\n")
    (tmp_path / "ref").write_text("a house\na dog\n")
    return tmp_path


def test_signatures_beside_a_table_replace_no_input(run_cli, folder):
    run_cli(*BY_SEGMENT, "-o", "x", cwd=folder)
    assert (folder / "x.signatures").read_text().startswith("REP|")
    (folder / "hyp").rename(folder / "w.signatures")
    for line, said in (
        (("rep", "w.signatures", *BY_SEGMENT[2:], "-o", "w"), "is one of the input files"),
        (("rep", "ref", *BY_SEGMENT[2:], "-o", "v", "--keep", "v.signatures"), "both write to"),
    ):
        refused = run_cli(*line, check=False, cwd=folder)
        assert refused.returncode == 2
        assert said in refused.stderr


def test_targets_are_checked_before_any_work(run_cli, folder):
    """Every file that a command can write is named by one of its options of these types."""
    done = run_cli("rep", "no-such-file", "ref", "-o", "no/x", check=False, cwd=folder)
    assert "no/x: cannot be written" in done.stderr
    writing = [
        (name, option.opts[-1])
        for name, command in ALL_COMMANDS.items()
        if isinstance(command, Command)
        for option in command.params
        if isinstance(option.type, OutputFile)
    ]
    assert len(writing) > 20
